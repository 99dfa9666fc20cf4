#include "pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace grid {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxWorkers = 1023;
constexpr size_t kStackBytes = size_t{16} << 20;  // units keep their workspace on the stack
constexpr auto kSpin = std::chrono::microseconds(100);

std::atomic<Pool*> current{nullptr};  // never deleted: workers may outlive every static object

// The child has none of the workers, and the old pool's mutex may be held by a thread that it does not have either.
void forget_pool() { current.store(nullptr, std::memory_order_release); }

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Waits for `ready` without sleeping, but not for long, and lets a thread that waits for this processor have it.
// Returns whether `ready` became true.
template <class Ready>
bool spin_until(Ready ready) {
    const auto deadline = Clock::now() + kSpin;
    do {
        for (int i = 0; i < 32; ++i) {
            if (ready()) return true;
            relax();
        }
        sched_yield();
    } while (Clock::now() < deadline);
    return ready();
}

}  // namespace

Loop::Loop(Body body, const void* context, int64_t total, int64_t chunk, int threads)
    : body_(body),
      context_(context),
      chunk_(chunk),
      threads_(threads),
      shares_(std::min(threads, kMostShares)),
      seats_(threads - 1) {
    const int64_t chunks = (total + chunk - 1) / chunk;
    for (int i = 0; i < shares_; ++i) {
        share_[i].next.store(chunks * i / shares_ * chunk, std::memory_order_relaxed);
        share_[i].end = std::min(chunks * (i + 1) / shares_ * chunk, total);
    }
}

void Loop::work(int own) {
    for (int i = 0; i < shares_; ++i) {
        Share& share = share_[(own + i) % shares_];
        for (;;) {
            const int64_t begin = share.next.fetch_add(chunk_, std::memory_order_relaxed);
            if (begin >= share.end) break;
            body_(context_, begin, std::min(begin + chunk_, share.end));
        }
    }
}

void Loop::work_alone() { body_(context_, 0, share_[shares_ - 1].end); }

bool Loop::exhausted() const {
    return std::all_of(share_, share_ + shares_, [](const Share& share) {
        return share.next.load(std::memory_order_relaxed) >= share.end;
    });
}

Pool& Pool::get() {
    Pool* pool = current.load(std::memory_order_acquire);
    if (pool != nullptr) return *pool;
    Pool* fresh = new Pool;
    if (current.compare_exchange_strong(pool, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;
    return *pool;
}

void Pool::watch_forks() { pthread_atfork(nullptr, nullptr, forget_pool); }

void Pool::run(Loop& loop, bool brief) {
    if (brief && sleeping_ == workers_ && !in_burst()) {
        loop.work_alone();
    } else {
        open(loop);
        loop.work(0);
        close(loop);
    }
    last_end_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

// Whether the last call ended so short ago that a worker that took part in it would still be awake.
bool Pool::in_burst() const {
    const Clock::duration since = Clock::now().time_since_epoch() - Clock::duration(last_end_.load());
    return since < kSpin;
}

void* Pool::enter(void* pool) {
    sigset_t all;  // signals belong to the application's own threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    static_cast<Pool*>(pool)->serve();
    return nullptr;
}

void Pool::serve() {
    for (;;) {
        const uint64_t seen = epoch_.load(std::memory_order_acquire);
        int share;
        if (Loop* loop = join(share)) {
            loop->work(share);
            leave(*loop);
        } else {
            await_change(seen);
        }
    }
}

// Starts missing workers. When the system refuses one, the loop runs on those that exist and on the caller.
void Pool::grow(int workers) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return;
    pthread_attr_setstacksize(&attributes, kStackBytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    while (workers_ < std::min(workers, kMaxWorkers) && pthread_create(&thread, &attributes, enter, this) == 0) {
        ++workers_;
    }
    pthread_attr_destroy(&attributes);
}

void Pool::open(Loop& loop) {
    int wake;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (workers_ < loop.seats_) grow(loop.seats_);
        loops_.push_back(&loop);
        epoch_.fetch_add(1, std::memory_order_release);
        wake = std::min(loop.seats_, sleeping_.load());
    }
    for (; wake > 0; --wake) opened_.notify_one();
}

void Pool::close(Loop& loop) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        loops_.erase(std::find(loops_.begin(), loops_.end(), &loop));
    }
    const auto idle = [&loop] { return loop.working_.load(std::memory_order_acquire) == 0; };
    if (spin_until(idle)) return;
    std::unique_lock<std::mutex> lock(mutex_);
    left_.wait(lock, idle);
}

Loop* Pool::join(int& share) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (Loop* loop : loops_) {
        if (loop->seats_ > 0 && !loop->exhausted()) {
            share = loop->threads_ - loop->seats_--;
            loop->working_.fetch_add(1, std::memory_order_relaxed);
            return loop;
        }
    }
    return nullptr;
}

// The loop lives on its caller's stack and may be gone as soon as the count is zero.
void Pool::leave(Loop& loop) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (loop.working_.fetch_sub(1, std::memory_order_release) == 1) left_.notify_all();
}

void Pool::await_change(uint64_t seen) {
    const auto changed = [this, seen] { return epoch_.load(std::memory_order_acquire) != seen; };
    if (spin_until(changed)) return;
    std::unique_lock<std::mutex> lock(mutex_);
    ++sleeping_;
    opened_.wait(lock, changed);
    --sleeping_;
}

}  // namespace grid
