// A callable made of the functions of one unit: what a handle's method calls with its arguments.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "execute.hpp"
#include "unit.hpp"

namespace grid {

namespace py = pybind11;

constexpr int kMaxAxes = 8;  // per-sample axes of one argument

// One declared argument. Optional members describe what may stand in its place in a call.
struct Argument {
    std::string name;
    std::vector<int64_t> shape;  // per sample
    int64_t size = 1;            // product of the shape
    bool optional = false;       // None: not given
    bool scalar = false;         // a plain number s stands for the vector with s in `slot`, zero elsewhere
    int64_t slot = 0;
    std::vector<char> standard;  // the value that None stands for, as scalars of the unit; empty: none
};

// A function of the unit, in terms of the declared inputs.
struct Variant {
    const grid_function* function;
    uint64_t inputs = 0;       // bit i: it takes declared input i
    std::vector<int> sources;  // declared input of each of its own inputs
};

class Function {
   public:
    // `inputs`: tuples (name, shape, optional, standard value or None, scalar slot or None); `outputs`: (name, shape).
    // `result` is a named tuple class for several outputs, else None.
    Function(std::shared_ptr<const Unit> unit, const py::sequence& inputs, const py::sequence& outputs,
             py::object result);

    // Evaluates canonical arguments; anything else returns NotImplemented and does nothing. Never throws.
    // Canonical: arrays whose last axes are the argument's shape and contiguous, with one batch axis or none, all
    // batches equal; None where allowed; a Python float where a plain number is allowed. Inputs are float32 or float64
    // (the one that is not the unit's dtype is converted); results have the unit's dtype.
    PyObject* call(PyObject* arguments, PyObject* out, int threads) const;

   private:
    struct Call;

    bool bind_inputs(Call& call, PyObject* arguments) const;
    bool bind_input(Call& call, int index, PyObject* value) const;
    bool bind_number(Call& call, int index, double value) const;
    bool bind_array(Call& call, const Argument& argument, PyObject* value, int64_t item, bool writable) const;
    void convert(Call& call, int index, const char* data, int64_t stride) const;
    bool bind_out(Call& call, PyObject* out) const;
    bool overlaps_input(const Call& call, int index) const;
    bool overlaps_output(const Call& call, int index) const;
    Range output_range(const Call& call, int index) const;
    bool allocate(Call& call) const;
    PyObject* result(Call& call) const;
    const Variant& choose(uint64_t given) const;
    void evaluate(Call& call, int threads) const;

    void add_variant(const grid_function& function);
    void check_outputs(const grid_function& function) const;
    [[noreturn]] void fail(const std::string& what) const;

    std::shared_ptr<const Unit> unit_;
    int64_t scalar_bytes_;
    py::object dtype_;
    py::object result_;
    std::vector<Argument> inputs_;
    std::vector<Argument> outputs_;
    std::vector<Variant> variants_;  // fewest inputs first
    uint64_t used_ = 0;              // inputs that some variant takes
};

}  // namespace grid
