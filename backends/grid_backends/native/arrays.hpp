// What the runner needs to know about NumPy arrays and the memory behind them.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <memory>

namespace grid {

namespace py = pybind11;

// The first call lets go of Python's lock for a moment, so it must not be in an initialiser of a static: whoever waited
// for that would hold the lock.
inline const py::detail::npy_api& numpy() { return py::detail::npy_api::get(); }

inline bool is_array(PyObject* value) { return Py_TYPE(value) == numpy().PyArray_Type_; }

// Bytes of an array's scalars if they are float32 or float64 in the machine's byte order, else 0.
inline int64_t float_bytes(PyObject* array) {
    const auto* type = py::detail::array_descriptor_proxy(py::detail::array_proxy(array)->descr);
    if (type->byteorder != '=') return 0;
    if (type->type_num == py::detail::npy_api::NPY_FLOAT_) return sizeof(float);
    return type->type_num == py::detail::npy_api::NPY_DOUBLE_ ? sizeof(double) : 0;
}

// Converts `rows` rows of `size` scalars, `stride` bytes apart.
template <class To, class From>
std::unique_ptr<char[]> converted(const char* data, int64_t rows, int64_t size, int64_t stride) {
    std::unique_ptr<char[]> result(new char[rows * size * sizeof(To)]);
    To* to = reinterpret_cast<To*>(result.get());
    for (int64_t row = 0; row < rows; ++row) {
        const From* from = reinterpret_cast<const From*>(data + row * stride);
        for (int64_t i = 0; i < size; ++i) *to++ = static_cast<To>(from[i]);
    }
    return result;
}

// The memory from a first byte to one past the last.
struct Range {
    const char* begin;
    const char* end;

    bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
};

// Whether rows of `a` and of `b`, all `stride` bytes apart, lie side by side without sharing memory.
inline bool interleaved(int64_t offset, int64_t size_a, int64_t size_b, int64_t stride) {
    if (stride <= 0) return false;
    const int64_t place = (offset % stride + stride) % stride;  // where a row of b begins within a row of a
    return place >= size_a && place + size_b <= stride;
}

}  // namespace grid
