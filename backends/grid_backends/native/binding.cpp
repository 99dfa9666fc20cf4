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
        if (item == 0 || !bind_array(argument, value, item, false, in_stride[index])) return false;
        in[index] = array_proxy(value)->data;
        if (item != declared_.scalar_bytes) {
            if (is_batch_last(in_stride[index])) return false;
            convert(index, in[index], in_stride[index] * item);
        }
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
bool Binding::bind_array(const Argument& argument, PyObject* value, int64_t item, bool writable, int64_t& stride) {
    const auto* array = array_proxy(value);
    const int axes = static_cast<int>(argument.shape.size());
    const int needed = npy_api::NPY_ARRAY_ALIGNED_ | (writable ? npy_api::NPY_ARRAY_WRITEABLE_ : 0);
    if ((array->flags & needed) != needed) return false;
    const int leading = array->nd - axes;
    if (leading != 0 && leading != 1) return false;
    if (!std::equal(argument.shape.begin(), argument.shape.end(), array->dimensions + leading)) return false;
    const Axes<Py_ssize_t> samples{array->dimensions, array->strides, 0, leading};
    const Axes<Py_ssize_t> sample{array->dimensions, array->strides, leading, array->nd};
    stride = regular_stride(samples, sample, item);
    if (stride < 0) return false;
    if (leading == 0) {
        stride = 0;
        return true;
    }
    const int64_t rows = array->dimensions[0];
    if (writable && rows > 1 && stride < argument.size) return false;
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
    note_ranges();
    for (int i = 0; i < static_cast<int>(count); ++i) {
        PyObject* value = several ? PyTuple_GET_ITEM(results, i) : results;
        const Argument& argument = declared_.outputs[i];
        if (!is_array(value) || float_bytes(value) != declared_.scalar_bytes) return false;
        if (!bind_array(argument, value, declared_.scalar_bytes, true, out_stride[i])) return false;
        if (batched != inputs_batched) return false;
        const auto* array = array_proxy(value);
        if ((array->nd != static_cast<int>(argument.shape.size())) != batched) return false;
        out[i] = array->data;
        if (overlaps_input(i) || overlaps_output(i)) return false;
        arrays_[i] = Py_NewRef(value);
    }
    return true;
}

void Binding::note_ranges() {
    for (size_t i = 0; i < declared_.inputs.size(); ++i) {
        ranges_[i] = given >> i & 1 ? input_place(static_cast<int>(i)).range(batch, declared_.scalar_bytes) : Range{};
    }
}

// Whether an output may share memory with an input: units may write early rows before they read late ones.
bool Binding::overlaps_input(int index) const {
    const Place written = output_place(index);
    const Range range = written.range(batch, declared_.scalar_bytes);
    for (size_t i = 0; i < declared_.inputs.size(); ++i) {
        if (!range.meets(ranges_[i])) continue;  // nearly always
        if (written.meets(input_place(static_cast<int>(i)), batch, declared_.scalar_bytes)) return true;
    }
    return false;
}

// Whether an output shares memory with one before it.
bool Binding::overlaps_output(int index) const {
    for (int i = 0; i < index; ++i) {
        if (output_place(index).meets(output_place(i), batch, declared_.scalar_bytes)) return true;
    }
    return false;
}

Place Binding::input_place(int index) const { return {in[index], in_stride[index], declared_.inputs[index].size}; }

Place Binding::output_place(int index) const { return {out[index], out_stride[index], declared_.outputs[index].size}; }

bool Binding::allocate() {
    for (size_t i = 0; i < declared_.outputs.size(); ++i) {
        if (!allocate(static_cast<int>(i), nullptr, nullptr)) return false;
    }
    return true;
}

bool Binding::allocate(int index, char* memory, PyObject* owner) {
    const Argument& argument = declared_.outputs[index];
    const bool transposed = batch_last_ && batch > 1;
    Py_intptr_t strides[kMaxAxes + 1];
    if (transposed) fill_batch_last(argument.shape, batch, declared_.scalar_bytes, strides);
    PyObject* array = arrays_[index] = new_array(argument, transposed ? strides : nullptr, memory);
    if (array == nullptr || (owner != nullptr && numpy().PyArray_SetBaseObject_(array, owner) < 0)) return false;
    out[index] = array_proxy(array)->data;
    out_stride[index] = transposed ? batch_last(batch) : batched ? argument.size : 0;
    return true;
}

PyObject* Binding::new_array(const Argument& argument, const Py_intptr_t* strides, char* memory) const {
    Py_intptr_t shape[kMaxAxes + 1];
    int axes = 0;
    if (batched) shape[axes++] = batch;
    for (const int64_t size : argument.shape) shape[axes++] = size;
    PyObject* type = Py_NewRef(declared_.dtype.ptr());  // stolen by the next call
    const int order = strides == nullptr ? npy_api::NPY_ARRAY_C_CONTIGUOUS_ : 0;
    const int flags = memory == nullptr ? 0 : order | npy_api::NPY_ARRAY_ALIGNED_ | npy_api::NPY_ARRAY_WRITEABLE_;
    return numpy().PyArray_NewFromDescr_(numpy().PyArray_Type_, type, axes, shape, strides, memory, flags, nullptr);
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
