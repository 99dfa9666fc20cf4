#include "cuda_operands.hpp"

#include <pybind11/numpy.h>

#include <algorithm>

#include "arrays.hpp"
#include "binding.hpp"
#include "cuda_array.hpp"
#include "errors.hpp"
#include "strides.hpp"

namespace grid::cuda {

namespace {

using Extents = std::vector<int64_t>;

std::string text(const int64_t* shape, int axes, const char* before = "(") {
    std::string result = before;
    for (int i = 0; i < axes; ++i) result += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return result + (axes == 1 && *before == '(' && before[1] == '\0' ? ",)" : ")");
}

std::string expected(const Argument& argument) {
    const auto axes = static_cast<int>(argument.shape.size());
    return text(argument.shape.data(), axes, axes == 0 ? "(..." : "(..., ");
}

std::string place(int device) { return "'cuda:" + std::to_string(device) + "'"; }

bool ends_with(const View& view, const Extents& shape) {
    const auto axes = static_cast<int>(shape.size());
    return view.axes >= axes && std::equal(shape.begin(), shape.end(), view.shape + view.axes - axes);
}

bool is_plain(PyObject* value) { return value == Py_None || is_array(value) || PyFloat_CheckExact(value); }

}  // namespace

std::string DeviceCall::named(const Argument& argument, const char* role) const {
    return launcher_.unit().algorithm + ": " + role + " '" + argument.name + "'";
}

std::optional<View> DeviceCall::view(PyObject* object) {
    if (is_plain(object)) return std::nullopt;
    auto view = view_device_array(object, stream_);
    if (view && !stream_) stream_ = view->stream.value_or(kLegacyStream);
    return view;
}

bool DeviceCall::find(PyObject* arguments, PyObject* out) {
    const auto count = static_cast<Py_ssize_t>(declared_.inputs.size());
    if (!PyTuple_CheckExact(arguments) || PyTuple_GET_SIZE(arguments) != count) {
        throw ArgumentError(launcher_.unit().algorithm + ": expected a tuple of " + std::to_string(count) + " arguments");
    }
    bool found = false;
    inputs_.reserve(count);
    for (Py_ssize_t i = 0; i < count; ++i) {
        inputs_.push_back(view(PyTuple_GET_ITEM(arguments, i)));
        found = found || inputs_.back();
    }
    const bool several = PyTuple_Check(out) || PyList_Check(out);
    const py::tuple results = several ? py::tuple(py::reinterpret_borrow<py::object>(out)) : py::make_tuple(py::handle(out));
    if (out == Py_None) return found;
    for (const py::handle result : results) {
        if (auto written = view(result.ptr())) outputs_.push_back(std::move(*written));
        results_.push_back(py::reinterpret_borrow<py::object>(result));
    }
    return found || !outputs_.empty();
}

void DeviceCall::bind(PyObject* arguments, PyObject* out, Device& device) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
        bind_input(static_cast<int>(i), PyTuple_GET_ITEM(arguments, i), device);
    }
    operands_.batch = 1;
    if (batch_) {
        for (const int64_t axis : *batch_) operands_.batch *= axis;
    }
    if (out != Py_None) bind_outputs(out, device);
}

void DeviceCall::bind_input(int index, PyObject* value, const Device& device) {
    const Argument& argument = declared_.inputs[index];
    const bool standard = value == Py_None && !argument.standard.empty();
    if (value == Py_None && !standard) {
        if (argument.optional) return;
        throw ArgumentError(named(argument, "argument") + " is required and was not given");
    }
    if (inputs_[index]) {
        bind_view(index, *inputs_[index], device);
    } else if (!standard) {
        bind_row(index, value);
    } else if (!operands_.put_small(index, argument.standard.data(), argument.standard.size(), launcher_.unit())) {
        throw ArgumentError(named(argument, "argument") + " has a default that is too long for a launch; pass an array");
    }
    operands_.given |= uint64_t{1} << index;
}

