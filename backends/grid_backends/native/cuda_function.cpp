#include "cuda_function.hpp"

#include <utility>

#include "binding.hpp"
#include "cuda_host.hpp"
#include "cuda_operands.hpp"
#include "errors.hpp"

namespace grid::cuda {

namespace {

std::string subject(const CudaUnit& unit) { return "unit '" + unit.path + "' of algorithm '" + unit.algorithm + "'"; }

}  // namespace

CudaFunction::CudaFunction(std::shared_ptr<CudaUnit> unit, const py::sequence& inputs, const py::sequence& outputs,
                           py::object result)
    : declared_(subject(*unit), unit->scalar_bytes, inputs, outputs, std::move(result)),
      launcher_(std::move(unit), declared_, tuning) {}

Launcher& CudaFunction::launcher_on(int device) {
    const CudaUnit& own = launcher_.unit();
    if (device == own.device_index) return launcher_;
    const std::lock_guard lock(mutex_);
    const auto found = elsewhere_.find(device);
    if (found != elsewhere_.end()) return found->second;
    return elsewhere_.try_emplace(device, std::make_shared<CudaUnit>(own, device), declared_, tuning).first->second;
}

PyObject* CudaFunction::call(PyObject* arguments, PyObject* out, PyObject* stream, int threads) noexcept {
    try {
        DeviceCall call(launcher_, declared_, stream_argument(stream), batch_last_);
        return call.find(arguments, out) ? call_device(call, arguments, out) : call_host(arguments, out, threads);
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

PyObject* CudaFunction::call_device(DeviceCall& call, PyObject* arguments, PyObject* out) {
    CudaUnit& unit = launcher_.unit();
    unit.load();
    const Scope scope(unit.device());
    call.bind(arguments, out, unit.device());
    call.launch(unit.device());
    if (call.captured()) unit.keep_loaded();
    return call.result(unit.device());
}

PyObject* CudaFunction::call_host(PyObject* arguments, PyObject* out, int threads) {
    Binding call(declared_, batch_last_);
    if (!call.bind(arguments, out)) return Py_NewRef(Py_NotImplemented);
    launcher_.unit().load();
    HostCall host(launcher_, declared_, call, threads);
    if (call.own_output() && !host.allocate()) throw py::error_already_set();
    host.run();
    return call.result();
}

}  // namespace grid::cuda
