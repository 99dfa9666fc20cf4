#include "binding.hpp"

#include <pybind11/numpy.h>

#include <algorithm>
#include <utility>

namespace grid {

using py::detail::array_proxy;
using py::detail::npy_api;

Binding::~Binding() {
    for (size_t i = 0; i < declared_.outputs.size(); ++i) Py_XDECREF(arrays_[i]);
}

bool Binding::bind(PyObject* arguments, PyObject* results) {
    const auto count = static_cast<Py_ssize_t>(declared_.inputs.size());
    if (!PyTuple_CheckExact(arguments) || PyTuple_GET_SIZE(arguments) != count) return false;
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (!bind_input(static_cast<int>(i), PyTuple_GET_ITEM(arguments, i))) return false;
    }
    return bind_out(results);
}

bool Binding::bind_input(int index, PyObject* value) {
    const Argument& argument = declared_.inputs[index];
    const uint64_t bit = uint64_t{1} << index;
    if (value == Py_None) {
        if (argument.standard.empty()) return argument.optional;
        in[index] = argument.standard.data();
        in_stride[index] = 0;
    } else if (is_array(value)) {
        const int64_t item = float_bytes(value);
        if (item == 0 || !bind_array(argument, value, item, false)) return false;
        const auto* array = array_proxy(value);
        const bool shared = array->nd == static_cast<int>(argument.shape.size());
        const int64_t stride = shared ? 0 : array->strides[0];
        in[index] = array->data;
        in_stride[index] = stride / declared_.scalar_bytes;
        if (item != declared_.scalar_bytes) convert(index, array->data, stride);
    } else if (!PyFloat_Check(value) || !bind_number(index, PyFloat_AS_DOUBLE(value))) {
        return false;
    }
    given |= bit;
    return true;
}

bool Binding::bind_number(int index, double value) {
    const Argument& argument = declared_.inputs[index];
    const size_t bytes = argument.size * declared_.scalar_bytes;
    if (!argument.scalar || used_ + bytes > sizeof(numbers_)) return false;
    char* data = numbers_ + used_;
    declared_.write_number(argument, value, data);
    used_ += (bytes + 7) / 8 * 8;
    in[index] = data;
    in_stride[index] = 0;
    return true;
}

// Replaces an input of the other float type by a copy in the unit's.
void Binding::convert(int index, const char* data, int64_t stride) {
    const int64_t size = declared_.inputs[index].size;
    const int64_t rows = stride == 0 ? std::min<int64_t>(1, batch) : batch;
    const bool narrow = declared_.scalar_bytes == int64_t{sizeof(float)};
    converted_.push_back(narrow ? converted<float, double>(data, rows, size, stride)
                                : converted<double, float>(data, rows, size, stride));
    in[index] = converted_.back().get();
    in_stride[index] = stride == 0 ? 0 : size;
}

// Checks that the array, of scalars of `item` bytes, is canonical and agrees with the batch of those before it.
bool Binding::bind_array(const Argument& argument, PyObject* value, int64_t item, bool writable) {
    const auto* array = array_proxy(value);
    const int axes = static_cast<int>(argument.shape.size());
    const int needed = npy_api::NPY_ARRAY_ALIGNED_ | (writable ? npy_api::NPY_ARRAY_WRITEABLE_ : 0);
    if ((array->flags & needed) != needed) return false;
    const int leading = array->nd - axes;
    if (leading != 0 && leading != 1) return false;
    const bool empty = argument.size == 0 || (leading == 1 && array->dimensions[0] == 0);  // strides mean nothing
    int64_t stride = item;
    for (int axis = axes - 1; axis >= 0; --axis) {
        const int64_t size = array->dimensions[leading + axis];
        if (size != argument.shape[axis]) return false;
        if (size != 1 && !empty && array->strides[leading + axis] != stride) return false;
        stride *= size;
    }
    if (leading == 0) return true;
    const int64_t rows = array->dimensions[0];
    const int64_t row = array->strides[0];
    if (row < (writable && rows > 1 ? stride : 0) || row % item != 0) return false;
    if (batched) return rows == batch;
    batched = true;
    batch = rows;
    return true;
}

