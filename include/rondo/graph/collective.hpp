// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/bytes.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/call_sessions.hpp>
#include <rondo/graph/task_graph.hpp>
#include <rondo/tensor/data_type.hpp>
#include <rondo/tensor/handle.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

/// Collectives as tasks; see TaskGraph::add_collective(). A communicator, such as mpi::Communicator, carries them out.
namespace rondo {

[[nodiscard]] constexpr const char* to_string(Collective what) noexcept {
  constexpr const char* names[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "send", "recv"};
  return names[static_cast<std::size_t>(what)];
}
[[nodiscard]] constexpr const char* to_string(Reduction reduction) noexcept {
  constexpr const char* names[] = {"sum", "mean", "min", "max", "product"};
  return names[static_cast<std::size_t>(reduction)];
}
/// Whether the collective applies a Reduction.
[[nodiscard]] constexpr bool reduces(Collective what) noexcept {
  return what == Collective::all_reduce || what == Collective::reduce_scatter;
}
/// Whether the collective is a send or a recv.
[[nodiscard]] constexpr bool is_between_two(Collective what) noexcept {
  return what == Collective::send || what == Collective::recv;
}

/// A collective with its tensors.
struct CollectiveTask {
  Collective what = Collective::all_reduce;
  CollectiveOptions options;          ///< its reduction, or the other rank
  DataType type = DataType::float32;  ///< the type of both tensors
  TensorKey from;                     ///< the tensor that is read
  TensorKey to;                       ///< the tensor that is written; `from` if the collective works in place

  /// Whether rank `own` sends elements.
  [[nodiscard]] constexpr bool reads_on(int own) const noexcept {
    return what == Collective::broadcast ? own == options.rank : what != Collective::recv;
  }
  /// Whether rank `own` receives elements.
  [[nodiscard]] constexpr bool writes_on(int own) const noexcept {
    return what == Collective::broadcast ? own != options.rank : what != Collective::send;
  }
};

/// Ranks that run graphs together. `rank()` is this process's number among `size()`. `add_to(graph, name, task)` adds a
/// checked collective with that name, and returns the task that completes it.
template <class C>
concept Communicator = requires(C& ranks, TaskGraph& graph, std::string_view name, const CollectiveTask& task) {
  { ranks.rank() } -> std::same_as<int>;
  { ranks.size() } -> std::same_as<int>;
  { ranks.add_to(graph, name, task) } -> std::same_as<TaskId>;
};

namespace graph {

/// Adds a token, a tensor of one byte. Tasks that update it run in order, also in rounds in flight.
inline TensorKey add_token(TaskGraph& graph, std::string_view name) {
  const Workspace<std::uint8_t> token = graph.workspace<std::uint8_t>(name, {1});
  graph.zero(token, Zeroed::once);
  return token.key;
}

/// The token that every collective updates when it begins. So collectives begin in the order in which they were added,
/// in each round and on each rank.
[[nodiscard]] inline TensorKey order_of_collectives(TaskGraph& graph) {
  constexpr std::string_view name = "(collectives)";
  const GraphView view = graph.interface();
  for (std::size_t t = 0; t < view.tensors.size(); ++t) {
    if (view.name(view.tensors[t].name) == name) return view.key(t);
  }
  return add_token(graph, name);
}

/// Checks the sizes of a collective. @throws Error invalid_argument
inline void check_sizes(std::string_view name, Collective what, std::int64_t from, std::int64_t to, int ranks) {
  const std::int64_t wanted = what == Collective::all_gather ? from * ranks : from;
  const std::int64_t found = what == Collective::reduce_scatter ? to * ranks : to;
  if (wanted == found) return;
  throw Error(Errc::invalid_argument,
              Error::Text{name, ": the tensor that is read has ", from, " elements, and the one that is written has ",
                          to, "; with ", ranks, " ranks, ",
                          what == Collective::all_gather       ? "the second must be that many times as large"
                          : what == Collective::reduce_scatter ? "the first must be that many times as large"
                                                               : "they must be of the same size"});
}

/// The numbers of a collective by which ranks compare their graphs.
struct CollectiveNumbers {
  static constexpr std::size_t count = 5;
  std::uint64_t kind = 0;  ///< the collective, its reduction and its type; `none`: no collective
  std::uint64_t rank = 0;
  std::uint64_t from = 0;  ///< the size of the tensor that is read, in elements
  std::uint64_t to = 0;
  std::uint64_t loop = 0;  ///< a hash of the loops around it, see hash_loops(); `none`: ranks may decide differently
  static constexpr std::uint64_t none = 0xFFFF'FFFF;

