#include "cuda_memory.hpp"

#include <algorithm>

#include "cuda_device.hpp"

namespace grid::cuda {

namespace {

constexpr size_t kAlignment = 512;

// In steps of an eighth to a quarter, so that batches of similar sizes share blocks.
size_t rounded(size_t bytes) {
    size_t step = kAlignment;
    while (step * 8 < bytes) step *= 2;
    return (std::max<size_t>(bytes, 1) + step - 1) / step * step;
}

// What tells streams apart. The per-thread default stream is another one in each thread.
const void* queue_of(Stream stream) {
    thread_local const char thread = 0;
    if (stream == kPerThreadStream) return &thread;
    return is_legacy(stream) ? nullptr : stream;
}

}  // namespace

Arena::~Arena() {
    if (heir_) heir_->inherit(collect(true));
}

Memory Arena::take(Stream stream, size_t bytes) {
    const size_t size = rounded(bytes);
    Block block = reuse(stream, size);
    if (block.bytes == 0) block = allocate(size);
    const void* const queue = queue_of(stream);
    const auto give_back = [arena = shared_from_this(), queue](const Block* used) {
        arena->give_back(*used, queue);
        delete used;
    };
    return Memory(new Block(block), give_back);
}

Block Arena::reuse(Stream stream, size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto blocks = free_.find(queue_of(stream));
    if (blocks == free_.end()) return {};
    const auto found = blocks->second.lower_bound(bytes);
    if (found == blocks->second.end() || found->first > 2 * bytes) return {};
    const Block block = found->second;
    blocks->second.erase(found);
    return block;
}

Block Arena::allocate(size_t bytes) {
    const Relaxed relaxed;
    if (!heir_) release(collect(false));
    const Driver& driver = Driver::get();
    Block block{0, bytes};
    Result result = driver.memory_take(&block.address, bytes);
    if (result == kOutOfMemory && !heir_) {
        release(collect(true));
        result = driver.memory_take(&block.address, bytes);
    }
    if (result == kOutOfMemory) {
        const auto [left, total] = device_.memory();
        throw MemoryError("device 'cuda:" + std::to_string(device_.index) + "' has no " + std::to_string(bytes >> 10) +
                          " KiB left: " + std::to_string(left >> 20) + " of " + std::to_string(total >> 20) +
                          " MiB are free; use a smaller batch, free arrays, or limit what other frameworks reserve");
    }
    check(result, "allocating device memory");
    const std::lock_guard lock(mutex_);
    bytes_ += bytes;
    return block;
}

void Arena::give_back(const Block& block, const void* queue) {
    const std::lock_guard lock(mutex_);
    Free& free = free_[queue];
    free.emplace_hint(free.lower_bound(block.bytes), block.bytes, block);  // the last is taken first
}

void Arena::inherit(std::vector<Block> blocks) {
    const std::lock_guard lock(mutex_);
    for (const Block& block : blocks) bytes_ += block.bytes;
    inherited_.insert(inherited_.end(), blocks.begin(), blocks.end());
}

// Takes the blocks out that nobody uses: inherited ones, and those kept for streams if `cached`.
std::vector<Block> Arena::collect(bool cached) {
    const std::lock_guard lock(mutex_);
    std::vector<Block> blocks = std::move(inherited_);
    inherited_.clear();
    if (cached) {
        for (const auto& [queue, free] : free_) {
            for (const auto& [size, block] : free) blocks.push_back(block);
        }
        free_.clear();
    }
    for (const Block& block : blocks) bytes_ -= block.bytes;
    return blocks;
}

// The driver waits for the work on the device before it frees memory.
void Arena::release(std::vector<Block> blocks) {
    for (const Block& block : blocks) Driver::get().memory_free(block.address);
}

size_t Arena::bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

}  // namespace grid::cuda
