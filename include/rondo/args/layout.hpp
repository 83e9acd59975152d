// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/detail/layout_walker.hpp>
#include <rondo/args/detail/refusal.hpp>
#include <rondo/args/failure.hpp>
#include <rondo/args/format.hpp>
#include <rondo/args/parse.hpp>
#include <rondo/args/signature.hpp>
#include <rondo/args/slot.hpp>
#include <rondo/error.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string_view>

namespace rondo::args {

/// The size of a layout.
struct LayoutSize {
  std::size_t slots = 0;
  std::uint32_t bytes = 0;        ///< the size of the patterns
  std::uint32_t block_bytes = 0;  ///< the size of the args block: `bytes` rounded up to 8
  Failure failure{};              ///< the first mistake, if any

  [[nodiscard]] constexpr bool ok() const noexcept { return !failure; }
  constexpr explicit operator bool() const noexcept { return ok(); }
};

/// Lays `format` out for a kernel: writes as many of its slots, in ascending order of offset, as the buffer can hold.
/// The result describes the whole layout.
///
/// The block consists of a head, whose values follow one another without gaps, and a tail, which starts at a multiple
/// of 8 and holds the data that the head points to: lists of addresses of folded dynamic tensors, and shape blocks. A
/// shape block is the byte offset of its address list from its own start; then for each instance `0x1'0000'0000 | rank`
/// and the extents (a scalar counts as rank 1, extent 1); then the addresses.
///
/// Without instances: an input is one null slot, folded or not; an optional output and a folded dynamic output are one
/// null slot; an unfolded dynamic output takes no bytes.
///
/// Cost: reads the format twice; no allocation.
[[nodiscard]] constexpr LayoutSize try_lay_out(std::string_view format, const Signature& signature,
                                               std::span<Slot> slots) noexcept {
  detail::LayoutWalker measure{signature, {}};
  LayoutSize size;
  size.failure = parse(format, [&](const Descriptor& d) { return measure.add(d); });
  if (!size) return size;
  size.slots = measure.head_slots() + measure.tail_slots();
  const std::uint64_t tail = align_up(measure.head_bytes(), 8);
  size.bytes =
      static_cast<std::uint32_t>(measure.tail_bytes() == 0 ? measure.head_bytes() : tail + measure.tail_bytes());
  size.block_bytes = static_cast<std::uint32_t>(align_up(size.bytes, 8));
  detail::LayoutWalker write{signature, {slots, measure.head_slots(), tail}};
  (void)parse(format, [&](const Descriptor& d) { return write.add(d); });
  return size;
}

/// Returns the size of a kernel's layout. @throws Error invalid_argument with the pattern, its position and the reason
constexpr LayoutSize check_layout(std::string_view format, const Signature& signature,
                                  std::source_location where = std::source_location::current()) {
  const LayoutSize size = try_lay_out(format, signature, {});
  if (!size) throw Error{Errc::invalid_argument, explain(size.failure, format), where};
  return size;
}

/// A layout that contains its slots, for formats and kernels known at compile time.
template <std::size_t Slots>
struct Layout {
  Slot slots[Slots == 0 ? 1 : Slots] = {};
  std::uint32_t bytes = 0;
  std::uint32_t block_bytes = 0;

  static constexpr std::size_t slot_count = Slots;
};

/// The layout of a constant format for a constant kernel: `static_layout<Kernel::args, signature>`. Does not compile if
/// they do not match; the message contains `refused_args_format<position, reason, pattern, explanation>`.
template <auto format, const Signature& signature>
inline constexpr auto static_layout = [] {
  constexpr LayoutSize size = try_lay_out(format.view(), signature, {});
  if constexpr (!size) {
    detail::refuse<size.failure, Text{format}>();
    return Layout<0>{};
  } else {
    Layout<size.slots> layout;
    (void)try_lay_out(format.view(), signature, {layout.slots, size.slots});
    layout.bytes = size.bytes;
    layout.block_bytes = size.block_bytes;
    return layout;
  }
}();

}  // namespace rondo::args
