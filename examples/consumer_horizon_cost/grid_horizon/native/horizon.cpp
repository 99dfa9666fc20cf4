// Problems one after another, split among threads.
#include <thread>
#include <vector>

#include "horizon.hpp"

using horizon::T;

extern "C" int horizon_task_size() { return horizon::Task::SIZE; }

// u[problems][steps][nu], x[problems][steps + 1][nx] with the first states set; returns zero.
extern "C" int horizon_cost(int problems, int steps, const T* task, const T* u, T* x, T* cost, T* gradient) {
    const auto share = [=](int first, int stride) {
        const horizon::Task wanted(task);
        for (int p = first; p < problems; p += stride)
            horizon::evaluate(wanted, steps, u + p * steps * grid::dims::nu, x + p * (steps + 1) * grid::dims::nx, cost + p,
                              gradient + p * steps * grid::dims::nu);
    };
    const int threads = static_cast<int>(std::thread::hardware_concurrency()) + 1;
    std::vector<std::thread> pool;
    for (int first = 1; first < threads; ++first) pool.emplace_back(share, first, threads);
    share(0, threads);
    for (std::thread& thread : pool) thread.join();
    return 0;
}
