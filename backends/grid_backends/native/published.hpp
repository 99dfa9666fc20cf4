// Functions that compiled front-ends call by a key, see grid_bridge.h.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "declaration.hpp"

namespace grid {

// Arrays of a call by declared input and output; strides as in strides.hpp.
struct RawCall {
    const void* in[kMaxArguments] = {};
    int64_t in_stride[kMaxArguments] = {};
    void* out[kMaxArguments] = {};
    int64_t out_stride[kMaxArguments] = {};
    uint64_t given = 0;  // bit i: declared input i has a value
    int64_t batch = 1;
};

// publish, withdraw and bridge_address.
void register_published(pybind11::module_& module);

}  // namespace grid
