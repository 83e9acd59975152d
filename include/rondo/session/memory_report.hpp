// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/device_array.hpp>
#include <rondo/memory/report.hpp>
#include <rondo/session/other_memory.hpp>
#include <rondo/session/session.hpp>
#include <rondo/session/shaped_session.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

/// The bodies of the sessions' memory_report(). Include it where you call that function.
namespace rondo {
namespace detail {

/// The memory that a session holds besides its arena and its arrays.
struct SessionHoldings {
  Bytes args{};   ///< tables on the device
  Bytes image{};  ///< of the tables, on the host
  Bytes rings{};  ///< of a runtime that builds the graph on the device, with its arguments and results
  std::vector<memory::detail::Block> others{};  ///< of tensors outside the arena

  template <class Instances, Platform P>
  void add(const Instances& instances, const OtherMemory<P>& outside) {
    others.insert(others.end(), outside.all().begin(), outside.all().end());
    for (const auto& instance : instances) {
      args.value += instance.refresher().device_bytes().value;
      image.value += instance.refresher().table().image().size();
      if constexpr (requires { instance.runner().ring_bytes(); }) rings.value += instance.runner().ring_bytes().value;
    }
  }
};

/// `arrays`: those of the session's caller, or null.
template <Platform P>
void add_holdings(memory::Report& report, const P& platform, Bytes tensors, const SessionHoldings& held,
                  const memory::detail::Blocks* arrays) {
  const auto add = [&](MemoryKind kind, const char* what, Bytes bytes) {
    if (bytes.value != 0) report.holdings.push_back({kind, what, bytes});
  };
  report.holdings.push_back({MemoryKind::device, "tensors", tensors});
  report.holdings.push_back({MemoryKind::device, "args", held.args});
  report.holdings.push_back({MemoryKind::host, "args image", held.image});
  add(MemoryKind::device, "rings", held.rings);
  for (const memory::detail::Block& block : held.others) add(block.kind, "a tensor", block.bytes);
  if (arrays != nullptr) {
    for (const memory::detail::Block& block : arrays->all()) add(block.kind, "an array", block.bytes);
  }
  if constexpr (HasHoldings<P>) {
    const memory::Report of_session = report;
    platform.holdings([&](const char* what, Bytes bytes, MemoryKind kind) {
      if (what != nullptr) return add(kind, what, bytes);
      const std::uint64_t known = of_session.bytes(kind).value;
      if (bytes.value > known) add(kind, "allocated by the program", Bytes{bytes.value - known});
    });
  }
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
memory::Report Session<Derived, P, Policies, Graph, Slots>::memory_report() const {
  constexpr memory::Concurrency order = memory::detail::concurrency_for<typename Policies::Plan>(concurrency<P, Graph>);
  memory::Report report = memory::make_report(graph_.view(), arch::limits_of<typename P::Arch>, order,
                                              memory::detail::call_of<Plan>.ports_last, layout_.offsets());
  SessionHoldings held;
  held.add(instances_, others_);
  add_holdings(report, platform_, arena_.size(), held, this->blocks_.get());
  return report;
}

}  // namespace detail

template <Platform P, class Policies, class Capacity, std::size_t Depth>
memory::Report ShapedSession<P, Policies, Capacity, Depth>::memory_report() {
  detail::SessionHoldings held{.others = others_.all()};
  entries_.for_each([&](std::unique_ptr<Entry>& entry) { held.add(entry->instances(), entry->others()); });
  memory::Report report;
  detail::add_holdings(report, platform_, arena_bytes(), held, this->blocks_.get());
  return report;
}

}  // namespace rondo
