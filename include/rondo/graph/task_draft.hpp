// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/graph/call_sessions.hpp>
#include <rondo/graph/task_graph_impl.hpp>

#include <memory>
#include <type_traits>
#include <vector>
#if RONDO_HAS_BODIES
#include <rondo/graph/zeroed.hpp>
#endif

/// The implementation of TaskGraph::add(): the bodies of Draft. Include task_graph.hpp instead.
namespace rondo {

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
    static_assert((std::is_arithmetic_v<A> || std::is_enum_v<A>) && sizeof(A) <= sizeof(ArgWord),
                  "rondo: a scalar argument is an arithmetic or enumeration value of at most 8 bytes");
    args.push_back({graph::ArgRecord::Kind::scalar, Access::read, 0, detail::to_word(argument)});
  }
}

template <class P, class A>
constexpr void TaskGraph::Draft::add_parameter(std::string_view task, const A& argument) {
  static_assert(detail::check_argument<P, A>());
  using Param = detail::Parameter<P>;
  if constexpr (!Param::is_tensor) {
    args.push_back({graph::ArgRecord::Kind::scalar, Access::read, 0, detail::to_word(P{argument})});
  } else if constexpr (detail::is_reshaped<A>) {
    add_tensor(task, argument.handle.key, &argument.shape, Param::access, Param::rank);
  } else {
    add_tensor(task, argument.key, nullptr, Param::access, Param::rank);
  }
}

template <class F>
constexpr TaskId TaskGraph::add_call(std::string_view name, std::initializer_list<CallTensor> tensors, F&& call,
                                     std::initializer_list<Extent> values) {
  using Callable = std::remove_reference_t<F>;
  constexpr bool is_callable = std::is_invocable_v<Callable&, const LibraryCall&>;
  static_assert(is_callable, "rondo: a library call takes a const rondo::LibraryCall&");
  static_assert(is_stateless_call<Callable> || std::is_lvalue_reference_v<F>,
                "rondo: the graph keeps the address of a call that has a state; pass a variable that outlives its "
                "sessions");
  if constexpr (is_callable) {
    if (tensors.size() == 0) fail_task(name, {"touches no tensor; pass reads(x), writes(y) or updates(z)"});
    Draft draft{*this};
    ArgWord address = 0;
    if constexpr (!is_stateless_call<Callable>) {
      address = reinterpret_cast<ArgWord>(std::addressof(call));  // NOLINT: read by call_library()
    }
    draft.args.push_back({graph::ArgRecord::Kind::constant, Access::read, 0, address});
    draft.args.push_back({graph::ArgRecord::Kind::constant, Access::read, 0, static_cast<ArgWord>(tensors.size())});
    for (const CallTensor& tensor : tensors) {
      draft.add_address(name, tensor.key, tensor.access);
      const std::uint32_t id = index(tensor.key.tensor());
      draft.args.push_back(
          {graph::ArgRecord::Kind::extent, Access::read, id, static_cast<ArgWord>(tensors_[id].count)});
    }
    for (const Extent& value : values) draft.add_value(name, value);
    const TaskId id = draft.commit(name, CoreType::vector, Blocks{1}, &run_library_call<Callable>);
    tasks_.back().call = &call_library<Callable>;
    if constexpr (HasSessionHooks<Callable>) tasks_.back().session = &tell_library<Callable>;
    if constexpr (WaitsForOthers<Callable>) tasks_.back().waits = true;
    fix_addresses(id);
    return id;
  }
}

