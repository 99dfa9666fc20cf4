#include "cuda_part.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <string>

#include "errors.hpp"
#include "strides.hpp"

namespace grid::cuda {

namespace {

PyTypeObject* part_type = nullptr;

py::list indices(const py::object& index, int axes) {
    const py::tuple given = py::isinstance<py::tuple>(index) ? py::tuple(index) : py::make_tuple(index);
    const auto is_ellipsis = [](const py::handle& item) { return item.is(py::ellipsis()); };
    const auto named = std::count_if(given.begin(), given.end(), [&](const py::handle& i) { return !is_ellipsis(i); });
    py::list result;
    const auto fill = [&](int64_t count) {
        for (; count > 0; --count) result.append(py::slice(py::none(), py::none(), py::none()));
    };
    for (const py::handle item : given) {
        if (is_ellipsis(item)) {
            fill(axes - named);
        } else {
            result.append(item);
        }
    }
    if (static_cast<int>(py::len(result)) > axes) throw py::index_error("too many indices for a device array");
    fill(axes - static_cast<int>(py::len(result)));
    return result;
}

// Rows of scalars at even distances, in bytes.
struct Rows {
    Address data;
    int64_t distance;
    int64_t pitch;

    bool whole(int64_t item) const { return pitch == item; }
};

Rows rows_of(const View& view, int batch_axes) {
    const Axes<int64_t> batch{view.shape, view.strides, 0, batch_axes};
    const Axes<int64_t> sample{view.shape, view.strides, batch_axes, view.axes};
    const int64_t pitch = sample.inner(view.item), distance = batch.inner(sample.size() * view.item);
    if (batch.even(distance) && sample.even(pitch)) return {view.data, distance, pitch};
    throw ArgumentError("a device array has axes that are not evenly spaced; pass a C-contiguous array");
}

struct Copy {
    const Driver& driver = Driver::get();
    Stream stream;

    // `height` pieces of `width` bytes.
    void pieces(Address to, int64_t to_distance, Address from, int64_t from_distance, int64_t width,
                int64_t height) const {
        Copy2D copy{};
        copy.source_type = copy.target_type = kDeviceMemory;
        copy.source = from;
        copy.source_pitch = std::max(from_distance, width);
        copy.target = to;
        copy.target_pitch = std::max(to_distance, width);
        copy.width = width;
        copy.height = height;
        check(driver.copy_pieces(&copy, stream), "copying in device memory");
    }

