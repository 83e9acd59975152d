// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>
#include <rondo/memory/arena.hpp>
#include <rondo/platform/onboard/device_args.hpp>
#include <rondo/platform/onboard/options.hpp>
#include <rondo/platform/onboard/orchestrator.hpp>
#include <rondo/platform/stream_options.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo {
template <class F>
class Orchestrated;
}

namespace rondo::platform::onboard {

using runtime::OrchestratorArgs;
using runtime::OrchestratorCommand;
using runtime::OrchestratorResult;
using runtime::OrchestratorTensor;

/// One orchestrator on one device. It lays out the orchestrator's block (see device_args.hpp), sends it the addresses
/// of the tensors, and launches it. Cost of a round in addition to its copies: one launch, one copy of the result, and
/// one copy of the tensors' addresses if one of them changed or there are host inputs.
template <class P, class Runtime, class Graph>
class Orchestration {
 public:
  static constexpr bool has_tensor_places = true;
  static constexpr bool has_settle = false;
  static constexpr bool has_background = false;
  static constexpr bool follows_the_arena = false;

  /// Uses the binary of the platform's options.
  /// @throws Error invalid_argument (no binary), unsupported (the runtime cannot launch on the AICPU), out_of_memory
  Orchestration(P& platform, const Graph& graph, const runtime::StreamOptions& options)
      : Orchestration{platform, graph, options, platform.options().orchestrator} {
    static_assert(std::is_same_v<Graph, Orchestrated<runtime::OnDevice>>,
                  "rondo: on an NPU the orchestration is a program on the device's AICPU: build it with "
                  "platform/onboard/device_orchestration.hpp, name its binary in Options::orchestrator, and open the "
                  "session with rondo::on_device in place of the callable; or choose a simulated platform, or "
                  "runtime::HostBuildGraph");
  }
  /// Uses the caller's binary.
  Orchestration(P& platform, const Graph& graph, const runtime::StreamOptions& options,
                const OrchestratorBinary& binary)
      : platform_{platform},
        view_{graph.view()},
        places_{place(view_, options)},
        image_(places_.heaps_at),
        host_inputs_(view_.tensors.size()),
        block_{platform, Bytes{places_.arena_bytes}, Bytes{P::Arch::arena_alignment}},
        program_{platform.load_orchestrator(graph, binary)} {
    places_.user = binary.user;
    write();
  }
  Orchestration(const Orchestration&) = delete;
  Orchestration& operator=(const Orchestration&) = delete;
  ~Orchestration() { (void)unload(); }

  Status launch() noexcept {
    if (is_dirty_ || has_host_inputs_) [[unlikely]] {
      if (const Status status = tell(); !status) return status;
    }
    if (const Status status = launch(OrchestratorCommand::round); !status) return status;
    ++rounds_;
    is_awaited_ = true;
    return platform_.copy_out(&result_, block_.base().offset(Bytes{places_.result_at}), Bytes{sizeof(result_)});
  }
  static Status settle() noexcept { return {}; }
  /// The round's outcome as the orchestrator reports it, or `waited` if the wait itself failed.
  Status outcome(Status waited) noexcept {
    has_answered_ = std::exchange(is_awaited_, false) && waited.ok();
    if (!has_answered_) {
      is_lost_ = is_lost_ || waited.poisoned();
      return waited;
    }
    if (result_.round == rounds_) [[likely]] {
      text_ = result_.status.ok() ? Error::Text{} : Error::Text(result_.text);
      return result_.status;
    }
    text_ = Error::Text("the orchestrator ended without an answer; is it built with orchestrate_on_device()?");
    return Status{Errc::device_failed}.poisoning();
  }
  static void run_in_background() noexcept {}
  static void move_arena(DevicePtr<std::byte>, DevicePtr<std::byte>) noexcept {}
  [[nodiscard]] const Error::Text* failure_text() const noexcept { return has_answered_ ? &text_ : nullptr; }

  /// Sets the address of a tensor of the interface from the next launch on; for a host input, an address on the host.
  void place_tensor(std::size_t t, std::uint64_t address) noexcept {
    OrchestratorTensor& tensor = tensors()[t];
    if (is_carried_in_args(view_.tensors[t].direction)) {
      host_inputs_[t] = address;
    } else if (tensor.address != address) {
      tensor.address = address;
      is_dirty_ = true;
    }
  }

  Status unload() noexcept {
    if (is_unloaded_) return {};
    is_unloaded_ = true;
    Status first;
    if (rounds_ != 0 && !is_lost_) {
      first = launch(OrchestratorCommand::close);
      if (first.ok()) first = platform_.wait();
    }
    if (const Status status = platform_.unload(program_); first.ok()) first = status;
    if (const Status status = block_.release(); first.ok()) first = status;
    return first;
  }

 private:
  static constexpr std::uint64_t close_at = 256;

