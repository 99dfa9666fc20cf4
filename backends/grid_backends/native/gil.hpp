// Lets other Python threads run while C++ works.
#pragma once

#include <Python.h>

namespace grid {

// Lets other Python threads run. A thread that does not hold the lock, as one of XLA's, has none to give.
struct GilReleased {
    explicit GilReleased(bool release = true) : state(release && PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr) {}
    ~GilReleased() {
        if (state != nullptr) PyEval_RestoreThread(state);
    }
    GilReleased(const GilReleased&) = delete;
    GilReleased& operator=(const GilReleased&) = delete;

    PyThreadState* state;
};

}  // namespace grid
