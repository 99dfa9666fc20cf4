#include "cuda_device.hpp"

#include <iterator>


namespace grid::cuda {

namespace {

int attribute(int device, int which) {
    int value = 0;
    check(Driver::get().device_attribute(&value, which, device), "device " + std::to_string(device));
    return value;
}

}  // namespace

int Device::count() {
    int count = 0;
    check(Driver::get().device_count(&count), "counting CUDA devices");
    return count;
}

int Device::holding(const void* data) {
    int index = 0;
    void* values[] = {&index};
    check(Driver::get().pointer_attributes(1, &kDeviceOrdinal, values, reinterpret_cast<Address>(data)),
          "finding the device of an array");
    return index;
}

Device& Device::get(int index) {
    static std::mutex mutex;
    static auto& devices = *new std::map<int, std::unique_ptr<Device>>;  // streams and arrays may outlive static objects
    const std::lock_guard lock(mutex);
    auto& device = devices[index];
    if (!device) device.reset(new Device(index));
    return *device;
}

Device::Device(int index_) : index(index_), arena_(std::make_shared<Arena>(*this, nullptr)) {
    const int available = count();
    if (index < 0 || index >= available) {
        throw CudaError("device 'cuda:" + std::to_string(index) + "': this process sees " + std::to_string(available) +
                        " CUDA devices; use one of them (see CUDA_VISIBLE_DEVICES) or device='cpu'");
    }
    const std::string what = "device 'cuda:" + std::to_string(index) + "'";
    const Driver& driver = Driver::get();
    int device = 0;
    char text[256] = "";
    check(driver.device_get(&device, index), what);
    check(driver.device_name(text, sizeof(text), device), what);
    name = text;
    multiprocessors = attribute(device, kMultiprocessors);
    compute = 10 * attribute(device, kComputeMajor) + attribute(device, kComputeMinor);
    shared_opt_in = attribute(device, kSharedOptIn);
    check(driver.context_retain(&context, device), what);
}

Device::Place Device::place(Stream stream) {
    if (is_legacy(stream)) return {arena_, false};  // it cannot be captured
    int status = 0;
    uint64_t capture = 0;
    Graph graph = nullptr;
    check(Driver::get().stream_capture(stream, &status, &capture, &graph, nullptr, nullptr),
          "stream on device 'cuda:" + std::to_string(index) + "'");
    if (status == 0) return {arena_, false};
    return {captured_arena(capture, graph), true};
}

// The graph keeps the arena: it is used again each time the graph is launched.
std::shared_ptr<Arena> Device::captured_arena(uint64_t capture, Graph graph) {
    const std::lock_guard lock(mutex_);
    if (auto arena = captures_[capture].lock()) return arena;
    for (auto entry = captures_.begin(); entry != captures_.end();) {
        entry = entry->second.expired() ? captures_.erase(entry) : std::next(entry);
    }
    auto arena = std::make_shared<Arena>(*this, arena_);
    auto kept = std::make_unique<std::shared_ptr<Arena>>(arena);
    const auto release = [](void* pointer) { delete static_cast<std::shared_ptr<Arena>*>(pointer); };
    UserObject object = nullptr;
    const Driver& driver = Driver::get();
    check(driver.object_create(&object, kept.get(), release, 1, kNoDestructorSync), "capturing a CUDA graph");
    kept.release();
    check(driver.graph_retain(graph, object, 1, kMoveReference), "capturing a CUDA graph");
    captures_[capture] = arena;
    return arena;
}

void Device::order(Stream stream, Stream producer) const {
    if (same_stream(stream, producer)) return;
    const Driver& driver = Driver::get();
    Event event = nullptr;
    check(driver.event_create(&event, kNoTiming), "ordering two streams");
    Result result = driver.event_record(event, producer);
    if (result == kSuccess) result = driver.stream_wait_event(stream, event, 0);
    driver.event_destroy(event);
    check(result, "ordering two streams");
}

std::pair<size_t, size_t> Device::memory() const {
    const Scope scope(*this);
    std::pair<size_t, size_t> bytes;
    check(Driver::get().memory_info(&bytes.first, &bytes.second), "reading the size of device memory");
    return bytes;
}

Scope::Scope(const Device& device) {
    const Driver& driver = Driver::get();
    Context current = nullptr;
    check(driver.context_current(&current), "reading the current CUDA context");
    if (current == device.context) return;
    check(driver.context_push(device.context), "using device 'cuda:" + std::to_string(device.index) + "'");
    pushed_ = true;
}

Scope::~Scope() {
    Context popped = nullptr;
    if (pushed_) Driver::get().context_pop(&popped);
}

}  // namespace grid::cuda
