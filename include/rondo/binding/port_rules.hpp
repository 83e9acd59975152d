// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/binding/ports.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::detail {

/// A port whose tensor is a view of another tensor's memory.
struct PortView {
  static constexpr std::uint32_t in_the_arena = 0xFFFF'FFFF;
  std::uint32_t port = 0;
  std::uint32_t source = in_the_arena;  ///< the port that it is a view of, if its source is a port
  std::uint64_t offset = 0;             ///< in bytes, from the start of the source
};

/// The rules for the addresses that rounds bind. The graph determines aliases, views and addresses that never change;
/// and no round may write device memory that it also binds to another tensor. Memory of the arena is not compared.
/// `CopiesFixed`: whether rounds copy device memory that they bind to a tensor with a fixed address.
template <class Arch, bool CopiesFixed>
class PortRules {
  static_assert((Arch::block_granule & (Arch::block_granule - 1)) == 0);

 public:
  /// The ports whose addresses are checked.
  enum class Look : std::uint8_t { at_moved, at_all };

  /// @throws std::bad_alloc
  explicit PortRules(const graph::GraphView& view);

  /// Whether the graph sets no rule: no port's address is fixed or depends on another's.
  [[nodiscard]] bool are_free() const noexcept { return are_free_; }
  /// Whether a round needs more than its pairs: an output reuses an input, or a tensor has no bytes to copy.
  [[nodiscard]] bool are_special() const noexcept { return has_aliases_ || has_empty_; }
  [[nodiscard]] const std::vector<PortView>& views() const noexcept { return views_; }
  /// Whether the address of a port's tensor never changes.
  template <class Instance>
  [[nodiscard]] bool is_fixed(const Instance& now, std::size_t p) const noexcept {
    return has_fixed_ && now.is_fixed(p);
  }

  /// Whether free ports, none of them held, may move to `addresses`, where 0 means the arena: each begins at a multiple
  /// of the granule, and no two overlap. If the answer is no, check_moved() decides. The check is fast if their order
  /// by address has not changed since the last time, which is common even when the addresses change. Cost: a few
  /// instructions per port; if the order has changed, also the cost of sorting.
  template <class Ports>
  [[nodiscard, gnu::noinline]] bool may_move(const Ports& ports, std::span<const std::uint64_t> addresses) noexcept {
    if (are_apart(ports, addresses)) [[likely]]
      return true;
    sort_ports(addresses);
    return are_apart(ports, addresses);
  }
  /// The same by comparing all pairs: two inputs may share memory, and the status names the tensor that breaks a rule.
  template <class Instance>
  [[gnu::noinline, gnu::cold]] Status check_moved(const Instance& now,
                                                  std::span<const std::uint64_t> addresses) const noexcept {
    return check_addresses(now, addresses, Look::at_moved, false);
  }

  /// Checks whether ports may be bound to these addresses. The bindings are in the order of the ports.
  template <class Instance, class Ports>
  [[gnu::noinline]] Status check(const Instance& now, const Ports& ports, std::span<const Binding> bindings,
                                 Look look) noexcept {
    std::size_t moved = 0;
    for (std::size_t p = 0; p < bindings.size(); ++p) {
      addresses_[p] = now.bound(p, bindings[p]);
      moved += addresses_[p] != 0 && (look == Look::at_all || addresses_[p] != now.address(p)) ? 1 : 0;
    }
    const std::span<const std::uint64_t> addresses(addresses_.data(), bindings.size());
    Status status;
    // The pairwise check is faster for a single port, and its answer is final.
    if (moved == 1 || (moved != 0 && !(are_free_ && may_move(ports, addresses)))) {
      status = check_addresses(now, addresses, look, CopiesFixed);
    }
    if (status.ok() && has_aliases_) status = check_aliases(now, bindings);
    if (status.ok() && !views_.empty()) status = check_views(now, bindings);
    return status;
  }

 private:
  /// The result is unspecified for an empty tensor inside another.
  template <class Ports>
  [[nodiscard]] bool are_apart(const Ports& ports, std::span<const std::uint64_t> begins) const noexcept {
    std::uint64_t end = 0;
    std::uint64_t bits = 0;
    bool are_apart = true;
    for (const std::uint32_t i : order_) {
      const std::uint64_t begin = begins[i];
      are_apart &= begin >= end;
      end = begin == 0 ? 0 : begin + ports[i].bytes;
      bits |= begin;
    }
    return are_apart && bits % Arch::block_granule == 0;
  }
  /// An insertion sort, because a round may sort, nearly sorted data takes little time, and sessions could not share an
  /// instance of std::sort, as each has its own comparison.
  [[gnu::noinline]] void sort_ports(std::span<const std::uint64_t> begins) noexcept {
    for (std::size_t i = 1; i < order_.size(); ++i) {
      const std::uint32_t moving = order_[i];
      std::size_t to = i;
      for (; to != 0 && begins[order_[to - 1]] > begins[moving]; --to) order_[to] = order_[to - 1];
      order_[to] = moving;
    }
  }