    void rows(const Rows& to, const Rows& from, int64_t size, int64_t item, int64_t count) const {
        if (to.whole(item) && from.whole(item)) {
            return pieces(to.data, to.distance, from.data, from.distance, size * item, count);
        }
        for (int64_t i = 0; i < size; ++i) {
            pieces(to.data + i * to.pitch, to.distance, from.data + i * from.pitch, from.distance, item, count);
        }
    }
};

// Copies the samples of `source`, or its only one to all. Both are of one dtype and on one device.
void copy_parts(const DevicePart& target, const DevicePart& source, int batch_axes, int device_index,
                const py::object& on) {
    const View &to = target.view(), &from = source.view();
    const bool shared = from.axes < to.axes;
    const Rows written = rows_of(to, batch_axes), read = rows_of(from, shared ? 0 : batch_axes);
    const int64_t count = Axes<int64_t>{to.shape, to.strides, 0, batch_axes}.size();
    const int64_t size = Axes<int64_t>{to.shape, to.strides, batch_axes, to.axes}.size();
    if (count * size == 0) return;
    Device& device = Device::get(device_index);
    const Stream stream = stream_argument(on.ptr()).value_or(kLegacyStream);
    const Scope scope(device);
    if (from.stream && !device.place(stream).captured) device.order(stream, *from.stream);
    const Copy copy{Driver::get(), stream};
    copy.rows(written, read, size, to.item, shared ? 1 : count);
    for (int64_t done = 1; shared && done < count; done *= 2) {  // rows that are there serve as source for as many more
        const Rows more{written.data + done * written.distance, written.distance, written.pitch};
        copy.rows(more, written, size, to.item, std::min(done, count - done));
    }
}

DeviceArray device_empty(std::vector<int64_t> shape, const py::dtype& dtype, int index, const py::object& on) {
    Device& device = Device::get(index);
    const Stream stream = stream_argument(on.ptr()).value_or(kLegacyStream);
    const auto item = static_cast<int>(dtype.itemsize());
    size_t bytes = item;
    for (const int64_t axis : shape) bytes *= axis;
    const Scope scope(device);
    Memory memory = device.place(stream).arena->take(stream, bytes);
    return DeviceArray(device, stream, std::move(shape), item, std::move(memory));
}

std::optional<DevicePart> device_part(const py::object& object, const py::object& stream) {
    auto view = view_device_array(object.ptr(), stream_argument(stream.ptr()));
    if (!view) return std::nullopt;
    return DevicePart(std::move(*view));
}

std::optional<intptr_t> stream_handle(const py::object& object) {
    const auto stream = stream_argument(object.ptr());
    if (!stream) return std::nullopt;
    return reinterpret_cast<intptr_t>(*stream);
}

}  // namespace

DevicePart DevicePart::at(const py::object& index) const {
    View part = view_;
    part.axes = 0;
    int axis = 0;
    for (const py::handle item : indices(index, view_.axes)) {
        const int64_t size = view_.shape[axis], stride = view_.strides[axis];
        if (py::isinstance<py::slice>(item)) {
            py::ssize_t start = 0, stop = 0, step = 0, length = 0;
            const auto range = py::reinterpret_borrow<py::slice>(item);
            if (!range.compute(size, &start, &stop, &step, &length)) throw py::error_already_set();
            if (length > 0) part.data += start * stride;
            part.shape[part.axes] = length;
            part.strides[part.axes++] = stride * step;
        } else {
            const auto given = item.cast<int64_t>();
            const int64_t position = given < 0 ? given + size : given;
            if (position < 0 || position >= size) {
                throw py::index_error("no item " + std::to_string(given) + " in an axis of " + std::to_string(size));
            }
            part.data += position * stride;
        }
        ++axis;
    }
    return DevicePart(std::move(part));
}

DevicePart DevicePart::joined(int axes) const {
    if (axes == 1) return *this;
    const Rows rows = rows_of(view_, axes);
    View part = view_;
    part.shape[0] = Axes<int64_t>{view_.shape, view_.strides, 0, axes}.size();
    part.strides[0] = rows.distance;
    std::copy(view_.shape + axes, view_.shape + view_.axes, part.shape + 1);
    std::copy(view_.strides + axes, view_.strides + view_.axes, part.strides + 1);
    part.axes = view_.axes - axes + 1;
    return DevicePart(std::move(part));
}

py::dict DevicePart::interface() const {
    py::dict description;
    description["shape"] = py::tuple(py::cast(shape()));
    description["typestr"] = "<" + std::string(1, view_.kind) + std::to_string(view_.item);
    description["data"] = py::make_tuple(view_.size() == 0 ? 0 : view_.data, !view_.writable);
    description["strides"] = py::tuple(py::cast(std::vector<int64_t>(view_.strides, view_.strides + view_.axes)));
    description["stream"] = py::none();
    if (view_.stream) description["stream"] = is_legacy(*view_.stream) ? 1 : reinterpret_cast<intptr_t>(*view_.stream);
    description["version"] = 3;
    return description;
}

const DevicePart* as_device_part(PyObject* object) {
    if (Py_TYPE(object) != part_type) return nullptr;
    return static_cast<const DevicePart*>(reinterpret_cast<py::detail::instance*>(object)->simple_value_holder[0]);
}

void register_device_part(py::module_& module) {
    const auto type = py::class_<DevicePart>(module, "DevicePart", py::is_final())
        .def_property_readonly("shape", [](const DevicePart& part) { return py::tuple(py::cast(part.shape())); })
        .def_property_readonly("ndim", [](const DevicePart& part) { return part.view().axes; })
        .def_property_readonly("dtype", [](const DevicePart& part) {
            return std::string(1, part.view().kind) + std::to_string(part.view().item);
        })
        .def_property_readonly("device", [](const DevicePart& part) { return part.view().device; })
        .def_property_readonly("stream", [](const DevicePart& part) -> std::optional<intptr_t> {
            if (!part.view().stream) return std::nullopt;
            return reinterpret_cast<intptr_t>(*part.view().stream);
        })
        .def_property_readonly("__cuda_array_interface__", &DevicePart::interface)
        .def("__getitem__", &DevicePart::at, py::arg("index"))
        .def("joined", &DevicePart::joined, py::arg("axes"));
    part_type = reinterpret_cast<PyTypeObject*>(type.ptr());

    module.def("device_part", &device_part, py::arg("array"), py::arg("stream") = py::none());
    module.def("device_empty", &device_empty, py::arg("shape"), py::arg("dtype"), py::arg("device"),
               py::arg("stream"));
    module.def("copy_parts", &copy_parts, py::arg("target"), py::arg("source"), py::arg("batch_axes"),
               py::arg("device"), py::arg("stream"));
    module.def("stream_handle", &stream_handle, py::arg("stream"));
}

}  // namespace grid::cuda
