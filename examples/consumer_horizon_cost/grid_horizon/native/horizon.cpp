// On a CPU: packs of problems, split among threads.
#define GRID_PACKS

#include "horizon.hpp"

#include <algorithm>
#include <thread>
#include <vector>

using horizon::T;
using V = grid::pack<T>;
constexpr int LANES = grid::lanes<T>;

namespace {

// Moves entries between rows, one for each problem, and packs; the last pack may have fewer problems than lanes.
void gather(const T* rows, int row, int count, int lanes, V* packs) {
    for (int i = 0; i < count; ++i)
        for (int l = 0; l < LANES; ++l) packs[i][l] = rows[std::min(l, lanes - 1) * row + i];
}
void scatter(const V* packs, int row, int count, int lanes, T* rows) {
    for (int l = 0; l < lanes; ++l)
        for (int i = 0; i < count; ++i) rows[l * row + i] = packs[i][l];
}

}  // namespace

extern "C" int horizon_task_size() { return horizon::TASK; }

// u[problems][steps][nu], x[problems][steps + 1][nx] with the first states set; returns zero.
extern "C" int horizon_cost(int problems, int steps, const T* task, const T* u, T* x, T* cost, T* gradient) {
    const int controls = steps * grid::dims::nu, states = (steps + 1) * grid::dims::nx, packs = (problems + LANES - 1) / LANES;
    const auto share = [=](int first, int stride) {
        std::vector<V> wanted(horizon::TASK), own_u(controls), own_x(states), own_gradient(controls);
        gather(task, 0, horizon::TASK, 1, wanted.data());
        for (int pack = first; pack < packs; pack += stride) {
            const int p = pack * LANES, lanes = std::min(LANES, problems - p);
            V own_cost;
            gather(u + p * controls, controls, controls, lanes, own_u.data());
            gather(x + p * states, states, grid::dims::nx, lanes, own_x.data());
            horizon::evaluate(horizon::Task<V>(wanted.data()), steps, own_u.data(), own_x.data(), &own_cost, own_gradient.data());
            scatter(own_x.data(), states, states, lanes, x + p * states);
            scatter(&own_cost, 1, 1, lanes, cost + p);
            scatter(own_gradient.data(), controls, controls, lanes, gradient + p * controls);
        }
    };
    const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    std::vector<std::thread> pool;
    for (int first = 1; first < std::min(threads, packs); ++first) pool.emplace_back(share, first, threads);
    share(0, threads);
    for (std::thread& thread : pool) thread.join();
    return 0;
}
