// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/refresh_op.hpp>
#include <rondo/args/system_slot.hpp>
#include <rondo/args/table_shape.hpp>
#include <rondo/detail/compiled.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::detail {
struct Keyed;
}

namespace rondo::args {

/// The numbers of the bases. An address in the table is base + offset; a round changes bases, but never offsets.
///
///     0 the number zero: absolute addresses    1 the table itself
///     2 .. first_io   feature map: what the session placed     first_io .. count   inputs, outputs and inouts
struct BaseLayout {
  static constexpr std::uint32_t absolute = 0;
  static constexpr std::uint32_t table = 1;
  static constexpr std::uint32_t first_feature_map = 2;
  std::uint32_t first_io = 3;
  std::uint32_t count = 3;
};

/// The address of a tensor: a base and an offset.
struct Source {
  std::uint32_t base = BaseLayout::absolute;
  std::uint64_t offset = 0;
};

/// The bases of a graph's tensors.
struct Bases {
  BaseLayout layout{};
  std::vector<Source> sources{};           ///< by tensor; those of host inputs are ignored
  std::vector<std::uint64_t> addresses{};  ///< by base: its first address; those of `absolute` and `table` are ignored
};

/// The image of all tasks' arguments and, for each base, the slots that use it: a change of a base costs work only for
/// its own slots.
///
/// Lifetime: move-only; the image stays at its address. Thread safety: none while written; kernels read it in parallel.
/// Errors: the constructor throws Error overflow (a table of 4 GiB) and errors of the system provider. Cost: allocates
/// only in the constructor; rewrite() is proportional to the slots that use the base.
class ArgsTable {
 public:
  /// The addresses of `bases` are not used.
  ArgsTable(const graph::GraphView& graph, const Bases& bases, SystemProvider provider = &no_system_provider);

  ArgsTable(ArgsTable&&) noexcept = default;
  ArgsTable& operator=(ArgsTable&&) noexcept = default;
  ArgsTable(const ArgsTable&) = delete;
  ArgsTable& operator=(const ArgsTable&) = delete;

  // --- bases

  [[nodiscard]] const BaseLayout& bases() const noexcept { return bases_; }
  /// The number of slots that use `base`.
  [[nodiscard]] std::uint32_t uses(std::uint32_t base) const noexcept {
    return use_begin_[base + 1] - use_begin_[base];
  }
  /// The slots that use `base`, in the order of the table.
  [[nodiscard]] std::span<const Relocation> slots_of(std::uint32_t base) const noexcept {
    return {uses_.data() + use_begin_[base], uses(base)};
  }
  /// Writes the slots that use `base`, whose address is now `address`. @returns their number
  std::uint32_t rewrite(std::uint32_t base, std::uint64_t address) noexcept {
    const Relocation* use = uses_.data() + use_begin_[base];
    const Relocation* const end = uses_.data() + use_begin_[base + 1];
    std::byte* const to = bytes();
    if (has_narrow_) [[unlikely]] {
      for (const Relocation* u = use; u != end; ++u) store_address(to + u->at, address + u->addend, u->narrow != 0);
    } else {
      for (const Relocation* u = use; u != end; ++u) store_address(to + u->at, address + u->addend, false);
    }
    return static_cast<std::uint32_t>(end - use);
  }
  /// The word that holds the unchanged address of `base`, if no other slot uses the base; otherwise null.
  [[nodiscard]] ArgWord* only_slot(std::uint32_t base) noexcept {
    if (uses(base) != 1) return nullptr;
    const Relocation& use = uses_[use_begin_[base]];
    if (use.addend != 0 || use.narrow != 0 || use.at % alignof(ArgWord) != 0) return nullptr;
    return reinterpret_cast<ArgWord*>(bytes() + use.at);  // NOLINT: as kernels read it
  }
  /// All slots in the order of the table, for a device that refreshes them itself.
  [[nodiscard]] std::vector<Relocation> relocations() const;

  // --- constants and host inputs

  /// Changes a constant in all blocks of the task at `position`.
  void set_constant(const graph::GraphView& graph, std::size_t position, const graph::ArgRecord& arg,
                    ArgWord bits) noexcept {
    const graph::TaskRecord& task = graph.tasks[position];
    for (std::uint32_t b = 0; b < task.blocks; ++b) {
      put(task_begin_[position] + b * task.block_bytes + arg.offset, static_cast<std::uint64_t>(bits), arg.width == 4);
    }
  }
  /// The offset of the bytes of a host input in the table.
  [[nodiscard]] std::uint64_t host_input_begin(std::size_t tensor) const noexcept { return host_inputs_[tensor]; }

  // --- the image

  [[nodiscard]] const TableShape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::byte* bytes() noexcept { return image_.data()->bytes; }
  [[nodiscard]] std::span<const std::byte> image() const noexcept {
    return {image_.data() == nullptr ? nullptr : image_.data()->bytes, shape_.size()};
  }

  // --- the view of kernels

  /// From now on, kernels read a copy of the image at `address`; initially they read the image itself.
  void show_at(DevicePtr<std::byte> address) noexcept { seen_ = address; }
  [[nodiscard]] DevicePtr<std::byte> seen() const noexcept { return seen_; }
  /// The first word of the table that kernels read.
  [[nodiscard]] ArgWord* words() const noexcept {
    return reinterpret_cast<ArgWord*>(seen_.address());  // NOLINT: handed to kernels
  }
  /// The arguments of one block of the task at `position`. The blocks of a task are contiguous; tasks need not be.
  [[nodiscard]] ArgWord* block(std::size_t position, std::uint32_t block) const noexcept {
    return words() + (task_begin_[position] + block * block_bytes_[position]) / sizeof(ArgWord);
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  [[nodiscard]] std::vector<rondo::detail::Keyed> place(const graph::GraphView& graph);
  [[nodiscard]] std::vector<Relocation> find_addresses(const graph::GraphView& graph,
                                                       const std::vector<rondo::detail::Keyed>& order,
                                                       const std::vector<Source>& sources) const;
  void write_constants(const graph::GraphView& graph, const std::vector<Source>& sources, SystemProvider provider);
  void put(std::uint64_t at, std::uint64_t value, bool narrow) noexcept { store_address(bytes() + at, value, narrow); }

  BaseLayout bases_;
  TableShape shape_;
  std::vector<Line> image_;
  std::vector<std::uint32_t> task_begin_;   ///< by position, in bytes
  std::vector<std::uint32_t> block_bytes_;  ///< by position
  std::vector<std::uint64_t> host_inputs_;  ///< by tensor
  std::vector<std::uint32_t> use_begin_;    ///< by base: its first use; has one more entry than there are bases
  std::vector<Relocation> uses_;            ///< grouped by base, each group in the order of the table
  bool has_narrow_ = false;                 ///< whether any slot is four bytes wide
  DevicePtr<std::byte> seen_;
};

}  // namespace rondo::args
