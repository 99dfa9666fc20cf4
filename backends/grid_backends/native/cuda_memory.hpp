// Device memory in the order of streams: a block that is given back serves the next call on the same stream at once,
// without a driver call, because whatever uses it there comes later.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda_driver.hpp"

namespace grid::cuda {

class Device;

struct Block {
    Address address = 0;
    size_t bytes = 0;
};

// Shared by those who use it: when the last lets go, the block goes back to its arena.
using Memory = std::shared_ptr<const Block>;

class Arena : public std::enable_shared_from_this<Arena> {
   public:
    // The arena of a captured graph leaves its blocks to `heir`: its end may come where no driver call is allowed.
    Arena(Device& device, std::shared_ptr<Arena> heir) : device_(device), heir_(std::move(heir)) {}
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    // At least `bytes` for work on `stream`. A MemoryError if the device has no more; needs the device's context.
    Memory take(Stream stream, size_t bytes);

    // Bytes taken from the device, in use or not.
    size_t bytes() const;

   private:
    using Free = std::multimap<size_t, Block>;

    Block reuse(Stream stream, size_t bytes);
    Block allocate(size_t bytes);
    void give_back(const Block& block, const void* queue);
    void inherit(std::vector<Block> blocks);
    void release(std::vector<Block> blocks);
    std::vector<Block> collect(bool cached);

    Device& device_;
    const std::shared_ptr<Arena> heir_;
    mutable std::mutex mutex_;
    std::map<const void*, Free> free_;  // by stream
    std::vector<Block> inherited_;      // freed at the next allocation
    size_t bytes_ = 0;
};

}  // namespace grid::cuda
