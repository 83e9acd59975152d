// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace rondo::args {

/// One tensor as a shape block describes it. Rank 0 is a scalar.
struct Instance {
  Shape shape{};
  bool rank_known = true;  ///< false: room for unknown_rank_dims extents is kept, each written as -1
};

/// The extents that a shape block keeps for a tensor of unknown rank.
inline constexpr std::uint32_t unknown_rank_dims = 25;

/// How often a parameter of a kernel may occur.
enum class Occurrence : std::uint8_t {
  required,  ///< exactly one instance
  optional,  ///< one or none
  dynamic,   ///< any number; folds to one pointer to a list of addresses
};

/// One IR input or output of a kernel and the instances it has in a given graph.
struct Parameter {
  Occurrence occurrence = Occurrence::required;
  std::uint32_t count = 1;              ///< instances
  const Instance* instances = nullptr;  ///< `count` of them, or null if no pattern asks for shapes

  [[nodiscard]] static constexpr Parameter required(const Instance* instance = nullptr) noexcept {
    return {Occurrence::required, 1, instance};
  }
  [[nodiscard]] static constexpr Parameter optional(bool present, const Instance* instance = nullptr) noexcept {
    return {Occurrence::optional, present ? 1U : 0U, instance};
  }
  [[nodiscard]] static constexpr Parameter dynamic(std::uint32_t count, const Instance* instances = nullptr) noexcept {
    return {Occurrence::dynamic, count, instances};
  }
};

/// Elements that someone else owns, in an array or in anything with data() and size().
template <class T>
class ListView {
 public:
  constexpr ListView() noexcept = default;
  constexpr ListView(const T* data, std::size_t size) noexcept : data_{data}, size_{size} {}

  template <std::size_t N>
  constexpr ListView(const T (&array)[N]) noexcept  // NOLINT(google-explicit-constructor)
      : data_{array}, size_{N} {}

  template <class List>
  requires requires(const List& list) {
    { list.data() } -> std::convertible_to<const T*>;
    { list.size() } -> std::convertible_to<std::size_t>;
  }
  constexpr ListView(const List& list) noexcept  // NOLINT(google-explicit-constructor)
      : data_{list.data()}, size_{list.size()} {}

  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] constexpr const T* begin() const noexcept { return data_; }
  [[nodiscard]] constexpr const T* end() const noexcept { return data_ + size_; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

struct SubNode;

/// What a layout needs to know of a kernel. Refers to arrays of the caller; `{sknID...}` patterns look ID up in
/// `nodes`.
struct Signature {
  ListView<Parameter> inputs{};
  ListView<Parameter> outputs{};
  std::uint32_t workspaces = 0;
  ListView<SubNode> nodes{};
};

/// One kernel within a super-kernel.
struct SubNode {
  std::uint32_t id = 0;
  Signature signature{};
};

}  // namespace rondo::args
