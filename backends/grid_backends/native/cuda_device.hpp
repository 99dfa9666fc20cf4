// A GPU: its facts, the primary context that all frameworks of a process share, and its memory.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cuda_driver.hpp"
#include "cuda_memory.hpp"

namespace grid::cuda {

class Device {
   public:
    // The device of that index, opened at its first use and kept. A CudaError if there is none.
    static Device& get(int index);
    static int count();

    // Index of the device that an address in device memory is on.
    static int holding(const void* data);

    // Memory for work on a stream: the device's own arena, or that of the graph that the stream is being captured into.
    struct Place {
        std::shared_ptr<Arena> arena;
        bool captured;
    };
    Place place(Stream stream);

    // Makes work on `stream` wait for what is on `producer` now.
    void order(Stream stream, Stream producer) const;

    // Free and total bytes.
    std::pair<size_t, size_t> memory() const;

    int index;
    std::string name;
    int multiprocessors = 0;
    int compute = 0;           // 90: compute capability 9.0
    int shared_opt_in = 0;     // most dynamic shared memory of a block, bytes
    Context context = nullptr;

   private:
    explicit Device(int index);
    std::shared_ptr<Arena> captured_arena(uint64_t capture, Graph graph);

    std::shared_ptr<Arena> arena_;
    std::mutex mutex_;
    std::map<uint64_t, std::weak_ptr<Arena>> captures_;
};

// Makes the device's context the current one of this thread.
class Scope {
   public:
    explicit Scope(const Device& device);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    bool pushed_ = false;
};

// Allows calls that are not stream-ordered, such as allocations, while this thread captures a graph.
class Relaxed {
   public:
    Relaxed() { Driver::get().thread_capture_mode(&mode_); }
    ~Relaxed() { Driver::get().thread_capture_mode(&mode_); }
    Relaxed(const Relaxed&) = delete;
    Relaxed& operator=(const Relaxed&) = delete;

   private:
    int mode_ = kRelaxedCapture;
};

inline bool is_legacy(Stream stream) { return stream == nullptr || stream == kLegacyStream; }

inline bool same_stream(Stream a, Stream b) { return a == b || (is_legacy(a) && is_legacy(b)); }

}  // namespace grid::cuda
