// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/types.hpp>

#include <memory>
#include <string_view>

namespace rondo {
class TaskGraph;
}

namespace rondo::python {

/// DynamicBindings of a session on any platform, and the round over them that is under way.
class AnyBindings {
 public:
  virtual ~AnyBindings() = default;
  virtual Status bind(TensorId tensor, void* host, Bytes size) noexcept = 0;
  virtual Status run_round() noexcept = 0;
  /// Copies the inputs. After a failure no round is under way.
  virtual Status begin_round() noexcept = 0;
  /// Errors: busy if the round was launched before. What else fails is told by finish(), too.
  virtual Status launch() noexcept = 0;
  /// Ends the round that is under way, launched or not.
  virtual Status finish() noexcept = 0;
};

/// A RoundSession on any platform; see there.
class AnySession {
 public:
  virtual ~AnySession() = default;
  [[nodiscard]] virtual std::unique_ptr<AnyBindings> make_bindings() = 0;
  [[nodiscard]] virtual graph::GraphView graph() const noexcept = 0;
  [[nodiscard]] virtual Error::Text explain(Status status) const noexcept = 0;
  /// Of a resident tensor; `size` in elements, of the tensor's own type.
  virtual Status upload(std::size_t tensor, const void* host, std::size_t size) noexcept = 0;
  virtual Status download(std::size_t tensor, void* host, std::size_t size) noexcept = 0;
  virtual Status set_scalar(TaskId task, std::size_t n, ArgWord word) noexcept = 0;
  /// False if the platform cannot.
  virtual bool request_stop() noexcept = 0;
  [[nodiscard]] virtual std::uint64_t rounds() const noexcept = 0;
  [[nodiscard]] virtual bool poisoned() const noexcept = 0;
  [[nodiscard]] virtual Bytes arena_bytes() const noexcept = 0;
  virtual Status close() noexcept = 0;
};

/// Opens a session on the platform of that name. @throws Error invalid_argument if there is none; what open() throws
[[nodiscard]] std::unique_ptr<AnySession> open_any(std::string_view platform, const TaskGraph& graph);

/// The platforms' names, one after the other, and null.
[[nodiscard]] const char* const* platform_names() noexcept;

}  // namespace rondo::python
