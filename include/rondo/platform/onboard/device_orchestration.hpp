// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/onboard/core_dispatch.hpp>
#include <rondo/platform/onboard/device_args.hpp>
#include <rondo/platform/orchestration_options.hpp>
#include <rondo/platform/sim/dynamic/aicpu_build_graph.hpp>
#include <rondo/platform/sim/dynamic/tensormap_and_ringbuffer.hpp>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

/// The device's half of an orchestrator: the parts of a program for the AICPU. It builds and runs each round's graph
/// with the same templates as the simulated platforms, in the rings that the host laid out.
///
///     extern "C" std::uint32_t rondo_orchestrate(void* args) {
///       return rondo::runtime::orchestrate_on_device<rondo::runtime::TensorMapRingBuffer>(
///           args, [](auto& round, const auto& io) {
///             const auto x = io.template get<float, rondo::Direction::in>(0);     // the interface's first tensor
///             const auto y = io.template get<float, rondo::Direction::inout>(1);
///             round.template add<Scale>(x, y, 2.0F);
///           });
///     }
///
/// See examples/06_onboard_saxpy/device/orchestrator.cpp.
namespace rondo::runtime {

/// The session's interface, as a launch describes it to the device.
class DeviceInterface {
 public:
  explicit DeviceInterface(const OrchestratorArgs& args) noexcept : args_{args} {}

  /// The n-th tensor of the interface. @throws Error invalid_argument if there is none of this type and direction
  template <Element T, Direction D>
  [[nodiscard]] TensorHandle<T, D> get(std::uint32_t n) const {
    if (n >= args_.tensor_count || tensor(n).type != data_type_of<T> || tensor(n).direction != D) {
      throw Error(Errc::invalid_argument, Error::Text{"the interface's tensor ", n, " is no ", to_string(D), " of ",
                                                      to_string(data_type_of<T>)});
    }
    return {TensorKey{TensorId{n}, args_.tag}};
  }
  [[nodiscard]] const OrchestratorTensor& tensor(std::uint32_t n) const noexcept {
    return reinterpret_cast<const OrchestratorTensor*>(args_.arena + args_.tensors_at)[n];  // NOLINT: device memory
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return args_.tensor_count; }
  [[nodiscard]] std::uint64_t user() const noexcept { return args_.user; }

 private:
  const OrchestratorArgs& args_;
};

namespace detail {

/// The state of a session that the program keeps between launches.
struct DeviceState {
  virtual ~DeviceState() = default;
  std::uint64_t session = 0;
  std::uint64_t rounds = 0;
};

/// The states, by arena. If a session did not announce its end, its state is replaced when another session uses the
/// same arena.
class DeviceStates {
 public:
  static DeviceStates& instance() {
    static DeviceStates states;
    return states;
  }
  /// The state of this session; made by `make()` if there is none yet.
  template <class Make>
  [[nodiscard]] DeviceState& find(const OrchestratorArgs& args, Make make) {
    const std::lock_guard lock{mutex_};
    std::unique_ptr<DeviceState>& state = states_[args.arena];
    if (state == nullptr || state->session != args.session) {
      state.reset();
      state = make();
      state->session = args.session;
    }
    return *state;
  }
  void forget(const OrchestratorArgs& args) noexcept {
    const std::lock_guard lock{mutex_};
    states_.erase(args.arena);
  }
  [[nodiscard]] std::size_t size() noexcept {
    const std::lock_guard lock{mutex_};
    return states_.size();
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<DeviceState>> states_;
};

template <class Orchestrator, class Memory>
struct OrchestratorState final : DeviceState {
  OrchestratorState(const OrchestratorArgs& args, const std::vector<graph::TensorRecord>& tensors)
      : orchestrator{options_of(args), threads_of(args), limits_of(args), view_of(args, tensors)} {
    orchestrator.place_heaps(args.arena + args.heaps_at);
    if (args.mailboxes_at == 0) return;
    cores.emplace(platform::onboard::CorePlaces{args.arena + args.mailboxes_at, args.cube_cores, args.vector_cores},
                  orchestrator.stream());
    orchestrator.use_cores(cores->cores());
  }

