// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/call_sessions.hpp>
#include <rondo/graph/collective.hpp>
#include <rondo/platform/onboard/acl.hpp>
#include <rondo/platform/onboard/codes.hpp>
#include <rondo/platform/onboard/library.hpp>
#include <rondo/platform/onboard/runtime.hpp>
#include <rondo/tensor/data_type.hpp>

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Collectives as tasks of a graph, over HCCL, the vendor's library.
namespace rondo {

/// The options of an HcclCommunicator.
struct HcclOptions {
  /// The number of the device, the same as in the sessions' options.
  std::uint32_t device = 0;
  /// The most graphs with collectives that may be open on the device at once, in this process. HCCL hangs if it finds
  /// its AICPU cores full, and six graphs fill them. Each shape and each slot of a session has a graph, and each
  /// section of a graph with loops.
  std::uint32_t most_graphs = 6;
  /// The time limit for the first run of a collective, in milliseconds.
  std::int32_t timeout_ms = 50'000;
};

namespace platform::onboard {

/// The functions of libhccl.so that Rondo calls. They return 0 on success.
struct HcclCalls {
  using Comm = void*;
  using Code = std::int32_t;
  static constexpr std::size_t root_info_bytes = 4108;

  Code (*get_root_info)(void* info) = nullptr;
  Code (*init_root_info)(std::uint32_t ranks, const void* info, std::uint32_t rank, Comm*) = nullptr;
  Code (*destroy)(Comm) = nullptr;
  Code (*all_reduce)(void* from, void* to, std::uint64_t, std::int32_t type, std::int32_t op, Comm, Stream) = nullptr;
  Code (*all_gather)(void* from, void* to, std::uint64_t from_count, std::int32_t type, Comm, Stream) = nullptr;
  Code (*reduce_scatter)(void* from, void* to, std::uint64_t to_count, std::int32_t type, std::int32_t op, Comm,
                         Stream) = nullptr;
  Code (*broadcast)(void*, std::uint64_t count, std::int32_t type, std::uint32_t root, Comm, Stream) = nullptr;
  Code (*send)(void*, std::uint64_t count, std::int32_t type, std::uint32_t to, Comm, Stream) = nullptr;
  Code (*recv)(void*, std::uint64_t count, std::int32_t type, std::uint32_t from, Comm, Stream) = nullptr;
  const char* (*error_string)(Code) = nullptr;

  /// Opens the library once; it stays open until the process ends. @throws Error unsupported: it is not there, or lacks
  /// a function
  [[nodiscard]] static const HcclCalls& instance() {
    static const HcclCalls calls = [] {
      constexpr const char* name = "libhccl.so";
      void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) {
        constexpr const char* missing = "libhccl.so not found; install the vendor's toolkit, and set LD_LIBRARY_PATH";
        const Error::Text fault = streams::library_fault(name);
        throw Error(Errc::unsupported, fault.empty() ? Error::Text(missing) : fault);
      }
      HcclCalls c;
      const auto find = [&]<class Function>(const char* symbol, Function*& slot) {
        slot = reinterpret_cast<Function*>(find_required(library, name, symbol));
      };
      find("HcclGetRootInfo", c.get_root_info);
      find("HcclCommInitRootInfo", c.init_root_info);
      find("HcclCommDestroy", c.destroy);
      find("HcclAllReduce", c.all_reduce);
      find("HcclAllGather", c.all_gather);
      find("HcclReduceScatter", c.reduce_scatter);
      find("HcclBroadcast", c.broadcast);
      find("HcclSend", c.send);
      find("HcclRecv", c.recv);
      find("HcclGetErrorString", c.error_string);
      return c;
    }();
    return calls;
  }
};

/// HCCL's number of an element type, or -1 if it has none.
[[nodiscard]] constexpr std::int32_t hccl_type(DataType type) noexcept {
  switch (type) {
    case DataType::int8: return 0;
    case DataType::int16: return 1;
    case DataType::int32: return 2;
    case DataType::float16: return 3;
    case DataType::float32: return 4;
    case DataType::int64: return 5;
    case DataType::uint64: return 6;
    case DataType::uint8: return 7;
    case DataType::uint16: return 8;
    case DataType::uint32: return 9;
    case DataType::float64: return 10;
    case DataType::bfloat16: return 11;
    default: return -1;
  }
}
/// HCCL's number of a reduction, or -1 if it has none.
[[nodiscard]] constexpr std::int32_t hccl_op(Reduction reduction) noexcept {
  switch (reduction) {
    case Reduction::sum: return 0;
    case Reduction::product: return 1;
    case Reduction::max: return 2;
    case Reduction::min: return 3;
    default: return -1;
  }
}

/// The number of graphs with collectives that are open on each device, in this process.
inline std::atomic<std::uint32_t> hccl_graphs[Runtime::max_devices]{};

}  // namespace platform::onboard

