// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/detail/owned_array.hpp>
#include <rondo/memory/arena.hpp>
#include <rondo/slice.hpp>
#include <rondo/update/cost_model.hpp>
#include <rondo/update/mechanism.hpp>
#include <rondo/update/refreshed.hpp>
#include <rondo/update/strategies.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::update {

/// The refresher of an args table whose changes are gathered until refresh(), which decides what they call for and
/// brings it to the device.
///
/// Lifetime: immovable; the platform outlives it; kernels read its table. Thread safety: none.
/// Errors: the constructor throws Error: what the table, P::allocate and P's first copy report; limit_exceeded if only
/// in_launch is allowed and the base table does not fit. Cost on the hot path: no allocation; a compare of the bases,
/// then work for the bases that changed and the slots that use them.
template <class P, UpdateStrategy S, MechanismChoice C>
class DeferredRefresher {
 public:
  /// Do kernels read the host's image?
  static constexpr bool in_place = C::allows(Mechanism::in_place) && HasArgsInHostMemory<P>;
  static_assert(is_capable<P>(Mechanism::in_place) || C::allows(Mechanism::suffix_copy) ||
                    C::allows(Mechanism::device_op) || C::allows(Mechanism::in_launch),
                "rondo: the platform's kernels cannot read args in host memory; choose another refresh mechanism");
  static_assert(is_capable<P>(Mechanism::device_op) || C::allows(Mechanism::suffix_copy) ||
                    !C::allows(Mechanism::device_op),
                "rondo: the platform cannot compute args on the device; write `Status refresh_args(const "
                "args::RefreshOp&) noexcept;` or choose another refresh mechanism");
  static_assert(is_capable<P>(Mechanism::in_launch) || C::allows(Mechanism::suffix_copy) ||
                    !C::allows(Mechanism::in_launch),
                "rondo: the platform's launches carry no base table; write `static constexpr std::uint32_t "
                "max_launch_bytes` and `Status refresh_in_launch(const args::RefreshOp&, const args::LaunchPayload&) "
                "noexcept;`, or choose another refresh mechanism");

  /// `addresses`: of each base at the start; those of `absolute` and `table` are not looked at.
  DeferredRefresher(P& platform, const graph::GraphView& graph, Slice<const args::Source> sources,
                    args::BaseLayout bases, Slice<const std::uint64_t> addresses,
                    args::SystemProvider provider = &args::no_system_provider);
  DeferredRefresher(const DeferredRefresher&) = delete;
  DeferredRefresher& operator=(const DeferredRefresher&) = delete;

  /// What it refreshes.
  [[nodiscard]] args::ArgsTable& table() noexcept { return table_; }
  /// What it refreshes.
  [[nodiscard]] const args::ArgsTable& table() const noexcept { return table_; }

  // --- what a round changes

  /// Where a base is in the next round.
  [[nodiscard]] std::uint64_t base(std::uint32_t id) const noexcept { return active_[id]; }
  /// Where the input or output of a port is.
  [[nodiscard]] std::uint64_t io(std::size_t port) const noexcept { return io_[port]; }
  /// Says where a base will be. What stands where it stood costs a compare, here and nowhere else.
  void set_base(std::uint32_t id, std::uint64_t address) noexcept {
    if (active_[id] != address) [[unlikely]]
      move_base(id, address);
  }
  /// Says where the input or output of a port will be.
  void set_io(std::size_t port, std::uint64_t address) noexcept {
    if (io_[port] != address) [[unlikely]]
      move_base(table_.bases().first_io + static_cast<std::uint32_t>(port), address);
  }
  /// Only bases of inputs and outputs in `range` are compared from now on; for those that are frozen.
  void look_at(BaseTable::Range range) noexcept { model_io_ = range; }
  /// Where the bytes of a host input go; to be written before refresh().
  [[nodiscard]] std::byte* host_input(std::size_t tensor) noexcept {
    host_inputs_changed_ = true;
    raise(UpdateLevel::host_input);
    return table_.bytes() + table_.host_input_begin(tensor);
  }
  /// Changes a constant of a task; the next refresh() is InitOnce.
  void set_constant(const graph::GraphView& graph, std::size_t position, const graph::ArgRecord& arg,
                    ArgWord bits) noexcept {
    table_.set_constant(graph, position, arg, bits);
    constants_changed_ = true;
    raise(UpdateLevel::init);
  }

