// A callable made of the functions of one unit: what a handle's method calls with its arguments.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "declaration.hpp"
#include "unit.hpp"

namespace grid {

class Function {
   public:
    // See Declaration for the arguments.
    Function(std::shared_ptr<const Unit> unit, const py::sequence& inputs, const py::sequence& outputs,
             py::object result);

    // Evaluates canonical arguments (see Binding); anything else returns NotImplemented and does nothing. Never throws.
    PyObject* call(PyObject* arguments, PyObject* out, int threads) const;

    // Evaluates a batch. A Call has arrays and strides by declared input and output, the inputs that are given, and the
    // batch, as a Binding does. Needs no Python.
    template <class Call>
    void evaluate(const Call& call, int threads) const;

    const Declaration& declared() const { return declared_; }

    // Whether the batch is contiguous in new arrays for results, instead of the samples.
    void set_batch_last(bool value) { batch_last_ = value; }

   private:
    struct UnitVariant : Variant {
        const grid_function* function;
    };

    void add_variant(const grid_function& function);
    const UnitVariant& choose(uint64_t given) const;

    std::shared_ptr<const Unit> unit_;
    Declaration declared_;
    std::vector<UnitVariant> variants_;  // fewest inputs first
    bool batch_last_ = false;
    uint64_t used_ = 0;                  // inputs that some variant takes
};

}  // namespace grid
