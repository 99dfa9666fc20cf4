// Calls on NumPy arrays. Kernels read inputs and write results in page-locked host memory directly, which streams over
// the bus as fast as copies do, without a copy in device memory. Arrays in ordinary memory pass through page-locked
// chunks, and while the device works on one chunk the next is filled.
#pragma once

#include <cstdint>
#include <vector>

#include "binding.hpp"
#include "cuda_launch.hpp"
#include "cuda_pinned.hpp"

namespace grid::cuda {

class HostCall {
   public:
    HostCall(const Launcher& launcher, const Declaration& declared, Binding& call, int threads);

    // Makes arrays for the results; false with a Python error set.
    bool allocate();

    // Evaluates the batch and waits for the results. Lets other Python threads run.
    void run();

   private:
    // Samples in ordinary memory, and their place in a chunk, where they lie in the same order without gaps.
    struct Copy {
        char* host;
        int64_t stride;  // see strides.hpp; 0: shared
        int64_t size;    // scalars of a sample
        int index;       // of the declared argument
        size_t offset;   // in the chunk, bytes
    };
    // One chunk on its way.
    struct Slot {
        Stream stream = nullptr;
        Pinned memory;
        int64_t first = 0;
        int64_t rows = 0;  // 0: free
    };

    void bind_inputs();
    void bind_outputs();
    void lay_out();
    void fill(Slot& slot);
    void launch(Slot& slot, Arena& arena);
    void finish(Slot& slot);
    void move(const Copy& copy, const Slot& slot, bool to_host) const;
    int64_t chunk_stride(const Copy& copy) const;

    const Launcher& launcher_;
    const Declaration& declared_;
    Binding& call_;
    Device& device_;
    const int threads_;
    Operands operands_;
    std::vector<Copy> inputs_;
    std::vector<Copy> outputs_;
    int64_t chunk_rows_ = 0;
    size_t chunk_bytes_ = 0;
};

}  // namespace grid::cuda