  // --- what it comes to

  /// Brings the table on the device up to date, in order before the next launch. Returns what P's calls return; after a
  /// failure the next one brings all that this one was to.
  Status refresh() noexcept {
    UpdateLevel level = due_;
    if constexpr (!is_exact<S>) {
      level = strategy_.decide(
          {active_.data(), last_.data(), feature_map(), model_io_, host_inputs_changed_, constants_changed_});
    }
    done_.level = level;
    if (level == UpdateLevel::none) return {};
    due_ = UpdateLevel::none;
    return apply(level);
  }
  /// What the last refresh() did; before the first, what the constructor did: InitOnce.
  [[nodiscard]] Refreshed refreshed() const noexcept { return done_.level == UpdateLevel::none ? Refreshed{} : done_; }

  /// What the table and all that refreshes it take on the device; none where kernels read the host's image.
  [[nodiscard]] Bytes device_bytes() const noexcept { return device_.size(); }
  /// Gives the device memory back.
  Status release() noexcept { return device_.release(); }

 private:
  static constexpr BaseTable::Range nothing{0xFFFF'FFFF, 0};
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};  ///< where no base is
  using BaseLayout = args::BaseLayout;
  using Partition = args::Partition;

  [[nodiscard]] BaseTable::Range feature_map() const noexcept {
    return {BaseLayout::first_feature_map, table_.bases().first_io};
  }
  /// Out of line: what stays where it was is to cost no more than its compare.
  [[gnu::noinline]] void move_base(std::uint32_t id, std::uint64_t address) noexcept {
    active_[id] = address;
    raise(level_of(id));
    if (id < moved_.begin) moved_.begin = id;
    if (id >= moved_.end) moved_.end = id + 1;
  }
  /// What a base that moved calls for.
  [[nodiscard]] UpdateLevel level_of(std::uint32_t id) const noexcept {
    return id < table_.bases().first_io ? UpdateLevel::feature_map_and_model_io : UpdateLevel::model_io;
  }
  /// The next refresh does that much, or more.
  void raise(UpdateLevel level) noexcept {
    if (level > due_) due_ = level;
  }
  /// The part of a range outside of which all bases are as they were; all of it for a strategy that is asked.
  [[nodiscard]] BaseTable::Range moved(BaseTable::Range range) const noexcept {
    if constexpr (!is_exact<S>) return range;
    const std::uint32_t begin = moved_.begin > range.begin ? moved_.begin : range.begin;
    const std::uint32_t end = moved_.end < range.end ? moved_.end : range.end;
    return {begin, end > begin ? end : begin};
  }
  [[nodiscard]] static constexpr Partition partition_of(UpdateLevel level) noexcept {
    switch (level) {
      case UpdateLevel::none:
      case UpdateLevel::host_input: return Partition::host_input;
      case UpdateLevel::model_io: return Partition::model_io;
      case UpdateLevel::feature_map_and_model_io: return Partition::feature_map;
      case UpdateLevel::init: break;
    }
    return Partition::never;
  }

  /// The ids that a level may change: feature map and model I/O stand side by side.
  [[nodiscard]] BaseTable::Range range_of(UpdateLevel level) const noexcept {
    if (level >= UpdateLevel::feature_map_and_model_io) return {BaseLayout::first_feature_map, table_.bases().count};
    if (level == UpdateLevel::model_io) return model_io_;
    return {0, 0};
  }

