// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Runs `rounds` rounds of one case of round_overhead inside measured(), for an instruction counter to look at.
// Usage: round_instructions <raw|rondo|prebound|null|shaped> <1|4|16> <bytes> <rounds>

#include "../../bench/round_cases.hpp"

#include <rondo/session/shaped_session.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using round_cases::RawCase;
using round_cases::RondoCase;

// Hot: g++ compiles what main() calls once for size, and would open-code memcpy as a loop of one byte per instruction.
template <class Round>
[[gnu::noinline, gnu::hot]] bool measured(long rounds, Round round) {
  bool ok = true;
  for (long i = 0; i < rounds; ++i) ok &= round();
  return ok;
}

/// The same tensors in a session of many shapes, whose rounds all have the one it knows.
template <std::size_t K>
class ShapedCase {
 public:
  explicit ShapedCase(std::size_t bytes) : hosts_(bytes), session_(rondo::open_shaped<rondo::A2A3Sim>(make_graph())) {}
  [[gnu::always_inline]] rondo::Status round() { return round(std::make_index_sequence<K>{}); }

 private:
  rondo::TaskGraph make_graph() {
    rondo::TaskGraph graph;
    const auto n = graph.dim("n");
    for (std::size_t i = 0; i < K; ++i) handles_[i] = graph.inout<float>("t" + std::to_string(i), {n});
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      graph.add_raw("touch", rondo::CoreType::vector, &round_cases::touch, rondo::updates(handles_[I])...);
    }
    (std::make_index_sequence<K>{});
    return graph;
  }
  template <std::size_t... I>
  [[gnu::always_inline]] rondo::Status round(std::index_sequence<I...>) {
    return session_.run_round(bind(handles_[I], hosts_.memory[I])...);
  }

  round_cases::Hosts<K> hosts_;
  std::array<rondo::InputOutput<float>, K> handles_;
  rondo::ShapedSession<rondo::A2A3Sim> session_;
};

template <std::size_t K>
bool run(std::string_view which, std::size_t bytes, long rounds) {
  RondoCase<rondo::A2A3Sim, K> rondo(bytes);
  if (which == "rondo")
    return measured(
        rounds, [&]() __attribute__((always_inline)) { return rondo.round().ok(); });
  if (which == "prebound") {
    const auto binding = rondo.prebind();
    return measured(
        rounds, [&]() __attribute__((always_inline)) { return rondo.session().run_round(binding).ok(); });
  }
  if (which == "null") {
    RondoCase<rondo::NullPlatform, K> null(bytes);
    return measured(
        rounds, [&]() __attribute__((always_inline)) { return null.round().ok(); });
  }
  if (which == "shaped") {
    ShapedCase<K> shaped(bytes);
    return measured(
        rounds, [&]() __attribute__((always_inline)) { return shaped.round().ok(); });
  }
  if (which != "raw") return false;
  RawCase raw(rondo);
  return measured(
      rounds, [&]() __attribute__((always_inline)) {
        raw.round();
        return true;
      });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5)
    return std::fprintf(stderr,
                        "usage: round_instructions <raw|rondo|prebound|null|shaped> <1|4|16> <bytes> <rounds>\n"),
           2;
  const auto bytes = static_cast<std::size_t>(std::atol(argv[3]));
  const long rounds = std::atol(argv[4]);
  const std::string_view k = argv[2];
  const bool ok = k == "1"   ? run<1>(argv[1], bytes, rounds)
                  : k == "4" ? run<4>(argv[1], bytes, rounds)
                             : k == "16" && run<16>(argv[1], bytes, rounds);
  return ok ? 0 : 1;
}
