// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/task_graph.hpp>

/// The bodies of TaskGraph's members that are too long for its class; include task_graph.hpp.
namespace rondo {

constexpr graph::NameRef TaskGraph::intern(std::string_view name) {
  const graph::NameRef ref{static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(name.size())};
  text_.insert(text_.end(), name.begin(), name.end());
  return ref;
}

constexpr void TaskGraph::check_new_tensor(std::string_view wanted, const Shape& shape,
                                           std::source_location where) const {
  if (wanted.empty()) {
    throw Error(Errc::invalid_argument, Error::Text("tensor ", tensors_.size(), " has no name; give it one"), where);
  }
  for (const graph::TensorRecord& other : tensors_) {
    if (name(other.name) == wanted) {
      throw Error(Errc::invalid_argument, Error::Text("tensor '", wanted, "' is already there; give each its own name"),
                  where);
    }
  }
  if (shape.rank() > max_rank) {
    throw Error(Errc::invalid_argument,
                Error::Text("tensor '", wanted, "' has ", shape.rank(), " dimensions; the most is ", max_rank), where);
  }
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (shape.extent(d) < 1) {
      throw Error(
          Errc::invalid_argument,
          Error::Text("tensor '", wanted, "': extent ", d,
                      shape.extent(d) == 0 ? " is zero" : " is negative or above 2^63-1", "; each must be at least 1"),
          where);
    }
  }
}

template <Element T, Direction D>
constexpr TensorHandle<T, D> TaskGraph::tensor(std::string_view wanted, const Shape& shape,
                                               std::source_location where) {
  check_new_tensor(wanted, shape, where);
  std::int64_t count = 1;
  std::int64_t bytes = 0;
  bool overflow = false;
  for (std::size_t d = 0; d < shape.rank(); ++d) overflow |= __builtin_mul_overflow(count, shape.extent(d), &count);
  overflow |= __builtin_mul_overflow(count, static_cast<std::int64_t>(sizeof(T)), &bytes);
  if (overflow) {
    throw Error(Errc::overflow, Error::Text("tensor '", wanted, "' is 2^63 bytes or more; use smaller extents"), where);
  }
  const TensorHandle<T, D> handle{{TensorId{static_cast<std::uint32_t>(tensors_.size())}, tag_}};
  tensors_.push_back({intern(wanted), data_type_of<T>, D, shape, static_cast<std::uint64_t>(count),
                      static_cast<std::uint64_t>(bytes)});
  return handle;
}

constexpr void TaskGraph::Draft::add_address(std::string_view task, TensorKey key, Access access) {
  if (key.graph() != graph.tag_ || index(key.tensor()) >= graph.tensors_.size()) {
    fail_task(task, "is handed a tensor of another graph; use the handles of this one");
  }
  const std::uint32_t id = index(key.tensor());
  for (const graph::ArgRecord& other : args) {
    if (other.kind == graph::ArgRecord::Kind::address && other.tensor == id &&
        (writes(other.access) || writes(access))) {
      throw Error(Errc::invalid_argument,
                  Error::Text("task '", task, "' is handed tensor '", graph.name(graph.tensors_[id].name),
                              "' twice and writes it; pass it once, as InOut"));
    }
  }
  args.push_back({graph::ArgRecord::Kind::address, access, id, 0});
}

template <class A>
constexpr void TaskGraph::Draft::add_raw(std::string_view task, const A& argument) {
  if constexpr (requires {
                  argument.access;
                  argument.handle.key;
                }) {
    add_address(task, argument.handle.key, argument.access);
  } else {
    static_assert(!detail::is_tensor_handle<A>,
                  "rondo: say what the raw kernel does to the tensor: pass reads(x), writes(x) or updates(x)");
    static_assert((std::is_arithmetic_v<A> || std::is_enum_v<A>)&&sizeof(A) <= sizeof(ArgWord),
                  "rondo: a scalar argument is an arithmetic or enumeration value of at most 8 bytes");
    args.push_back({graph::ArgRecord::Kind::scalar, Access::read, 0, detail::to_word(argument)});
  }
}

