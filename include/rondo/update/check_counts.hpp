// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/error.hpp>
#include <rondo/slice.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::update {

/// One address for each base, one source for each tensor, each source a base that is there.
/// @throws Error invalid_argument, saying how many are missing or which tensor has none
inline void check_counts(const graph::GraphView& graph, Slice<const args::Source> sources, args::BaseLayout bases,
                         Slice<const std::uint64_t> addresses) {
  if (addresses.size() < bases.count || sources.size() < graph.tensors.size()) {
    throw Error(Errc::invalid_argument,
                Error::Text("the args table has ", bases.count, " bases and ", graph.tensors.size(), " tensors, but ",
                            addresses.size(), " addresses and ", sources.size(), " sources were given"));
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (sources[t].base < bases.count || rides_in_args(graph.tensors[t].direction)) continue;
    throw Error(Errc::invalid_argument, Error::Text("tensor '", graph.name(graph.tensors[t].name), "' lies in base ",
                                                    sources[t].base, ", of which there are ", bases.count));
  }
}

}  // namespace rondo::update
