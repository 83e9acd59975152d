// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>
#include <rondo/memory/arena.hpp>
#include <rondo/platform/onboard/core_kernel.hpp>
#include <rondo/platform/onboard/device_args.hpp>
#include <rondo/platform/onboard/options.hpp>
#include <rondo/platform/onboard/orchestrator.hpp>
#include <rondo/platform/orchestration_options.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
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
/// of the tensors, and launches it, after the cores' kernel if cores run the tasks. Cost of a round in addition to its
/// copies: one launch, another for the cores, one copy of the result, and one copy of the tensors' addresses if one of
/// them changed or there are host inputs.
template <class P, class Runtime, class Graph>
class Orchestration {
 public:
  static constexpr bool has_tensor_places = true;

  /// Uses the binary of the platform's options.
  /// @throws Error invalid_argument (no binary), unsupported (the runtime cannot launch on the AICPU), out_of_memory
  Orchestration(P& platform, const Graph& graph, const runtime::OrchestrationOptions& options)
      : Orchestration{platform, graph, options, platform.options().orchestrator} {
    static_assert(std::is_same_v<Graph, Orchestrated<runtime::OnDevice>>,
                  "rondo: on an NPU the orchestration is a program on the device's AICPU: build it with "
                  "platform/onboard/device_orchestration.hpp, name its binary in Options::orchestrator, and open the "
                  "session with rondo::on_device in place of the callable; or choose a simulated platform, or "
                  "runtime::HostBuildGraph");
  }
  /// Uses the caller's binary.
  Orchestration(P& platform, const Graph& graph, const runtime::OrchestrationOptions& options,
                const OrchestratorBinary& binary)
      : platform_{platform},
        view_{graph.view()},
        cores_{CoreKernel::load(platform, binary)},
        places_{place(view_, options, cores_.get())},
        image_(places_.heaps_at),
        host_inputs_(view_.tensors.size()),
        block_{platform, Bytes{places_.arena_bytes}, Bytes{P::Arch::arena_alignment}},
        program_{platform.load_orchestrator(graph, binary)} {
    places_.user = binary.user;
    write();
    if (cores_ != nullptr) probe();
  }
  Orchestration(const Orchestration&) = delete;
  Orchestration& operator=(const Orchestration&) = delete;
  ~Orchestration() { (void)unload(); }

