// Results in device memory.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cuda_device.hpp"
#include "cuda_view.hpp"

namespace grid::cuda {

namespace py = pybind11;

// A contiguous array of floats, the axes of its shape in C order or behind the batch. It is read through __cuda_array_interface__ or DLPack; its memory serves later calls
// on the same stream once nobody holds it.
class DeviceArray {
   public:
    // `stream` is the one that its contents are made on. The first `last` axes are the last ones in memory.
    DeviceArray(Device& device, Stream stream, std::vector<int64_t> shape, int item, Memory memory, int last = 0)
        : device_(&device), stream_(stream), shape_(std::move(shape)), item_(item), last_(last),
          memory_(std::move(memory)) {}

    View view(PyObject* self) const;
    const std::vector<int64_t>& shape() const { return shape_; }
    int item() const { return item_; }
    int64_t size() const;
    const Device& device() const { return *device_; }

    // The handle by the rules of the array interface, where 0 means nothing.
    intptr_t stream() const { return is_legacy(stream_) ? 1 : reinterpret_cast<intptr_t>(stream_); }

    py::dict interface() const;
    py::tuple dlpack_device() const;
    // A capsule; `consumer` is ordered after the stream of the array, unless it is -1.
    py::capsule dlpack(const py::object& consumer, const py::object& device, const py::object& copy) const;
    // A copy in host memory; waits for the stream.
    py::object numpy() const;

   private:
    void copy_to(void* host) const;
    // The stride of every axis, if consecutive elements in memory are `unit` apart.
    std::vector<int64_t> strides(int64_t unit) const;

    Device* device_;
    Stream stream_;
    std::vector<int64_t> shape_;
    int item_;
    int last_;
    Memory memory_;
};

// The DeviceArray that a Python object is, or null.
const DeviceArray* as_device_array(PyObject* object);

void register_device_array(py::module_& module);

}  // namespace grid::cuda
