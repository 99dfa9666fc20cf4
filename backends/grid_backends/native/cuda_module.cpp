#include "cuda_module.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>

#include "cuda_array.hpp"
#include "cuda_function.hpp"
#include "cuda_part.hpp"
#include "cuda_pinned.hpp"
#include "cuda_timing.hpp"
#include "cuda_unit.hpp"

namespace grid::cuda {

namespace {

py::list describe_kernels(CudaUnit& unit) {
    unit.load();
    py::list result;
    for (const Shape& shape : unit.shapes) {
        if (shape.resident == 0) continue;
        py::dict entry;
        entry["name"] = shape.name;
        entry["shape"] = shape.label;
        entry["warps"] = shape.warps;
        entry["blocks"] = shape.blocks;
        entry["shared_bytes"] = shape.shared_bytes;
        entry["scratch"] = shape.scratch;
        entry["local_bytes"] = shape.local_bytes;
        entry["registers"] = shape.registers;
        entry["max_threads"] = shape.max_threads;
        entry["resident"] = shape.resident;
        result.append(entry);
    }
    return result;
}

py::dict describe_device(int index) {
    Device& device = Device::get(index);
    const auto [left, total] = device.memory();
    py::dict entry;
    entry["name"] = device.name;
    entry["compute"] = device.compute;
    entry["multiprocessors"] = device.multiprocessors;
    entry["shared_bytes"] = device.shared_opt_in;
    entry["free_bytes"] = left;
    entry["total_bytes"] = total;
    entry["arena_bytes"] = device.place(kLegacyStream).arena->bytes();
    return entry;
}

py::array pinned_empty(const std::vector<py::ssize_t>& shape, const py::dtype& dtype, int device) {
    py::ssize_t bytes = dtype.itemsize();
    for (const py::ssize_t axis : shape) bytes *= axis;
    auto memory = std::make_unique<Pinned>(PinnedPool::get().take(Device::get(device), bytes));
    char* const data = (*memory)->data;
    const py::capsule owner(memory.get(), [](void* kept) { delete static_cast<Pinned*>(kept); });
    memory.release();
    return py::array(dtype, shape, data, owner);
}

bool is_pinned(const py::array& array) {
    if (array.nbytes() == 0) return false;
    const bool contiguous = (array.flags() & py::array::c_style) != 0;
    return contiguous && PinnedPool::get().holds(array.data(), array.nbytes());
}

std::string shape_for(CudaFunction& function, const std::vector<bool>& given, int64_t batch) {
    function.launcher().unit().load();
    uint64_t mask = 0;
    for (size_t i = 0; i < given.size(); ++i) mask |= static_cast<uint64_t>(given[i]) << i;
    return function.launcher().shape(mask, batch).label;
}

// The hot path: function(arguments, out=None, stream=None, threads=1), without pybind11's dispatcher.
PyObject* call_function(PyObject* self, PyObject* arguments, PyObject* keywords) {
    const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
    if (keywords != nullptr || count < 1 || count > 4) {
        PyErr_SetString(PyExc_TypeError, "expected function(arguments, out=None, stream=None, threads=1), all positional");
        return nullptr;
    }
    const long threads = count > 3 ? PyLong_AsLong(PyTuple_GET_ITEM(arguments, 3)) : 1;
    if (threads == -1 && PyErr_Occurred() != nullptr) return nullptr;
    auto* function = static_cast<CudaFunction*>(reinterpret_cast<py::detail::instance*>(self)->simple_value_holder[0]);
    if (function == nullptr) {
        PyErr_SetString(PyExc_TypeError, "CudaFunction.__init__ was not called");
        return nullptr;
    }
    PyObject* out = count > 1 ? PyTuple_GET_ITEM(arguments, 1) : Py_None;
    PyObject* stream = count > 2 ? PyTuple_GET_ITEM(arguments, 2) : Py_None;
    return function->call(PyTuple_GET_ITEM(arguments, 0), out, stream, static_cast<int>(threads));
}

}  // namespace

void register_cuda(py::module_& module) {
    register_device_array(module);
    register_device_part(module);

    py::class_<CudaUnit, std::shared_ptr<CudaUnit>>(module, "CudaUnit", py::is_final())
        .def(py::init<std::string, const std::string&, int, int>(), py::arg("path"), py::arg("description"),
             py::arg("device") = 0, py::arg("scalar_bytes") = 0)
        .def_readonly("path", &CudaUnit::path)
        .def_readonly("algorithm", &CudaUnit::algorithm)
        .def_readonly("machine", &CudaUnit::machine)
        .def_readonly("portable", &CudaUnit::portable)
        .def_readonly("device", &CudaUnit::device_index)
        .def_readonly("scalar_bytes", &CudaUnit::scalar_bytes)
        .def_property_readonly("kernels", &describe_kernels);

    py::class_<CudaFunction>(module, "CudaFunction", py::is_final(), py::custom_type_setup([](PyHeapTypeObject* type) {
                                 type->ht_type.tp_call = call_function;
                             }))
        .def(py::init<std::shared_ptr<CudaUnit>, const py::sequence&, const py::sequence&, py::object>(),
             py::arg("unit"), py::arg("inputs"), py::arg("outputs"), py::arg("result") = py::none())
        .def_property_readonly("unit", [](CudaFunction& function) { return function.launcher().shared_unit(); })
        .def("shape_for", &shape_for, py::arg("given"), py::arg("batch"))
        .def("set_profile", [](CudaFunction& function, Profile profile) {
            function.tuning.profile = std::move(profile);
        }, py::arg("profile"))
        .def("set_most_threads", [](CudaFunction& function, int threads) {
            function.tuning.most_threads = threads;
        }, py::arg("threads"))
        .def("set_workspaces", [](CudaFunction& function, int64_t most) {
            function.tuning.workspaces = most;
        }, py::arg("most"))
        .def("set_batch_last", &CudaFunction::set_batch_last, py::arg("value"))
        .def("time", &time_function, py::arg("arguments"), py::arg("out"), py::arg("repeats"), py::arg("rounds"));

    module.def("cuda_device_count", &Device::count);
    module.def("cuda_device", &describe_device, py::arg("index"));
    module.def("pinned_empty", &pinned_empty, py::arg("shape"), py::arg("dtype"), py::arg("device") = 0);
    module.def("to_device", &to_device, py::arg("array"), py::arg("device") = 0);
    module.def("is_pinned", &is_pinned, py::arg("array"));
}

}  // namespace grid::cuda
