// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/detail/owned_array.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/arena.hpp>
#include <rondo/platform/onboard/options.hpp>
#include <rondo/runtime/device_args.hpp>
#include <rondo/runtime/stream_runner.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

/// Runtimes that build their graph during the round, on platforms that launch the orchestrator on their device.
namespace rondo::runtime::detail {

/// A platform that launches programs of its device's own.
template <class P>
concept LaunchesOrchestrators = P::launches_orchestrators;

[[nodiscard]] inline std::uint64_t next_orchestration() noexcept {
  static std::uint64_t last = 0;
  return __atomic_add_fetch(&last, std::uint64_t{1}, __ATOMIC_RELAXED);
}

/// A platform whose rounds end with what the orchestrator says of them.
template <LaunchesOrchestrators P>
class Beside<P> : public P {
 public:
  struct Options : P::Options {
    StreamOptions stream{};
  };

  explicit Beside(const Options& options) : P{options}, options_{options} {}

  Status wait() noexcept {
    const Status status = P::wait();
    const bool awaited = is_awaited_;
    is_awaited_ = false;
    has_answered_ = false;
    if (!status.ok() || !awaited) {
      is_lost_ = is_lost_ || status.poisoned();
      return status;
    }
    has_answered_ = true;
    if (result_.round == rounds_) [[likely]] {
      text_ = result_.status.ok() ? Error::Text{} : Error::Text(result_.text);
      return result_.status;
    }
    text_ = Error::Text("the orchestrator ended without an answer; is it built with orchestrate_on_device()?");
    return Status{Errc::device_failed}.poisoning();
  }
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return has_answered_ ? text_ : P::failure_text(); }

  [[nodiscard]] const Options& options() const noexcept { return options_; }
  /// The device is gone; asking it for more takes time and gives nothing.
  [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }
  [[nodiscard]] bool has_run() const noexcept { return rounds_ != 0; }
  /// A round was launched; its result will be at `from`.
  Status await_result(DevicePtr<std::byte> from) noexcept {
    ++rounds_;
    is_awaited_ = true;
    return P::copy_out(&result_, from, Bytes{sizeof(result_)});
  }

 private:
  const Options options_;
  OrchestratorResult result_;
  Error::Text text_;
  std::uint64_t rounds_ = 0;
  bool is_awaited_ = false;
  bool has_answered_ = false;
  bool is_lost_ = false;
};

/// One orchestrator on one device: lays out its block (see device_args.hpp), tells it where tensors are, launches it.
/// Cost of a round beside its copies: a launch, a copy of the result, and a copy of the tensors' places where one
/// changed or there are host inputs.
template <class Orchestrator, LaunchesOrchestrators P, class Graph>
class StreamRunner<Orchestrator, P, Graph> {
  static constexpr bool has_callable = requires(const Graph& graph, Orchestrator& o) { graph.orchestrate(o); };

 public:
  /// @throws Error invalid_argument (no binary), unsupported (the runtime launches nothing on the AICPU), out_of_memory
  StreamRunner(Beside<P>& platform, const Graph& graph, args::ArgsTable&)
      : platform_{platform},
        view_{graph.view()},
        places_{place(view_, platform.options().stream)},
        image_(places_.heaps_at),
        host_inputs_(view_.tensors.size()),
        block_{platform, Bytes{places_.arena_bytes}, Bytes{P::Arch::arena_alignment}},
        program_{platform.load_orchestrator(graph, source(platform, graph))} {
    places_.user = source(platform, graph).user;
    write();
  }
  StreamRunner(const StreamRunner&) = delete;
  StreamRunner& operator=(const StreamRunner&) = delete;
  ~StreamRunner() { (void)unload(); }

  Status launch() noexcept {
    if (is_dirty_ || has_host_inputs_) [[unlikely]] {
      if (const Status status = tell(); !status) return status;
    }
    const Status status = launch(OrchestratorCommand::round);
    return status.ok() ? platform_.await_result(block_.base().offset(Bytes{places_.result_at})) : status;
  }

