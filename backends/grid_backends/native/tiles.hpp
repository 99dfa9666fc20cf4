// Results with the batch last, by way of tiles. A pack of samples has a few adjacent scalars for each of thousands of
// places that are far apart: every store misses the caches and the address tables, and at distances of a power of two they
// displace each other. Tiles that stay in the caches are written instead, and copied in runs.
#pragma once

#include <cstdint>

#include "execute.hpp"

namespace grid {

// Whether results are better written by way of tiles; `lanes` counts the samples of a pack.
bool wants_tiles(const Task& task, int64_t lanes);

// As Task::body.
void run_tiles(const void* context, int64_t begin, int64_t end);

}  // namespace grid
