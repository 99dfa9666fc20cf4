// A compiled unit, loaded from its shared object.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "grid_unit.h"

namespace grid {

// A unit cannot be loaded or does not match its declaration. Becomes grid_backends.errors.UnitError.
struct UnitError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Unit {
   public:
    // Opens the shared object and checks its ABI; a `scalar_bytes` other than 0 must be the unit's.
    Unit(const std::string& path, unsigned scalar_bytes);
    ~Unit();
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;

    const grid_unit& table() const { return *table_; }
    const std::string& path() const { return path_; }

   private:
    void check(unsigned scalar_bytes) const;

    std::string path_;
    void* library_ = nullptr;
    const grid_unit* table_ = nullptr;
};

}  // namespace grid
