// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/dynamic/orchestrator.hpp>

/// The bodies of Orchestrator's longer members; include orchestrator.hpp.
namespace rondo::platform::sim::dynamic {

template <class Derived>
template <Element T, Direction D>
inline Region<T, D> Orchestrator<Derived>::whole(TensorState& tensor) const noexcept {
  Region<T, D> region;
  region.tensor_ = &tensor;
  region.serial_ = tensor.on_ring ? tensor.serial : round_;
  region.address_ = tensor.address;
  region.count_ = tensor.count;
  region.rank_ = tensor.rank;
  region.whole_ = true;
  region.contiguous_ = true;
  std::uint64_t stride = 1;
  for (std::size_t d = tensor.rank; d-- > 0;) {
    region.extents_[d] = tensor.extents[d];
    region.strides_[d] = stride;
    stride *= tensor.extents[d];
  }
  return region;
}

template <class Derived>
template <Element T, Direction D>
inline Region<T, D> Orchestrator<Derived>::view(const Region<T, D>& region, const Shape& low,
                                                const Shape& extents) const {
  const std::size_t rank = region.rank_;
  if (low.rank() != rank || extents.rank() != rank) {
    throw Error(Errc::invalid_argument, Error::Text{"a view of a tensor of ", rank, " dimensions is given ", low.rank(),
                                                    " first indices and ", extents.rank(), " extents"});
  }
  if (!is_alive(*region.tensor_, region.serial_)) {
    throw Error(Errc::invalid_argument, Error::Text("a view is made of a region whose scope or round is over"));
  }
  Region<T, D> view = region;
  view.count_ = 1;
  view.whole_ = true;
  view.contiguous_ = true;
  bool one_so_far = true;  // contiguous: leading extents of 1, then one of any size, then full extents
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t first = low.extent(d);
    const std::int64_t extent = extents.extent(d);
    if (first < 0 || extent < 1 || static_cast<std::uint64_t>(first) > region.extents_[d] ||
        static_cast<std::uint64_t>(extent) > region.extents_[d] - static_cast<std::uint64_t>(first)) {
      throw Error(Errc::invalid_argument, Error::Text{"a view takes ", extent, " from index ", first, " in dimension ",
                                                      d, ", where there are ", region.extents_[d]});
    }
    const std::uint64_t full = region.tensor_->extents[d];
    view.low_[d] = (region.whole_ ? 0 : region.low_[d]) + static_cast<std::uint64_t>(first);
    view.extents_[d] = static_cast<std::uint64_t>(extent);
    view.address_ += static_cast<std::uint64_t>(first) * region.strides_[d] * region.tensor_->element_bytes;
    view.count_ *= view.extents_[d];
    view.whole_ = view.whole_ && view.extents_[d] == full;
    if (!one_so_far && view.extents_[d] != full) view.contiguous_ = false;
    one_so_far = one_so_far && view.extents_[d] == 1;
  }
  return view;
}

template <class Derived>
inline void Orchestrator<Derived>::check_add(std::string_view name, Blocks blocks, std::size_t tensors,
                                             std::size_t scalars) const {
  const auto fail = [&](std::uint64_t count, const char* what, std::uint64_t most) {
    throw Error(Errc::limit_exceeded,
                Error::Text{"task '", name, "' has ", count, " ", what, "; the most on ", limits_.name, " is ", most});
  };
  if (blocks.count == 0) [[unlikely]]
    fail_add(name, "runs as 0 blocks; it takes at least 1");
  if (!blocks.dim.empty()) [[unlikely]]
    fail_add(name, "runs as a symbolic number of blocks; an orchestration states a number");
  if (blocks.count > limits_.max_blocks) [[unlikely]]
    fail(blocks.count, "blocks", limits_.max_blocks);
  if (tensors > limits_.max_task_tensors) [[unlikely]]
    fail(tensors, "tensors", limits_.max_task_tensors);
  if (scalars > limits_.max_task_scalars) [[unlikely]]
    fail(scalars, "scalars", limits_.max_task_scalars);
}

template <class Derived>
inline void Orchestrator<Derived>::check_uses(std::string_view name, const Touch* touches, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Touch& a = touches[i];
      const Touch& b = touches[j];
      if (a.tensor != b.tensor || !(writes(a.access) || writes(b.access))) [[likely]]
        continue;
      if (a.box && b.box && !overlap(a.box, b.box, a.tensor->rank)) continue;
      fail_add(name, "receives overlapping regions of one tensor and writes one of them; pass it once, as InOut");
    }
  }
}