  [[gnu::noinline]] Status apply(UpdateLevel level) noexcept {
    const bool all = is_fixed<S> || level == UpdateLevel::init;
    const BaseTable::Range range = all ? range_of(level) : moved(range_of(level));
    UpdateLevel needed = constants_changed_ ? UpdateLevel::init : UpdateLevel::none;
    if (host_inputs_changed_ && needed == UpdateLevel::none) needed = UpdateLevel::host_input;
    std::uint64_t slots = 0;
    for (std::uint32_t id = range.begin; id < range.end; ++id) {
      if (!all) {
        while (id + 32 <= range.end && !differ<32>(active_.data() + id, last_.data() + id)) id += 32;
        if (id == range.end) break;
        if (active_[id] == last_[id]) continue;
      }
      last_[id] = active_[id];
      const std::uint32_t uses = in_place ? table_.rewrite(id, active_[id]) : table_.uses(id);
      if (uses == 0) continue;  // changed, but no task cares
      slots += uses;
      if (const UpdateLevel own = level_of(id); own > needed) needed = own;
    }
    if (level == UpdateLevel::init) needed = level;
    if (range.begin <= moved_.begin && range.end >= moved_.end) moved_ = nothing;
    done_ = {needed, Mechanism::none, slots, 0};
    Status status;
    if (needed != UpdateLevel::none) {
      if constexpr (in_place) {
        done_.mechanism = Mechanism::in_place;
      } else {
        status = bring(needed, slots);
      }
    }
    if (!status) [[unlikely]] {
      expect_again();
      return status;
    }
    host_inputs_changed_ = false;
    constants_changed_ = false;
    return {};
  }
  /// Nobody knows what a refresh that failed has left on the device: the next one brings all of it.
  [[gnu::cold]] void expect_again() noexcept {
    host_inputs_changed_ = true;
    constants_changed_ = true;
    raise(UpdateLevel::init);
    for (std::uint64_t& pushed : pushed_) pushed = nowhere;
  }

  // --- with a copy of the table on the device

  static constexpr bool has_device_op = !in_place && C::allows(Mechanism::device_op) && HasDeviceRefresh<P>;
  static constexpr bool has_in_launch = !in_place && C::allows(Mechanism::in_launch) && HasInLaunchRefresh<P>;
  static constexpr bool has_lanes = has_device_op || has_in_launch;

  [[nodiscard]] std::uint64_t host_input_bytes() const noexcept {
    return host_inputs_changed_ ? table_.shape().host_inputs : 0;
  }
  [[nodiscard]] std::uint64_t launch_bytes() const noexcept {
    return args::LaunchPayload::bytes(table_.bases().count, table_.shape().host_inputs);
  }
  [[nodiscard]] std::uint32_t first_lane(UpdateLevel level) const noexcept {
    return first_lane_[static_cast<std::size_t>(partition_of(level))];
  }
  /// The entries of the base table that the device has not got, from the first to the last.
  [[nodiscard]] BaseTable::Range unpushed() const noexcept {
    BaseTable::Range range{0, table_.bases().count};
    while (range.begin < range.end && active_[range.begin] == pushed_[range.begin]) ++range.begin;
    while (range.end > range.begin && active_[range.end - 1] == pushed_[range.end - 1]) --range.end;
    return range;
  }

  Status bring(UpdateLevel level, std::uint64_t slots) noexcept {
    if constexpr (!in_place) {
      Mechanism mechanism = Mechanism::suffix_copy;
      // What the device computes are addresses: bytes of host inputs alone, and constants, are for the host to bring.
      if (level != UpdateLevel::init && (slots != 0 || !C::allows(Mechanism::suffix_copy))) {
        RefreshFacts facts;
        facts.suffix_bytes = table_.shape().size() - table_.shape()[partition_of(level)];
        facts.slots = slots;
        facts.device_op = has_device_op;
        if constexpr (has_lanes) facts.lanes = lane_count_ - first_lane(level);
        if constexpr (has_device_op) {
          const BaseTable::Range range = unpushed();
          facts.base_bytes = 8 * std::uint64_t{range.end - range.begin} + host_input_bytes();
        }
        if constexpr (has_in_launch) {
          facts.launch_bytes = launch_bytes();
          facts.in_launch = facts.launch_bytes <= P::max_launch_bytes;
        }
        mechanism = choice_.choose(facts);
      }
      done_.mechanism = mechanism;
      if constexpr (has_device_op) {
        if (mechanism == Mechanism::device_op) return by_device_op(level);
      }
      if constexpr (has_in_launch) {
        if (mechanism == Mechanism::in_launch) return by_launch(level);
      }
      done_.mechanism = Mechanism::suffix_copy;
      return by_suffix(level);
    }
    return {};
  }

