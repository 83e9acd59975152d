// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/call_sessions.hpp>
#include <rondo/graph/collective.hpp>
#include <rondo/platform/streams/api.hpp>
#include <rondo/platform/streams/library_fault.hpp>
#include <rondo/tensor/data_type.hpp>

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Collectives as tasks of a graph, over a device's own library of collectives.
namespace rondo::platform::streams {

/// The functions that libraries of collectives have in common; they return 0 on success. `Rank` is the type in which
/// the library numbers ranks.
template <class Rank>
struct CollectiveCalls {
  using Comm = void*;

  Code (*make_id)(void* id) = nullptr;
  Code (*destroy)(Comm) = nullptr;
  Code (*all_reduce)(const void* from, void* to, std::size_t, std::int32_t type, std::int32_t op, Comm,
                     Stream) = nullptr;
  Code (*all_gather)(const void* from, void* to, std::size_t from_count, std::int32_t type, Comm, Stream) = nullptr;
  Code (*reduce_scatter)(const void* from, void* to, std::size_t to_count, std::int32_t type, std::int32_t op, Comm,
                         Stream) = nullptr;
  Code (*broadcast)(void*, std::size_t count, std::int32_t type, Rank root, Comm, Stream) = nullptr;
  Code (*send)(const void*, std::size_t count, std::int32_t type, Rank to, Comm, Stream) = nullptr;
  Code (*recv)(void*, std::size_t count, std::int32_t type, Rank from, Comm, Stream) = nullptr;
  const char* (*error_string)(Code) = nullptr;
};

/// Opens a library of collectives, which stays open until the process ends. `product`: what users install.
/// @throws Error unsupported: it is not there, or something is wrong with it
[[nodiscard]] inline void* open_collectives(const char* name, const char* product) {
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const Error::Text fault = library_fault(name);
  const Error::Text missing{name, " not found; install ", product, ", and set LD_LIBRARY_PATH"};
  throw Error(Errc::unsupported, fault.empty() ? missing : fault);
}

/// Ranks whose devices are joined by a library of collectives, for collectives that are tasks of a graph. The program
/// uses HcclCommunicator or NcclCommunicator:
///
///     rondo::HcclCommunicator ranks(group, {.device = 3});          // on all ranks; the group is an mpi::Group
///     graph.add_collective(Collective::all_reduce, dw, ranks);
///
/// A collective is one library call: it is captured with the rest of the graph, and runs next to tasks of other streams
/// that do not need its result. When a session is opened, the ranks compare the collectives of their graphs, and run
/// each of them once, in memory of their own, before anything is captured. All ranks must open the same sessions in the
/// same order, and run the same rounds. On a stream, a send waits for its recv; graphs that would wait forever are
/// refused.
///
/// Lifetime: immovable; it outlives the sessions of its graphs, and the group outlives it. Thread safety: none. Errors:
/// the constructor throws; the opening of a session throws invalid_argument if the ranks' graphs differ or if the
/// session is on another device, unsupported on other platforms, limit_exceeded if the library cannot have so many
/// graphs, timed_out if a rank is missing, device_failed. If a rank dies during a round, the others' rounds end at the
/// limit of their sessions, with timed_out or device_failed, and poison them. Cost: that of the library; nothing on the
/// host in a captured round.
///
/// `Library`: a library and the device that it works on, platform::onboard::Hccl or platform::cuda::Nccl. Its
/// constructor opens the device, and its destructor gives it back, unless something there hangs; lose() notes that.
template <class Library>
class DeviceCommunicator {
 public:
  using Options = typename Library::Options;  ///< the device and the limits

  /// Collective. `group`: ranks with `int rank()`, `int size()` and `gather(numbers)`, which returns equally many
  /// numbers from each; it distributes what rank 0 gives out for the others to join. @throws Error no_such_device,
  /// unsupported (the library is missing), device_failed, timed_out
  template <class Group>
  explicit DeviceCommunicator(const Group& group, const Options& options = {})
      : rank_{group.rank()},
        size_{group.size()},
        gather_{[&group](std::span<const std::uint64_t> numbers) { return group.gather(numbers); }},
        library_{options} {
    constexpr std::size_t words = (Library::id_bytes + 7) / 8;
    std::vector<std::uint64_t> id(words + 1);
    if (rank_ == 0) id[words] = static_cast<std::uint64_t>(library_.calls().make_id(id.data()));
    std::vector<std::uint64_t> all = gather_(id);
    check(Error::Text{Library::id_call, " on rank 0"}.c_str(), static_cast<Code>(all[words]));
    check(Library::join_call, library_.join(size_, all.data(), rank_, comm_));
  }
  DeviceCommunicator(const DeviceCommunicator&) = delete;
  DeviceCommunicator& operator=(const DeviceCommunicator&) = delete;
  ~DeviceCommunicator() { library_.leave(comm_); }

