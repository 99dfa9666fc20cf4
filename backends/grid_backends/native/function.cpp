#include "function.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "arrays.hpp"
#include "execute.hpp"

namespace grid {

namespace {

using py::detail::array_proxy;
using py::detail::npy_api;

Argument declared(const py::tuple& entry) {
    Argument argument;
    argument.name = entry[0].cast<std::string>();
    argument.shape = entry[1].cast<std::vector<int64_t>>();
    for (const int64_t axis : argument.shape) argument.size *= axis;
    if (argument.shape.size() > kMaxAxes) {
        throw UnitError("'" + argument.name + "': at most " + std::to_string(kMaxAxes) + " axes are allowed");
    }
    return argument;
}

template <class T>
std::vector<char> scalars(int64_t size, int64_t slot, double value) {
    std::vector<char> bytes(size * sizeof(T));
    T* data = reinterpret_cast<T*>(bytes.data());
    if (slot >= 0) {
        data[slot] = static_cast<T>(value);
    } else {
        std::fill_n(data, size, static_cast<T>(value));
    }
    return bytes;
}

Argument declared_input(const py::tuple& entry, int64_t scalar_bytes) {
    Argument argument = declared(entry);
    argument.optional = entry[2].cast<bool>();
    argument.scalar = !entry[4].is_none() || argument.size == 1;
    if (!entry[4].is_none()) argument.slot = entry[4].cast<int64_t>();
    if (!entry[3].is_none()) {
        const int64_t slot = argument.scalar ? argument.slot : -1;
        const double value = entry[3].cast<double>();
        argument.standard = scalar_bytes == sizeof(float) ? scalars<float>(argument.size, slot, value)
                                                          : scalars<double>(argument.size, slot, value);
    }
    return argument;
}

}  // namespace

// The state of one call: where each declared argument lies.
struct Function::Call {
    const char* in[kMaxArguments];
    int64_t in_stride[kMaxArguments];
    char* out[kMaxArguments];
    int64_t out_stride[kMaxArguments];
    PyObject* arrays[kMaxArguments] = {};  // outputs, owned
    uint64_t given = 0;                    // bit i: declared input i has a value
    int64_t batch = 1;
    bool batched = false;
    bool own_output = true;
    size_t used = 0;
    alignas(8) char scratch[256];                    // vectors made of plain numbers
    std::vector<std::unique_ptr<char[]>> converted;  // inputs of the other float type

    Range range(const char* data, int64_t stride, int64_t size) const {
        return batch == 0 ? Range{data, data} : Range{data, data + (batch - 1) * stride + size};
    }

