// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/extent.hpp>
#include <rondo/tensor/data_type.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The text in which tensors and parameters of kernels are declared:
///
///     x: in f32[n, 64], y: inout f32[n, 64], a: f32
///
/// A declaration is a name, a colon, the role of a tensor, its element type, and its extents in brackets. A scalar has
/// neither role nor brackets. `b: block` is the index of the running block. An extent is a number, a symbol, or an
/// expression of those with + - * / and the functions ceil_div, min and max.
namespace rondo::erased {

/// The role of a declared name.
enum class Role : std::uint8_t { in, out, inout, resident, workspace, host_input, scalar, block };

struct Declaration {
  std::string_view name;  ///< part of the text that was parsed
  Role role = Role::scalar;
  DataType type = DataType::float32;
  std::vector<Extent> extents{};
  std::size_t at = 0;  ///< where the declaration starts in the text
};

/// The declarations of a text.
struct Declarations {
  std::vector<Declaration> list;
  /// The symbols by number: those that were known before, then the new ones in the order of their first use.
  std::vector<std::string> symbols;
};

/// Parses a list of declarations. `what` names the text in messages ("the signature of kernel 'add'"). `known`: the
/// symbols that have numbers already. @throws Error invalid_argument, with a caret under the place
[[nodiscard]] Declarations parse_declarations(std::string_view text, std::string_view what,
                                              std::vector<std::string> known = {});

/// Refuses a text because of one place in it. @throws Error invalid_argument: what is wrong, the text, and a caret
[[noreturn]] void fail_at(std::string_view text, std::string_view what, std::size_t at, std::size_t size,
                          std::string_view why);

/// The element type of that name, long (float32) or short (f32); false if there is none.
[[nodiscard]] bool find_element(std::string_view name, DataType& type) noexcept;

}  // namespace rondo::erased
