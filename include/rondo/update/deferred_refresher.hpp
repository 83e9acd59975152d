// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/memory/arena.hpp>
#include <rondo/platform/channel.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/update/concept.hpp>
#include <rondo/update/cost_model.hpp>
#include <rondo/update/detail/differ.hpp>
#include <rondo/update/mechanism.hpp>
#include <rondo/update/strategies.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::update {

/// Numbers of bases, [begin, end).
struct BaseRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

namespace detail {

/// Throws Error unless `status` is good, which is that of a copy of the table.
void check_table_copy(Status status);
[[noreturn]] void refuse_launch_bytes(std::uint64_t bytes, const char* platform, std::uint64_t most);

/// The part of DeferredRefresher that is the same for all platforms: the table, the bases, the changes.
class DeferredBases {
 public:
  DeferredBases(const DeferredBases&) = delete;
  DeferredBases& operator=(const DeferredBases&) = delete;

  [[nodiscard]] args::ArgsTable& table() noexcept { return table_; }
  [[nodiscard]] const args::ArgsTable& table() const noexcept { return table_; }

  // --- what a round changes

  /// The address of a base in the next round.
  [[nodiscard]] std::uint64_t base(std::uint32_t id) const noexcept { return now_[id]; }
  /// The address of the input or output of a port in the next round.
  [[nodiscard]] std::uint64_t port_address(std::size_t port) const noexcept { return ports_[port]; }
  /// Sets the address of a base. One that stays where it is costs a compare.
  void set_base(std::uint32_t id, std::uint64_t address) noexcept {
    if (now_[id] != address) [[unlikely]]
      move_base(id, address);
  }
  void set_port_address(std::size_t port, std::uint64_t address) noexcept {
    if (ports_[port] != address) [[unlikely]]
      move_base(table_.bases().first_io + static_cast<std::uint32_t>(port), address);
  }
  /// From now on only the bases of inputs and outputs in `range` are compared; the others are held.
  void compare_only(BaseRange range) noexcept { compared_ = range; }
  /// The place for the bytes of a host input; write them before refresh().
  [[nodiscard]] std::byte* host_input(std::size_t tensor) noexcept {
    host_inputs_changed_ = true;
    raise(UpdateLevel::host_input);
    return table_.bytes() + table_.host_input_begin(tensor);
  }
  /// Changes a constant of a task; the next refresh is that of the whole table.
  void set_constant(const graph::GraphView& graph, std::size_t position, const graph::ArgRecord& arg,
                    ArgWord bits) noexcept {
    table_.set_constant(graph, position, arg, bits);
    constants_changed_ = true;
    raise(UpdateLevel::init);
  }

  /// The last refresh; before the first, that of the constructor.
  [[nodiscard]] Refreshed refreshed() const noexcept {
    return refreshed_.level == UpdateLevel::none ? Refreshed{} : refreshed_;
  }

 protected:
  using BaseLayout = args::BaseLayout;
  static constexpr BaseRange no_base{0xFFFF'FFFF, 0};
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};  ///< an address that no base has

  /// The parts that the device keeps, in this order.
  struct DeviceParts {
    bool table = false;
    bool bases = false;
    bool lanes = false;
  };
  DeferredBases(const graph::GraphView& graph, std::span<const args::Source> sources, args::BaseLayout bases,
                std::span<const std::uint64_t> addresses, args::SystemProvider provider, DeviceParts parts);
  /// Writes the image for the first time; the table on the device is at `device`, if anywhere. Returns all slots in the
  /// order of the table, if the device needs them.
  [[nodiscard]] std::vector<args::Lane> write_table(DevicePtr<std::byte> device, bool has_lanes);

