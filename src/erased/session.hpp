// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph.hpp"

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/device_array.hpp>
#include <rondo/session/loop_report.hpp>
#include <rondo/session/round_ticket.hpp>
#include <rondo/types.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::erased {

/// How a session is opened. A platform ignores the options that it does not have.
struct Options {
  std::uint32_t device = 0;         ///< the number of the device
  std::uint32_t threads = 0;        ///< the threads of the engine, if it has any; 0: one for each core
  std::uint32_t in_flight = 1;      ///< rounds in flight at most, 1 to 4; more than 1 take the memory of 4
  std::uint64_t device_memory = 0;  ///< bytes that the session takes at most; 0: as many as there are
  std::int32_t timeout_ms = 0;      ///< the time limit of a round on a device; 0: the platform's default, -1: none
  std::vector<std::string> kernel_files{};  ///< binaries with the kernels, for devices
  bool trace = false;                       ///< count and trace rounds, and tasks on simulated chips and the host
};

/// The counts of a session that is watched; see observe/counters.hpp. Times in nanoseconds.
struct Counters {
  std::uint64_t rounds = 0;
  std::uint64_t failed_rounds = 0;
  std::uint64_t copies_in = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t copies_out = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t refreshes = 0;  ///< the refreshes of the args table that wrote anything
  std::uint64_t refresh_bytes = 0;
  std::uint64_t parks = 0;         ///< how often a thread of the engine went to sleep
  std::uint64_t phase_ns[7] = {};  ///< the host's time in each Phase
};

/// A finding of the checking engine in the last round; see platform/sim/findings.hpp.
struct Finding {
  std::string kind;
  std::string text;
  std::uint32_t task = 0;    ///< 2^32-1: unknown
  std::uint32_t tensor = 0;  ///< 2^32-1: none
};

/// The prediction of the model of a chip for the last round, in nanoseconds; see platform/sim/prediction.hpp.
struct Prediction {
  double copy_in_ns = 0;
  double launch_ns = 0;
  double run_ns = 0;
  double complete_ns = 0;
  double copy_out_ns = 0;
  double critical_path_ns = 0;
  std::string bound_by{};
  std::string report{};
};

/// Failures of calls, not of rounds. No graph has their task, so explain() can distinguish them from all others.
inline constexpr Status has_no_steps = Status::of_task(Errc::unsupported, ~std::uint32_t{0});
inline constexpr Status has_no_round = Status::of_task(Errc::not_open, ~std::uint32_t{0});
inline constexpr Status is_launched = Status::of_task(Errc::busy, ~std::uint32_t{0});

/// DynamicBindings of a session on any platform, and the round over them that is taken step by step.
class AnyBindings {
 public:
  virtual ~AnyBindings() = default;
  /// The DynamicBindings, to bind memory and to state symbols.
  [[nodiscard]] virtual BindingList& list() noexcept = 0;
  virtual Status run_round() noexcept = 0;
  /// Starts the round; see InFlight::submit_round and try_submit_round. A session with at most one round in flight runs
  /// it.
  virtual RoundTicket submit(bool waits) noexcept = 0;
  /// Copies the inputs. After a failure no round is under way. Errors: unsupported for a symbolic graph.
  virtual Status begin_round() noexcept = 0;
  /// Errors: busy if the round was launched before. finish() reports all other failures, too.
  virtual Status launch() noexcept = 0;
  /// Ends the round that is under way, launched or not.
  virtual Status finish() noexcept = 0;
};

