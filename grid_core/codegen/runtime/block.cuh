// What a block of a CUDA unit shares: views of its memory, and the moves between batch-first rows and lanes.
#ifndef GRID_BLOCK_CUH
#define GRID_BLOCK_CUH

// The dynamic shared memory, as `shared`.
#define GRID_SHARED(T)                                                   \
    extern __shared__ __align__(16) unsigned char grid_shared_memory[]; \
    T* const shared = reinterpret_cast<T*>(grid_shared_memory)

#include "grid_unit.h"

namespace grid {

// The one parameter of a kernel. Consecutive samples are a stride apart, in scalars; a stride of 0 shares one row among
// all samples, and a null input reads as zeros. A negative input stride -1-k means that the one row, shared, is in
// `small` from scalar k on: numbers and short vectors travel with the launch. A stride of GRID_BATCH_LAST + pitch: samples
// are adjacent, and the scalars of a sample a pitch apart.
//
// A launch has any number of blocks (a multiple of the kernel's `blocks`, which form a cluster) of `32 * warps` threads,
// which share out the batch in groups of 32 samples, and the kernel's `shared_bytes` of dynamic shared memory. `scratch`
// has room for the kernel's scratch scalars per block.
template <int In, int Out, int Small>
struct Arguments {
    const void* in[In];
    void* out[Out];
    long long in_stride[In];
    long long out_stride[Out];
    void* scratch;
    long long batch;
    double small[Small];
};

// N scalars that one instruction moves.
template <class T, int N>
struct alignas(sizeof(T) * N) Vector {
    T at[N];
};
template <class T>
constexpr int kWidest = 16 / sizeof(T);

// Inputs of a lane: its row.
template <class T>
struct Row {
    const T* p;
    __device__ __forceinline__ T operator[](int k) const { return p[k]; }
};

// The scalars of one sample where they are, a step apart; zeros if the input is not given.
template <class T>
struct Given {
    const T* p;
    long long step;
    __device__ __forceinline__ T operator[](int k) const { return p ? p[k * step] : T(0); }
};
template <class T, class Io>
__device__ __forceinline__ Given<T> sample(const Io& io, int input, long long number) {
    const long long stride = io.in_stride[input];
    if (stride < 0) return {reinterpret_cast<const T*>(io.small) - 1 - stride, 1};
    const T* const base = static_cast<const T*>(io.in[input]);
    if (stride >= GRID_BATCH_LAST) return {base + number, stride - GRID_BATCH_LAST};
    return {base ? base + number * stride : nullptr, 1};
}

// Outputs of a lane: its row,
template <class T>
struct Line {
    T* p;
    __device__ __forceinline__ T& operator[](int k) const { return p[k]; }
};

// or a column of 33-wide rows, so that both lanes and consecutive entries spread over the banks.
template <class T>
struct Column {
    T* p;
    __device__ __forceinline__ T& operator[](int k) const { return p[33 * k]; }
};

__device__ __forceinline__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

// The address, in another block of the cluster, of what is at `address` in this one.
__device__ __forceinline__ unsigned peer_address(unsigned address, int block) {
    unsigned result;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(block));
    return result;
}

// Sends values to another block. Its `barrier` counts their bytes when they are there.
#define GRID_SEND "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes"
__device__ __forceinline__ void send(unsigned to, unsigned barrier, float x) {
    asm volatile(GRID_SEND ".f32 [%0], %2, [%1];" ::"r"(to), "r"(barrier), "f"(x));
}
__device__ __forceinline__ void send(unsigned to, unsigned barrier, float x, float y) {
    asm volatile(GRID_SEND ".v2.f32 [%0], {%2, %3}, [%1];" ::"r"(to), "r"(barrier), "f"(x), "f"(y));
}
__device__ __forceinline__ void send(unsigned to, unsigned barrier, float x, float y, float z, float w) {
    asm volatile(GRID_SEND ".v4.f32 [%0], {%2, %3, %4, %5}, [%1];" ::"r"(to), "r"(barrier), "f"(x), "f"(y), "f"(z), "f"(w));
}
__device__ __forceinline__ void send(unsigned to, unsigned barrier, double x) {
    asm volatile(GRID_SEND ".f64 [%0], %2, [%1];" ::"r"(to), "r"(barrier), "d"(x));
}
__device__ __forceinline__ void send(unsigned to, unsigned barrier, double x, double y) {
    asm volatile(GRID_SEND ".v2.f64 [%0], {%2, %3}, [%1];" ::"r"(to), "r"(barrier), "d"(x), "d"(y));
}
#undef GRID_SEND