  /// The changes since the last refresh.
  [[nodiscard]] Changes changes() const noexcept {
    const std::uint32_t first_io = table_.bases().first_io;
    return {moved_.begin<first_io, moved_.end> first_io, host_inputs_changed_, constants_changed_};
  }
  /// Out of line, so that unchanged bases cost no more than their compare.
  [[gnu::noinline]] void move_base(std::uint32_t id, std::uint64_t address) noexcept {
    now_[id] = address;
    raise(level_of(id));
    if (id < moved_.begin) moved_.begin = id;
    if (id >= moved_.end) moved_.end = id + 1;
  }
  /// The level that brings a base to the device.
  [[nodiscard]] UpdateLevel level_of(std::uint32_t id) const noexcept {
    return id < table_.bases().first_io ? UpdateLevel::feature_map_and_model_io : UpdateLevel::model_io;
  }
  void raise(UpdateLevel level) noexcept {
    if (level > due_) due_ = level;
  }
  /// The part of a range that holds all its bases that moved.
  [[nodiscard]] BaseRange moved_in(BaseRange range) const noexcept {
    const std::uint32_t begin = moved_.begin > range.begin ? moved_.begin : range.begin;
    const std::uint32_t end = moved_.end < range.end ? moved_.end : range.end;
    return {begin, end > begin ? end : begin};
  }
  /// The bases that a level covers: those of the feature map precede those of inputs and outputs.
  [[nodiscard]] BaseRange range_of(UpdateLevel level) const noexcept {
    if (level >= UpdateLevel::feature_map_and_model_io) return {BaseLayout::first_feature_map, table_.bases().count};
    if (level == UpdateLevel::model_io) return compared_;
    return {0, 0};
  }
  /// After a failed refresh the next one brings everything.
  void distrust_device() noexcept;

  // --- with a copy of the table on the device

  [[nodiscard]] std::uint64_t host_input_bytes() const noexcept {
    return host_inputs_changed_ ? table_.shape().host_inputs : 0;
  }
  [[nodiscard]] std::uint64_t launch_bytes() const noexcept {
    return args::LaunchPayload::bytes(table_.bases().count, table_.shape().host_inputs);
  }
  /// The partition at which the slots of a level begin.
  [[nodiscard]] static constexpr args::Partition partition_of(UpdateLevel level) noexcept {
    switch (level) {
      case UpdateLevel::none:
      case UpdateLevel::host_input: return args::Partition::host_input;
      case UpdateLevel::model_io: return args::Partition::model_io;
      case UpdateLevel::feature_map_and_model_io: return args::Partition::feature_map;
      case UpdateLevel::init: break;
    }
    return args::Partition::never;
  }
  [[nodiscard]] std::uint32_t first_lane(UpdateLevel level) const noexcept {
    return first_lane_[static_cast<std::size_t>(partition_of(level))];
  }
  /// The entries of the base table that the device lacks, from the first to the last.
  [[nodiscard]] BaseRange missing_on_device() const noexcept {
    BaseRange range{0, table_.bases().count};
    while (range.begin < range.end && now_[range.begin] == on_device_[range.begin]) ++range.begin;
    while (range.end > range.begin && now_[range.end - 1] == on_device_[range.end - 1]) --range.end;
    return range;
  }
  [[nodiscard]] args::RefreshOp refresh_op(UpdateLevel level, DevicePtr<std::byte> device) const noexcept {
    const std::uint32_t first = first_lane(level);
    return {device, device.offset(Bytes{lanes_at_ + sizeof(args::Lane) * first}).template as<const args::Lane>(),
            lane_count_ - first, device.offset(Bytes{bases_at_}).template as<const std::uint64_t>()};
  }

  args::ArgsTable table_;
  std::vector<std::uint64_t> now_;        ///< by base: its address in the next round
  std::uint64_t* ports_;                  ///< the part of `now_` for inputs and outputs
  std::vector<std::uint64_t> in_table_;   ///< the addresses in the table that kernels read
  std::vector<std::uint64_t> in_image_;   ///< those in the host's image, where kernels read another
  std::vector<std::uint64_t> on_device_;  ///< those in the device's base table
  BaseRange compared_;                    ///< inputs and outputs that are not held
  BaseRange moved_ = no_base;             ///< holds each base that moved since it was refreshed
  UpdateLevel due_ = UpdateLevel::none;   ///< the level of the changes since the last refresh
  bool host_inputs_changed_ = false;
  bool constants_changed_ = false;
  Refreshed refreshed_;  ///< if `level` is none, the rest is that of an earlier refresh

  // On the device, in this order: the table, the base table, the lanes.
  std::uint64_t bases_at_ = 0;
  std::uint64_t lanes_at_ = 0;
  std::uint64_t wanted_bytes_ = 0;
  std::uint32_t lane_count_ = 0;
  std::uint32_t first_lane_[args::partition_count] = {};
};

}  // namespace detail