/// Ranks whose NPUs are joined by HCCL, for collectives that are tasks of a graph:
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
/// session is on another device, unsupported on other platforms, limit_exceeded beyond `most_graphs`, timed_out if a
/// rank is missing, device_failed. If a rank dies during a round, the others' rounds end at the limit of their
/// sessions, with timed_out or device_failed, and poison them. Cost: that of HCCL; nothing on the host in a captured
/// round.
class HcclCommunicator {
  using Calls = platform::onboard::HcclCalls;
  using Runtime = platform::onboard::Runtime;

 public:
  using Options = HcclOptions;  ///< the device and the limits

  /// Collective. `group`: ranks with `int rank()`, `int size()` and `gather(numbers)`, which returns equally many
  /// numbers from each; it distributes HCCL's root information. @throws Error no_such_device, unsupported (no HCCL),
  /// device_failed, timed_out
  template <class Group>
  explicit HcclCommunicator(const Group& group, Options options = {})
      : options_{options},
        rank_{group.rank()},
        size_{group.size()},
        gather_{[&group](std::span<const std::uint64_t> numbers) { return group.gather(numbers); }},
        token_{Runtime::instance().open(options.device, "hccl")} {
    try {
      join();
    } catch (...) {
      (void)Runtime::instance().close(options_.device);
      throw;
    }
  }
  HcclCommunicator(const HcclCommunicator&) = delete;
  HcclCommunicator& operator=(const HcclCommunicator&) = delete;
  ~HcclCommunicator() {
    (void)Runtime::instance().enter(token_, options_.device);
    if (!Runtime::instance().is_lost(options_.device)) (void)hccl().destroy(comm_);  // else it may not return
    (void)Runtime::instance().close(options_.device);
  }

