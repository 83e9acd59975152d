// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/report.hpp>
#include <rondo/session/session.hpp>

#include <cstddef>
#include <type_traits>

/// The body of a session's memory_report(). Include it where you call that function.
namespace rondo::detail {

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
memory::Report Session<Derived, P, Policies, Graph, Slots>::memory_report() const {
  constexpr memory::Concurrency order = std::is_same_v<typename Policies::Plan, memory::Disjoint>
                                            ? memory::Concurrency::unordered
                                            : concurrency<P, Graph>;
  memory::Report report =
      memory::make_report(graph_.view(), arch::limits_of<typename P::Arch>, order, layout_.offsets());
  Bytes args;
  Bytes image;
  for (const Instance& instance : instances_) {
    args.value += instance.refresher().device_bytes().value;
    image.value += instance.refresher().table().image().size();
  }
  report.holdings.push_back({memory::MemoryKind::hbm, "tensors", arena_.size()});
  report.holdings.push_back({memory::MemoryKind::hbm, "args", args});
  report.holdings.push_back({memory::MemoryKind::host, "args image", image});
  if constexpr (HasHoldings<P>) {
    const auto add = [&](const char* what, Bytes bytes, bool on_device) {
      const auto kind = on_device ? memory::MemoryKind::hbm : memory::MemoryKind::pinned_host;
      if (bytes.value != 0) report.holdings.push_back({kind, what, bytes});
    };
    platform_.holdings(add);
  }
  return report;
}

}  // namespace rondo::detail
