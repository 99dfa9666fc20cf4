// Elementary functions of one sample: the scalar overloads of the names that emitted code calls, on the host and on
// CUDA.
#ifndef GRID_SCALAR_MATH_HPP
#define GRID_SCALAR_MATH_HPP

#include <cmath>
#include <type_traits>

#ifndef GRID_HD
#ifdef __CUDACC__
#define GRID_HD __host__ __device__ __forceinline__
#else
#define GRID_HD inline
#endif
#endif

namespace gm {

// What a value holds: one number, or a number for each lane of a pack.
template <class V>
struct pack_traits {
    static constexpr bool is_pack = false;
    using scalar = V;
};
template <class V>
using scalar_of = typename pack_traits<V>::scalar;

template <class T>
using if_scalar = std::enable_if_t<std::is_floating_point<T>::value, int>;

template <class T, if_scalar<T> = 0>
GRID_HD T broadcast(T x) { return x; }

template <class T, if_scalar<T> = 0>
GRID_HD T select(bool mask, T x, T y) { return mask ? x : y; }

template <class T, if_scalar<T> = 0>
GRID_HD T abs(T x) { return std::fabs(x); }

// A NaN in either argument gives NaN, unlike fmin and fmax.
template <class T, if_scalar<T> = 0>
GRID_HD T min(T x, T y) { return (x < y || x != x) ? x : y; }

template <class T, if_scalar<T> = 0>
GRID_HD T max(T x, T y) { return (x > y || x != x) ? x : y; }

template <class T, if_scalar<T> = 0>
GRID_HD T sqrt(T x) { return std::sqrt(x); }

template <class T, if_scalar<T> = 0>
GRID_HD T sin(T x) { return std::sin(x); }

template <class T, if_scalar<T> = 0>
GRID_HD T cos(T x) { return std::cos(x); }

template <class T, if_scalar<T> = 0>
GRID_HD T atan2(T y, T x) { return std::atan2(y, x); }

template <class T, if_scalar<T> = 0>
GRID_HD T exp(T x) { return std::exp(x); }

template <class T, if_scalar<T> = 0>
GRID_HD T log(T x) { return std::log(x); }

template <class T, if_scalar<T> = 0>
GRID_HD T tanh(T x) { return std::tanh(x); }

#ifdef __CUDA_ARCH__
GRID_HD void sincos(float x, float& s, float& c) { ::sincosf(x, &s, &c); }
GRID_HD void sincos(double x, double& s, double& c) { ::sincos(x, &s, &c); }
#else
template <class T, if_scalar<T> = 0>
GRID_HD void sincos(T x, T& s, T& c) {
    s = std::sin(x);
    c = std::cos(x);
}
#endif

}  // namespace gm
#endif
