// What emitted code needs to compute with packs of samples: the type and the functions of namespace gm. Include it (or
// scalar_math.hpp) before the emitted functions: their calls gm::f(x) are looked up where the template is defined.
#ifndef GRID_PACK_HPP
#define GRID_PACK_HPP

#include "pack_math.hpp"
#include "pack_type.hpp"
#include "scalar_math.hpp"

#endif
