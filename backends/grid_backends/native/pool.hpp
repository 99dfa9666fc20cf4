// A persistent pool of worker threads that shares out ranges of samples.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace grid {

// One parallel loop: body(context, begin, end) over disjoint pieces of [0, total). It must not throw.
struct Loop {
    using Body = void (*)(const void* context, int64_t begin, int64_t end);

    Body body;
    const void* context;
    int64_t total;
    int64_t chunk;  // samples handed out at a time

    bool exhausted() const { return next.load(std::memory_order_relaxed) >= total; }
    void work();

    alignas(64) std::atomic<int64_t> next{0};
    alignas(64) std::atomic<int> working{0};  // workers inside; changed under the pool's mutex only
    int seats = 0;                            // workers that may still join; guarded by the pool's mutex
};

class Pool {
   public:
    // The pool of this process, made at its first use. A forked child gets a fresh one.
    static Pool& get();

    // Registers the fork handler; call once, when the module is imported.
    static void watch_forks();

    // Runs the loop with at most `threads` threads, the calling one included, and returns when all of it is done.
    // Any number of threads may call at once. A `brief` loop wakes sleeping workers only when calls come in a burst:
    // waking costs microseconds, workers that just finished other work are still awake.
    void run(Loop& loop, int threads, bool brief);

    int workers() const { return workers_.load(std::memory_order_relaxed); }

   private:
    static void* enter(void* pool);
    void serve();
    void grow(int workers);
    bool in_burst();
    void open(Loop& loop, int seats);
    void close(Loop& loop);
    Loop* join();
    void leave(Loop& loop);
    void await_change(uint64_t seen);

    std::mutex mutex_;
    std::condition_variable opened_;  // a loop was opened
    std::condition_variable left_;    // the last worker left a loop
    std::vector<Loop*> loops_;
    std::atomic<uint64_t> epoch_{0};  // counts opened loops: what idle workers watch
    std::atomic<int> workers_{0};
    std::atomic<int> sleeping_{0};  // changed under the mutex only
    std::atomic<int64_t> last_run_{0};
};

}  // namespace grid
