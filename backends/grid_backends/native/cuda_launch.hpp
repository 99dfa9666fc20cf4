// From bound arguments to a launch: which kernel, how many blocks, and the kernel's one parameter.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cuda_device.hpp"
#include "cuda_unit.hpp"
#include "declaration.hpp"

namespace grid::cuda {

constexpr int kLanes = 32;           // samples of a block or cluster
constexpr size_t kMostSmall = 16 << 10;  // bytes of shared inputs that travel with a launch

// The arguments of one call, by declared input and output; see Arguments in block.cuh for the strides.
struct Operands {
    const void* in[kMaxArguments];
    int64_t in_stride[kMaxArguments];
    void* out[kMaxArguments];
    int64_t out_stride[kMaxArguments];
    uint64_t given = 0;
    int64_t batch = 1;

    // Puts one row, for all samples, into the launch itself; false if the unit has no room.
    bool put_small(int index, const void* row, size_t bytes, const CudaUnit& unit);

    alignas(8) char small[kMostSmall];
    size_t small_used = 0;
};

// The kernels that take the same inputs.
struct KernelVariant : Variant {
    std::vector<const Shape*> shapes;  // largest blocks first
};

// Which shape, by its label, serves batches up to some size, in order of size. The last serves larger ones too.
using Profile = std::vector<std::pair<int64_t, std::string>>;

// How launches are shaped, other than by the estimate.
struct Tuning {
    Profile profile;       // in place of the estimate, unless it is empty
    int most_threads = -1;  // that a block may have, in place of everything else; negative: any number
    int64_t workspaces = 0;  // most blocks of a launch whose blocks need scratch; 0: all that run at once
};

class Launcher {
   public:
    // `tuning` outlives it.
    Launcher(std::shared_ptr<CudaUnit> unit, const Declaration& declared, const Tuning& tuning);

    // Enqueues the cheapest kernel that takes the given inputs. Loads the unit before.
    void launch(const Operands& operands, Stream stream, Arena& arena) const;

    // The inputs that some kernel takes, of those in `given`.
    uint64_t needed(uint64_t given) const { return given & used_; }

    const Shape& shape(uint64_t given, int64_t batch) const;
    const CudaUnit& unit() const { return *unit_; }
    CudaUnit& unit() { return *unit_; }
    std::shared_ptr<CudaUnit> shared_unit() const { return unit_; }

   private:
    const KernelVariant& variant(uint64_t given) const;
    void fail_launch(const Shape& shape, Result result) const;
    int64_t blocks(const Shape& shape, int64_t batch) const;
    Memory scratch(const Shape& shape, int64_t& blocks, Stream stream, Arena& arena) const;
    const Shape* profiled(const KernelVariant& variant, int64_t batch) const;

    std::shared_ptr<CudaUnit> unit_;
    const Tuning& tuning_;
    std::vector<KernelVariant> variants_;  // fewest inputs first
    uint64_t used_ = 0;
};

}  // namespace grid::cuda
