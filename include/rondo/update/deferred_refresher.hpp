// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/arena.hpp>
#include <rondo/platform/channel.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/update/concept.hpp>
#include <rondo/update/cost_model.hpp>
#include <rondo/update/detail/deferred_bases.hpp>
#include <rondo/update/mechanism.hpp>
#include <rondo/update/strategies.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::update {

/// The refresher of an args table that collects changes until refresh(), which applies them to the device.
///
/// Lifetime: immovable; the platform outlives it; kernels read its table. Thread safety: none. Errors: the constructor
/// throws Error: those of the table, P::allocate and P's first copy; limit_exceeded if only in_launch is allowed and
/// the base table does not fit. Cost on the hot path: no allocation; a comparison for each base that was set, then work
/// for those that changed and the slots that use them.
template <class P, UpdateStrategy S, MechanismChoice C>
class DeferredRefresher : public detail::DeferredBases {
 public:
  /// Whether kernels read the host's image.
  static constexpr bool in_place = C::allows(Mechanism::in_place) && HasArgsInHostMemory<P>;
  static_assert(
      in_place || C::allows(Mechanism::segment_copy) || (C::allows(Mechanism::device_op) && HasDeviceRefresh<P>) ||
          (C::allows(Mechanism::in_launch) && HasLaunchRefresh<P>),
      "rondo: the platform has none of the refresh mechanisms that the policies allow; choose another one, or "
      "declare Capability::args_in_host_memory, device_refresh or launch_refresh");

  [[gnu::noinline]] DeferredRefresher(P& platform, const graph::GraphView& view, const args::Bases& bases,
                                      args::SystemProvider provider = &args::no_system_provider)
      : DeferredBases(view, bases, provider, parts_of(platform)),
        platform_{platform},
        device_{platform, Bytes{wanted_bytes_}, Bytes{P::Arch::arena_alignment}} {
    if constexpr (copies_segments) divide(costs(platform), P::Arch::tensor_alignment);
    if constexpr (!in_place && !C::allows(Mechanism::segment_copy)) {
      if (!has_relocations_) {
        throw Error(Errc::unsupported,
                    Error::Text{P::name,
                                ": the device has nothing to compute its args with; give it the refresh "
                                "kernel, see docs/onboard.md, or choose another refresh mechanism"});
      }
    }
    const std::vector<args::Relocation> relocations =
        write_table(device_.base());  // must live until the copies are done
    if constexpr (!in_place) {
      if (!device_.base()) return;
      const platform::Direct<P> channel{platform};
      const auto check = [](Status status) { require_ok(status, "copying the args table to the device"); };
      check(copy(channel, 0, table_.bytes(), table_.shape().size()));
      check(copy(channel, relocations_at_, relocations.data(), sizeof(args::Relocation) * relocations.size()));
      if (!on_device_.empty()) check(copy(channel, bases_at_, now_.data(), sizeof(std::uint64_t) * now_.size()));
      check(platform.wait());
      if constexpr (has_in_launch && !C::allows(Mechanism::segment_copy) && !C::allows(Mechanism::device_op)) {
        if (launch_bytes() > P::max_launch_bytes) {
          throw Error(Errc::limit_exceeded,
                      Error::Text{"a launch that carries the base table takes ", launch_bytes(), " bytes, the most on ",
                                  P::name, " is ", P::max_launch_bytes, "; choose another refresh mechanism"});
        }
      }
    }
  }

  /// Updates the table on the device, in order before the next launch. Returns the status of P's calls; after a
  /// failure, the next refresh copies the whole table.
  Status refresh() noexcept { return refresh(platform::Direct<P>{platform_}); }
  /// Does the same over a channel (platform/channel.hpp).
  template <class Channel>
  Status refresh(const Channel& channel) noexcept {
    UpdateLevel level = due_;
    if constexpr (!is_exact<S>) level = strategy_.decide(changes());
    refreshed_.level = level;
    if (level == UpdateLevel::none) return {};
    due_ = UpdateLevel::none;
    return apply(level, channel);
  }

  /// The device memory for the table and its refreshes; 0 if kernels read the host's image.
  [[nodiscard]] Bytes device_bytes() const noexcept { return device_.size(); }
  Status release() noexcept { return device_.release(); }

