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

/* Where a call runs. */
typedef struct grid_place {
    int32_t on_gpu;
    int32_t threads; /* at most, on a CPU */
    void* stream;    /* of a GPU */
} grid_place;

typedef struct grid_bridge {
    uint32_t abi; /* GRID_BRIDGE_ABI */

    /* Calls the function that was published under a key, with the inputs and outputs that it was published for. All of
     * them are in host memory, or in the memory of a GPU, where the work is enqueued on the stream. Returns null, or what
     * went wrong, until the next call on this thread. */
    const char* (*call)(const char* key, int64_t length, const grid_buffer* in, int32_t num_in, const grid_buffer* out,
                        int32_t num_out, const grid_place* place);
} grid_bridge;

#ifdef __cplusplus
}
#endif
#endif
