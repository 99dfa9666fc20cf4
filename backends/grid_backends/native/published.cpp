#include "published.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda_function.hpp"
#include "cuda_launch.hpp"
#include "function.hpp"
#include "grid_bridge.h"

namespace grid {

namespace py = pybind11;

namespace {

struct CallError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A function and which of its declared inputs calls give, in their order. The Python object is kept for ever: compiled
// programs call it as long as they live, and nobody says until when.
class Published {
   public:
    Published(const Declaration& declared, std::vector<int> places) : declared_(declared), places_(std::move(places)) {
        for (const int place : places_) {
            if (place < 0 || place >= static_cast<int>(declared.inputs.size())) declared.fail("no such input");
        }
    }
    virtual ~Published() = default;

    void call(const grid_buffer* in, int num_in, const grid_buffer* out, int num_out, const grid_place& place) const {
        if (on_gpu() != (place.on_gpu != 0)) {
            throw CallError(declared_.subject + ": the robot is on the " + (on_gpu() ? "GPU" : "CPU") + ", and the program runs "
                            "on the other one; run it there, or build the robot with another device=");
        }
        if (num_in != static_cast<int>(places_.size()) || num_out != static_cast<int>(declared_.outputs.size())) {
            throw CallError(declared_.subject + ": called with another number of arrays than it was published for");
        }
        RawCall raw;
        raw.batch = rows(out[0], declared_.outputs[0]);
        for (int i = 0; i < num_out; ++i) {
            const Argument& argument = declared_.outputs[i];
            if (out[i].scalars != raw.batch * argument.size) fail(argument, out[i], raw.batch);
            raw.out[i] = out[i].data;
            raw.out_stride[i] = argument.size;
        }
        for (int i = 0; i < num_in; ++i) {
            const int input = places_[i];
            const Argument& argument = declared_.inputs[input];
            const bool shared = in[i].scalars == argument.size;
            if (!shared && in[i].scalars != raw.batch * argument.size) fail(argument, in[i], raw.batch);
            raw.in[input] = in[i].data;
            raw.in_stride[input] = shared ? 0 : argument.size;
            raw.given |= uint64_t{1} << input;
        }
        if (raw.batch > 0) run(raw, place);
    }

   protected:
    virtual bool on_gpu() const = 0;
    virtual void run(const RawCall& raw, const grid_place& place) const = 0;

   private:
    static int64_t rows(const grid_buffer& buffer, const Argument& argument) {
        return argument.size == 0 ? 0 : buffer.scalars / argument.size;
    }
    [[noreturn]] void fail(const Argument& argument, const grid_buffer& buffer, int64_t batch) const {
        throw CallError(declared_.subject + ": '" + argument.name + "' has " + std::to_string(buffer.scalars) +
                        " scalars, expected " + std::to_string(argument.size) + " for each of " +
                        std::to_string(batch) + " samples, or for all of them");
    }

    const Declaration& declared_;
    const std::vector<int> places_;
};

class OnCpu : public Published {
   public:
    OnCpu(const Function& function, std::vector<int> places)
        : Published(function.declared(), std::move(places)), function_(function) {}

   private:
    bool on_gpu() const override { return false; }
    void run(const RawCall& raw, const grid_place& place) const override { function_.evaluate(raw, place.threads); }

    const Function& function_;
};

class OnCuda : public Published {
   public:
    OnCuda(cuda::CudaFunction& function, std::vector<int> places)
        : Published(function.declared(), std::move(places)), function_(function) {}

   private:
    bool on_gpu() const override { return true; }
    void run(const RawCall& raw, const grid_place& where) const override {
        cuda::Operands operands;
        std::copy(std::begin(raw.in), std::end(raw.in), operands.in);
        std::copy(std::begin(raw.in_stride), std::end(raw.in_stride), operands.in_stride);
        std::copy(std::begin(raw.out), std::end(raw.out), operands.out);
        std::copy(std::begin(raw.out_stride), std::end(raw.out_stride), operands.out_stride);
        operands.given = raw.given;
        operands.batch = raw.batch;
        cuda::Launcher& launcher = function_.launcher_on(cuda::Device::holding(raw.out[0]));
        cuda::CudaUnit& unit = launcher.unit();
        unit.load();
        const cuda::Scope scope(unit.device());
        const auto queue = static_cast<cuda::Stream>(where.stream);
        const cuda::Device::Place place = unit.device().place(queue);
        launcher.launch(operands, queue, *place.arena);
        if (place.captured) unit.keep_loaded();
    }

    cuda::CudaFunction& function_;
};

struct Registry {
    std::shared_mutex mutex;
    std::unordered_map<std::string, std::shared_ptr<const Published>> known;

    // Never destroyed: programs may call while the process ends.
    static Registry& get() {
        static Registry* const registry = new Registry;
        return *registry;
    }

    std::shared_ptr<const Published> find(const std::string& key) {
        const std::shared_lock<std::shared_mutex> lock(mutex);
        const auto found = known.find(key);
        if (found == known.end()) {
            throw CallError("no function '" + key + "' is open in this process: the program was traced with parameters of the "
                            "robot that were changed since, or by another process; trace it again, pass the parameters as "
                            "arguments, or call the method once");
        }
        return found->second;
    }
};

void publish(const std::string& key, py::object function, std::vector<int> places) {
    std::shared_ptr<const Published> made;
    if (py::isinstance<Function>(function)) {
        made = std::make_shared<OnCpu>(function.cast<const Function&>(), std::move(places));
    } else {
        made = std::make_shared<OnCuda>(function.cast<cuda::CudaFunction&>(), std::move(places));
    }
    function.release();  // kept for ever
    Registry& registry = Registry::get();
    const std::unique_lock<std::shared_mutex> lock(registry.mutex);
    registry.known[key] = std::move(made);
}

void withdraw(const std::string& key) {
    Registry& registry = Registry::get();
    const std::unique_lock<std::shared_mutex> lock(registry.mutex);
    registry.known.erase(key);
}

const char* call(const char* key, int64_t length, const grid_buffer* in, int32_t num_in, const grid_buffer* out,
                 int32_t num_out, const grid_place* place) {
    thread_local std::string said;
    try {
        const std::string name(key, static_cast<size_t>(length));
        Registry::get().find(name)->call(in, num_in, out, num_out, *place);
        return nullptr;
    } catch (const std::exception& error) {
        said = error.what();
        return said.c_str();
    }
}

const grid_bridge bridge = {GRID_BRIDGE_ABI, call};

}  // namespace

void register_published(py::module_& module) {
    module.def("publish", &publish, py::arg("key"), py::arg("function"), py::arg("places"),
               "Let compiled front-ends call a function under a key, with inputs at these places of the declared ones.");
    module.def("withdraw", &withdraw, py::arg("key"), "Let nobody find what was published under a key.");
    module.def("bridge_address", [] { return reinterpret_cast<uintptr_t>(&bridge); }, "Address of a grid_bridge.");
}

}  // namespace grid
