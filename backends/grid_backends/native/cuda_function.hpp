// A callable made of the kernels of one unit: what a handle's method on a GPU calls with its arguments.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <mutex>

#include "cuda_launch.hpp"
#include "cuda_unit.hpp"
#include "declaration.hpp"

namespace grid::cuda {

class CudaFunction {
   public:
    // See Declaration for the arguments.
    CudaFunction(std::shared_ptr<CudaUnit> unit, const py::sequence& inputs, const py::sequence& outputs,
                 py::object result);

    // With device arrays: enqueues the work on `stream` (None: that of the arrays) and returns at once. With NumPy
    // arrays: waits for results in NumPy arrays, which at most `threads` threads copy, or NotImplemented if arguments
    // are not canonical (see Binding). Never throws.
    PyObject* call(PyObject* arguments, PyObject* out, PyObject* stream, int threads) noexcept;

    Launcher& launcher() { return launcher_; }

    // The same kernels on another device, opened at its first use: a program that is divided among devices calls one
    // function on all of them. Any thread may ask, with Python's lock or without.
    Launcher& launcher_on(int device);

    Tuning tuning;  // of all devices
    const Declaration& declared() const { return declared_; }

    // Whether the batch is contiguous in new arrays for results, instead of the samples.
    void set_batch_last(bool value) { batch_last_ = value; }

   private:
    PyObject* call_device(class DeviceCall& call, PyObject* arguments, PyObject* out);
    PyObject* call_host(PyObject* arguments, PyObject* out, int threads);

    Declaration declared_;
    Launcher launcher_;
    std::mutex mutex_;
    std::map<int, Launcher> elsewhere_;  // by device
    bool batch_last_ = false;
};

}  // namespace grid::cuda
