// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/null.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

/// The cases of round_overhead: K inout tensors of `bytes` bytes each, and one kernel that touches the first.
namespace round_cases {

/// The arguments of the last launch, from which the raw rival takes the addresses in the session's arena.
inline rondo::ArgWord* last_args = nullptr;

[[gnu::noinline]] inline void touch(rondo::ArgWord* args) {
  last_args = args;
  *reinterpret_cast<float*>(args[0]) += 1.0F;  // NOLINT: the address of simulated memory
}

template <std::size_t K>
struct Hosts {
  explicit Hosts(std::size_t bytes) {
    for (auto& h : memory) h.assign(bytes / sizeof(float), 1.0F);
  }
  std::array<std::vector<float>, K> memory;
};

template <class P, std::size_t K>
class RondoCase {
 public:
  explicit RondoCase(std::size_t bytes) : hosts_(bytes), graph_(make_graph(bytes)), session_(rondo::open<P>(graph_)) {}

  [[gnu::always_inline]] rondo::Status round() { return round(std::make_index_sequence<K>{}); }
  auto prebind() { return prebind(std::make_index_sequence<K>{}); }
  auto& session() { return session_; }
  Hosts<K>& hosts() { return hosts_; }

 private:
  rondo::TaskGraph make_graph(std::size_t bytes) {
    rondo::TaskGraph graph;
    for (std::size_t i = 0; i < K; ++i) {
      handles_[i] = graph.inout<float>("t" + std::to_string(i), {bytes / sizeof(float)});
    }
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      graph.add_raw("touch", rondo::CoreType::vector, &touch, rondo::updates(handles_[I])...);
    }(std::make_index_sequence<K>{});
    return graph;
  }
  template <std::size_t... I>
  [[gnu::always_inline]] rondo::Status round(std::index_sequence<I...>) {
    return session_.run_round(bind(handles_[I], hosts_.memory[I])...);
  }
  template <std::size_t... I>
  auto prebind(std::index_sequence<I...>) {
    return session_.prebind(bind(handles_[I], hosts_.memory[I])...);
  }

  Hosts<K> hosts_;
  std::array<rondo::InputOutput<float>, K> handles_;
  rondo::TaskGraph graph_;
  decltype(rondo::open<P>(graph_)) session_;
};

/// The same round written by hand: copies in, one call, copies out; over the session's arena and args.
class RawCase {
 public:
  template <std::size_t K>
  explicit RawCase(RondoCase<rondo::A2A3Sim, K>& twin) {
    (void)twin.round();
    args_ = last_args;
    for (std::size_t i = 0; i < K; ++i) {
      auto& host = twin.hosts().memory[i];
      pairs_.push_back({host.data(), reinterpret_cast<void*>(args_[i]), host.size() * sizeof(float)});  // NOLINT
    }
  }

  [[gnu::always_inline]] void round() {
    for (const Pair& p : pairs_) std::memcpy(p.device, p.host, p.bytes);
    kernel_(args_);
    for (const Pair& p : pairs_) std::memcpy(p.host, p.device, p.bytes);
  }

 private:
  struct Pair {
    void* host;
    void* device;
    std::size_t bytes;
  };
  std::vector<Pair> pairs_;
  rondo::KernelEntry kernel_ = &touch;
  rondo::ArgWord* args_ = nullptr;
};

}  // namespace round_cases
