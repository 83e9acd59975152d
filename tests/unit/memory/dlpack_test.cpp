// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/memory/dlpack.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace rondo;
using namespace rondo::test;

#if __has_include(<dlpack/dlpack.h>)

namespace {

/// A tensor as another library would hand it over.
struct Foreign {
  Foreign(void* data, std::vector<std::int64_t> extents, DLDataType type = {kDLFloat, 32, 1})
      : shape{std::move(extents)} {
    managed.dl_tensor = {data, {kDLCPU, 0}, static_cast<int>(shape.size()), type, shape.data(), nullptr, 0};
  }
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  DLManagedTensor managed{};
};

}  // namespace

TEST_CASE("A tensor of another library takes part in rounds, by its host memory or by its device address") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2, 3});
  const auto y = graph.output<float>("y", {2, 3});
  graph.add<Scale>(x, y, 2.0F);
  auto session = open<A2A3Sim>(graph);
  alignas(64) float in[24] = {0, 0, 1, 2, 3, 4, 5, 6};
  alignas(64) float out[6] = {};
  Foreign fx(in, {2, 3});
  fx.managed.dl_tensor.byte_offset = 8;
  Foreign fy(out, {6});
  REQUIRE(session.run_round(dlpack::bind(x, fx.managed), dlpack::bind(y, fy.managed)).ok());
  CHECK(out[0] == 2);
  CHECK(out[5] == 12);

  Foreign device(in, {2, 3});
  device.managed.dl_tensor.device = {kDLExtDev, 0};
  REQUIRE(session.run_round(dlpack::bind_device(x, device.managed), dlpack::bind(y, fy.managed)).ok());
  CHECK(out[0] == 0);
  CHECK(out[5] == 8);
  CHECK(raised([&] { (void)dlpack::host_span<float>(device.managed); }).code == Errc::invalid_argument);
}

TEST_CASE("A tensor of another type, or with gaps, is refused with the reason") {
  float data[12] = {};
  Foreign type(data, {12}, {kDLInt, 32, 1});
  CHECK(says(raised([&] { (void)dlpack::host_span<float>(type.managed); }).text, "float32"));
  Foreign lanes(data, {3}, {kDLFloat, 32, 4});
  CHECK(raised([&] { (void)dlpack::host_span<float>(lanes.managed); }).code == Errc::invalid_argument);
  Foreign gaps(data, {2, 3});
  gaps.strides = {6, 1};
  gaps.managed.dl_tensor.strides = gaps.strides.data();
  CHECK(says(raised([&] { (void)dlpack::host_span<float>(gaps.managed); }).text, "stride 6", "contiguous"));
  gaps.strides = {3, 1};
  gaps.managed.dl_tensor.strides = gaps.strides.data();
  CHECK(dlpack::host_span<float>(gaps.managed).size() == 6);
  Foreign scalar(data, {});
  CHECK(dlpack::host_span<float>(scalar.managed).size() == 1);
}

TEST_CASE("A tensor without elements has no gaps, whatever its strides are") {
  float none = 0;
  Foreign tensor(&none, {2, 0, 3});
  tensor.strides = {3, 3, 1};
  tensor.managed.dl_tensor.strides = tensor.strides.data();
  CHECK(dlpack::host_span<float>(tensor.managed).empty());
}

TEST_CASE("A tensor of bool has either of the codes that DLPack has had for it") {
  bool data[3] = {};
  for (const std::uint8_t code : {std::uint8_t{kDLUInt}, std::uint8_t{6}}) {
    Foreign flags(data, {3}, {code, 8, 1});
    CHECK(dlpack::host_span<bool>(flags.managed).size() == 3);
  }
  Foreign wide(data, {3}, {6, 32, 1});
  CHECK(raised([&] { (void)dlpack::host_span<bool>(wide.managed); }).code == Errc::invalid_argument);
  Foreign bytes(data, {3}, {6, 8, 1});
  CHECK(raised([&] { (void)dlpack::host_span<std::uint8_t>(bytes.managed); }).code == Errc::invalid_argument);
}

