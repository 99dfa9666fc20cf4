// On a GPU: a thread for each problem.
#include "horizon.hpp"

using horizon::T;

__global__ void evaluate_all(int problems, int steps, const T* task, const T* u, T* x, T* cost, T* gradient) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= problems) return;
    horizon::evaluate(horizon::Task<T>(task), steps, u + p * steps * grid::dims::nu, x + p * (steps + 1) * grid::dims::nx,
                      cost + p, gradient + p * steps * grid::dims::nu);
}

extern "C" int horizon_task_size() { return horizon::TASK; }

// The same as on the CPU, from and to the memory of the host; returns an error of the CUDA runtime.
extern "C" int horizon_cost(int problems, int steps, const T* task, const T* u, T* x, T* cost, T* gradient) {
    const size_t controls = size_t(problems) * steps * grid::dims::nu, states = size_t(problems) * (steps + 1) * grid::dims::nx;
    const size_t sizes[] = {horizon::TASK, controls, states, size_t(problems), controls};
    const T* given[] = {task, u, x, nullptr, nullptr};
    T* device[5] = {};
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < 5 && !error; ++i) {
        error = cudaMalloc(&device[i], sizes[i] * sizeof(T));
        if (!error && given[i]) error = cudaMemcpy(device[i], given[i], sizes[i] * sizeof(T), cudaMemcpyHostToDevice);
    }
    if (!error) {
        evaluate_all<<<(problems + 31) / 32, 32>>>(problems, steps, device[0], device[1], device[2], device[3], device[4]);
        error = cudaGetLastError();
    }
    T* taken[] = {nullptr, nullptr, x, cost, gradient};
    for (int i = 0; i < 5 && !error; ++i)
        if (taken[i]) error = cudaMemcpy(taken[i], device[i], sizes[i] * sizeof(T), cudaMemcpyDeviceToHost);
    for (T* memory : device) cudaFree(memory);
    return error;
}