/// The refresher of an args table whose changes are gathered until refresh(), which brings them to the device.
///
/// Lifetime: immovable; the platform outlives it; kernels read its table. Thread safety: none. Errors: the constructor
/// throws Error: what the table, P::allocate and P's first copy report; limit_exceeded if only in_launch is allowed and
/// the base table does not fit. Cost on the hot path: no allocation; a compare of the bases that were set, then work
/// for those that changed and the slots that use them.
template <class P, UpdateStrategy S, MechanismChoice C>
class DeferredRefresher : public detail::DeferredBases {
 public:
  /// Whether kernels read the host's image.
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

  /// `addresses`: the first of each base; those of `absolute` and `table` are ignored.
  [[gnu::noinline]] DeferredRefresher(P& platform, const graph::GraphView& view, std::span<const args::Source> sources,
                                      args::BaseLayout bases, std::span<const std::uint64_t> addresses,
                                      args::SystemProvider provider = &args::no_system_provider)
      : DeferredBases(view, sources, bases, addresses, provider, {!in_place, has_device_op, has_lanes}),
        platform_{platform},
        device_{platform, Bytes{wanted_bytes_}, Bytes{P::Arch::arena_alignment}} {
    const std::vector<args::Lane> lanes = write_table(device_.base(), has_lanes);  // lives until the copies are done
    if constexpr (!in_place) {
      if (!device_.base()) return;
      detail::check_table_copy(copy(platform::Direct<P>{platform}, 0, table_.bytes(), table_.shape().size()));
      if (!lanes.empty()) {
        detail::check_table_copy(platform.copy_in(device_.base().offset(Bytes{lanes_at_}), lanes.data(),
                                                  Bytes{sizeof(args::Lane) * lanes.size()}));
      }
      if constexpr (has_device_op) {
        detail::check_table_copy(platform.copy_in(device_.base().offset(Bytes{bases_at_}), now_.data(),
                                                  Bytes{sizeof(std::uint64_t) * now_.size()}));
      }
      detail::check_table_copy(platform.wait());
      if constexpr (has_in_launch && !C::allows(Mechanism::suffix_copy) && !C::allows(Mechanism::device_op)) {
        if (launch_bytes() > P::max_launch_bytes) {
          detail::refuse_launch_bytes(launch_bytes(), P::name, P::max_launch_bytes);
        }
      }
    }
  }

  /// Brings the table on the device up to date, in order before the next launch. Returns what P's calls return; after a
  /// failure the next refresh brings the whole table.
  Status refresh() noexcept { return refresh(platform::Direct<P>{platform_}); }
  /// The same over a channel, platform/channel.hpp.
  template <class Channel>
  Status refresh(const Channel& channel) noexcept {
    UpdateLevel level = due_;
    if constexpr (!is_exact<S>) level = strategy_.decide(changes());
    refreshed_.level = level;
    if (level == UpdateLevel::none) return {};
    due_ = UpdateLevel::none;
    return apply(level, channel);
  }

  /// The device memory of the table and its refreshes; 0 where kernels read the host's image.
  [[nodiscard]] Bytes device_bytes() const noexcept { return device_.size(); }
  Status release() noexcept { return device_.release(); }

 private:
  static constexpr bool has_device_op = !in_place && C::allows(Mechanism::device_op) && HasDeviceRefresh<P>;
  static constexpr bool has_in_launch = !in_place && C::allows(Mechanism::in_launch) && HasLaunchRefresh<P>;
  static constexpr bool has_lanes = has_device_op || has_in_launch;