  /// This process's number among the ranks.
  [[nodiscard]] int rank() const noexcept { return rank_; }
  /// The number of ranks.
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Called by TaskGraph::add_collective(), which checks the task. @throws Error unsupported: the library lacks the
  /// type or the reduction
  TaskId add_to(TaskGraph& graph, std::string_view name, const CollectiveTask& task) {
    if (Library::number_of(task.type) < 0) {
      throw Error(Errc::unsupported, Error::Text{name, ": ", Library::name, " has no ", to_string(task.type)});
    }
    if (reduces(task.what) && Library::number_of(task.options.reduction) < 0) {
      throw Error(Errc::unsupported,
                  Error::Text{name, ": ", Library::name, " has no ", to_string(task.options.reduction),
                              "; choose the sum, and let a kernel divide"});
    }
    const CallTensor order{graph::order_of_collectives(graph), Access::read_write};
    Operation& operation = *operations_.emplace_back(std::make_unique<Operation>(*this, name, task));
    const bool reads = task.reads_on(rank_);
    const bool writes = task.writes_on(rank_);
    if (task.from != task.to) {
      return operation.done =
                 graph.add_call(name, {order, {task.from, Access::read}, {task.to, Access::write}}, operation.call);
    }
    const Access access = reads && writes ? Access::read_write : reads ? Access::read : Access::write;
    return operation.done = graph.add_call(name, {order, {task.to, access}}, operation.call);
  }

 private:
  using Api = typename Library::Api;
  struct Operation;
  struct Call {
    Operation& operation;
    void session_opens(const CallSession& session) { operation.open(session); }
    void session_captures(const CallSession& session) const { operation.ranks.compare_captures(session); }
    void session_closes(const CallSession& session) noexcept { operation.close(session); }
    void operator()(const LibraryCall& call) {
      const std::size_t last = call.tensors() - 1;
      operation.run(call.data<void>(1), call.data<void>(last), call.elements(1), call.elements(last), call.stream());
    }
  };

  /// A collective of a graph.
  struct Operation {
    Operation(DeviceCommunicator& ranks_, std::string_view name_, const CollectiveTask& task_)
        : ranks{ranks_}, name{name_}, task{task_}, call{*this} {}
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    /// Compares the graphs of the ranks at the communicator's first collective there, and runs the collective once.
    void open(const CallSession& session) {
      const std::string_view platform = session.platform.name;
      if (!Library::is_on(platform)) {
        throw Error(Errc::unsupported, Error::Text{platform, ": ", name.c_str(), " is over ", Library::name,
                                                   ", which joins ", Library::devices, "; ", Library::elsewhere});
      }
      if (session.platform.device != ranks.library_.options().device) {
        throw Error(Errc::invalid_argument,
                    Error::Text{platform, ": ", name.c_str(), " is of a communicator of device ",
                                ranks.library_.options().device, ", the session is on device ", session.platform.device,
                                "; make the communicator for that device"});
      }
      const graph::TensorRecord& from = session.view.tensors[index(task.from.tensor())];
      const graph::TensorRecord& to = session.view.tensors[index(task.to.tensor())];
      graph::check_sizes(name, task.what, static_cast<std::int64_t>(from.count), static_cast<std::int64_t>(to.count),
                         ranks.size_);
      const bool is_first = ranks.begin_graph(session);
      try {
        warm_up(from, to);
      } catch (...) {
        if (is_first) ranks.library_.end_graphs(ranks.count_graphs(session));
        throw;
      }
    }
    void close(const CallSession& session) noexcept {
      if (ranks.is_first(session)) ranks.library_.end_graphs(ranks.count_graphs(session));
    }

    /// Puts the collective on a stream. @throws Error device_failed
    void run(void* from, void* to, std::int64_t from_count, std::int64_t to_count, Stream stream) {
      if (from_count == 0) return;  // on all ranks, since they compare their sizes
      const auto& c = ranks.library_.calls();
      const std::int32_t type = Library::number_of(task.type);
      const std::int32_t op = Library::number_of(task.options.reduction);
      const auto n = static_cast<std::size_t>(from_count);
      const auto other = static_cast<typename Library::Rank>(task.options.rank);
      const auto code = [&] {
        switch (task.what) {
          case Collective::all_reduce: return c.all_reduce(from, to, n, type, op, ranks.comm_, stream);
          case Collective::all_gather: return c.all_gather(from, to, n, type, ranks.comm_, stream);
          case Collective::reduce_scatter:
            return c.reduce_scatter(from, to, static_cast<std::size_t>(to_count), type, op, ranks.comm_, stream);
          case Collective::broadcast: return c.broadcast(to, n, type, other, ranks.comm_, stream);
          case Collective::send: return c.send(from, n, type, other, ranks.comm_, stream);
          default: return c.recv(to, n, type, other, ranks.comm_, stream);
        }
      }();
      ranks.check(name.c_str(), code);
    }

