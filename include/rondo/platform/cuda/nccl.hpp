// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/collective.hpp>
#include <rondo/platform/cuda/calls.hpp>
#include <rondo/platform/cuda/runtime.hpp>
#include <rondo/platform/streams/device_communicator.hpp>
#include <rondo/tensor/data_type.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

/// Collectives as tasks of a graph, over NCCL, NVIDIA's library for GPUs.
namespace rondo {

/// The options of an NcclCommunicator.
struct NcclOptions {
  /// The number of the device, the same as in the sessions' options. NCCL wants a device of its own for each rank.
  std::uint32_t device = 0;
  /// The longest wait for the device in the first run of a collective, in milliseconds. NCCL has no time limit for
  /// ranks that are missing when the communicator is made, or when a collective connects.
  std::int32_t timeout_ms = 50'000;
};

namespace platform::cuda {

/// An ncclUniqueId, which is passed by value.
struct NcclId {
  char bytes[128];
};

/// NCCL, on one GPU. The functions and numbers follow its public documentation. The oldest version that captures
/// collectives is 2.9, and the oldest that computes means 2.10.
class Nccl {
 public:
  using Options = NcclOptions;
  using Rank = int;
  using Calls = streams::CollectiveCalls<Rank>;
  using Comm = Calls::Comm;
  using Api = cuda::Api;
  static constexpr std::string_view name = "NCCL";
  static constexpr std::string_view devices = "GPUs";
  static constexpr std::string_view elsewhere = "use HcclCommunicator on NPUs, and mpi::Communicator elsewhere";
  static constexpr std::string_view no_capture = "Options::graph = false";
  static constexpr const char* id_call = "ncclGetUniqueId";
  static constexpr const char* join_call = "ncclCommInitRank";
  static constexpr std::size_t id_bytes = sizeof(NcclId);

  /// Whether sessions of a platform run on GPUs.
  [[nodiscard]] static constexpr bool is_on(std::string_view platform) noexcept { return platform == "cuda"; }
  /// NCCL's number of an element type, or -1 if it has none.
  [[nodiscard]] static constexpr std::int32_t number_of(DataType type) noexcept {
    switch (type) {
      case DataType::int8: return 0;
      case DataType::uint8: return 1;
      case DataType::int32: return 2;
      case DataType::uint32: return 3;
      case DataType::int64: return 4;
      case DataType::uint64: return 5;
      case DataType::float16: return 6;
      case DataType::float32: return 7;
      case DataType::float64: return 8;
      case DataType::bfloat16: return 9;
      default: return -1;
    }
  }
  /// NCCL's number of a reduction.
  [[nodiscard]] static constexpr std::int32_t number_of(Reduction reduction) noexcept {
    switch (reduction) {
      case Reduction::sum: return 0;
      case Reduction::product: return 1;
      case Reduction::max: return 2;
      case Reduction::min: return 3;
      default: return 4;  // the mean
    }
  }
  /// NCCL has no code for ranks that do not come.
  [[nodiscard]] static constexpr bool is_timeout(streams::Code) noexcept { return false; }

  /// Opens the device. @throws Error no_such_device, unsupported (no NCCL), and errors of the driver
  explicit Nccl(const Options& options)
      : functions_{functions()},
        options_{options},
        context_{runtime().open(options.device, "nccl", id_)},
        stream_calls_{runtime().calls(), spins} {
    // NCCL works on the device of the thread's current context.
    if (const Result code = enter(); code != success) {
      (void)runtime().close(id_);
      check(runtime().calls(), "nccl", Api::enter, code);
    }
  }
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;
  ~Nccl() {
    if (!runtime().is_lost(options_.device)) (void)runtime().close(id_);
  }

  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] const Calls& calls() const noexcept { return functions_.calls; }
  [[nodiscard]] streams::Code join(int ranks, const void* id, int rank, Comm& comm) const noexcept {
    NcclId copy;
    std::memcpy(copy.bytes, id, sizeof(copy.bytes));
    return functions_.join(&comm, ranks, copy, rank);
  }
  /// Destroys the communicator. After a failure, or if something on the device hangs, NCCL wants it to be aborted,
  /// which ends the collectives that still run.
  void leave(Comm& comm) const noexcept {
    (void)enter();
    streams::Code failure = 0;
    const bool may_hang = runtime().is_lost(options_.device) || runtime().is_stuck(options_.device);
    const bool is_sound = !may_hang && functions_.async_error(comm, &failure) == 0 && failure == 0;
    (void)(is_sound ? functions_.calls.destroy(comm) : functions_.abort(comm));
    runtime().set_stuck(options_.device, false);
  }

  static void begin_graphs(const char*, std::uint32_t) noexcept {}  ///< Does nothing: NCCL has no limit.
  static void end_graphs(std::uint32_t) noexcept {}

  [[nodiscard]] const StreamCalls& stream_calls() const noexcept { return stream_calls_; }
  [[nodiscard]] Result enter() const noexcept { return runtime().calls().context_set(context_); }
  [[nodiscard]] static Result take(void** memory, std::uint64_t bytes) noexcept {
    Pointer address = 0;
    const Result code = runtime().calls().malloc(&address, bytes);
    *memory = reinterpret_cast<void*>(address);  // NOLINT: an address for the driver
    return code;
  }
  [[nodiscard]] static Result give_back(void* memory) noexcept {
    return released(runtime().calls().free(reinterpret_cast<std::uintptr_t>(memory)));
  }
  static void must(const char* what, const char* call, Result code) { check(runtime().calls(), what, call, code); }
  /// Notes that a collective hangs on the device, until leave() ends it.
  void lose() const noexcept { runtime().set_stuck(options_.device, true); }

 private:
  static constexpr std::uint32_t spins = 1'000;  ///< queries before the first sleep

  struct Functions {
    Calls calls;
    streams::Code (*join)(Comm*, int ranks, NcclId, int rank) = nullptr;
    streams::Code (*abort)(Comm) = nullptr;
    streams::Code (*async_error)(Comm, streams::Code*) = nullptr;
  };
  [[nodiscard]] static Runtime& runtime() noexcept { return Runtime::instance(); }
  /// Opens the library once. @throws Error unsupported
  [[nodiscard]] static const Functions& functions() {
    static const Functions functions = [] {
      constexpr const char* file = "libnccl.so.2";
      void* const library = streams::open_collectives(file, "NCCL");
      const auto find = [&]<class Function>(const char* symbol, Function*& slot) {
        slot = reinterpret_cast<Function*>(streams::find_required(library, file, symbol));
      };
      Functions f;
      find(id_call, f.calls.make_id);
      find(join_call, f.join);
      find("ncclCommDestroy", f.calls.destroy);
      find("ncclCommAbort", f.abort);
      find("ncclCommGetAsyncError", f.async_error);
      find("ncclAllReduce", f.calls.all_reduce);
      find("ncclAllGather", f.calls.all_gather);
      find("ncclReduceScatter", f.calls.reduce_scatter);
      find("ncclBcast", f.calls.broadcast);
      find("ncclSend", f.calls.send);
      find("ncclRecv", f.calls.recv);
      find("ncclGetErrorString", f.calls.error_string);
      return f;
    }();
    return functions;
  }

  const Functions& functions_;
  Options options_;
  DeviceId id_ = 0;
  Context context_;
  StreamCalls stream_calls_;
};

}  // namespace platform::cuda

/// Ranks whose GPUs are joined by NCCL; see platform::streams::DeviceCommunicator.
using NcclCommunicator = platform::streams::DeviceCommunicator<platform::cuda::Nccl>;
static_assert(Communicator<NcclCommunicator>);

}  // namespace rondo
