// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/collective.hpp>
#include <rondo/mpi/detail/types.hpp>
#include <rondo/mpi/group.hpp>
#include <rondo/tensor/data_type.hpp>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Collectives as tasks of a graph, over MPI.
namespace rondo::mpi {

/// The ranks of a group, for collectives that are tasks of a graph, on simulated chips and on the host:
///
///     mpi::Communicator ranks(group);                                  // on all ranks
///     graph.add_collective(Collective::all_reduce, dw, ranks, {.reduction = Reduction::mean});
///
/// A collective is two tasks: one takes the elements and begins, and one waits and writes the result. Tasks that need
/// not wait for the result run between the two. The end of a send comes after the beginnings of all collectives of the
/// graph, so two ranks may both send first. The elements travel in memory of the communicator, so MPI never writes to a
/// session's memory.
///
/// All ranks open their sessions in the same order and run the same rounds. When a session is opened, the ranks compare
/// the collectives of their graphs.
///
/// Lifetime: immovable; the group outlives it, and it outlives the sessions of its graphs. Thread safety: the tasks of
/// a session may run on any threads; one session at a time runs rounds. Errors: the opening of a session throws
/// invalid_argument if the ranks' graphs differ, timed_out if a rank is missing, unsupported on a platform whose device
/// is not the CPU. If a rank does not come within the group's patience, or MPI fails, the task that waits fails with
/// kernel_failed, which names it and poisons the session; all later collectives of the communicator fail. Cost: two
/// copies of the elements, and the time of MPI, which may allocate. A task that waits keeps its thread busy.
class Communicator {
 public:
  /// Not collective. @throws Error unsupported without MPI_THREAD_MULTIPLE
  explicit Communicator(const Group& group) : group_{group} {
    int provided = 0;
    detail::check(MPI_Query_thread(&provided), "MPI");
    if (provided >= MPI_THREAD_MULTIPLE) return;
    throw Error(Errc::unsupported, Error::Text("collectives as tasks need MPI_THREAD_MULTIPLE; initialise MPI by "
                                               "mpi::Environment, or install an MPI that has it"));
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int rank() const noexcept { return group_.rank(); }
  [[nodiscard]] int size() const noexcept { return group_.size(); }

  /// For TaskGraph::add_collective(), which checks the task. @throws Error unsupported: MPI cannot reduce the type
  TaskId add_to(TaskGraph& graph, std::string_view name, const CollectiveTask& task) {
    if (reduces(task.what) && detail::type_of(task.type) == MPI_DATATYPE_NULL) {
      throw Error(Errc::unsupported, Error::Text{name, ": MPI cannot calculate with ", to_string(task.type)});
    }
    const TensorKey order = graph::order_of_collectives(graph);
    Operation& operation = *operations_.emplace_back(std::make_unique<Operation>(*this, name, task));
    const CallTensor begins{order, Access::read_write};
    const CallTensor source{task.from, Access::read};
    // From its beginning to its end, in rounds in flight, too, the operation belongs to one round.
    const Error::Text busy{"(", name, " ", graph.tensors().size(),
                           ")"};  // other communicators may have such tokens, too
    const CallTensor token{graph::add_token(graph, busy.c_str()), Access::read_write};
    const Error::Text first{name, " begins"};
    const SymbolicShape shape = graph.declared_shape(graph.tensors()[index(task.to.tensor())]);
    const auto extent = [&](std::size_t d) {
      if (d >= shape.rank()) return Extent{1};
      return shape.dim(d).empty() ? Extent{shape.extent(d)} : Extent{shape.dim(d)};
    };
    const TaskId begin = task.reads_on(rank())
                             ? graph.add_call(first.c_str(), {begins, token, source}, operation.begin)
                             : graph.add_call(first.c_str(), {begins, token}, operation.begin,
                                              {extent(0), extent(1), extent(2), extent(3), extent(4)});
    const CallTensor target{task.to, Access::write};
    const TaskId end = task.writes_on(rank()) ? graph.add_call(name, {token, target}, operation.end)
                                              : graph.add_call(name, {token}, operation.end);
    graph.add_edge(begin, end);
    operation.done = end;
    for (std::uint32_t t = 0; t < index(begin); ++t) {  // a begin does not wait for the end of an earlier send
      const bool is_in_same_loop = graph.tasks()[t].loop == graph.tasks()[index(begin)].loop;
      if (is_in_same_loop && is_end_of_send(graph, t)) graph.add_edge(begin, TaskId{t});
    }
    return task.what == Collective::send ? begin : end;
  }

 private:
  [[nodiscard]] static bool is_end_of_send(const TaskGraph& graph, std::uint32_t t) noexcept {
    const graph::TaskRecord& task = graph.tasks()[t];
    if (task.call != &call_library<End>) return false;
    const auto* const end = reinterpret_cast<const End*>(graph.args_of(task)[0].bits);  // NOLINT: written by add_call()
    return end->operation.task.what == Collective::send;
  }

  /// The memory of an operation, which is never freed while MPI uses it.
  struct Memory {
    std::vector<std::byte> from;
    std::vector<std::byte> to;
  };
  struct Operation;
  struct Begin {
    Operation& operation;
    void session_opens(const CallSession& session) { operation.open(session); }
    void session_closes(const CallSession&) noexcept { operation.close(); }
    void operator()(const LibraryCall& call) { operation.start(call); }
  };
  struct End {
    static constexpr bool waits_for_others = true;
    Operation& operation;
    void operator()(const LibraryCall& call) { operation.finish(call); }
  };

  /// A collective of a graph: at most one of its messages travels at a time.
  struct Operation {
    Operation(Communicator& ranks_, std::string_view name_, const CollectiveTask& task_)
        : ranks{ranks_}, name{name_}, task{task_}, begin{*this}, end{*this} {}
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    ~Operation() { close(); }

    /// Allocates the memory for the sizes of a graph, and compares the graphs of the ranks if this is the
    /// communicator's first collective there.
    void open(const CallSession& session) {
      if (!session.platform.is_on_host) {
        throw Error(Errc::unsupported,
                    Error::Text{session.platform.name, ": ", name,
                                " is over MPI, which reaches the memory of the host; use a communicator of the device, "
                                "HcclCommunicator or NcclCommunicator"});
      }
      const graph::GraphView& view = session.view;
      const graph::TensorRecord& source = view.tensors[index(task.from.tensor())];
      const graph::TensorRecord& target = view.tensors[index(task.to.tensor())];
      graph::check_sizes(name, task.what, static_cast<std::int64_t>(source.count),
                         static_cast<std::int64_t>(target.count), ranks.size());
      const std::uint64_t bytes = source.bytes < target.bytes ? target.bytes : source.bytes;
      if (bytes > INT_MAX) {
        throw Error(Errc::limit_exceeded,
                    Error::Text{name, ": ", bytes, " bytes; MPI counts to 2^31 - 1, so divide the tensor"});
      }
      refuse_broken();  // `memory` may belong to MPI
      ranks.compare(session);
      await("an earlier round");
      if (memory->from.size() < source.bytes) memory->from.resize(source.bytes);
      if (memory->to.size() < target.bytes) memory->to.resize(target.bytes);
    }

    /// Waits for messages that still travel: a send, or a collective of a round that failed.
    void close() noexcept {
      if (request == MPI_REQUEST_NULL) return;
      const bool waits = !ranks.is_broken_.load(std::memory_order_relaxed) && std::uncaught_exceptions() == 0;
      if (!detail::await(request, waits ? ranks.group_.patience() : 0).is_done) give_up();
    }

    void start(const LibraryCall& call) {
      refuse_broken();
      await("an earlier round");
      const bool reads = task.reads_on(ranks.rank());
      const std::size_t last = call.tensors() - 1;
      std::int64_t elements = 1;
      for (std::size_t d = 0; d < (reads ? 0 : max_rank); ++d) elements *= call.value(d);
      if (reads) elements = call.elements(last);
      const std::size_t bytes = static_cast<std::size_t>(elements) * size_of(task.type);
      if (reads) std::memcpy(memory->from.data(), call.data<const std::byte>(last), bytes);
      check(start(static_cast<int>(elements), static_cast<int>(bytes)));
    }

    void finish(const LibraryCall& call) {
      if (is_between_two(task.what)) {
        await(Error::Text{"rank ", task.options.rank}.c_str());
      } else {
        await("the other ranks");
      }
      if (!task.writes_on(ranks.rank())) return;
      const std::size_t bytes = static_cast<std::size_t>(call.elements(1)) * size_of(task.type);
      if (reduces(task.what) && task.options.reduction == Reduction::mean) {
        if (task.type == DataType::float32) detail::divide<float>(memory->to.data(), bytes, ranks.size());
        if (task.type == DataType::float64) detail::divide<double>(memory->to.data(), bytes, ranks.size());
      }
      std::memcpy(call.data<std::byte>(1), memory->to.data(), bytes);
    }

    Communicator& ranks;
    std::string name;
    CollectiveTask task;
    Begin begin;
    End end;
    TaskId done{};  ///< the task that completes it
    std::unique_ptr<Memory> memory = std::make_unique<Memory>();
    MPI_Request request = MPI_REQUEST_NULL;

   private:
    [[nodiscard]] int start(int elements, int bytes) noexcept {
      std::byte* const from = memory->from.data();
      std::byte* const to = memory->to.data();
      const MPI_Comm comm = ranks.group_.comm();
      const MPI_Datatype type = detail::type_of(task.type);
      const MPI_Op op = detail::op_of(task.options.reduction);
      const int other = task.options.rank;
      switch (task.what) {
        case Collective::all_reduce: return MPI_Iallreduce(from, to, elements, type, op, comm, &request);
        case Collective::all_gather: return MPI_Iallgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm, &request);
        case Collective::reduce_scatter:
          return MPI_Ireduce_scatter_block(from, to, elements / ranks.size(), type, op, comm, &request);
        case Collective::broadcast:
          return MPI_Ibcast(other == ranks.rank() ? from : to, bytes, MPI_BYTE, other, comm, &request);
        case Collective::send: return MPI_Isend(from, bytes, MPI_BYTE, other, 0, comm, &request);
        default: return MPI_Irecv(to, bytes, MPI_BYTE, other, 0, comm, &request);
      }
    }
    void refuse_broken() const {
      if (!ranks.is_broken_.load(std::memory_order_relaxed)) return;
      throw Error(Errc::timed_out, Error::Text{name, ": an earlier collective failed on rank ", ranks.rank(),
                                               "; end all ranks, or make another group"});
    }
    void check(int code) {
      if (code == MPI_SUCCESS) return;
      ranks.is_broken_.store(true, std::memory_order_relaxed);
      throw Error(Errc::device_failed, Error::Text{name, ": ", detail::text_of(code).c_str()});
    }
    void await(const char* whom) {
      if (request == MPI_REQUEST_NULL) return;
      const detail::Awaited awaited = detail::await(request, ranks.group_.patience());
      check(awaited.code);
      if (awaited.is_done) return;
      give_up();
      throw Error(Errc::timed_out,
                  Error::Text{name, ": rank ", ranks.rank(), " waited ", ranks.group_.patience_ms(), " ms for ", whom,
                              "; a rank that cannot continue should end all ranks with Environment::abort"});
    }
    void give_up() noexcept {
      (void)memory.release();  // MPI still uses it
      request = MPI_REQUEST_NULL;
      ranks.is_broken_.store(true, std::memory_order_relaxed);
      ranks.group_.note_stuck();
    }
  };

  /// Compares the collectives of all ranks' graphs. Does nothing unless the task is the communicator's first.
  void compare(const CallSession& session) const {
    const auto own =
        graph::list_collectives<Begin>(session, [this](const Begin& begin) { return &begin.operation.ranks == this; });
    if (own.empty()) return;
    graph::compare_collectives(own, session.platform.name, false,
                               [this](std::span<const std::uint64_t> numbers) { return group_.gather(numbers); });
  }

  const Group& group_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::atomic<bool> is_broken_ = false;  ///< whether a collective was given up
};
static_assert(rondo::Communicator<Communicator>);

}  // namespace rondo::mpi