template <Kernel K, class... P, class... A>
constexpr TaskId TaskGraph::add_checked(Blocks blocks, detail::ParameterList<P...>, const A&... arguments) {
  using List = detail::ParameterList<P...>;
  constexpr std::size_t wanted = detail::arguments_before(sizeof...(P), List{});
  static_assert(sizeof...(A) == wanted,
                "rondo: add<K> takes one argument for each parameter of K::run except rondo::Block");
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
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add_one.template operator()<I, P>(), ...);
    }(std::make_index_sequence<sizeof...(P)>{});
    [[maybe_unused]] std::uint32_t in_place[2] = {};
    if constexpr (WorksInPlace<K>) {
      in_place[0] = draft.args[K::in_place.out].tensor;  // so far, there is one argument per parameter, in their order
      in_place[1] = draft.args[K::in_place.in].tensor;
    }
    [[maybe_unused]] std::uint32_t zeros = 0;
    if constexpr (WantsZeros<K>) zeros = draft.args[K::zeros.parameter].tensor;
    if constexpr (detail::DeclaresArgs<K>) {
      static_assert(!(detail::is_reshaped<A> || ...),
                    "rondo: a kernel that declares an args format receives the tensors' own shapes; pass the tensor, "
                    "not a reshape");
      static_assert(detail::check_declared_args<K>());
      draft.block_bytes = args::detail::DeclaredArgs<K>::lay_out(*this, draft.args, draft.extents);
    }
    if constexpr (WorksInPlace<K>) draft.allow_in_place(in_place[0], in_place[1]);
    if constexpr (WantsZeros<K>) draft.require_zeros(name, zeros, K::zeros.when);
    [[maybe_unused]] graph::NameRef wide_name;
    if constexpr (HasWide<K>) wide_name = intern({K::Wide::name.data(), K::Wide::name.size()});
    const TaskId id = draft.commit(name, K::core, blocks, &detail::kernel_entry<K>, detail::cost_entry<K>());
    if constexpr (WantsZeros<K>) set_zeroed(tensors_[zeros], K::zeros.when);
    if constexpr (StatesThreads<K>) tasks_.back().threads = K::threads;
    if constexpr (StatesSharedBytes<K>) tasks_.back().shared_bytes = K::shared_bytes;
    if constexpr (HasWide<K>) {
      static_assert(detail::has_args_of_its_wide<K>(),
                    "rondo: a kernel and its Wide are handed the same arguments; declare the same args format in both");
      static_assert(detail::states_what_its_wide_states<K>(),
                    "rondo: a kernel and its Wide run with the same threads, shared_bytes, in_place and zeros; state "
                    "them in both");
      graph::TaskRecord& record = tasks_.back();
      record.wide_name = wide_name;
      record.wide_entry = &detail::kernel_entry<typename K::Wide>;
      widen(record);
    }
    return id;
  }
}

#if RONDO_HAS_GRAPH_BODIES
RONDO_CONSTEXPR void TaskGraph::Draft::add_address(std::string_view task, TensorKey key, Access access) {
  if (!graph.has(key)) {
    fail_task(task, {"receives a tensor of another graph; use the handles of this one"});
  }
  const std::uint32_t id = index(key.tensor());
  for (const graph::ArgRecord& other : args) {
    if (other.is_address_of(id) && (writes(other.access) || writes(access))) {
      throw Error(Errc::invalid_argument,
                  Error::Text{"task '", task, "' receives tensor '", graph.name(graph.tensors_[id].name),
                              "' twice and writes it; pass it once, as InOut"});
    }
  }
  args.push_back({graph::ArgRecord::Kind::address, access, id, 0});
}

/// Adds the tensor's address, and its extents for a parameter of `rank` dimensions: a single dimension has all
/// elements.
RONDO_CONSTEXPR void TaskGraph::Draft::add_tensor(std::string_view task, TensorKey key, const SymbolicShape* reshaped,
                                                  Access access, std::size_t rank) {
  add_address(task, key, access);
  const graph::TensorRecord& tensor = graph.tensors_[index(key.tensor())];
  const Shape& shape = reshaped != nullptr ? reshaped->plain() : tensor.shape;
  const bool is_known = !tensor.is_symbolic() && (reshaped == nullptr || !reshaped->is_symbolic());
  if (reshaped != nullptr && !is_known) add_reshaped(task, index(key.tensor()), *reshaped);
  if (reshaped != nullptr && is_known) {
    std::int64_t count = 1;
    bool fits = shape.rank() <= max_rank;
    for (std::size_t d = 0; d < shape.rank() && fits; ++d) {
      fits = shape.extent(d) >= 1 && !__builtin_mul_overflow(count, shape.extent(d), &count);
    }
    if (!fits || static_cast<std::uint64_t>(count) != tensor.count) {
      throw Error(Errc::wrong_size, Error::Text{"task '", task, "' takes tensor '", graph.name(tensor.name),
                                                "' under a shape that does not hold its ", tensor.count, " elements"});
    }
  }
  if (rank == 1) {
    extents.push_back(
        {graph::ArgRecord::Kind::extent, Access::read, index(key.tensor()), static_cast<ArgWord>(tensor.count)});
    return;
  }
  if (shape.rank() != rank) {
    throw Error(Errc::invalid_argument, Error::Text{"task '", task, "' takes a tensor of ", rank, " dimensions, but '",
                                                    graph.name(tensor.name), "' has ", shape.rank()});
  }
  for (std::size_t d = 0; d < rank; ++d) {
    extents.push_back({graph::ArgRecord::Kind::extent, Access::read, index(key.tensor()), shape.extent(d)});
    extents.back().dimension = static_cast<std::uint8_t>(d);
    if (reshaped == nullptr || is_known) continue;
    extents.back().kind = graph::ArgRecord::Kind::reshaped_extent;
    extents.back().bits = static_cast<ArgWord>(graph.symbolic_sizes_.size() + symbolic_sizes.size() - 1);
  }
}

