// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/kernel.hpp>
#include <rondo/graph/task_graph.hpp>
#include <rondo/launch/philox.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

/// Values that the session writes into the args table. Each is a typed parameter of kernels: the start of a round's
/// random numbers, the step, scalars that the host changes, and descriptors of tensors.
///
///     struct Dropout {  // name and core left out
///       static void run(In<float> x, Out<float> y, launch::RandomStart random, launch::HostScalar<float> rate);
///     };
///     const auto random = launch::random(graph, "random", seed, numbers_per_round);
///     const auto rate = launch::scalar(graph, "rate", 0.1F);
///     graph.add<Dropout>(x, y, random, rate);
///     struct Policies : DefaultPolicies { using Values = launch::RoundValues<>; };
///     auto session = open<A2A3Sim, Policies>(graph);
///     session.values().set(rate, 0.5F);
namespace rondo::launch {

/// A kernel's parameter: the number of the step that the round computes.
struct Step {
  std::uint64_t number = 0;
};
/// A kernel's parameter: a number that the host may change between rounds.
template <class T>
  requires std::is_arithmetic_v<T>
struct HostScalar {
  T value{};
};
/// A kernel's parameter: a D that `static D make(std::uint64_t address, const Shape&) noexcept` makes of a tensor's
/// address and shape, again when the address changes. Trivially copyable; at most 4096 bytes, aligned to 32.
template <class D>
struct Descriptor : D {};

/// A handle to a value of a graph; V is the type of the kernels' parameter.
template <class V>
struct Value {
  using element_type = V;
  static constexpr Direction direction = Direction::session_value;
  TensorKey key;
};

/// The start of a round's random numbers. Each round, even one that fails, has `numbers_per_round` numbers of the
/// sequence of `seed` to itself. The sequence starts as if `rounds_done` rounds had been run. @throws Error
/// invalid_argument, overflow: see RoundRandom, whose limits are 2^34 numbers and 2^64 blocks
[[nodiscard]] inline RONDO_CONSTEXPR Value<RandomStart> random(TaskGraph& graph, std::string_view name,
                                                               std::uint64_t seed, std::uint64_t numbers_per_round,
                                                               std::uint64_t rounds_done = 0) {
  RoundRandom start(seed, numbers_per_round, rounds_done);
  const std::uint64_t first = start.next().offset;
  return {graph.add_value(name, {graph::ValueKind::random, 0, seed, first, start.blocks_per_round(), nullptr},
                          sizeof(RandomStart))};
}
/// The number of the round, counting from `first`.
[[nodiscard]] inline RONDO_CONSTEXPR Value<Step> step(TaskGraph& graph, std::string_view name,
                                                      std::uint64_t first = 0) {
  return {graph.add_value(name, {graph::ValueKind::step, 0, 0, first, 1, nullptr}, sizeof(Step))};
}
/// A number that session.values().set(scalar, value) changes.
template <class T>
  requires std::is_arithmetic_v<T>
[[nodiscard]] constexpr Value<HostScalar<T>> scalar(TaskGraph& graph, std::string_view name, T initial) {
  const auto bits = static_cast<std::uint64_t>(rondo::detail::to_word(initial));
  return {graph.add_value(name, {graph::ValueKind::scalar, 0, bits, 0, 0, nullptr}, sizeof(HostScalar<T>))};
}
/// A D created from the address and shape of `tensor`.
template <class D, Element T, Direction S>
[[nodiscard]] constexpr Value<Descriptor<D>> descriptor(TaskGraph& graph, std::string_view name,
                                                        TensorHandle<T, S> tensor) {
  static_assert(std::is_trivially_copyable_v<D> && alignof(D) <= 32 && sizeof(Descriptor<D>) == sizeof(D),
                "rondo: a descriptor is copied into the args table: trivially copyable, aligned to 32 bytes at most");
  static_assert(
      requires(const Shape& shape) { D{D::make(std::uint64_t{}, shape)}; },
      "rondo: a descriptor is made from an address and a shape; write `static D make(std::uint64_t address, "
      "const rondo::Shape& shape) noexcept;`");
  static_assert(!is_carried_in_args(S), "rondo: a tensor in the args table has no address of its own");
  const auto make = +[](std::byte* to, std::uint64_t address, const Shape& shape) noexcept {
    const D made = D::make(address, shape);
    __builtin_memcpy(to, &made, sizeof(D));
  };
  return {graph.add_value(name, {graph::ValueKind::descriptor, index(tensor.key.tensor()), 0, 0, 0, make}, sizeof(D),
                          tensor.key)};
}

/// The number of rounds and the host's scalars. All slots of rounds in flight and all shapes share one store, so that
/// no two rounds get the same numbers.
///
/// Thread safety: that of the session. Cost: set() compares and stores; the next round copies the value.
class ValueStore {
 public:
  ValueStore() noexcept = default;
  explicit ValueStore(const graph::GraphView& graph)
      : scalars_(graph.tensors.size()), is_scalar_(graph.tensors.size()), tag_{graph.tag} {
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      is_scalar_[t] = graph.tensors[t].value.kind == graph::ValueKind::scalar ? 1 : 0;
      scalars_[t] = graph.tensors[t].value.bits;
    }
  }

  /// Gives the scalar this value from the next round on. Errors: wrong_tensor if it belongs to another graph.
  template <class T>
  Status set(Value<HostScalar<T>> scalar, std::type_identity_t<T> value) noexcept {
    const std::uint32_t t = index(scalar.key.tensor());
    if (scalar.key.graph() != tag_ || t >= is_scalar_.size() || !is_scalar_[t]) return Status{Errc::wrong_tensor};
    scalars_[t] = static_cast<std::uint64_t>(rondo::detail::to_word(value));
    return {};
  }