template <class P, class A>
constexpr void TaskGraph::Draft::add_parameter(std::string_view task, const A& argument) {
  static_assert(detail::check_argument<P, A>());
  using Param = detail::Parameter<P>;
  if constexpr (Param::is_tensor) {
    add_address(task, argument.key, Param::access);
    const graph::TensorRecord& tensor = graph.tensors_[index(argument.key.tensor())];
    if constexpr (Param::rank == 1) {
      extents.push_back({graph::ArgRecord::Kind::extent, Access::read, 0, static_cast<ArgWord>(tensor.count)});
    } else {
      if (tensor.shape.rank() != Param::rank) {
        throw Error(Errc::invalid_argument,
                    Error::Text("task '", task, "' takes a tensor of ", Param::rank, " dimensions, but '",
                                graph.name(tensor.name), "' has ", tensor.shape.rank()));
      }
      for (std::size_t d = 0; d < Param::rank; ++d) {
        extents.push_back({graph::ArgRecord::Kind::extent, Access::read, 0, tensor.shape.extent(d)});
      }
    }
  } else {
    args.push_back({graph::ArgRecord::Kind::scalar, Access::read, 0, detail::to_word(P{argument})});
  }
}

constexpr TaskId TaskGraph::Draft::commit(std::string_view name, CoreType core, Blocks blocks, KernelEntry entry,
                                          CostEntry cost) {
  if (name.empty()) fail_task(name, "has no name; give its kernel one");
  if (blocks.count == 0) fail_task(name, "runs as 0 blocks; it takes at least 1");
  args.insert(args.end(), extents.begin(), extents.end());
  const auto id = static_cast<std::uint32_t>(graph.tasks_.size());
  const auto first = static_cast<std::uint32_t>(graph.args_.size());
  graph.tasks_.reserve(graph.tasks_.size() + 1);  // so that a failed allocation leaves the graph as it was
  graph.text_.reserve(graph.text_.size() + name.size());
  graph.args_.insert(graph.args_.end(), args.begin(), args.end());
  graph.tasks_.push_back(
      {graph.intern(name), core, blocks.count, first, static_cast<std::uint32_t>(args.size()), id, entry, cost});
  return TaskId{id};
}

namespace detail {

template <std::size_t N, class First, class... Rest>
[[nodiscard]] constexpr const auto& nth(const First& first, const Rest&... rest) noexcept {
  if constexpr (N == 0) {
    return first;
  } else {
    return nth<N - 1>(rest...);
  }
}

/// How many of the first `count` parameters take an argument; a Block is filled in by the launch.
template <class... P>
[[nodiscard]] consteval std::size_t arguments_before(std::size_t count, ParameterList<P...>) {
  constexpr bool takes_argument[] = {!Parameter<P>::is_block..., false};
  std::size_t n = 0;
  for (std::size_t i = 0; i < count; ++i) n += takes_argument[i] ? 1 : 0;
  return n;
}

}  // namespace detail

template <Kernel K, class... P, class... A>
constexpr TaskId TaskGraph::add_checked(Blocks blocks, detail::ParameterList<P...>, const A&... arguments) {
  using List = detail::ParameterList<P...>;
  constexpr std::size_t wanted = detail::arguments_before(sizeof...(P), List{});
  static_assert(sizeof...(A) == wanted,
                "rondo: add<K> takes one argument for each parameter of K::run, but rondo::Block");
  if constexpr (sizeof...(A) == wanted) {
    const std::string_view name{K::name.data(), K::name.size()};
    Draft draft{*this};
    const auto add_one = [&]<std::size_t I, class Param>() {
      if constexpr (detail::Parameter<Param>::is_block) {
        draft.args.push_back({graph::ArgRecord::Kind::block, Access::read, 0, 0});
      } else {
        draft.template add_parameter<Param>(name, detail::nth<detail::arguments_before(I, List{})>(arguments...));
      }
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) { (add_one.template operator()<I, P>(), ...); }
    (std::make_index_sequence<sizeof...(P)>{});
    return draft.commit(name, K::core, blocks, &detail::kernel_entry<K>, detail::cost_entry<K>());
  }
}

}  // namespace rondo