  static std::unique_ptr<DeviceState> make(const OrchestratorArgs& args) {
    const DeviceInterface io{args};
    std::vector<graph::TensorRecord> tensors(args.tensor_count);
    for (std::uint32_t t = 0; t < args.tensor_count; ++t) {
      const OrchestratorTensor& from = io.tensor(t);
      graph::TensorRecord& to = tensors[t];
      to.type = from.type;
      to.direction = from.direction;
      to.count = from.count;
      to.bytes = from.bytes;
      std::int64_t extents[max_rank] = {};
      for (std::size_t d = 0; d < from.rank; ++d) extents[d] = static_cast<std::int64_t>(from.extents[d]);
      to.shape = Shape(extents, from.rank);
    }
    return std::make_unique<OrchestratorState>(args, tensors);
  }

  Orchestrator orchestrator;
  std::optional<platform::onboard::CoreDispatch<Memory>> cores;

 private:
  /// Where cores run the tasks, the program needs no threads.
  static std::uint32_t threads_of(const OrchestratorArgs& args) noexcept {
    return args.mailboxes_at == 0 ? args.threads : 0;
  }
  static OrchestrationOptions options_of(const OrchestratorArgs& args) noexcept {
    OrchestrationOptions options;
    options.window = args.window;
    options.ring_bytes = Bytes{args.heap_bytes};
    options.tensors = args.tensors;
    options.regions = args.regions;
    options.edges = args.edges;
    options.late = args.late != 0;
    return options;
  }
  static arch::Limits limits_of(const OrchestratorArgs& args) noexcept {
    return args.npu_arch == arch::A5::npu_arch ? arch::limits_of<arch::A5> : arch::limits_of<arch::A2A3>;
  }
  static graph::GraphView view_of(const OrchestratorArgs& args, const std::vector<graph::TensorRecord>& tensors) {
    graph::GraphView view;
    view.tensors = tensors;
    view.tag = args.tag;
    return view;
  }
};

/// The AICPU of a2a3 has to discard its copies of what the host wrote, and to write its own results back.
[[nodiscard]] inline bool sees_host(const OrchestratorArgs& args) noexcept {
  return args.npu_arch == arch::A5::npu_arch;
}
/// Calls `visit(address, bytes)` for the tensors of the interface that are inputs, or for those that tasks may write.
template <class Visit>
void for_each_tensor(const OrchestratorArgs& args, bool is_written, const Visit& visit) {
  const DeviceInterface io{args};
  for (std::uint32_t t = 0; t < io.size(); ++t) {
    const Direction direction = io.tensor(t).direction;
    const bool is_wanted = is_written ? kernels_may_write(direction) : direction != Direction::out;
    if (is_wanted) visit(io.tensor(t).address, io.tensor(t).bytes);
  }
}

template <class Memory>
void answer(const OrchestratorArgs& args, std::uint64_t round, std::uint64_t tasks, Status status,
            const Error::Text& text) noexcept {
  auto& result = *reinterpret_cast<OrchestratorResult*>(args.arena + args.result_at);  // NOLINT: device memory
  result.tasks = tasks;
  result.status = status;
  const std::size_t size = text.size() < sizeof(result.text) ? text.size() : sizeof(result.text) - 1;
  std::memcpy(result.text, text.data(), size);
  result.text[size] = '\0';
  result.round = round;
  if (!sees_host(args)) Memory::write_back(args.arena + args.result_at, sizeof(result));
}

}  // namespace detail

/// One launch of an orchestrator: does what `args` (an OrchestratorArgs) says, and writes the result even after a
/// failure. `orchestration(round, io)` adds the round's tasks, with round an orchestrator of `Runtime` and io a
/// DeviceInterface. A task runs on a cube or vector core if the session was opened so. Otherwise it is a call of its
/// kernel's function in this program, where it is added, or on a thread of the program's own
/// (OrchestrationOptions::threads). `Memory` is the memory that the program shares with the cores. Thread safety: one
/// launch of a session at a time.
/// @returns always 0; the result holds failures
template <class Runtime, class Memory = platform::onboard::AicpuMemory, class Orchestration>
std::uint32_t orchestrate_on_device(const void* args_block, Orchestration&& orchestration) noexcept {
  using Orchestrator = typename platform::sim::dynamic::OrchestratorFor<Runtime>::type;
  const auto& args = *static_cast<const OrchestratorArgs*>(args_block);
  Memory::discard(reinterpret_cast<std::uintptr_t>(args_block), sizeof(args));
  if (args.magic != OrchestratorArgs::expected_magic) return 0;  // the place of the result is unknown, too
  auto& states = detail::DeviceStates::instance();
  if (args.command == OrchestratorCommand::close) {
    states.forget(args);
    return 0;
  }
  const auto refuse = [&](const Error::Text& text) {
    const auto* const last = reinterpret_cast<const OrchestratorResult*>(args.arena + args.result_at);  // NOLINT
    detail::answer<Memory>(args, last->round + 1, 0, Status{Errc::orchestration_failed}.poisoning(), text);
  };
  if (args.version != OrchestratorArgs::expected_version || args.rings != Orchestrator::rings) {
    refuse(Error::Text{"the orchestrator's program is of version ", OrchestratorArgs::expected_version, " with ",
                       Orchestrator::rings, " rings, the host of version ", args.version, " with ", args.rings,
                       "; build both from the same Rondo, for the same runtime"});
    return 0;
  }
  if (!detail::sees_host(args)) Memory::discard(args.arena + args.tensors_at, args.result_at - args.tensors_at);
  try {
    using State = detail::OrchestratorState<Orchestrator, Memory>;
    auto& state = static_cast<State&>(states.find(args, [&] { return State::make(args); }));
    const DeviceInterface io{args};
    if (state.cores)
      state.cores->begin_round(state.rounds + 1,
                               args.command == OrchestratorCommand::probe ? args.probe_limit_ms : args.core_limit_ms);
    if (args.command == OrchestratorCommand::probe && state.cores) {
      Error::Text why;
      const bool is_fine = state.cores->exchange(OrchestratorArgs::probes, why);
      is_fine ? (void)state.cores->end_round() : state.cores->dismiss();
      detail::answer<Memory>(args, ++state.rounds, state.cores->present(),
                             is_fine ? Status{} : Status{Errc::unsupported}, why);
      return 0;
    }
    for (std::uint32_t t = 0; t < args.tensor_count; ++t) {
      if (io.tensor(t).address == 0) {  // after a failed copy, the device continues with the work that follows the copy
        refuse(Error::Text{"the address of the interface's tensor ", t, " has not reached the device"});
        return 0;
      }
      state.orchestrator.place_interface(t, io.tensor(t).address);
    }
    if (!detail::sees_host(args) && state.cores) state.orchestrator.announce_reads(&Memory::discard);
    if (!detail::sees_host(args) && !state.cores) detail::for_each_tensor(args, false, &Memory::discard);
    Status status = platform::sim::dynamic::orchestrate_round(state.orchestrator,
                                                              [&](Orchestrator& round) { orchestration(round, io); });
    if (state.cores) status = first_failure(status, state.cores->end_round());
    const bool is_on_cores = state.cores.has_value();
    if (!detail::sees_host(args) && !is_on_cores) detail::for_each_tensor(args, true, &Memory::write_back);
    detail::answer<Memory>(args, ++state.rounds, state.orchestrator.tasks(), status,
                           status.ok() ? Error::Text{} : state.orchestrator.stream().failure_text());
  } catch (const Error& e) {
    refuse(Error::Text(e.what()));
  } catch (const std::bad_alloc&) {
    refuse(
        Error::Text("the orchestrator's rings do not fit into the device's own memory; ask for "
                    "less in Options::orchestration"));
  }
  return 0;
}

}  // namespace rondo::runtime
