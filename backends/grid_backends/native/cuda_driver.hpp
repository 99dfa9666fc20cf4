// The CUDA driver API as far as the runner uses it, opened when it is first needed: nothing needs CUDA to install.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace grid::cuda {

// The driver, a device or a kernel fails. Becomes grid_backends.errors.CudaError.
struct CudaError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Device memory runs out. Becomes grid_backends.errors.DeviceMemoryError.
struct MemoryError : CudaError {
    using CudaError::CudaError;
};

using Result = int;
using Address = unsigned long long;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Kernel = struct KernelHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using Graph = struct GraphHandle*;
using GraphProgram = struct GraphProgramHandle*;
using UserObject = struct UserObjectHandle*;

// Constants of the driver's ABI.
constexpr Result kSuccess = 0;
constexpr Result kOutOfMemory = 2;
constexpr Result kNoBinary = 209;
constexpr Result kInvalidPtx = 218;
constexpr Result kNoPtxCompiler = 221;
constexpr Result kNewerPtx = 222;
constexpr Result kTooManyResources = 701;
constexpr int kMultiprocessors = 16;       // attributes of a device
constexpr int kComputeMajor = 75;
constexpr int kComputeMinor = 76;
constexpr int kSharedOptIn = 97;
constexpr int kLargeClusters = 14;         // attributes of a kernel
constexpr int kMaxThreads = 0;
constexpr int kLocalBytes = 3;
constexpr int kRegisters = 4;
constexpr int kDynamicShared = 8;
constexpr int kMemoryType = 2;             // attribute of a pointer, and its value for page-locked host memory
constexpr unsigned kHostMemory = 1;
constexpr unsigned kDeviceMemory = 2;
constexpr int kDeviceOrdinal = 9;          // attribute of a pointer: index of its device
constexpr unsigned kPortable = 1;          // flags of page-locked memory: for every context, visible to devices
constexpr unsigned kDeviceMapped = 2;
constexpr unsigned kNonBlocking = 1;       // flags of streams and events
constexpr unsigned kNoTiming = 2;
constexpr unsigned kNoDestructorSync = 1;  // flags of objects that graphs keep
constexpr unsigned kMoveReference = 1;
constexpr int kRelaxedCapture = 2;

inline const Stream kLegacyStream = reinterpret_cast<Stream>(1);
inline const Stream kPerThreadStream = reinterpret_cast<Stream>(2);

// Pieces of memory at even distances; the layout of CUDA_MEMCPY2D.
struct Copy2D {
    size_t source_x, source_y;
    unsigned source_type;
    const void* source_host;
    Address source;
    void* source_array;
    size_t source_pitch;
    size_t target_x, target_y;
    unsigned target_type;
    void* target_host;
    Address target;
    void* target_array;
    size_t target_pitch;
    size_t width, height;
};

// A launch whose blocks form clusters.
struct ClusterSize {
    int attribute = 4;
    int unused = 0;
    unsigned blocks[16] = {1, 1, 1};
};
struct LaunchConfig {
    unsigned grid[3] = {1, 1, 1};
    unsigned block[3] = {1, 1, 1};
    unsigned shared = 0;
    Stream stream = nullptr;
    const ClusterSize* attributes = nullptr;
    unsigned attribute_count = 1;
};

struct Driver {
    // The driver of this process: GRID_RBD_LIBCUDA, else libcuda.so.1. A CudaError if there is none.
    static const Driver& get();

    Result (*init)(unsigned flags);
    Result (*error_name)(Result, const char**);
    Result (*error_text)(Result, const char**);
    Result (*device_count)(int*);
    Result (*device_get)(int* device, int index);
    Result (*device_name)(char*, int length, int device);
    Result (*device_attribute)(int*, int attribute, int device);
    Result (*context_retain)(Context*, int device);
    Result (*context_current)(Context*);
    Result (*context_push)(Context);
    Result (*context_pop)(Context*);
    Result (*memory_info)(size_t* free, size_t* total);
    Result (*memory_take)(Address*, size_t);
    Result (*memory_free)(Address);
    Result (*pinned_take)(void**, size_t, unsigned flags);
    Result (*pinned_free)(void*);
    Result (*pointer_attributes)(unsigned count, const int* attributes, void** values, Address);
    Result (*copy_to_host)(void*, Address, size_t, Stream);
    Result (*copy_to_device)(Address, const void*, size_t);
    Result (*copy_pieces)(const Copy2D*, Stream);
    Result (*module_load)(Module*, const void* image);
    Result (*module_unload)(Module);
    Result (*module_kernel)(Kernel*, Module, const char*);
    Result (*kernel_attribute)(int*, int attribute, Kernel);
    Result (*kernel_set_attribute)(Kernel, int attribute, int);
    Result (*kernel_occupancy)(int*, Kernel, int threads, size_t shared);
    Result (*cluster_occupancy)(int*, Kernel, const LaunchConfig*);
    Result (*launch_clusters)(const LaunchConfig*, Kernel, void** parameters, void** extra);
    Result (*launch)(Kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared, Stream,
                     void** parameters, void** extra);
    Result (*stream_create)(Stream*, unsigned flags);
    Result (*stream_destroy)(Stream);
    Result (*stream_wait)(Stream);
    Result (*stream_wait_event)(Stream, Event, unsigned flags);
    Result (*stream_capture)(Stream, int* status, uint64_t* id, Graph*, const void** nodes, size_t* count);
    Result (*thread_capture_mode)(int*);
    Result (*capture_begin)(Stream, int mode);
    Result (*capture_end)(Stream, Graph*);
    Result (*graph_destroy)(Graph);
    Result (*graph_instantiate)(GraphProgram*, Graph, unsigned long long flags);
    Result (*graph_launch)(GraphProgram, Stream);
    Result (*graph_program_destroy)(GraphProgram);
    Result (*event_create)(Event*, unsigned flags);
    Result (*event_record)(Event, Stream);
    Result (*event_destroy)(Event);
    Result (*event_elapsed)(float* milliseconds, Event, Event);
    Result (*object_create)(UserObject*, void*, void (*destroy)(void*), unsigned references, unsigned flags);
    Result (*graph_retain)(Graph, UserObject, unsigned count, unsigned flags);
};

// Throws a CudaError that says what failed, why, and what to do, unless the call succeeded.
void check(Result result, const std::string& what);

// "CUDA_ERROR_NAME (text)".
std::string describe(Result result);

}  // namespace grid::cuda
