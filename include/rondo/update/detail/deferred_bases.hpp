// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/update/concept.hpp>
#include <rondo/update/cost_model.hpp>
#include <rondo/update/detail/differ.hpp>
#include <rondo/update/detail/pieces.hpp>
#include <rondo/update/mechanism.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::update {

/// A range of base numbers, [begin, end).
struct BaseRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

namespace detail {

/// The platform-independent part of DeferredRefresher: the table, the address of each base, the changes.
class DeferredBases {
 public:
  DeferredBases(const DeferredBases&) = delete;
  DeferredBases& operator=(const DeferredBases&) = delete;

  [[nodiscard]] args::ArgsTable& table() noexcept { return table_; }
  [[nodiscard]] const args::ArgsTable& table() const noexcept { return table_; }

  // --- changes by a round

  /// The address of a base in the next round.
  [[nodiscard]] std::uint64_t base(std::uint32_t id) const noexcept { return now_[id]; }
  /// The address of the input or output of a port in the next round.
  [[nodiscard]] std::uint64_t port_address(std::size_t port) const noexcept { return ports_[port]; }
  /// Sets the address of a base. A base whose address does not change costs one comparison, and nothing else anywhere.
  void set_base(std::uint32_t id, std::uint64_t address) noexcept {
    if (now_[id] != address) [[unlikely]]
      move_base(id, address);
  }
  void set_port_address(std::size_t port, std::uint64_t address) noexcept {
    if (ports_[port] != address) [[unlikely]]
      move_base(table_.bases().first_io + static_cast<std::uint32_t>(port), address);
  }
  /// The memory for the bytes of a host input; write them before refresh().
  [[nodiscard]] std::byte* host_input(std::size_t tensor) noexcept {
    host_inputs_changed_ = true;
    raise(UpdateLevel::host_input);
    return table_.bytes() + table_.host_input_begin(tensor);
  }
  /// Notes that the table on the device may have any contents; the next refresh copies all of it.
  void assume_device_unknown() noexcept;
  /// Changes a constant of a task; the next refresh covers the whole table.
  void set_constant(const graph::GraphView& graph, std::size_t position, const graph::ArgRecord& arg,
                    ArgWord bits) noexcept {
    table_.set_constant(graph, position, arg, bits);
    constants_changed_ = true;
    raise(UpdateLevel::init);
  }

  /// The result of the last refresh; before the first, that of the constructor.
  [[nodiscard]] Refreshed refreshed() const noexcept {
    return refreshed_.level == UpdateLevel::none ? Refreshed{} : refreshed_;
  }

 protected:
  using BaseLayout = args::BaseLayout;
  static constexpr BaseRange no_base{0xFFFF'FFFF, 0};
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};  ///< an address that no base has

  /// The parts of the device memory, in this order.
  struct DeviceParts {
    bool table = false;
    bool bases = false;
    bool relocations = false;
  };
  DeferredBases(const graph::GraphView& graph, const args::Bases& bases, args::SystemProvider provider,
                DeviceParts parts);
  /// Writes the image for the first time; `device` is the table's address on the device, if it has one. Returns all
  /// slots in the order of the table, if the device needs them.
  [[nodiscard]] std::vector<args::Relocation> write_table(DevicePtr<std::byte> device);

  [[nodiscard]] Changes changes() const noexcept {
    const std::uint32_t first_io = table_.bases().first_io;
    return {moved_.begin<first_io, moved_.end> first_io, host_inputs_changed_, constants_changed_};
  }
  /// Out of line, so that a base whose address does not change costs only the comparison.
  [[gnu::noinline]] void move_base(std::uint32_t id, std::uint64_t address) noexcept {
    now_[id] = address;
    raise(level_of(id));
    widen(moved_, {id, id + 1});
  }
  [[nodiscard]] UpdateLevel level_of(std::uint32_t id) const noexcept {
    return id < table_.bases().first_io ? UpdateLevel::feature_map_and_model_io : UpdateLevel::model_io;
  }
  void raise(UpdateLevel level) noexcept {
    if (level > due_) due_ = level;
  }
  /// The part of a range that contains all bases that moved.
  [[nodiscard]] BaseRange moved_in(BaseRange range) const noexcept {
    const std::uint32_t begin = moved_.begin > range.begin ? moved_.begin : range.begin;
    const std::uint32_t end = moved_.end < range.end ? moved_.end : range.end;
    return {begin, end > begin ? end : begin};
  }
  /// The bases that a level covers: those of the feature map come before those of inputs and outputs.
  [[nodiscard]] BaseRange range_of(UpdateLevel level) const noexcept {
    if (level >= UpdateLevel::feature_map_and_model_io) return {BaseLayout::first_feature_map, table_.bases().count};
    if (level == UpdateLevel::model_io) return {table_.bases().first_io, table_.bases().count};
    return {0, 0};
  }

  // --- with a copy of the table on the device

