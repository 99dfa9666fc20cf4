#include "declaration.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>

#include "arrays.hpp"
#include "unit.hpp"

namespace grid {

namespace {

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

void write_scalar(char* data, int64_t index, double value, int64_t scalar_bytes) {
    if (scalar_bytes == int64_t{sizeof(float)}) {
        reinterpret_cast<float*>(data)[index] = static_cast<float>(value);
    } else {
        reinterpret_cast<double*>(data)[index] = value;
    }
}

Argument declared_input(const py::tuple& entry, int64_t scalar_bytes) {
    Argument argument = declared(entry);
    argument.optional = entry[2].cast<bool>();
    argument.scalar = !entry[4].is_none() || argument.size == 1;
    if (!entry[4].is_none()) argument.slot = entry[4].cast<int64_t>();
    if (entry[3].is_none()) return argument;
    argument.standard.resize(argument.size * scalar_bytes);
    const double value = entry[3].cast<double>();
    for (int64_t i = 0; i < argument.size; ++i) {
        const bool here = !argument.scalar || i == argument.slot;
        write_scalar(argument.standard.data(), i, here ? value : 0.0, scalar_bytes);
    }
    return argument;
}

}  // namespace

Declaration::Declaration(std::string subject_, int64_t scalar_bytes_, const py::sequence& inputs_,
                         const py::sequence& outputs_, py::object result_)
    : subject(std::move(subject_)), scalar_bytes(scalar_bytes_), result(std::move(result_)) {
    const int type = scalar_bytes == int64_t{sizeof(float)} ? npy_api::NPY_FLOAT_ : npy_api::NPY_DOUBLE_;
    dtype = py::reinterpret_steal<py::object>(numpy().PyArray_DescrFromType_(type));
    for (const py::handle entry : inputs_) {
        inputs.push_back(declared_input(py::reinterpret_borrow<py::tuple>(entry), scalar_bytes));
    }
    for (const py::handle entry : outputs_) outputs.push_back(declared(py::reinterpret_borrow<py::tuple>(entry)));
    if (inputs.size() > kMaxArguments || outputs.size() > kMaxArguments) {
        fail("at most " + std::to_string(kMaxArguments) + " inputs and as many outputs can be passed");
    }
}

void Declaration::fail(const std::string& what) const {
    throw UnitError(subject + ": " + what + "; rebuild the robot (force_rebuild=True) with the installed plugins");
}

Variant Declaration::match(const Sizes& own_inputs, const Sizes& own_outputs) const {
    if (own_outputs.size() != outputs.size()) {
        fail("expected " + std::to_string(outputs.size()) + " outputs, found " + std::to_string(own_outputs.size()));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        const auto& [name, size] = own_outputs[i];
        if (outputs[i].name == name && outputs[i].size == size) continue;
        fail("expected output '" + outputs[i].name + "' of " + std::to_string(outputs[i].size) +
             " scalars per sample, found '" + name + "' of " + std::to_string(size));
    }
    Variant variant;
    for (const auto& own : own_inputs) {
        const auto same_name = [&own](const Argument& argument) { return argument.name == own.first; };
        const auto found = std::find_if(inputs.begin(), inputs.end(), same_name);
        if (found == inputs.end()) fail("input '" + own.first + "' is not declared");
        if (found->size != own.second) {
            fail("input '" + found->name + "': expected " + std::to_string(found->size) +
                 " scalars per sample, found " + std::to_string(own.second));
        }
        const int source = static_cast<int>(found - inputs.begin());
        variant.sources.push_back(source);
        variant.inputs |= uint64_t{1} << source;
    }
    return variant;
}

void Declaration::write_number(const Argument& argument, double value, char* data) const {
    std::memset(data, 0, argument.size * scalar_bytes);
    write_scalar(data, argument.slot, value, scalar_bytes);
}

}  // namespace grid
