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

const T* row(const void* base, int64_t stride, int64_t sample) {
    return base == nullptr ? nullptr : static_cast<const T*>(base) + stride * sample;
}

T at(const T* values, int i) { return values == nullptr ? T(0) : values[i]; }

// tau = qd + sum(q) + gravity_z + 2 qdd + 3 f_ext[:nv] + the number of the variant times `probe`
template <int Variant>
void run(const void* const* in, const int64_t* in_stride, void* const* out, const int64_t* out_stride, int64_t begin,
         int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
        const T* q = row(in[0], in_stride[0], s);
        const T* qd = row(in[1], in_stride[1], s);
        const T* gravity = row(in[2], in_stride[2], s);
        const T* f_ext = row(in[3], in_stride[3], s);
        const T* probe = row(in[4], in_stride[4], s);
        const T* qdd = Variant == 2 ? row(in[5], in_stride[5], s) : nullptr;
        T sum = T(0);
        for (int i = 0; i < NQ; ++i) sum += at(q, i);
        T* tau = static_cast<T*>(out[0]) + out_stride[0] * s;
        for (int i = 0; i < NV; ++i) {
            tau[i] = at(qd, i) + sum + at(gravity, 2) + T(2) * at(qdd, i) + T(3) * at(f_ext, i) + T(Variant) * at(probe, 0);
        }
#ifdef TWO_OUTPUTS
        T* outer = static_cast<T*>(out[1]) + out_stride[1] * s;
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
