// A CUDA driver without a GPU: device memory is host memory, streams run at once, and kernels are the toy algorithm of
// toy_unit.cpp in terms of a launch. Every call is written to a log that tests read. A "fat binary" is text behind a
// header, a line a kernel: name, scalar bytes, number of outputs, sizes of q, qd and f_ext.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct FakeKernel {
    std::string name;
    int bytes, outputs, nq, nv, nf;
    int variant() const { return name.find("without_qdd") == std::string::npos ? 2 : 1; }
};
struct FakeModule {
    std::vector<FakeKernel> kernels;
};
struct FakeObject {
    void* pointer;
    void (*destroy)(void*);
};

std::string log_text;
std::map<std::string, int> failures;       // name of a function -> result of its next call
std::map<std::string, int> refusals;       // name of a function -> result of all its calls
std::map<void*, size_t> memory;            // allocated, device and page-locked
std::map<void*, bool> pinned;
std::map<void*, uint64_t> captures;        // stream -> id of the capture
std::map<uint64_t, std::vector<FakeObject*>> kept;
std::recursive_mutex guard;                // of all of these: calls come from several threads
thread_local void* context = nullptr;
int streams = 0;
std::map<unsigned long long, int> places;  // address -> device, where it is not the first
int local_bytes = 0;  // of threads of one-warp kernels

template <class... Values>
int logged(const char* name, Values... values) {
    std::ostringstream line;
    line << name;
    ((line << ' ' << values), ...);
    const std::lock_guard lock(guard);
    log_text += line.str() + "\n";
    if (refusals[name] != 0) return refusals[name];
    const auto failure = failures.find(name);
    if (failure == failures.end()) return 0;
    const int result = failure->second;
    failures.erase(failure);
    return result;
}

uintptr_t number(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

constexpr int64_t kBatchLast = int64_t{1} << 62;

// The scalars of one sample.
template <class T>
struct Sample {
    T* p;
    int64_t step;
    T& operator[](int64_t i) const { return p[i * step]; }
};

// What a kernel gets; the layout of grid::Arguments.
struct Io {
    const uint64_t* words;
    int in, out;
    template <class T>
    Sample<T> sample(uint64_t base, int64_t stride, int64_t index) const {
        const bool last = stride >= kBatchLast;
        return {reinterpret_cast<T*>(base) + (last ? index : stride * index), last ? stride - kBatchLast : 1};
    }
    template <class T>
    Sample<const T> input(int i, int64_t index) const {
        const auto stride = static_cast<int64_t>(words[in + out + i]);
        const auto* small = reinterpret_cast<const T*>(words + 2 * in + 2 * out + 2);
        if (stride < 0) return {small - 1 - stride, 1};
        return words[i] == 0 ? Sample<const T>{nullptr, 0} : sample<const T>(words[i], stride, index);
    }
    template <class T>
    Sample<T> result(int i, int64_t index) const {
        return sample<T>(words[in + i], static_cast<int64_t>(words[2 * in + out + i]), index);
    }
    void* scratch() const { return reinterpret_cast<void*>(words[2 * in + 2 * out]); }
    int64_t batch() const { return static_cast<int64_t>(words[2 * in + 2 * out + 1]); }
};

template <class T>
T at(const Sample<const T>& values, int i) {
    return values.p == nullptr ? T(0) : values[i];
}

template <class T>
void run(const FakeKernel& kernel, const Io& io) {
    for (int64_t s = 0; s < io.batch(); ++s) {
        const auto input = [&](int i) { return io.input<T>(i, s); };
        const auto q = input(0), qd = input(1), gravity = input(2), f_ext = input(3), probe = input(4);
        const auto qdd = kernel.variant() == 2 ? input(5) : Sample<const T>{nullptr, 0};
        T sum = 0;
        for (int i = 0; i < kernel.nq; ++i) sum += at(q, i);
        for (int i = 0; i < kernel.nv; ++i) {
            io.result<T>(0, s)[i] = at(qd, i) + sum + at(gravity, 2) + 2 * at(qdd, i) + 3 * at(f_ext, i) +
                                    kernel.variant() * at(probe, 0);
        }
        for (int i = 0; kernel.outputs == 2 && i < kernel.nv * kernel.nv; ++i) {
            io.result<T>(1, s)[i] = at(qd, i / kernel.nv) * T(i % kernel.nv + 1);
        }
    }
}

}  // namespace