  [[nodiscard]] static CollectiveNumbers of(const CollectiveTask& task, const GraphView& view) {
    CollectiveNumbers n;
    n.kind = static_cast<std::uint64_t>(task.what) | static_cast<std::uint64_t>(task.type) << 8U;
    if (reduces(task.what)) n.kind |= static_cast<std::uint64_t>(task.options.reduction) << 16U;
    const bool has_rank = is_between_two(task.what) || task.what == Collective::broadcast;
    n.rank = has_rank ? static_cast<std::uint64_t>(task.options.rank) : 0;
    n.from = view.tensors[index(task.from.tensor())].count;
    n.to = view.tensors[index(task.to.tensor())].count;
    return n;
  }
  [[nodiscard]] Collective what() const noexcept { return static_cast<Collective>(kind & 0xFFU); }
  [[nodiscard]] Error::Text text() const noexcept {
    if (kind == none) return Error::Text("none");
    const auto type = static_cast<DataType>(kind >> 8U & 0xFFU);
    Error::Text text{to_string(what()), " of ", from, " ", to_string(type)};
    if (reduces(what())) text.append({" with the ", to_string(static_cast<Reduction>(kind >> 16U & 0xFFU))});
    if (what() == Collective::send) text.append({" to rank ", rank});
    if (what() == Collective::broadcast || what() == Collective::recv) text.append({" from rank ", rank});
    if (loop != 0) text.append({" in a loop"});
    return text;
  }
  friend bool operator==(const CollectiveNumbers&, const CollectiveNumbers&) = default;
};

/// Checks that the graphs of all ranks fit together: the same collectives in the same order, and for each send a recv
/// of the same size. `all[r]` are those of rank r; the result is the same on all ranks. @throws Error invalid_argument
inline void check_same_collectives(const std::vector<std::vector<CollectiveNumbers>>& all, std::string_view platform) {
  const auto fail = [&](std::size_t number, std::size_t a, const CollectiveNumbers& on_a, std::size_t b,
                        const CollectiveNumbers& on_b) {
    throw Error(Errc::invalid_argument,
                Error::Text{platform, ": the ranks open different graphs: ", number, " is ", on_a.text().c_str(),
                            " on rank ", a, " and ", on_b.text().c_str(), " on rank ", b,
                            "; add the same collectives, in the same order and of the same sizes, on all ranks"});
  };
  for (std::size_t r = 0; r < all.size(); ++r) {
    for (const CollectiveNumbers& c : all[r]) {
      if (c.loop != CollectiveNumbers::none) continue;
      throw Error(Errc::invalid_argument,
                  Error::Text{platform, ": on rank ", r, ", ", c.text().c_str(),
                              " might be repeated another number of times than on other ranks; let an all_reduce or a "
                              "broadcast, over the same communicator, be the last to write the loop's condition"});
    }
  }
  const CollectiveNumbers missing{CollectiveNumbers::none, 0, 0, 0, 0};
  /// The n-th collective of rank r that `is_wanted`.
  const auto nth = [&](std::size_t r, std::size_t n, const auto& is_wanted) {
    for (const CollectiveNumbers& c : all[r]) {
      if (is_wanted(c) && n-- == 0) return c;
    }
    return missing;
  };
  for (std::size_t r = 1; r < all.size(); ++r) {
    const auto is_of_all = [](const CollectiveNumbers& c) { return !is_between_two(c.what()); };
    for (std::size_t n = 0;; ++n) {
      const CollectiveNumbers first = nth(0, n, is_of_all);
      const CollectiveNumbers other = nth(r, n, is_of_all);
      if (first != other) fail(n, 0, first, r, other);
      if (first == missing) break;
    }
  }
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = 0; b < all.size(); ++b) {
      for (std::size_t n = 0;; ++n) {
        const auto sent = nth(a, n, [&](const auto& c) { return c.what() == Collective::send && c.rank == b; });
        const auto awaited = nth(b, n, [&](const auto& c) { return c.what() == Collective::recv && c.rank == a; });
        if (sent == missing && awaited == missing) break;
        const bool is_same = sent.from == awaited.from && sent.loop == awaited.loop;
        if (!is_same || sent.kind >> 8U != awaited.kind >> 8U) fail(n, a, sent, b, awaited);
      }
    }
  }
}