TEST_CASE("A description that is of no tensor is refused with the reason") {
  float data[12] = {};
  const auto reason = [](const Foreign& foreign) {
    return raised([&] { (void)dlpack::host_span<float>(foreign.managed); }).text;
  };
  CHECK(says(reason(Foreign(data, {3, -1})), "dimension 1", "extent -1"));
  CHECK(says(reason(Foreign(data, {std::int64_t{1} << 33, std::int64_t{1} << 33})), "more elements"));
  CHECK(says(reason(Foreign(data, {std::int64_t{1} << 61})), "more elements"));
  CHECK(says(reason(Foreign(nullptr, {3})), "no memory"));
  CHECK(reason(Foreign(nullptr, {0, 3})).empty());
  Foreign negative(data, {3});
  negative.managed.dl_tensor.ndim = -1;
  CHECK(says(reason(negative), "-1 dimensions"));
  Foreign shapeless(data, {3});
  shapeless.managed.dl_tensor.shape = nullptr;
  CHECK(says(reason(shapeless), "no shape"));
}

TEST_CASE("What Rondo lends comes back as what it was, and its deleter frees the description only") {
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  DLManagedTensor* loan = dlpack::export_tensor(std::span<float>(values), {2, 3});
  CHECK(loan->dl_tensor.ndim == 2);
  CHECK(loan->dl_tensor.shape[1] == 3);
  const std::span<float> back = dlpack::host_span<float>(*loan);
  CHECK(back.data() == values.data());
  CHECK(back.size() == 6);
  loan->deleter(loan);
  CHECK(values[5] == 6);
  CHECK(raised([&] { (void)dlpack::export_tensor(std::span<float>(values), {2, 2}); }).code == Errc::invalid_argument);
  const auto refusal = [&](const Shape& shape) {
    return raised([&] { (void)dlpack::export_tensor(std::span<float>(values), shape); }).text;
  };
  CHECK(says(refusal({-2, -3}), "dimension 1 has extent -1"));  // of negative extents a shape keeps only that
  CHECK(says(refusal({std::int64_t{1} << 62, 4, 6}), "more elements than memory has room for"));
}

TEST_CASE("A tensor with strides is viewed as it lies, and one that no memory holds is refused") {
  float values[12] = {};
  Foreign tensor(values, {2, 3});
  CHECK(dlpack::host_view<float>(tensor.managed).layout.is_packed());
  tensor.strides = {6, -2};
  tensor.managed.dl_tensor.strides = tensor.strides.data();
  tensor.managed.dl_tensor.byte_offset = 16;
  const dlpack::HostView view = dlpack::host_view<float>(tensor.managed);
  CHECK(view.first == &values[4]);
  CHECK(view.layout.bytes() == 24);
  CHECK(view.layout.bytes_before() == 16);
  CHECK(view.layout.bytes_after() == 28);
  CHECK(raised([&] { (void)dlpack::host_view<std::int32_t>(tensor.managed); }).code == Errc::invalid_argument);
  tensor.strides = {INT64_MAX / 2, 1};
  CHECK(says(raised([&] { (void)dlpack::host_view<float>(tensor.managed); }).text, "address space"));
  tensor.managed.dl_tensor.device = {kDLCUDA, 0};
  CHECK(says(raised([&] { (void)dlpack::host_view<float>(tensor.managed); }).text, "device memory"));
  CHECK(says(raised([&] { (void)dlpack::device_view<float>(tensor.managed); }).text, "address space"));
  tensor.strides = {6, -2};
  const dlpack::DeviceView on_device = dlpack::device_view<float>(tensor.managed);
  CHECK(on_device.first.address() == reinterpret_cast<std::uintptr_t>(&values[4]));
  CHECK(on_device.layout.bytes_after() == 28);
}

TEST_CASE("Every element type but the opaque ones has DLPack's name") {
  for (std::size_t t = 0; t < data_type_count; ++t) {
    const auto type = static_cast<DataType>(t);
    const DLDataType named = dlpack::data_type(type);
    CHECK(named.lanes == 1);
    CHECK((named.code == kDLOpaqueHandle) == is_a5_only(type));
    CHECK((named.code == kDLComplex) == is_complex(type));
    CHECK(named.bits == 8 * size_of(type));
  }
}

#else

TEST_CASE("Without DLPack's header there is nothing to test") { CHECK(true); }

#endif