  [[nodiscard]] std::uint64_t host_input_bytes() const noexcept {
    return host_inputs_changed_ ? table_.shape().host_inputs : 0;
  }
  [[nodiscard]] std::uint64_t launch_bytes() const noexcept {
    return args::LaunchPayload::bytes(table_.bases().count, table_.shape().host_inputs);
  }
  /// The first partition of the table with slots that a level covers.
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
  [[nodiscard]] std::uint32_t first_relocation(UpdateLevel level) const noexcept {
    return first_relocation_[static_cast<std::size_t>(partition_of(level))];
  }
  /// The range of base-table entries that are out of date on the device, from the first to the last.
  [[nodiscard]] BaseRange missing_on_device() noexcept {
    if (on_device_.empty()) return {0, 0};
    BaseRange& range = stale_on_device_;
    range.begin = next_moved(range.begin, range.end, on_device_);
    while (range.end > range.begin && now_[range.end - 1] == on_device_[range.end - 1]) --range.end;
    if (range.begin >= range.end) return {0, 0};
    return {range.begin & ~7U, range.end};  // a copy begins at a multiple of 64 bytes
  }
  /// The first base from `id` on whose address differs from that in `other`; a number not below `end` if there is none.
  [[nodiscard]] std::uint32_t next_moved(std::uint32_t id, std::uint32_t end,
                                         const std::vector<std::uint64_t>& other) const noexcept {
    while (id < end) {
      if (id % 32 == 0 && id + 32 <= end && !differ<32>(now_.data() + id, other.data() + id)) {
        id += 32;
      } else if (now_[id] == other[id]) {
        ++id;
      } else {
        break;
      }
    }
    return id;
  }
  /// Divides the slots of each base into the segments that are worth a separate copy, for add_segments(). They are at
  /// least `least` bytes apart: a queue may copy fewer bytes between two tensors together with them.
  void divide(const RefreshCosts& costs, std::uint64_t least);
  void add_segments(std::uint32_t id, Pieces& pieces) const noexcept {
    for (std::uint32_t s = first_segment_[id]; s < first_segment_[id + 1]; ++s) pieces.add(segments_[s]);
  }
  /// Writes the slots of the bases that are out of date in the host's image. @returns their number
  [[nodiscard]] std::uint64_t write_image() noexcept {
    std::uint64_t slots = 0;
    const std::uint32_t end = stale_in_image_.end;
    for (std::uint32_t id = next_moved(stale_in_image_.begin, end, in_image_); id < end;
         id = next_moved(id + 1, end, in_image_)) {
      slots += table_.rewrite(id, now_[id]);
      in_image_[id] = now_[id];
    }
    stale_in_image_ = no_base;
    late_slots_ = 0;
    return slots;
  }
  static void widen(BaseRange& range, BaseRange by) noexcept {
    if (by.begin < range.begin) range.begin = by.begin;
    if (by.end > range.end) range.end = by.end;
  }
  [[nodiscard]] args::RefreshOp refresh_op(UpdateLevel level, DevicePtr<std::byte> device) const noexcept {
    const std::uint32_t first = first_relocation(level);
    return {
        device,
        device.offset(Bytes{relocations_at_ + sizeof(args::Relocation) * first}).template as<const args::Relocation>(),
        relocation_count_ - first, device.offset(Bytes{bases_at_}).template as<const std::uint64_t>(), now_.size()};
  }

  args::ArgsTable table_;
  std::vector<std::uint64_t> now_;        ///< by base: the address in the next round
  std::uint64_t* ports_;                  ///< the part of `now_` for inputs and outputs
  std::vector<std::uint64_t> in_table_;   ///< the addresses in the table that kernels read
  std::vector<std::uint64_t> in_image_;   ///< the addresses in the host's image, if kernels do not read it
  std::vector<std::uint64_t> on_device_;  ///< the addresses in the device's base table
  BaseRange stale_in_image_ = no_base;    ///< contains each base that is out of date in the image
  std::uint64_t late_slots_ = 0;  ///< the most slots that the device computed at once while the image did not change
  std::uint64_t quiet_ = 0;       ///< the number of refreshes in a row, since then, that changed fewer slots

  BaseRange stale_on_device_ = no_base;       ///< contains each base that is out of date on the device
  std::vector<Segment> segments_;             ///< grouped by base, each group in the order of the table
  std::vector<std::uint32_t> first_segment_;  ///< by base: its first segment; has one more entry than there are bases
  std::uint64_t worth_ = 0;                   ///< the number of bytes that cost as much to copy as one more copy
  BaseRange moved_ = no_base;                 ///< contains each base that moved since it was refreshed
  UpdateLevel due_ = UpdateLevel::none;       ///< the level of the changes since the last refresh
  bool host_inputs_changed_ = false;
  bool constants_changed_ = false;
  Refreshed refreshed_;  ///< if `level` is none, the other members are those of an earlier refresh

  // The device memory holds, in this order: the table, the base table, the relocations.
  std::uint64_t bases_at_ = 0;
  std::uint64_t relocations_at_ = 0;
  std::uint64_t wanted_bytes_ = 0;
  bool has_relocations_ = false;  ///< whether the device has the relocations and so can compute
  std::uint32_t relocation_count_ = 0;
  std::uint32_t first_relocation_[args::partition_count] = {};
};

}  // namespace detail

}  // namespace rondo::update
