// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/update/deferred_refresher.hpp>
#include <rondo/update/mechanism.hpp>
#include <rondo/update/strategies.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace rondo::update {

/// The refresher of an args table that kernels read in host memory: setting a base writes its slots.
/// Lifetime: immovable; kernels read its table. Thread safety: none. Errors: the constructor throws the errors of the
/// table. Cost on the hot path: one comparison for a base whose address does not change; two stores and an addition for
/// one that moved and has one slot; a call and one store per slot for others. refresh() itself: one load, two stores,
/// no branch.
class DirectRefresher {
 public:
  /// Has the parameters of DeferredRefresher, but does not use the platform.
  template <class P>
  DirectRefresher(P&, const graph::GraphView& view, const args::Bases& bases,
                  args::SystemProvider provider = &args::no_system_provider)
      : DirectRefresher(view, bases, provider) {}
  DirectRefresher(const DirectRefresher&) = delete;
  DirectRefresher& operator=(const DirectRefresher&) = delete;

  [[nodiscard]] args::ArgsTable& table() noexcept { return table_; }
  [[nodiscard]] const args::ArgsTable& table() const noexcept { return table_; }

  // --- changes by a round: see DeferredRefresher

  [[nodiscard]] std::uint64_t base(std::uint32_t id) const noexcept { return bases_[id].address; }
  [[nodiscard]] std::uint64_t port_address(std::size_t port) const noexcept { return ports_[port].address; }
  [[gnu::always_inline]] void set_base(std::uint32_t id, std::uint64_t address) noexcept { set(bases_[id], address); }
  [[gnu::always_inline]] void set_port_address(std::size_t port, std::uint64_t address) noexcept {
    set(ports_[port], address);
  }
  void assume_device_unknown() noexcept {}
  [[nodiscard]] std::byte* host_input(std::size_t tensor) noexcept {
    changes_ |= host_input_changed;
    return table_.bytes() + table_.host_input_begin(tensor);
  }
  void set_constant(const graph::GraphView& graph, std::size_t position, const graph::ArgRecord& arg,
                    ArgWord bits) noexcept {
    table_.set_constant(graph, position, arg, bits);
    changes_ |= constant_changed;
  }

  // --- the refresh

  /// Ends the changes of this round; later ones belong to the next. Never fails.
  template <class Channel>
  Status refresh(const Channel&) noexcept {
    return refresh();
  }
  Status refresh() noexcept {
    refreshed_ = changes_;
    changes_ = 0;
    return {};
  }
  [[nodiscard]] Refreshed refreshed() const noexcept {
    if (refreshed_ == 0) return {};
    const std::uint64_t slots = refreshed_ & (host_input_changed - 1);
    const Changes changes{(refreshed_ & feature_map_moved) != 0, slots != 0, true,
                          (refreshed_ & constant_changed) != 0};
    return {changes.level(), Mechanism::in_place, slots, 0};
  }

  [[nodiscard]] Bytes device_bytes() const noexcept { return Bytes{0}; }
  Status release() noexcept { return {}; }

 private:
  struct Base {
    std::uint64_t address = 0;
    ArgWord* slot = nullptr;  ///< the one word that holds the unchanged address; null if there is none
  };
  // One number holds the changes since the last refresh: the number of slots written, and these bits above it.
  static constexpr std::uint64_t host_input_changed = std::uint64_t{1} << 56;
  static constexpr std::uint64_t feature_map_moved = std::uint64_t{1} << 57;
  static constexpr std::uint64_t constant_changed = std::uint64_t{1} << 58;

  DirectRefresher(const graph::GraphView& graph, const args::Bases& bases, args::SystemProvider provider);

  [[gnu::always_inline]] void set(Base& base, std::uint64_t address) noexcept {
    if (base.address == address) [[likely]]
      return;
    base.address = address;
    if (base.slot != nullptr) [[likely]] {
      *base.slot = static_cast<ArgWord>(address);
      ++changes_;
    } else {
      rewrite(base);
    }
  }
  /// Out of line, so that bases with one slot do not pay for the others.
  [[gnu::noinline]] void rewrite(const Base& base) noexcept {
    const auto id = static_cast<std::uint32_t>(&base - bases_.data());
    const std::uint32_t slots = table_.rewrite(id, base.address);
    changes_ += slots;
    if (slots != 0 && id < table_.bases().first_io) changes_ |= feature_map_moved;
  }

  std::vector<Base> bases_;
  Base* ports_;  ///< the bases of inputs and outputs
  std::uint64_t changes_ = 0;
  std::uint64_t refreshed_ = 0;  ///< the value of `changes_` at the last refresh
  args::ArgsTable table_;
};

/// Whether slots can be written as soon as their base is set: kernels read the host's image, and the strategy refreshes
/// only what changed.
template <class P, class S, class C>
inline constexpr bool is_direct = HasArgsInHostMemory<P> && C::allows(Mechanism::in_place) && is_exact<S>;

/// An args table on a platform, kept consistent with its bases: once per round, after the bases are set, refresh()
/// applies the changes to the device. Both refreshers have the same members.
template <class P, UpdateStrategy S = Auto, MechanismChoice C = ByCost<>>
using Refresher = std::conditional_t<is_direct<P, S, C>, DirectRefresher, DeferredRefresher<P, S, C>>;

}  // namespace rondo::update