template <class Derived>
inline TaskRef Orchestrator<Derived>::finish(TaskSlot& slot, std::string_view name, CoreType core, Blocks blocks,
                                             KernelEntry entry, std::size_t words, Touch* touches,
                                             std::size_t tensors) {
  check_uses(name, touches, tensors);
  slot.entry = entry;
  slot.core = core;
  slot.blocks = blocks.count;
  slot.words = static_cast<std::uint32_t>(words);
  slot.name = name.data();
  slot.name_size = static_cast<std::uint32_t>(name.size());
  return self().finish_add(slot, touches, tensors);
}

template <class Derived>
template <Kernel K, class... P, class... A>
inline TaskRef Orchestrator<Derived>::add_checked(Blocks blocks, rondo::detail::ParameterList<P...>,
                                                  const A&... arguments) {
  using List = rondo::detail::ParameterList<P...>;
  constexpr std::size_t wanted = rondo::detail::arguments_before(sizeof...(P), List{});
  constexpr std::size_t tensor_count = (std::size_t{0} + ... + (rondo::detail::Parameter<P>::is_tensor ? 1 : 0));
  static_assert(sizeof...(A) == wanted,
                "rondo: add<K> takes one argument for each parameter of K::run except rondo::Block");
  static_assert(
      !rondo::detail::DeclaresArgs<K>,
      "rondo: an orchestration passes each parameter as words; leave out `args`, or add the kernel to a graph");
  static_assert(
      !WantsZeros<K>,
      "rondo: an orchestration zeroes nothing; leave out `zeros` and let the kernel, or a task before it, write "
      "the zeros");
  static_assert(!(rondo::detail::is_reshaped<A> || ...),
                "rondo: an orchestration passes tensors and regions as they are; declare a tensor of the other shape");
  if constexpr (sizeof...(A) == wanted) {
    std::string_view name{K::name.data(), K::name.size()};
    KernelEntry entry = &rondo::detail::kernel_entry<K>;
    check_add(name, blocks, tensor_count, wanted - tensor_count);
    Touch touches[tensor_count + 1];
    std::size_t tensors = 0;
    const auto look = [&]<std::size_t I, class Param>() {
      using Parameter = rondo::detail::Parameter<Param>;
      if constexpr (Parameter::is_tensor) {
        const auto& argument = rondo::detail::nth<rondo::detail::arguments_before(I, List{})>(arguments...);
        static_assert(rondo::detail::check_argument<Param, std::remove_cvref_t<decltype(argument)>>());
        touches[tensors] = Touch(&tensor_of(argument), box_of(argument), Parameter::access);
        self().prefetch(touches[tensors++]);
      }
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (look.template operator()<I, P>(), ...);
    }(std::make_index_sequence<sizeof...(P)>{});
    TaskSlot& slot = self().prepare(List::words * blocks.count, tensor_count);
    ArgWord* const words = slot.args;
    tensors = 0;
    std::size_t extent_word = sizeof...(P);
    const auto fill = [&]<std::size_t I, class Param>() {
      using Parameter = rondo::detail::Parameter<Param>;
      if constexpr (!Parameter::is_block) {
        const auto& argument = rondo::detail::nth<rondo::detail::arguments_before(I, List{})>(arguments...);
        static_assert(rondo::detail::check_argument<Param, std::remove_cvref_t<decltype(argument)>>());
        if constexpr (Parameter::is_tensor) {
          const ArgumentView seen = view_of(argument, *touches[tensors++].tensor);
          if constexpr (HasWide<K>) {
            if (seen.count > 0x7FFF'FFFF) {
              name = {K::Wide::name.data(), K::Wide::name.size()};
              entry = &rondo::detail::kernel_entry<typename K::Wide>;
            }
          }
          if constexpr (requires { argument.contiguous(); }) {
            if (!argument.contiguous()) [[unlikely]]
              fail_add(name, "receives a region with gaps; pass it to a raw kernel, or copy it");
          }
          words[I] = static_cast<ArgWord>(seen.address);
          if constexpr (Parameter::rank == 1) {
            words[extent_word++] = static_cast<ArgWord>(seen.count);
          } else {
            if (seen.rank != Parameter::rank) [[unlikely]]
              fail_add(name, "receives a tensor of another number of dimensions than its parameter");
            for (std::size_t d = 0; d < Parameter::rank; ++d)
              words[extent_word++] = static_cast<ArgWord>(seen.extents[d]);
          }
        } else {
          words[I] = rondo::detail::to_word(Param{argument});
        }
      }
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (fill.template operator()<I, P>(), ...);
    }(std::make_index_sequence<sizeof...(P)>{});
    repeat_words(words, List::words, blocks);
    const auto number_blocks = [&]<std::size_t I, class Param>() {
      if constexpr (rondo::detail::Parameter<Param>::is_block) {
        for (std::uint32_t block = 0; block < blocks.count; ++block) {
          words[block * List::words + I] = rondo::detail::to_word(Block{block, blocks.count});
        }
      }
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (number_blocks.template operator()<I, P>(), ...);
    }(std::make_index_sequence<sizeof...(P)>{});
    return finish(slot, name, K::core, blocks, entry, List::words, touches, tensor_count);
  }
}

