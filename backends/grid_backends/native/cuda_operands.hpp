// The arguments of a call on device arrays, checked and bound; new device arrays for results.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "cuda_launch.hpp"
#include "cuda_view.hpp"

namespace grid::cuda {

class DeviceCall {
   public:
    // `batch_last`: the batch is contiguous in new arrays for results.
    DeviceCall(const Launcher& launcher, const Declaration& declared, std::optional<Stream> stream, bool batch_last)
        : launcher_(launcher), declared_(declared), stream_(stream), batch_last_(batch_last) {}

    // Looks for device arrays; false if there are none. An ArgumentError if inputs are not one per declared input.
    bool find(PyObject* arguments, PyObject* out);

    // Binds everything. An ArgumentError names what does not fit.
    void bind(PyObject* arguments, PyObject* out, Device& device);

    // Launches on the stream of the call, after the streams that made the inputs. Needs the device's context.
    void launch(Device& device);

    // A new reference to the result: `out`, a DeviceArray, or the named tuple.
    PyObject* result(Device& device);

    Stream stream() const { return stream_.value_or(kLegacyStream); }
    bool captured() const { return captured_; }

   private:
    std::optional<View> view(PyObject* object);
    void bind_input(int index, PyObject* value, const Device& device);
    void bind_row(int index, PyObject* value);
    void bind_view(int index, const View& view, const Device& device);
    void bind_outputs(PyObject* out, const Device& device);
    void bind_output(int index, const View& view, const Device& device);
    void check_overlaps(int index) const;
    void check_view(const View& view, const Argument& argument, const char* role, const Device& device) const;
    int64_t stride_of(const View& view, const Argument& argument, int leading, const char* role) const;
    void allocate(Device& device, Arena& arena);
    std::string named(const Argument& argument, const char* role) const;

    const Launcher& launcher_;
    const Declaration& declared_;
    std::optional<Stream> stream_;
    const bool batch_last_;
    Operands operands_;
    std::vector<std::optional<View>> inputs_;
    std::vector<View> outputs_;
    std::vector<py::object> results_;
    std::optional<std::vector<int64_t>> batch_;  // batch axes of the arrays that have some
    bool captured_ = false;
};

}  // namespace grid::cuda