// What a warp of block Own of a cluster does between stages; one warp of each block is First. Every stage has a barrier
// in each block. It opens when the warps of the block have arrived, when all that other blocks send in the stage is there,
// and when the other blocks have begun the stage, so that what they read before may be overwritten.
template <int Own, int Warps, int Blocks, bool First>
struct Stages {
    unsigned barriers;
    int lane;
    int parity;  // alternates from one group of samples to the next

    static __device__ __forceinline__ void create(unsigned barriers, int stages) {
        if (threadIdx.x < stages) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barriers + 8 * threadIdx.x), "r"(Warps + Blocks - 1));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    // Tells the other blocks that this one begins a stage.
    __device__ __forceinline__ void begin(int stage) const {
        if (!First) return;
        asm volatile(
            "{\n.reg .pred other;\nsetp.ne.s32 other, %1, 0;\n"
            "@other mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];\n}"
            ::"r"(peer_address(barriers + 8 * stage, lane)), "r"(int(lane < Blocks && lane != Own)) : "memory");
    }
    // Ends a stage, in which `bytes` come from other blocks.
    __device__ __forceinline__ void end(int stage, int bytes) const {
        const unsigned barrier = barriers + 8 * stage;
        __syncwarp();
        if (First) {
            asm volatile(
                "{\n.reg .pred first;\nsetp.eq.s32 first, %1, 0;\n"
                "@first mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %2;\n}"
                ::"r"(barrier), "r"(lane), "r"(bytes) : "memory");
        } else {
            asm volatile(
                "{\n.reg .pred first;\nsetp.eq.s32 first, %1, 0;\n"
                "@first mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];\n}"
                ::"r"(barrier), "r"(lane) : "memory");
        }
        asm volatile(
            "{\n.reg .pred open;\nagain:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 open, [%0], %1;\n@!open bra again;\n}"
            ::"r"(barrier), "r"(parity) : "memory");
    }
};

// Outputs of a lane in block Own of a cluster: every block collects `Share` of the columns.
template <class T, int Share, int Own>
struct Spread {
    T* p;
    unsigned barrier;  // of the last stage

    struct Entry {
        T* p;
        unsigned barrier;
        int block;
        __device__ __forceinline__ void operator=(T x) const {
            if (block == Own) {
                *p = x;
            } else {
                send(peer_address(shared_address(p), block), peer_address(barrier, block), x);
            }
        }
    };
    __device__ __forceinline__ Entry operator[](int k) const { return {p + k % Share * 33, barrier, k / Share}; }
};

// The same for statements that every block runs: each keeps what is in its own share.
template <class T, int Share>
struct Part {
    T* p;
    int own;

    struct Entry {
        T* p;
        bool here;
        __device__ __forceinline__ void operator=(T x) const {
            if (here) *p = x;
        }
    };
    __device__ __forceinline__ Entry operator[](int k) const { return {p + k % Share * 33, k / Share == own}; }
};

// Workspace that the warps of a block share: the first Near slots in shared memory, the others in global memory. A
// message of N values takes N slots, one vector a lane. Slots are literals in emitted code, so that nothing is decided
// at run time.
template <class T, int Near>
struct Scratch {
    T* near;
    T* far;
    int lane;

    __device__ __forceinline__ void barrier(int, int) const { asm volatile("bar.sync 0;" ::: "memory"); }