/// Checks that no ranks wait for each other forever if a send waits for its recv, as on the stream of a device. @throws
/// Error invalid_argument
inline void check_progress(const std::vector<std::vector<CollectiveNumbers>>& all, std::string_view platform) {
  std::vector<std::size_t> done(all.size(), 0);
  const auto is_at_end = [&](std::size_t r) { return done[r] == all[r].size(); };
  const auto next = [&](std::size_t r) -> const CollectiveNumbers& { return all[r][done[r]]; };
  for (bool moved = true; moved;) {
    moved = false;
    bool is_common = true;
    for (std::size_t r = 0; r < all.size(); ++r) {
      is_common = is_common && !is_at_end(r) && !is_between_two(next(r).what());
      if (is_at_end(r) || next(r).what() != Collective::send) continue;
      const auto to = static_cast<std::size_t>(next(r).rank);
      if (is_at_end(to) || next(to).what() != Collective::recv || next(to).rank != r) continue;
      ++done[r], ++done[to];
      moved = true;
    }
    for (std::size_t r = 0; is_common && !moved && r < all.size(); ++r) ++done[r];
    moved = moved || is_common;
  }
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (is_at_end(r)) continue;
    throw Error(Errc::invalid_argument,
                Error::Text{platform, ": rank ", r, " would wait forever in its collective ", done[r], ", ",
                            next(r).text().c_str(), "; of two ranks that exchange, let one receive first"});
  }
}

/// Collects the collectives of all ranks and checks them. `gather(numbers)` returns equally many numbers from each
/// rank, in the order of the ranks. `sends_wait`: whether a send waits for its recv. All ranks call it. @throws Error
/// as the checks and `gather`
template <class Gather>
void compare_collectives(const std::vector<CollectiveNumbers>& own, std::string_view platform, bool sends_wait,
                         const Gather& gather) {
  std::vector<std::uint64_t> counts = gather(std::vector<std::uint64_t>{own.size()});
  std::uint64_t most = 0;
  for (const std::uint64_t count : counts) most = most < count ? count : most;
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < most; ++i) {
    const CollectiveNumbers n = i < own.size() ? own[i] : CollectiveNumbers{};
    numbers.insert(numbers.end(), {n.kind, n.rank, n.from, n.to, n.loop});
  }
  const std::vector<std::uint64_t> gathered = gather(numbers);
  std::vector<std::vector<CollectiveNumbers>> all(counts.size());
  for (std::size_t r = 0; r < counts.size(); ++r) {
    for (std::size_t i = 0; i < counts[r]; ++i) {
      const std::uint64_t* const n = &gathered[(r * most + i) * CollectiveNumbers::count];
      all[r].push_back({n[0], n[1], n[2], n[3], n[4]});
    }
  }
  check_same_collectives(all, platform);
  if (sends_wait) check_progress(all, platform);
}