 private:
  static constexpr bool has_device_op = !in_place && C::allows(Mechanism::device_op) && HasDeviceRefresh<P>;
  static constexpr bool has_in_launch = !in_place && C::allows(Mechanism::in_launch) && HasLaunchRefresh<P>;
  static constexpr bool has_relocations = has_device_op || has_in_launch;
  static constexpr bool copies_segments = !in_place && C::allows(Mechanism::segment_copy);

  [[nodiscard]] static DeviceParts parts_of([[maybe_unused]] const P& platform) noexcept {
    bool computes = false;
    if constexpr (has_relocations) computes = platform.can_refresh_args();
    return {!in_place, has_device_op && computes, computes};
  }
  /// The costs of refreshing that the platform reports, or else those of the mechanism choice.
  [[nodiscard]] static RefreshCosts costs([[maybe_unused]] const P& platform) noexcept {
    if constexpr (has_relocations) {
      if (const RefreshCosts* const known = platform.refresh_costs(); known != nullptr) return *known;
    }
    if constexpr (requires { RefreshCosts{C::costs}; }) {
      return C::costs;
    } else {
      return {};
    }
  }

  template <class Channel>
  [[gnu::noinline]] Status apply(UpdateLevel level, [[maybe_unused]] const Channel& channel) noexcept {
    bool all = is_fixed<S> || level == UpdateLevel::init;
    if constexpr (!is_exact<S>) all = all || level > changes().level();
    const BaseRange range = all ? range_of(level) : moved_in(range_of(level));
    UpdateLevel needed = constants_changed_ ? UpdateLevel::init : UpdateLevel::none;
    if (host_inputs_changed_ && needed == UpdateLevel::none) needed = UpdateLevel::host_input;
    std::uint64_t slots = 0;
    detail::Pieces pieces{worth_};
    const auto next = [&](std::uint32_t id) { return all ? id : next_moved(id, range.end, in_table_); };
    for (std::uint32_t id = next(range.begin); id < range.end; id = next(id + 1)) {
      in_table_[id] = now_[id];
      const std::uint32_t uses = in_place ? table_.rewrite(id, now_[id]) : table_.uses(id);
      if (uses == 0) continue;  // no task uses it
      slots += uses;
      if constexpr (copies_segments) {
        if (!all) add_segments(id, pieces);
      }
      if (const UpdateLevel own = level_of(id); own > needed) needed = own;
    }
    if (level == UpdateLevel::init) needed = level;
    if (range.begin <= moved_.begin && range.end >= moved_.end) moved_ = no_base;
    refreshed_ = {needed, Mechanism::none, slots, 0};
    Status status;
    if (needed != UpdateLevel::none) {
      if constexpr (in_place) {
        refreshed_.mechanism = Mechanism::in_place;
      } else {
        if (range.begin < range.end) {
          widen(stale_in_image_, range);
          widen(stale_on_device_, range);
        }
        if (!copies_segments || all || constants_changed_) {
          pieces.add({table_.shape()[partition_of(needed)], table_.shape().size()});
        } else if (host_inputs_changed_) {
          const std::uint64_t begin = table_.shape()[args::Partition::host_input];
          pieces.add({begin, begin + table_.shape().host_inputs});
        }
        status = refresh_device(needed, slots, pieces, channel);
      }
    }
    if (!status) [[unlikely]] {
      assume_device_unknown();
      return status;
    }
    host_inputs_changed_ = false;
    constants_changed_ = false;
    return {};
  }

