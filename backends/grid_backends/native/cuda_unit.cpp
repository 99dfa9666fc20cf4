#include "cuda_unit.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "gil.hpp"
#include "unit.hpp"

namespace grid::cuda {

namespace {

// The beginning of a fat binary.
struct Header {
    uint32_t magic;
    uint16_t version;
    uint16_t own_bytes;
    uint64_t bytes;  // that follow
};
constexpr uint32_t kMagic = 0xBA55ED50;

constexpr int kAbi = 5;
constexpr size_t kScratchShare = 16;  // of the device's memory, one part is for the scratch of a launch

Sizes sizes(const py::handle& arguments) {
    Sizes result;
    for (const auto& argument : arguments) {
        result.emplace_back(argument[py::int_(0)].cast<std::string>(), argument[py::int_(1)].cast<int64_t>());
    }
    return result;
}

Shape shape(const py::handle& entry) {
    Shape result;
    result.name = entry["name"].cast<std::string>();
    result.label = entry["shape"].cast<std::string>();
    result.warps = entry["warps"].cast<int>();
    result.blocks = entry["blocks"].cast<int>();
    result.file = entry["file"].cast<int>();
    result.instructions = entry["instructions"].cast<int>();
    result.rows = entry["rows"].cast<int>();
    result.pooled = entry["pooled"].cast<bool>();
    result.stages = entry["stages"].cast<int>();
    result.shared_bytes = entry["shared_bytes"].cast<size_t>();
    result.scratch = entry["scratch"].cast<int64_t>();
    result.inputs = sizes(entry["inputs"]);
    result.outputs = sizes(entry["outputs"]);
    return result;
}

std::string listed(const std::vector<int>& numbers) {
    std::string result;
    for (const int number : numbers) result += (result.empty() ? "" : ", ") + std::to_string(number);
    return result;
}

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

CudaUnit::CudaUnit(std::string path_, const std::string& description, int device, int scalar_bytes_)
    : path(std::move(path_)), device_index(device) {
    try {
        read(py::module_::import("json").attr("loads")(description).cast<py::dict>());
    } catch (const py::error_already_set& error) {
        fail(std::string("its description cannot be read (") + error.what() + ")");
    } catch (const py::cast_error& error) {
        fail(std::string("its description cannot be read (") + error.what() + ")");
    }
    if (shapes.empty()) fail("expected at least one kernel, found none");
    if (scalar_bytes_ != 0 && scalar_bytes_ != scalar_bytes) {
        fail("expected float" + std::to_string(8 * scalar_bytes_) + ", found float" + std::to_string(8 * scalar_bytes));
    }
}

CudaUnit::CudaUnit(const CudaUnit& other, int device)
    : path(other.path), device_index(device), algorithm(other.algorithm), scalar_bytes(other.scalar_bytes),
      small_bytes(other.small_bytes), machine(other.machine), portable(other.portable), shapes(other.shapes) {}

void CudaUnit::read(const py::dict& description) {
    const int abi = description["abi"].cast<int>();
    if (abi != kAbi) fail("expected ABI " + std::to_string(kAbi) + ", found " + std::to_string(abi));
    algorithm = description["algorithm"].cast<std::string>();
    machine = description["machine"].cast<std::vector<int>>();
    portable = description["portable"].cast<std::vector<int>>();
    const auto dtype = description["dtype"].cast<std::string>();
    scalar_bytes = dtype == "float32" ? 4 : dtype == "float64" ? 8 : 0;
    if (scalar_bytes == 0) fail("expected dtype float32 or float64, found " + dtype);
    small_bytes = description["small_bytes"].cast<size_t>();
    for (const auto& entry : description["kernels"]) shapes.push_back(shape(entry));
}

CudaUnit::~CudaUnit() {
    if (modules_.empty() || kept_) return;
    try {
        const Scope scope(*device_);
        const Relaxed relaxed;  // this thread may be capturing a graph of other units
        for (Module module : modules_) Driver::get().module_unload(module);
    } catch (const CudaError&) {
        // The context is gone, and the module with it.
    }
}

void CudaUnit::fail(const std::string& what) const {
    throw UnitError("unit '" + path + "': " + what +
                    "; rebuild the robot (force_rebuild=True) with the installed version");
}

void CudaUnit::load() {
    if (loaded()) return;
    const GilReleased gil;
    const std::lock_guard lock(mutex_);
    if (loaded()) return;
    device_ = &Device::get(device_index);
    check_arch();
    const std::string images = contents(path);
    if (images.empty()) fail("the file is missing or empty");
    const Scope scope(*device_);
    const Relaxed relaxed;
    load_modules(images);
    for (Shape& shape : shapes) find_kernel(shape);
    loaded_.store(true, std::memory_order_release);
}

// Machine code runs on devices of the same major number, from its own minor number on; PTX on all later ones.
void CudaUnit::check_arch() const {
    const int device = device_->compute;
    const auto runs = [device](int own) { return device / 10 == own / 10 && device >= own; };
    const auto compiles = [device](int own) { return device >= own; };
    const bool fits = std::any_of(machine.begin(), machine.end(), runs) ||
                      std::any_of(portable.begin(), portable.end(), compiles);
    if (!fits) fail_arch();
}

// The file holds fat binaries one behind the other; the header of each says how long it is.
void CudaUnit::load_modules(const std::string& images) {
    size_t at = 0;
    size_t count = 0;
    while (at < images.size()) {
        Header header;
        if (images.size() - at < sizeof(header)) fail("the file is cut off");
        std::memcpy(&header, images.data() + at, sizeof(header));
        const uint64_t bytes = header.own_bytes + header.bytes;
        if (header.magic != kMagic || bytes > images.size() - at) fail("the file is damaged");
        if (++count > modules_.size()) load_module(images.data() + at);  // those before were loaded by an earlier attempt
        at += bytes;
    }
    const auto known = [count](const Shape& shape) { return shape.file >= 0 && static_cast<size_t>(shape.file) < count; };
    if (!std::all_of(shapes.begin(), shapes.end(), known)) fail("the file lacks kernels of its description");
}

void CudaUnit::load_module(const char* image) {
    Module module = nullptr;
    const Result result = Driver::get().module_load(&module, image);
    if (result == kNoBinary) fail_arch();
    if (result == kNewerPtx || result == kNoPtxCompiler || result == kInvalidPtx) {
        throw UnitError("unit '" + path + "': the driver cannot compile its PTX for " + device_->name + ": " +
                        describe(result) + "; update the NVIDIA driver, or " + advice());
    }
    check(result, "loading unit '" + path + "'");
    modules_.push_back(module);
}

void CudaUnit::fail_arch() const {
    throw UnitError("unit '" + path + "' has machine code for compute capability " + listed(machine) +
                    (portable.empty() ? " and no PTX" : " and PTX from " + listed(portable) + " on") +
                    ", and device 'cuda:" + std::to_string(device_->index) + "' (" + device_->name + ") is " +
                    std::to_string(device_->compute) + "; " + advice());
}

std::string CudaUnit::advice() const {
    const std::string own = std::to_string(device_->compute);
    return "build the robot with cuda_arch=" + own + ", or with " + own + " in cuda_archs or GRID_RBD_CUDA_ARCHS";
}

ClusterLaunch::ClusterLaunch(const Shape& shape, unsigned clusters, Stream stream) {
    size.blocks[0] = static_cast<unsigned>(shape.blocks);
    config.grid[0] = clusters * size.blocks[0];
    config.block[0] = static_cast<unsigned>(32 * shape.warps);
    config.shared = static_cast<unsigned>(shape.shared_bytes);
    config.stream = stream;
    config.attributes = &size;
}

void CudaUnit::find_kernel(Shape& shape) {
    const Driver& driver = Driver::get();
    const std::string what = "kernel '" + shape.name + "' of unit '" + path + "'";
    if (shape.shared_bytes > static_cast<size_t>(device_->shared_opt_in)) {
        fail_resource(shape, std::to_string(shape.shared_bytes) + " bytes of shared memory per block, and " +
                                 device_->name + " has " + std::to_string(device_->shared_opt_in));
    }
    check(driver.module_kernel(&shape.kernel, modules_[shape.file], shape.name.c_str()), what);
    check(driver.kernel_set_attribute(shape.kernel, kDynamicShared, static_cast<int>(shape.shared_bytes)), what);
    check(driver.kernel_attribute(&shape.local_bytes, kLocalBytes, shape.kernel), what);
    check(driver.kernel_attribute(&shape.registers, kRegisters, shape.kernel), what);
    check(driver.kernel_attribute(&shape.max_threads, kMaxThreads, shape.kernel), what);
    int blocks = 0;
    check(driver.kernel_occupancy(&blocks, shape.kernel, 32 * shape.warps, shape.shared_bytes), what);
    if (blocks == 0 || shape.max_threads < 32 * shape.warps) {
        fail_resource(shape, std::to_string(shape.registers) + " registers for each of " +
                                 std::to_string(32 * shape.warps) + " threads, and " + device_->name + " runs " +
                                 std::to_string(shape.max_threads) + " such threads per block");
    }
    shape.resident = std::max(1, blocks * device_->multiprocessors / shape.blocks);
    if (shape.pooled && shape.blocks > 1) {
        check(driver.kernel_set_attribute(shape.kernel, kLargeClusters, 1), what);
        const ClusterLaunch launch(shape, 1, nullptr);
        check(driver.cluster_occupancy(&shape.resident, shape.kernel, &launch.config), what);
    }
    if (shape.scratch == 0) return;
    const size_t most = device_->memory().second / kScratchShare / (shape.scratch * scalar_bytes);
    shape.resident = static_cast<int>(std::min<size_t>(std::max<size_t>(most, 1), shape.resident));
}

void CudaUnit::fail_resource(const Shape& shape, const std::string& shortage) const {
    throw UnitError("unit '" + path + "': kernel '" + shape.name + "' takes " + shortage + "; " + advice());
}

}  // namespace grid::cuda
