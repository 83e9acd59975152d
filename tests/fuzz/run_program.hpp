// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuzz/fuzz.hpp>
#include <rondo/rondo.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>

namespace rondo::fuzz {

/// Whether a kernel that fails takes the sessions of the whole process along.
template <class P>
inline constexpr bool fails_for_all = std::is_same_v<typename P::Arch, arch::Cuda>;

/// Runs the bytes as a program: a graph, and calls to one session or to two at the same time, over one device. A Rig
/// has a session and checks what it does: `Rig::Graph(bytes)` chooses the graph, and `step(bytes, other)` makes a call.
template <class Rig>
void run_program(Bytes bytes) {
  const typename Rig::Graph graph(bytes);
  std::array<std::optional<Rig>, 2> sessions;
  sessions[0].emplace(graph);
  bool is_lost = false;
  for (int steps = 0; !bytes.empty() && steps < 200; ++steps) {
    const std::size_t which = bytes.take() % 8 == 7 ? 1 : 0;
    if (!sessions[which]) {
      is_lost = is_lost && sessions[1 - which];
      if (is_lost) continue;
      sessions[which].emplace(graph);
    }
    Rig& session = *sessions[which];
    Rig* const other = sessions[1 - which] ? &*sessions[1 - which] : nullptr;
    if (session.is_over()) {
      sessions[which].reset();
      continue;
    }
    session.step(bytes, other);
    if (fails_for_all<typename Rig::P> && session.has_failed()) {
      is_lost = true;
      if (other != nullptr) other->note_failed_for_all();
    }
  }
}

}  // namespace rondo::fuzz