/// A collective in a frozen graph: the position where it begins, its tensor, and the task that completes it.
struct PlacedCollective {
  std::uint32_t position = 0;
  std::uint32_t tensor = 0;
  TaskId done{};
};

/// Finds the one of `agreeing`, which give all ranks the same elements, that decides a loop: it runs before each
/// decision, and no other task writes the condition in between. Returns its number, or their number if there is none.
[[nodiscard]] inline std::size_t find_deciding(const GraphView& view, const LoopRecord& loop,
                                               std::span<const PlacedCollective> agreeing) {
  const std::uint32_t condition = root_of(view.tensors, loop.condition);
  for (std::size_t n = agreeing.size(); n-- > 0;) {
    const PlacedCollective& c = agreeing[n];
    const std::uint32_t around = view.tasks[c.position].loop;
    const bool is_first = loop.kind == LoopRecord::Kind::when;
    const std::uint32_t inner = is_first ? loop.parent : view.tasks[loop.decision].loop;
    const bool comes_each_time = is_first ? is_within(view.loops, inner, around) : around == inner;
    if (c.position > loop.decision || !comes_each_time || c.tensor != loop.condition) continue;
    std::uint32_t last = loop.decision;  // later the end of an inner loop that decides again without the collective
    for (std::uint32_t l = inner; l != around; l = view.loops[l].parent) last = std::max(last, view.loops[l].last);
    for (std::uint32_t p = c.position + 1; p < last; ++p) {
      if (view.tasks[p].added_as == index(c.done)) continue;
      for (const ArgRecord& arg : view.args_of(view.tasks[p])) {
        if (!arg.is_address() || !writes(arg.access)) continue;
        if (root_of(view.tensors, arg.tensor) == condition) return agreeing.size();
      }
    }
    return n;
  }
  return agreeing.size();
}

/// A hash of the loops around a task: their kinds, the most repetitions, and the collectives that decide them. 0: there
/// are none; CollectiveNumbers::none: no collective decides one of them.
[[nodiscard]] inline std::uint64_t hash_loops(const GraphView& view, std::uint32_t task,
                                              std::span<const PlacedCollective> agreeing) {
  if (view.tasks[task].loop == TaskRecord::no_loop) return 0;
  rondo::detail::Hash hash;
  for (std::uint32_t l = view.tasks[task].loop; l != TaskRecord::no_loop; l = view.loops[l].parent) {
    const LoopRecord& loop = view.loops[l];
    const std::size_t deciding = find_deciding(view, loop, agreeing);
    if (deciding == agreeing.size()) return CollectiveNumbers::none;
    const auto most = static_cast<std::uint64_t>(view.args_of(view.tasks[loop.decision])[2].bits);
    hash.add(static_cast<std::uint64_t>(loop.kind));
    hash.add(most);
    hash.add(deciding);
  }
  return hash.value();
}

/// The collectives of a graph whose calls, of type Begin, `is_own` recognises; none unless the call at the session's
/// position is the first of them.
template <class Begin, class IsOwn>
[[nodiscard]] std::vector<CollectiveNumbers> list_collectives(const CallSession& session, const IsOwn& is_own) {
  std::vector<CollectiveNumbers> own;
  std::vector<std::uint32_t> positions;
  std::vector<PlacedCollective> agreeing;
  for (std::uint32_t p = 0; p < session.view.tasks.size(); ++p) {
    const TaskRecord& task = session.view.tasks[p];
    if (task.session != &tell_library<Begin>) continue;
    const auto* const begin = reinterpret_cast<const Begin*>(session.view.args_of(task)[0].bits);  // NOLINT: a call
    if (!is_own(*begin)) continue;
    if (own.empty() && p != session.position) return {};
    const CollectiveTask& collective = begin->operation.task;
    own.push_back(CollectiveNumbers::of(collective, session.view));
    positions.push_back(p);
    const bool is_same_on_all = collective.what == Collective::all_reduce || collective.what == Collective::broadcast;
    if (is_same_on_all) agreeing.push_back({p, index(collective.to.tensor()), begin->operation.done});
  }
  for (std::size_t c = 0; c < own.size(); ++c) own[c].loop = hash_loops(session.view, positions[c], agreeing);
  return own;
}

}  // namespace graph