  /// This process's number among the ranks.
  [[nodiscard]] int rank() const noexcept { return rank_; }
  /// The number of ranks.
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Called by TaskGraph::add_collective(), which checks the task. @throws Error unsupported: HCCL lacks the type or
  /// reduction
  TaskId add_to(TaskGraph& graph, std::string_view name, const CollectiveTask& task) {
    if (platform::onboard::hccl_type(task.type) < 0) {
      throw Error(Errc::unsupported, Error::Text{name, ": HCCL has no ", to_string(task.type)});
    }
    if (reduces(task.what) && platform::onboard::hccl_op(task.options.reduction) < 0) {
      throw Error(Errc::unsupported, Error::Text{name, ": HCCL has no ", to_string(task.options.reduction),
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
    Operation(HcclCommunicator& ranks_, std::string_view name_, const CollectiveTask& task_)
        : ranks{ranks_}, name{name_}, task{task_}, call{*this} {}
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    /// Compares the graphs of the ranks at the communicator's first collective there, and runs the collective once.
    void open(const CallSession& session) {
      const std::string_view platform = session.platform.name;
      if (!platform.ends_with("_onboard")) {
        throw Error(Errc::unsupported, Error::Text{platform, ": ", name.c_str(),
                                                   " is over HCCL, which joins NPUs; use mpi::Communicator here"});
      }
      if (session.platform.device != ranks.options_.device) {
        throw Error(Errc::invalid_argument,
                    Error::Text{platform, ": ", name.c_str(), " is of a communicator of device ", ranks.options_.device,
                                ", the session is on device ", session.platform.device,
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
        if (is_first) ranks.end_graph(ranks.count_graphs(session));
        throw;
      }
    }
    void close(const CallSession& session) noexcept {
      if (ranks.is_first(session)) ranks.end_graph(ranks.count_graphs(session));
    }

    /// Puts the collective on a stream. @throws Error device_failed
    void run(void* from, void* to, std::int64_t from_count, std::int64_t to_count, platform::onboard::Stream stream) {
      const Calls& c = ranks.hccl();
      const std::int32_t type = platform::onboard::hccl_type(task.type);
      const std::int32_t op = platform::onboard::hccl_op(task.options.reduction);
      const auto n = static_cast<std::uint64_t>(from_count);
      const auto other = static_cast<std::uint32_t>(task.options.rank);
      const auto code = [&] {
        switch (task.what) {
          case Collective::all_reduce: return c.all_reduce(from, to, n, type, op, ranks.comm_, stream);
          case Collective::all_gather: return c.all_gather(from, to, n, type, ranks.comm_, stream);
          case Collective::reduce_scatter:
            return c.reduce_scatter(from, to, static_cast<std::uint64_t>(to_count), type, op, ranks.comm_, stream);
          case Collective::broadcast: return c.broadcast(to, n, type, other, ranks.comm_, stream);
          case Collective::send: return c.send(from, n, type, other, ranks.comm_, stream);
          default: return c.recv(to, n, type, other, ranks.comm_, stream);
        }
      }();
      ranks.check(name.c_str(), code);
    }

    HcclCommunicator& ranks;
    std::string name;
    CollectiveTask task;
    Call call;
    TaskId done{};  ///< the call in the graph

   private:
    /// HCCL connects and allocates at the first run of a collective, which a capture would refuse.
    void warm_up(const graph::TensorRecord& from, const graph::TensorRecord& to) {
      const platform::onboard::Calls& acl = Runtime::instance().calls();
      const auto must = [&](const char* what, platform::onboard::AclError code) {
        platform::onboard::check(acl, name.c_str(), what, code);
      };
      must("aclrtSetDevice", Runtime::instance().enter(ranks.token_, ranks.options_.device));
      const std::uint64_t to_begins = (from.bytes + 511) / 512 * 512;
      void* memory = nullptr;
      must("aclrtMalloc", acl.malloc(&memory, to_begins + to.bytes, platform::onboard::huge_first));
      platform::onboard::Stream stream = nullptr;
      platform::onboard::AclError code = acl.create_stream(&stream, 0, 0);
      const char* what = "aclrtCreateStreamWithConfig";
      const auto clean_up = [&] {
        if (stream != nullptr) (void)acl.destroy_stream(stream);
        (void)acl.free(memory);
      };
      if (code == platform::onboard::code_ok) {
        try {
          run(memory, static_cast<std::byte*>(memory) + to_begins, static_cast<std::int64_t>(from.count),
              static_cast<std::int64_t>(to.count), stream);
        } catch (...) {
          clean_up();
          throw;
        }
        what = "aclrtSynchronizeStreamWithTimeout";
        code = acl.synchronize(stream, ranks.options_.timeout_ms);
      }
      if (platform::onboard::errc_of(code) == Errc::timed_out) {  // the device still uses the memory
        Runtime::instance().lose(ranks.options_.device);
        throw Error(Errc::timed_out, Error::Text{name.c_str(), ": rank ", ranks.rank_, " waited ",
                                                 ranks.options_.timeout_ms, " ms for the other ranks"});
      }
      clean_up();
      must(what, code);
    }
  };

  [[nodiscard]] const Calls& hccl() const noexcept { return *hccl_; }
  void check(const char* what, Calls::Code code) const {
    if (code == 0) return;
    const char* const text = hccl().error_string(code);
    throw Error(code == 9 ? Errc::timed_out : Errc::device_failed,
                Error::Text{what, ": HCCL returned ", code, ", ", text == nullptr ? "?" : text});
  }

  /// Makes the communicator, from the information that rank 0 gives out.
  void join() {
    constexpr std::size_t words = (Calls::root_info_bytes + 7) / 8;
    std::vector<std::uint64_t> info(words + 1);
    if (rank_ == 0) info[words] = static_cast<std::uint64_t>(hccl().get_root_info(info.data()));
    const std::vector<std::uint64_t> all = gather_(info);
    check("HcclGetRootInfo on rank 0", static_cast<Calls::Code>(all[words]));
    check("HcclCommInitRootInfo", hccl().init_root_info(static_cast<std::uint32_t>(size_), all.data(),
                                                        static_cast<std::uint32_t>(rank_), &comm_));
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
    const std::uint32_t graphs = count_graphs(session);
    const std::uint32_t open =
        platform::onboard::hccl_graphs[options_.device].fetch_add(graphs, std::memory_order_relaxed);
    if (open + graphs <= options_.most_graphs) return true;
    end_graph(graphs);
    throw Error(Errc::limit_exceeded,
                Error::Text{session.platform.name, ": more than ", options_.most_graphs,
                            " graphs with collectives would be open on device ", options_.device,
                            ", and HCCL would hang; close a session, or keep fewer shapes or slots"});
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
      throw Error(Errc::unsupported, Error::Text("only some ranks captured; set Options::capture = false on all"));
    }
    own.is_unlike_other = own.is_unlike_other || differs;
  }
  void end_graph(std::uint32_t graphs) const noexcept {
    platform::onboard::hccl_graphs[options_.device].fetch_sub(graphs, std::memory_order_relaxed);
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

  Options options_;
  int rank_;
  int size_;
  std::function<std::vector<std::uint64_t>(std::span<const std::uint64_t>)> gather_;
  const Calls* hccl_ = &Calls::instance();
  std::uint64_t token_;
  Calls::Comm comm_ = nullptr;
  std::vector<std::unique_ptr<Operation>> operations_;
};
static_assert(Communicator<HcclCommunicator>);

}  // namespace rondo