/// Records a shape. instantiate() checks its number of elements.
RONDO_CONSTEXPR void TaskGraph::Draft::add_reshaped(std::string_view task, std::uint32_t tensor,
                                                    const SymbolicShape& shape) {
  bool fits = shape.rank() <= max_rank;
  for (std::size_t d = 0; d < shape.rank() && fits; ++d) {
    if (shape.dim(d).empty()) fits = shape.extent(d) >= 1;
    if (!shape.dim(d).empty()) graph.check_dim(shape.dim(d), "task", task, Where::current());
  }
  if (!fits) fail_task(task, {"takes a tensor under a shape of too many dimensions, or of an extent below 1"});
  symbolic_sizes.push_back(
      {graph::SymbolicSize::Of::reshape, static_cast<std::uint32_t>(graph.tasks_.size()), tensor, shape});
}

/// Checks that the task is the first to access the workspace. Later tasks find zeros only if each one leaves them.
RONDO_CONSTEXPR void TaskGraph::Draft::require_zeros(std::string_view task, std::uint32_t tensor, Zeroed when) const {
  const graph::TensorRecord& record = graph.tensors_[tensor];
  const auto fail = [&](const char* what) {
    fail_task(task, {"wants zeros in tensor '", graph.name(record.name), "', ", what});
  };
  if (record.direction != Direction::workspace) fail("which is no workspace; hand it one");
  if (record.zeroed != Zeroed::never && record.zeroed != when) {
    fail("which is zeroed each round and once; hand it a workspace of its own");
  }
  if (when == Zeroed::once) return;
  if (graph.open_loop_ != graph::TaskRecord::no_loop) {
    fail("which is zeroed once a round, while the loop may run the task more often; zero it with a task of the loop");
  }
  for (const graph::ArgRecord& arg : graph.args_) {
    if (arg.is_address_of(tensor)) fail("which a task before it touches; hand it a workspace of its own");
  }
}

/// Records that the task may write one tensor over another, unless it takes the other more than once.
RONDO_CONSTEXPR void TaskGraph::Draft::allow_in_place(std::uint32_t out, std::uint32_t in) {
  constexpr std::uint16_t nowhere = graph::ArgRecord::not_in_place;
  std::uint16_t source = nowhere;
  for (std::size_t a = 0; a < args.size() && a < nowhere; ++a) {
    if (!args[a].is_address_of(in)) continue;
    if (source != nowhere) return;
    source = static_cast<std::uint16_t>(a);
  }
  for (graph::ArgRecord& arg : args) {
    if (arg.is_address_of(out)) arg.in_place_of = source;
  }
}