  template <class Channel>
  [[gnu::noinline]] Status apply(UpdateLevel level, [[maybe_unused]] const Channel& channel) noexcept {
    bool all = is_fixed<S> || level == UpdateLevel::init;
    if constexpr (!is_exact<S>) all = all || level > changes().level();
    const BaseRange range = all ? range_of(level) : moved_in(range_of(level));
    UpdateLevel needed = constants_changed_ ? UpdateLevel::init : UpdateLevel::none;
    if (host_inputs_changed_ && needed == UpdateLevel::none) needed = UpdateLevel::host_input;
    std::uint64_t slots = 0;
    for (std::uint32_t id = range.begin; id < range.end; ++id) {
      if (!all) {
        while (id + 32 <= range.end && !detail::differ<32>(now_.data() + id, in_table_.data() + id)) id += 32;
        if (id == range.end) break;
        if (now_[id] == in_table_[id]) continue;
      }
      in_table_[id] = now_[id];
      const std::uint32_t uses = in_place ? table_.rewrite(id, now_[id]) : table_.uses(id);
      if (uses == 0) continue;  // no task uses it
      slots += uses;
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
        status = refresh_device(needed, slots, channel);
      }
    }
    if (!status) [[unlikely]] {
      distrust_device();
      return status;
    }
    host_inputs_changed_ = false;
    constants_changed_ = false;
    return {};
  }

  template <class Channel>
  Status refresh_device(UpdateLevel level, std::uint64_t slots, const Channel& channel) noexcept requires(!in_place) {
    static_assert(Channel::carries_refresh || !has_in_launch || C::allows(Mechanism::suffix_copy) || has_device_op,
                  "rondo: rounds in flight are launched by a queue, whose launches carry no base table; choose another "
                  "refresh mechanism, or rounds one at a time");
    Mechanism mechanism = Mechanism::suffix_copy;
    // The device computes addresses only; the host brings bytes of host inputs and constants.
    if (level != UpdateLevel::init && (slots != 0 || !C::allows(Mechanism::suffix_copy))) {
      RefreshFacts facts;
      facts.suffix_bytes = table_.shape().size() - table_.shape()[partition_of(level)];
      facts.slots = slots;
      facts.device_op = has_device_op;
      if constexpr (has_lanes) facts.lanes = lane_count_ - first_lane(level);
      if constexpr (has_device_op) {
        const BaseRange range = missing_on_device();
        facts.base_bytes = 8 * std::uint64_t{range.end - range.begin} + host_input_bytes();
      }
      if constexpr (has_in_launch) {
        facts.launch_bytes = launch_bytes();
        facts.in_launch = Channel::carries_refresh && facts.launch_bytes <= P::max_launch_bytes;
      }
      mechanism = choice_.choose(facts);
    }
    refreshed_.mechanism = mechanism;
    if constexpr (has_device_op) {
      if (mechanism == Mechanism::device_op) return compute_on_device(level, channel);
    }
    if constexpr (has_in_launch && Channel::carries_refresh) {
      if (mechanism == Mechanism::in_launch) return send_with_launch(level);
    }
    refreshed_.mechanism = Mechanism::suffix_copy;
    return copy_suffix(level, channel);
  }

  /// Skips empty copies. The bytes are taken at once where the platform can, since the next refresh may write the image
  /// before the device has come to this one.
  template <class Channel>
  Status copy(const Channel& channel, std::uint64_t to, const void* from, std::uint64_t bytes) noexcept {
    if (bytes == 0) return {};
    refreshed_.bytes += bytes;
    return channel.copy_in(device_.base().offset(Bytes{to}), from, Bytes{bytes}, true);
  }

  template <class Channel>
  Status copy_suffix(UpdateLevel level, const Channel& channel) noexcept {
    // The image has addresses of its own, since the device may have computed slots that it lacks.
    std::uint64_t slots = 0;
    for (std::uint32_t id = BaseLayout::table; id < table_.bases().count; ++id) {
      if (now_[id] == in_image_[id]) continue;
      slots += table_.rewrite(id, now_[id]);
      in_image_[id] = now_[id];
    }
    refreshed_.slots = slots;
    const std::uint64_t begin = table_.shape()[partition_of(level)];
    return copy(channel, begin, table_.bytes() + begin, table_.shape().size() - begin);
  }

  template <class Channel>
  Status compute_on_device(UpdateLevel level, const Channel& channel) noexcept {
    const BaseRange range = missing_on_device();
    Status status = copy(channel, bases_at_ + 8 * std::uint64_t{range.begin}, now_.data() + range.begin,
                         8 * std::uint64_t{range.end - range.begin});
    std::copy(now_.begin() + range.begin, now_.begin() + range.end, on_device_.begin() + range.begin);
    const std::uint64_t host_inputs = table_.shape()[args::Partition::host_input];
    if (status.ok()) status = copy(channel, host_inputs, table_.bytes() + host_inputs, host_input_bytes());
    const args::RefreshOp op = refresh_op(level, device_.base());
    refreshed_.slots = op.count;
    if (status.ok() && op.count != 0) status = platform_.refresh_args(op);
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