    __device__ __forceinline__ T& operator[](int slot) const { return at<1>(slot)->at[0]; }

    template <class... X>
    __device__ __forceinline__ void get(int slot, X&... x) const {
        const Vector<T, sizeof...(X)> values = *at<sizeof...(X)>(slot);
        int i = 0;
        ((x = values.at[i++]), ...);
    }
    template <class... X>
    __device__ __forceinline__ void put(int slot, X... x) const {
        *at<sizeof...(X)>(slot) = Vector<T, sizeof...(X)>{{x...}};
    }

   private:
    template <int N>
    __device__ __forceinline__ Vector<T, N>* at(int slot) const {
        return reinterpret_cast<Vector<T, N>*>(slot < Near ? near + 32 * slot : far + 32 * (slot - Near)) + lane;
    }
};

// The same for messages, and slots in one memory, whichever that is: loops know a slot only when they run.
template <class T, int Near>
struct Desk : Scratch<T, Near> {
    T* slots;
    __device__ __forceinline__ T& operator[](int slot) const { return slots[32 * slot]; }
};

// The same in block Own of a cluster: all in shared memory, written into the block that reads it.
template <class T, int Own, int Warps, int Blocks, bool First>
struct Shared : Scratch<T, 1 << 20> {
    Stages<Own, Warps, Blocks, First> stages;
    mutable unsigned current;  // the barrier of this stage

    __device__ __forceinline__ Shared(T* near, int lane, unsigned barriers, int parity)
        : Scratch<T, 1 << 20>{near, nullptr, lane}, stages{barriers, lane, parity}, current(barriers) {
        stages.begin(0);
    }
    __device__ __forceinline__ void barrier(int stage, int values) const {
        stages.end(stage, 32 * int(sizeof(T)) * values);
        stages.begin(stage + 1);
        current = stages.barriers + 8 * (stage + 1);
    }
    __device__ __forceinline__ void finish(int stage, int values) const { stages.end(stage, 32 * int(sizeof(T)) * values); }

    template <class... X>
    __device__ __forceinline__ void push(int block, int slot, X... x) const {
        const unsigned to = peer_address(shared_address(this->near), block) + (32 * slot + this->lane * int(sizeof...(X))) * int(sizeof(T));
        send(to, peer_address(current, block), x...);
    }
};

// Workspace of one lane alone.
template <class T>
struct Local {
    T* p;
    __device__ __forceinline__ T& operator[](int k) const { return p[k]; }
};

// Where the columns of an output are kept: all of them in their order, or 8 at a time in the places of a list, or nowhere
// because they are zero.
struct All {
    __device__ __forceinline__ int operator()(int k) const { return k; }
};
template <class Block, class Place>
struct Places {
    const Block* blocks;
    const Place* lists;
    __device__ __forceinline__ int operator()(int k) const {
        const int number = blocks[k / 8];
        return number < 0 ? -1 : lists[8 * number + k % 8];
    }
};
template <class Block, class Place>
Places(const Block*, const Place*) -> Places<Block, Place>;

// Where an output goes: scalar k of sample l to to[l * stride + k], or with the batch last to to[l + k * pitch].
template <class T>
struct Target {
    template <class Io>
    __device__ __forceinline__ Target(const Io& io, int output, long long first, int rows_)
        : stride(io.out_stride[output]), pitch(stride - GRID_BATCH_LAST), rows(rows_) {
        to = static_cast<T*>(io.out[output]) + (batch_last() ? first : first * stride);
    }
    __device__ __forceinline__ bool batch_last() const { return stride >= GRID_BATCH_LAST; }

    long long stride;
    long long pitch;
    T* to;
    int rows;
};

__device__ __forceinline__ bool is_aligned(const void* p) { return (reinterpret_cast<unsigned long long>(p) & 15) == 0; }