template <class Derived>
template <class A>
inline void Orchestrator<Derived>::fill_raw(const A& argument, ArgWord& word, Touch* touches, std::size_t& tensors) {
  if constexpr (requires {
                  argument.access;
                  argument.handle;
                }) {
    TensorState& tensor = tensor_of(argument.handle);
    word = static_cast<ArgWord>(view_of(argument.handle, tensor).address);
    touches[tensors] = Touch(&tensor, box_of(argument.handle), argument.access);
    self().prefetch(touches[tensors++]);
  } else {
    static_assert(!rondo::detail::is_tensor_argument<A>,
                  "rondo: say what the raw kernel does to the tensor: pass reads(x), writes(x) or updates(x)");
    static_assert((std::is_arithmetic_v<A> || std::is_enum_v<A>) && sizeof(A) <= sizeof(ArgWord),
                  "rondo: a scalar argument is an arithmetic or enumeration value of at most 8 bytes");
    word = rondo::detail::to_word(argument);
  }
}

template <class Derived>
template <class... A>
inline TaskRef Orchestrator<Derived>::add_raw(std::string_view name, CoreType core, Blocks blocks, KernelEntry entry,
                                              const A&... arguments) {
  if (entry == nullptr) fail_add(name, "has no function; pass a void(*)(int64_t*)");
  if (name.empty()) fail_add(name, "has no name; give it one");
  constexpr std::size_t tensor_count = (std::size_t{0} + ... + (requires { arguments.access; } ? 1 : 0));
  check_add(name, blocks, tensor_count, sizeof...(A) - tensor_count);
  TaskSlot& slot = self().prepare(sizeof...(A) * blocks.count, tensor_count);
  Touch touches[tensor_count + 1];
  std::size_t tensors = 0;
  std::size_t word = 0;
  (fill_raw(arguments, slot.args[word++], touches, tensors), ...);
  repeat_words(slot.args, sizeof...(A), blocks);
  return finish(slot, name, core, blocks, entry, sizeof...(A), touches, tensors);
}

template <class Derived>
inline TaskRef Orchestrator<Derived>::add_described(std::string_view name, Blocks blocks, KernelEntry entry,
                                                    std::span<const Described> arguments) {
  using Kind = graph::ArgRecord::Kind;
  constexpr std::size_t most = 64;  // no chip has as many tensors to a task
  if (entry == nullptr) fail_add(name, "has no function; pass a void(*)(int64_t*)");
  std::size_t words = arguments.size();
  std::size_t tensors = 0;
  std::size_t scalars = 0;
  for (const Described& a : arguments) {
    tensors += a.kind == Kind::address ? 1 : 0;
    scalars += a.kind == Kind::scalar ? 1 : 0;
    words += a.kind == Kind::address ? a.rank : 0;
  }
  check_add(name, blocks, tensors, scalars);
  if (tensors > most) [[unlikely]]
    fail_add(name, "has more than 64 tensors; split it");
  Touch touches[most];
  std::size_t touch = 0;
  for (const Described& a : arguments) {
    if (a.kind != Kind::address) continue;
    TensorState& tensor = tensor_of(*a.region);
    if (!a.region->contiguous_) fail_add(name, "receives a region with gaps; copy it, or choose other tiles");
    if (a.rank != 1 && a.region->rank_ != a.rank) {
      fail_add(name, "receives a tensor of another number of dimensions than its parameter");
    }
    touches[touch] = Touch(&tensor, box_of(*a.region), a.access);
    self().prefetch(touches[touch++]);
  }
  TaskSlot& slot = self().prepare(words * blocks.count, tensors);
  std::size_t extent_word = arguments.size();
  for (std::size_t w = 0; w < arguments.size(); ++w) {
    const Described& a = arguments[w];
    if (a.kind != Kind::address) {
      slot.args[w] = a.bits;
      continue;
    }
    slot.args[w] = static_cast<ArgWord>(a.region->address_);
    if (a.rank == 1) {
      slot.args[extent_word++] = static_cast<ArgWord>(a.region->count_);
    } else {
      for (std::size_t d = 0; d < a.rank; ++d) slot.args[extent_word++] = static_cast<ArgWord>(a.region->extents_[d]);
    }
  }
  repeat_words(slot.args, words, blocks);
  for (std::size_t w = 0; w < arguments.size(); ++w) {
    if (arguments[w].kind != Kind::block) continue;
    for (std::uint32_t block = 0; block < blocks.count; ++block) {
      slot.args[block * words + w] = rondo::detail::to_word(Block{block, blocks.count});
    }
  }
  return finish(slot, name, CoreType::vector, blocks, entry, words, touches, tensors);
}

}  // namespace rondo::platform::sim::dynamic