// A number, or a short vector in host memory that all samples share.
void DeviceCall::bind_row(int index, PyObject* value) {
    const Argument& argument = declared_.inputs[index];
    const auto array = py::array::ensure(value);
    const char kind = array ? array.dtype().kind() : '?';
    if (kind != 'f' && kind != 'i' && kind != 'u' && kind != 'b') {
        throw ArgumentError(named(argument, "argument") + " cannot be read as an array of real numbers");
    }
    std::vector<char> row(argument.size * declared_.scalar_bytes);
    if (array.ndim() == 0 && argument.scalar) {
        declared_.write_number(argument, array.attr("item")().cast<double>(), row.data());
    } else if (array.ndim() == static_cast<py::ssize_t>(argument.shape.size()) &&
               std::equal(argument.shape.begin(), argument.shape.end(), array.shape())) {
        const py::array target(py::reinterpret_borrow<py::dtype>(declared_.dtype), argument.shape, row.data(),
                               py::capsule(row.data(), [](void*) {}));
        target[py::ellipsis()] = array;
    } else {
        throw ArgumentError(named(argument, "argument") + " is in host memory and other arrays of the call are on a device; "
                            "pass all as device arrays, or all as NumPy arrays");
    }
    if (operands_.put_small(index, row.data(), row.size(), launcher_.unit())) return;
    throw ArgumentError(named(argument, "argument") + " is in host memory and too long to travel with the launch; pass a "
                        "device array");
}

void DeviceCall::check_view(const View& view, const Argument& argument, const char* role, const Device& device) const {
    if (view.kind != 'f' || view.item != declared_.scalar_bytes) {
        const std::string got = view.kind == '?' ? "another dtype" : view.kind + std::to_string(view.item);
        throw ArgumentError(named(argument, role) + " has dtype " + got + ", expected f" +
                            std::to_string(declared_.scalar_bytes) + ", that of the build; convert it first");
    }
    if (view.device >= 0 && view.device != device.index) {
        throw ArgumentError(named(argument, role) + " is on " + place(view.device) + ", expected " + place(device.index) +
                            ", where this handle runs; move it, or use a handle of that device");
    }
}

int64_t DeviceCall::stride_of(const View& view, const Argument& argument, int leading, const char* role) const {
    const grid::Axes<int64_t> batch{view.shape, view.strides, 0, leading};
    const grid::Axes<int64_t> sample{view.shape, view.strides, leading, view.axes};
    const int64_t stride = regular_stride(batch, sample, view.item);
    if (stride >= 0) return stride;
    throw ArgumentError(named(argument, role) + " has strides " + text(view.strides, view.axes) +
                        " in bytes; pass a C-contiguous array, or one whose batch axes are the last in memory");
}

void DeviceCall::bind_view(int index, const View& view, const Device& device) {
    const Argument& argument = declared_.inputs[index];
    check_view(view, argument, "argument", device);
    if (!ends_with(view, argument.shape)) {
        throw ArgumentError(named(argument, "argument") + " has shape " + text(view.shape, view.axes) +
                            ", expected shape " + expected(argument));
    }
    const int leading = view.axes - static_cast<int>(argument.shape.size());
    operands_.in[index] = reinterpret_cast<const void*>(view.data);
    operands_.in_stride[index] = stride_of(view, argument, leading, "argument");
    if (leading == 0) {
        operands_.in_stride[index] = 0;
        return;
    }
    const Extents batch(view.shape, view.shape + leading);
    if (!batch_) batch_ = batch;
    if (batch == *batch_) return;
    throw ArgumentError(named(argument, "argument") + " has batch shape " + text(batch.data(), leading) + ", expected " +
                        text(batch_->data(), static_cast<int>(batch_->size())) +
                        " as in the arguments before it; batch axes are equal in all arguments, or absent in those that "
                        "all samples share");
}

void DeviceCall::bind_outputs(PyObject* out, const Device& device) {
    const size_t count = declared_.outputs.size();
    if (results_.size() != count) {
        throw ArgumentError(launcher_.unit().algorithm + ": out is one array or a tuple of arrays for each of the " +
                            std::to_string(count) + " results, found " + std::to_string(results_.size()));
    }
    if (outputs_.size() != count) {
        throw ArgumentError(launcher_.unit().algorithm + ": out is a " + Py_TYPE(out)->tp_name +
                            " in host memory, and the call is on " + place(device.index) + "; pass a device array");
    }
    for (size_t i = 0; i < count; ++i) bind_output(static_cast<int>(i), outputs_[i], device);
}