  template <class Instance>
  static Status check_addresses(const Instance& now, std::span<const std::uint64_t> addresses, Look look,
                                bool copies_fixed) noexcept {
    for (std::size_t p = 0; p < addresses.size(); ++p) {
      const std::uint64_t begin = addresses[p];
      if (begin == 0 || (look == Look::at_moved && begin == now.address(p))) continue;
      if (begin % Arch::block_granule != 0) return Status::of_tensor(Errc::misaligned, now.tensor(p));
      if (!copies_fixed && now.is_fixed(p)) return Status::of_tensor(Errc::fixed_address, now.tensor(p));
      const std::uint64_t end = begin + now.record(p).bytes;
      for (std::size_t q = 0; q < addresses.size(); ++q) {
        const std::uint64_t other = addresses[q];
        // Without branches, except for one that is almost never taken.
        const bool overlaps = (other != 0) & (begin < other + now.record(q).bytes) & (other < end) & (p != q);
        if (overlaps && !may_overlap(now, p, q)) [[unlikely]]
          return Status::of_tensor(Errc::overlapping, now.tensor(p));
      }
    }
    return {};
  }
  template <class Instance>
  [[nodiscard, gnu::cold]] static bool may_overlap(const Instance& now, std::size_t p, std::size_t q) noexcept {
    const graph::TensorRecord& a = now.record(p);
    const graph::TensorRecord& b = now.record(q);
    if (!copies_out(a.direction) && !copies_out(b.direction)) return true;
    return a.alias_of == now.tensor(q) || b.alias_of == now.tensor(p) || now.root(p) == now.root(q);
  }

  /// An output that reuses an input's memory must be bound to the same memory.
  template <class Instance>
  static Status check_aliases(const Instance& now, std::span<const Binding> bindings) noexcept {
    for (std::size_t p = 0; p < bindings.size(); ++p) {
      if (now.record(p).alias_of == graph::TensorRecord::no_alias || bindings[p].bytes == 0) continue;
      std::size_t input = 0;
      while (now.tensor(input) != now.record(p).alias_of) ++input;
      if (bindings[p].data != bindings[input].data || bindings[p].device != bindings[input].device) {
        return Status::of_tensor(Errc::alias_broken, now.tensor(p));
      }
    }
    return {};
  }

  /// Device memory bound to a view must lie at the view's offset in the memory of its source.
  template <class Instance>
  Status check_views(const Instance& now, std::span<const Binding> bindings) const noexcept {
    for (const PortView& view : views_) {
      if (bindings[view.port].device == 0) continue;
      std::uint64_t expected = now.arena_address(view.port);
      if (view.source != PortView::in_the_arena) {
        const std::uint64_t bound = now.bound(view.source, bindings[view.source]);
        expected = (bound != 0 ? bound : now.arena_address(view.source)) + view.offset;
      }
      if (bindings[view.port].device != expected) return Status::of_tensor(Errc::alias_broken, now.tensor(view.port));
    }
    return {};
  }

  std::vector<PortView> views_;
  bool has_aliases_ = false;
  bool has_empty_ = false;
  bool has_fixed_ = false;
  bool are_free_ = true;
  std::vector<std::uint32_t> order_;      ///< the ports, sorted by their last known addresses
  std::vector<std::uint64_t> addresses_;  ///< of the round that is checked
};

template <class Arch, bool CopiesFixed>
PortRules<Arch, CopiesFixed>::PortRules(const graph::GraphView& view) : addresses_(count_ports(view)) {
  std::vector<std::uint32_t> port_of(view.tensors.size(), PortView::in_the_arena);
  std::uint32_t port = 0;
  for (std::size_t t = 0; t < view.tensors.size(); ++t) {
    if (!is_bound_each_round(view.tensors[t].direction)) continue;
    order_.push_back(port);
    port_of[t] = port++;
  }
  for (std::size_t t = 0; t < view.tensors.size(); ++t) {
    const graph::TensorRecord& tensor = view.tensors[t];
    if (tensor.is_view() && is_bound_each_round(tensor.direction)) {
      views_.push_back({port_of[t], port_of[tensor.view_of], tensor.view_offset()});
    }
    has_aliases_ = has_aliases_ || tensor.alias_of != graph::TensorRecord::no_alias;
    has_empty_ = has_empty_ || (tensor.bytes == 0 && is_bound_each_round(tensor.direction));
    has_fixed_ = has_fixed_ || tensor.fixed;
  }
  are_free_ = !has_fixed_ && !has_aliases_ && views_.empty();
}

}  // namespace rondo::detail
