// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Any bytes as a file of session.save(): an Error, or a plan within the arena. So that the fuzzer gets past the
// checksum, the bytes are also taken as the contents of a file whose header is right, and as what a Pool learned, with
// and without its costs: an Error, or a schedule with which a round ends and computes what it should.
//
// clang++-19 -std=c++20 -fsanitize=fuzzer,address,undefined -Iinclude -Itests tests/fuzz/saved_session_fuzz.cpp
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>
#include <unit/platform/sim/programs.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace rondo;

void require(bool condition) {
  if (!condition) std::abort();
}

struct AddOne {
  static constexpr std::string_view name = "add_one";
  static constexpr auto core = CoreType::vector;
  static void run(In<std::uint64_t> x, Out<std::uint64_t> y) noexcept { y[0] = x[0] + 1; }
};

/// A fork and two chains.
struct Rig {
  TaskGraph graph;
  Input<std::uint64_t> x = graph.input<std::uint64_t>("x", {1});
  Output<std::uint64_t> y = graph.output<std::uint64_t>("y", {1});
  Output<std::uint64_t> z = graph.output<std::uint64_t>("z", {1});

  Rig() {
    const auto fork = graph.workspace<std::uint64_t>("fork", {1});
    graph.add<AddOne>(x, fork);
    for (const auto& end : {y, z}) {
      const auto w = graph.workspace<std::uint64_t>("w" + std::to_string(index(end.key.tensor())), {1});
      graph.add<AddOne>(fork, w);
      graph.add<AddOne>(w, end);
    }
  }
  /// A round of a Pool that was given these bytes.
  void run_restored(std::span<const std::byte> bytes) const {
    static test::Loaded<Pool> rig{graph, {.threads = 2}};
    auto program = rig.engine.load(rig.frozen, rig.table);
    program.restore(bytes);
    *rig.at(x) = 5;
    for (int round = 0; round < 3; ++round) {
      *rig.at(y) = *rig.at(z) = 0;
      require(rig.engine.launch(program).ok() && rig.engine.wait().ok());
      require(*rig.at(y) == 8 && *rig.at(z) == 8);
    }
    require(rig.engine.unload(program).ok());
  }
};

void check_plan(const detail::SavedState& state, const graph::GraphView& graph) {
  require(state.offsets.size() == graph.tensors.size());
  for (std::size_t t = 0; t < state.offsets.size(); ++t) {
    require(state.offsets[t] + graph.tensors[t].bytes <= state.arena_bytes && state.offsets[t] <= state.arena_bytes);
  }
}

/// Calls `use`; an Error of a file that does not fit is as good as none.
template <class Use>
void allow_refusal(const Use& use) {
  try {
    use();
  } catch (const Error& error) {
    require(error.code() == Errc::invalid_argument);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Rig rig;
  static const FrozenGraph frozen = freeze(rig.graph);
  static const arch::Limits& chip = arch::limits_of<arch::A2A3>;
  static const detail::SavedKey key = detail::make_saved_key({"a2a3_sim", frozen.view(), chip, {}});
  const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data),
                                     reinterpret_cast<const std::byte*>(data) + size);
  const auto decode = [&](std::span<const std::byte> file) {
    check_plan(detail::decode_saved("file", file, key, frozen.view(), chip), frozen.view());
  };
  allow_refusal([&] { decode(bytes); });

  // The same after what identifies a session: 32 characters and three hashes.
  detail::ByteWriter body;
  detail::SavedName platform;
  std::memcpy(platform.text, key.platform.c_str(), key.platform.size());
  body.put(platform);
  for (const std::uint64_t hash : {key.chip, key.graph, key.layout}) body.put(hash);
  for (const std::byte byte : bytes) body.put(byte);
  detail::SavedHeader header;
  header.size = body.bytes().size();
  header.checksum = detail::checksum_of(body.bytes());
  detail::ByteWriter file;
  file.put(header);
  for (const std::byte byte : body.bytes()) file.put(byte);
  allow_refusal([&] { decode(file.bytes()); });

  allow_refusal([&] { rig.run_restored(bytes); });
  detail::ByteWriter learned;  // by two threads, for the costs of five tasks
  learned.put(std::uint32_t{2});
  learned.put_all(std::vector<double>(5, 1000.0));
  for (const std::byte byte : bytes) learned.put(byte);
  allow_refusal([&] { rig.run_restored(learned.bytes()); });
  return 0;
}
