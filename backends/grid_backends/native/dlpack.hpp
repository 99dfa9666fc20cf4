// The DLPack ABI, as far as the runner exchanges arrays by it: version 1.3 for the table of a type's C functions, and the
// unversioned tensors that every library still gives and takes.
#pragma once

#include <cstdint>

namespace grid::dlpack {

constexpr int32_t kCpu = 1;  // devices
constexpr int32_t kCuda = 2;
constexpr int32_t kCudaHost = 3;
constexpr int32_t kCudaManaged = 13;
constexpr uint8_t kFloat = 2;  // type code

struct Device {
    int32_t type;
    int32_t index;
};

struct Type {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
};

struct Tensor {
    void* data;
    Device device;
    int32_t ndim;
    Type type;
    int64_t* shape;
    int64_t* strides;  // in elements; null: C-contiguous
    uint64_t offset;   // bytes
};

struct ManagedTensor {
    Tensor tensor;
    void* context;
    void (*deleter)(ManagedTensor*);
};

// What a type offers in its attribute __dlpack_c_exchange_api__.
struct Exchange {
    uint32_t major;
    uint32_t minor;
    Exchange* previous;
    void* allocate;
    void* managed_from_object;
    void* managed_to_object;
    int (*borrow)(void* object, Tensor*);                                // may be null; valid until control returns
    int (*current_stream)(int32_t device_type, int32_t index, void**);
};

constexpr const char* kExchangeName = "dlpack_exchange_api";
constexpr const char* kTensorName = "dltensor";
constexpr const char* kUsedTensorName = "used_dltensor";

}  // namespace grid::dlpack
