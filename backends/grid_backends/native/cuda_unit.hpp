// The kernels of one algorithm for one robot: fat binaries and their description, loaded into a device when they are first used.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_device.hpp"
#include "declaration.hpp"

namespace grid::cuda {

namespace py = pybind11;

// A kernel in which the warps of a block, or of the blocks of a cluster, share the work on 32 samples.
struct Shape {
    std::string name;
    std::string label;  // of the shape, the same in all kernels of a unit: "w8c4"
    int warps;          // of a block
    int blocks;         // of a cluster
    int file;           // of the unit that holds it
    int instructions;   // of all warps, about
    int rows;           // those of loops, whose rows all warps share
    bool pooled;        // a cluster has as many blocks as a launch says; the first one does all but those and copying
    int stages;         // after each, the warps wait for each other
    size_t shared_bytes;
    int64_t scratch;  // scalars of device memory per block
    Sizes inputs;
    Sizes outputs;

    // Known when the unit is loaded, into one device.
    Kernel kernel = nullptr;
    int resident = 0;     // clusters that the device runs at once, and that there is scratch for; 0 if it runs none
    int local_bytes = 0;  // of a thread, in memory
    int registers = 0;
    int max_threads = 0;
};

// The launch of clusters whose size the kernel leaves open.
struct ClusterLaunch {
    ClusterLaunch(const Shape& shape, unsigned clusters, Stream stream);
    ClusterLaunch(const ClusterLaunch&) = delete;
    ClusterLaunch& operator=(const ClusterLaunch&) = delete;

    ClusterSize size;
    LaunchConfig config;
};

class CudaUnit {
   public:
    // `description` is the text of the unit's JSON; a `scalar_bytes` other than 0 must be the unit's.
    CudaUnit(std::string path, const std::string& description, int device, int scalar_bytes);

    // The same unit on another device.
    CudaUnit(const CudaUnit& other, int device);
    ~CudaUnit();
    CudaUnit(const CudaUnit&) = delete;
    CudaUnit& operator=(const CudaUnit&) = delete;

    // Loads the kernels, once. A CudaError or a UnitError if the device cannot run them.
    void load();
    bool loaded() const { return loaded_.load(std::memory_order_acquire); }
    Device& device() const { return *device_; }

    // A captured graph uses the kernels as long as it lives, and nobody says until when.
    void keep_loaded() { kept_ = true; }

    const std::string path;
    const int device_index;
    std::string algorithm;
    int64_t scalar_bytes = 0;
    size_t small_bytes = 0;  // of shared inputs that travel with a launch
    std::vector<int> machine;   // compute capabilities that it has machine code for: 90 for 9.0
    std::vector<int> portable;  // and PTX
    std::vector<Shape> shapes;

   private:
    void read(const py::dict& description);
    void check_arch() const;
    [[noreturn]] void fail_arch() const;
    [[noreturn]] void fail_resource(const Shape& shape, const std::string& shortage) const;
    std::string advice() const;
    void load_modules(const std::string& images);
    void load_module(const char* image);
    void find_kernel(Shape& shape);
    [[noreturn]] void fail(const std::string& what) const;

    std::mutex mutex_;
    std::atomic<bool> loaded_{false};
    std::atomic<bool> kept_{false};
    Device* device_ = nullptr;
    std::vector<Module> modules_;
};

}  // namespace grid::cuda