/// A session of any kind on any platform; see RoundSession, PipelinedSession and ShapedSession. A call that a kind of
/// session does not have returns Errc::unsupported, and explain() says so.
class AnySession {
 public:
  virtual ~AnySession() = default;
  [[nodiscard]] virtual std::unique_ptr<AnyBindings> make_bindings() = 0;
  /// The graph's tensors; sizes of a symbolic graph are unknown.
  [[nodiscard]] virtual graph::GraphView interface() const noexcept = 0;
  [[nodiscard]] virtual Error::Text explain(Status status) const noexcept = 0;
  /// Copies host memory into a resident tensor; download() copies the other way.
  virtual Status upload(TensorKey tensor, const void* host, Bytes size) noexcept = 0;
  virtual Status download(TensorKey tensor, void* host, Bytes size) noexcept = 0;
  /// Allocates device memory for a tensor that rounds bind; `shape`: that of a tensor whose size depends on symbols, or
  /// null. @throws Error as the session's allocate()
  [[nodiscard]] virtual DeviceArray<std::uint8_t> allocate(TensorKey tensor, const Shape* shape) = 0;
  virtual Status upload(DeviceArray<std::uint8_t>& array, const void* host, Bytes size) noexcept = 0;
  virtual Status download(const DeviceArray<std::uint8_t>& array, void* host, Bytes size) noexcept = 0;
  virtual Status set_scalar(TaskId task, std::size_t n, ArgWord word) noexcept = 0;
  virtual Status set_held(TensorKey tensor, bool is_held) noexcept = 0;
  virtual Status wait(RoundTicket ticket) noexcept = 0;
  virtual Status wait_all() noexcept = 0;
  /// Delivers the rounds that are done. @returns the number of rounds that are still in flight
  virtual std::size_t poll() noexcept = 0;
  /// Whether a submitted round was delivered; delivers nothing.
  [[nodiscard]] virtual bool is_delivered(std::uint64_t ticket) const noexcept = 0;
  /// Ends the current round, or else a later one. Returns false if the platform cannot.
  virtual bool request_stop() noexcept = 0;
  [[nodiscard]] virtual std::uint64_t rounds() const noexcept = 0;
  [[nodiscard]] virtual std::size_t in_flight() const noexcept = 0;
  /// The number of shapes that are known at present; 1 for a graph without symbols.
  [[nodiscard]] virtual std::size_t shapes() const noexcept = 0;
  [[nodiscard]] virtual bool poisoned() const noexcept = 0;
  [[nodiscard]] virtual Bytes arena_bytes() const noexcept = 0;
  /// How long the tasks of the last round ran on the device, in nanoseconds; negative where the platform cannot tell.
  [[nodiscard]] virtual double last_round_ns() const noexcept = 0;
  /// The loops of the graph, as the session's explain_loops() returns them. @throws std::bad_alloc
  [[nodiscard]] virtual std::vector<LoopReport> loops() const = 0;
  /// The findings in the last round, on a platform with the checking engine. @throws std::bad_alloc
  [[nodiscard]] virtual std::vector<Finding> findings() = 0;
  /// The prediction for the last round, on a platform with the model; none elsewhere. @throws std::bad_alloc
  [[nodiscard]] virtual std::optional<Prediction> prediction() = 0;
  /// The counters; none if the session is not watched.
  [[nodiscard]] virtual std::optional<Counters> counters() noexcept = 0;
  /// Writes what was traced as a file that Perfetto opens; false if the session was not opened with `trace`.
  /// @throws std::bad_alloc, std::ios_base::failure
  virtual bool write_trace(std::ostream& out) = 0;
  virtual Status close() noexcept = 0;
};

class AnyRound;
/// Adds the tasks of a round. What it throws fails the round.
using Orchestration = std::function<void(AnyRound&)>;
/// Which runtime calls the orchestration; see docs/runtimes.md.
enum class Runtime : std::uint8_t { tensormap_and_ringbuffer, aicpu_build_graph };
/// The runtime of that name. @throws Error invalid_argument if there is none
[[nodiscard]] Runtime runtime_called(std::string_view name);

/// Opens a session on the platform of that name: a RoundSession, or for more than one round in flight a
/// PipelinedSession, or for a symbolic graph a ShapedSession.
/// @throws Error invalid_argument if there is no such platform, or the options are wrong; what open() throws
[[nodiscard]] std::unique_ptr<AnySession> open_any(std::string_view platform, const Graph& graph,
                                                   const Options& options = {});

/// Opens a RoundSession whose tasks an orchestration adds, each round anew. `interface`: a graph without tasks. The
/// kernels of the orchestration outlive the session.
/// @throws Error as open_any(); unsupported: the platform takes no orchestration
[[nodiscard]] std::unique_ptr<AnySession> open_orchestrated_any(std::string_view platform, const Graph& interface,
                                                                const Options& options, Runtime runtime,
                                                                Orchestration orchestration);

/// Waits for the rounds in flight, then writes what a session traced to a file. @throws Error not_open: it is not
/// traced; invalid_argument: the file cannot be opened; out_of_resources: it was not written as a whole
void write_trace_file(AnySession& session, const std::string& path);

/// A platform that open_any() knows.
struct PlatformEntry {
  const char* name;
  /// Returns why no session can be opened on this machine; empty if one can. Loads the driver, and allocates nothing.
  Error::Text (*missing)();
  std::unique_ptr<AnySession> (*open)(const Graph& graph, const Options& options);
  /// Opens a session with Options::trace; null where the platform cannot trace.
  std::unique_ptr<AnySession> (*open_traced)(const Graph& graph, const Options& options);
  /// Opens a session with an orchestration; null where the platform takes none.
  std::unique_ptr<AnySession> (*open_orchestrated)(const Graph& interface, const Options& options, Runtime runtime,
                                                   Orchestration orchestration);
};
/// All platforms, the default first.
[[nodiscard]] std::span<const PlatformEntry> platforms() noexcept;
/// The platform of that name. @throws Error invalid_argument if there is none
[[nodiscard]] const PlatformEntry& find_platform(std::string_view name);

}  // namespace rondo::erased
