// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rondo::memory {

/// The order in which a platform runs the tasks of a graph; the less is known, the fewer tensors share memory.
enum class Concurrency : std::uint8_t {
  sequential,  ///< one at a time, in the order of the frozen graph
  in_lanes,    ///< in the lanes that the graph is dealt to (see graph/lanes.hpp); if it is not, as `sequential`
  parallel,    ///< in any order that the edges allow, at the same time
  unordered,   ///< in an order that the graph does not tell, or watched: no two tensors share
};

/// The concurrency that a platform states with `static constexpr rondo::memory::Concurrency concurrency = …;`; parallel
/// where it states none.
template <class P>
[[nodiscard]] consteval Concurrency concurrency_of() {
  if constexpr (requires { P::concurrency; }) {
    return P::concurrency;
  } else {
    return Concurrency::parallel;
  }
}

}  // namespace rondo::memory
