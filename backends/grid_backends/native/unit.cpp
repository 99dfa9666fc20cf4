#include "unit.hpp"

#include <dlfcn.h>

namespace grid {

namespace {

const char* const kRebuild = "; rebuild the robot (force_rebuild=True) with the installed version";

const grid_unit* find_table(void* library, const std::string& path) {
    void* symbol = dlsym(library, "grid_unit_table");
    if (symbol == nullptr) throw UnitError("unit '" + path + "': no symbol grid_unit_table" + kRebuild);
    const grid_unit* table = reinterpret_cast<const grid_unit* (*)()>(symbol)();
    if (table == nullptr) throw UnitError("unit '" + path + "': grid_unit_table returned nothing" + kRebuild);
    return table;
}

std::string scalar_name(unsigned bytes) { return "float" + std::to_string(8 * bytes); }

}  // namespace

Unit::Unit(const std::string& path, unsigned scalar_bytes) : path_(path) {
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) throw UnitError("unit '" + path + "' cannot be opened: " + dlerror() + kRebuild);
    try {
        table_ = find_table(library_, path);
        check(scalar_bytes);
    } catch (...) {
        dlclose(library_);
        throw;
    }
}

Unit::~Unit() { dlclose(library_); }

void Unit::check(unsigned scalar_bytes) const {
    const auto fail = [this](const std::string& what) { throw UnitError("unit '" + path_ + "': " + what + kRebuild); };
    if (table_->abi != GRID_UNIT_ABI) {
        fail("expected ABI " + std::to_string(GRID_UNIT_ABI) + ", found " + std::to_string(table_->abi));
    }
    if (table_->scalar_bytes != sizeof(float) && table_->scalar_bytes != sizeof(double)) {
        fail("expected scalars of 4 or 8 bytes, found " + std::to_string(table_->scalar_bytes));
    }
    if (scalar_bytes != 0 && table_->scalar_bytes != scalar_bytes) {
        fail("expected " + scalar_name(scalar_bytes) + ", found " + scalar_name(table_->scalar_bytes));
    }
    if (table_->lanes == 0) fail("expected at least one lane, found 0");
    if (table_->num_functions < 1) fail("expected at least one function, found none");
}

}  // namespace grid
