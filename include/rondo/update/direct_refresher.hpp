// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/detail/owned_array.hpp>
#include <rondo/slice.hpp>
#include <rondo/update/mechanism.hpp>
#include <rondo/update/refreshed.hpp>
#include <rondo/update/strategies.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::update {

/// Are slots written as soon as their base is set? Where kernels read the host's image and nobody is asked what is due.
template <class P, class S, class C>
inline constexpr bool is_direct = is_capable<P>(Mechanism::in_place) && C::allows(Mechanism::in_place) && is_exact<S>;

/// The refresher of an args table that kernels read where the host writes it: to set a base is to write its slots.
///
/// Lifetime: immovable; kernels read its table. Thread safety: none.
/// Errors: the constructor throws Error, what the table reports.
/// Cost on the hot path: a compare for a base that stands where it stood, two stores and a count for one that moved and
/// has one slot, a call and a store per slot for others. refresh() itself: one load, two stores, no branch.
template <class P>
class DirectRefresher {
 public:
  /// As DeferredRefresher's; the platform is not touched.
  DirectRefresher(P&, const graph::GraphView& graph, Slice<const args::Source> sources, args::BaseLayout bases,
                  Slice<const std::uint64_t> addresses, args::SystemProvider provider = &args::no_system_provider);
  DirectRefresher(const DirectRefresher&) = delete;
  DirectRefresher& operator=(const DirectRefresher&) = delete;

  /// What it refreshes.
  [[nodiscard]] args::ArgsTable& table() noexcept { return table_; }
  /// What it refreshes.
  [[nodiscard]] const args::ArgsTable& table() const noexcept { return table_; }

  // --- what a round changes

  /// Where a base is in the next round.
  [[nodiscard]] std::uint64_t base(std::uint32_t id) const noexcept { return bases_[id].address; }
  /// Where the input or output of a port is.
  [[nodiscard]] std::uint64_t io(std::size_t port) const noexcept { return io_[port].address; }
  /// Says where a base will be.
  [[gnu::always_inline]] void set_base(std::uint32_t id, std::uint64_t address) noexcept { set(bases_[id], address); }
  /// Says where the input or output of a port will be.
  [[gnu::always_inline]] void set_io(std::size_t port, std::uint64_t address) noexcept { set(io_[port], address); }
  /// Nothing to do: frozen bases are not set, and what is not set is not looked at.
  void look_at(BaseTable::Range) noexcept {}
  /// Where the bytes of a host input go; to be written before refresh().
  [[nodiscard]] std::byte* host_input(std::size_t tensor) noexcept {
    changes_ |= host_input_changed;
    return table_.bytes() + table_.host_input_begin(tensor);
  }
  /// Changes a constant of a task; the next refresh() is InitOnce.
  void set_constant(const graph::GraphView& graph, std::size_t position, const graph::ArgRecord& arg,
                    ArgWord bits) noexcept {
    table_.set_constant(graph, position, arg, bits);
    changes_ |= constant_changed;
  }

  // --- what it comes to

  /// From here on changes are those of another round. Never fails.
  Status refresh() noexcept {
    done_ = changes_;
    changes_ = 0;
    return {};
  }
  /// What the last refresh() did; before the first, what the constructor did: InitOnce.
  [[nodiscard]] Refreshed refreshed() const noexcept {
    if (done_ == 0) return {};
    const std::uint64_t slots = done_ & (host_input_changed - 1);
    UpdateLevel level = slots != 0 ? UpdateLevel::model_io : UpdateLevel::host_input;
    if ((done_ & feature_map_moved) != 0) level = UpdateLevel::feature_map_and_model_io;
    if ((done_ & constant_changed) != 0) level = UpdateLevel::init;
    return {level, Mechanism::in_place, slots, 0};
  }

  /// What the table takes on the device: nothing.
  [[nodiscard]] Bytes device_bytes() const noexcept { return Bytes{0}; }
  /// Nothing to give back.
  Status release() noexcept { return {}; }

 private:
  struct Base {
    std::uint64_t address = 0;
    ArgWord* slot = nullptr;  ///< the one word that holds it as it is; else null
  };
  // What changed since the last refresh is one number: how many slots were written, and above them what else.
  static constexpr std::uint64_t host_input_changed = std::uint64_t{1} << 56;
  static constexpr std::uint64_t feature_map_moved = std::uint64_t{1} << 57;
  static constexpr std::uint64_t constant_changed = std::uint64_t{1} << 58;

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
  /// Out of line: what has one slot is not to wait for what has many.
  [[gnu::noinline]] void rewrite(const Base& base) noexcept {
    const auto id = static_cast<std::uint32_t>(&base - bases_.data());
    const std::uint32_t slots = table_.rewrite(id, base.address);
    changes_ += slots;
    if (slots != 0 && id < table_.bases().first_io) changes_ |= feature_map_moved;
  }

  detail::OwnedArray<Base> bases_;
  Base* io_;  ///< the first of inputs and outputs
  std::uint64_t changes_ = 0;
  std::uint64_t done_ = 0;  ///< `changes_` of the last refresh
  args::ArgsTable table_;
};

}  // namespace rondo::update
