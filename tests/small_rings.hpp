// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

/// Options of a session whose graph is built during the round, with room for small graphs. With the default options a
/// session takes a tenth of a second to open over the stand-in, and most of a second under ThreadSanitizer, so only
/// tests that open one or two sessions use the defaults.
template <class Options>
Options small_rings() {
  Options options;
  options.orchestration.window = options.orchestration.tensors = 2048;
  options.orchestration.regions = options.orchestration.edges = 8192;
  options.orchestration.ring_bytes = rondo::Bytes{1U << 18};
  return options;
}