    ~Call() {
        for (PyObject* array : arrays) {
            if (array == nullptr) return;
            Py_DECREF(array);
        }
    }
};

Function::Function(std::shared_ptr<const Unit> unit, const py::sequence& inputs, const py::sequence& outputs,
                   py::object result)
    : unit_(std::move(unit)), scalar_bytes_(unit_->table().scalar_bytes), result_(std::move(result)) {
    const int type = scalar_bytes_ == sizeof(float) ? npy_api::NPY_FLOAT_ : npy_api::NPY_DOUBLE_;
    dtype_ = py::reinterpret_steal<py::object>(numpy().PyArray_DescrFromType_(type));
    for (const py::handle entry : inputs) {
        inputs_.push_back(declared_input(py::reinterpret_borrow<py::tuple>(entry), scalar_bytes_));
    }
    for (const py::handle entry : outputs) outputs_.push_back(declared(py::reinterpret_borrow<py::tuple>(entry)));
    if (inputs_.size() > kMaxArguments || outputs_.size() > kMaxArguments) {
        fail("at most " + std::to_string(kMaxArguments) + " inputs and as many outputs can be passed");
    }
    const grid_unit& table = unit_->table();
    for (int32_t i = 0; i < table.num_functions; ++i) add_variant(table.functions[i]);
    const auto fewer = [](const Variant& a, const Variant& b) { return a.sources.size() < b.sources.size(); };
    std::stable_sort(variants_.begin(), variants_.end(), fewer);
    if ((variants_.back().inputs & used_) != used_) fail("no function takes all inputs at once");
}

void Function::fail(const std::string& what) const {
    throw UnitError("unit '" + unit_->path() + "' of algorithm '" + unit_->table().algorithm + "': " + what +
                    "; rebuild the robot (force_rebuild=True) with the installed plugins");
}

void Function::add_variant(const grid_function& function) {
    check_outputs(function);
    Variant variant;
    variant.function = &function;
    for (int32_t i = 0; i < function.num_inputs; ++i) {
        const grid_argument& own = function.inputs[i];
        const auto same_name = [&own](const Argument& argument) { return argument.name == own.name; };
        const auto found = std::find_if(inputs_.begin(), inputs_.end(), same_name);
        if (found == inputs_.end()) fail(std::string("input '") + own.name + "' is not declared");
        if (found->size != own.size) {
            fail("input '" + found->name + "': expected " + std::to_string(found->size) +
                 " scalars per sample, found " + std::to_string(own.size));
        }
        const int source = static_cast<int>(found - inputs_.begin());
        variant.sources.push_back(source);
        variant.inputs |= uint64_t{1} << source;
    }
    used_ |= variant.inputs;
    variants_.push_back(std::move(variant));
}

void Function::check_outputs(const grid_function& function) const {
    if (function.num_outputs != static_cast<int32_t>(outputs_.size())) {
        fail("expected " + std::to_string(outputs_.size()) + " outputs, found " + std::to_string(function.num_outputs));
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
        const grid_argument& own = function.outputs[i];
        if (outputs_[i].name != own.name || outputs_[i].size != own.size) {
            fail("expected output '" + outputs_[i].name + "' of " + std::to_string(outputs_[i].size) +
                 " scalars per sample, found '" + own.name + "' of " + std::to_string(own.size));
        }
    }
}

PyObject* Function::call(PyObject* arguments, PyObject* out, int threads) const {
    Call call;
    try {
        if (!bind_inputs(call, arguments) || !bind_out(call, out)) return Py_NewRef(Py_NotImplemented);
        if (call.own_output && !allocate(call)) return nullptr;
        evaluate(call, threads);
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
        return nullptr;
    }
    return result(call);
}

bool Function::bind_inputs(Call& call, PyObject* arguments) const {
    if (!PyTuple_CheckExact(arguments) || PyTuple_GET_SIZE(arguments) != static_cast<Py_ssize_t>(inputs_.size())) {
        return false;
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
        if (!bind_input(call, static_cast<int>(i), PyTuple_GET_ITEM(arguments, i))) return false;
    }
    return true;
}

bool Function::bind_input(Call& call, int index, PyObject* value) const {
    const Argument& argument = inputs_[index];
    const uint64_t bit = uint64_t{1} << index;
    if (value == Py_None) {
        if (argument.standard.empty()) return argument.optional;
        call.in[index] = argument.standard.data();
        call.in_stride[index] = 0;
    } else if (is_array(value)) {
        const int64_t item = float_bytes(value);
        if (item == 0 || !bind_array(call, argument, value, item, false)) return false;
        const auto* array = array_proxy(value);
        const bool shared = array->nd == static_cast<int>(argument.shape.size());
        const int64_t stride = shared ? 0 : array->strides[0];
        call.in[index] = array->data;
        call.in_stride[index] = stride / scalar_bytes_;
        if (item != scalar_bytes_) convert(call, index, array->data, stride);
    } else if (!PyFloat_Check(value) || !bind_number(call, index, PyFloat_AS_DOUBLE(value))) {
        return false;
    }
    call.given |= bit;
    return true;
}

bool Function::bind_number(Call& call, int index, double value) const {
    const Argument& argument = inputs_[index];
    const size_t bytes = argument.size * scalar_bytes_;
    if (!argument.scalar || call.used + bytes > sizeof(call.scratch)) return false;
    char* data = call.scratch + call.used;
    std::memset(data, 0, bytes);
    if (scalar_bytes_ == int64_t{sizeof(float)}) {
        reinterpret_cast<float*>(data)[argument.slot] = static_cast<float>(value);
    } else {
        reinterpret_cast<double*>(data)[argument.slot] = value;
    }
    call.used += (bytes + 7) / 8 * 8;
    call.in[index] = data;
    call.in_stride[index] = 0;
    return true;
}

// Replaces an input of the other float type by a copy in the unit's.
void Function::convert(Call& call, int index, const char* data, int64_t stride) const {
    const int64_t size = inputs_[index].size;
    const int64_t rows = stride == 0 ? std::min<int64_t>(1, call.batch) : call.batch;
    const bool narrow = scalar_bytes_ == int64_t{sizeof(float)};
    call.converted.push_back(narrow ? converted<float, double>(data, rows, size, stride)
                                    : converted<double, float>(data, rows, size, stride));
    call.in[index] = call.converted.back().get();
    call.in_stride[index] = stride == 0 ? 0 : size;
}

// Checks that the array, of scalars of `item` bytes, is canonical and agrees with the batch of those before it.
bool Function::bind_array(Call& call, const Argument& argument, PyObject* value, int64_t item, bool writable) const {
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
    const int64_t batch = array->dimensions[0];
    const int64_t row = array->strides[0];
    if (row < (writable && batch > 1 ? stride : 0) || row % item != 0) return false;
    if (call.batched) return batch == call.batch;
    call.batched = true;
    call.batch = batch;
    return true;
}

bool Function::bind_out(Call& call, PyObject* out) const {
    if (out == Py_None) return true;
    call.own_output = false;
    const bool several = PyTuple_CheckExact(out) && PyTuple_GET_SIZE(out) == static_cast<Py_ssize_t>(outputs_.size());
    if (!several && outputs_.size() != 1) return false;
    const bool batched = call.batched;
    for (size_t i = 0; i < outputs_.size(); ++i) {
        PyObject* value = several ? PyTuple_GET_ITEM(out, i) : out;
        const Argument& argument = outputs_[i];
        if (!is_array(value) || float_bytes(value) != scalar_bytes_) return false;
        if (!bind_array(call, argument, value, scalar_bytes_, true) || call.batched != batched) return false;
        const auto* array = array_proxy(value);
        if ((array->nd != static_cast<int>(argument.shape.size())) != batched) return false;
        call.out[i] = array->data;
        call.out_stride[i] = batched ? array->strides[0] / scalar_bytes_ : 0;
        if (overlaps_input(call, static_cast<int>(i)) || overlaps_output(call, static_cast<int>(i))) return false;
        call.arrays[i] = Py_NewRef(value);
    }
    return true;
}

// Whether the smallest memory ranges that hold both meet: units may write early rows before they read late ones.
bool Function::overlaps_input(const Call& call, int index) const {
    const Range out = output_range(call, index);
    for (size_t i = 0; i < inputs_.size(); ++i) {
        if ((call.given >> i & 1) == 0) continue;
        const int64_t stride = call.in_stride[i] * scalar_bytes_;
        if (out.meets(call.range(call.in[i], stride, inputs_[i].size * scalar_bytes_))) return true;
    }
    return false;
}

// Whether an output shares memory with one before it. Outputs side by side in the rows of one buffer do not.
bool Function::overlaps_output(const Call& call, int index) const {
    const int64_t size = outputs_[index].size * scalar_bytes_;
    for (int i = 0; i < index; ++i) {
        if (!output_range(call, index).meets(output_range(call, i))) continue;
        const int64_t stride = call.out_stride[i] * scalar_bytes_;
        const int64_t offset = call.out[index] - call.out[i];
        const bool same_stride = call.out_stride[index] == call.out_stride[i];
        if (!same_stride || !interleaved(offset, outputs_[i].size * scalar_bytes_, size, stride)) return true;
    }
    return false;
}

Range Function::output_range(const Call& call, int index) const {
    return call.range(call.out[index], call.out_stride[index] * scalar_bytes_, outputs_[index].size * scalar_bytes_);
}

bool Function::allocate(Call& call) const {
    for (size_t i = 0; i < outputs_.size(); ++i) {
        const Argument& argument = outputs_[i];
        Py_intptr_t shape[kMaxAxes + 1];
        int axes = 0;
        if (call.batched) shape[axes++] = call.batch;
        for (const int64_t size : argument.shape) shape[axes++] = size;
        PyObject* type = Py_NewRef(dtype_.ptr());  // stolen by the next call
        PyObject* array =
            numpy().PyArray_NewFromDescr_(numpy().PyArray_Type_, type, axes, shape, nullptr, nullptr, 0, nullptr);
        if (array == nullptr) return false;
        call.arrays[i] = array;
        call.out[i] = array_proxy(array)->data;
        call.out_stride[i] = call.batched ? argument.size : 0;
    }
    return true;
}

PyObject* Function::result(Call& call) const {
    if (result_.is_none()) return std::exchange(call.arrays[0], nullptr);
    const auto count = static_cast<Py_ssize_t>(outputs_.size());
    auto values = py::reinterpret_steal<py::object>(PyTuple_New(count));
    auto arguments = py::reinterpret_steal<py::object>(PyTuple_New(1));
    if (!values || !arguments) return nullptr;
    for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(values.ptr(), i, Py_NewRef(call.arrays[i]));
    PyTuple_SET_ITEM(arguments.ptr(), 0, values.release().ptr());
    return PyTuple_Type.tp_new(reinterpret_cast<PyTypeObject*>(result_.ptr()), arguments.ptr(), nullptr);
}

const Variant& Function::choose(uint64_t given) const {
    const uint64_t needed = given & used_;
    const auto takes_all = [needed](const Variant& variant) { return (variant.inputs & needed) == needed; };
    return *std::find_if(variants_.begin(), variants_.end(), takes_all);
}

void Function::evaluate(Call& call, int threads) const {
    const Variant& variant = choose(call.given);
    Task task;
    task.run = variant.function->run;
    for (size_t i = 0; i < variant.sources.size(); ++i) {
        const int source = variant.sources[i];
        const bool given = call.given >> source & 1;
        task.in[i] = given ? call.in[source] : nullptr;
        task.in_stride[i] = given ? call.in_stride[source] : 0;
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
        task.out[i] = call.out[i];
        task.out_stride[i] = call.out_stride[i];
    }
    if (call.batch == 0) return;
    execute(task, call.batch, std::max<int64_t>(variant.function->operations, 1), unit_->table().lanes, threads);
}

}  // namespace grid
