// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph.hpp"

#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/session/round_ticket.hpp>
#include <rondo/types.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::erased {

/// How a session is opened. A platform ignores the options that it does not have.
struct Options {
  std::uint32_t device = 0;         ///< which of the machine's devices
  std::uint32_t threads = 0;        ///< of an engine that has threads; 0: one for each core
  std::uint32_t in_flight = 1;      ///< rounds in flight at most, 1 to 4; more than 1 take the memory of 4
  std::uint64_t device_memory = 0;  ///< bytes that the session takes at most; 0: as many as there are
  std::int32_t timeout_ms = 0;      ///< for the end of a round, on a device; 0: the platform's own, -1: for ever
  std::vector<std::string> kernel_files{};  ///< binaries with the kernels, for devices
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

/// DynamicBindings of a session on any platform, and the round over them that is taken step by step.
class AnyBindings {
 public:
  virtual ~AnyBindings() = default;
  virtual Status bind(TensorId tensor, void* host, Bytes size) noexcept = 0;
  virtual Status bind_read_only(TensorId tensor, const void* host, Bytes size) noexcept = 0;
  virtual Status bind_device(TensorId tensor, std::uint64_t address, Bytes size) noexcept = 0;
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
  virtual Status set_scalar(TaskId task, std::size_t n, ArgWord word) noexcept = 0;
  virtual Status set_held(TensorKey tensor, bool is_held) noexcept = 0;
  virtual Status wait(RoundTicket ticket) noexcept = 0;
  virtual Status wait_all() noexcept = 0;
  /// Delivers the rounds that are done. @returns the number of rounds that are still in flight
  virtual std::size_t poll() noexcept = 0;
  /// Whether a submitted round was delivered; delivers nothing.
  [[nodiscard]] virtual bool is_delivered(std::uint64_t ticket) const noexcept = 0;
  /// Returns false if the platform cannot stop a round.
  virtual bool request_stop() noexcept = 0;
  [[nodiscard]] virtual std::uint64_t rounds() const noexcept = 0;
  [[nodiscard]] virtual std::size_t in_flight() const noexcept = 0;
  /// The number of shapes that are known at present; 1 for a graph without symbols.
  [[nodiscard]] virtual std::size_t shapes() const noexcept = 0;
  [[nodiscard]] virtual bool poisoned() const noexcept = 0;
  [[nodiscard]] virtual Bytes arena_bytes() const noexcept = 0;
  /// How long the tasks of the last round ran on the device, in nanoseconds; negative where the platform cannot tell.
  [[nodiscard]] virtual double last_round_ns() const noexcept = 0;
  /// Of a platform with the checking engine. @throws std::bad_alloc
  [[nodiscard]] virtual std::vector<Finding> findings() = 0;
  /// Of a platform with the model; none elsewhere. @throws std::bad_alloc
  [[nodiscard]] virtual std::optional<Prediction> prediction() = 0;
  virtual Status close() noexcept = 0;
};

/// Opens a session on the platform of that name: a RoundSession, or for more than one round in flight a
/// PipelinedSession, or for a symbolic graph a ShapedSession.
/// @throws Error invalid_argument if there is no such platform, or the options are wrong; what open() throws
[[nodiscard]] std::unique_ptr<AnySession> open_any(std::string_view platform, const Graph& graph,
                                                   const Options& options = {});

/// A platform that open_any() knows.
struct PlatformEntry {
  const char* name;
  /// Why no session can be opened on this machine; empty if one can. Loads the driver, and allocates nothing.
  Error::Text (*missing)();
  std::unique_ptr<AnySession> (*open)(const Graph& graph, const Options& options);
};
/// All platforms, the default first.
[[nodiscard]] std::span<const PlatformEntry> platforms() noexcept;
/// @throws Error invalid_argument if there is no platform of that name
[[nodiscard]] const PlatformEntry& find_platform(std::string_view name);

}  // namespace rondo::erased
