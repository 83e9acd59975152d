// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/arguments.hpp>
#include <rondo/graph/kernel.hpp>
#include <rondo/graph/library_call.hpp>
#include <rondo/graph/name_index.hpp>
#include <rondo/graph/rare_code.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/tensor/handle.hpp>

#include <atomic>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rondo {

/// The origin of a graph's edges.
enum class Edges : std::uint8_t {
  derived,   ///< from the reads and writes of tasks, in the order of add(); add_edge() adds more
  explicit_  ///< from add_edge() alone; two conflicting tasks without an order are an error
};

namespace detail {

[[nodiscard]] inline std::uint32_t next_graph_tag() noexcept {
  static std::atomic<std::uint32_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace detail

/// A graph of tensors, and of tasks that read and write them, as a value, independent of devices and memory. Usable in
/// constant expressions (see static_graph; with rondo::compiled also docs/performance.md). freeze() converts it to a
/// FrozenGraph.
///
/// Lifetime: copies the names it is given. Copies of a graph share their handles. Add all tensors before copying: a
/// handle that one copy gives out later is accepted by the others, and names another tensor there. A graph that was
/// moved is empty, and its handles are those of the graph it was moved to. Thread safety: that of std::vector. Errors:
/// throws Error and leaves the graph unchanged. Cost: set-up only; allocates.
class TaskGraph {
 public:
  /// The source location of a call, for messages.
  using Where = std::source_location;

  constexpr explicit TaskGraph(Edges edges = Edges::derived) : edges_{edges} {}

  /// A symbol for a size that is known only in the round: `auto n = graph.dim("n"); graph.input<float>("x", {n, 64})`.
  /// Sizes and Blocks may be expressions of symbols: `n * 2`, `ceil_div(n, 128)`, `max(n, m)`. Open such a graph with
  /// open_shaped(), or convert it to a plain one with instantiate(). At most 32 symbols, numbered in order. @throws
  /// Error invalid_argument, limit_exceeded
  RONDO_CONSTEXPR Dim dim(std::string_view wanted, Where where = Where::current());
  [[nodiscard]] constexpr bool is_symbolic() const noexcept { return !symbols_.empty(); }
  /// The names of the symbols, by number.
  [[nodiscard]] constexpr const std::vector<graph::NameRef>& symbols() const noexcept { return symbols_; }

  /// An input; see Direction. `name` is unique in the graph. `shape` has at most 5 extents; those that are numbers are
  /// at least 1, and {} is a scalar. @throws Error invalid_argument, overflow (2^63 bytes and more)
  template <Element T>
  constexpr Input<T> input(std::string_view name, SymbolicShape shape, Where where = Where::current()) {
    return tensor<T, Direction::in>(name, shape, where);
  }
  /// Like input(), for a tensor that rounds copy out. @throws Error likewise
  template <Element T>
  constexpr Output<T> output(std::string_view name, SymbolicShape shape, Where where = Where::current()) {
    return tensor<T, Direction::out>(name, shape, where);
  }
  /// Like input(), for a tensor that rounds copy in and out. @throws Error likewise
  template <Element T>
  constexpr InputOutput<T> inout(std::string_view name, SymbolicShape shape, Where where = Where::current()) {
    return tensor<T, Direction::inout>(name, shape, where);
  }
  /// Like input(), for a tensor that stays on the device; upload it when it changes. @throws Error likewise
  template <Element T>
  constexpr Resident<T> resident(std::string_view name, SymbolicShape shape, Where where = Where::current()) {
    return tensor<T, Direction::resident>(name, shape, where);
  }
  /// Like input(), for memory between tasks; rounds do not copy it. @throws Error likewise
  template <Element T>
  constexpr Workspace<T> workspace(std::string_view name, SymbolicShape shape, Where where = Where::current()) {
    return tensor<T, Direction::workspace>(name, shape, where);
  }

  /// A small input whose bytes are part of the args table: it needs no copy of its own and no device memory. Use it for
  /// positions, lengths and seeds. At most 4096 bytes. @throws Error likewise
  template <Element T>
  constexpr HostInput<T> host_input(std::string_view name, SymbolicShape shape, Where where = Where::current()) {
    return tensor<T, Direction::host_input>(name, shape, where);
  }

  /// Like input() and the others, for an element type and a direction that are known only at run time. @throws Error
  /// likewise
  RONDO_CONSTEXPR TensorKey add_tensor(std::string_view name, DataType type, Direction direction,
                                       const SymbolicShape& shape, Where where = Where::current());

  /// A value of `bytes` bytes that the session writes; called by the functions of launch/round_values.hpp. @throws
  /// Error invalid_argument: the name, the size, or the tensor that it describes
  RONDO_CONSTEXPR TensorKey add_value(std::string_view name, const graph::RoundValue& value, std::size_t bytes,
                                      TensorKey described = {}, Where where = Where::current());

  /// `output` reuses the memory of `input`: each round binds the same memory to both, and tasks are ordered as if they
  /// were one tensor. @throws Error invalid_argument: a tensor of another graph, different sizes, or an alias already
  template <Element T, Element U>
  constexpr void alias(Output<T> output, Input<U> input, Where where = Where::current()) {
    declare_alias(output.key, input.key, where);
  }

  /// Makes `tensor` a view: the elements of `source` from `first` on, as they are at this call. It has no memory of its
  /// own; kernels may read it, and an output is copied out from the memory of `source`. Use it to forward an input,
  /// duplicate an output, or return a part of a larger tensor, without a task or a copy on the device. Tasks added
  /// later must not write `source`; freezing refuses them. A round that binds device memory to such an output must bind
  /// that of `source`, at `first`. @throws Error invalid_argument: a tensor of another graph, already in use, an alias
  /// or a view, or beyond the end
  template <Element T, Direction D, Direction S>
  constexpr void make_view(TensorHandle<T, D> tensor, TensorHandle<T, S> source, Extent first = 0,
                           Where where = Where::current()) {
    static_assert(D == Direction::out || D == Direction::workspace,
                  "rondo: only an output or a workspace can be a view");
    static_assert(S != Direction::host_input, "rondo: a host input is in the args table; copy it with a kernel");
    declare_view(tensor.key, source.key, first, where);
  }

  /// Gives `tensor`, or for a view the tensor that owns its memory, memory that no other tensor shares, so that its
  /// contents last from round to round: for an input that will be held, or a workspace to inspect. Residents are always
  /// kept. @throws Error invalid_argument: a tensor of another graph
  template <Element T, Direction D>
  constexpr void keep(TensorHandle<T, D> tensor, Where where = Where::current()) {
    graph::TensorRecord& record = record_of("keep", tensor.key, where);
    (record.is_view() ? tensors_[record.view_of] : record).kept = true;
  }

  /// Asks for memory of another kind: for a resident or workspace, outside the arena; for what rounds bind, from the
  /// session's allocate(). Sessions refuse kinds that their platform lacks. @throws Error invalid_argument, as keep()
  template <Element T, Direction D>
  constexpr void in_memory(TensorHandle<T, D> tensor, MemoryKind kind, Where where = Where::current()) {
    static_assert(!is_carried_in_args(D), "rondo: a host input is in the args table, so it has no memory of its own");
    record_of("in_memory", tensor.key, where).memory = kind;
  }

  /// Makes the workspace zero when the tasks of a round begin. `each_round`: one fill before the first task zeroes all
  /// such workspaces. `once`, for kernels that leave zeros: they are zeroed when the session is opened, and when a
  /// shape returns whose memory others have used. Kernels may request the same; see Zeros. @throws Error
  /// invalid_argument: a tensor of another graph, or zeroed differently already
  template <Element T>
  constexpr void zero(Workspace<T> tensor, Zeroed when = Zeroed::each_round, Where where = Where::current()) {
    zero_memory(tensor.key, when, where);
  }

  /// Declares that the task's arguments cannot be refreshed: its tensors, and their aliases, keep the addresses that
  /// they have when the session is opened, for other tasks as well, and the arena does not move. A round copies device
  /// memory that it binds to them. @throws Error invalid_argument if the task is not in this graph
  RONDO_CONSTEXPR void fix_addresses(TaskId task, Where where = Where::current());

  /// Adds a task that runs kernel K on `arguments`, one for each parameter of K::run except Block. The compiler checks
  /// types and directions. @throws Error invalid_argument if a tensor belongs to another graph, its rank is not that of
  /// the parameter, or a tensor that the task writes is passed twice.
  template <class K, class... A>
  constexpr TaskId add(const A&... arguments) {
    return add<K>(Blocks{1}, arguments...);
  }
  /// The same in `blocks` blocks, which may run concurrently. @throws Error as above, and for 0 blocks
  template <class K, class... A>
  constexpr TaskId add(Blocks blocks, const A&... arguments) {
    static_assert(check_kernel<K>());
    if constexpr (Kernel<K>) {
      return add_checked<K>(blocks, detail::ParametersOf<K>{}, arguments...);
    }
  }

  /// Adds a task that runs a raw kernel. `arguments`, in the order of its words: reads(x), writes(y), updates(z) for
  /// addresses, anything else for scalars. @throws Error invalid_argument: a tensor of another graph, or no `entry`
  template <class... A>
  constexpr TaskId add_raw(std::string_view name, CoreType core, KernelEntry entry, const A&... arguments) {
    return add_raw(name, core, Blocks{1}, entry, arguments...);
  }
  /// The same in `blocks` blocks. @throws Error as above, and for 0 blocks
  template <class... A>
  constexpr TaskId add_raw(std::string_view name, CoreType core, Blocks blocks, KernelEntry entry,
                           const A&... arguments) {
    // Only checked at run time: with -fsanitize=undefined, a function's address is no constant for g++ 12.
    if (!std::is_constant_evaluated() && entry == nullptr)
      fail_task(name, {"has no function; pass a void(*)(int64_t*)"});
    Draft draft{*this};
    (draft.add_raw(name, arguments), ...);
    return draft.commit(name, core, blocks, entry);
  }

  /// An argument of a kernel whose parameters are known only at run time.
  struct Described {
    graph::ArgRecord::Kind kind = graph::ArgRecord::Kind::scalar;  ///< address, scalar, block or constant
    Access access = Access::read;                                  ///< of an address
    TensorKey tensor{};                                            ///< of an address
    const SymbolicShape* reshaped = nullptr;  ///< the shape of the tensor in this task; null: its own
    std::size_t rank = 1;                     ///< dimensions of the parameter; 1 accepts any tensor
    ArgWord bits = 0;                         ///< of a scalar or a constant
  };
  /// Adds a task as add<K>() does, with the argument block of a K::run that has these parameters. The caller must check
  /// types and directions, which add<K>() leaves to the compiler. @throws Error as there
  RONDO_CONSTEXPR TaskId add_described(std::string_view name, CoreType core, Blocks blocks, KernelEntry entry,
                                       std::span<const Described> arguments);

  /// Adds a task that runs a raw kernel on a complete argument block in the layout of an args format. @throws Error
  /// invalid_argument: a tensor that does not exist, or a word outside of the block
  RONDO_CONSTEXPR TaskId add_laid_out(std::string_view name, CoreType core, Blocks blocks, KernelEntry entry,
                                      const std::vector<graph::ArgRecord>& args, std::uint32_t block_bytes);

  /// Adds a task that calls a library: `graph.add_call("gemm", {reads(a), reads(b), writes(c)}, gemm, {n})`. `call`
  /// takes a `const LibraryCall&` and returns nothing, or a code that is 0 on success. Devices with streams call it
  /// when the session is opened, while they capture the graph, and replay the enqueued work in each round; if capture
  /// is impossible, they call it in each round. So do simulation and host, with a null stream.
  ///
  /// The addresses of the task's tensors are fixed, see fix_addresses(). The capture
  /// contains sizes and `values`, integers or expressions of symbols; a ShapedSession has a capture for each
  /// combination of its symbols' values. Pass a call with state as an lvalue, and keep it alive until the last session
  /// is closed: the graph stores its address. A session never runs a call twice at the same time. If the library needs
  /// memory, pass a workspace: `writes(scratch)`.
  /// @throws Error invalid_argument: no tensor, a tensor of another graph, one passed twice and written, a negative
  /// value
  template <class F>
  constexpr TaskId add_call(std::string_view name, std::initializer_list<CallTensor> tensors, F&& call,
                            std::initializer_list<Extent> values = {});

  /// Adds a collective that works in place: `graph.add_collective(Collective::all_reduce, dw, ranks)`. Include
  /// graph/collective.hpp, which describes communicators. Collectives begin in the order of these calls, on all ranks.
  /// Returns the task that completes it. @throws Error invalid_argument, unsupported: names the tensor, and what is
  /// wrong with its size, its type or a rank
  template <Element T, Direction D, class C>
  TaskId add_collective(Collective what, TensorHandle<T, D> tensor, C& ranks, CollectiveOptions options = {});
  /// The same from one tensor to another. @throws Error likewise
  template <Element T, Direction From, Direction To, class C>
  TaskId add_collective(Collective what, TensorHandle<T, From> from, TensorHandle<T, To> to, C& ranks,
                        CollectiveOptions options = {});

  /// `after` starts only when `before` is done. @throws Error invalid_argument if either is not a task of this graph.
  RONDO_CONSTEXPR void add_edge(TaskId before, TaskId after, Where where = Where::current());

  /// Adds a loop of the tasks that `body`, a callable without parameters, adds to this graph. They run until
  /// `condition`, a tensor of one integer or bool that they write, is not 0 at the end of a repetition, or `most`
  /// times; docs/loops.md says which side reads it. A repetition finds the tensors as the previous one left them. Loops
  /// nest up to `most_loop_depth` deep. `expected`: the number of repetitions that predictions assume; 0: `most`.
  /// Returns the task that decides. An edge to or from a task of the loop orders the whole loop. If `body` throws, what
  /// it added is removed. Do not use handles that it made: what is added next gets the same numbers. Include
  /// graph/loops.hpp. @throws Error invalid_argument: names the condition, and what is wrong with it or with the body;
  /// limit_exceeded
  template <class T, Direction D, class Body>
  constexpr TaskId repeat_until(TensorHandle<T, D> condition, Extent most, Body&& body, double expected = 0,
                                Where where = Where::current());
  /// The same for tasks that run once if `condition` is not 0 before them, and otherwise not at all. Tensors that only
  /// they write are undefined afterwards. `expected`: the fraction of rounds in which they run; 0 means 1.
  template <class T, Direction D, class Body>
  constexpr TaskId when(TensorHandle<T, D> condition, Body&& body, double expected = 0, Where where = Where::current());
  /// The most levels of nested loops.
  static constexpr std::uint32_t most_loop_depth = 4;
  /// The loops, each after the loop that contains it.
  [[nodiscard]] constexpr const std::vector<graph::LoopRecord>& loops() const noexcept { return loops_; }

  /// Two tasks, by TaskId: the second starts only when the first is done.
  struct Edge {
    std::uint32_t before = 0;
    std::uint32_t after = 0;
    friend constexpr auto operator<=>(const Edge&, const Edge&) noexcept = default;
  };

  /// The tensors, by TensorId.
  [[nodiscard]] constexpr const std::vector<graph::TensorRecord>& tensors() const noexcept { return tensors_; }
  /// The tasks, in the order of add().
  [[nodiscard]] constexpr const std::vector<graph::TaskRecord>& tasks() const noexcept { return tasks_; }
  /// The arguments of all tasks, task by task.
  [[nodiscard]] constexpr const std::vector<graph::ArgRecord>& args() const noexcept { return args_; }
  /// The sizes that depend on symbols, in the order of the calls.
  [[nodiscard]] constexpr const std::vector<graph::SymbolicSize>& symbolic_sizes() const noexcept {
    return symbolic_sizes_;
  }
  /// The shape of a tensor of this graph as it was declared.
  [[nodiscard]] constexpr SymbolicShape declared_shape(const graph::TensorRecord& tensor) const {
    return tensor.is_symbolic() ? symbolic_sizes_[tensor.symbolic].shape : SymbolicShape{tensor.shape};
  }
  /// The edges of add_edge(), in the order of the calls.
  [[nodiscard]] constexpr const std::vector<Edge>& explicit_edges() const noexcept { return explicit_edges_; }
  /// All names, one after the other; see name().
  [[nodiscard]] constexpr const std::vector<char>& text() const noexcept { return text_; }
  [[nodiscard]] constexpr Edges edges() const noexcept { return edges_; }
  /// The functions that freezing this graph needs besides those for all graphs. Null in constant expressions.
  [[nodiscard]] constexpr const graph::RareCode& rare_code() const noexcept { return rare_code_; }
  /// The number by which handles identify their graph; it gets one with its first tensor.
  [[nodiscard]] constexpr std::uint32_t tag() const noexcept { return tag_; }
  /// The tensors with their names, without tasks; valid until the graph changes.
  [[nodiscard]] constexpr graph::GraphView interface() const noexcept {
    graph::GraphView view;
    view.tensors = graph::span_of(tensors_);
    view.text = {text_.data(), text_.size()};
    view.tag = tag_;
    return view;
  }
  [[nodiscard]] constexpr std::span<const graph::ArgRecord> args_of(const graph::TaskRecord& task) const noexcept {
    return {args_.data() + task.first_arg, task.arg_count};
  }
  [[nodiscard]] constexpr std::string_view name(graph::NameRef ref) const noexcept {
    return {text_.data() + ref.begin, ref.size};
  }

 private:
  friend RONDO_CONSTEXPR TaskGraph graph::instantiate(const TaskGraph& graph, std::span<const std::int64_t> values);
  friend RONDO_CONSTEXPR TaskGraph graph::with_fill(TaskGraph graph);
  friend class FrozenGraph;

  /// A task under construction, checked before the graph changes.
  struct Draft {
    TaskGraph& graph;
    std::vector<graph::ArgRecord> args = {};
    std::vector<graph::ArgRecord> extents = {};
    std::vector<graph::SymbolicSize> symbolic_sizes = {};
    std::uint32_t block_bytes = 0;  ///< from an args format; 0: the words of `args`, then those of `extents`

    RONDO_CONSTEXPR void add_address(std::string_view task, TensorKey key, Access access);
    template <class A>
    constexpr void add_raw(std::string_view task, const A& argument);
    RONDO_CONSTEXPR void add_tensor(std::string_view task, TensorKey key, const SymbolicShape* reshaped, Access access,
                                    std::size_t rank);
    template <class P, class A>
    constexpr void add_parameter(std::string_view task, const A& argument);
    RONDO_CONSTEXPR void allow_in_place(std::uint32_t out, std::uint32_t in);
    RONDO_CONSTEXPR void require_zeros(std::string_view task, std::uint32_t tensor, Zeroed when) const;
    RONDO_CONSTEXPR void add_value(std::string_view task, const Extent& value);
    RONDO_CONSTEXPR void add_reshaped(std::string_view task, std::uint32_t tensor, const SymbolicShape& shape);
    RONDO_CONSTEXPR TaskId commit(std::string_view name, CoreType core, Blocks blocks, KernelEntry entry,
                                  CostEntry cost = nullptr);
  };

  template <Element T, Direction D>
  constexpr TensorHandle<T, D> tensor(std::string_view name, const SymbolicShape& shape, Where where) {
    return {add_tensor(name, data_type_of<T>, D, shape, where)};
  }
  RONDO_CONSTEXPR TensorKey push_tensor(std::string_view name, graph::TensorRecord record);
  RONDO_CONSTEXPR void declare_alias(TensorKey output, TensorKey input, Where where);
  RONDO_CONSTEXPR void declare_view(TensorKey tensor, TensorKey source, const Extent& first, Where where);
  RONDO_CONSTEXPR void zero_memory(TensorKey tensor, Zeroed when, Where where);
  RONDO_CONSTEXPR void set_zeroed(graph::TensorRecord& tensor, Zeroed when) noexcept;
  RONDO_CONSTEXPR graph::TensorRecord& record_of(const char* call, TensorKey tensor, Where where);
  RONDO_CONSTEXPR void check_new_tensor(std::string_view name, const SymbolicShape& shape, Where where) const;
  RONDO_CONSTEXPR void widen(graph::TaskRecord& task) const;
  RONDO_CONSTEXPR graph::NameRef intern(std::string_view name);
  [[nodiscard]] constexpr auto tensor_name() const noexcept {
    return [this](std::uint32_t tensor) { return name(tensors_[tensor].name); };
  }
  RONDO_CONSTEXPR void check_dim(const Dim& dim, std::string_view what, std::string_view name, Where where) const;
  [[nodiscard]] constexpr bool has(TensorKey key) const noexcept {
    return key.graph() == tag_ && index(key.tensor()) < tensors_.size();
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse(Where where, std::initializer_list<detail::TextPart> text,
                                                            std::string_view start = {}) {
    Error::Text all{start};
    all.append(text);
    throw Error(Errc::invalid_argument, all, where);
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void fail_task(std::string_view task,
                                                               std::initializer_list<detail::TextPart> text) {
    refuse(Where::current(), text, Error::Text{"task '", task, "' "});
  }

  template <class Body>
  TaskId add_loop(graph::LoopRecord loop, TensorKey condition, Extent most, Body& body, Where where);
  [[nodiscard]] TaskGraph copy() const;
  void restore(TaskGraph& before) noexcept;
  TaskId add_decision(const graph::LoopRecord& loop, TensorKey condition, Extent most, Where where);
  void check_loop(const graph::LoopRecord& loop, std::size_t first_task, Where where) const;

  template <Kernel K, class... P, class... A>
  constexpr TaskId add_checked(Blocks blocks, detail::ParameterList<P...>, const A&... arguments);

  std::vector<graph::TensorRecord> tensors_;
  graph::NameIndex names_;  ///< of the tensors
  std::vector<graph::TaskRecord> tasks_;
  std::vector<graph::ArgRecord> args_;
  std::vector<Edge> explicit_edges_;
  std::vector<graph::SymbolicSize> symbolic_sizes_;
  std::vector<char> text_;
  std::vector<graph::NameRef> symbols_;
  std::vector<graph::LoopRecord> loops_;
  std::uint32_t open_loop_ = graph::TaskRecord::no_loop;  ///< the innermost loop whose body is adding tasks
  graph::RareCode rare_code_{};
  Edges edges_;
  std::uint32_t tag_ = 0;
};

}  // namespace rondo

#include <rondo/graph/task_draft.hpp>  // IWYU pragma: export
