#include "cuda_launch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace grid::cuda {

namespace {

// The kernel's parameter: pointers, strides, scratch and batch, each of 8 bytes, and small rows.
class Parameter {
   public:
    template <class T>
    void add(T value) {
        static_assert(sizeof(T) == 8);
        std::memcpy(words_ + count_++, &value, 8);
    }
    void add(const char* bytes, size_t used) {
        if (used != 0) std::memcpy(words_ + count_, bytes, used);
    }
    void* data() { return words_; }

   private:
    uint64_t words_[4 * kMaxArguments + 2 + kMostSmall / 8];  // the driver reads as many as the kernel takes
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

Result launch_shape(const Shape& shape, unsigned clusters, Stream stream, void** parameters) {
    const Driver& driver = Driver::get();
    if (shape.pooled && shape.blocks > 1) {
        const ClusterLaunch launch(shape, clusters, stream);
        return driver.launch_clusters(&launch.config, shape.kernel, parameters, nullptr);
    }
    return driver.launch(shape.kernel, clusters * shape.blocks, 1, 1, 32 * shape.warps, 1, 1,
                         static_cast<unsigned>(shape.shared_bytes), stream, parameters, nullptr);
}

// Cycles that a batch takes for values that registers have no room for. Each is waited for, and what the first cache has
// no room for, beside the shared memory of blocks, comes from the second one, again and again in a long kernel.
double spill(const Shape& shape, double groups, int multiprocessors, int64_t scalar_bytes) {
    constexpr double kCache = 256 << 10;  // bytes of the first cache, shared memory included
    const double waves = std::ceil(groups / shape.resident);
    const double blocks = std::max(1.0, std::min<double>(groups, shape.resident) / multiprocessors);  // of one
    const double room = std::max(0.0, kCache - blocks * static_cast<double>(shape.shared_bytes));
    const double missed = std::max(0.0, shape.local_bytes - room / (blocks * shape.warps * kLanes));  // of a thread
    const double waited = waves * 66.0 * shape.local_bytes / static_cast<double>(scalar_bytes);
    return std::max(waited, std::max(1.0, groups / multiprocessors) * shape.instructions * missed / 920);
}

// Cycles that a batch takes in a pooled kernel: one block runs straight-line code, all share the rows of loops, the
// workspace and the copying of outputs, and what they move passes through the memory of the device. Fitted to five kernels
// of the quadruped and the humanoid in single precision, with batches of 16 to 4096 and clusters of 1 to 16 blocks: the
// size chosen took at most 1.19 times what the best one did.
double pooled(const Shape& shape, double groups, double entries, int64_t scalar_bytes) {
    const double waves = std::ceil(groups / shape.resident);
    const auto scratch = static_cast<double>(shape.scratch);
    const double alone = 2.5 * (shape.instructions - shape.rows) + (shape.blocks > 1 ? 860.0 * shape.stages : 0.0);
    const double shared = (17.0 * shape.rows + 7.6 * scratch + 76 * entries) / (shape.warps * shape.blocks);
    const double moved = static_cast<double>(scalar_bytes) * (scratch + kLanes * entries);
    return waves * (alone + shared) + groups * moved / 1300;
}

// Cycles that a batch takes, about, without what all shapes share. Each instruction of a kernel runs once for 32 samples,
// and what takes time is to fetch it, to wait for other warps after a stage, to copy outputs entry by entry, and to spill.
// Fitted to ten algorithms of three robots in both precisions on an H200, with batches of 16 to 65536 and for the arm 2^20:
// the shape chosen took at most 1.19 times what the best one did. Of clusters only what outputs cost is fitted anew.
double estimate(const Shape& shape, int64_t batch, int multiprocessors, int64_t scalar_bytes) {
    constexpr int kCached = 8000;  // instructions that stay in a multiprocessor's cache of 128 KB
    const auto groups = static_cast<double>((batch + kLanes - 1) / kLanes);
    const double waves = std::ceil(groups / shape.resident);
    const double busy = std::min(1.0, groups * shape.blocks / multiprocessors);
    double entries = 0;  // of the outputs of a sample
    for (const auto& output : shape.outputs) entries += static_cast<double>(output.second);
    if (shape.pooled) return pooled(shape, groups, entries, scalar_bytes);
    const double copied = 120 * entries / (shape.warps * shape.blocks);
    if (shape.blocks > 1) {
        const double crowded = 1 + 2.4 * busy * busy * busy;
        return waves * crowded * (0.49 * shape.instructions + 120.0 * shape.stages + copied);
    }
    double cycles = 1.1;  // of an instruction
    if (shape.warps > 1) {
        const double missed = shape.instructions < kCached ? 0 : 2.5 / shape.warps;  // warps miss side by side
        cycles = 0.3 + missed + 1.2 * std::sqrt(busy);  // all multiprocessors want the same instructions
    }
    const double far = 1.5 * static_cast<double>(shape.scratch);
    const double work = cycles * shape.instructions + 80.0 * shape.stages + copied + far;
    return waves * work + spill(shape, groups, multiprocessors, scalar_bytes);
}

bool same_inputs(const KernelVariant& a, const Variant& b) { return a.sources == b.sources; }

}  // namespace

bool Operands::put_small(int index, const void* row, size_t bytes, const CudaUnit& unit) {
    if (small_used + bytes > unit.small_bytes) return false;
    std::memcpy(small + small_used, row, bytes);
    in[index] = nullptr;
    in_stride[index] = -1 - static_cast<int64_t>(small_used) / unit.scalar_bytes;
    small_used += bytes;
    return true;
}

Launcher::Launcher(std::shared_ptr<CudaUnit> unit, const Declaration& declared, const Tuning& tuning)
    : unit_(std::move(unit)), tuning_(tuning) {
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
        const auto more = [](const Shape* a, const Shape* b) {
            return a->warps != b->warps ? a->warps > b->warps : a->blocks < b->blocks;
        };
        std::stable_sort(variant.shapes.begin(), variant.shapes.end(), more);
    }
}

