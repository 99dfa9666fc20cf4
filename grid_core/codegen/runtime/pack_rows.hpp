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

#if defined(__AVX512VL__)  // with zeros above; g++ 12 warns of an uninitialised value inside the plain conversions
GRID_INLINE __m512 low_quarter(__m128 x) { return _mm512_maskz_broadcast_f32x4(0xf, x); }
GRID_INLINE __m512d low_half(__m256d x) { return _mm512_maskz_broadcast_f64x4(0xf, x); }
#endif

// Width scalars of a row, 1 <= Width <= L; the other lanes are zero. Masked where there are masks, else scalar by
// scalar. A narrow register seldom crosses a line of memory, as a wide one does although its mask hides that.
template <int Width, class T>
GRID_INLINE pack<T> read_row(const T* row) {
    pack<T> value{};
    if constexpr (Width == lanes<T>) {
        std::memcpy(&value, row, sizeof(value));
        return value;
    }
#if defined(__AVX512VL__)
    constexpr unsigned mask = (1u << Width) - 1;
    if constexpr (sizeof(T) == 8) {
        if constexpr (Width <= 2) return (pack<T>)low_quarter((__m128)_mm_maskz_loadu_pd(mask, row));
        else if constexpr (Width <= 4) return (pack<T>)low_half(_mm256_maskz_loadu_pd(mask, row));
        else return _mm512_maskz_loadu_pd(mask, row);
    } else {
        if constexpr (Width <= 4) return (pack<T>)low_quarter(_mm_maskz_loadu_ps(mask, row));
        else if constexpr (Width <= 8) return (pack<T>)low_half((__m256d)_mm256_maskz_loadu_ps(mask, row));
        else return _mm512_maskz_loadu_ps(mask, row);
    }
#elif defined(__AVX512F__)
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
