// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/fixed_text.hpp>

#include <cstdint>
#include <exception>
#include <source_location>

namespace rondo {

/// The error codes of set-up (Error) and of rounds (Status).
enum class Errc : std::uint16_t {
  ok,
  // errors in the arguments of a call
  invalid_argument,
  overflow,
  null_memory,
  wrong_size,
  wrong_tensor,
  unbound_tensor,
  bound_twice,
  misaligned,
  fixed_address,
  overlapping,
  alias_broken,
  shared_memory,
  // errors in the graph
  cycle,
  race,
  uninitialized_read,
  limit_exceeded,
  // the state of the session
  busy,
  mixed_modes,
  closed,
  poisoned,
  not_open,
  // the device and its resources
  out_of_memory,
  out_of_resources,
  no_such_device,
  unsupported,
  timed_out,
  stopped,
  abandoned,
  deadlock,
  kernel_failed,
  orchestration_failed,
  device_failed,
  check_failed,
  stale_memory,
};

/// Returns a sentence that says what the code means and what to do about it.
[[nodiscard]] constexpr const char* describe(Errc code) noexcept {
  switch (code) {
    case Errc::ok: return "ok";
    case Errc::invalid_argument: return "an argument has a value that the call does not accept";
    case Errc::overflow: return "a size does not fit into 64 bits; use smaller extents";
    case Errc::null_memory: return "the memory is null, or was released; bind memory that holds the tensor's elements";
    case Errc::wrong_size:
      return "the bound memory does not hold exactly the tensor's elements; bind a span of that size";
    case Errc::wrong_tensor:
      return "this call does not take the tensor, which may be of another graph; bind inputs, outputs and inouts of "
             "this graph, constant memory only to inputs, and upload residents";
    case Errc::unbound_tensor: return "an input, output or inout is not bound; bind each one once per round";
    case Errc::bound_twice: return "the tensor is bound twice in one round; bind it once";
    case Errc::misaligned:
      return "device memory starts at a misaligned address; tensors need a multiple of 32 (on the host: of 8) or "
             "DynamicBindings, and a moved arena needs the chip's arena_alignment";
    case Errc::fixed_address:
      return "a library call, a recorded round, or a task that cannot be refreshed holds this address; bind host "
             "memory, or the same memory";
    case Errc::overlapping:
      return "two tensors, or two elements of one, share bound memory that a kernel writes; declare the alias or bind "
             "apart";
    case Errc::alias_broken: return "the output was declared to reuse an input's memory; bind the same memory to both";
    case Errc::shared_memory:
      return "other tensors use its memory within a round; let no output reuse it, and keep() it or bind device memory";
    case Errc::cycle: return "the edges form a cycle; remove the edge that points back";
    case Errc::race: return "two tasks touch one tensor, at least one writes it, and no path orders them; add an edge";
    case Errc::uninitialized_read:
      return "a task reads the tensor before any task writes it; add the writer first or make it an input";
    case Errc::limit_exceeded:
      return "the graph exceeds a limit of the chip; split the task or choose another platform";
    case Errc::busy: return "another round is under way; finish it first";
    case Errc::mixed_modes:
      return "synchronous and asynchronous rounds do not mix in one session; open a session for each";
    case Errc::closed: return "the session is closed; open a new one";
    case Errc::poisoned: return "an earlier failure left the session unusable; close it and open a new one";
    case Errc::not_open:
      return "the device is not open in this process; open a session here (after fork(), the parent's is of no use)";
    case Errc::out_of_memory: return "the device has not enough memory; use smaller tensors";
    case Errc::out_of_resources:
      return "the device has no stream, event or queue left; close sessions that are not needed";
    case Errc::no_such_device: return "there is no such device; check the driver and the device number";
    case Errc::unsupported: return "the platform cannot do this; choose another platform or leave the feature out";
    case Errc::timed_out: return "the device did not finish in time; raise the limit, or find the kernel that hangs";
    case Errc::stopped: return "a stop was requested in the middle of a round; the session is poisoned: close it";
    case Errc::abandoned: return "the round was dropped before it was finished; its outputs were not copied";
    case Errc::kernel_failed:
      return "a kernel threw an exception, or a library call failed; the session is poisoned: close it and correct "
             "the task";
    case Errc::deadlock:
      return "the round waits for memory or room that nothing will free; make the ring larger, or use narrower scopes";
    case Errc::orchestration_failed:
      return "the orchestration threw an exception; the session is poisoned: close it and correct the orchestration";
    case Errc::device_failed:
      return "the device reported a failure; the session is poisoned: close it and open a new one";
    case Errc::check_failed:
      return "a task reads or writes something that it does not declare, or two tasks race; read the checking engine's "
             "findings";
    case Errc::stale_memory:
      return "the round would use memory that was released, has moved, or belongs to another session; bind memory that "
             "is allocated until the round has ended";
  }
  return "unknown error code";
}

/// The result of a hot-path call: ok, failed with the session still usable, or failed with the session poisoned.
///
/// Eight bytes, trivially copyable, returned in a register. It names its subject by index; `RoundSession::explain`
/// turns it into a sentence with the tensor's or task's name.
class [[nodiscard]] Status {
 public:
  /// The kinds of objects that index() refers to.
  enum class Subject : std::uint8_t { none, tensor, task };

