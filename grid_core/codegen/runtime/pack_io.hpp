// Moves samples between batch-first rows in memory and packs: row l of the rows is lane l of the packs. Rows are read
// and written a register at a time and transposed in registers; nothing outside the valid rows is touched.
#ifndef GRID_PACK_IO_HPP
#define GRID_PACK_IO_HPP

#include <cstring>

#include "pack_batch_last.hpp"
#include "pack_rows.hpp"
#include "pack_stream.hpp"
#include "pack_transpose.hpp"
#include "pack_type.hpp"

namespace grid {
namespace detail {

// One block of Width columns that start at `column` of the rows.
template <int Width, class T, class Rows>
GRID_INLINE void load_block(pack<T>* dst, Rows rows, int column) {
    constexpr int L = lanes<T>;
    pack<T> block[L];
#pragma GCC unroll 16
    for (int l = 0; l < L; ++l) block[l] = read_row<Width, T>(rows[l] + column);
    transpose(block);
#pragma GCC unroll 16
    for (int k = 0; k < Width; ++k) dst[column + k] = block[k];
}

// How many of the last columns to move after the whole blocks. Without masks a whole block that overlaps its
// predecessor is cheaper than a narrow one.
template <int K, class T>
constexpr int last_width = GRID_PACK_BYTES < 64 && K > lanes<T> && K % lanes<T> != 0 ? lanes<T> : K % lanes<T>;

template <int K, class T, class Rows>
GRID_INLINE void load_columns(pack<T>* dst, Rows rows) {
    constexpr int L = lanes<T>, rest = last_width<K, T>;
    for (int column = 0; column + L <= K; column += L) load_block<L, T>(dst, rows, column);
    if constexpr (rest != 0) load_block<rest, T>(dst, rows, K - rest);
}

template <int K, class T, class Rows>
GRID_INLINE void store_columns(Rows rows, const pack<T>* src) {
    constexpr int L = lanes<T>, rest = last_width<K, T>;
    for (int column = 0; column + L <= K; column += L) store_block<L, T>(rows, src + column, column);
    if constexpr (rest != 0) store_block<rest, T>(rows, src + K - rest, K - rest);
}

// Everything but full packs of adjacent rows.
template <int K, class T>
__attribute__((noinline)) void load_unusual(pack<T>* dst, const T* base, std::int64_t stride, int n) {
    if (base == nullptr) {
        for (int k = 0; k < K; ++k) dst[k] = pack<T>{};
    } else if (is_batch_last(stride)) {
        load_batch_last<K>(dst, base, stride, n);
    } else if (stride == 0 || n == 1) {
        for (int k = 0; k < K; ++k) dst[k] = gm::broadcast<pack<T>>(base[k]);
    } else {
        separate_rows<const T> rows;
        rows.count = n;
        for (int l = 0; l < lanes<T>; ++l) rows.row[l] = base + (l < n ? l : n - 1) * stride;
        load_columns<K, T>(dst, rows);
    }
}

template <int K, class T>
__attribute__((noinline)) void store_unusual(T* base, std::int64_t stride, int n, const pack<T>* src) {
    if (is_batch_last(stride)) {
        store_batch_last<K>(base, stride, n, [=](int k) { return src[k]; });
        return;
    }
    separate_rows<T> rows;
    rows.count = n;
    for (int l = 0; l < lanes<T>; ++l) rows.row[l] = base + (l < n ? l : n - 1) * stride;
    store_columns<K, T>(rows, src);
}

// Columns that are kept in their order.
template <class T>
struct columns_in_order {
    const pack<T>* src;
    template <int Width>
    GRID_INLINE bool gather(pack<T>* to, int column) const {
#pragma GCC unroll 16
        for (int k = 0; k < lanes<T>; ++k) to[k] = k < Width ? src[column + k] : pack<T>{};
        return true;
    }
};

}  // namespace detail

// dst[k] lane l = base[min(l, n - 1) * stride + k] for K columns and 1 <= n <= L valid rows. A stride of 0 shares one
// row among all lanes, a null base reads as zeros, and GRID_BATCH_LAST + pitch has its own order (pack_batch_last.hpp).
template <int K, class T>
GRID_INLINE void load(pack<T>* dst, const T* base, std::int64_t stride, int n) {
    if (__builtin_expect(base == nullptr || stride != K || n != lanes<T>, 0))
        detail::load_unusual<K, T>(dst, base, stride, n);
    else if constexpr (K == 1) dst[0] = detail::read_row<lanes<T>>(base);
    else detail::load_columns<K, T>(dst, detail::adjacent_rows<const T, K>{base});
}

// The row that all samples share.
template <int K, class T>
GRID_INLINE void load(T* dst, const T* base, std::int64_t, int) {
    for (int k = 0; k < K; ++k) dst[k] = base == nullptr ? T(0) : base[k];
}

// Whether so many rows of K scalars, of an output among outputs of All scalars, will have left the caches when they are
// read, and are long. Streaming them halves the traffic, since lines are not read before they are written.
template <class T, int K, int All = K>
constexpr bool outgrows_caches(std::int64_t rows) {
    constexpr std::int64_t row = K * sizeof(T), together = All * sizeof(T);
    return row >= 2048 && rows * together > 16 << 20;
}

// base[l * stride + k] = src[k] lane l for K columns and the 1 <= n <= L rows l < n. Rows that were written with
// `streaming` are for other threads to see after settle().
template <int K, class T>
GRID_INLINE void store(T* base, std::int64_t stride, int n, const pack<T>* src, bool streaming = false) {
    if (streaming && !is_batch_last(stride)) detail::stream_rows<K, T>(base, stride, n, detail::columns_in_order<T>{src});
    else if (__builtin_expect(stride != K || n != lanes<T>, 0)) detail::store_unusual<K, T>(base, stride, n, src);
    else if constexpr (K == 1) detail::write_row<lanes<T>>(base, src[0]);
    else detail::store_columns<K, T>(detail::adjacent_rows<T, K>{base}, src);
}

// The same row of K scalars for n samples. Rows side by side go a multiple of whole lines of memory at a time.
template <int K, class T>
__attribute__((noinline)) void store(T* base, std::int64_t stride, std::int64_t n, const T* src) {
    if (is_batch_last(stride)) {
        for (int k = 0; k < K; ++k)
            for (std::int64_t i = 0; i < n; ++i) base[k * (stride - GRID_BATCH_LAST) + i] = src[k];
        return;
    }
    constexpr int together = 64 / sizeof(T);
    const std::int64_t single = stride == K && n > together ? together : n;
    for (std::int64_t i = 0; i < single; ++i) std::memcpy(base + i * stride, src, K * sizeof(T));
    for (std::int64_t i = single; i < n; i += together)
        std::memcpy(base + i * K, base, K * (n - i < together ? n - i : together) * sizeof(T));
}

GRID_INLINE void settle() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

}  // namespace grid
#endif