bool Binding::bind_out(PyObject* results) {
    if (results == Py_None) return true;
    own_output_ = false;
    const auto count = static_cast<Py_ssize_t>(declared_.outputs.size());
    const bool several = PyTuple_Check(results) && PyTuple_GET_SIZE(results) == count;
    if (!several && count != 1) return false;
    const bool inputs_batched = batched;
    for (int i = 0; i < static_cast<int>(count); ++i) {
        PyObject* value = several ? PyTuple_GET_ITEM(results, i) : results;
        const Argument& argument = declared_.outputs[i];
        if (!is_array(value) || float_bytes(value) != declared_.scalar_bytes) return false;
        if (!bind_array(argument, value, declared_.scalar_bytes, true) || batched != inputs_batched) return false;
        const auto* array = array_proxy(value);
        if ((array->nd != static_cast<int>(argument.shape.size())) != batched) return false;
        out[i] = array->data;
        out_stride[i] = batched ? array->strides[0] / declared_.scalar_bytes : 0;
        if (overlaps_input(i) || overlaps_output(i)) return false;
        arrays_[i] = Py_NewRef(value);
    }
    return true;
}

// Whether an output may share memory with an input: units may write early rows before they read late ones. Rows side by
// side in one buffer do not share any.
bool Binding::overlaps_input(int index) const {
    const int64_t bytes = declared_.scalar_bytes;
    const int64_t stride = out_stride[index] * bytes;
    const Range written = output_range(index);
    for (size_t i = 0; i < declared_.inputs.size(); ++i) {
        if ((given >> i & 1) == 0) continue;
        const int64_t size = declared_.inputs[i].size * bytes;
        if (!written.meets(range(in[i], in_stride[i] * bytes, size))) continue;
        const bool same_stride = in_stride[i] * bytes == stride;
        if (!same_stride || !interleaved(in[i] - out[index], declared_.outputs[index].size * bytes, size, stride)) return true;
    }
    return false;
}

// Whether an output shares memory with one before it. Outputs side by side in the rows of one buffer do not.
bool Binding::overlaps_output(int index) const {
    const int64_t bytes = declared_.scalar_bytes;
    for (int i = 0; i < index; ++i) {
        if (!output_range(index).meets(output_range(i))) continue;
        const bool same_stride = out_stride[index] == out_stride[i];
        const int64_t size = declared_.outputs[index].size * bytes;
        const int64_t other = declared_.outputs[i].size * bytes;
        if (!same_stride || !interleaved(out[index] - out[i], other, size, out_stride[i] * bytes)) return true;
    }
    return false;
}

Range Binding::range(const char* data, int64_t stride, int64_t size) const {
    return batch == 0 ? Range{data, data} : Range{data, data + (batch - 1) * stride + size};
}

Range Binding::output_range(int index) const {
    const int64_t bytes = declared_.scalar_bytes;
    return range(out[index], out_stride[index] * bytes, declared_.outputs[index].size * bytes);
}

bool Binding::allocate() {
    for (size_t i = 0; i < declared_.outputs.size(); ++i) {
        if (!allocate(static_cast<int>(i), nullptr, nullptr)) return false;
    }
    return true;
}

bool Binding::allocate(int index, char* memory, PyObject* owner) {
    const Argument& argument = declared_.outputs[index];
    Py_intptr_t shape[kMaxAxes + 1];
    int axes = 0;
    if (batched) shape[axes++] = batch;
    for (const int64_t size : argument.shape) shape[axes++] = size;
    PyObject* type = Py_NewRef(declared_.dtype.ptr());  // stolen by the next call
    const int flags = memory == nullptr ? 0 : npy_api::NPY_ARRAY_C_CONTIGUOUS_ | npy_api::NPY_ARRAY_ALIGNED_ |
                                                  npy_api::NPY_ARRAY_WRITEABLE_;
    PyObject* array =
        numpy().PyArray_NewFromDescr_(numpy().PyArray_Type_, type, axes, shape, nullptr, memory, flags, nullptr);
    arrays_[index] = array;
    if (array == nullptr || (owner != nullptr && numpy().PyArray_SetBaseObject_(array, owner) < 0)) return false;
    out[index] = array_proxy(array)->data;
    out_stride[index] = batched ? argument.size : 0;
    return true;
}

PyObject* Binding::result() { return pack_result(declared_, arrays_); }

PyObject* pack_result(const Declaration& declaration, PyObject* const* arrays) {
    if (declaration.result.is_none()) return Py_NewRef(arrays[0]);
    const auto count = static_cast<Py_ssize_t>(declaration.outputs.size());
    auto values = py::reinterpret_steal<py::object>(PyTuple_New(count));
    auto arguments = py::reinterpret_steal<py::object>(PyTuple_New(1));
    if (!values || !arguments) return nullptr;
    for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(values.ptr(), i, Py_NewRef(arrays[i]));
    PyTuple_SET_ITEM(arguments.ptr(), 0, values.release().ptr());
    return PyTuple_Type.tp_new(reinterpret_cast<PyTypeObject*>(declaration.result.ptr()), arguments.ptr(), nullptr);
}

}  // namespace grid
