// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "host_memory.hpp"

#include "elements.hpp"
#include "errors.hpp"

#include <rondo/memory/dlpack.hpp>

#include <pybind11/numpy.h>

#include <cstddef>
#include <cstdint>

namespace py = pybind11;

namespace rondo::python {

namespace {

/// How NumPy writes an element type, or the bits of one that it has not.
struct NumpyType {
  char kind;
  int bytes;
};
NumpyType numpy_type(DataType type) {
  const int bytes = static_cast<int>(size_of(type));
  switch (type) {
    case DataType::float32:
    case DataType::float64:
    case DataType::float16: return {'f', bytes};
    case DataType::int8:
    case DataType::int16:
    case DataType::int32:
    case DataType::int64: return {'i', bytes};
    case DataType::boolean: return {'b', bytes};
    case DataType::complex64:
    case DataType::complex128: return {'c', bytes};
    default: return {'u', bytes};
  }
}

bool has_layout_of(const py::dtype& dtype, DataType type) {
  const NumpyType wanted = numpy_type(type);
  return dtype.kind() == wanted.kind && dtype.itemsize() == wanted.bytes && dtype.byteorder() != '>';
}

template <class Extents>
Error::Text shape_text(std::size_t rank, const Extents& extents) {
  Error::Text text("(");
  for (std::size_t d = 0; d < rank; ++d) {
    if (d != 0) text.append(", ");
    text.append(extents(d));
  }
  text.append(rank == 1 ? ",)" : ")");
  return text;
}

template <class Extents>
[[noreturn]] void refuse_shape(const Port& port, std::size_t rank, const Extents& extents) {
  if (port.shape.is_symbolic()) {
    fail(Errc::wrong_size, "tensor '", port.text, "' has ", port.shape.rank(),
         " dimensions, some of them numbers, and the array ", shape_text(rank, extents),
         " does not fit them; bind one of the tensor's shape");
  }
  fail(Errc::wrong_size, "tensor '", port.text, "' has shape ",
       shape_text(port.shape.rank(), [&](std::size_t d) { return port.shape.extent(d); }), ", the array ",
       shape_text(rank, extents), "; bind one of the tensor's shape");
}

/// Extents that are symbols are for the session to check, all arrays together.
template <class Extents>
void check_shape(const Port& port, std::size_t rank, const Extents& extents, HostMemory& memory) {
  bool same = rank == port.shape.rank();
  for (std::size_t d = 0; d < rank && same; ++d) {
    same = !port.shape.dim(d).empty() || extents(d) == port.shape.extent(d);
    memory.extents[d] = extents(d);
  }
  if (!same) refuse_shape(port, rank, extents);
}

/// `layout`: of the memory, which needs it only if it has strides.
void take_layout(const Port& port, const StridedLayout& layout, bool is_written, HostMemory& memory) {
  if (layout.is_packed()) return;
  if (is_written && layout.may_overlap()) {
    fail(Errc::overlapping, "tensor '", port.text,
         "' is written by the round, and elements of the array share memory; bind an array without overlaps");
  }
  memory.layout = layout;
}

HostMemory memory_of_array(py::handle object, const Port& port, bool is_written) {
  const auto array = py::reinterpret_borrow<py::array>(object);
  const py::dtype dtype = array.dtype();
  if (!dtype.is(port.dtype) && !has_layout_of(dtype, port.type)) {
    const std::string wanted = py::str(py::handle(port.dtype));
    const bool is_in_numpy = wanted == to_string(port.type);
    fail(Errc::invalid_argument, "tensor '", port.text, "' holds ", to_string(port.type), ", the array ",
         std::string(py::str(py::handle(dtype))), is_in_numpy ? "; convert it with astype" : "; bind its bits as ",
         is_in_numpy ? "" : wanted);
  }
  const py::ssize_t* const extents = array.shape();
  HostMemory memory;
  check_shape(
      port, static_cast<std::size_t>(array.ndim()),
      [&](std::size_t d) { return static_cast<std::int64_t>(extents[d]); }, memory);
  if ((array.flags() & py::array::c_style) == 0) {
    std::int64_t strides[max_rank] = {};
    for (py::ssize_t d = 0; d < array.ndim(); ++d) strides[d] = array.strides()[d];
    take_layout(port, {size_of(port.type), memory.extents, strides, port.shape.rank()}, is_written, memory);
  }
  if (is_written && !array.writeable()) {
    fail(Errc::invalid_argument, "tensor '", port.text, "' is written by the round, and the array is read-only");
  }
  memory.data = const_cast<void*>(array.data());
  memory.array = array;
  return memory;
}

HostMemory memory_of_capsule(py::object capsule, const Port& port, bool is_written, DeviceKind device) {
  auto* const managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (managed == nullptr) {
    PyErr_Clear();
    fail(Errc::invalid_argument, "tensor '", port.text,
         "': the capsule is no DLPack tensor, or was used already; take a new one");
  }
  const DLTensor& tensor = managed->dl_tensor;
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    fail(Errc::invalid_argument, "tensor '", port.text, "': the DLPack tensor has ", tensor.ndim,
         " dimensions, or none of their extents; a tensor has 0 dimensions or more");
  }
  HostMemory memory;
  check_shape(port, static_cast<std::size_t>(tensor.ndim), [&](std::size_t d) { return tensor.shape[d]; }, memory);
  if (dlpack::is_on_host(tensor.device)) {
    const dlpack::HostView view =
        with_element(port.type, [&](auto t) { return dlpack::host_view<typename decltype(t)::type>(*managed); });
    memory.data = view.first;
    take_layout(port, view.layout, is_written, memory);
  } else {
    if (static_cast<std::int32_t>(tensor.device.device_type) != device.type || tensor.device.device_id != device.id) {
      fail(Errc::invalid_argument, "tensor '", port.text, "': the memory is on device ", tensor.device.device_id,
           " of DLPack's type ", static_cast<int>(tensor.device.device_type),
           ", which the session's platform does not reach; bind host memory, or open the session on that device");
    }
    const dlpack::DeviceView view =
        with_element(port.type, [&](auto t) { return dlpack::device_view<typename decltype(t)::type>(*managed); });
    memory.device = view.first.address();
    take_layout(port, view.layout, is_written, memory);
  }
  memory.array = std::move(capsule);
  return memory;
}

HostMemory memory_of_array(py::handle object, SessionArray& array, const Port& port) {
  const Port& own = array.port();
  if (own.type != port.type) {
    fail(Errc::invalid_argument, "tensor '", port.text, "' holds ", to_string(port.type), ", the array ",
         to_string(own.type), "; bind an array of the tensor's type");
  }
  HostMemory memory;
  check_shape(port, own.shape.rank(), [&](std::size_t d) { return own.shape.extent(d); }, memory);
  memory.device = array.native().span().data().address();
  if (memory.device == 0) {
    fail(Errc::null_memory, "tensor '", port.text,
         "': the array was released, or its session closed; allocate another");
  }
  memory.array = py::reinterpret_borrow<py::object>(object);
  memory.session_array = &array;
  return memory;
}

}  // namespace

