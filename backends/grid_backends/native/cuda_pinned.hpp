// Page-locked host memory, which devices read and write in place; it is kept for reuse because the system is slow to
// lock and unlock pages.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace grid::cuda {

class Device;

struct PinnedBlock {
    char* data = nullptr;
    size_t bytes = 0;
};

using Pinned = std::shared_ptr<const PinnedBlock>;

class PinnedPool {
   public:
    static PinnedPool& get();

    // At least `bytes`, for every device; `device` is any open one. A CudaError if the system locks no more.
    Pinned take(const Device& device, size_t bytes);

    // Whether results of `bytes` may be kept in page-locked memory, of which a program should not hold much.
    bool affords(size_t bytes) const;

    // Whether all of the memory is page-locked, by this pool or by anybody else.
    bool holds(const void* data, size_t bytes) const;

   private:
    PinnedBlock reuse(size_t bytes);
    void give_back(const Device& device, const PinnedBlock& block);

    mutable std::mutex mutex_;
    std::multimap<size_t, PinnedBlock> free_;
    std::map<const char*, size_t> all_;  // first byte -> bytes
    size_t free_bytes_ = 0;
    size_t used_bytes_ = 0;
};

}  // namespace grid::cuda