  /// A copy of nothing is never issued. The bytes are taken at once where the platform can: the next refresh may write
  /// the image before the device has come to this one.
  Status copy(std::uint64_t to, const void* from, std::uint64_t bytes) noexcept {
    if (bytes == 0) return {};
    done_.bytes += bytes;
    const DevicePtr<std::byte> at = device_.base().offset(Bytes{to});
    if constexpr (HasSnapshotCopy<P>) {
      return platform_.copy_in_snapshot(at, from, Bytes{bytes});
    } else {
      return platform_.copy_in(at, from, Bytes{bytes});
    }
  }

  Status by_suffix(UpdateLevel level) noexcept {
    // The device may have computed slots that the image has not got: what counts is what the image was written with.
    std::uint64_t slots = 0;
    for (std::uint32_t id = BaseLayout::table; id < table_.bases().count; ++id) {
      if (active_[id] == written_[id]) continue;
      slots += table_.rewrite(id, active_[id]);
      written_[id] = active_[id];
    }
    done_.slots = slots;
    const std::uint64_t begin = table_.shape()[partition_of(level)];
    return copy(begin, table_.bytes() + begin, table_.shape().size() - begin);
  }

  [[nodiscard]] args::RefreshOp refresh_op(UpdateLevel level) const noexcept {
    const std::uint32_t first = first_lane(level);
    return {device_.base(),
            device_.base().offset(Bytes{lanes_at_ + sizeof(args::Lane) * first}).template as<const args::Lane>(),
            lane_count_ - first, device_.base().offset(Bytes{bases_at_}).template as<const std::uint64_t>()};
  }

  Status by_device_op(UpdateLevel level) noexcept {
    const BaseTable::Range range = unpushed();
    Status status = copy(bases_at_ + 8 * std::uint64_t{range.begin}, active_.data() + range.begin,
                         8 * std::uint64_t{range.end - range.begin});
    for (std::uint32_t id = range.begin; id < range.end; ++id) pushed_[id] = active_[id];
    const std::uint64_t host_inputs = table_.shape()[Partition::host_input];
    if (status.ok()) status = copy(host_inputs, table_.bytes() + host_inputs, host_input_bytes());
    const args::RefreshOp op = refresh_op(level);
    done_.slots = op.count;
    if (status.ok() && op.count != 0) status = platform_.refresh_args(op);
    return status;
  }

  Status by_launch(UpdateLevel level) noexcept {
    const std::uint64_t host_inputs = table_.shape()[Partition::host_input];
    const args::RefreshOp op = refresh_op(level);
    const args::LaunchPayload payload{active_.data(), table_.bases().count, table_.bytes() + host_inputs,
                                      static_cast<std::uint32_t>(host_input_bytes()),
                                      device_.base().offset(Bytes{host_inputs})};
    done_.slots = op.count;
    done_.bytes = payload.bytes();
    return platform_.refresh_in_launch(op, payload);
  }

  P& platform_;
  args::ArgsTable table_;
  detail::OwnedArray<std::uint64_t> active_;   ///< by base: now
  std::uint64_t* io_;                          ///< the first of inputs and outputs in it
  detail::OwnedArray<std::uint64_t> last_;     ///< what the kernels' table was refreshed with, where that is later
  detail::OwnedArray<std::uint64_t> written_;  ///< what the host's image was written with, where that is another one
  detail::OwnedArray<std::uint64_t> pushed_;   ///< what the device's base table holds
  BaseTable::Range model_io_;
  BaseTable::Range moved_ = nothing;     ///< from the first base that was set anew since the last refresh to the last
  UpdateLevel due_ = UpdateLevel::none;  ///< the maximum over what changed since then
  bool host_inputs_changed_ = false;
  bool constants_changed_ = false;
  [[no_unique_address]] S strategy_{};
  [[no_unique_address]] C choice_{};
  Refreshed done_;  ///< only `level` counts where that is none

  // On the device, where the table is copied: the table, the base table, the lanes.
  std::uint64_t bases_at_;
  std::uint64_t lanes_at_;
  std::uint32_t lane_count_ = 0;
  std::uint32_t first_lane_[args::partition_count] = {};
  memory::Arena<P> device_;
};

}  // namespace rondo::update