  constexpr Status() noexcept = default;
  constexpr explicit Status(Errc code) noexcept : code_{code} {}

  /// A failure of a tensor, given by its TensorId.
  static constexpr Status of_tensor(Errc code, std::uint32_t tensor) noexcept {
    return {code, Subject::tensor, tensor};
  }
  /// A failure of a task, given by its TaskId.
  static constexpr Status of_task(Errc code, std::uint32_t task) noexcept { return {code, Subject::task, task}; }

  /// Returns the same status, marked as having poisoned the session.
  [[nodiscard]] constexpr Status poisoning() const noexcept {
    Status s = *this;
    s.poisons_ = true;
    return s;
  }

  [[nodiscard]] constexpr bool ok() const noexcept { return code_ == Errc::ok; }
  constexpr explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] constexpr Errc code() const noexcept { return code_; }

  /// Whether the session is unusable: it refuses further rounds, and only `close()` and the destructor have an effect.
  [[nodiscard]] constexpr bool poisoned() const noexcept { return poisons_; }

  [[nodiscard]] constexpr Subject subject() const noexcept { return subject_; }
  /// The index of the tensor or task that subject() names; 0 if subject() is `none`.
  [[nodiscard]] constexpr std::uint32_t index() const noexcept { return index_; }

  /// The general sentence for the code, without the subject's name.
  [[nodiscard]] constexpr const char* message() const noexcept { return describe(code_); }

  friend constexpr bool operator==(Status, Status) noexcept = default;

 private:
  constexpr Status(Errc code, Subject subject, std::uint32_t index) noexcept
      : code_{code}, subject_{subject}, index_{index} {}

  Errc code_ = Errc::ok;
  Subject subject_ = Subject::none;
  bool poisons_ = false;
  std::uint32_t index_ = 0;
};
static_assert(sizeof(Status) == 8);

/// The first of two statuses that is a failure, or the second if only that one poisons; ok if neither is a failure.
[[nodiscard]] constexpr Status first_failure(Status first, Status second) noexcept {
  return first.ok() || (second.poisoned() && !first.poisoned()) ? second : first;
}

/// The exception of set-up code: a code, the caller's source location, and a text that says what happened, where, and
/// what to do. Copying it neither allocates nor throws.
class Error : public std::exception {
 public:
  /// Text of fixed size, so that creating an error allocates nothing.
  using Text = detail::FixedText<320>;

  Error(Errc code, const Text& text, std::source_location where = std::source_location::current()) noexcept
      : code_{code}, where_{where}, text_{text} {}

  [[nodiscard]] Errc code() const noexcept { return code_; }
  /// The place that threw the error, or the caller of the function that threw it.
  [[nodiscard]] const std::source_location& where() const noexcept { return where_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  Errc code_;
  std::source_location where_;
  Text text_;
};

/// @throws Error with the code and the sentence of the status if it is a failure. `what`: what failed.
inline void require_ok(Status status, const char* what, std::source_location where = std::source_location::current()) {
  if (!status) throw Error(status.code(), Error::Text{what, ": ", status.message()}, where);
}

}  // namespace rondo
