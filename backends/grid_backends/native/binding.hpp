// The arguments of one call, bound to the declared ones: where NumPy arrays lie, and new arrays for results.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "arrays.hpp"
#include "declaration.hpp"
#include "strides.hpp"

namespace grid {

// Canonical arguments: arrays whose last axes are the argument's shape, with one batch axis or none, all batches equal;
// either the samples or the batch is contiguous (see regular_stride); None where allowed; a Python float where a plain number is allowed. Inputs are float32 or float64
// (the one that is not the unit's dtype is converted); results have the unit's dtype.
class Binding {
   public:
    // `batch_last`: the batch is contiguous in new arrays for results.
    Binding(const Declaration& declaration, bool batch_last) : declared_(declaration), batch_last_(batch_last) {}
    ~Binding();
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;

    // Binds a tuple with an entry per declared input, then `out`: None, an array, or a tuple of arrays for several
    // outputs. False if they are not canonical.
    bool bind(PyObject* arguments, PyObject* out);

    // Whether results need memory, which then has to be allocated.
    bool own_output() const { return own_output_; }
    bool allocate();
    // A new array for output `index`; in `memory`, kept alive by `owner` (the reference is taken), unless that is null.
    bool allocate(int index, char* memory, PyObject* owner);

    // A new reference to the result: an array or the named tuple; call once.
    PyObject* result();

    // Strides are as in strides.hpp; 0: shared by all samples.
    const char* in[kMaxArguments];
    int64_t in_stride[kMaxArguments];
    char* out[kMaxArguments];
    int64_t out_stride[kMaxArguments];
    uint64_t given = 0;  // bit i: declared input i has a value
    int64_t batch = 1;
    bool batched = false;

   private:
    bool bind_input(int index, PyObject* value);
    bool bind_number(int index, double value);
    bool bind_array(const Argument& argument, PyObject* value, int64_t item, bool writable, int64_t& stride);
    void convert(int index, const char* data, int64_t stride);
    // Without strides: in C order; in `memory`, or memory of its own if that is null.
    PyObject* new_array(const Argument& argument, const Py_intptr_t* strides, char* memory) const;
    bool bind_out(PyObject* out);
    void note_ranges();
    bool overlaps_input(int index) const;
    bool overlaps_output(int index) const;
    Place input_place(int index) const;
    Place output_place(int index) const;

    const Declaration& declared_;
    const bool batch_last_;
    Range ranges_[kMaxArguments];           // inputs; empty for those that are not given
    PyObject* arrays_[kMaxArguments] = {};  // outputs, owned
    bool own_output_ = true;
    size_t used_ = 0;
    alignas(8) char numbers_[256];                    // vectors made of plain numbers
    std::vector<std::unique_ptr<char[]>> converted_;  // inputs of the other float type
};

// A new reference to the result made of `arrays`: the first one, or the named tuple of all.
PyObject* pack_result(const Declaration& declaration, PyObject* const* arrays);

}  // namespace grid
