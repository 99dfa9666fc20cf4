// Moves packs to and from memory with the batch last: entry k of all samples is contiguous, a pitch behind entry k - 1.
// That is the order of packs, so nothing is transposed.
#ifndef GRID_PACK_BATCH_LAST_HPP
#define GRID_PACK_BATCH_LAST_HPP

#include <cstring>

#include "grid_unit.h"
#include "pack_type.hpp"

namespace grid {

GRID_INLINE constexpr bool is_batch_last(std::int64_t stride) { return stride >= GRID_BATCH_LAST; }

// The first scalar of sample `first`; null stays null.
template <class T>
GRID_INLINE T* sample(T* base, std::int64_t stride, std::int64_t first) {
    if (base == nullptr) return nullptr;
    return base + (is_batch_last(stride) ? first : first * stride);
}

namespace detail {

// dst[k] lane l = base[k * pitch + min(l, n - 1)].
template <int K, class T>
GRID_INLINE void load_batch_last(pack<T>* dst, const T* base, std::int64_t stride, int n) {
    const std::int64_t pitch = stride - GRID_BATCH_LAST;
    for (int k = 0; k < K; ++k) {
        const T* const from = base + k * pitch;
        if (n == lanes<T>) std::memcpy(&dst[k], from, sizeof(pack<T>));
        else for (int l = 0; l < lanes<T>; ++l) dst[k][l] = from[l < n ? l : n - 1];
    }
}

// base[k * pitch + l] = at(k) lane l, for l < n.
template <int K, class T, class At>
GRID_INLINE void store_batch_last(T* base, std::int64_t stride, int n, At at) {
    const std::int64_t pitch = stride - GRID_BATCH_LAST;
    for (int k = 0; k < K; ++k) {
        const pack<T> value = at(k);
        T* const to = base + k * pitch;
        if (n == lanes<T>) std::memcpy(to, &value, sizeof(value));
        else for (int l = 0; l < n; ++l) to[l] = value[l];
    }
}

}  // namespace detail
}  // namespace grid
#endif
