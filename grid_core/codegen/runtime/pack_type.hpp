// A pack: one SIMD register of samples. Arithmetic and comparisons are the compiler's own vector operators; this file
// adds the type, and the few operations that those operators cannot say.
#ifndef GRID_PACK_TYPE_HPP
#define GRID_PACK_TYPE_HPP

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "scalar_math.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define GRID_INLINE inline __attribute__((always_inline))

#if defined(__AVX512F__)
#define GRID_PACK_BYTES 64
#elif defined(__AVX__)
#define GRID_PACK_BYTES 32
#else
#define GRID_PACK_BYTES 16
#endif

// Whether a multiply-add rounds once; the argument reductions choose their constants by it.
#if defined(__FMA__) || defined(__AVX512F__) || defined(__aarch64__)
#define GRID_PACK_FMA 1
#else
#define GRID_PACK_FMA 0
#endif

namespace grid {

template <class T, int Bytes>
struct vector_of;
template <int Bytes>
struct vector_of<float, Bytes> {
    typedef float type __attribute__((vector_size(Bytes)));
    typedef std::uint32_t bits __attribute__((vector_size(Bytes)));
};
template <int Bytes>
struct vector_of<double, Bytes> {
    typedef double type __attribute__((vector_size(Bytes)));
    typedef std::uint64_t bits __attribute__((vector_size(Bytes)));
};

template <class T>
using pack = typename vector_of<T, GRID_PACK_BYTES>::type;

template <class T>
constexpr int lanes = GRID_PACK_BYTES / int(sizeof(T));

}  // namespace grid

