// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/detail/owned_array.hpp>
#include <rondo/graph/kernel.hpp>
#include <rondo/graph/task_graph.hpp>
#include <rondo/launch/philox.hpp>
#include <rondo/launch/value_store.hpp>
#include <rondo/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

/// Values that the session writes into the args table by itself, each a typed parameter of kernels: where a round's
/// random numbers start, which step it is, scalars that the host changes, descriptors of where a tensor is.
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

/// A kernel's parameter: which step a round is.
struct Step {
  /// Of the round.
  std::uint64_t number = 0;
};
/// A kernel's parameter: a number that the host may change between rounds.
template <class T>
requires std::is_arithmetic_v<T>
struct HostScalar {
  /// What the host set.
  T value{};
};
/// A kernel's parameter: what `D` makes of a tensor's address and shape, `static D make(std::uint64_t address, const
/// Shape&) noexcept`, made anew when the address has changed. Trivially copyable; at most 4096 bytes, aligned to 32.
template <class D>
struct Descriptor : D {};

/// Names a value of a graph; V is the kernels' parameter.
template <class V>
struct Value {
  /// The type of one element.
  using element_type = V;
  /// Which way it goes in a round.
  static constexpr Direction direction = Direction::session_value;
  /// Which tensor of which graph.
  TensorKey key;
};

/// Where a round's random numbers start: a sequence of `seed` of which each round has `numbers_per_round` numbers to
/// itself, whether it succeeds or not. `rounds_done`: goes on as if so many rounds had been.
/// @throws Error invalid_argument, overflow: see RoundRandom, whose limits are 2^34 numbers and 2^64 blocks
[[nodiscard]] constexpr Value<RandomStart> random(TaskGraph& graph, std::string_view name, std::uint64_t seed,
                                                  std::uint64_t numbers_per_round, std::uint64_t rounds_done = 0) {
  RoundRandom start(seed, numbers_per_round, rounds_done);
  const std::uint64_t first = start.next().offset;
  return {graph.add_value(name, {graph::ValueKind::random, 0, seed, first, start.blocks_per_round(), nullptr},
                          sizeof(RandomStart))};
}
/// Which step a round is, counted from `first`.
[[nodiscard]] constexpr Value<Step> step(TaskGraph& graph, std::string_view name, std::uint64_t first = 0) {
  return {graph.add_value(name, {graph::ValueKind::step, 0, 0, first, 1, nullptr}, sizeof(Step))};
}
/// A number that session.values().set(scalar, value) changes.
template <class T>
requires std::is_arithmetic_v<T>
[[nodiscard]] constexpr Value<HostScalar<T>> scalar(TaskGraph& graph, std::string_view name, T initial) {
  const auto bits = static_cast<std::uint64_t>(rondo::detail::to_word(initial));
  return {graph.add_value(name, {graph::ValueKind::scalar, 0, bits, 0, 0, nullptr}, sizeof(HostScalar<T>))};
}
/// What D makes of where `tensor` is.
template <class D, Element T, Direction S>
[[nodiscard]] constexpr Value<Descriptor<D>> descriptor(TaskGraph& graph, std::string_view name,
                                                        TensorHandle<T, S> tensor) {
  static_assert(std::is_trivially_copyable_v<D> && alignof(D) <= 32 && sizeof(Descriptor<D>) == sizeof(D),
                "rondo: a descriptor is copied into the args table: trivially copyable, aligned to 32 bytes at most");
  static_assert(
      requires(const Shape& shape) { D{D::make(std::uint64_t{}, shape)}; },
      "rondo: a descriptor is made from an address and a shape; write `static D make(std::uint64_t address, "
      "const rondo::Shape& shape) noexcept;`");
  static_assert(!rides_in_args(S), "rondo: what lies in the args table has no address of its own");
  const auto make = +[](std::byte* to, std::uint64_t address, const Shape& shape) noexcept {
    const D made = D::make(address, shape);
    __builtin_memcpy(to, &made, sizeof(D));
  };
  return {graph.add_value(name, {graph::ValueKind::descriptor, index(tensor.key.tensor()), 0, 0, 0, make}, sizeof(D),
                          tensor.key)};
}