  Status launch() noexcept {
    has_answered_ = false;
    if (is_dirty_ || has_host_inputs_) [[unlikely]] {
      if (const Status status = tell(); !status) return status;
    }
    return launch_round(OrchestratorCommand::round);
  }
  static Status settle() noexcept { return {}; }
  /// The round's outcome as the orchestrator reports it, or `waited` if the wait itself failed.
  Status outcome(Status waited) noexcept {
    has_answered_ = std::exchange(is_awaited_, false) && waited.ok();
    if (!has_answered_) {
      is_lost_ = is_lost_ || waited.poisoned();
      if (waited.poisoned()) call_cores_back();
      return waited;
    }
    if (result_.round == rounds_) [[likely]] {
      text_ = result_.status.ok() ? Error::Text{} : Error::Text(result_.text);
      if (!result_.status.ok()) [[unlikely]]
        call_cores_back();
      return result_.status;
    }
    call_cores_back();
    text_ = Error::Text("the orchestrator ended without an answer; build it with orchestrate_on_device()");
    return Status{Errc::device_failed}.poisoning();
  }
  static void move_arena(DevicePtr<std::byte>, DevicePtr<std::byte>) noexcept {}
  /// The size of the rings, with arguments and results.
  [[nodiscard]] Bytes ring_bytes() const noexcept { return block_.size(); }
  [[nodiscard]] const Error::Text* failure_text() const noexcept {
    return has_answered_ && !text_.empty() ? &text_ : nullptr;
  }

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
      const typename P::OnOwnStream own(platform_.device());
      first = launch(OrchestratorCommand::close);
      if (first.ok()) first = platform_.wait();
    }
    if (cores_ != nullptr) first = first_failure(first, release_cores());
    first = first_failure(first, platform_.unload(program_));
    return first_failure(first, block_.release());
  }

 private:
  static constexpr std::uint64_t args_stride = 256;  ///< from one command's args to the next one's

  [[nodiscard]] static std::uint64_t new_session() noexcept {
    static std::atomic<std::uint64_t> last_session{0};
    return last_session.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  static OrchestratorArgs place(const graph::GraphView& view, const runtime::OrchestrationOptions& options,
                                const CoreKernel* cores) {
    OrchestratorArgs args;
    args.npu_arch = P::Arch::npu_arch;
    args.session = new_session();
    args.rings = Runtime::rings;
    args.tensor_count = static_cast<std::uint32_t>(view.tensors.size());
    args.tag = view.tag;
    args.threads = options.threads == runtime::OrchestrationOptions::by_engine ? 0 : options.threads;
    args.window = options.window;
    args.tensors = options.tensors;
    args.regions = options.regions;
    args.edges = options.edges;
    args.late = options.late ? 1 : 0;
    args.tensors_at = 3 * args_stride;
    std::uint64_t end = align_up(args.tensors_at + sizeof(OrchestratorTensor) * view.tensors.size(), 64);
    for (const graph::TensorRecord& tensor : view.tensors) {
      if (is_carried_in_args(tensor.direction)) end += align_up(tensor.bytes, 64);
    }
    args.result_at = end;
    end += sizeof(OrchestratorResult);
    if (cores != nullptr) {
      args.mailboxes_at = end;
      args.cube_cores = cores->blocks();
      args.vector_cores = 2 * cores->blocks();
      args.core_limit_ms = cores->limits().scheduler_ms;
      args.probe_limit_ms = cores->limits().probe_ms;
      end += mailbox::place_of(args.cube_cores + args.vector_cores);
    }
    args.heaps_at = align_up(end + P::Arch::block_guard, 1024);
    args.heap_bytes = options.ring_bytes.value / 1024 * 1024;
    args.arena_bytes = args.heaps_at + args.rings * args.heap_bytes;
    return args;
  }

  /// Writes the whole block except the rings, and waits. @throws Error on errors of the platform
  void write() {
    const typename P::OnOwnStream own(platform_.device());
    places_.arena = block_.base().address();
    if (cores_ != nullptr) cores_->place(places_.arena + places_.mailboxes_at);
    for (const OrchestratorCommand command :
         {OrchestratorCommand::round, OrchestratorCommand::close, OrchestratorCommand::probe}) {
      OrchestratorArgs args = places_;
      args.command = command;
      std::memcpy(image_.data() + at(command), &args, sizeof(args));
    }
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
      throw Error(status.code(), Error::Text{P::name, ": the orchestrator's args could not be written: ", said});
    }
  }

  /// Finds out whether the AICPU and the cores see what the other writes. If not, tasks run on the AICPU.
  /// @throws Error on errors of the device
  [[gnu::cold]] void probe() {
    const typename P::OnOwnStream own(platform_.device());
    Status status = launch_round(OrchestratorCommand::probe);
    if (status.ok()) status = outcome(platform_.wait());
    if (status.ok()) return platform_.note_dispatch({true, true, places_.cube_cores, places_.vector_cores, {}});
    Error::Text why = has_answered_ ? text_ : platform_.failure_text();
    if (status.code() != Errc::unsupported) {
      (void)unload();
      throw Error(status.code(), Error::Text{P::name, ": trying out the cores: ", why});
    }
    const Error::Text reason{"tasks run on the AICPU: ", cores_->failed_side(result_.tasks), " (", why, ")"};
    status = release_cores();
    cores_.reset();
    if (!status) {
      (void)unload();
      throw Error(status.code(), Error::Text{P::name, ": unloading ", CoreKernel::name});
    }
    platform_.note_dispatch({true, false, 0, 0, reason});
    places_.mailboxes_at = 0;
    places_.session = new_session();  // so that the program discards the state that it made for the probe
    rounds_ = 0;
    write();
  }
  Status release_cores() noexcept {
    const AclError code = cores_->release(has_lost_a_core_);
    if (code != code_ok) platform_.device().note("unloading rondo_dispatch", code);
    return code == code_ok ? Status{} : Status{errc_of(code)};
  }
  [[gnu::cold]] void call_cores_back() noexcept {
    if (cores_ == nullptr) return;
    cores_->depart();
    has_lost_a_core_ =
        !has_answered_ || result_.status.code() == Errc::timed_out || result_.status.code() == Errc::device_failed;
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
  Status launch_round(OrchestratorCommand command) noexcept {
    if (const Status status = launch(command, cores_.get()); !status) return status;
    ++rounds_;
    is_awaited_ = true;
    return platform_.copy_out(&result_, block_.base().offset(Bytes{places_.result_at}), Bytes{sizeof(result_)});
  }
  Status launch(OrchestratorCommand command, CoreKernel* cores = nullptr) noexcept {
    return program_.launch(platform_.transfers_of_a_launch(), cores, rounds_ + 1,
                           block_.base().offset(Bytes{at(command)}), image_.data() + at(command),
                           Bytes{sizeof(OrchestratorArgs)});
  }
  [[nodiscard]] static std::uint64_t at(OrchestratorCommand command) noexcept {
    return args_stride * static_cast<std::uint64_t>(command);
  }
  [[nodiscard]] OrchestratorTensor* tensors() noexcept {
    return reinterpret_cast<OrchestratorTensor*>(image_.data() + places_.tensors_at);  // NOLINT: made of bytes
  }

  P& platform_;
  graph::GraphView view_;
  std::unique_ptr<CoreKernel> cores_;  ///< null: tasks run on the AICPU
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
  bool is_awaited_ = false;  ///< whether the result of a round has been requested and not yet read
  bool has_answered_ = false;
  bool is_lost_ = false;  ///< whether the device is lost, so that further calls would only wait
  bool has_lost_a_core_ = false;
  bool is_unloaded_ = false;
};

}  // namespace rondo::platform::onboard
