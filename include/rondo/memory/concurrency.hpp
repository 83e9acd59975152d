// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rondo::memory {

/// The order in which a platform runs the tasks of a graph. The less certain the order, the fewer tensors share memory.
enum class Concurrency : std::uint8_t {
  sequential,  ///< one at a time, in the order of the frozen graph
  in_lanes,    ///< in the lanes to which the graph is dealt (see graph/lanes.hpp); without lanes, as `sequential`
  parallel,    ///< in any order that the edges allow, also at the same time
  unordered,   ///< in an unknown order, or with memory checks: no two tensors share memory
};

/// The concurrency that a platform declares with `static constexpr rondo::memory::Concurrency concurrency = …;`;
/// parallel if it declares none.
template <class P>
[[nodiscard]] consteval Concurrency concurrency_of() {
  if constexpr (requires { P::concurrency; }) {
    return P::concurrency;
  } else {
    return Concurrency::parallel;
  }
}

}  // namespace rondo::memory
