// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/collective.hpp>
#include <rondo/platform/onboard/acl.hpp>
#include <rondo/platform/onboard/codes.hpp>
#include <rondo/platform/onboard/runtime.hpp>
#include <rondo/platform/streams/device_communicator.hpp>
#include <rondo/tensor/data_type.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// Collectives as tasks of a graph, over HCCL, the vendor's library for NPUs.
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

/// HCCL, on one NPU. The functions and numbers follow its public documentation.
class Hccl {
 public:
  using Options = HcclOptions;
  using Rank = std::uint32_t;
  using Calls = streams::CollectiveCalls<Rank>;
  using Comm = Calls::Comm;
  using Code = streams::Code;
  using Api = onboard::Api;
  static constexpr std::string_view name = "HCCL";
  static constexpr std::string_view devices = "NPUs";
  static constexpr std::string_view elsewhere = "use NcclCommunicator on GPUs, and mpi::Communicator elsewhere";
  static constexpr std::string_view no_capture = "Options::capture = false";
  static constexpr const char* id_call = "HcclGetRootInfo";
  static constexpr const char* join_call = "HcclCommInitRootInfo";
  static constexpr std::size_t id_bytes = 4108;

  /// Whether sessions of a platform run on NPUs.
  [[nodiscard]] static constexpr bool is_on(std::string_view platform) noexcept {
    return platform.ends_with("_onboard");
  }
  /// HCCL's number of an element type, or -1 if it has none.
  [[nodiscard]] static constexpr std::int32_t number_of(DataType type) noexcept {
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
  [[nodiscard]] static constexpr std::int32_t number_of(Reduction reduction) noexcept {
    switch (reduction) {
      case Reduction::sum: return 0;
      case Reduction::product: return 1;
      case Reduction::max: return 2;
      case Reduction::min: return 3;
      default: return -1;
    }
  }
  [[nodiscard]] static constexpr bool is_timeout(Code code) noexcept { return code == 9; }

  /// Opens the device. @throws Error no_such_device, unsupported (no HCCL), and errors of the runtime
  explicit Hccl(const Options& options)
      : calls_{functions().calls}, options_{options}, token_{runtime().open(options.device, "hccl")} {}
  Hccl(const Hccl&) = delete;
  Hccl& operator=(const Hccl&) = delete;
  ~Hccl() { (void)runtime().close(options_.device); }

  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] const Calls& calls() const noexcept { return calls_; }
  [[nodiscard]] static Code join(int ranks, void* id, int rank, Comm& comm) noexcept {
    return functions().join(static_cast<Rank>(ranks), id, static_cast<Rank>(rank), &comm);
  }
  /// Destroys the communicator, unless something on the device hangs: that call may not return.
  void leave(Comm& comm) const noexcept {
    (void)enter();
    if (!runtime().is_lost(options_.device)) (void)calls_.destroy(comm);
  }

  /// Counts the captured graphs with collectives. @throws Error limit_exceeded
  void begin_graphs(const char* platform, std::uint32_t graphs) const {
    const std::uint32_t open = open_graphs_[options_.device].fetch_add(graphs, std::memory_order_relaxed);
    if (open + graphs <= options_.most_graphs) return;
    end_graphs(graphs);
    throw Error(
        Errc::limit_exceeded,
        Error::Text{platform, ": more than ", options_.most_graphs, " graphs with collectives would be open on device ",
                    options_.device, ", and HCCL would hang; close a session, or keep fewer shapes or slots"});
  }
  void end_graphs(std::uint32_t graphs) const noexcept {
    open_graphs_[options_.device].fetch_sub(graphs, std::memory_order_relaxed);
  }

  [[nodiscard]] static const onboard::Calls& stream_calls() noexcept { return runtime().calls(); }
  [[nodiscard]] AclError enter() const noexcept { return runtime().enter(token_, options_.device); }
  [[nodiscard]] static AclError take(void** memory, std::uint64_t bytes) noexcept {
    return runtime().calls().malloc(memory, bytes, huge_first);
  }
  [[nodiscard]] static AclError give_back(void* memory) noexcept { return runtime().calls().free(memory); }
  static void must(const char* what, const char* call, AclError code) {
    onboard::check(runtime().calls(), what, call, code);
  }
  void lose() const noexcept { runtime().lose(options_.device); }

 private:
  struct Functions {
    Calls calls;
    Code (*join)(Rank ranks, const void* id, Rank rank, Comm*) = nullptr;
  };
  [[nodiscard]] static Runtime& runtime() noexcept { return Runtime::instance(); }
  /// Opens the library once. @throws Error unsupported
  [[nodiscard]] static const Functions& functions() {
    static const Functions functions = [] {
      constexpr const char* file = "libhccl.so";
      void* const library = streams::open_collectives(file, "the vendor's toolkit");
      const auto find = [&]<class Function>(const char* symbol, Function*& slot) {
        slot = reinterpret_cast<Function*>(streams::find_required(library, file, symbol));
      };
      Functions f;
      find(id_call, f.calls.make_id);
      find(join_call, f.join);
      find("HcclCommDestroy", f.calls.destroy);
      find("HcclAllReduce", f.calls.all_reduce);
      find("HcclAllGather", f.calls.all_gather);
      find("HcclReduceScatter", f.calls.reduce_scatter);
      find("HcclBroadcast", f.calls.broadcast);
      find("HcclSend", f.calls.send);
      find("HcclRecv", f.calls.recv);
      find("HcclGetErrorString", f.calls.error_string);
      return f;
    }();
    return functions;
  }

  /// The number of graphs with collectives that are open on each device, in this process.
  static inline std::atomic<std::uint32_t> open_graphs_[Runtime::max_devices]{};

  const Calls& calls_;
  Options options_;
  std::uint64_t token_;
};

}  // namespace platform::onboard

/// Ranks whose NPUs are joined by HCCL; see platform::streams::DeviceCommunicator.
using HcclCommunicator = platform::streams::DeviceCommunicator<platform::onboard::Hccl>;
static_assert(Communicator<HcclCommunicator>);

}  // namespace rondo