  /// Where a tensor of the interface is from now on; a host input's bytes are on the host.
  void place_tensor(std::size_t t, std::uint64_t address) noexcept {
    OrchestratorTensor& tensor = tensors()[t];
    if (rides_in_args(view_.tensors[t].direction)) {
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
    if (platform_.has_run() && !platform_.is_lost()) {
      first = launch(OrchestratorCommand::close);
      if (first.ok()) first = platform_.wait();
    }
    if (const Status status = platform_.unload(program_); first.ok()) first = status;
    if (const Status status = block_.release(); first.ok()) first = status;
    return first;
  }

 private:
  static constexpr std::uint64_t close_at = 256;

  static OrchestratorArgs place(const graph::GraphView& view, const StreamOptions& options) {
    OrchestratorArgs args;
    args.npu_arch = P::Arch::npu_arch;
    args.session = next_orchestration();
    args.rings = Orchestrator::rings;
    args.tensor_count = static_cast<std::uint32_t>(view.tensors.size());
    args.tag = view.tag;
    args.threads = options.threads == StreamOptions::by_engine ? 0 : options.threads;
    args.window = options.window;
    args.tensors = options.tensors;
    args.regions = options.regions;
    args.edges = options.edges;
    args.deadlock_after_ms = options.deadlock_after_ms;
    args.late = options.late ? 1 : 0;
    args.tensors_at = 2 * close_at;
    std::uint64_t end = align_up(args.tensors_at + sizeof(OrchestratorTensor) * view.tensors.size(), 64);
    for (const graph::TensorRecord& tensor : view.tensors) {
      if (rides_in_args(tensor.direction)) end += align_up(tensor.bytes, 64);
    }
    args.result_at = end;
    args.heaps_at = align_up(end + sizeof(OrchestratorResult) + P::Arch::block_guard, 1024);
    args.heap_bytes = options.ring_bytes.value / 1024 * 1024;
    args.arena_bytes = args.heaps_at + args.rings * args.heap_bytes;
    return args;
  }

  static OrchestratorBinary source(Beside<P>& platform, const Graph& graph) {
    if constexpr (has_callable && requires { platform.template adopt<Orchestrator>(graph); }) {
      return platform.template adopt<Orchestrator>(graph);
    } else {
      static_assert(!has_callable,
                    "rondo: on an NPU the orchestration is a program on the device's AICPU: build it with "
                    "runtime/device_orchestration.hpp, name its binary in Options::orchestrator, and open the session "
                    "with rondo::on_device in place of the callable; or choose a simulated platform, or "
                    "runtime::HostBuildGraph");
      return platform.options().orchestrator;
    }
  }

  /// Writes all of the block but the rings, and waits. @throws Error what the platform reports
  void write() {
    places_.arena = block_.base().address();
    std::memcpy(image_.data(), &places_, sizeof(places_));
    OrchestratorArgs closing = places_;
    closing.command = OrchestratorCommand::close;
    std::memcpy(image_.data() + close_at, &closing, sizeof(closing));
    std::uint64_t behind = align_up(places_.tensors_at + sizeof(OrchestratorTensor) * view_.tensors.size(), 64);
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
      if (!rides_in_args(from.direction)) continue;
      to.address = places_.arena + behind;
      behind += align_up(from.bytes, 64);
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

  /// Sends what changed about the tensors.
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

  Beside<P>& platform_;
  graph::GraphView view_;
  OrchestratorArgs places_;
  rondo::detail::OwnedArray<std::byte> image_;  ///< of the block, up to the rings
  rondo::detail::OwnedArray<std::uint64_t> host_inputs_;
  memory::Arena<P> block_;
  decltype(std::declval<P&>().load_orchestrator(std::declval<const Graph&>(), {})) program_;
  bool is_dirty_ = false;
  bool has_host_inputs_ = false;
  bool is_unloaded_ = false;
};

}  // namespace rondo::runtime::detail