namespace detail {

/// Adds a collective after the checks that all communicators need. @throws Error invalid_argument
template <class C>
TaskId add_checked_collective(TaskGraph& graph, CollectiveTask task, bool may_write, C& ranks) {
  static_assert(Communicator<C>, "rondo: the ranks of a collective are a communicator, such as mpi::Communicator");
  const graph::GraphView view = graph.interface();
  const auto name_of = [&](TensorKey key) { return view.name(view.tensors[index(key.tensor())].name); };
  for (const TensorKey key : {task.from, task.to}) {
    if (key.graph() != graph.tag() || index(key.tensor()) >= view.tensors.size()) {
      throw Error(Errc::invalid_argument, Error::Text{to_string(task.what), " receives a tensor of another graph"});
    }
  }
  const Error::Text name{to_string(task.what), "(", name_of(task.to), ")"};
  const auto fail = [&](std::initializer_list<rondo::detail::TextPart> text) {
    Error::Text all{name.c_str(), " "};
    all.append(text);
    throw Error(Errc::invalid_argument, all);
  };
  const bool in_place = task.from == task.to;
  const bool wants_two = task.what == Collective::all_gather || task.what == Collective::reduce_scatter;
  if (wants_two && in_place) fail({"takes two tensors: the one to read and the one to write"});
  if (!wants_two && !in_place && task.what != Collective::all_reduce) fail({"takes one tensor"});
  if (!may_write && task.writes_on(ranks.rank())) fail({"would write an input; make the tensor an inout, or copy it"});
  const bool has_rank = is_between_two(task.what) || task.what == Collective::broadcast;
  const int other = task.options.rank;
  if (has_rank && (other < 0 || other >= ranks.size())) {
    fail({"names rank ", other, "; there are ", ranks.size(), ", counted from 0"});
  }
  if (is_between_two(task.what) && other == ranks.rank()) fail({"names rank ", other, ", which is this one"});
  if (reduces(task.what)) {
    const bool adds_up = task.options.reduction == Reduction::sum || task.options.reduction == Reduction::product;
    if (is_complex(task.type) && !adds_up) fail({"reduces complex numbers only to their sum or product"});
    if (task.options.reduction == Reduction::mean && is_integer(task.type)) {
      fail({"cannot take the mean of integers; choose the sum"});
    }
    if (task.type == DataType::boolean || is_a5_only(task.type)) fail({"cannot reduce ", to_string(task.type)});
  }
  const graph::TensorRecord& from = view.tensors[index(task.from.tensor())];
  const graph::TensorRecord& to = view.tensors[index(task.to.tensor())];
  if (!from.is_symbolic() && !to.is_symbolic()) {
    graph::check_sizes(name.c_str(), task.what, static_cast<std::int64_t>(from.count),
                       static_cast<std::int64_t>(to.count), ranks.size());
  }
  return ranks.add_to(graph, name.c_str(), task);
}

}  // namespace detail

template <Element T, Direction D, class C>
TaskId TaskGraph::add_collective(Collective what, TensorHandle<T, D> tensor, C& ranks, CollectiveOptions options) {
  return add_collective(what, tensor, tensor, ranks, options);
}
template <Element T, Direction From, Direction To, class C>
TaskId TaskGraph::add_collective(Collective what, TensorHandle<T, From> from, TensorHandle<T, To> to, C& ranks,
                                 CollectiveOptions options) {
  static_assert(!is_carried_in_args(From) && !is_carried_in_args(To),
                "rondo: a host input is in the args table; copy it to a tensor with a kernel");
  return detail::add_checked_collective(*this, {what, options, data_type_of<T>, from.key, to.key},
                                        kernels_may_write(To), ranks);
}

}  // namespace rondo
