// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration.hpp"

#include "fail.hpp"

namespace rondo::erased {

Shape RoundTensor::shape() const {
  std::int64_t extents[max_rank] = {1, 1, 1, 1, 1};
  for (std::size_t d = 0; d < region.rank(); ++d) extents[d] = static_cast<std::int64_t>(region.extent(d));
  return {extents, region.rank()};
}

Runtime runtime_called(std::string_view name) {
  if (name == "tensormap_and_ringbuffer") return Runtime::tensormap_and_ringbuffer;
  if (name == "aicpu_build_graph") return Runtime::aicpu_build_graph;
  fail(Errc::invalid_argument, "there is no runtime '", name,
       "' that takes an orchestration; choose tensormap_and_ringbuffer or aicpu_build_graph");
}

void SignatureKernel::check(std::span<const RoundArgument> arguments) const {
  require_count(*this, arguments.size());
  std::vector<KernelArgument> shapes(arguments.size());
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    const KernelParameter& parameter = parameters[n];
    const RoundTensor* const tensor = arguments[n].tensor;
    if (parameter.is_tensor != (tensor != nullptr)) {
      fail(Errc::invalid_argument, "kernel '", name, "' takes a ", parameter.is_tensor ? "tensor" : "number", " as '",
           parameter.name, "'");
    }
    if (tensor == nullptr) continue;
    if (tensor->type != parameter.type) {
      fail(Errc::invalid_argument, "kernel '", name, "' takes ", to_string(parameter.type), " as '", parameter.name,
           "', and the tensor holds ", to_string(tensor->type));
    }
    if (writes(parameter.access) && !kernels_may_write(tensor->direction)) {
      fail(Errc::invalid_argument, "kernel '", name, "' writes '", parameter.name,
           "', and the tensor is an input; make it an inout");
    }
    shapes[n].shape = tensor->shape();
  }
  check_extents(shapes);
}

}  // namespace rondo::erased
