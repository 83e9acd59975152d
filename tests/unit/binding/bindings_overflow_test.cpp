// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/binding/bindings.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

using namespace rondo;
using namespace rondo::test;

// (2^62 + 2) * 4 wraps to 8 in 64 bits.
TEST_CASE("A span whose size overflows 64 bits in bytes is refused") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto w = graph.resident<float>("w", {2});
  const auto y = graph.output<float>("y", {2});
  graph.add<Scale>(x, y, 2.0F);
  graph.add<Scale>(x, w, 2.0F);
  auto session = open<A2A3Sim>(graph);
  std::vector<float> hx(2);
  std::vector<float> hy(2);
  const std::span<const float> endless{hx.data(), (std::size_t{1} << 62) + 2};
  CHECK_FALSE(session.prebind(bind(x, endless), bind(y, hy)));
  CHECK(session.run_round(bind(y, hy), bind(x, endless)).code() == Errc::wrong_size);
  CHECK(session.upload(w, endless).code() == Errc::wrong_size);
}

// The concept asks for a size() that converts to std::size_t; int does.
struct SignedSize {
  Input<float> tensor;
  std::vector<float>* memory;
  [[nodiscard]] Input<float> handle() const { return tensor; }
  [[nodiscard]] const float* data() const { return memory->data(); }
  [[nodiscard]] int size() const { return static_cast<int>(memory->size()); }
};
static_assert(check_tensor_pair<SignedSize>());

TEST_CASE("A pair whose size() is signed binds") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  graph.add<Scale>(x, y, 2.0F);
  auto session = open<A2A3Sim>(graph);
  std::vector<float> hx(2);
  std::vector<float> hy(2);
  CHECK(session.run_round(SignedSize{x, &hx}, bind(y, hy)).ok());
}