const KernelVariant& Launcher::variant(uint64_t given) const {
    const uint64_t inputs = needed(given);
    return *std::find_if(variants_.begin(), variants_.end(), [inputs](const Variant& v) { return v.takes(inputs); });
}

const Shape& Launcher::shape(uint64_t given, int64_t batch) const {
    const KernelVariant& all = variant(given);
    if (tuning_.most_threads >= 0) {
        const auto fits = [this](const Shape* shape) { return 32 * shape->warps <= tuning_.most_threads; };
        const auto chosen = std::find_if(all.shapes.begin(), all.shapes.end(), fits);
        return chosen == all.shapes.end() ? *all.shapes.back() : **chosen;
    }
    if (const Shape* chosen = profiled(all, batch)) return *chosen;
    const int multiprocessors = unit_->device().multiprocessors;
    const auto sooner = [=, bytes = unit_->scalar_bytes](const Shape* a, const Shape* b) {
        return estimate(*a, batch, multiprocessors, bytes) < estimate(*b, batch, multiprocessors, bytes);
    };
    return **std::min_element(all.shapes.begin(), all.shapes.end(), sooner);
}

const Shape* Launcher::profiled(const KernelVariant& variant, int64_t batch) const {
    const Profile& profile = tuning_.profile;
    if (profile.empty()) return nullptr;
    const auto serves = [batch](const auto& entry) { return batch <= entry.first; };
    auto entry = std::find_if(profile.begin(), profile.end(), serves);
    if (entry == profile.end()) --entry;
    for (const Shape* shape : variant.shapes) {
        if (shape->label == entry->second) return shape;
    }
    return nullptr;
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
        throw CudaError(what + " with " + std::to_string(32 * shape.warps) + " threads, " +
                        std::to_string(shape.registers) + " registers each, and " + std::to_string(shape.shared_bytes) +
                        " bytes of shared memory: " + describe(result) + "; take smaller blocks by set_threads_per_block(" +
                        std::to_string(16 * shape.warps) + ")");
    }
    check(result, what);
}

int64_t Launcher::blocks(const Shape& shape, int64_t batch) const {
    const int64_t groups = (batch + kLanes - 1) / kLanes;
    const bool bounded = shape.scratch != 0 && tuning_.workspaces > 0;
    return std::min<int64_t>(groups, bounded ? std::min<int64_t>(shape.resident, tuning_.workspaces) : shape.resident);
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
    const Result result = launch_shape(chosen, static_cast<unsigned>(count), stream, parameters);
    if (result != kSuccess) fail_launch(chosen, result);
}

}  // namespace grid::cuda
