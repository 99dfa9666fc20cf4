#include "cuda_view.hpp"

#include <algorithm>
#include <unordered_map>

#include "cuda_array.hpp"
#include "cuda_part.hpp"
#include "dlpack.hpp"
#include "errors.hpp"

namespace grid::cuda {

namespace {

const char* const kInterface = "__cuda_array_interface__";

// What objects of a type offer, in the order in which it is asked for.
struct Protocols {
    const dlpack::Exchange* exchange = nullptr;  // the library's own C functions
    bool interface = false;
    bool dlpack = false;

    bool any() const { return exchange != nullptr || interface || dlpack; }
};

bool has(PyTypeObject* type, const char* name) {
    return py::hasattr(py::handle(reinterpret_cast<PyObject*>(type)), name);
}

const dlpack::Exchange* exchange_of(PyTypeObject* type) {
    const char* const name = "__dlpack_c_exchange_api__";
    if (!has(type, name)) return nullptr;
    const py::object capsule = py::handle(reinterpret_cast<PyObject*>(type)).attr(name);
    if (PyCapsule_IsValid(capsule.ptr(), dlpack::kExchangeName) == 0) return nullptr;
    const auto* table =
        static_cast<const dlpack::Exchange*>(PyCapsule_GetPointer(capsule.ptr(), dlpack::kExchangeName));
    while (table != nullptr && table->major != 1) table = table->previous;
    return table == nullptr || table->borrow == nullptr ? nullptr : table;
}

const Protocols& protocols_of(PyTypeObject* type) {
    static auto& known = *new std::unordered_map<PyTypeObject*, Protocols>;
    const auto found = known.find(type);
    if (found != known.end()) return found->second;
    Py_INCREF(type);  // so that no other type gets its address
    return known[type] = {exchange_of(type), has(type, kInterface), has(type, "__dlpack__")};
}

void set_axes(View& view, int axes) {
    if (axes > kMaxViewAxes) throw ArgumentError("an array has more than 16 axes; reshape it");
    view.axes = axes;
}

// False for memory that devices cannot reach.
bool read_tensor(const dlpack::Tensor& tensor, View& view) {
    if (tensor.device.type != dlpack::kCuda && tensor.device.type != dlpack::kCudaManaged) return false;
    view.data = reinterpret_cast<Address>(tensor.data) + tensor.offset;
    view.device = tensor.device.type == dlpack::kCuda ? tensor.device.index : -1;
    view.kind = tensor.type.code == dlpack::kFloat && tensor.type.lanes == 1 ? 'f' : '?';
    view.item = tensor.type.bits / 8;
    set_axes(view, tensor.ndim);
    std::copy_n(tensor.shape, view.axes, view.shape);
    if (tensor.strides == nullptr) {
        view.fill_strides();
    } else {
        for (int axis = 0; axis < view.axes; ++axis) view.strides[axis] = tensor.strides[axis] * view.item;
    }
    return true;
}

std::optional<View> exchange(const dlpack::Exchange& table, PyObject* object) {
    dlpack::Tensor tensor;
    View view;
    if (table.borrow(object, &tensor) != 0) throw py::error_already_set();
    if (!read_tensor(tensor, view)) return std::nullopt;
    void* stream = nullptr;
    if (table.current_stream(tensor.device.type, tensor.device.index, &stream) != 0) throw py::error_already_set();
    view.stream = static_cast<Stream>(stream);
    view.owner = py::reinterpret_borrow<py::object>(object);
    return view;
}

// Not every array of a type with the attribute has it: those in host memory raise AttributeError.
std::optional<py::dict> interface(PyObject* object) {
    PyObject* description = PyObject_GetAttrString(object, kInterface);
    if (description != nullptr) return py::reinterpret_steal<py::dict>(description);
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw py::error_already_set();
    PyErr_Clear();
    return std::nullopt;
}

View read_interface(const py::dict& description, PyObject* object) {
    View view;
    const auto data = description["data"].cast<py::tuple>();
    const auto shape = description["shape"].cast<py::tuple>();
    const auto type = description["typestr"].cast<std::string>();
    view.data = data[0].cast<Address>();
    view.writable = !data[1].cast<bool>();
    view.kind = type.size() > 2 && type[0] != '>' ? type[1] : '?';
    view.item = type.size() > 2 ? std::stoi(type.substr(2)) : 0;
    set_axes(view, static_cast<int>(shape.size()));
    for (int axis = 0; axis < view.axes; ++axis) view.shape[axis] = shape[axis].cast<int64_t>();
    const py::object strides = description.attr("get")("strides");
    if (strides.is_none()) {
        view.fill_strides();
    } else {
        for (int axis = 0; axis < view.axes; ++axis) view.strides[axis] = strides[py::int_(axis)].cast<int64_t>();
    }
    const py::object stream = description.attr("get")("stream");
    if (!stream.is_none()) view.stream = reinterpret_cast<Stream>(stream.cast<intptr_t>());
    view.owner = py::reinterpret_borrow<py::object>(object);
    return view;
}

// The producer makes `stream` wait for the array's contents.
std::optional<View> read_capsule(PyObject* object, Stream stream) {
    const py::handle array(object);
    const auto device = array.attr("__dlpack_device__")().cast<py::tuple>();
    const auto type = device[0].cast<int32_t>();
    if (type != dlpack::kCuda && type != dlpack::kCudaManaged) return std::nullopt;
    const auto handle = is_legacy(stream) ? intptr_t{1} : reinterpret_cast<intptr_t>(stream);
    const py::object capsule = array.attr("__dlpack__")(py::arg("stream") = handle);
    auto* managed =
        static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), dlpack::kTensorName));
    if (managed == nullptr) throw py::error_already_set();
    View view;
    if (!read_tensor(managed->tensor, view)) return std::nullopt;
    view.owner = capsule;  // never renamed to a used one, so that it frees the tensor itself
    return view;
}

}  // namespace

