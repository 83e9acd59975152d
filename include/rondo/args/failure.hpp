// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rondo::args {

/// The reason why a format, or a layout made from it, is rejected. The enumerators are phrases because compilers print
/// them.
enum class Reason : std::uint8_t {
  none,
  // mistakes in the text
  text_outside_braces,
  unopened_brace,
  unclosed_brace,
  nested_brace,
  unknown_pattern,
  unexpected_text_after_pattern,
  number_missing,
  number_or_star_missing,
  star_missing,
  leading_zero,
  number_above_2147483647,
  value_above_32_bits,
  value_above_64_bits,
  unknown_suffix,
  tail_or_non_tail_missing,
  unknown_hidden_input_family,
  super_kernel_inside_super_kernel,
  // mismatches with the kernel's signature
  no_such_input,
  no_such_output,
  no_such_input_instance,
  no_such_output_instance,
  no_such_workspace,
  no_such_sub_node,
  too_many_workspaces,
  wrong_instance_count,
  shape_missing,
  rank_above_limit,
  block_too_large,
};

/// A sentence for each reason: the mistake and its correction.
[[nodiscard]] constexpr const char* describe(Reason reason) noexcept {
  switch (reason) {
    case Reason::none: return "nothing is wrong";
    case Reason::text_outside_braces: return "text outside of braces; a format is {pattern}{pattern}... without gaps";
    case Reason::unopened_brace: return "'}' without '{' before it";
    case Reason::unclosed_brace: return "'{' without '}' after it";
    case Reason::nested_brace: return "'{' inside a pattern; close the pattern first";
    case Reason::unknown_pattern: return "unknown pattern";
    case Reason::unexpected_text_after_pattern: return "the pattern is complete before this text; remove the text";
    case Reason::number_missing: return "a number is needed here, digits only";
    case Reason::number_or_star_missing: return "a number or '*' is needed here";
    case Reason::star_missing: return "this pattern ends with '*' after its number";
    case Reason::leading_zero: return "a number has no leading zero; write it without";
    case Reason::number_above_2147483647: return "the number exceeds 2147483647";
    case Reason::value_above_32_bits: return "the value exceeds 4294967295, the largest of 32 bits";
    case Reason::value_above_64_bits: return "the value exceeds 18446744073709551615, the largest of 64 bits";
    case Reason::unknown_suffix: return "unknown suffix after '.'";
    case Reason::tail_or_non_tail_missing: return "t_ffts needs .tail or .non_tail";
    case Reason::unknown_hidden_input_family: return "unknown family of hidden inputs; one of hcom, tilefwk, hcclsk";
    case Reason::super_kernel_inside_super_kernel: return "skn inside skn; a sub-node has no sub-nodes";
    case Reason::no_such_input: return "the kernel has no input of this number";
    case Reason::no_such_output: return "the kernel has no output of this number";
    case Reason::no_such_input_instance: return "the kernel has no input instance of this number";
    case Reason::no_such_output_instance: return "the kernel has no output instance of this number";
    case Reason::no_such_workspace: return "the kernel has no workspace of this number";
    case Reason::no_such_sub_node: return "the super-kernel has no sub-node of this ID";
    case Reason::too_many_workspaces: return "{ws*} holds at most 16 workspaces; name each one by its number";
    case Reason::wrong_instance_count:
      return "a required tensor has exactly one instance and an optional one at most one; declare it dynamic";
    case Reason::shape_missing: return "a shape block needs the instances' shapes; give them in the signature";
    case Reason::rank_above_limit: return "the rank exceeds the most dimensions that a tensor may have";
    case Reason::block_too_large: return "the args block exceeds 2147483647 bytes";
  }
  return "unknown reason";
}

/// The first mistake in a format: the reason, the pattern and the exact byte.
struct Failure {
  Reason reason = Reason::none;
  std::size_t position = 0;  ///< the position of the pattern's '{' in the text, in bytes
  std::size_t length = 0;    ///< the length of the pattern with its braces, as far as it is present; in bytes
  std::size_t at = 0;        ///< the position of the first byte that is wrong

  constexpr explicit operator bool() const noexcept { return reason != Reason::none; }
  friend constexpr bool operator==(const Failure&, const Failure&) noexcept = default;
};

/// A sentence for a failure in `format`: the pattern (unprintable bytes as `\xNN`, at most 60 bytes), its position, and
/// the reason.
[[nodiscard]] constexpr Error::Text explain(const Failure& failure, std::string_view format) noexcept {
  const std::string_view pattern = format.substr(failure.position, failure.length);
  constexpr std::size_t shown_bytes = 60;
  constexpr char hex[] = "0123456789abcdef";
  Error::Text text{"args format: pattern \""};
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (i == shown_bytes) {
      text.append("...");
      break;
    }
    const auto byte = static_cast<unsigned char>(pattern[i]);
    if (byte >= 0x20 && byte < 0x7f) {
      text.append(static_cast<char>(byte));
    } else {
      text.append("\\x");
      text.append(hex[byte >> 4]);
      text.append(hex[byte & 15]);
    }
  }
  text.append(Error::Text{"\" at position ", failure.position, ": ", describe(failure.reason)});
  if (failure.at != failure.position) text.append(Error::Text{" (byte ", failure.at, ")"});
  return text;
}

}  // namespace rondo::args
