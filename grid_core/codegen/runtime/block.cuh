// What a block of a CUDA unit shares: views of its memory, and the moves between batch-first rows and lanes.
#ifndef GRID_BLOCK_CUH
#define GRID_BLOCK_CUH

// All warps of the block, wherever each is in its own program: every warp arrives equally often.
#define GRID_BARRIER() asm volatile("bar.sync 0;" ::: "memory")

#include "grid_unit.h"

namespace grid {

// The one parameter of a kernel. Consecutive samples are a stride apart, in scalars; a stride of 0 shares one row among
// all samples, and a null input reads as zeros. A negative input stride -1-k means that the one row, shared, is in
// `small` from scalar k on: numbers and short vectors travel with the launch. A stride of GRID_BATCH_LAST + pitch: samples
// are adjacent, and the scalars of a sample a pitch apart.
//
// A launch has any number of blocks of `32 * workers` threads, which share out the batch in groups of 32 samples, and the
// kernel's `shared_bytes` of dynamic shared memory. `scratch` has room for the kernel's scratch scalars per block.
template <int In, int Out>
struct Arguments {
    const void* in[In];
    void* out[Out];
    long long in_stride[In];
    long long out_stride[Out];
    void* scratch;
    long long batch;
    double small[32];
};

// Inputs of a lane: its row.
template <class T>
struct Row {
    const T* p;
    __device__ __forceinline__ T operator[](int k) const { return p[k]; }
};

// Outputs of a lane: a column of 33-wide rows, so that both lanes and consecutive entries spread over the banks.
template <class T>
struct Column {
    T* p;
    __device__ __forceinline__ T& operator[](int k) const { return p[33 * k]; }
};

// Workspace that the warps of a block share: the first Near slots in shared memory, the others in global memory. Slots
// are literals in emitted code, so that nothing is decided at run time.
template <class T, int Near>
struct Scratch {
    T* near;
    T* far;
    __device__ __forceinline__ T& operator[](int k) const { return k < Near ? near[32 * k] : far[32 * (k - Near)]; }
};

// Workspace of one lane alone.
template <class T>
struct Local {
    T* p;
    __device__ __forceinline__ T& operator[](int k) const { return p[k]; }
};

template <int K, class T>
__device__ __forceinline__ void clear(T* rows) {
    for (int i = threadIdx.x; i < 33 * K; i += blockDim.x) rows[i] = T(0);
}

// Copies `rows` samples of an input to shared memory; lanes beyond them repeat the last one.
template <int K, int Padded, class T, class Io>
__device__ __forceinline__ void stage_rows(T* to, const Io& io, int input, long long first, int rows) {
    constexpr int row_size = K > 0 ? K : 1;  // robots without joints have empty rows
    const long long stride = io.in_stride[input];
    if (stride < 0) {
        const T* const row = reinterpret_cast<const T*>(io.small) - 1 - stride;
        for (int i = threadIdx.x; i < 32 * K; i += blockDim.x) to[i / row_size * Padded + i % row_size] = row[i % row_size];
        return;
    }
    const void* const base = io.in[input];
    if (stride >= GRID_BATCH_LAST) {
        const long long pitch = stride - GRID_BATCH_LAST;
        const T* const from = static_cast<const T*>(base) + first;
        for (int i = threadIdx.x; i < 32 * K; i += blockDim.x) {
            const int l = i % 32, k = i / 32;
            to[l * Padded + k] = from[k * pitch + (l < rows ? l : rows - 1)];
        }
        return;
    }
    const T* const from = static_cast<const T*>(base) + first * stride;
    for (int i = threadIdx.x; i < 32 * K; i += blockDim.x) {
        const int l = i / row_size, k = i - l * row_size;
        to[l * Padded + k] = base ? from[(l < rows ? l : rows - 1) * stride + k] : T(0);
    }
}

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

// Copies the outputs of `rows` samples from 33-wide rows to memory with the batch last, a warp to adjacent addresses.
template <int K, class T, class Kept>
__device__ __forceinline__ void unstage_entries(const T* staged, void* base, long long stride, long long first, int rows, Kept kept) {
    const long long pitch = stride - GRID_BATCH_LAST;
    const int lane = threadIdx.x % 32;
    if (lane >= rows) return;
    T* const to = static_cast<T*>(base) + first + lane;
    for (int k = threadIdx.x / 32; k < K; k += blockDim.x / 32) {
        const int place = kept(k);
        to[k * pitch] = place < 0 ? T(0) : staged[33 * place + lane];
    }
}

// Copies them to batch-first memory, consecutive threads to consecutive addresses.
template <int K, class T, class Kept>
__device__ __forceinline__ void unstage_rows(const T* staged, void* base, long long stride, long long first, int rows, Kept kept) {
    if (stride >= GRID_BATCH_LAST) return unstage_entries<K>(staged, base, stride, first, rows, kept);
    constexpr int row_size = K > 0 ? K : 1;
    T* const to = static_cast<T*>(base) + first * stride;
    for (int i = threadIdx.x; i < rows * K; i += blockDim.x) {
        const int l = i / row_size, k = i - l * row_size, place = kept(k);
        to[l * stride + k] = place < 0 ? T(0) : staged[33 * place + l];
    }
}

// The same from rows in global memory, through 32 by 33 tiles of shared memory, one for each of the first warps.
template <int K, int Tiles, class T, class Kept>
__device__ __forceinline__ void unstage_tiles(const T* rows_of, void* base, long long stride, long long first, int rows, T* tiles, Kept kept) {
    if (stride >= GRID_BATCH_LAST) return unstage_entries<K>(rows_of, base, stride, first, rows, kept);
    T* const to = static_cast<T*>(base) + first * stride;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (warp >= Tiles) return;
    T* const tile = tiles + warp * 32 * 33;
    for (int k0 = 32 * warp; k0 < K; k0 += 32 * Tiles) {
        const int width = K - k0 < 32 ? K - k0 : 32;
        for (int k = 0; k < width; ++k) {
            const int place = kept(k0 + k);
            tile[33 * k + lane] = place < 0 ? T(0) : rows_of[33 * place + lane];
        }
        __syncwarp();
        if (lane < width)
            for (int l = 0; l < rows; ++l) to[l * stride + k0 + lane] = tile[33 * lane + l];
        __syncwarp();
    }
}

}  // namespace grid
#endif
