#include "cuda_host.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "gil.hpp"
#include "pool.hpp"
#include "strides.hpp"

namespace grid::cuda {

namespace {

constexpr int64_t kAtOnce = 512 << 10;          // bytes: copying less takes no longer than another launch
constexpr int64_t kMostChunk = 2 << 20;         // what stays in the caches
constexpr size_t kPinnedResult = 16 << 10;      // smaller results are copied, larger ones are given away where they are
constexpr int64_t kCopyAlone = 64 << 10;        // bytes that one thread copies before others could help
constexpr int64_t kCopyBrief = 2 << 20;         // not worth waking threads for
constexpr size_t kAlignment = 128;

// Two streams of a device, for one call at a time.
class Streams {
   public:
    explicit Streams(Device& device) : device_(device) {
        const std::lock_guard lock(mutex_);
        for (Stream& stream : streams_) stream = idle(device);
    }
    ~Streams() {
        for (Stream stream : streams_) Driver::get().stream_wait(stream);  // nothing is on them unless the call failed
        const std::lock_guard lock(mutex_);
        for (Stream stream : streams_) idle_[device_.index].push_back(stream);
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    Stream operator[](int i) const { return streams_[i]; }

   private:
    static Stream idle(const Device& device) {
        auto& streams = idle_[device.index];
        Stream stream = nullptr;
        if (streams.empty()) {
            check(Driver::get().stream_create(&stream, kNonBlocking), "creating a stream");
        } else {
            stream = streams.back();
            streams.pop_back();
        }
        return stream;
    }

    static inline std::mutex mutex_;
    static inline auto& idle_ = *new std::map<int, std::vector<Stream>>;

    Device& device_;
    Stream streams_[2];
};

struct Rows {
    char* to;
    int64_t to_stride;
    const char* from;
    int64_t from_stride;
    int64_t row;

