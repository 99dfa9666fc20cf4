// Runs a function of a unit on a batch, on as many threads as pay off.
#pragma once

#include <cstdint>

#include "declaration.hpp"
#include "grid_unit.h"

namespace grid {

// What one call hands to the unit, shared by all threads that work on it.
struct Task {
    grid_run run;
    const void* in[kMaxArguments];
    int64_t in_stride[kMaxArguments];
    void* out[kMaxArguments];
    int64_t out_stride[kMaxArguments];
    int64_t out_size[kMaxArguments];  // scalars per sample
    int inputs;
    int outputs;
    int64_t scalar_bytes;

    static void body(const void* context, int64_t begin, int64_t end) {
        const Task& task = *static_cast<const Task*>(context);
        task.run(task.in, task.in_stride, task.out, task.out_stride, begin, end);
    }
};

// Evaluates samples [0, batch) with at most `threads` threads. The GIL, if the caller has it, is released unless the work
// takes no longer than that. `operations` counts a sample's arithmetic, `lanes` the samples of a SIMD pack.
void execute(const Task& task, int64_t batch, int64_t operations, int64_t lanes, int threads);

}  // namespace grid
