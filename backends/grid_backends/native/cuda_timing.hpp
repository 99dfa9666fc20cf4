// Device time of calls: what the choice of launch shapes is tuned with.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "cuda_array.hpp"
#include "cuda_function.hpp"

namespace grid::cuda {

// Returns the seconds that a call on device arrays takes the device: the median over `rounds` launches of a graph of
// `repeats` calls, gaps between the calls included.
double time_function(CudaFunction& function, const py::object& arguments, const py::object& out, int repeats, int rounds);

// A copy of an array of floats in device memory.
DeviceArray to_device(const py::array& array, int device);

}  // namespace grid::cuda
