// The extension module grid_backends.native._runner: units, functions and the thread pool, seen from Python.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>

#include "cuda_driver.hpp"
#include "cuda_module.hpp"
#include "errors.hpp"
#include "function.hpp"
#include "pool.hpp"
#include "published.hpp"
#include "unit.hpp"

namespace py = pybind11;

namespace {

py::dict describe(const grid_function& function) {
    const auto sizes = [](const grid_argument* arguments, int32_t count) {
        py::dict result;
        for (int32_t i = 0; i < count; ++i) result[arguments[i].name] = arguments[i].size;
        return result;
    };
    py::dict entry;
    entry["name"] = function.name;
    entry["inputs"] = sizes(function.inputs, function.num_inputs);
    entry["outputs"] = sizes(function.outputs, function.num_outputs);
    entry["operations"] = function.operations;
    return entry;
}

py::list describe_functions(const grid::Unit& unit) {
    py::list result;
    for (int32_t i = 0; i < unit.table().num_functions; ++i) result.append(describe(unit.table().functions[i]));
    return result;
}

// The hot path: function(arguments, out=None, threads=1), without pybind11's dispatcher.
PyObject* call_function(PyObject* self, PyObject* arguments, PyObject* keywords) {
    const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
    if (keywords != nullptr || count < 1 || count > 3) {
        PyErr_SetString(PyExc_TypeError, "expected function(arguments, out=None, threads=1), all positional");
        return nullptr;
    }
    const long threads = count > 2 ? PyLong_AsLong(PyTuple_GET_ITEM(arguments, 2)) : 1;
    if (threads == -1 && PyErr_Occurred() != nullptr) return nullptr;
    const auto* instance = reinterpret_cast<py::detail::instance*>(self);
    const auto* function = static_cast<const grid::Function*>(instance->simple_value_holder[0]);
    if (function == nullptr) {
        PyErr_SetString(PyExc_TypeError, "Function.__init__ was not called");
        return nullptr;
    }
    PyObject* out = count > 1 ? PyTuple_GET_ITEM(arguments, 1) : Py_None;
    return function->call(PyTuple_GET_ITEM(arguments, 0), out, static_cast<int>(threads));
}

void register_errors() {
    py::register_exception_translator([](std::exception_ptr pointer) {
        try {
            if (pointer) std::rethrow_exception(pointer);
        } catch (const grid::UnitError&) {
            grid::set_python_error();
        } catch (const grid::ArgumentError&) {
            grid::set_python_error();
        } catch (const grid::cuda::CudaError&) {
            grid::set_python_error();
        }
    });
}

}  // namespace

PYBIND11_MODULE(_runner, module) {
    module.doc() = "Loads compiled units and calls them on batches of samples.";
    grid::Pool::watch_forks();
    register_errors();

    py::class_<grid::Unit, std::shared_ptr<grid::Unit>>(module, "Unit", py::is_final())
        .def(py::init<const std::string&, unsigned>(), py::arg("path"), py::arg("scalar_bytes") = 0)
        .def_property_readonly("path", &grid::Unit::path)
        .def_property_readonly("algorithm", [](const grid::Unit& unit) { return unit.table().algorithm; })
        .def_property_readonly("scalar_bytes", [](const grid::Unit& unit) { return unit.table().scalar_bytes; })
        .def_property_readonly("lanes", [](const grid::Unit& unit) { return unit.table().lanes; })
        .def_property_readonly("functions", &describe_functions);

    py::class_<grid::Function>(module, "Function", py::is_final(), py::custom_type_setup([](PyHeapTypeObject* type) {
                                   type->ht_type.tp_call = call_function;
                               }))
        .def(py::init<std::shared_ptr<grid::Unit>, const py::sequence&, const py::sequence&, py::object>(),
             py::arg("unit"), py::arg("inputs"), py::arg("outputs"), py::arg("result") = py::none())
        .def("set_batch_last", &grid::Function::set_batch_last, py::arg("value"));

    grid::cuda::register_cuda(module);
    grid::register_published(module);

    module.def("workers", [] { return grid::Pool::get().workers(); }, "Number of started worker threads.");
}
