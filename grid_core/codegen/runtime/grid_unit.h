/* The C ABI between a compiled unit and whoever loads it. Plain C; nothing here depends on Python or on a framework. */
#ifndef GRID_UNIT_H
#define GRID_UNIT_H

#include <stdint.h>

#define GRID_UNIT_ABI 2u

/* A stride of GRID_BATCH_LAST + pitch: consecutive samples are adjacent, and the scalars of one sample a pitch apart, which
 * is at least the number of samples. */
#define GRID_BATCH_LAST (INT64_C(1) << 62)

#ifdef __cplusplus
extern "C" {
#endif

/* One argument: `size` scalars per sample, contiguous unless its stride says otherwise. */
typedef struct grid_argument {
    const char* name;
    int64_t size;
} grid_argument;

/* Evaluates samples [begin, end). `in[i]` points at sample 0 of input i and consecutive samples are `in_stride[i]` scalars
 * apart; a stride of 0 shares one row among all samples, a null pointer reads as zeros. Outputs likewise, never null. */
typedef void (*grid_run)(const void* const* in, const int64_t* in_stride, void* const* out, const int64_t* out_stride,
                         int64_t begin, int64_t end);

/* A function of a unit. Variants of one algorithm differ in which optional inputs they take. */
typedef struct grid_function {
    const char* name;
    int32_t num_inputs;
    int32_t num_outputs;
    const grid_argument* inputs;
    const grid_argument* outputs;
    int64_t operations; /* arithmetic operations per sample: what the thread pool splits by */
    grid_run run;
} grid_function;

typedef struct grid_unit {
    uint32_t abi;          /* GRID_UNIT_ABI */
    uint32_t scalar_bytes; /* 4 or 8 */
    uint32_t lanes;        /* samples of one SIMD pack; splitting a batch at multiples of it keeps packs full */
    int32_t num_functions;
    const char* algorithm;
    const grid_function* functions;
} grid_unit;

/* The only symbol that a unit exports. */
const grid_unit* grid_unit_table(void);

#ifdef __cplusplus
}
#endif
#endif
