// Lets other Python threads run while C++ works.
#pragma once

#include <Python.h>

namespace grid {

struct GilReleased {
    explicit GilReleased(bool release = true) : state(release ? PyEval_SaveThread() : nullptr) {}
    ~GilReleased() {
        if (state != nullptr) PyEval_RestoreThread(state);
    }
    GilReleased(const GilReleased&) = delete;
    GilReleased& operator=(const GilReleased&) = delete;

    PyThreadState* state;
};

}  // namespace grid
