#include "cuda_array.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>

#include "dlpack.hpp"
#include "gil.hpp"

namespace grid::cuda {

namespace {

PyTypeObject* array_type = nullptr;

// A tensor that keeps the memory and its own shape.
struct Export {
    dlpack::ManagedTensor managed;
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;
    Memory memory;
};

void delete_export(dlpack::ManagedTensor* managed) { delete static_cast<Export*>(managed->context); }

// A capsule that nobody consumed still owns its tensor.
void delete_capsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, dlpack::kTensorName) == 0) return;
    auto* managed = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, dlpack::kTensorName));
    managed->deleter(managed);
}

[[noreturn]] void refuse(const char* message) {
    PyErr_SetString(PyExc_BufferError, message);
    throw py::error_already_set();
}

const char* type_string(int item) { return item == 4 ? "<f4" : "<f8"; }

}  // namespace

int64_t DeviceArray::size() const {
    int64_t size = 1;
    for (const int64_t axis : shape_) size *= axis;
    return size;
}

View DeviceArray::view(PyObject* self) const {
    View view;
    view.data = memory_->address;
    view.axes = static_cast<int>(shape_.size());
    std::copy(shape_.begin(), shape_.end(), view.shape);
    view.kind = 'f';
    view.item = item_;
    view.device = device_->index;
    view.stream = stream_;
    view.owner = py::reinterpret_borrow<py::object>(self);
    const std::vector<int64_t> bytes = strides(item_);
    std::copy(bytes.begin(), bytes.end(), view.strides);
    return view;
}

std::vector<int64_t> DeviceArray::strides(int64_t unit) const {
    const auto axes = static_cast<int>(shape_.size());
    std::vector<int64_t> result(axes);
    int64_t next = unit;
    for (int step = 0; step < axes; ++step) {  // from the last axis in memory to the first
        const int axis = step < last_ ? last_ - 1 - step : axes - 1 - (step - last_);
        result[axis] = next;
        next *= shape_[axis];
    }
    return result;
}

py::dict DeviceArray::interface() const {
    py::dict description;
    description["shape"] = py::tuple(py::cast(shape_));
    description["typestr"] = type_string(item_);
    description["data"] = py::make_tuple(size() == 0 ? 0 : memory_->address, false);
    description["strides"] = last_ == 0 ? py::object(py::none()) : py::tuple(py::cast(strides(item_)));
    description["stream"] = stream();
    description["version"] = 3;
    return description;
}

py::tuple DeviceArray::dlpack_device() const { return py::make_tuple(dlpack::kCuda, device_->index); }

py::capsule DeviceArray::dlpack(const py::object& consumer, const py::object& device, const py::object& copy) const {
    if (!device.is_none() && !device.equal(dlpack_device())) refuse("a DeviceArray is exported on its own device only");
    if (!copy.is_none() && copy.cast<bool>()) refuse("a DeviceArray is exported without a copy only");
    const intptr_t stream = consumer.is_none() ? 1 : consumer.cast<intptr_t>();
    if (stream != -1) {
        const Scope scope(*device_);
        device_->order(reinterpret_cast<Stream>(stream), stream_);
    }
    auto exported = std::make_unique<Export>(Export{{}, shape_, strides(1), memory_});
    dlpack::Tensor& tensor = exported->managed.tensor;
    tensor.data = reinterpret_cast<void*>(memory_->address);
    tensor.device = {dlpack::kCuda, device_->index};
    tensor.ndim = static_cast<int32_t>(shape_.size());
    tensor.type = {dlpack::kFloat, static_cast<uint8_t>(8 * item_), 1};
    tensor.shape = exported->shape.data();
    tensor.strides = last_ == 0 ? nullptr : exported->strides.data();
    tensor.offset = 0;
    exported->managed.context = exported.get();
    exported->managed.deleter = delete_export;
    py::capsule capsule(&exported->managed, dlpack::kTensorName, delete_capsule);
    exported.release();
    return capsule;
}

void DeviceArray::copy_to(void* host) const {
    const Scope scope(*device_);
    const Driver& driver = Driver::get();
    const GilReleased gil;
    check(driver.copy_to_host(host, memory_->address, size() * item_, stream_), "copying an array to the host");
    check(driver.stream_wait(stream_), "waiting for an array");
}

py::object DeviceArray::numpy() const {
    py::array array(py::dtype(type_string(item_)), shape_, strides(item_));
    if (size() != 0) copy_to(array.mutable_data());
    return array;
}

const DeviceArray* as_device_array(PyObject* object) {
    if (Py_TYPE(object) != array_type) return nullptr;
    return static_cast<const DeviceArray*>(
        reinterpret_cast<py::detail::instance*>(object)->simple_value_holder[0]);
}

void register_device_array(py::module_& module) {
    const auto type = py::class_<DeviceArray>(module, "DeviceArray", py::is_final())
        .def_property_readonly("shape", [](const DeviceArray& a) { return py::tuple(py::cast(a.shape())); })
        .def_property_readonly("ndim", [](const DeviceArray& a) { return a.shape().size(); })
        .def_property_readonly("size", &DeviceArray::size)
        .def_property_readonly("dtype", [](const DeviceArray& a) { return py::dtype(type_string(a.item())); })
        .def_property_readonly("device", [](const DeviceArray& a) { return "cuda:" + std::to_string(a.device().index); })
        .def_property_readonly("stream", &DeviceArray::stream)
        .def_property_readonly("__cuda_array_interface__", &DeviceArray::interface)
        .def("__dlpack_device__", &DeviceArray::dlpack_device)
        .def("__dlpack__", [](const DeviceArray& array, const py::object& stream, const py::object&,
                              const py::object& device, const py::object& copy) {
            return array.dlpack(stream, device, copy);
        }, py::kw_only(), py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
           py::arg("dl_device") = py::none(), py::arg("copy") = py::none())
        .def("numpy", &DeviceArray::numpy);
    array_type = reinterpret_cast<PyTypeObject*>(type.ptr());
}

}  // namespace grid::cuda
