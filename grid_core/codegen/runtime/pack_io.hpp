// Moves samples between batch-first rows in memory and packs: row l of the rows is lane l of the packs. Rows are read
// and written a register at a time and transposed in registers; nothing outside the valid rows is touched.
#ifndef GRID_PACK_IO_HPP
#define GRID_PACK_IO_HPP

#include <cstring>

#include "pack_transpose.hpp"
#include "pack_type.hpp"

namespace grid {
namespace detail {

// Where each row begins: at a constant distance, so that addresses are one register and a constant, or anywhere.
template <class T, int K>
struct adjacent_rows {
    T* base;
    static constexpr int count = lanes<std::remove_const_t<T>>;
    GRID_INLINE T* operator[](int l) const { return base + l * K; }
};
template <class T>
struct separate_rows {
    T* row[lanes<std::remove_const_t<T>>];
    int count;
    GRID_INLINE T* operator[](int l) const { return row[l]; }
};

// Width scalars of a row, 1 <= Width <= L; the other lanes are zero. Masked where there are masks, else scalar by
// scalar.
template <int Width, class T>
GRID_INLINE pack<T> read_row(const T* row) {
    pack<T> value{};
    if constexpr (Width == lanes<T>) {
        std::memcpy(&value, row, sizeof(value));
        return value;
    }
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 8) return _mm512_maskz_loadu_pd((1u << Width) - 1, row);
    else return _mm512_maskz_loadu_ps((1u << Width) - 1, row);
#elif defined(__AVX__)
    gm::bits_of<pack<T>> mask{};
#pragma GCC unroll 8
    for (int k = 0; k < Width; ++k) mask[k] = ~mask[k];
    if constexpr (sizeof(T) == 8) return _mm256_maskload_pd(row, (__m256i)mask);
    else return _mm256_maskload_ps(row, (__m256i)mask);
#else
#pragma GCC unroll 4
    for (int k = 0; k < Width; ++k) value[k] = row[k];
    return value;
#endif
}

// The first Width scalars of `value`. Masked stores of AVX are slow on many processors: 16 bytes and scalars instead.
template <int Width, class T>
GRID_INLINE void write_row(T* row, pack<T> value) {
    if constexpr (Width == lanes<T>) {
        std::memcpy(row, &value, sizeof(value));
        return;
    }
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 8) _mm512_mask_storeu_pd(row, (1u << Width) - 1, value);
    else _mm512_mask_storeu_ps(row, (1u << Width) - 1, value);
#else
    int k = 0;
#if defined(__AVX__)
    if constexpr (Width * sizeof(T) >= 16) {
        _mm_storeu_si128((__m128i*)row, _mm256_castsi256_si128((__m256i)value));
        k = 16 / int(sizeof(T));
    }
#endif
#pragma GCC unroll 8
    for (; k < Width; ++k) row[k] = value[k];
#endif
}

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

template <int Width, class T, class Rows>
GRID_INLINE void store_block(Rows rows, const pack<T>* src, int column) {
    constexpr int L = lanes<T>;
    pack<T> block[L];
#pragma GCC unroll 16
    for (int k = 0; k < L; ++k) block[k] = k < Width ? src[k] : pack<T>{};
    transpose(block);
#pragma GCC unroll 16
    for (int l = 0; l < L; ++l)
        if (l < rows.count) write_row<Width, T>(rows[l] + column, block[l]);
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
    separate_rows<T> rows;
    rows.count = n;
    for (int l = 0; l < lanes<T>; ++l) rows.row[l] = base + (l < n ? l : n - 1) * stride;
    store_columns<K, T>(rows, src);
}

// A register past the caches where the processor can; `to` is at a multiple of its size.
template <class T>
GRID_INLINE void stream(T* to, pack<T> value) {
#if defined(__AVX512F__)
    _mm512_stream_si512((__m512i*)to, (__m512i)value);
#elif defined(__AVX__)
    _mm256_stream_si256((__m256i*)to, (__m256i)value);
#elif defined(__SSE2__)
    _mm_stream_si128((__m128i*)to, (__m128i)value);
#else
    std::memcpy(to, &value, sizeof(value));
#endif
}

// Copies `count` scalars, those in whole registers of the destination past the caches.
template <class T>
GRID_INLINE void stream_run(T* to, const T* from, int count) {
    constexpr int L = lanes<T>;
    int k = int(-(reinterpret_cast<std::uintptr_t>(to) / sizeof(T)) % L);
    k = k < count ? k : count;
    std::memcpy(to, from, k * sizeof(T));
    for (; k + L <= count; k += L) stream(to + k, read_row<L, T>(from + k));
    std::memcpy(to + k, from + k, (count - k) * sizeof(T));
}

// Transposes Width columns into a tile that stays in the first cache, and streams the tile row by row: memory takes long
// runs much faster than stores that go from row to row.
template <int Width, class T>
GRID_INLINE void stream_columns(T* base, std::int64_t stride, int n, const pack<T>* src) {
    constexpr int L = lanes<T>, apart = Width + L;
    alignas(sizeof(pack<T>)) T tile[L * apart];
    store_columns<Width, T>(adjacent_rows<T, apart>{tile}, src);
    for (int l = 0; l < n; ++l) stream_run(base + l * stride, tile + l * apart, Width);
}

template <int K, class T>
__attribute__((noinline)) void store_streaming(T* base, std::int64_t stride, int n, const pack<T>* src) {
    constexpr int width = 256;
    for (int column = 0; column + width <= K; column += width)
        stream_columns<width, T>(base + column, stride, n, src + column);
    constexpr int rest = K % width;
    if constexpr (rest != 0) stream_columns<rest, T>(base + K - rest, stride, n, src + K - rest);
}

}  // namespace detail

// dst[k] lane l = base[min(l, n - 1) * stride + k] for K columns and 1 <= n <= L valid rows. A stride of 0 shares one
// row among all lanes, a null base reads as zeros.
template <int K, class T>
GRID_INLINE void load(pack<T>* dst, const T* base, std::int64_t stride, int n) {
    if (__builtin_expect(base == nullptr || stride != K || n != lanes<T>, 0))
        detail::load_unusual<K, T>(dst, base, stride, n);
    else if constexpr (K == 1) dst[0] = detail::read_row<lanes<T>>(base);
    else detail::load_columns<K, T>(dst, detail::adjacent_rows<const T, K>{base});
}

// Whether an output of so many rows of K scalars will have left the caches when it is read, and its rows are long.
// Streaming it halves the traffic, since lines are not read before they are written.
template <class T, int K>
constexpr bool outgrows_caches(std::int64_t rows) {
    constexpr std::int64_t row = K * sizeof(T);
    return row >= 2048 && rows * row > 16 << 20;
}

// base[l * stride + k] = src[k] lane l for K columns and the 1 <= n <= L rows l < n. Rows that were written with
// `streaming` are for other threads to see after settle().
template <int K, class T>
GRID_INLINE void store(T* base, std::int64_t stride, int n, const pack<T>* src, bool streaming = false) {
    if (streaming) detail::store_streaming<K, T>(base, stride, n, src);
    else if (__builtin_expect(stride != K || n != lanes<T>, 0)) detail::store_unusual<K, T>(base, stride, n, src);
    else if constexpr (K == 1) detail::write_row<lanes<T>>(base, src[0]);
    else detail::store_columns<K, T>(detail::adjacent_rows<T, K>{base}, src);
}

GRID_INLINE void settle() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

}  // namespace grid
#endif
