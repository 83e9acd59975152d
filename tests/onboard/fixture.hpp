// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conformance/kernels.hpp"
#include "stand_in/over_stand_in.hpp"

#include <rondo/rondo.hpp>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

/// Helpers of the tests of the onboard platforms.
namespace onboard_test {

using Floats = std::vector<float>;

/// y = 3 (x + w), s += x, through a workspace.
struct Graph {
  static constexpr std::size_t n = 8;
  Graph() {
    const auto sum = graph.workspace<float>("sum", {n});
    graph.add<kernels::Add>(x, w, sum);
    scale = graph.add<kernels::Scale>(sum, y, 3.0F);
    graph.add<kernels::Accumulate>(x, s);
  }
  rondo::TaskGraph graph;
  rondo::Input<float> x = graph.input<float>("x", {n});
  rondo::Input<float> w = graph.input<float>("w", {n});
  rondo::Output<float> y = graph.output<float>("y", {n});
  rondo::InputOutput<float> s = graph.inout<float>("s", {n});
  rondo::TaskId scale{};
};

/// Device memory of a platform, held as a user of the session holds it.
template <class P>
class DeviceFloats {
 public:
  DeviceFloats(P& platform, std::size_t n, float value = 0)
      : platform_{platform}, n_{n}, at_{platform.allocate(rondo::Bytes{4 * n}, rondo::Bytes{64})} {
    fill(value);
  }
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;
  ~DeviceFloats() { (void)release(); }
  rondo::Status release() {
    if (!at_) return {};
    return platform_.release(std::exchange(at_, {}));
  }

  [[nodiscard]] rondo::DeviceSpan<float> span() const { return {at_.template as<float>(), n_}; }
  void fill(float value) {
    const Floats values(n_, value);
    (void)rondo_stand_in_poke(at_.address(), values.data(), 4 * n_);
  }
  [[nodiscard]] Floats values() const {
    Floats values(n_);
    (void)rondo_stand_in_peek(at_.address(), values.data(), 4 * n_);
    return values;
  }

 private:
  P& platform_;
  std::size_t n_;
  rondo::DevicePtr<std::byte> at_{};
};

/// The calls since the reset, in order.
inline std::vector<std::string> log() {
  std::vector<char> text(rondo_stand_in_log(nullptr, 0) + 1);
  (void)rondo_stand_in_log(text.data(), text.size());
  std::vector<std::string> calls;
  std::istringstream lines{text.data()};
  for (std::string line; std::getline(lines, line);) calls.push_back(line);
  return calls;
}
/// The number of uses of each call.
inline std::map<std::string, std::uint64_t> counted() {
  std::map<std::string, std::uint64_t> counts;
  for (const std::string& call : log()) ++counts[call];
  return counts;
}
inline std::string misuses() {
  std::vector<char> text(65536);
  (void)rondo_stand_in_misuses(text.data(), text.size());
  return text.data();
}
inline std::uint64_t calls(const char* name) { return rondo_stand_in_calls(name); }

// --- over a library that lacks a call; see without.py

inline bool lacks(const char* symbol) {
  const char* const without = std::getenv("RONDO_TEST_WITHOUT");
  return without != nullptr &&
         (" " + std::string(without) + " ").find(" " + std::string(symbol) + " ") != std::string::npos;
}
inline std::string missing_required() {
  std::string name;
  rondo::platform::onboard::Calls c;
  rondo::platform::onboard::visit_required(c, [&](const char* symbol, auto&) {
    if (lacks(symbol)) name = symbol;
  });
  return name;
}

inline bool launches_nothing() { return lacks("aclrtLaunchKernelV2") && lacks("aclrtLaunchKernelWithHostArgs"); }

/// Each test begins with a machine in its first state, and must leave no object of its own.
struct Clean {
  Clean() { rondo_stand_in_reset(); }
  Clean(const Clean&) = delete;
  Clean& operator=(const Clean&) = delete;
  ~Clean() {
    stand_in::must_be_clean(true);
    rondo_stand_in_reset();
  }
};

}  // namespace onboard_test
