// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conformance/counting_loop.hpp"

#include <doctest/doctest.h>

namespace counting {

/// Conditions in memory of a kind, which the session places and which rounds bind, before and after the arena moves.
template <class P>
void check_conditions_in(rondo::MemoryKind kind) {
  rondo::TaskGraph graph;
  const auto kept = graph.resident<Int>("kept", {1});
  const auto bound = graph.input<Int>("bound", {32});
  const auto last = graph.workspace<Int>("last", {1});
  const auto x = graph.input<Int>("x", {1});
  const auto y = graph.inout<Int>("y", {1});
  const auto z = graph.inout<Int>("z", {1});
  graph.make_view(last, bound, 16);
  graph.in_memory(kept, kind);
  graph.in_memory(bound, kind);
  graph.when(kept, [&] { graph.add<Copy>(x, y); });
  graph.when(last, [&] { graph.add<Copy>(x, z); });
  auto session = rondo::open<P>(graph);
  auto array = session.allocate(bound);
  const auto check_both = [&] {
    for (const Int flag : {0, 1, 0}) {
      Ints flags(32, 1 - flag), hx{7}, hy{1}, hz{1};
      flags[16] = flag;
      REQUIRE(session.upload(kept, Ints{1 - flag}).ok());
      REQUIRE(session.upload(array, flags).ok());
      REQUIRE(session.run_round(bind(bound, array), bind(x, hx), bind(y, hy), bind(z, hz)).ok());
      CHECK(hy[0] == (flag == 0 ? 7 : 1));
      CHECK(hz[0] == (flag == 0 ? 1 : 7));
    }
  };
  check_both();
  const auto arena = session.platform().allocate(session.arena_bytes(), rondo::Bytes{P::Arch::arena_alignment});
  REQUIRE(session.move_arena({arena, session.arena_bytes().value}).ok());
  check_both();
  REQUIRE(session.close().ok());
  CHECK(session.platform().release(arena).ok());
}

}  // namespace counting
