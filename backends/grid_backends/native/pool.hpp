// A persistent pool of worker threads that shares out ranges of samples.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace grid {

// One parallel loop: body(context, begin, end) over disjoint pieces of [0, total). It must not throw.
//
// Each thread begins with a share of its own and then helps with those of others. So when a program calls again and again
// on the same arrays, most of what a processor has in its caches is what it gets.
class Loop {
   public:
    using Body = void (*)(const void* context, int64_t begin, int64_t end);

    // For at most `threads` threads, the caller included, with `chunk` samples handed out at a time.
    Loop(Body body, const void* context, int64_t total, int64_t chunk, int threads);

    // Does pieces until none is left, those of share `own` first.
    void work(int own);

    // Does all of it in one piece, for a loop that no other thread was told of.
    void work_alone();

   private:
    friend class Pool;

    struct alignas(64) Share {
        std::atomic<int64_t> next;
        int64_t end;
    };
    static constexpr int kMostShares = 16;  // more threads share shares

    bool exhausted() const;

    const Body body_;
    const void* const context_;
    const int64_t chunk_;
    const int threads_;
    const int shares_;
    Share share_[kMostShares];                 // the first `shares_` are used
    alignas(64) std::atomic<int> working_{0};  // workers inside; changed under the pool's mutex only
    int seats_;                                // workers that may still join; guarded by the pool's mutex
};

class Pool {
   public:
    // The pool of this process, made at its first use. A forked child gets a fresh one.
    static Pool& get();

    // Registers the fork handler; call once, when the module is imported.
    static void watch_forks();

    // Runs the loop, in which the calling thread takes part, and returns when all of it is done.
    // Any number of threads may call at once. A `brief` loop wakes sleeping workers only when calls come in a burst, so
    // that the next call finds them awake: waking costs microseconds.
    void run(Loop& loop, bool brief);

    int workers() const { return workers_.load(std::memory_order_relaxed); }

   private:
    static void* enter(void* pool);
    void serve();
    void grow(int workers);
    bool in_burst() const;
    void open(Loop& loop);
    void close(Loop& loop);
    Loop* join(int& share);
    void leave(Loop& loop);
    void await_change(uint64_t seen);

    std::mutex mutex_;
    std::condition_variable opened_;  // a loop was opened
    std::condition_variable left_;    // the last worker left a loop
    std::vector<Loop*> loops_;
    std::atomic<uint64_t> epoch_{0};  // counts opened loops: what idle workers watch
    std::atomic<int> workers_{0};
    std::atomic<int> sleeping_{0};  // changed under the mutex only
    std::atomic<int64_t> last_end_{0};
};

}  // namespace grid