void DeviceCall::bind_output(int index, const View& view, const Device& device) {
    const Argument& argument = declared_.outputs[index];
    check_view(view, argument, "out for", device);
    Extents full = batch_.value_or(Extents{});
    Extents flat = full;
    full.insert(full.end(), argument.shape.begin(), argument.shape.end());
    flat.push_back(argument.size);
    const bool is_full = view.axes == static_cast<int>(full.size()) && ends_with(view, full);
    const bool is_flat = view.axes == static_cast<int>(flat.size()) && ends_with(view, flat);
    if (!is_full && !is_flat) {
        throw ArgumentError(named(argument, "out for") + " has shape " + text(view.shape, view.axes) + ", expected " +
                            text(full.data(), static_cast<int>(full.size())));
    }
    const int leading = batch_ ? static_cast<int>(batch_->size()) : 0;
    const int64_t stride = stride_of(view, argument, leading, "out for");
    if (!view.writable || stride < argument.size) {
        throw ArgumentError(named(argument, "out for") + " is read-only or overlaps itself; pass a writable array");
    }
    operands_.out[index] = reinterpret_cast<void*>(view.data);
    operands_.out_stride[index] = stride;
    check_overlaps(index);
}

// Blocks write early samples before others read late ones.
void DeviceCall::check_overlaps(int index) const {
    const auto output = [this](int i) {
        return Place{operands_.out[i], operands_.out_stride[i], declared_.outputs[i].size};
    };
    const auto refuse = [this, index](const std::string& other) {
        throw ArgumentError(named(declared_.outputs[index], "out for") + " overlaps " + other + "; pass separate memory");
    };
    const Place written = output(index);
    for (size_t i = 0; i < inputs_.size(); ++i) {
        if (!inputs_[i]) continue;
        const Place read{operands_.in[i], operands_.in_stride[i], declared_.inputs[i].size};
        const bool meet = written.meets(read, operands_.batch, declared_.scalar_bytes);
        if (meet) refuse("argument '" + declared_.inputs[i].name + "'");
    }
    for (int i = 0; i < index; ++i) {
        const bool meet = written.meets(output(i), operands_.batch, declared_.scalar_bytes);
        if (meet) refuse("that for '" + declared_.outputs[i].name + "'");
    }
}

void DeviceCall::allocate(Device& device, Arena& arena) {
    const int item = static_cast<int>(declared_.scalar_bytes);
    for (size_t i = 0; i < declared_.outputs.size(); ++i) {
        const Argument& argument = declared_.outputs[i];
        Extents shape = batch_.value_or(Extents{});
        shape.insert(shape.end(), argument.shape.begin(), argument.shape.end());
        Memory memory = arena.take(stream(), operands_.batch * argument.size * item);
        operands_.out[i] = reinterpret_cast<void*>(memory->address);
        const bool transposed = batch_last_ && operands_.batch > 1;
        operands_.out_stride[i] = transposed ? batch_last(operands_.batch) : argument.size;
        const int last = transposed ? static_cast<int>(batch_->size()) : 0;
        results_.push_back(py::cast(DeviceArray(device, stream(), std::move(shape), item, std::move(memory), last)));
    }
}

void DeviceCall::launch(Device& device) {
    const Device::Place place = device.place(stream());
    captured_ = place.captured;
    if (results_.empty()) allocate(device, *place.arena);
    if (operands_.batch == 0) return;
    for (const auto& view : inputs_) {  // a graph cannot wait for what is outside of it
        if (view && view->stream && !captured_) device.order(stream(), *view->stream);
    }
    launcher_.launch(operands_, stream(), *place.arena);
}

PyObject* DeviceCall::result(Device&) {
    std::vector<PyObject*> arrays;
    for (const py::object& result : results_) arrays.push_back(result.ptr());
    return pack_result(declared_, arrays.data());
}

}  // namespace grid::cuda
