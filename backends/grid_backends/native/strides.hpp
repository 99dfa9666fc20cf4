// Strides in scalars, as units take them: the distance of consecutive samples, or GRID_BATCH_LAST and the distance of a
// sample's scalars (see grid_unit.h).
#pragma once

#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "grid_unit.h"

namespace grid {

inline bool is_batch_last(int64_t stride) { return stride >= GRID_BATCH_LAST; }

inline int64_t batch_last(int64_t pitch) { return GRID_BATCH_LAST + pitch; }

inline int64_t pitch_of(int64_t stride) { return stride - GRID_BATCH_LAST; }

// Scalars from the first one of sample 0 to that of another sample.
inline int64_t distance(int64_t stride, int64_t sample) { return is_batch_last(stride) ? sample : sample * stride; }

// Scalars from the first to one past the last of a batch whose samples have `size` scalars.
inline int64_t extent(int64_t stride, int64_t size, int64_t batch) {
    if (size == 0 || batch == 0) return 0;
    return is_batch_last(stride) ? (size - 1) * pitch_of(stride) + batch : (batch - 1) * stride + size;
}

// The axes [first, end) of an array with byte strides.
template <class Stride>
struct Axes {
    const Stride* shape;
    const Stride* strides;
    int first;
    int end;

    int64_t size() const {
        int64_t product = 1;
        for (int axis = first; axis < end; ++axis) product *= shape[axis];
        return product;
    }
    // The stride of the last axis; those of size 1 do not count.
    int64_t inner(int64_t otherwise) const {
        for (int axis = end - 1; axis >= first; --axis) {
            if (shape[axis] != 1) return strides[axis];
        }
        return otherwise;
    }
    // Whether elements are `next` bytes apart, in C order.
    bool even(int64_t next) const {
        for (int axis = end - 1; axis >= first; --axis) {
            if (shape[axis] == 1) continue;
            if (strides[axis] != next) return false;
            next *= shape[axis];
        }
        return true;
    }
};

// The stride of an array of `item` bytes per scalar. Either samples are contiguous and at equal distances; or the batch is
// contiguous, and the scalars of a sample are at equal distances that hold the batch. Negative if neither is so.
template <class Stride>
int64_t regular_stride(const Axes<Stride>& batch, const Axes<Stride>& sample, int64_t item) {
    const int64_t size = sample.size(), count = batch.size();
    if (size == 0 || count == 0) return size;
    if (sample.even(item)) {
        const int64_t stride = batch.inner(size * item);
        return stride >= 0 && stride % item == 0 && batch.even(stride) ? stride / item : -1;
    }
    const int64_t pitch = sample.inner(0);
    const bool regular = batch.first < batch.end && batch.even(item) && sample.even(pitch);
    return regular && pitch % item == 0 && pitch >= count * item ? batch_last(pitch / item) : -1;
}

// Where the samples of one array lie.
struct Place {
    const void* data;
    int64_t stride;
    int64_t size;

    // The smallest memory range that holds them.
    Range range(int64_t batch, int64_t item) const {
        const auto* const begin = static_cast<const char*>(data);
        return {begin, begin + extent(stride, size, batch) * item};
    }

    // Whether the ranges that hold both meet. Rows side by side in one buffer do not share memory.
    bool meets(const Place& other, int64_t batch, int64_t item) const {
        const Range mine = range(batch, item), its = other.range(batch, item);
        if (!mine.meets(its)) return false;
        return is_batch_last(stride) || stride != other.stride ||
               !interleaved(its.begin - mine.begin, size * item, other.size * item, stride * item);
    }
};

// Fills the byte strides of a contiguous batch-last array: those of the batch axis, then of a sample's axes.
template <class Stride>
void fill_batch_last(const std::vector<int64_t>& shape, int64_t batch, int64_t item, Stride* strides) {
    strides[0] = item;
    int64_t next = batch * item;
    for (size_t axis = shape.size(); axis-- > 0; next *= shape[axis]) strides[1 + axis] = next;
}

}  // namespace grid
