// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/session/address_order.hpp>
#include <rondo/session/bindings.hpp>
#include <rondo/session/ports.hpp>
#include <rondo/slice.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::detail {

/// How a session's ports stand between two rounds.
template <class Graph, class Ports, class Refresher>
struct Standing {
  const Graph& graph;
  Ports ports;                 ///< a view, as Ports::view() gives it
  const Refresher& refresher;  ///< where the last round had each
  Slice<const bool> frozen;

  [[nodiscard]] std::uint32_t tensor(std::size_t p) const noexcept { return index(ports[p].key.tensor()); }
  [[nodiscard]] const graph::TensorRecord& record(std::size_t p) const noexcept {
    return graph.view().tensors[tensor(p)];
  }
  /// Where the device memory is that a round wants for a port; 0: in the arena.
  [[nodiscard]] std::uint64_t bound(std::size_t p, const Binding& binding) const noexcept {
    if (!frozen[p]) return binding.device;
    // Its binding is not looked at: it is where it was.
    return refresher.io(p) == ports[p].device.address() ? 0 : refresher.io(p);
  }
};

/// What must hold of the addresses that rounds bind: by the graph, which knows of aliases, views and addresses that
/// never change; and since no round may write memory that it also uses as another tensor's.
template <class Arch>
class PortRules {
 public:
  /// Of which ports are the addresses looked at?
  enum class Look : std::uint8_t { at_moved, at_all };

  /// In session/set_up.hpp. @throws std::bad_alloc
  explicit PortRules(const graph::GraphView& graph);

  /// Has the graph nothing to say: no port's address is fixed, or follows from another's?
  [[nodiscard]] bool are_free() const noexcept { return are_free_; }
  [[nodiscard]] bool has_aliases() const noexcept { return has_aliases_; }
  [[nodiscard]] Slice<const PortView> views() const noexcept { return views_.slice(); }

  /// May ports that are free, none of them frozen, move to `addresses`? 0 stands for the arena. Else see check_moved().
  template <class Ports>
  [[nodiscard]] bool may_move(const Ports& ports, Slice<const std::uint64_t> addresses) noexcept {
    return order_.are_apart(addresses, ports);
  }
  /// Two inputs may be the same memory, after all; and which of them is wrong?
  template <class S>
  [[gnu::noinline, gnu::cold]] Status check_moved(const S& now, Slice<const std::uint64_t> addresses) const noexcept {
    return check_addresses(
        now, addresses.size(), [&](std::size_t p) { return addresses[p]; }, Look::at_moved);
  }

  /// May any ports be bound so? The bindings stand in the order of the ports.
  template <class S>
  Status check(const S& now, Slice<const Binding> bindings, Look look = Look::at_moved) const noexcept {
    const auto address_of = [&](std::size_t p) { return now.bound(p, bindings[p]); };
    Status status = check_addresses(now, bindings.size(), address_of, look);
    if (status.ok() && has_aliases_) status = check_aliases(now, bindings);
    if (status.ok() && views_.size() != 0) status = check_views(now, bindings);
    return status;
  }

 private:
  template <class S, class AddressOf>
  static Status check_addresses(const S& now, std::size_t count, const AddressOf& address_of, Look look) noexcept {
    for (std::size_t p = 0; p < count; ++p) {
      const std::uint64_t begin = address_of(p);
      if (begin == 0 || (look == Look::at_moved && begin == now.refresher.io(p))) continue;
      if (begin % Arch::block_granule != 0) return Status::of_tensor(Errc::misaligned, now.tensor(p));
      if (now.record(p).fixed) return Status::of_tensor(Errc::fixed_address, now.tensor(p));
      const std::uint64_t end = begin + now.ports[p].bytes;
      for (std::size_t q = 0; q < count; ++q) {
        const std::uint64_t other = address_of(q);
        // Without branches but for the one that is not taken.
        const bool overlaps = (other != 0) & (begin < other + now.ports[q].bytes) & (other < end) & (p != q);
        if (overlaps && !may_overlap(now, p, q)) [[unlikely]]
          return Status::of_tensor(Errc::overlapping, now.tensor(p));
      }
    }
    return {};
  }
  template <class S>
  [[nodiscard, gnu::cold]] static bool may_overlap(const S& now, std::size_t p, std::size_t q) noexcept {
    if (!copies_out(now.ports[p].direction) && !copies_out(now.ports[q].direction)) return true;
    const auto& tensors = now.graph.view().tensors;
    return now.record(p).alias_of == now.tensor(q) || now.record(q).alias_of == now.tensor(p) ||
           graph::root_of(tensors, now.tensor(p)) == graph::root_of(tensors, now.tensor(q));
  }

  /// An output that reuses an input's memory is bound to the same.
  template <class S>
  static Status check_aliases(const S& now, Slice<const Binding> bindings) noexcept {
    for (std::size_t p = 0; p < bindings.size(); ++p) {
      if (now.record(p).alias_of == graph::TensorRecord::no_alias) continue;
      std::size_t input = 0;
      while (now.tensor(input) != now.record(p).alias_of) ++input;
      if (bindings[p].data != bindings[input].data || bindings[p].device != bindings[input].device) {
        return Status::of_tensor(Errc::alias_broken, now.tensor(p));
      }
    }
    return {};
  }

  /// Device memory that is bound to a view is that of what it shows.
  template <class S>
  Status check_views(const S& now, Slice<const Binding> bindings) const noexcept {
    for (const PortView& view : views_) {
      if (bindings[view.port].device == 0) continue;
      std::uint64_t expected = now.ports[view.port].device.address();
      if (view.source != PortView::in_the_arena) {
        const std::uint64_t bound = now.bound(view.source, bindings[view.source]);
        expected = (bound != 0 ? bound : now.ports[view.source].device.address()) + view.offset;
      }
      if (bindings[view.port].device != expected) return Status::of_tensor(Errc::alias_broken, now.tensor(view.port));
    }
    return {};
  }

  OwnedArray<PortView> views_;
  bool has_aliases_ = false;
  bool are_free_ = true;
  AddressOrder<Arch::block_granule> order_;
};

}  // namespace rondo::detail
