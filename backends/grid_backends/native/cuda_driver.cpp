#include "cuda_driver.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace grid::cuda {

namespace {

const char* const kVariable = "GRID_RBD_LIBCUDA";

void* open_library() {
    const char* const chosen = std::getenv(kVariable);
    const char* const path = chosen != nullptr && *chosen != '\0' ? chosen : "libcuda.so.1";
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
    throw CudaError(std::string("no CUDA driver: ") + dlerror() +
                    "; install the NVIDIA driver (nvidia-smi shows whether it works), set " + kVariable +
                    " to its libcuda, or use device='cpu'");
}

template <class Function>
void find(void* library, const char* symbol, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, symbol));
    if (function != nullptr) return;
    throw CudaError(std::string("the CUDA driver has no function ") + symbol +
                    "; it is older than CUDA 12, update the NVIDIA driver");
}

Driver open_driver() {
    void* library = open_library();
    Driver driver;
    find(library, "cuInit", driver.init);
    find(library, "cuGetErrorName", driver.error_name);
    find(library, "cuGetErrorString", driver.error_text);
    find(library, "cuDeviceGetCount", driver.device_count);
    find(library, "cuDeviceGet", driver.device_get);
    find(library, "cuDeviceGetName", driver.device_name);
    find(library, "cuDeviceGetAttribute", driver.device_attribute);
    find(library, "cuDevicePrimaryCtxRetain", driver.context_retain);
    find(library, "cuCtxGetCurrent", driver.context_current);
    find(library, "cuCtxPushCurrent_v2", driver.context_push);
    find(library, "cuCtxPopCurrent_v2", driver.context_pop);
    find(library, "cuMemGetInfo_v2", driver.memory_info);
    find(library, "cuMemAlloc_v2", driver.memory_take);
    find(library, "cuMemFree_v2", driver.memory_free);
    find(library, "cuMemHostAlloc", driver.pinned_take);
    find(library, "cuMemFreeHost", driver.pinned_free);
    find(library, "cuPointerGetAttributes", driver.pointer_attributes);
    find(library, "cuMemcpyDtoHAsync_v2", driver.copy_to_host);
    find(library, "cuMemcpyHtoD_v2", driver.copy_to_device);
    find(library, "cuMemcpy2DAsync_v2", driver.copy_pieces);
    find(library, "cuModuleLoadData", driver.module_load);
    find(library, "cuModuleUnload", driver.module_unload);
    find(library, "cuModuleGetFunction", driver.module_kernel);
    find(library, "cuFuncGetAttribute", driver.kernel_attribute);
    find(library, "cuFuncSetAttribute", driver.kernel_set_attribute);
    find(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", driver.kernel_occupancy);
    find(library, "cuOccupancyMaxActiveClusters", driver.cluster_occupancy);
    find(library, "cuLaunchKernel", driver.launch);
    find(library, "cuLaunchKernelEx", driver.launch_clusters);
    find(library, "cuStreamCreate", driver.stream_create);
    find(library, "cuStreamDestroy_v2", driver.stream_destroy);
    find(library, "cuStreamSynchronize", driver.stream_wait);
    find(library, "cuStreamWaitEvent", driver.stream_wait_event);
    find(library, "cuStreamGetCaptureInfo_v2", driver.stream_capture);
    find(library, "cuThreadExchangeStreamCaptureMode", driver.thread_capture_mode);
    find(library, "cuStreamBeginCapture_v2", driver.capture_begin);
    find(library, "cuStreamEndCapture", driver.capture_end);
    find(library, "cuGraphDestroy", driver.graph_destroy);
    find(library, "cuGraphInstantiateWithFlags", driver.graph_instantiate);
    find(library, "cuGraphLaunch", driver.graph_launch);
    find(library, "cuGraphExecDestroy", driver.graph_program_destroy);
    find(library, "cuEventCreate", driver.event_create);
    find(library, "cuEventRecord", driver.event_record);
    find(library, "cuEventDestroy_v2", driver.event_destroy);
    find(library, "cuEventElapsedTime", driver.event_elapsed);
    find(library, "cuUserObjectCreate", driver.object_create);
    find(library, "cuGraphRetainUserObject", driver.graph_retain);
    return driver;
}

const char* advice(Result result) {
    switch (result) {
        case 3:
            return "; a forked process cannot use CUDA after its parent did, start it with multiprocessing's 'spawn'";
        case 100:
            return "; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use device='cpu'";
        case 200:
            return "; rebuild the robot (force_rebuild=True)";
        case 700:
        case 716:
        case 719:
            return "; this or an earlier kernel of the process failed and its CUDA context is lost, restart the process "
                   "(compute-sanitizer finds the kernel)";
        case 803:
        case 804:
            return "; the NVIDIA driver and its libraries have different versions, reboot or reinstall the driver";
        case 900:
        case 901:
        case 905:
        case 906:
            return "; a CUDA graph is being captured, pass the capturing stream as stream=";
        default:
            return "";
    }
}

}  // namespace

const Driver& Driver::get() {
    static const Driver driver = [] {
        Driver opened = open_driver();
        const Result result = opened.init(0);
        if (result == kSuccess) return opened;
        const char* name = "unknown error";
        opened.error_name(result, &name);
        throw CudaError(std::string("the CUDA driver cannot be initialised: ") + name + advice(result));
    }();
    return driver;
}

std::string describe(Result result) {
    const char* name = nullptr;
    const char* text = nullptr;
    Driver::get().error_name(result, &name);
    Driver::get().error_text(result, &text);
    if (name == nullptr) return "CUDA error " + std::to_string(result);
    return std::string(name) + (text == nullptr ? "" : std::string(" (") + text + ")");
}

void check(Result result, const std::string& what) {
    if (result != kSuccess) throw CudaError(what + ": " + describe(result) + advice(result));
}

}  // namespace grid::cuda