    static void copy(const void* context, int64_t begin, int64_t end) {
        const Rows& rows = *static_cast<const Rows*>(context);
        if (rows.to_stride == rows.row && rows.from_stride == rows.row) {
            std::memcpy(rows.to + begin * rows.row, rows.from + begin * rows.row, (end - begin) * rows.row);
            return;
        }
        for (int64_t i = begin; i < end; ++i) {
            std::memcpy(rows.to + i * rows.to_stride, rows.from + i * rows.from_stride, rows.row);
        }
    }
};

void copy_rows(const Rows& rows, int64_t count, int threads) {
    const int64_t bytes = count * rows.row;
    const int64_t useful = std::min<int64_t>(threads, bytes / kCopyAlone);
    if (useful <= 1) {
        Rows::copy(&rows, 0, count);
        return;
    }
    Loop loop(Rows::copy, &rows, count, (count + useful - 1) / useful, static_cast<int>(useful));
    Pool::get().run(loop, bytes < kCopyBrief);
}

}  // namespace

HostCall::HostCall(const Launcher& launcher, const Declaration& declared, Binding& call, int threads)
    : launcher_(launcher), declared_(declared), call_(call), device_(launcher.unit().device()), threads_(threads) {}

bool HostCall::allocate() {
    PinnedPool& pool = PinnedPool::get();
    for (size_t i = 0; i < declared_.outputs.size(); ++i) {
        const size_t bytes = call_.batch * declared_.outputs[i].size * declared_.scalar_bytes;
        const auto index = static_cast<int>(i);
        if (bytes < kPinnedResult || !pool.affords(bytes)) {
            if (!call_.allocate(index, nullptr, nullptr)) return false;
            continue;
        }
        auto memory = std::make_unique<Pinned>(pool.take(device_, bytes));
        char* const data = (*memory)->data;
        PyObject* owner = py::capsule(memory.get(), [](void* kept) { delete static_cast<Pinned*>(kept); }).release().ptr();
        memory.release();
        if (!call_.allocate(index, data, owner)) return false;
    }
    return true;
}

void HostCall::run() {
    if (call_.batch == 0) return;
    const GilReleased gil;
    const Scope scope(device_);
    operands_.given = launcher_.needed(call_.given);
    bind_inputs();
    bind_outputs();
    lay_out();
    Slot slots[2];
    const Streams streams(device_);  // waits at its end, while the slots still have their memory
    for (int i = 0; i < 2; ++i) slots[i].stream = streams[i];
    const auto arena = device_.place(kLegacyStream).arena;
    int turn = 0;
    for (int64_t first = 0; first < call_.batch; first += chunk_rows_, turn ^= 1) {
        Slot& slot = slots[turn];
        finish(slot);
        slot.first = first;
        slot.rows = std::min(chunk_rows_, call_.batch - first);
        fill(slot);
        launch(slot, *arena);
    }
    finish(slots[turn]);
    finish(slots[turn ^ 1]);
}

void HostCall::bind_inputs() {
    const PinnedPool& pool = PinnedPool::get();
    const int64_t item = declared_.scalar_bytes;
    for (int i = 0; i < static_cast<int>(declared_.inputs.size()); ++i) {
        if ((operands_.given >> i & 1) == 0) continue;
        const int64_t size = declared_.inputs[i].size, stride = call_.in_stride[i];
        if (stride == 0 && operands_.put_small(i, call_.in[i], size * item, launcher_.unit())) continue;
        operands_.in[i] = call_.in[i];
        operands_.in_stride[i] = stride;
        if (pool.holds(call_.in[i], extent(stride, size, call_.batch) * item)) continue;
        inputs_.push_back({const_cast<char*>(call_.in[i]), stride, size, i, 0});
    }
}

void HostCall::bind_outputs() {
    const PinnedPool& pool = PinnedPool::get();
    for (int i = 0; i < static_cast<int>(declared_.outputs.size()); ++i) {
        const int64_t size = declared_.outputs[i].size;
        const int64_t stride = call_.batched ? call_.out_stride[i] : size;
        operands_.out[i] = call_.out[i];
        operands_.out_stride[i] = stride;
        if (pool.holds(call_.out[i], extent(stride, size, call_.batch) * declared_.scalar_bytes)) continue;
        outputs_.push_back({call_.out[i], stride, size, i, 0});
    }
}

int64_t HostCall::chunk_stride(const Copy& copy) const {
    if (copy.stride == 0) return 0;
    return is_batch_last(copy.stride) ? batch_last(chunk_rows_) : copy.size;
}

// Divides the batch into chunks, and a chunk among the arrays that are copied.
void HostCall::lay_out() {
    int64_t sample = 0;
    for (const auto* copies : {&inputs_, &outputs_}) {
        for (const Copy& copy : *copies) sample += copy.size * declared_.scalar_bytes;
    }
    const int64_t bytes = call_.batch * sample;
    const int64_t chunks = bytes <= kAtOnce ? 1 : std::max<int64_t>(2, (bytes + kMostChunk - 1) / kMostChunk);
    chunk_rows_ = (call_.batch + chunks * kLanes - 1) / (chunks * kLanes) * kLanes;
    for (auto* copies : {&inputs_, &outputs_}) {
        for (Copy& copy : *copies) {
            copy.offset = chunk_bytes_;
            const size_t bytes = copy.size * (copy.stride == 0 ? 1 : chunk_rows_) * declared_.scalar_bytes;
            chunk_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
        }
    }
    for (const Copy& copy : inputs_) operands_.in_stride[copy.index] = chunk_stride(copy);
    for (const Copy& copy : outputs_) operands_.out_stride[copy.index] = chunk_stride(copy);
}

void HostCall::fill(Slot& slot) {
    if (chunk_bytes_ > 0 && !slot.memory) slot.memory = PinnedPool::get().take(device_, chunk_bytes_);
    for (const Copy& copy : inputs_) move(copy, slot, false);
}

void HostCall::move(const Copy& copy, const Slot& slot, bool to_host) const {
    const int64_t item = declared_.scalar_bytes;
    const bool across = is_batch_last(copy.stride);  // rows are samples, or else one scalar of all samples
    const int64_t row = (across ? slot.rows : copy.size) * item;
    const int64_t rows = across ? copy.size : copy.stride == 0 ? 1 : slot.rows;
    const int64_t host_row = (across ? pitch_of(copy.stride) : copy.stride) * item;
    const int64_t chunk_row = across ? chunk_rows_ * item : row;
    char* const chunk = slot.memory->data + copy.offset;
    char* const host = copy.host + distance(copy.stride, slot.first) * item;
    copy_rows(to_host ? Rows{host, host_row, chunk, chunk_row, row} : Rows{chunk, chunk_row, host, host_row, row}, rows,
              threads_);
}

void HostCall::launch(Slot& slot, Arena& arena) {
    Operands operands = operands_;
    operands.batch = slot.rows;
    const auto at = [&](const void* base, int64_t stride) {
        return static_cast<const char*>(base) + distance(stride, slot.first) * declared_.scalar_bytes;
    };
    for (int i = 0; i < static_cast<int>(declared_.inputs.size()); ++i) {
        const bool direct = (operands.given >> i & 1) != 0 && operands.in_stride[i] >= 0;
        if (direct) operands.in[i] = at(operands_.in[i], operands_.in_stride[i]);
    }
    for (size_t i = 0; i < declared_.outputs.size(); ++i) {
        operands.out[i] = const_cast<char*>(at(operands_.out[i], operands_.out_stride[i]));
    }
    for (const Copy& copy : inputs_) operands.in[copy.index] = slot.memory->data + copy.offset;
    for (const Copy& copy : outputs_) operands.out[copy.index] = slot.memory->data + copy.offset;
    launcher_.launch(operands, slot.stream, arena);
}

void HostCall::finish(Slot& slot) {
    if (slot.rows == 0) return;
    check(Driver::get().stream_wait(slot.stream), "waiting for algorithm '" + launcher_.unit().algorithm + "'");
    for (const Copy& copy : outputs_) move(copy, slot, true);
    slot.rows = 0;
}

}  // namespace grid::cuda
