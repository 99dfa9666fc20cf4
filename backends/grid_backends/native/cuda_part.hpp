// Parts of device arrays and copies between them: what methods of several kernels are made of.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "cuda_array.hpp"
#include "cuda_view.hpp"

namespace grid::cuda {

// A part of a device array of any library. It keeps the array.
class DevicePart {
   public:
    explicit DevicePart(View view) : view_(std::move(view)) {}

    const View& view() const { return view_; }
    std::vector<int64_t> shape() const { return {view_.shape, view_.shape + view_.axes}; }

    // By integers, slices and an ellipsis. An IndexError if there is no such part.
    DevicePart at(const py::object& index) const;

    // With the first `axes` axes as one, which a single row gets too. An ArgumentError if they are not evenly spaced.
    DevicePart joined(int axes) const;

    py::dict interface() const;

   private:
    View view_;
};

// The DevicePart that a Python object is, or null.
const DevicePart* as_device_part(PyObject* object);

void register_device_part(py::module_& module);

}  // namespace grid::cuda
