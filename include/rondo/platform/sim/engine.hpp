// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/types.hpp>

#include <concepts>

/// What Sim asks of an engine beyond running programs: nothing that it must have. An engine that wants to know its chip
/// takes it in its constructor; one that wants to know of copies has the members below. For an engine that has neither
/// they cost no instruction.
namespace rondo::platform::sim {

template <class E>
concept KnowsItsChip = std::constructible_from<E, const typename E::Options&, const arch::Chip&>;

/// `copied_in` and `copied_out` are called behind each copy, `idle` when all that the session asked for is done: at the
/// end of a round, or of an upload or download.
template <class E>
concept HearsOfCopies = requires(E& engine, Bytes bytes) {
  engine.copied_in(bytes);
  engine.copied_out(bytes);
  engine.idle();
};

/// An engine that looks at more than its tasks do, and so wants one round at a time: it hears of copies, or says
/// `static constexpr bool watches_memory = true;`
template <class E>
concept WantsOneRound = HearsOfCopies<E> || requires {
  requires E::watches_memory;
};

template <class Engine>
[[nodiscard]] Engine make_engine(const typename Engine::Options& options, const arch::Chip& chip) {
  if constexpr (KnowsItsChip<Engine>) {
    return Engine(options, chip);
  } else {
    return Engine(options, chip.blocks);
  }
}

}  // namespace rondo::platform::sim
