#include "tiles.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "strides.hpp"

namespace grid {

namespace {

constexpr int64_t kMostSamples = 128;
constexpr int64_t kMostBytes = 2 << 20;  // of all tiles of a thread
constexpr int64_t kFewEntries = 64;      // so few places are written at once without trouble
constexpr int64_t kLine = 64;

bool is_tiled(const Task& task, int output) { return is_batch_last(task.out_stride[output]); }

// Memory of this thread that is kept from call to call; null if there is none.
char* scratch(size_t bytes) {
    thread_local std::unique_ptr<char[]> memory;
    thread_local size_t size = 0;
    bytes += kLine;
    if (size < bytes) {
        memory.reset(new (std::nothrow) char[bytes]);
        size = memory == nullptr ? 0 : bytes;
    }
    const auto address = reinterpret_cast<uintptr_t>(memory.get());
    return memory == nullptr ? nullptr : memory.get() + (kLine - address % kLine) % kLine;
}

// Bytes of a sample in all tiles.
int64_t sample_bytes(const Task& task) {
    int64_t entries = 0;
    for (int i = 0; i < task.outputs; ++i) {
        if (is_tiled(task, i)) entries += task.out_size[i];
    }
    return entries * task.scalar_bytes;
}

// Samples of a tile, full packs.
int64_t samples_of(int64_t bytes) { return std::min(kMostSamples, kMostBytes / bytes / 16 * 16); }

// Lets `part` begin at another sample of what is read and written in place.
void move_to(Task& part, const Task& task, int64_t first) {
    const auto bytes = [&](int64_t stride) { return distance(stride, first) * task.scalar_bytes; };
    for (int i = 0; i < task.inputs; ++i) {
        if (task.in[i] != nullptr) part.in[i] = static_cast<const char*>(task.in[i]) + bytes(task.in_stride[i]);
    }
    for (int i = 0; i < task.outputs; ++i) {
        if (!is_tiled(task, i)) part.out[i] = static_cast<char*>(task.out[i]) + bytes(task.out_stride[i]);
    }
}

void copy_out(const Task& task, int output, const char* tile, int64_t pitch, int64_t first, int64_t samples) {
    const int64_t item = task.scalar_bytes, to_pitch = pitch_of(task.out_stride[output]);
    char* to = static_cast<char*>(task.out[output]) + first * item;
    for (int64_t k = 0; k < task.out_size[output]; ++k) {
        std::memcpy(to + k * to_pitch * item, tile + k * pitch * item, samples * item);
    }
}

}  // namespace

bool wants_tiles(const Task& task, int64_t lanes) {
    const int64_t bytes = sample_bytes(task);
    return bytes >= kFewEntries * task.scalar_bytes && samples_of(bytes) >= 2 * lanes;
}

void run_tiles(const void* context, int64_t begin, int64_t end) {
    const Task& task = *static_cast<const Task*>(context);
    const int64_t item = task.scalar_bytes, bytes = sample_bytes(task), most = samples_of(bytes);
    const int64_t pitch = most + kLine / item;  // no power of two
    char* next = scratch(bytes * pitch);
    if (next == nullptr) return Task::body(context, begin, end);
    Task part = task;
    for (int i = 0; i < task.outputs; ++i) {
        if (!is_tiled(task, i)) continue;
        part.out[i] = next;
        part.out_stride[i] = batch_last(pitch);
        next += task.out_size[i] * pitch * item;
    }
    for (int64_t first = begin; first < end; first += most) {
        const int64_t samples = std::min(most, end - first);
        move_to(part, task, first);
        part.run(part.in, part.in_stride, part.out, part.out_stride, 0, samples);
        for (int i = 0; i < task.outputs; ++i) {
            if (is_tiled(task, i)) copy_out(task, i, static_cast<const char*>(part.out[i]), pitch, first, samples);
        }
    }
}

}  // namespace grid
