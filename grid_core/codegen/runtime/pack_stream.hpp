// Writes long rows a line of memory at a time, past the caches or into them. Past them, what has left them when it is read
// gains, since lines are not read before they are written.
#ifndef GRID_PACK_STREAM_HPP
#define GRID_PACK_STREAM_HPP

#include <cstring>

#include "pack_rows.hpp"
#include "pack_transpose.hpp"
#include "pack_type.hpp"

namespace grid {
namespace detail {

// One block of Width columns, from packs, to `column` of the rows.
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

// K columns from `first` on to the rows, a register at a time. `columns.gather<Width>(to, column)` sets a register per
// column, zeros after Width of them, and returns whether they may be other than zero.
template <int K, class T, class Rows, class Columns>
GRID_INLINE void store_gathered(Rows rows, const Columns& columns, int first = 0) {
    constexpr int L = lanes<T>, rest = K % L;
    pack<T> block[L];
    for (int column = 0; column + L <= K; column += L) {
        if (columns.template gather<L>(block, first + column)) store_block<L, T>(rows, block, column);
        else
            for (int l = 0; l < rows.count; ++l) write_row<L, T>(rows[l] + column, pack<T>{});
    }
    if constexpr (rest != 0) {
        columns.template gather<rest>(block, first + K - rest);
        store_block<rest, T>(rows, block, K - rest);
    }
}

// Width columns, through a tile that stays in the first cache and goes to memory row by row: memory takes long runs much
// faster than stores that go from row to row.
template <int Width, class T, class Columns>
GRID_INLINE void stream_tile(T* base, std::int64_t stride, int n, const Columns& columns, int first) {
    constexpr int L = lanes<T>, apart = Width + L;
    alignas(sizeof(pack<T>)) T tile[L * apart];
    store_gathered<Width, T>(adjacent_rows<T, apart>{tile}, columns, first);
    for (int l = 0; l < n; ++l) stream_run(base + l * stride + first, tile + l * apart, Width);
}

template <int K, class T, class Columns>
__attribute__((noinline)) void stream_tiles(T* base, std::int64_t stride, int n, Columns columns) {
    constexpr int width = 256, rest = K % width;
    for (int column = 0; column + width <= K; column += width) stream_tile<width>(base, stride, n, columns, column);
    if constexpr (rest != 0) stream_tile<rest>(base, stride, n, columns, K - rest);
}

#if defined(__AVX512F__)
GRID_INLINE pack<double> join(pack<double> x, __m512i which, pack<double> y) {
    return _mm512_permutex2var_pd(x, which, y);
}
GRID_INLINE pack<float> join(pack<float> x, __m512i which, pack<float> y) {
    return _mm512_permutex2var_ps(x, which, y);
}
GRID_INLINE void store_some(double* to, unsigned which, pack<double> x) { _mm512_mask_storeu_pd(to, which, x); }
GRID_INLINE void store_some(float* to, unsigned which, pack<float> x) { _mm512_mask_storeu_ps(to, which, x); }
GRID_INLINE __m512i counted_from(double, int first) {
    return _mm512_add_epi64(_mm512_set1_epi64(first), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
}
GRID_INLINE __m512i counted_from(float, int first) {
    return _mm512_add_epi32(_mm512_set1_epi32(first),
                            _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
}

template <bool PastCaches, class T>
GRID_INLINE void put_line(T* to, pack<T> value) {
    if constexpr (PastCaches) stream(to, value);
    else std::memcpy(to, &value, sizeof(value));
}

// All rows of a full pack, without a tile: stores to it would wait behind those that are on their way to memory. A
// register is as long as a line of memory, but rows begin anywhere in a line, so that each line is joined from the block
// before and the block that was transposed just now.
template <int K, bool PastCaches, class T, class Columns>
__attribute__((noinline)) void store_joined(T* base, std::int64_t stride, Columns columns) {
    constexpr int L = lanes<T>, whole = K / L, rest = K % L;
    T* line[L];
    int ahead[L];  // scalars of the first line that are not of the row
    __m512i which[L];
    pack<T> before[L], now[L];
    if (columns.template gather<L>(before, 0)) transpose(before);
#pragma GCC unroll 16
    for (int l = 0; l < L; ++l) {
        T* const row = base + l * stride;
        ahead[l] = int(reinterpret_cast<std::uintptr_t>(row) / sizeof(T) % L);
        which[l] = counted_from(T(), L - ahead[l]);
        store_some(row - ahead[l], (1u << L) - (1u << ahead[l]), join(pack<T>{}, which[l], before[l]));
        line[l] = row - ahead[l] + L;
    }
    bool zeros = false;  // all that is before
    for (int s = 1; s < whole; ++s) {
        if (columns.template gather<L>(now, s * L)) {
            transpose(now);
#pragma GCC unroll 16
            for (int l = 0; l < L; ++l) {
                put_line<PastCaches>(line[l], join(before[l], which[l], now[l]));
                before[l] = now[l];
                line[l] += L;
            }
            zeros = false;
        } else if (zeros) {
#pragma GCC unroll 16
            for (int l = 0; l < L; ++l) {
                put_line<PastCaches>(line[l], pack<T>{});
                line[l] += L;
            }
        } else {
#pragma GCC unroll 16
            for (int l = 0; l < L; ++l) {
                put_line<PastCaches>(line[l], join(before[l], which[l], pack<T>{}));
                before[l] = pack<T>{};
                line[l] += L;
            }
            zeros = true;
        }
    }
    if constexpr (rest == 0) {
#pragma GCC unroll 16
        for (int l = 0; l < L; ++l) now[l] = pack<T>{};
    } else if (columns.template gather<rest>(now, K - rest)) transpose(now);
#pragma GCC unroll 16
    for (int l = 0; l < L; ++l) {
        const int left = ahead[l] + rest;
        store_some(line[l], left < L ? (1u << left) - 1 : (1u << L) - 1, join(before[l], which[l], now[l]));
        if (left > L) store_some(line[l] + L, (1u << (left - L)) - 1, join(now[l], which[l], pack<T>{}));
    }
}
#endif

template <int K, class T, class Columns>
GRID_INLINE void stream_rows(T* base, std::int64_t stride, int n, const Columns& columns) {
#if defined(__AVX512F__)
    if constexpr (K >= lanes<T>)
        if (n == lanes<T>) return store_joined<K, true>(base, stride, columns);
#endif
    stream_tiles<K>(base, stride, n, columns);
}

}  // namespace detail
}  // namespace grid
#endif