void ReleaseDlpack::operator()(DLManagedTensor* tensor) const noexcept {
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

void HostMemory::take() {
  if (loan != nullptr || !is_capsule()) return;
  loan.reset(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(array.ptr(), "dltensor")));
  // By DLPack's rule, the one that takes the tensor renames the capsule and calls the deleter later.
  if (loan == nullptr || PyCapsule_SetName(array.ptr(), "used_dltensor") != 0) throw py::error_already_set();
}

py::dtype numpy_dtype(DataType type) {
  const NumpyType wanted = numpy_type(type);
  return py::dtype(wanted.kind == 'b' ? std::string("bool") : wanted.kind + std::to_string(wanted.bytes));
}

HostMemory memory_of(py::handle object, const Port& port, bool is_written, DeviceKind device) {
  if (py::isinstance<py::array>(object)) return memory_of_array(object, port, is_written);
  if (py::isinstance<SessionArray>(object)) return memory_of_array(object, py::cast<SessionArray&>(object), port);
  if (PyCapsule_CheckExact(object.ptr())) {
    return memory_of_capsule(py::reinterpret_borrow<py::object>(object), port, is_written, device);
  }
  if (py::hasattr(object, "__dlpack__"))
    return memory_of_capsule(object.attr("__dlpack__")(), port, is_written, device);
  throw py::type_error("rondo: tensor '" + port.text + "' is bound to a " +
                       std::string(py::str(py::type::handle_of(object).attr("__name__"))) +
                       "; bind a NumPy array or a DLPack tensor");
}

}  // namespace rondo::python