    DeviceCommunicator& ranks;
    std::string name;
    CollectiveTask task;
    Call call;
    TaskId done{};  ///< the call in the graph

   private:
    /// Runs the collective once: such libraries connect and allocate then, which a capture would refuse.
    void warm_up(const graph::TensorRecord& from, const graph::TensorRecord& to) {
      if (from.count == 0) return;
      Library& library = ranks.library_;
      const auto must = [&](const char* what, Code code) { library.must(name.c_str(), what, code); };
      const auto& streams = library.stream_calls();
      must(Api::enter, library.enter());
      const std::uint64_t to_begins = (from.bytes + 511) / 512 * 512;
      void* memory = nullptr;
      must(Api::malloc, library.take(&memory, to_begins + to.bytes));
      Stream stream = nullptr;
      const char* what = Api::create_stream;
      Code code = streams.create_stream(&stream, 0, Api::stream_flags);
      const auto clean_up = [&] {
        if (stream != nullptr) (void)streams.destroy_stream(stream);
        (void)library.give_back(memory);
      };
      if (code == code_ok) {
        try {
          run(memory, static_cast<std::byte*>(memory) + to_begins, static_cast<std::int64_t>(from.count),
              static_cast<std::int64_t>(to.count), stream);
        } catch (...) {
          clean_up();
          throw;
        }
        what = Api::synchronize;
        code = streams.synchronize(stream, ranks.library_.options().timeout_ms);
      }
      if (Api::errc_of(code) == Errc::timed_out) {  // the device still uses the memory
        library.lose();
        throw Error(Errc::timed_out, Error::Text{name.c_str(), ": rank ", ranks.rank_, " waited ",
                                                 ranks.library_.options().timeout_ms, " ms for the other ranks"});
      }
      clean_up();
      must(what, code);
    }
  };

  void check(const char* what, Code code) const {
    if (code == 0) return;
    const char* const text = library_.calls().error_string(code);
    throw Error(library_.is_timeout(code) ? Errc::timed_out : Errc::device_failed,
                Error::Text{what, ": ", Library::name, " returned ", code, ", ", text == nullptr ? "?" : text});
  }

  [[nodiscard]] std::vector<graph::CollectiveNumbers> list(const CallSession& session) const {
    return graph::list_collectives<Call>(session, [this](const Call& call) { return &call.operation.ranks == this; });
  }
  [[nodiscard]] bool is_first(const CallSession& session) const noexcept { return !list(session).empty(); }
  /// Compares the graphs, if the call is the communicator's first one in this graph. @returns whether it is
  bool begin_graph(const CallSession& session) {
    const std::vector<graph::CollectiveNumbers> own = list(session);
    if (own.empty()) return false;
    graph::compare_collectives(own, session.platform.name, true, gather_);
    library_.begin_graphs(session.platform.name, count_graphs(session));
    return true;
  }
  /// Compares how the ranks captured the graph, at the communicator's first call in it. @throws Error unsupported: this
  /// rank would give its captured graph up, and has told the ranks of another communicator that it keeps it
  void compare_captures(const CallSession& session) const {
    if (!is_first(session)) return;
    CallCapture& own = *session.capture;
    const std::uint64_t told = own.is_unlike_other ? 0 : own.way;
    const std::vector<std::uint64_t> ways = gather_(std::vector<std::uint64_t>{told});
    const bool differs = ways != std::vector<std::uint64_t>(ways.size(), told);
    if (std::exchange(own.is_shared, true) && differs && !own.is_unlike_other) {
      throw Error(Errc::unsupported, Error::Text{"only some ranks captured; set ", Library::no_capture, " on all"});
    }
    own.is_unlike_other = own.is_unlike_other || differs;
  }
  /// The number of captured graphs with collectives of this communicator: a graph with loops has one for each of its
  /// sections that contains such collectives.
  [[nodiscard]] std::uint32_t count_graphs(const CallSession& session) const noexcept {
    std::uint32_t graphs = 0;
    bool has_one = false;
    for (std::uint32_t p = 0; p < session.view.tasks.size(); ++p) {
      const graph::TaskRecord& task = session.view.tasks[p];
      if (p != 0 && task.loop != session.view.tasks[p - 1].loop) has_one = false;
      if (task.session != &tell_library<Call>) continue;
      const auto* const call = reinterpret_cast<const Call*>(session.view.args_of(task)[0].bits);  // NOLINT: a call
      if (&call->operation.ranks == this && !std::exchange(has_one, true)) ++graphs;
    }
    return graphs;
  }

  int rank_;
  int size_;
  std::function<std::vector<std::uint64_t>(std::span<const std::uint64_t>)> gather_;
  Library library_;
  typename Library::Comm comm_ = nullptr;
  std::vector<std::unique_ptr<Operation>> operations_;
};

}  // namespace rondo::platform::streams
