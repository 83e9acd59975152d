// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/detail/symbolic_extents.hpp>
#include <rondo/args/layout.hpp>
#include <rondo/args/literal.hpp>
#include <rondo/graph/task_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// Kernels that declare the layout of their arguments:
///
///     struct MatMul {
///       static constexpr std::string_view name = "mat_mul";
///       static constexpr auto core = rondo::CoreType::cube;
///       static constexpr auto args = "{i0*}{i1*}{o0*}{ws0*}{t}"_args;
///       static void run(In<float, 2> a, In<float, 2> b, Out<float, 2> c, Scratch<float> partial, std::int32_t tile);
///     };
///
/// An In is an IR input, as is a value that the session writes; an Out is an IR output; an InOut is both; a Scratch is
/// a workspace. Each kind is numbered from 0 in the order of run's parameters. `{t}` points to the tiling data, which
/// follow the format's block: the scalars and Blocks in the order of the parameters, then the extents.
namespace rondo::args::detail {

template <class K, class... P>
struct DeclaredLayout {
  template <class Q>
  using Param = rondo::detail::Parameter<Q>;

  enum class Role : std::uint8_t { input, output, inout, scratch, word };
  template <class Q>
  static consteval Role role_of() {
    if constexpr (!Param<Q>::is_tensor) {
      return Role::word;
    } else if constexpr (Param<Q>::is_scratch) {
      return Role::scratch;
    } else {
      return Param<Q>::access == Access::read    ? Role::input
             : Param<Q>::access == Access::write ? Role::output
                                                 : Role::inout;
    }
  }
  static constexpr std::size_t count = sizeof...(P);
  static constexpr Role roles[count + 1] = {role_of<P>()..., Role::word};
  static constexpr std::size_t ranks[count + 1] = {Param<P>::rank..., 0};

  static constexpr bool is_input(Role r) noexcept { return r == Role::input || r == Role::inout; }
  static constexpr bool is_output(Role r) noexcept { return r == Role::output || r == Role::inout; }
  template <class Is>
  static constexpr std::uint32_t count_before(std::size_t parameter, Is is) noexcept {
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < parameter; ++i) n += is(roles[i]) ? 1 : 0;
    return n;
  }
  static constexpr bool is_scratch(Role r) noexcept { return r == Role::scratch; }
  static constexpr bool is_word(Role r) noexcept { return r == Role::word; }

  /// The parameters that the types determine, with their ranks, and with marks of run's parameter in place of extents.
  struct Lists {
    Shape shapes[count + 1] = {};
    Parameter inputs[count + 1] = {};
    Parameter outputs[count + 1] = {};
    constexpr Lists() {
      std::size_t in = 0;
      std::size_t out = 0;
      for (std::size_t i = 0; i < count; ++i) {
        shapes[i] = marks_of(i, ranks[i]);
        if (is_input(roles[i])) inputs[in++] = {Occurrence::required, 1, {&shapes[i], 1}};
        if (is_output(roles[i])) outputs[out++] = {Occurrence::required, 1, {&shapes[i], 1}};
      }
    }
  };
  static constexpr Lists lists{};
  static constexpr Signature signature{{lists.inputs, count_before(count, is_input)},
                                       {lists.outputs, count_before(count, is_output)},
                                       count_before(count, is_scratch),
                                       {}};
  /// A format that does not match the kernel does not compile; the message contains the pattern, its position and the
  /// reason.
  static constexpr const auto& layout = static_layout<K::args, signature>;