  template <class Channel>
  Status refresh_device(UpdateLevel level, std::uint64_t slots, const detail::Pieces& pieces,
                        const Channel& channel) noexcept
    requires(!in_place)
  {
    constexpr bool computes = has_device_op && Channel::computes_args;
    static_assert(C::allows(Mechanism::segment_copy) || computes || (has_in_launch && Channel::carries_refresh),
                  "rondo: rounds in flight are launched by a queue, whose launches carry no base table; choose another "
                  "refresh mechanism, or rounds one at a time");
    Mechanism mechanism = Mechanism::segment_copy;
    RefreshFacts facts;
    // The device computes only addresses; the host copies host inputs and constants.
    if (level != UpdateLevel::init && (slots != 0 || !C::allows(Mechanism::segment_copy))) {
      facts.segments = pieces.all().size();
      facts.segment_bytes = pieces.bytes();
      facts.slots = slots;
      if constexpr (has_relocations) {
        quiet_ = slots < late_slots_ ? quiet_ + 1 : 0;
        facts.late_slots = quiet_ == 0 ? 0 : late_slots_ - slots;
        facts.quiet = quiet_;
        facts.relocations = relocation_count_ - first_relocation(level);
        facts.costs = platform_.refresh_costs();
      }
      if constexpr (computes) {
        facts.device_op = has_relocations_;
        const BaseRange range = missing_on_device();
        facts.base_bytes = 8 * std::uint64_t{range.end - range.begin} + host_input_bytes();
      }
      if constexpr (has_in_launch) {
        facts.launch_bytes = launch_bytes();
        facts.in_launch = Channel::carries_refresh && has_relocations_ && facts.launch_bytes <= P::max_launch_bytes;
      }
      mechanism = choice_.choose(facts);
    }
    refreshed_.mechanism = mechanism;
    if (mechanism != Mechanism::segment_copy) late_slots_ = std::max(late_slots_, slots);
    if constexpr (computes) {
      if (mechanism == Mechanism::device_op && facts.device_op) return compute_on_device(level, channel);
    }
    if constexpr (has_in_launch && Channel::carries_refresh) {
      if (mechanism == Mechanism::in_launch && facts.in_launch) return send_with_launch(level);
    }
    refreshed_.mechanism = Mechanism::segment_copy;
    return copy_pieces(pieces, channel);
  }

  /// Skips empty copies. If the platform can, it reads the bytes at once, since the next refresh may write the image
  /// before the device has executed this one.
  template <class Channel>
  Status copy(const Channel& channel, std::uint64_t to, const void* from, std::uint64_t bytes) noexcept {
    if (bytes == 0) return {};
    refreshed_.bytes += bytes;
    return channel.copy_in(device_.base().offset(Bytes{to}), from, Bytes{bytes}, true);
  }

  template <class Channel>
  Status copy_pieces(const detail::Pieces& pieces, const Channel& channel) noexcept {
    // The image has its own list of addresses, since it may lack slots that the device has computed.
    refreshed_.slots = write_image();
    Status status;
    for (const detail::Segment& piece : pieces.all()) {
      if (status.ok()) status = copy(channel, piece.begin, table_.bytes() + piece.begin, piece.end - piece.begin);
    }
    return status;
  }

  template <class Channel>
  Status compute_on_device(UpdateLevel level, const Channel& channel) noexcept {
    const BaseRange range = missing_on_device();
    Status status = copy(channel, bases_at_ + 8 * std::uint64_t{range.begin}, now_.data() + range.begin,
                         8 * std::uint64_t{range.end - range.begin});
    std::copy(now_.begin() + range.begin, now_.begin() + range.end, on_device_.begin() + range.begin);
    stale_on_device_ = no_base;
    const std::uint64_t host_inputs = table_.shape()[args::Partition::host_input];
    if (status.ok()) status = copy(channel, host_inputs, table_.bytes() + host_inputs, host_input_bytes());
    const args::RefreshOp op = refresh_op(level, device_.base());
    refreshed_.slots = op.count;
    if (status.ok() && op.count != 0) status = channel.refresh_args(op);
    return status;
  }

  Status send_with_launch(UpdateLevel level) noexcept {
    const std::uint64_t host_inputs = table_.shape()[args::Partition::host_input];
    const args::RefreshOp op = refresh_op(level, device_.base());
    const args::LaunchPayload payload{now_.data(), table_.bases().count, table_.bytes() + host_inputs,
                                      static_cast<std::uint32_t>(host_input_bytes()),
                                      device_.base().offset(Bytes{host_inputs})};
    refreshed_.slots = op.count;
    refreshed_.bytes = payload.bytes();
    return platform_.refresh_in_launch(op, payload);
  }

  P& platform_;
  [[no_unique_address]] S strategy_{};
  [[no_unique_address]] C choice_{};
  memory::Arena<P> device_;
};

}  // namespace rondo::update
