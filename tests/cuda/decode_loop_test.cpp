// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The model of examples/03_decode_loop: a cache that stays on the device, device buffers that alternate, a host input.

#include "../../examples/03_decode_loop/model.hpp"
#include "cuda/fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace rondo;

namespace {

/// The logits of each round, whose token is the likeliest after the last.
template <class Platform>
std::vector<cuda_test::Floats> decode_tokens(const decode::Weights& weights, std::int32_t rounds) {
  decode::Decoder decoder(weights);
  auto session = open<Platform>(decoder.graph);
  for (const auto& [tensor, values] : decoder.uploads) REQUIRE(session.upload(tensor, values).ok());
  auto& device = session.platform();
  const auto block = device.allocate(Bytes{2 * 4096}, Bytes{1024});
  const auto buffer = [&](std::int32_t side, std::uint64_t at, std::size_t size) {
    const auto place = block.offset(Bytes{static_cast<std::uint64_t>(side) * 4096 + at});
    return DeviceSpan<float>{place.template as<float>(), size};
  };
  std::vector<cuda_test::Floats> all;
  std::size_t token = 1;
  for (std::int32_t position = 0; position < rounds; ++position) {
    const auto x = buffer(position % 2, 0, decode::width);
    const auto logits = buffer(position % 2, 2048, decode::vocabulary);
    const float* const row = &weights.embedding[token * decode::width];
    REQUIRE(device.copy_in(x.data().template as<std::byte>(), row, Bytes{4 * decode::width}).ok());
    REQUIRE(session.run_round(bind(decoder.x, x), bind(decoder.position, position), bind(decoder.logits, logits)).ok());
    cuda_test::Floats host(decode::vocabulary);
    REQUIRE(device.copy_out(host.data(), logits.data().template as<std::byte>(), Bytes{4 * decode::vocabulary}).ok());
    REQUIRE(device.wait().ok());
    token = static_cast<std::size_t>(std::max_element(host.begin(), host.end()) - host.begin());
    all.push_back(host);
  }
  (void)device.release(block);
  return all;
}

}  // namespace

TEST_CASE("A decode loop gives the tokens of simulation, bit for bit, with one graph that is never updated") {
  const cuda_test::Clean clean;
  const decode::Weights weights;
  constexpr std::int32_t rounds = 24;
  CHECK(decode_tokens<cuda_test::P>(weights, rounds) == decode_tokens<A5Sim>(weights, rounds));
  CHECK(cuda_test::calls("cuGraphLaunch") == rounds);
  CHECK(cuda_test::calls("cuGraphInstantiateWithFlags") == 1);
}