  /// Whether a slot holds the address of a parameter.
  static constexpr bool holds(const Slot& slot, std::size_t parameter) noexcept {
    const Role role = roles[parameter];
    return (is_input(role) && slot.kind == SlotKind::input && slot.tensor == count_before(parameter, is_input)) ||
           (is_output(role) && slot.kind == SlotKind::output && slot.tensor == count_before(parameter, is_output)) ||
           (is_scratch(role) && slot.kind == SlotKind::workspace && slot.index == count_before(parameter, is_scratch));
  }
  static constexpr std::uint32_t nowhere = 0xFFFF'FFFF;
  /// The offset of the address of a tensor parameter, in bytes. An InOut may occur once or twice in the format.
  static constexpr std::uint32_t address_of(std::size_t parameter) noexcept {
    for (std::size_t s = 0; s < layout.slot_count; ++s) {
      if (holds(layout.slots[s], parameter)) return layout.slots[s].offset;
    }
    return nowhere;
  }
  static constexpr bool has_tiling = std::any_of(layout.slots, layout.slots + layout.slot_count,
                                                 [](const Slot& slot) { return slot.kind == SlotKind::tiling; });
  static constexpr bool names_every_tensor = [] {
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_word(roles[i]) && address_of(i) == nowhere) return false;
    }
    return true;
  }();
  static_assert(names_every_tensor, "rondo: the kernel's args format leaves out a tensor that run() takes");
  static_assert(has_tiling || count_before(count, is_word) == 0,
                "rondo: the kernel takes scalars, but its args format has no {t}, through which they are reached");

  static constexpr std::size_t first_word = layout.block_bytes / sizeof(ArgWord);
  static constexpr std::size_t word_of(std::size_t parameter) noexcept {
    return first_word + count_before(parameter, is_word);
  }
  static constexpr std::size_t extents_of(std::size_t parameter) noexcept {
    std::size_t word = first_word + count_before(count, is_word);
    for (std::size_t i = 0; i < parameter; ++i) word += ranks[i];
    return word;
  }

  template <class Q, std::size_t I>
  [[gnu::always_inline]] static Q read(const ArgWord* args) noexcept {
    if constexpr (Param<Q>::is_tensor) {
      std::uint64_t address = 0;
      __builtin_memcpy(&address, reinterpret_cast<const char*>(args) + address_of(I), sizeof(address));  // NOLINT
      return Param<Q>::at(address, args + extents_of(I));
    } else {
      return Param<Q>::read(args, word_of(I), 0);
    }
  }
  static void call(const ArgWord* args) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { K::run(read<P, I>(args)...); }(std::index_sequence_for<P...>{});
  }

  /// Converts a task's arguments, one for each parameter, into the slots of the format. Returns the block's bytes.
  static constexpr std::uint32_t lay_out(const TaskGraph& graph, std::vector<graph::ArgRecord>& args,
                                         std::vector<graph::ArgRecord>& extents) {
    const auto tensor_of = [&](std::size_t parameter) {
      const std::size_t rank = graph.tensors()[args[parameter].tensor].shape.rank();
      if (rank != 0 && rank != ranks[parameter]) {
        throw Error(Errc::invalid_argument,
                    Error::Text{"task '", K::name,
                                "': its args format describes the shape of a tensor whose dimensions "
                                "are not those of run's parameter; take it as In<T, rank>"});
      }
      return args[parameter].tensor;
    };
    const auto argument_of = [&](const Slot& slot) {
      std::size_t i = 0;
      while (!holds(slot, i)) ++i;
      return args[i];
    };
    std::vector<graph::ArgRecord> placed;
    for (std::size_t s = 0; s < layout.slot_count; ++s) {
      placed.push_back(record_of(graph, layout.slots[s], layout.block_bytes, tensor_of, argument_of));
    }
    std::uint32_t end = layout.block_bytes;
    const auto place_word = [&](const graph::ArgRecord& word) {
      placed.push_back(word);
      placed.back().offset = end;
      end += static_cast<std::uint32_t>(sizeof(ArgWord));
    };
    for (std::size_t i = 0; i < count; ++i) {
      if (is_word(roles[i])) place_word(args[i]);
    }
    for (const graph::ArgRecord& extent : extents) place_word(extent);
    args = std::move(placed);
    extents.clear();
    return end;
  }
};

template <class K, class... P>
DeclaredLayout<K, P...> declared_for(rondo::detail::ParameterList<P...>);

template <class K>
struct DeclaredArgs : decltype(declared_for<K>(rondo::detail::ParametersOf<K>{})) {};

}  // namespace rondo::args::detail