extern "C" {

// -- what tests use ----------------------------------------------------------------------------------------------------

const char* fake_log() { return log_text.c_str(); }
void fake_clear() { log_text.clear(); }
void fake_fail(const char* name, int result) { failures[name] = result; }
void fake_fail_always(const char* name, int result) { refusals[name] = result; }
void fake_local_bytes(int bytes) { local_bytes = bytes; }
void fake_place(unsigned long long address, int device) { places[address] = device; }
void fake_capture(void* stream, uint64_t id) { captures[stream] = id; }
void fake_end_capture(void* stream) { captures.erase(stream); }
void fake_destroy_graph(uint64_t id) {
    for (FakeObject* object : kept[id]) {
        object->destroy(object->pointer);
        delete object;
    }
    kept.erase(id);
}

// -- the driver --------------------------------------------------------------------------------------------------------

int cuInit(unsigned) { return logged("cuInit"); }
int cuGetErrorName(int result, const char** name) {
    *name = result == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_TEST";
    return 0;
}
int cuGetErrorString(int, const char** text) { return *text = "made up", 0; }
int cuDeviceGetCount(int* count) { return *count = 2, 0; }
int cuDeviceGet(int* device, int index) { return *device = index, 0; }
int cuDeviceGetName(char* name, int length, int device) { return std::snprintf(name, length, "Fake %d", device), 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
    *value = attribute == 16 ? 4 : attribute == 75 ? 9 : attribute == 97 ? 200000 : 0;
    return 0;
}
int cuDevicePrimaryCtxRetain(void** result, int device) {
    *result = reinterpret_cast<void*>(uintptr_t{0x100} + device);
    return logged("cuDevicePrimaryCtxRetain", device);
}
int cuCtxGetCurrent(void** result) { return *result = context, 0; }
int cuCtxPushCurrent_v2(void* pushed) { return context = pushed, 0; }
int cuCtxPopCurrent_v2(void** popped) {
    *popped = context;
    context = nullptr;
    return 0;
}
int cuMemGetInfo_v2(size_t* left, size_t* total) { return *left = size_t{1} << 20, *total = size_t{8} << 30, 0; }
int cuMemAlloc_v2(unsigned long long* address, size_t bytes) {
    const std::lock_guard lock(guard);
    const int result = logged("cuMemAlloc", bytes);
    if (result != 0) return result;
    void* data = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
    std::memset(data, 0xff, bytes);  // NaN
    memory[data] = bytes;
    *address = number(data);
    return context == nullptr ? 201 : 0;
}
int cuMemFree_v2(unsigned long long address) {
    const std::lock_guard lock(guard);
    void* data = reinterpret_cast<void*>(address);
    memory.erase(data);
    std::free(data);
    return logged("cuMemFree");
}
int cuMemHostAlloc(void** data, size_t bytes, unsigned) {
    const std::lock_guard lock(guard);
    const int result = logged("cuMemHostAlloc", bytes);
    if (result != 0) return result;
    *data = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    std::memset(*data, 0xff, bytes);
    memory[*data] = bytes;
    pinned[*data] = true;
    return 0;
}
int cuMemFreeHost(void* data) {
    const std::lock_guard lock(guard);
    memory.erase(data);
    pinned.erase(data);
    std::free(data);
    return logged("cuMemFreeHost");
}
int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, unsigned long long address) {
    const std::lock_guard lock(guard);
    for (unsigned i = 0; i < count; ++i) {
        if (attributes[i] != 9) continue;
        const auto found = places.find(address);
        *static_cast<int*>(values[i]) = found == places.end() ? 0 : found->second;
    }
    return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t bytes, void* stream) {
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return logged("cuMemcpyDtoH", bytes, number(stream));
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return logged("cuMemcpyHtoD", bytes);
}
int cuMemcpy2DAsync_v2(const size_t* copy, void* stream) {  // the words of CUDA_MEMCPY2D
    const size_t *from = copy, *to = copy + 7, width = copy[14], height = copy[15];
    if (from[6] < width || to[6] < width) return 1;
    for (size_t i = 0; i < height; ++i) {
        std::memcpy(reinterpret_cast<char*>(to[4]) + i * to[6], reinterpret_cast<char*>(from[4]) + i * from[6], width);
    }
    return logged("cuMemcpy2D", width, height, number(stream));
}
int cuModuleLoadData(FakeModule** module, const void* image) {
    *module = new FakeModule;
    uint64_t bytes = 0;
    std::memcpy(&bytes, static_cast<const char*>(image) + 8, 8);
    std::istringstream text(std::string(static_cast<const char*>(image) + 16, bytes));
    for (FakeKernel k; text >> k.name >> k.bytes >> k.outputs >> k.nq >> k.nv >> k.nf;) (*module)->kernels.push_back(k);
    return logged("cuModuleLoadData", number(context) - 0x100);
}
int cuModuleUnload(FakeModule* module) {
    delete module;
    return logged("cuModuleUnload");
}
int cuModuleGetFunction(FakeKernel** kernel, FakeModule* module, const char* name) {
    for (FakeKernel& known : module->kernels) {
        if (known.name == name) return *kernel = &known, 0;
    }
    return 500;
}
int cuFuncGetAttribute(int* value, int attribute, FakeKernel* kernel) {
    const bool alone = kernel->name.find("_w1") != std::string::npos;
    *value = attribute == 0 ? 512 : attribute == 4 ? 40 : attribute == 3 && alone ? local_bytes : 0;
    return 0;
}
int cuFuncSetAttribute(FakeKernel* kernel, int attribute, int value) {
    return logged("cuFuncSetAttribute", kernel->name, attribute, value);
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FakeKernel*, int threads, size_t) {
    *blocks = 512 / threads;
    return 0;
}
int cuOccupancyMaxActiveClusters(int* clusters, FakeKernel*, const void*) { return *clusters = 0, 0; }
int cuLaunchKernel(FakeKernel* kernel, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned shared, void* stream, void** parameters, void**) {
    const Io io{static_cast<const uint64_t*>(parameters[0]), kernel->variant() == 2 ? 6 : 5, kernel->outputs};
    const int result =
        logged("cuLaunchKernel", kernel->name, blocks, threads, shared, number(stream), io.batch(), number(io.scratch()));
    if (result == 0) kernel->bytes == 4 ? run<float>(*kernel, io) : run<double>(*kernel, io);
    return result;
}
int cuLaunchKernelEx(const void*, FakeKernel* kernel, void**, void**) { return logged("cuLaunchKernelEx", kernel->name); }
int cuStreamCreate(void** stream, unsigned) {
    const std::lock_guard lock(guard);
    *stream = reinterpret_cast<void*>(uintptr_t{0x5000} + 16 * ++streams);
    return logged("cuStreamCreate", number(*stream));
}
int cuStreamDestroy_v2(void* stream) { return logged("cuStreamDestroy", number(stream)); }
int cuStreamSynchronize(void* stream) { return logged("cuStreamSynchronize", number(stream)); }
int cuStreamWaitEvent(void* stream, void*, unsigned) { return logged("cuStreamWaitEvent", number(stream)); }
int cuStreamGetCaptureInfo_v2(void* stream, int* status, uint64_t* id, void** graph, const void**, size_t*) {
    const std::lock_guard lock(guard);
    const auto found = captures.find(stream);
    *status = found == captures.end() ? 0 : 1;
    if (*status == 1) *id = found->second, *graph = reinterpret_cast<void*>(found->second);
    return 0;
}
int cuStreamBeginCapture_v2(void* stream, int) { return fake_capture(stream, 999), 0; }
int cuStreamEndCapture(void* stream, void** graph) {
    fake_end_capture(stream);
    return *graph = reinterpret_cast<void*>(uintptr_t{999}), 0;
}
int cuGraphDestroy(void* graph) { return fake_destroy_graph(number(graph)), 0; }
int cuGraphInstantiateWithFlags(void** program, void* graph, unsigned long long) { return *program = graph, 0; }
int cuGraphLaunch(void*, void* stream) { return logged("cuGraphLaunch", number(stream)); }
int cuGraphExecDestroy(void*) { return 0; }
int cuEventElapsedTime(float* milliseconds, void*, void*) { return *milliseconds = 3.0f, 0; }
int cuThreadExchangeStreamCaptureMode(int*) { return 0; }
int cuEventCreate(void** event, unsigned) { return *event = reinterpret_cast<void*>(uintptr_t{0x900}), 0; }
int cuEventRecord(void*, void* stream) { return logged("cuEventRecord", number(stream)); }
int cuEventDestroy_v2(void*) { return 0; }
int cuUserObjectCreate(FakeObject** object, void* pointer, void (*destroy)(void*), unsigned, unsigned) {
    *object = new FakeObject{pointer, destroy};
    return 0;
}
int cuGraphRetainUserObject(void* graph, FakeObject* object, unsigned, unsigned) {
    kept[number(graph)].push_back(object);
    return 0;
}

}  // extern "C"
