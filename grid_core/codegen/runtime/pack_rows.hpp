// Rows of samples in memory, a register at a time.
#ifndef GRID_PACK_ROWS_HPP
#define GRID_PACK_ROWS_HPP

#include <cstring>

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

}  // namespace detail
}  // namespace grid
#endif
