#include "cuda_launch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace grid::cuda {

namespace {

// The kernel's parameter: pointers, strides, scratch, batch and small rows, each of 8 bytes.
class Parameter {
   public:
    template <class T>
    void add(T value) {
        static_assert(sizeof(T) == 8);
        std::memcpy(words_ + count_++, &value, 8);
    }
    void add(const char* bytes, size_t used) {
        std::memcpy(words_ + count_, bytes, used);
        count_ += kSmallBytes / 8;
    }
    void* data() { return words_; }

   private:
    uint64_t words_[4 * kMaxArguments + 2 + kSmallBytes / 8];
    size_t count_ = 0;
};

Parameter parameter(const KernelVariant& variant, const Operands& operands, size_t outputs, Address scratch) {
    Parameter result;
    const auto given = [&operands](int source) { return (operands.given >> source & 1) != 0; };
    for (const int i : variant.sources) result.add(given(i) ? operands.in[i] : nullptr);
    for (size_t i = 0; i < outputs; ++i) result.add(operands.out[i]);
    for (const int i : variant.sources) result.add(given(i) ? operands.in_stride[i] : int64_t{0});
    for (size_t i = 0; i < outputs; ++i) result.add(operands.out_stride[i]);
    result.add(scratch);
    result.add(operands.batch);
    result.add(operands.small, operands.small_used);
    return result;
}

// Time of a launch, in time that one warp takes for its samples. Fitted to five algorithms of three robots, with batches
// of 1 Ki to 256 Ki on an H200: of two shapes, the one chosen is 1.1 times slower than the other at most, mostly; 1.4 at
// the worst. Warps that share a block wait for each other. Threads that keep much in memory fall out of the caches.
double estimate(const Shape& shape, int64_t batch) {
    constexpr double kSharing = 0.75;
    constexpr int kMuchLocal = 1536;
    constexpr double kSlowed = 1.7;
    const int64_t groups = (batch + kLanes - 1) / kLanes;
    const auto waves = static_cast<double>((groups + shape.resident - 1) / shape.resident);
    return waves / std::pow(shape.workers, kSharing) * (shape.local_bytes > kMuchLocal ? kSlowed : 1.0);
}

bool same_inputs(const KernelVariant& a, const Variant& b) { return a.sources == b.sources; }

}  // namespace

bool Operands::put_small(int index, const void* row, size_t bytes, int64_t scalar_bytes) {
    if (small_used + bytes > kSmallBytes) return false;
    std::memcpy(small + small_used, row, bytes);
    in[index] = nullptr;
    in_stride[index] = -1 - static_cast<int64_t>(small_used) / scalar_bytes;
    small_used += bytes;
    return true;
}

Launcher::Launcher(std::shared_ptr<CudaUnit> unit, const Declaration& declared) : unit_(std::move(unit)) {
    for (const Shape& shape : unit_->shapes) {
        const Variant match = declared.match(shape.inputs, shape.outputs);
        const auto same = [&match](const KernelVariant& variant) { return same_inputs(variant, match); };
        auto found = std::find_if(variants_.begin(), variants_.end(), same);
        if (found == variants_.end()) found = variants_.insert(found, KernelVariant{match, {}});
        found->shapes.push_back(&shape);
        used_ |= match.inputs;
    }
    const auto fewer = [](const Variant& a, const Variant& b) { return a.sources.size() < b.sources.size(); };
    std::stable_sort(variants_.begin(), variants_.end(), fewer);
    if (!variants_.back().takes(used_)) declared.fail("no kernel takes all inputs at once");
    for (KernelVariant& variant : variants_) {
        const auto more = [](const Shape* a, const Shape* b) { return a->workers > b->workers; };
        std::stable_sort(variant.shapes.begin(), variant.shapes.end(), more);
    }
}

const KernelVariant& Launcher::variant(uint64_t given) const {
    const uint64_t inputs = needed(given);
    return *std::find_if(variants_.begin(), variants_.end(), [inputs](const Variant& v) { return v.takes(inputs); });
}

const Shape& Launcher::shape(uint64_t given, int64_t batch) const {
    const std::vector<const Shape*>& shapes = variant(given).shapes;
    for (const auto& [largest, count] : workers) {
        if (batch > largest) continue;
        const auto fits = [most = count](const Shape* shape) { return shape->workers <= most; };
        const auto chosen = std::find_if(shapes.begin(), shapes.end(), fits);
        return chosen == shapes.end() ? *shapes.back() : **chosen;
    }
    const auto sooner = [batch](const Shape* a, const Shape* b) { return estimate(*a, batch) < estimate(*b, batch); };
    return **std::min_element(shapes.begin(), shapes.end(), sooner);
}

// Local memory is the driver's own, for as many threads as the device could run at once.
void Launcher::fail_launch(const Shape& shape, Result result) const {
    const std::string what = "launching kernel '" + shape.name + "'";
    if (result == kOutOfMemory) {
        throw MemoryError(what + ": " + describe(result) + "; the driver has no room for the local memory of its threads (" +
                          std::to_string(shape.local_bytes) + " bytes each), free arrays, limit what other frameworks "
                          "reserve, or take another shape by set_threads_per_block");
    }
    if (result == kTooManyResources) {
        throw CudaError(what + " with " + std::to_string(32 * shape.workers) + " threads, " +
                        std::to_string(shape.registers) + " registers each, and " + std::to_string(shape.shared_bytes) +
                        " bytes of shared memory: " + describe(result) + "; take smaller blocks by set_threads_per_block(" +
                        std::to_string(16 * shape.workers) + ")");
    }
    check(result, what);
}

int64_t Launcher::blocks(const Shape& shape, int64_t batch) const {
    const int64_t groups = (batch + kLanes - 1) / kLanes;
    const bool bounded = shape.scratch != 0 && workspaces > 0;
    return std::min<int64_t>(groups, bounded ? std::min<int64_t>(shape.resident, workspaces) : shape.resident);
}

// Where memory is short, fewer blocks take turns.
Memory Launcher::scratch(const Shape& shape, int64_t& blocks, Stream stream, Arena& arena) const {
    if (shape.scratch == 0) return nullptr;
    for (;; blocks = (blocks + 1) / 2) {
        try {
            return arena.take(stream, blocks * shape.scratch * unit_->scalar_bytes);
        } catch (const MemoryError&) {
            if (blocks == 1) throw;
        }
    }
}

void Launcher::launch(const Operands& operands, Stream stream, Arena& arena) const {
    const Shape& chosen = shape(operands.given, operands.batch);
    int64_t count = blocks(chosen, operands.batch);
    const Memory own = scratch(chosen, count, stream, arena);
    const size_t outputs = chosen.outputs.size();
    Parameter value = parameter(variant(operands.given), operands, outputs, own ? own->address : 0);
    void* parameters[] = {value.data()};
    const auto shared = static_cast<unsigned>(chosen.shared_bytes);
    const Result result = Driver::get().launch(chosen.kernel, static_cast<unsigned>(count), 1, 1, 32 * chosen.workers, 1, 1, shared, stream,
                                               parameters, nullptr);
    if (result != kSuccess) fail_launch(chosen, result);
}

}  // namespace grid::cuda