  /// The number of rounds that were given values. Rounds that were refused do not count.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }
  std::uint64_t next_round() noexcept { return rounds_++; }
  void take_back() noexcept { --rounds_; }
  [[nodiscard]] std::uint64_t scalar(std::uint32_t tensor) const noexcept { return scalars_[tensor]; }

 private:
  std::vector<std::uint64_t> scalars_;  ///< by tensor
  std::vector<char> is_scalar_;         ///< by tensor
  std::uint32_t tag_ = 0;
  std::uint64_t rounds_ = 0;
};

/// The policy that writes the values of these kinds, by default of all kinds. No code is compiled for the others.
///
/// Cost: rounds take the general path, plus a comparison for each value, and a copy into the table if the value
/// changed. If no value changed, nothing is refreshed. Thread safety: that of the session.
template <graph::ValueKind... kinds>
class RoundValues {
 public:
  static constexpr bool any = true;
  using Store = ValueStore;
  static constexpr bool has(graph::ValueKind kind) noexcept {
    return sizeof...(kinds) == 0 || ((kind == kinds) || ...);
  }

  /// `sources`: the sources of all tensors. `store`: that of the session, which outlives this.
  /// @throws Error unsupported for a kind that the policy leaves out
  RoundValues(const graph::GraphView& graph, const std::vector<args::Source>& sources, Store& store) : store_{store} {
    for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
      const graph::RoundValue& value = graph.tensors[t].value;
      if (value.kind == graph::ValueKind::none) continue;
      if (!has(value.kind)) {
        throw Error(Errc::unsupported, Error::Text{"value '", graph.name(graph.tensors[t].name),
                                                   "' is of a kind that the session's "
                                                   "policies leave out; add it to their launch::RoundValues"});
      }
      Slot& slot = slots_.emplace_back(Slot{value, t});
      if (value.kind == graph::ValueKind::descriptor) {
        slot.source = sources[value.source];
        slot.shape = &graph.tensors[value.source].shape;
      }
    }
  }

  /// Writes the values of the next round into the table.
  template <class Refresher>
  void update(Refresher& refresher) noexcept {
    const std::uint64_t round = store_.next_round();
    for (Slot& slot : slots_) {
      switch (slot.value.kind) {
        case graph::ValueKind::random:
          if constexpr (has(graph::ValueKind::random)) {
            const RandomStart start{slot.value.bits, slot.value.first + round * slot.value.per_round};
            if (slot.value.per_round != 0 || !slot.is_written) write(refresher, slot, &start, sizeof(start));
          }
          break;
        case graph::ValueKind::step:
          if constexpr (has(graph::ValueKind::step)) {
            const Step step{slot.value.first + round};
            write(refresher, slot, &step, sizeof(step));
          }
          break;
        case graph::ValueKind::scalar:
          if constexpr (has(graph::ValueKind::scalar)) {
            const std::uint64_t bits = store_.scalar(slot.tensor);
            if (bits != slot.last || !slot.is_written) write(refresher, slot, &bits, sizeof(bits));
            slot.last = bits;
          }
          break;
        case graph::ValueKind::descriptor:
          if constexpr (has(graph::ValueKind::descriptor)) {
            const bool is_absolute = slot.source.base == args::BaseLayout::absolute;
            const std::uint64_t address = (is_absolute ? 0 : refresher.base(slot.source.base)) + slot.source.offset;
            if (address == slot.last) break;
            slot.value.make(refresher.host_input(slot.tensor), address, *slot.shape);
            slot.last = address;
          }
          break;
        case graph::ValueKind::none: break;
      }
    }
  }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};  ///< not an address
  struct Slot {
    graph::RoundValue value;
    std::uint32_t tensor = 0;
    args::Source source{};         ///< for a descriptor: the location of its tensor
    const Shape* shape = nullptr;  ///< for a descriptor: the shape of its tensor
    std::uint64_t last = never;    ///< the address or scalar that the table holds
    bool is_written = false;
  };

  template <class Refresher>
  static void write(Refresher& refresher, Slot& slot, const void* from, std::size_t size) noexcept {
    __builtin_memcpy(refresher.host_input(slot.tensor), from, size);
    slot.is_written = true;
  }

  Store& store_;
  std::vector<Slot> slots_;
};

}  // namespace rondo::launch

namespace rondo::detail {

/// A value is passed as its address in the args table.
template <class V>
struct ValueParameter : AnyParameter {
  static constexpr bool is_tensor = true;
  using element_type = V;
  static constexpr V at(std::uint64_t address, const ArgWord*) noexcept {
    V value;
    __builtin_memcpy(&value, reinterpret_cast<const void*>(address), sizeof(V));  // NOLINT: simulated device memory
    return value;
  }
  static constexpr V read(const ArgWord* args, std::size_t word, std::size_t) noexcept {
    return at(static_cast<std::uint64_t>(args[word]), nullptr);
  }
};
template <>
struct Parameter<launch::RandomStart> : ValueParameter<launch::RandomStart> {};
template <>
struct Parameter<launch::Step> : ValueParameter<launch::Step> {};
template <class T>
struct Parameter<launch::HostScalar<T>> : ValueParameter<launch::HostScalar<T>> {};
template <class D>
struct Parameter<launch::Descriptor<D>> : ValueParameter<launch::Descriptor<D>> {};

template <class V>
inline constexpr bool is_tensor_argument<launch::Value<V>> = true;

}  // namespace rondo::detail
