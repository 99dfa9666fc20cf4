#include "execute.hpp"

#include <algorithm>

#include "gil.hpp"
#include "pool.hpp"
#include "tiles.hpp"

namespace grid {

namespace {

// Arithmetic operations: how much of it makes each step worth its price (a core does 20 to 100 in a nanosecond).
constexpr int64_t kReleaseGil = 20'000;   // below it, letting other Python threads run costs more than the work
constexpr int64_t kPerThread = 150'000;   // each thread must find this much
constexpr int64_t kBrief = 1'500'000;     // not worth waking threads for
constexpr int64_t kPerChunk = 50'000;     // handing out less is all overhead
constexpr int64_t kChunksPerThread = 8;   // so that threads of unequal speed end together

int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

void execute(const Task& task, int64_t batch, int64_t operations, int64_t lanes, int threads) {
    const int64_t work = operations * round_up(batch, lanes);
    GilReleased gil(work >= kReleaseGil);
    const int64_t useful = std::min<int64_t>(threads, work / kPerThread);
    const Loop::Body body = wants_tiles(task, lanes) ? run_tiles : Task::body;
    if (useful <= 1) {
        body(&task, 0, batch);
        return;
    }
    const int64_t even = (batch + useful * kChunksPerThread - 1) / (useful * kChunksPerThread);
    const int64_t least = (kPerChunk + operations - 1) / operations;
    Loop loop(body, &task, batch, round_up(std::max(even, least), lanes), static_cast<int>(useful));
    Pool::get().run(loop, work < kBrief);
}

}  // namespace grid
