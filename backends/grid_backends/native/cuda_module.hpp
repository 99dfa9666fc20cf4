// The CUDA part of the extension module.
#pragma once

#include <pybind11/pybind11.h>

namespace grid::cuda {

void register_cuda(pybind11::module_& module);

}  // namespace grid::cuda
