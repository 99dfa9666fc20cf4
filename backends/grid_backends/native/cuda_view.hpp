// Device arrays of any library, read through the protocols that they offer.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda_device.hpp"

namespace grid::cuda {

namespace py = pybind11;

constexpr int kMaxViewAxes = 16;

struct View {
    Address data = 0;
    int axes = 0;
    int64_t shape[kMaxViewAxes];
    int64_t strides[kMaxViewAxes];  // bytes
    char kind = '?';                // 'f' as in NumPy
    int item = 0;                   // bytes of an element
    int device = -1;                // -1: not said
    bool writable = true;
    std::optional<Stream> stream;   // that the array's contents are made on
    py::object owner;               // keeps the memory until the call has been made

    int64_t size() const;
    void fill_strides();            // C-contiguous
};

// A view of a device array, or nothing if the object is none. `stream` is the one that will use it, unless the array
// prescribes another: None before that is known.
std::optional<View> view_device_array(PyObject* object, std::optional<Stream> stream);

// The stream of an argument: an integer handle, or an object with __cuda_stream__, cuda_stream or ptr. None: nothing.
std::optional<Stream> stream_argument(PyObject* object);

}  // namespace grid::cuda
