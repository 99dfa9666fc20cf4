// Moves samples between batch-first rows in memory and packs.
#ifndef GRID_PACK_IO_HPP
#define GRID_PACK_IO_HPP

#include "pack_type.hpp"

namespace grid {

// dst[k] lane l = base[min(l, n - 1) * stride + k] for K columns. A stride of 0 shares one row, a null base reads zeros.
template <int K, class T>
inline void load(pack<T>* dst, const T* base, std::int64_t stride, int n) {
    for (int k = 0; k < K; ++k) {
        dst[k] = pack<T>{};
        for (int l = 0; base && l < lanes<T>; ++l) dst[k][l] = base[(l < n ? l : n - 1) * stride + k];
    }
}

// base[l * stride + k] = src[k] lane l for the rows l < n.
template <int K, class T>
inline void store(T* base, std::int64_t stride, int n, const pack<T>* src) {
    for (int l = 0; l < n; ++l)
        for (int k = 0; k < K; ++k) base[l * stride + k] = src[k][l];
}

}  // namespace grid
#endif
