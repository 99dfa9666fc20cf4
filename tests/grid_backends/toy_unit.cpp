// A hand-written unit: optional inputs, a variant without one of them, one output or two, plain loops over samples.
// Compiled with -DSCALAR=float|double -DNQ= -DNV= -DNB=; -DTWO_OUTPUTS; -DABI= pretends another interface version and
// -DOPERATIONS= another amount of work per sample.
#include "grid_unit.h"

#ifndef ABI
#define ABI GRID_UNIT_ABI
#endif
#ifndef OPERATIONS
#define OPERATIONS 1000
#endif

namespace {

using T = SCALAR;

// The scalars of one sample.
template <class S>
struct Sample {
    S* p;
    int64_t step;
    S& operator[](int64_t i) const { return p[i * step]; }
};

template <class S, class Base>
Sample<S> sample_of(Base* base, int64_t stride, int64_t sample) {
    if (base == nullptr) return {nullptr, 0};
    const bool last = stride >= GRID_BATCH_LAST;
    return {static_cast<S*>(base) + (last ? sample : stride * sample), last ? stride - GRID_BATCH_LAST : 1};
}

T at(const Sample<const T>& values, int i) { return values.p == nullptr ? T(0) : values[i]; }

// tau = qd + sum(q) + gravity_z + 2 qdd + 3 f_ext[:nv] + the number of the variant times `probe`
template <int Variant>
void run(const void* const* in, const int64_t* in_stride, void* const* out, const int64_t* out_stride, int64_t begin,
         int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
        const auto input = [&](int i) { return sample_of<const T>(in[i], in_stride[i], s); };
        const auto q = input(0), qd = input(1), gravity = input(2), f_ext = input(3), probe = input(4);
        const auto qdd = Variant == 2 ? input(5) : Sample<const T>{nullptr, 0};
        T sum = T(0);
        for (int i = 0; i < NQ; ++i) sum += at(q, i);
        const auto tau = sample_of<T>(out[0], out_stride[0], s);
        for (int i = 0; i < NV; ++i) {
            tau[i] = at(qd, i) + sum + at(gravity, 2) + T(2) * at(qdd, i) + T(3) * at(f_ext, i) + T(Variant) * at(probe, 0);
        }
#ifdef TWO_OUTPUTS
        const auto outer = sample_of<T>(out[1], out_stride[1], s);
        for (int i = 0; i < NV; ++i) {
            for (int j = 0; j < NV; ++j) outer[i * NV + j] = at(qd, i) * T(j + 1);
        }
#endif
    }
}

const grid_argument inputs[] = {{"q", NQ}, {"qd", NV}, {"gravity", 3}, {"f_ext", 6 * NB}, {"probe", 1}, {"qdd", NV}};
const grid_argument outputs[] = {{"tau", NV}, {"outer", NV * NV}};
#ifdef TWO_OUTPUTS
const int32_t num_outputs = 2;
#else
const int32_t num_outputs = 1;
#endif
const grid_function functions[] = {
    {"with_qdd", 6, num_outputs, inputs, outputs, OPERATIONS, run<2>},
    {"without_qdd", 5, num_outputs, inputs, outputs, OPERATIONS, run<1>},
};
const grid_unit unit = {ABI, sizeof(T), 4, 2, "toy", functions};

}  // namespace

extern "C" __attribute__((visibility("default"))) const grid_unit* grid_unit_table(void) { return &unit; }