/// A session's policy: writes the values of these kinds, by default of all. Of kinds that are left out there is no
/// code.
///
/// Cost: rounds of such a session take the general way; then for each value a compare, and a copy into the table where
/// it changed. What has not changed is not patched, and if nothing has, nothing is refreshed.
template <graph::ValueKind... kinds>
class RoundValues {
 public:
  /// Are there such values?
  static constexpr bool any = true;
  /// What keeps the values, where there are any.
  using Store = ValueStore;
  /// Are there values of that kind?
  static constexpr bool has(graph::ValueKind kind) noexcept {
    return sizeof...(kinds) == 0 || ((kind == kinds) || ...);
  }

  /// `sources`: of all tensors. `shared`: the store of a session that this one is a part of, or null.
  /// @throws Error unsupported for a kind that the policy leaves out
  void open(const graph::GraphView& graph, Slice<const args::Source> sources, Store* shared) {
    if (shared == nullptr) own_ = Store(graph);
    shared_ = shared;
    std::size_t count = 0;
    for (const graph::TensorRecord& tensor : graph.tensors)
      count += tensor.value.kind != graph::ValueKind::none ? 1 : 0;
    slots_ = rondo::detail::OwnedArray<Slot>(count);
    Slot* next = slots_.begin();
    for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
      const graph::RoundValue& value = graph.tensors[t].value;
      if (value.kind == graph::ValueKind::none) continue;
      if (!has(value.kind)) {
        throw Error(Errc::unsupported, Error::Text("value '", graph.name(graph.tensors[t].name),
                                                   "' is of a kind that the session's "
                                                   "policies leave out; add it to their launch::RoundValues"));
      }
      *next = {value, t, {}, nullptr, never, never};
      if (value.kind == graph::ValueKind::descriptor) {
        next->source = sources[value.source];
        next->shape = &graph.tensors[value.source].shape;
      }
      ++next;
    }
  }

  /// Brings the values of the round that is about to be launched into the table.
  template <class Refresher>
  void update(Refresher& refresher) noexcept {
    const std::uint64_t round = store().next_round();
    for (Slot& slot : slots_) {
      switch (slot.value.kind) {
        case graph::ValueKind::random:
          if constexpr (has(graph::ValueKind::random)) {
            const RandomStart start{slot.value.bits, slot.value.first + round * slot.value.per_round};
            if (slot.value.per_round != 0 || slot.last == never) write(refresher, slot, &start, sizeof(start));
            slot.last = 0;
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
            const std::uint64_t bits = store().scalar(slot.tensor);
            if (bits != slot.last || slot.written == never) write(refresher, slot, &bits, sizeof(bits));
            slot.last = bits;
            slot.written = 0;
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

  /// The values, for the session.
  [[nodiscard]] Store& store() noexcept { return shared_ != nullptr ? *shared_ : own_; }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  struct Slot {
    graph::RoundValue value;
    std::uint32_t tensor = 0;
    args::Source source{};         ///< of a descriptor: where the tensor is
    const Shape* shape = nullptr;  ///< and its shape
    std::uint64_t last = never;    ///< what the table holds was made of
    std::uint64_t written = never;
  };

  template <class Refresher>
  static void write(Refresher& refresher, const Slot& slot, const void* from, std::size_t size) noexcept {
    __builtin_memcpy(refresher.host_input(slot.tensor), from, size);
  }

  Store own_{};
  Store* shared_ = nullptr;
  rondo::detail::OwnedArray<Slot> slots_;
};

}  // namespace rondo::launch

namespace rondo::detail {

/// A value is handed over by its address in the args table.
template <class V>
struct ValueParameter {
  static constexpr bool is_valid = true;
  static constexpr bool is_tensor = true;
  static constexpr bool is_block = false;
  static constexpr bool is_scratch = false;
  static constexpr Access access = Access::read;
  static constexpr std::size_t rank = 0;
  using element_type = V;
  static V read(const ArgWord* args, std::size_t word, std::size_t) noexcept {
    V value;
    __builtin_memcpy(&value, reinterpret_cast<const void*>(args[word]), sizeof(V));  // NOLINT: simulated device memory
    return value;
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