int64_t View::size() const {
    int64_t size = 1;
    for (int axis = 0; axis < axes; ++axis) size *= shape[axis];
    return size;
}

void View::fill_strides() {
    int64_t stride = item;
    for (int axis = axes - 1; axis >= 0; --axis) {
        strides[axis] = stride;
        stride *= shape[axis];
    }
}

std::optional<View> view_device_array(PyObject* object, std::optional<Stream> stream) {
    if (const DeviceArray* own = as_device_array(object)) return own->view(object);
    if (const DevicePart* part = as_device_part(object)) return part->view();
    const Protocols& offered = protocols_of(Py_TYPE(object));
    if (!offered.any()) return std::nullopt;
    if (offered.exchange != nullptr) return exchange(*offered.exchange, object);
    if (offered.interface) {
        const auto description = interface(object);
        if (!description) return std::nullopt;
        const bool ordered = (*description)["version"].cast<int>() >= 3;  // older ones say nothing of streams
        if (ordered || !offered.dlpack) return read_interface(*description, object);
    }
    return read_capsule(object, stream.value_or(kLegacyStream));
}

std::optional<Stream> stream_argument(PyObject* object) {
    if (object == Py_None) return std::nullopt;
    py::object handle = py::reinterpret_borrow<py::object>(object);
    if (py::hasattr(handle, "__cuda_stream__")) {
        handle = handle.attr("__cuda_stream__");
        if (PyCallable_Check(handle.ptr()) != 0) handle = handle();
        handle = handle[py::int_(1)];
    } else if (py::hasattr(handle, "cuda_stream")) {
        handle = handle.attr("cuda_stream");
    } else if (py::hasattr(handle, "ptr")) {
        handle = handle.attr("ptr");
    }
    if (PyLong_Check(handle.ptr()) != 0) return reinterpret_cast<Stream>(handle.cast<intptr_t>());
    throw ArgumentError(std::string("stream is a ") + Py_TYPE(object)->tp_name +
                        "; pass the stream's integer handle, or a stream object of PyTorch, CuPy or another library");
}

}  // namespace grid::cuda
