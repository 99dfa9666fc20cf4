#include "cuda_pinned.hpp"

#include <string>

#include "cuda_device.hpp"
#include "cuda_driver.hpp"

namespace grid::cuda {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMostFree = size_t{1} << 30;     // unused memory that is kept
constexpr size_t kMostResults = size_t{1} << 30;  // that results may hold

size_t rounded(size_t bytes) {
    size_t step = kPage;
    while (step * 8 < bytes) step *= 2;
    return (bytes / step + 1) * step;
}

bool is_locked(const char* data) {
    unsigned type = 0;
    void* values[] = {&type};
    const Result result =
        Driver::get().pointer_attributes(1, &kMemoryType, values, reinterpret_cast<Address>(data));
    return result == kSuccess && type == kHostMemory;
}

}  // namespace

PinnedPool& PinnedPool::get() {
    static auto& pool = *new PinnedPool;  // arrays may outlive static objects
    return pool;
}

Pinned PinnedPool::take(const Device& device, size_t bytes) {
    const size_t size = rounded(bytes);
    PinnedBlock block = reuse(size);
    if (block.data == nullptr) {
        const Scope scope(device);
        const Relaxed relaxed;
        void* data = nullptr;
        const Result result = Driver::get().pinned_take(&data, size, kPortable | kDeviceMapped);
        check(result, "locking " + std::to_string(size >> 10) + " KiB of host memory");
        block = {static_cast<char*>(data), size};
        const std::lock_guard lock(mutex_);
        all_[block.data] = size;
        used_bytes_ += size;
    }
    const auto give_back = [this, &device](const PinnedBlock* used) {
        this->give_back(device, *used);
        delete used;
    };
    return Pinned(new PinnedBlock(block), give_back);
}

PinnedBlock PinnedPool::reuse(size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = free_.lower_bound(bytes);
    if (found == free_.end() || found->first > 2 * bytes) return {};
    const PinnedBlock block = found->second;
    free_.erase(found);
    free_bytes_ -= block.bytes;
    used_bytes_ += block.bytes;
    return block;
}

// What is too much to keep goes back to the system.
void PinnedPool::give_back(const Device& device, const PinnedBlock& block) {
    {
        const std::lock_guard lock(mutex_);
        used_bytes_ -= block.bytes;
        if (free_bytes_ + block.bytes <= kMostFree) {
            free_.emplace_hint(free_.lower_bound(block.bytes), block.bytes, block);  // the last is taken first
            free_bytes_ += block.bytes;
            return;
        }
        all_.erase(block.data);
    }
    try {
        const Scope scope(device);
        const Relaxed relaxed;
        Driver::get().pinned_free(block.data);
    } catch (const CudaError&) {
        // The context is gone, and its memory with it.
    }
}

bool PinnedPool::affords(size_t bytes) const {
    const std::lock_guard lock(mutex_);
    return used_bytes_ + bytes <= kMostResults;
}

bool PinnedPool::holds(const void* data, size_t bytes) const {
    const auto* const begin = static_cast<const char*>(data);
    {
        const std::lock_guard lock(mutex_);
        auto next = all_.upper_bound(begin);
        if (next != all_.begin() && (--next, begin + bytes <= next->first + next->second)) return true;
    }
    if (bytes < kPage) return false;  // asking costs more than a copy
    return is_locked(begin) && is_locked(begin + bytes - 1);
}

}  // namespace grid::cuda