namespace gm {

template <class T>
struct pack_traits_of {
    static constexpr bool is_pack = true;
    using scalar = T;
    using bits = typename grid::vector_of<T, GRID_PACK_BYTES>::bits;
};
template <>
struct pack_traits<grid::pack<float>> : pack_traits_of<float> {};
template <>
struct pack_traits<grid::pack<double>> : pack_traits_of<double> {};

template <class V>
using if_pack = std::enable_if_t<pack_traits<V>::is_pack, int>;
template <class V>
using bits_of = typename pack_traits<V>::bits;
template <class V>
constexpr int lanes_of = grid::lanes<scalar_of<V>>;

// x - 0 keeps every x, negative zero included, and compiles to a plain broadcast.
template <class V, if_pack<V> = 0>
GRID_INLINE V broadcast(scalar_of<V> x) { return x - V{}; }

// A value that may be one scalar for all lanes.
template <class V, class H>
GRID_INLINE V spread(H x) {
    if constexpr (std::is_same_v<H, V>) return x;
    else return broadcast<V>(x);
}

template <class V, class M, if_pack<V> = 0>
GRID_INLINE V select(M mask, V x, V y) { return mask ? x : y; }

template <class V>
GRID_INLINE bits_of<V> sign_bit() { return (bits_of<V>)broadcast<V>(scalar_of<V>(-0.0)); }

template <class V, if_pack<V> = 0>
GRID_INLINE V abs(V x) { return (V)((bits_of<V>)x & ~sign_bit<V>()); }

// A NaN in either argument gives NaN: the comparison is false for a NaN in y, the second select serves a NaN in x.
template <class V, if_pack<V> = 0>
GRID_INLINE V min(V x, V y) { return select(x != x, x, select(x < y, x, y)); }

template <class V, if_pack<V> = 0>
GRID_INLINE V max(V x, V y) { return select(x != x, x, select(x > y, x, y)); }

#if defined(__AVX512F__)  // the masked forms: g++ 12 warns of an uninitialised value inside the plain ones
GRID_INLINE grid::pack<double> sqrt(grid::pack<double> x) { return _mm512_maskz_sqrt_pd(0xff, x); }
GRID_INLINE grid::pack<float> sqrt(grid::pack<float> x) { return _mm512_maskz_sqrt_ps(0xffff, x); }
#elif defined(__AVX__)
GRID_INLINE grid::pack<double> sqrt(grid::pack<double> x) { return _mm256_sqrt_pd(x); }
GRID_INLINE grid::pack<float> sqrt(grid::pack<float> x) { return _mm256_sqrt_ps(x); }
#elif defined(__SSE2__)
GRID_INLINE grid::pack<double> sqrt(grid::pack<double> x) { return _mm_sqrt_pd(x); }
GRID_INLINE grid::pack<float> sqrt(grid::pack<float> x) { return _mm_sqrt_ps(x); }
#elif defined(__aarch64__)
GRID_INLINE grid::pack<double> sqrt(grid::pack<double> x) { return (grid::pack<double>)vsqrtq_f64((float64x2_t)x); }
GRID_INLINE grid::pack<float> sqrt(grid::pack<float> x) { return (grid::pack<float>)vsqrtq_f32((float32x4_t)x); }
#else
template <class V, if_pack<V> = 0>
GRID_INLINE V sqrt(V x) {
    for (int l = 0; l < lanes_of<V>; ++l) x[l] = std::sqrt(x[l]);
    return x;
}
#endif

// x * y + z, rounded once where GRID_PACK_FMA.
#if defined(__AVX512F__)
GRID_INLINE grid::pack<double> multiply_add(grid::pack<double> x, grid::pack<double> y, grid::pack<double> z) {
    return _mm512_fmadd_pd(x, y, z);
}
GRID_INLINE grid::pack<float> multiply_add(grid::pack<float> x, grid::pack<float> y, grid::pack<float> z) {
    return _mm512_fmadd_ps(x, y, z);
}
#elif defined(__FMA__)
GRID_INLINE grid::pack<double> multiply_add(grid::pack<double> x, grid::pack<double> y, grid::pack<double> z) {
    return _mm256_fmadd_pd(x, y, z);
}
GRID_INLINE grid::pack<float> multiply_add(grid::pack<float> x, grid::pack<float> y, grid::pack<float> z) {
    return _mm256_fmadd_ps(x, y, z);
}
#elif defined(__aarch64__)
GRID_INLINE grid::pack<double> multiply_add(grid::pack<double> x, grid::pack<double> y, grid::pack<double> z) {
    return (grid::pack<double>)vfmaq_f64((float64x2_t)z, (float64x2_t)x, (float64x2_t)y);
}
GRID_INLINE grid::pack<float> multiply_add(grid::pack<float> x, grid::pack<float> y, grid::pack<float> z) {
    return (grid::pack<float>)vfmaq_f32((float32x4_t)z, (float32x4_t)x, (float32x4_t)y);
}
#else
template <class V, if_pack<V> = 0>
GRID_INLINE V multiply_add(V x, V y, V z) { return x * y + z; }
#endif

// Whether any lane is above the bound or NaN.
template <class V, if_pack<V> = 0>
GRID_INLINE bool any_beyond(V x, scalar_of<V> bound) {
    [[maybe_unused]] const V limit = broadcast<V>(bound);
#if defined(__AVX512F__)
    if constexpr (sizeof(scalar_of<V>) == 8) return _mm512_cmp_pd_mask((__m512d)x, (__m512d)limit, _CMP_NLE_UQ) != 0;
    else return _mm512_cmp_ps_mask((__m512)x, (__m512)limit, _CMP_NLE_UQ) != 0;
#elif defined(__AVX__)
    if constexpr (sizeof(scalar_of<V>) == 8)
        return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)x, (__m256d)limit, _CMP_NLE_UQ)) != 0;
    else return _mm256_movemask_ps(_mm256_cmp_ps((__m256)x, (__m256)limit, _CMP_NLE_UQ)) != 0;
#elif defined(__SSE2__)
    if constexpr (sizeof(scalar_of<V>) == 8) return _mm_movemask_pd(_mm_cmpnle_pd((__m128d)x, (__m128d)limit)) != 0;
    else return _mm_movemask_ps(_mm_cmpnle_ps((__m128)x, (__m128)limit)) != 0;
#else
    bool beyond = false;
    for (int l = 0; l < lanes_of<V>; ++l) beyond |= !(x[l] <= bound);
    return beyond;
#endif
}

}  // namespace gm
#endif
