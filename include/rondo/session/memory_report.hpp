// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/report.hpp>
#include <rondo/session/session.hpp>
#include <rondo/session/shaped_session.hpp>

#include <cstddef>
#include <type_traits>

/// The bodies of the sessions' memory_report(). Include it where you call that function.
namespace rondo {
namespace detail {

/// `args`: on the device; `image`: on the host.
template <Platform P>
void add_holdings(memory::Report& report, const P& platform, Bytes tensors, Bytes args, Bytes image) {
  report.holdings.push_back({MemoryKind::device, "tensors", tensors});
  report.holdings.push_back({MemoryKind::device, "args", args});
  report.holdings.push_back({MemoryKind::host, "args image", image});
  if constexpr (HasHoldings<P>) {
    const auto add = [&](const char* what, Bytes bytes, bool on_device) {
      const auto kind = on_device ? MemoryKind::device : MemoryKind::pinned_host;
      if (bytes.value != 0) report.holdings.push_back({kind, what, bytes});
    };
    platform.holdings(add);
  }
}

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
  add_holdings(report, platform_, arena_.size(), args, image);
  others_.for_each([&](MemoryKind kind, Bytes bytes) { report.holdings.push_back({kind, "a tensor", bytes}); });
  return report;
}

}  // namespace detail

template <Platform P, class Policies, class Capacity, std::size_t Depth>
memory::Report ShapedSession<P, Policies, Capacity, Depth>::memory_report() {
  Bytes args;
  Bytes image;
  for_each_entry([&](std::unique_ptr<Entry>& entry) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      args.value += entry->instance(slot).refresher().device_bytes().value;
      image.value += entry->instance(slot).refresher().table().image().size();
    }
  });
  memory::Report report;
  detail::add_holdings(report, platform_, capacity_, args, image);
  return report;
}

}  // namespace rondo
