// Elementary functions of packs. Every lane's bits depend on that lane's argument alone.
// The coefficients are minimax ones, printed by tools/minimax.py.
#ifndef GRID_PACK_MATH_HPP
#define GRID_PACK_MATH_HPP

#include "pack_type.hpp"
#include "scalar_math.hpp"

namespace gm {
namespace detail {

// `magic` is 1.5 * 2^(mantissa bits): adding it rounds to an integer, whose two's complement is then in the low bits.
template <class T>
struct constants;

template <>
struct constants<double> {
    static constexpr int exponent_shift = 52;
    static constexpr std::uint64_t exponent_bias = 1023;
    static constexpr double magic = 0x1.8p52;
    static constexpr double two_over_pi = 0x1.45f306dc9c883p-1, log2_e = 0x1.71547652b82fep0;
#if GRID_PACK_FMA
    static constexpr double sincos_bound = 0x1p30;
    static constexpr double minus_half_pi[] = {-0x1.921fb54442d18p+0, -0x1.1a62633145c07p-54, 0x1.f1976b7ed8fbcp-110};
    static constexpr double minus_ln2[] = {-0x1.62e42fefa39efp-1, -0x1.abc9e3b39803fp-56};
#else
    static constexpr double sincos_bound = 0x1p20;
    static constexpr double minus_half_pi[] = {-0x1.921fb544p+0, -0x1.0b4611a6p-34, -0x1.3198a2ep-69,
                                               -0x1.b839a252049c1p-104};
    static constexpr double minus_ln2[] = {-0x1.62e42ffp-1, 0x1.718432a1b0e26p-35};
#endif
    static constexpr double sine[] = {-0x1.5555555555548p-3, 0x1.111111110f7cap-7, -0x1.a01a019bfd179p-13,
                                      0x1.71de356711e88p-19, -0x1.ae5e59f537bdfp-26, 0x1.5d8fa303c4cb6p-33};
    static constexpr double cosine[] = {0x1.555555555554bp-5, -0x1.6c16c16c14f8ap-10, 0x1.a01a019c83916p-16,
                                        -0x1.27e4f7ea37e58p-22, 0x1.1ee9d752c6eeep-29, -0x1.8fa4660971550p-37};
    static constexpr double exponential[] = {0x1p-1, 0x1.5555555555559p-3, 0x1.555555555555ap-5,
                                             0x1.111111110f6aep-7, 0x1.6c16c16c14460p-10, 0x1.a01a01afe5432p-13,
                                             0x1.a01a01b0b2a13p-16, 0x1.71ddf8535b1f7p-19, 0x1.27e4c5a9dab2fp-22,
                                             0x1.af5ebf76440a5p-26, 0x1.1f9555edb583bp-29};
    static constexpr double arctangent[] = {-0x1.555555555553dp-2, 0x1.99999999957afp-3, -0x1.24924922a9837p-3,
                                            0x1.c71c70e4bb89bp-4, -0x1.745cf8b9ced01p-4, 0x1.3b1116e3f7157p-4,
                                            -0x1.10eba0b0cd610p-4, 0x1.df0e076909b97p-5, -0x1.9ccd52597dd4ep-5,
                                            0x1.37c87c4bf32afp-5, -0x1.254ea8455996ep-6};
    static constexpr double quarter_pi[] = {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
    static constexpr double three_quarter_pi[] = {0x1.2d97c7f3321d2p+1, 0x1.a79394c9e8a0ap-54};
    static constexpr double tan_eighth_pi = 0x1.a827999fcef32p-2;
    static constexpr double exp_low = -746, exp_high = 710, tanh_high = 20;
};

template <>
struct constants<float> {
    static constexpr int exponent_shift = 23;
    static constexpr std::uint32_t exponent_bias = 127;
    static constexpr float magic = 0x1.8p23f;
    static constexpr float two_over_pi = 0x1.45f306p-1f, log2_e = 0x1.715476p0f;
#if GRID_PACK_FMA
    static constexpr float sincos_bound = 0x1p16f;
    static constexpr float minus_half_pi[] = {-0x1.921fb6p+0f, 0x1.777a5cp-25f, 0x1.ee59dap-50f};
    static constexpr float minus_ln2[] = {-0x1.62e43p-1f, 0x1.05c61p-29f};
#else
    static constexpr float sincos_bound = 0x1p12f;
    static constexpr float minus_half_pi[] = {-0x1.922p+0f, 0x1.2aep-18f, 0x1.deap-31f, -0x1.184698p-44f};
    static constexpr float minus_ln2[] = {-0x1.62ep-1f, -0x1.0bfbe8p-15f};
#endif
    static constexpr float sine[] = {-0x1.555546p-3f, 0x1.11073ap-7f, -0x1.994388p-13f};
    static constexpr float cosine[] = {0x1.55554ap-5f, -0x1.6c0c32p-10f, 0x1.99eb4ap-16f};
    static constexpr float exponential[] = {0x1p-1f, 0x1.555556p-3f, 0x1.5554aep-5f,
                                            0x1.11109p-7f, 0x1.6d7486p-10f, 0x1.a1a164p-13f};
    static constexpr float arctangent[] = {-0x1.55554ap-2f, 0x1.999194p-3f, -0x1.23b506p-3f, 0x1.b1ea5ep-4f,
                                           -0x1.f1e3dep-5f};
    static constexpr float quarter_pi[] = {0x1.921fb6p-1f, -0x1.777a5cp-26f};
    static constexpr float three_quarter_pi[] = {0x1.2d97c8p+1f, -0x1.99bc5cp-28f};
    static constexpr float tan_eighth_pi = 0x1.a8279ap-2f;
    static constexpr float exp_low = -104, exp_high = 89, tanh_high = 10;
};

template <class V>
using constants_of = constants<scalar_of<V>>;

// Horner's rule, lowest degree first in the table.
template <class V, class T, int N>
GRID_INLINE V polynomial(V x, const T (&coefficients)[N]) {
    V value = broadcast<V>(coefficients[N - 1]);
#pragma GCC unroll 16
    for (int i = N - 2; i >= 0; --i) value = multiply_add(value, x, broadcast<V>(coefficients[i]));
    return value;
}

// x + k * (sum of parts), largest part first (Cody and Waite): the leading products or differences are exact.
template <class V, class T, int N>
GRID_INLINE V reduce(V x, V k, const T (&parts)[N]) {
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) x = multiply_add(k, broadcast<V>(parts[i]), x);
    return x;
}

// The same with four short parts where products are rounded: three of them are exact, and the rounding error of the
// second difference is kept.
template <class V, class T>
GRID_INLINE V reduce(V x, V k, const T (&parts)[4]) {
    const V first = x + k * parts[0], step = k * parts[1], second = first + step;
    const V error = (first - second) + step;
    return (second + (error + k * parts[2])) + k * parts[3];
}

// 2^k for the integer k of `shifted` = k + magic, as long as it is a normal number.
template <class V>
GRID_INLINE V power_of_two(V shifted) {
    using C = constants_of<V>;
    return (V)(((bits_of<V>)shifted + C::exponent_bias) << C::exponent_shift);
}

// x in the lanes whose integer is odd, y in the others.
template <class V>
GRID_INLINE V select_odd(bits_of<V> integer, V x, V y) {
#if defined(__AVX512F__)
    const __m512i all = (__m512i)integer;
    if constexpr (sizeof(scalar_of<V>) == 8)
        return _mm512_mask_mov_pd(y, _mm512_test_epi64_mask(all, _mm512_set1_epi64(1)), x);
    else return _mm512_mask_mov_ps(y, _mm512_test_epi32_mask(all, _mm512_set1_epi32(1)), x);
#elif defined(__AVX__)
    if constexpr (sizeof(scalar_of<V>) == 8) return _mm256_blendv_pd(y, x, (__m256d)(integer << 63));
    else return _mm256_blendv_ps(y, x, (__m256)(integer << 31));
#elif defined(__SSE4_1__)
    if constexpr (sizeof(scalar_of<V>) == 8) return _mm_blendv_pd(y, x, (__m128d)(integer << 63));
    else return _mm_blendv_ps(y, x, (__m128)(integer << 31));
#else
    return select((integer & 1) != 0, x, y);
#endif
}

template <class V>
struct sine_and_cosine {
    V sine, cosine;
};

// Replaces the lanes that the vector path cannot serve: beyond the bound, infinite or NaN.
template <class V>
__attribute__((noinline, cold)) sine_and_cosine<V> sincos_beyond(V x, sine_and_cosine<V> result) {
    for (int l = 0; l < lanes_of<V>; ++l) {
        if (abs(x[l]) <= constants_of<V>::sincos_bound) continue;
        result.sine[l] = std::sin(x[l]);
        result.cosine[l] = std::cos(x[l]);
    }
    return result;
}

// Replaces the lanes without a usable quotient: two zeros, infinities, NaN, or a sum that overflows.
template <class V>
__attribute__((noinline, cold)) V atan2_beyond(V y, V x, V quotient, V result) {
    for (int l = 0; l < lanes_of<V>; ++l) {
        if (!(quotient[l] <= scalar_of<V>(0.5))) result[l] = std::atan2(y[l], x[l]);
    }
    return result;
}

}  // namespace detail

// One reduction to [-pi/4, pi/4] serves both; it works on |x|, so that sin keeps the sign of zero. The error is below
// 1.6 ulp up to sincos_bound; beyond it lanes go through the C library one by one and are as exact as that is (glibc:
// 0.6 ulp, but 8 ulp at the few huge numbers that nearly are multiples of pi/2).
template <class V, if_pack<V> = 0>
GRID_INLINE void sincos(V x, V& s, V& c) {
    using C = detail::constants_of<V>;
    using B = bits_of<V>;
    using T = scalar_of<V>;
    constexpr int top = int(sizeof(T)) * 8 - 2;
    const V size = abs(x);
    const V shifted = multiply_add(size, broadcast<V>(C::two_over_pi), broadcast<V>(C::magic));
    const V r = detail::reduce(size, shifted - C::magic, C::minus_half_pi);
    const V z = r * r;
    const V sine = multiply_add(r * z, detail::polynomial(z, C::sine), r);
    const V tail = multiply_add(z, detail::polynomial(z, C::cosine), broadcast<V>(T(-0.5)));
    const V cosine = multiply_add(z, tail, broadcast<V>(T(1)));
    const B quadrant = (B)shifted, sign = sign_bit<V>();
    const V near = detail::select_odd(quadrant, cosine, sine), far = detail::select_odd(quadrant, sine, cosine);
    s = (V)((B)near ^ (((quadrant << top) ^ (B)x) & sign));
    c = (V)((B)far ^ (((quadrant + 1) << top) & sign));
    if (__builtin_expect(any_beyond(size, C::sincos_bound), 0)) {
        const auto repaired = detail::sincos_beyond<V>(x, {s, c});
        s = repaired.sine;
        c = repaired.cosine;
    }
}

template <class V, if_pack<V> = 0>
GRID_INLINE V sin(V x) {
    V s, c;
    sincos(x, s, c);
    return s;
}

template <class V, if_pack<V> = 0>
GRID_INLINE V cos(V x) {
    V s, c;
    sincos(x, s, c);
    return c;
}

// exp(x) = 2^k exp(r). 2^k is applied in two halves, so that neither overflows and a subnormal result rounds once.
template <class V, if_pack<V> = 0>
inline V exp(V x) {
    using C = detail::constants_of<V>;
    using T = scalar_of<V>;
    const V low = broadcast<V>(C::exp_low), high = broadcast<V>(C::exp_high), magic = broadcast<V>(C::magic);
    x = select(x < low, low, select(x > high, high, x));
    const V k = multiply_add(x, broadcast<V>(C::log2_e), magic) - magic;
    const V r = detail::reduce(x, k, C::minus_ln2);
    const V value = multiply_add(r * r, detail::polynomial(r, C::exponential), r) + T(1);
    const V half = multiply_add(k, broadcast<V>(T(0.5)), magic);
    const V rest = (k - (half - magic)) + magic;
    return value * detail::power_of_two(half) * detail::power_of_two(rest);
}

// tanh|x| = e / (e + 2) with e = exp(2|x|) - 1 = 2^k (exp(r) - 1) + (2^k - 1), which keeps small arguments exact.
template <class V, if_pack<V> = 0>
inline V tanh(V x) {
    using C = detail::constants_of<V>;
    using T = scalar_of<V>;
    using B = bits_of<V>;
    const V size = abs(x), high = broadcast<V>(C::tanh_high);
    const V twice = T(2) * select(size > high, high, size);
    const V shifted = multiply_add(twice, broadcast<V>(C::log2_e), broadcast<V>(C::magic));
    const V r = detail::reduce(twice, shifted - C::magic, C::minus_ln2);
    const V p = multiply_add(r * r, detail::polynomial(r, C::exponential), r);
    const V scale = detail::power_of_two(shifted);
    const V e = multiply_add(scale, p, scale - T(1));
    return (V)((B)(e / (e + T(2))) | ((B)x & sign_bit<V>()));
}

// Rare in kernels: lane by lane through the C library.
template <class V, if_pack<V> = 0>
__attribute__((noinline)) V log(V x) {
    for (int l = 0; l < lanes_of<V>; ++l) x[l] = std::log(x[l]);
    return x;
}

// The angle from the nearest axis or diagonal, whose tangent is at most tan(pi/8), is added to or taken from the angle
// of that axis or diagonal, kept in two parts. The error is below 2 ulp.
template <class V, if_pack<V> = 0>
inline V atan2(V y, V x) {
    using C = detail::constants_of<V>;
    using T = scalar_of<V>;
    using B = bits_of<V>;
    const B sign = sign_bit<V>(), left = (B)x & sign;
    const V one = broadcast<V>(T(1)), zero{};
    const V rise = abs(y), run = abs(x);
    const auto steep = rise > run;
    const V shorter = select(steep, run, rise), longer = select(steep, rise, run);
    const auto diagonal = shorter > longer * C::tan_eighth_pi;
    const V under = select(diagonal, longer + shorter, longer);
    const V r = select(diagonal, shorter - longer, shorter) / under;
    const V z = r * r;
    const V angle = multiply_add(r * z, detail::polynomial(z, C::arctangent), r);
    const V turned = (V)((B)angle ^ left ^ (B)select(steep, -zero, zero));
    const auto behind = (V)((B)one | left) < zero;
    const auto nearest = [&](int part) {
        const V quarter = broadcast<V>(C::quarter_pi[part]), three_quarters = broadcast<V>(C::three_quarter_pi[part]);
        const V axis = select(steep, T(2) * quarter, select(behind, T(4) * quarter, zero));
        return select(diagonal, select(behind, three_quarters, quarter), axis);
    };
    V result = (V)((B)(nearest(0) + (nearest(1) + turned)) | ((B)y & sign));
    const V quotient = multiply_add(under, zero, abs(r));
    if (__builtin_expect(any_beyond(quotient, T(0.5)), 0)) result = detail::atan2_beyond<V>(y, x, quotient, result);
    return result;
}

}  // namespace gm
#endif