  static OrchestratorArgs place(const graph::GraphView& view, const runtime::StreamOptions& options) {
    OrchestratorArgs args;
    args.npu_arch = P::Arch::npu_arch;
    static std::atomic<std::uint64_t> last_session{0};
    args.session = last_session.fetch_add(1, std::memory_order_relaxed) + 1;
    args.rings = Runtime::rings;
    args.tensor_count = static_cast<std::uint32_t>(view.tensors.size());
    args.tag = view.tag;
    args.threads = options.threads == runtime::StreamOptions::by_engine ? 0 : options.threads;
    args.window = options.window;
    args.tensors = options.tensors;
    args.regions = options.regions;
    args.edges = options.edges;
    args.deadlock_after_ms = options.deadlock_after_ms;
    args.late = options.late ? 1 : 0;
    args.tensors_at = 2 * close_at;
    std::uint64_t end = align_up(args.tensors_at + sizeof(OrchestratorTensor) * view.tensors.size(), 64);
    for (const graph::TensorRecord& tensor : view.tensors) {
      if (is_carried_in_args(tensor.direction)) end += align_up(tensor.bytes, 64);
    }
    args.result_at = end;
    args.heaps_at = align_up(end + sizeof(OrchestratorResult) + P::Arch::block_guard, 1024);
    args.heap_bytes = options.ring_bytes.value / 1024 * 1024;
    args.arena_bytes = args.heaps_at + args.rings * args.heap_bytes;
    return args;
  }

  /// Writes the whole block except the rings, and waits. @throws Error what the platform reports
  void write() {
    places_.arena = block_.base().address();
    std::memcpy(image_.data(), &places_, sizeof(places_));
    OrchestratorArgs closing = places_;
    closing.command = OrchestratorCommand::close;
    std::memcpy(image_.data() + close_at, &closing, sizeof(closing));
    std::uint64_t next = align_up(places_.tensors_at + sizeof(OrchestratorTensor) * view_.tensors.size(), 64);
    for (std::size_t t = 0; t < view_.tensors.size(); ++t) {
      const graph::TensorRecord& from = view_.tensors[t];
      OrchestratorTensor& to = tensors()[t];
      to.count = from.count;
      to.bytes = from.bytes;
      to.rank = static_cast<std::uint8_t>(from.shape.rank());
      to.direction = from.direction;
      to.type = from.type;
      for (std::size_t d = 0; d < from.shape.rank(); ++d) {
        to.extents[d] = static_cast<std::uint64_t>(from.shape.extent(d));
      }
      if (!is_carried_in_args(from.direction)) continue;
      to.address = places_.arena + next;
      next += align_up(from.bytes, 64);
      has_host_inputs_ = true;
    }
    Status status = platform_.copy_in_snapshot(block_.base(), image_.data(), Bytes{image_.size()});
    if (status.ok()) status = platform_.wait();
    if (!status) {
      const Error::Text said = platform_.failure_text();
      (void)unload();
      throw Error(status.code(), Error::Text(P::name, ": the orchestrator's args could not be written: ", said));
    }
  }

  /// Sends the tensors' addresses and the bytes of host inputs.
  [[gnu::noinline]] Status tell() noexcept {
    is_dirty_ = false;
    for (std::size_t t = 0; has_host_inputs_ && t < host_inputs_.size(); ++t) {
      if (host_inputs_[t] == 0) continue;
      std::memcpy(image_.data() + (tensors()[t].address - places_.arena),
                  reinterpret_cast<const void*>(host_inputs_[t]), view_.tensors[t].bytes);  // NOLINT: host memory
    }
    const Status status =
        platform_.copy_in_snapshot(block_.base().offset(Bytes{places_.tensors_at}), image_.data() + places_.tensors_at,
                                   Bytes{places_.result_at - places_.tensors_at});
    is_dirty_ = !status.ok();
    return status;
  }
  Status launch(OrchestratorCommand command) noexcept {
    const std::uint64_t at = command == OrchestratorCommand::round ? 0 : close_at;
    return platform_.launch_orchestrator(program_, block_.base().offset(Bytes{at}), image_.data() + at,
                                         Bytes{sizeof(OrchestratorArgs)});
  }
  [[nodiscard]] OrchestratorTensor* tensors() noexcept {
    return reinterpret_cast<OrchestratorTensor*>(image_.data() + places_.tensors_at);  // NOLINT: made of bytes
  }

  P& platform_;
  graph::GraphView view_;
  OrchestratorArgs places_;
  std::vector<std::byte> image_;  ///< the host's copy of the block, up to the rings
  std::vector<std::uint64_t> host_inputs_;
  memory::Arena<P> block_;
  Orchestrator program_;
  OrchestratorResult result_;
  Error::Text text_;
  std::uint64_t rounds_ = 0;
  bool is_dirty_ = false;
  bool has_host_inputs_ = false;
  bool is_awaited_ = false;  ///< the result of a round is on its way
  bool has_answered_ = false;
  bool is_lost_ = false;  ///< the device is gone: further calls would only wait
  bool is_unloaded_ = false;
};

}  // namespace rondo::platform::onboard
