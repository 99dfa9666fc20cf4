#include "errors.hpp"

#include <pybind11/pybind11.h>

#include <exception>

#include "cuda_driver.hpp"
#include "unit.hpp"

namespace grid {

namespace {

namespace py = pybind11;

void set(const char* module, const char* name, const std::exception& error) noexcept {
    try {
        PyErr_SetString(py::module_::import(module).attr(name).ptr(), error.what());
    } catch (py::error_already_set& missing) {
        missing.restore();
    }
}

}  // namespace

void set_python_error() noexcept {
    const char* const ours = "grid_backends.errors";
    try {
        throw;
    } catch (py::error_already_set& error) {
        error.restore();
    } catch (const UnitError& error) {
        set(ours, "UnitError", error);
    } catch (const ArgumentError& error) {
        set("grid_core.errors", "ArgumentError", error);
    } catch (const cuda::MemoryError& error) {
        set(ours, "DeviceMemoryError", error);
    } catch (const cuda::CudaError& error) {
        set(ours, "CudaError", error);
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
}

}  // namespace grid
