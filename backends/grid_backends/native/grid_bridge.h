/* How compiled front-ends call the functions of open units: by a key, with plain pointers, on any thread, without Python. */
#ifndef GRID_BRIDGE_H
#define GRID_BRIDGE_H

#include <stdint.h>

#define GRID_BRIDGE_ABI 1u

#ifdef __cplusplus
extern "C" {
#endif

/* Contiguous memory: one row per sample, or a single row that all samples share. */
typedef struct grid_buffer {
    void* data;
    int64_t scalars; /* in all rows */
} grid_buffer;

typedef struct grid_bridge {
    uint32_t abi; /* GRID_BRIDGE_ABI */

    /* Calls the function that was published under a key, with the inputs and outputs that it was published for. On a GPU
     * the work is enqueued on `stream`. Returns null, or what went wrong, until the next call on this thread. */
    const char* (*call)(const char* key, int64_t length, const grid_buffer* in, int32_t num_in, const grid_buffer* out,
                        int32_t num_out, int32_t threads, void* stream);
} grid_bridge;

#ifdef __cplusplus
}
#endif
#endif