// Begins to copy a vector of 16 bytes to shared memory, zeros in place of those beyond `left`. Architectures before 8.0
// copy at once.
__device__ __forceinline__ void copy_vector(void* to, const void* from, int left) {
    const int bytes = left < 0 ? 0 : left < 16 ? left : 16;
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes) : "memory");
#else
    for (int i = 0; i < 4; ++i) static_cast<int*>(to)[i] = 4 * i < bytes ? static_cast<const int*>(from)[i] : 0;
#endif
}

// The threads that work on one group of samples: the warps of a block, or of several that form a cluster, as many as the
// kernel is compiled for or, with kAny, a launch says. Architectures before 9.0 have no clusters.
constexpr int kAny = 0;
template <int Warps, int Cluster>
struct Team {
    static constexpr int kThreads = 32 * Warps;  // of a block

    static __device__ __forceinline__ int blocks() {
        int count = 1;
        if (Cluster != kAny) return Cluster;
#if __CUDA_ARCH__ >= 900
        asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(count));
#endif
        return count;
    }
    static __device__ __forceinline__ int rank() {
        int rank = 0;
        if (Cluster == 1) return 0;
#if __CUDA_ARCH__ >= 900
        asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
        return rank;
    }
    static __device__ __forceinline__ long long number() { return blockIdx.x / blocks(); }
    static __device__ __forceinline__ long long count() { return gridDim.x / blocks(); }

    static __device__ __forceinline__ void meet() {
        __syncthreads();
        if (Cluster > 1) asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    }

    // The same for threads that read what others of the team wrote to global memory.
    static __device__ __forceinline__ void agree() {
        if (blocks() == 1) return __syncthreads();
#if __CUDA_ARCH__ >= 900
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
    }

    // Divides 0 to N - 1 among the threads of the block.
    template <int N, class Function>
    static __device__ __forceinline__ void each(Function function) {
        constexpr int Turns = (N + kThreads - 1) / kThreads;
#pragma unroll(Turns < 8 ? Turns : 4)
        for (int turn = 0; turn < Turns; ++turn) {
            const int i = turn * kThreads + threadIdx.x;
            if (N % kThreads == 0 || i < N) function(i);
        }
    }

    template <int N, class T>
    static __device__ __forceinline__ void clear(T* to) {
        constexpr int Width = kWidest<T>;
        each<N / Width>([&](int i) { reinterpret_cast<Vector<T, Width>*>(to)[i] = {}; });
    }

    // Begins to copy `rows` samples of an input to shared memory; lanes beyond them get zeros. See arrive().
    template <int K, int Pitch, class T, class Io>
    static __device__ __forceinline__ void stage_rows(T* to, const Io& io, int input, long long first, int rows) {
        constexpr int Width = kWidest<T>;
        const long long stride = io.in_stride[input];
        const T* const base = static_cast<const T*>(io.in[input]);
        if (stride == K && base && is_aligned(base)) {
            const T* const from = base + first * K;
            each<32 * K / Width>([&](int i) {
                const int l = Pitch == K ? 0 : Width * i / K;
                copy_vector(to + Width * i + l * (Pitch - K), from + Width * i, (rows * K - Width * i) * int(sizeof(T)));
            });
            return;
        }
        const bool batch_last = stride >= GRID_BATCH_LAST;
#pragma unroll 1
        for (int i = threadIdx.x; i < 32 * K; i += kThreads) {
            const int l = batch_last ? i % 32 : i / K, k = batch_last ? i / 32 : i - l * K;
            to[l * Pitch + k] = l < rows ? sample<T>(io, input, first + l)[k] : T(0);
        }
    }

    // Waits until the inputs are there.
    static __device__ __forceinline__ void arrive() {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.wait_all;" ::: "memory");
#endif
        meet();
    }

    // Copies outputs to memory with the batch last, a warp to adjacent addresses.
    template <class T, class At>
    static __device__ __forceinline__ void unstage_entries(int begin, int end, const Target<T>& target, At at) {
        const int lane = threadIdx.x % 32;
        if (lane >= target.rows) return;
#pragma unroll 1
        for (int k = begin + threadIdx.x / 32; k < end; k += Warps) target.to[lane + k * target.pitch] = at(k, lane);
    }

    // Copies the outputs of `rows` samples from rows in shared memory.
    template <int K, class T>
    static __device__ __forceinline__ void unstage_rows(const T* staged, const Target<T>& target) {
        constexpr int Width = kWidest<T>;
        if (target.rows == 32 && target.stride == K && is_aligned(target.to)) {
            const auto* const from = reinterpret_cast<const Vector<T, Width>*>(staged);
            auto* const to = reinterpret_cast<Vector<T, Width>*>(target.to);
            each<32 * K / Width>([&](int i) { to[i] = from[i]; });
            return;
        }
        if (target.batch_last()) return unstage_entries(0, K, target, [=](int k, int l) { return staged[l * K + k]; });
#pragma unroll 1
        for (int i = threadIdx.x; i < target.rows * K; i += kThreads) {
            const int l = i / K;
            target.to[l * target.stride + i - l * K] = staged[i];
        }
    }

    // The same from 33-wide columns, of which those from `begin` to `end` are here, from place `shift` on. Consecutive
    // threads write to consecutive addresses, every warp a few rows of 32 columns.
    template <class T, class Kept>
    static __device__ __forceinline__ void unstage_columns(const T* staged, int shift, int begin, int end, const Target<T>& target, Kept kept) {
        if (target.batch_last()) {
            return unstage_entries(begin, end, target, [=](int k, int l) {
                const int place = kept(k);
                return place < 0 ? T(0) : staged[33 * (place - shift) + l];
            });
        }
        constexpr int Rows = 8;
        const int chunks = (end - begin + 31) / 32;
#pragma unroll 1
        for (int unit = threadIdx.x / 32; unit < chunks * (32 / Rows); unit += Warps) {
            const int k = begin + unit % chunks * 32 + threadIdx.x % 32, l = unit / chunks * Rows;
            const int place = k < end ? kept(k) : -1;
            const T* const from = staged + 33 * (place < 0 ? 0 : place - shift) + l;
            T* const to = target.to + l * target.stride + k;
#pragma unroll
            for (int i = 0; i < Rows; ++i)
                if (k < end && l + i < target.rows) to[i * target.stride] = place < 0 ? T(0) : from[i];
        }
    }

    // The same from columns in global memory, through 32 by 33 tiles of shared memory, one for each of the first warps of
    // every block. Of the places of 32 columns a lane looks up its own, and most of them may be zeros.
    template <int Tiles, class T, class Kept>
    static __device__ __forceinline__ void unstage_tiles(const T* columns, int size, const Target<T>& target, Kept kept, T* tiles) {
        if (target.batch_last()) return unstage_columns(columns, 0, rank() * size / blocks(), (rank() + 1) * size / blocks(), target, kept);
        constexpr unsigned kAll = ~0u;
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        if (warp >= Tiles) return;
        T* const tile = tiles + warp * 32 * 33;
#pragma unroll 1
        for (int k = 32 * (rank() * Tiles + warp); k < size; k += 32 * Tiles * blocks()) {
            const bool inside = k + lane < size;
            const int own = inside ? kept(k + lane) : -1;
            T* const to = target.to + k + lane;
            if (!__any_sync(kAll, own >= 0)) {
#pragma unroll 8
                for (int l = 0; l < 32; ++l)
                    if (inside && l < target.rows) to[l * target.stride] = T(0);
                continue;
            }
#pragma unroll 16
            for (int i = 0; i < 32; ++i) {
                const int place = __shfl_sync(kAll, own, i);
                tile[33 * i + lane] = place < 0 ? T(0) : columns[33 * place + lane];
            }
            __syncwarp();
#pragma unroll 8
            for (int l = 0; l < 32; ++l)
                if (inside && l < target.rows) to[l * target.stride] = tile[33 * lane + l];
            __syncwarp();
        }
    }
};

}  // namespace grid
#endif