RONDO_CONSTEXPR TaskId TaskGraph::Draft::commit(std::string_view name, CoreType core, Blocks blocks, KernelEntry entry,
                                                CostEntry cost) {
  if (name.empty()) fail_task(name, {"has no name; give its kernel one"});
  if (blocks.count == 0) fail_task(name, {"runs as 0 blocks; it takes at least 1"});
  if (!blocks.dim.empty()) graph.check_dim(blocks.dim, "task", name, Where::current());
  if (block_bytes == 0) {  // without a format, the words are consecutive
    for (const graph::ArgRecord& extent : extents) args.push_back(extent);
    for (graph::ArgRecord& arg : args) {
      arg.offset = block_bytes;
      block_bytes += static_cast<std::uint32_t>(sizeof(ArgWord));
    }
  }
  const auto id = static_cast<std::uint32_t>(graph.tasks_.size());
  if (!blocks.dim.empty()) symbolic_sizes.push_back({graph::SymbolicSize::Of::blocks, id, 0, {Extent{blocks.dim}}});
  const auto first = static_cast<std::uint32_t>(graph.args_.size());
  // Everything that may throw comes first, so that a failed allocation leaves the graph unchanged.
  detail::make_room(graph.tasks_, 1);
  detail::make_room(graph.symbolic_sizes_, symbolic_sizes.size());
  detail::make_room(graph.args_, args.size());
  const graph::NameRef text = graph.intern(name);
  for (const graph::SymbolicSize& size : symbolic_sizes) graph.symbolic_sizes_.push_back(size);
  for (const graph::ArgRecord& arg : args) graph.args_.push_back(arg);
  graph.tasks_.push_back({.name = text,
                          .core = core,
                          .blocks = blocks.count,
                          .first_arg = first,
                          .arg_count = static_cast<std::uint32_t>(args.size()),
                          .added_as = id,
                          .block_bytes = block_bytes,
                          .loop = graph.open_loop_,
                          .entry = entry,
                          .cost = cost});
  return TaskId{id};
}
/// Replaces the kernel with its wide version if 32-bit indices do not suffice.
RONDO_CONSTEXPR void TaskGraph::widen(graph::TaskRecord& task) const {
  for (const graph::ArgRecord& arg : args_of(task)) {
    if (task.wide_name.size == 0 || !arg.is_address() || tensors_[arg.tensor].count <= 0x7FFF'FFFF) continue;
    task.entry = task.wide_entry;
    task.name = task.wide_name;
    task.cost = nullptr;
    task.wide_name = {};
  }
}

RONDO_CONSTEXPR TaskId TaskGraph::add_laid_out(std::string_view name, CoreType core, Blocks blocks, KernelEntry entry,
                                               const std::vector<graph::ArgRecord>& args, std::uint32_t block_bytes) {
  if (!graph::is_constant_expression() && entry == nullptr)
    fail_task(name, {"has no function; pass a void(*)(int64_t*)"});
  if (block_bytes % 8 != 0)
    fail_task(name, {"has an argument block of ", block_bytes, " bytes; the size must be a multiple of 8"});
  for (const graph::ArgRecord& arg : args) {
    const bool is_of_tensor = arg.is_address() || arg.kind == graph::ArgRecord::Kind::extent;
    const bool is_there = !is_of_tensor || arg.tensor < tensors_.size();
    if (!is_there || arg.offset > block_bytes || arg.width > block_bytes - arg.offset) {
      fail_task(name, {"has a word outside of its argument block, or of no tensor of this graph"});
    }
  }
  Draft draft{*this};
  draft.args = args;
  draft.block_bytes = block_bytes;
  return draft.commit(name, core, blocks, entry);
}

RONDO_CONSTEXPR TaskId TaskGraph::add_described(std::string_view name, CoreType core, Blocks blocks, KernelEntry entry,
                                                std::span<const Described> arguments) {
  Draft draft{*this};
  for (const Described& a : arguments) {
    if (a.kind == graph::ArgRecord::Kind::address) {
      draft.add_tensor(name, a.tensor, a.reshaped, a.access, a.rank);
    } else {
      draft.args.push_back({a.kind, Access::read, 0, a.bits});
    }
  }
  return draft.commit(name, core, blocks, entry);
}

/// Adds a word of a library call, which becomes part of the capture.
RONDO_CONSTEXPR void TaskGraph::Draft::add_value(std::string_view task, const Extent& value) {
  if (value.dim.empty()) {
    if (value.value < 0) fail_task(task, {"receives a value that is negative or above 2^63-1"});
    args.push_back({graph::ArgRecord::Kind::constant, Access::read, 0, value.value});
    return;
  }
  graph.check_dim(value.dim, "task", task, Where::current());
  args.push_back({graph::ArgRecord::Kind::reshaped_extent, Access::read, 0,
                  static_cast<ArgWord>(graph.symbolic_sizes_.size() + symbolic_sizes.size())});
  args.back().dimension = 0;
  symbolic_sizes.push_back(
      {graph::SymbolicSize::Of::value, static_cast<std::uint32_t>(graph.tasks_.size()), 0, {value}});
}
#endif

}  // namespace rondo
