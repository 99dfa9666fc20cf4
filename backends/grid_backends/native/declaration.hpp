// What an algorithm declares for one robot: its arguments, and how functions of a unit relate to them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace grid {

namespace py = pybind11;

constexpr int kMaxArguments = 32;  // inputs, and outputs, of one algorithm
constexpr int kMaxAxes = 8;        // per-sample axes of one argument

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

// Names and per-sample sizes of the inputs, or outputs, that a function has.
using Sizes = std::vector<std::pair<std::string, int64_t>>;

// Which declared inputs a function takes.
struct Variant {
    uint64_t inputs = 0;       // bit i: it takes declared input i
    std::vector<int> sources;  // declared input of each of its own inputs

    bool takes(uint64_t needed) const { return (inputs & needed) == needed; }
};

class Declaration {
   public:
    // `inputs`: tuples (name, shape, optional, standard value or None, scalar slot or None); `outputs`: (name, shape).
    // `result` is a named tuple class for several outputs, else None. `subject` names the unit in errors.
    Declaration(std::string subject, int64_t scalar_bytes, const py::sequence& inputs, const py::sequence& outputs,
                py::object result);

    // Relates a function of the unit to the declared arguments; a UnitError if it does not fit them.
    Variant match(const Sizes& inputs, const Sizes& outputs) const;

    // Writes a plain number as the vector that it stands for.
    void write_number(const Argument& argument, double value, char* data) const;

    [[noreturn]] void fail(const std::string& what) const;

    std::string subject;
    int64_t scalar_bytes;
    py::object dtype;
    py::object result;
    std::vector<Argument> inputs;
    std::vector<Argument> outputs;
};

}  // namespace grid
