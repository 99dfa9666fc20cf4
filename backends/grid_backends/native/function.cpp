#include "function.hpp"

#include <algorithm>
#include <utility>

#include "binding.hpp"
#include "execute.hpp"
#include "published.hpp"

namespace grid {

namespace {

std::string subject(const Unit& unit) {
    return "unit '" + unit.path() + "' of algorithm '" + unit.table().algorithm + "'";
}

Sizes sizes(const grid_argument* arguments, int32_t count) {
    Sizes result;
    for (int32_t i = 0; i < count; ++i) result.emplace_back(arguments[i].name, arguments[i].size);
    return result;
}

}  // namespace

Function::Function(std::shared_ptr<const Unit> unit, const py::sequence& inputs, const py::sequence& outputs,
                   py::object result)
    : unit_(std::move(unit)),
      declared_(subject(*unit_), unit_->table().scalar_bytes, inputs, outputs, std::move(result)) {
    const grid_unit& table = unit_->table();
    for (int32_t i = 0; i < table.num_functions; ++i) add_variant(table.functions[i]);
    const auto fewer = [](const Variant& a, const Variant& b) { return a.sources.size() < b.sources.size(); };
    std::stable_sort(variants_.begin(), variants_.end(), fewer);
    if (!variants_.back().takes(used_)) declared_.fail("no function takes all inputs at once");
}

void Function::add_variant(const grid_function& function) {
    const Sizes inputs = sizes(function.inputs, function.num_inputs);
    const Sizes outputs = sizes(function.outputs, function.num_outputs);
    variants_.push_back({declared_.match(inputs, outputs), &function});
    used_ |= variants_.back().inputs;
}

PyObject* Function::call(PyObject* arguments, PyObject* out, int threads) const {
    Binding call(declared_, batch_last_);
    try {
        if (!call.bind(arguments, out)) return Py_NewRef(Py_NotImplemented);
        if (call.own_output() && !call.allocate()) return nullptr;
        evaluate(call, threads);
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
        return nullptr;
    }
    return call.result();
}

const Function::UnitVariant& Function::choose(uint64_t given) const {
    const uint64_t needed = given & used_;
    return *std::find_if(variants_.begin(), variants_.end(), [needed](const Variant& v) { return v.takes(needed); });
}

template <class Call>
void Function::evaluate(const Call& call, int threads) const {
    const UnitVariant& variant = choose(call.given);
    Task task;
    task.run = variant.function->run;
    for (size_t i = 0; i < variant.sources.size(); ++i) {
        const int source = variant.sources[i];
        const bool given = call.given >> source & 1;
        task.in[i] = given ? call.in[source] : nullptr;
        task.in_stride[i] = given ? call.in_stride[source] : 0;
    }
    for (size_t i = 0; i < declared_.outputs.size(); ++i) {
        task.out[i] = call.out[i];
        task.out_stride[i] = call.out_stride[i];
        task.out_size[i] = declared_.outputs[i].size;
    }
    task.inputs = static_cast<int>(variant.sources.size());
    task.outputs = static_cast<int>(declared_.outputs.size());
    task.scalar_bytes = declared_.scalar_bytes;
    if (call.batch == 0) return;
    execute(task, call.batch, std::max<int64_t>(variant.function->operations, 1), unit_->table().lanes, threads);
}

template void Function::evaluate(const Binding&, int) const;
template void Function::evaluate(const RawCall&, int) const;

}  // namespace grid
