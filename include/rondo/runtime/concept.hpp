// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/error.hpp>
#include <rondo/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::runtime {

/// Runs the rounds of one graph on one platform: `typename Runtime::template Runner<P, Graph>`. A session opens its
/// platform with `typename Runtime::template Options<P>`, which is P::Options or derives from it.
///
/// * `Runner(P&, const Graph&, args::ArgsTable&, const Options&)` loads the graph; throws Error;
/// * `Runner(Runner& first, const Graph&, args::ArgsTable&)` makes the runner of a further slot, which may share
///   parts of the first one, which must outlive it; throws Error;
/// * `launch()` starts a round and does not wait;
/// * `settle()`, after each launch() and before the round's outputs are copied, waits for the round if the
///   platform cannot order the two;
/// * `outcome(waited)`, after each platform.wait(), which returned `waited`, returns the outcome of the launched round;
///   if nothing was launched since the last wait, it returns `waited`;
/// * `place_tensor(tensor, address)` sets the address of a tensor of the graph from the next launch on; a host input's
///   address is in host memory. Called before the first launch and on each change, if `has_tensor_places`;
/// * `move_arena(from, to)`, between rounds: everything that the session placed at `from` is at `to` from now on;
/// * `program()` is the program that the platform's queue launches, in place of launch(), settle() and outcome();
/// * `failure_text()` describes the last failure; null means: ask the platform;
/// * `unload()` waits, and releases the resources of the runner; a session calls it once.
template <class R>
concept Runner = requires(R& runner, const R& known, Status waited, DevicePtr<std::byte> arena, std::size_t tensor,
                          std::uint64_t address) {
  { R::has_tensor_places } -> std::convertible_to<bool>;  ///< place_tensor() must be called
  { runner.launch() } noexcept -> std::same_as<Status>;
  { runner.settle() } noexcept -> std::same_as<Status>;
  { runner.outcome(waited) } noexcept -> std::same_as<Status>;
  { runner.place_tensor(tensor, address) } noexcept -> std::same_as<void>;
  { runner.move_arena(arena, arena) } noexcept -> std::same_as<void>;
  { known.failure_text() } noexcept -> std::same_as<const Error::Text*>;
  { runner.unload() } noexcept -> std::same_as<Status>;
};

/// A runner whose programs may learn (see HasLearning): `learned()` returns what they learned as bytes, and
/// `restore(bytes)`, before the first round, gives it back; throws Error.
template <class R>
concept RunnerLearns = requires(R& runner, const R& known, std::span<const std::byte> bytes) {
  { known.learned() } -> std::same_as<std::vector<std::byte>>;
  runner.restore(bytes);
};

}  // namespace rondo::runtime
