// Errors of calls, on their way to Python.
#pragma once

#include <stdexcept>

namespace grid {

// An argument of a call has a wrong shape, dtype or place. Becomes grid_core.errors.ArgumentError.
struct ArgumentError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Sets the Python error for the C++ exception that is being handled.
void set_python_error() noexcept;

}  // namespace grid
