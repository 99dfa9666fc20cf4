#include "cuda_timing.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "errors.hpp"
#include "gil.hpp"

namespace grid::cuda {

namespace {

const char* const kWhat = "timing a call";

// A stream of its own, two events, and the graph that is captured on it.
class Stopwatch {
   public:
    Stopwatch() {
        check(driver_.stream_create(&stream_, kNonBlocking), kWhat);
        for (Event& event : events_) check(driver_.event_create(&event, 0), kWhat);
    }
    ~Stopwatch() {
        if (program_ != nullptr) driver_.graph_program_destroy(program_);
        if (graph_ != nullptr) driver_.graph_destroy(graph_);
        for (Event event : events_) {
            if (event != nullptr) driver_.event_destroy(event);
        }
        if (stream_ != nullptr) driver_.stream_destroy(stream_);
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    Stream stream() const { return stream_; }

    void begin_capture() const { check(driver_.capture_begin(stream_, kRelaxedCapture), kWhat); }
    void end_capture() {
        check(driver_.capture_end(stream_, &graph_), kWhat);
        check(driver_.graph_instantiate(&program_, graph_, 0), kWhat);
    }
    void abandon_capture() { driver_.capture_end(stream_, &graph_); }

    // Seconds of one launch of the graph.
    double launch() const {
        float milliseconds = 0;
        check(driver_.event_record(events_[0], stream_), kWhat);
        check(driver_.graph_launch(program_, stream_), kWhat);
        check(driver_.event_record(events_[1], stream_), kWhat);
        check(driver_.stream_wait(stream_), kWhat);
        check(driver_.event_elapsed(&milliseconds, events_[0], events_[1]), kWhat);
        return 1e-3 * milliseconds;
    }

   private:
    const Driver& driver_ = Driver::get();
    Stream stream_ = nullptr;
    Event events_[2] = {};
    Graph graph_ = nullptr;
    GraphProgram program_ = nullptr;
};

void call(CudaFunction& function, const py::object& arguments, const py::object& out, const py::object& stream) {
    PyObject* result = function.call(arguments.ptr(), out.ptr(), stream.ptr(), 1);
    if (result == nullptr) throw py::error_already_set();
    Py_DECREF(result);
}

}  // namespace

double time_function(CudaFunction& function, const py::object& arguments, const py::object& out, int repeats, int rounds) {
    if (repeats < 1 || rounds < 1) throw ArgumentError("repeats and rounds are at least 1");
    CudaUnit& unit = function.launcher().unit();
    unit.load();
    const Scope scope(unit.device());
    Stopwatch watch;
    const py::int_ stream(reinterpret_cast<intptr_t>(watch.stream()));
    call(function, arguments, out, stream);
    watch.begin_capture();
    try {
        for (int i = 0; i < repeats; ++i) call(function, arguments, out, stream);
    } catch (...) {
        watch.abandon_capture();
        throw;
    }
    watch.end_capture();
    const GilReleased gil;
    watch.launch();  // the first one also uploads the graph
    std::vector<double> seconds;
    for (int i = 0; i < rounds; ++i) seconds.push_back(watch.launch() / repeats);
    std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
    return seconds[rounds / 2];
}

DeviceArray to_device(const py::array& array, int index) {
    const auto kept = py::array::ensure(array, py::array::c_style);
    const auto item = static_cast<int>(kept.itemsize());
    if (kept.dtype().kind() != 'f' || (item != 4 && item != 8)) throw ArgumentError("an array of float32 or float64 is needed");
    Device& device = Device::get(index);
    const Scope scope(device);
    Memory memory = device.place(kLegacyStream).arena->take(kLegacyStream, kept.nbytes());
    if (kept.nbytes() != 0) check(Driver::get().copy_to_device(memory->address, kept.data(), kept.nbytes()), "copying to the device");
    return DeviceArray(device, kLegacyStream, {kept.shape(), kept.shape() + kept.ndim()}, item, std::move(memory));
}

}  // namespace grid::cuda
