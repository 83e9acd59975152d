// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace rondo::measure {

/// The reason why a candidate has no times.
enum class Fault : std::uint8_t {
  none,
  instantiation,
  build,
  build_timeout,
  run,
  run_timeout,
  wrong_answer,
  device,
  unknown,
  stopped,
};
inline constexpr std::size_t fault_count = 10;

/// The word for a fault in records and tables.
[[nodiscard]] constexpr const char* to_string(Fault fault) noexcept {
  constexpr const char* names[fault_count] = {"none",        "instantiation", "build",  "build_timeout", "run",
                                              "run_timeout", "wrong_answer",  "device", "unknown",       "stopped"};
  return names[static_cast<std::size_t>(fault)];
}

/// The inverse of to_string; other texts are `unknown`.
[[nodiscard]] constexpr Fault fault_from(std::string_view name) noexcept {
  for (std::size_t f = 0; f < fault_count; ++f) {
    if (name == to_string(static_cast<Fault>(f))) return static_cast<Fault>(f);
  }
  return Fault::unknown;
}

/// One sentence for each fault: what it means and what to do.
[[nodiscard]] constexpr const char* describe(Fault fault) noexcept {
  switch (fault) {
    case Fault::none: return "the candidate was measured";
    case Fault::instantiation:
      return "the candidate could not be made from its configuration; leave such configurations out of the search";
    case Fault::build: return "the candidate was refused by the compiler; see its output";
    case Fault::build_timeout: return "the candidate was not built in time; raise the builder's limit";
    case Fault::run: return "the candidate failed while it ran";
    case Fault::run_timeout: return "the candidate did not end in time; raise the runner's limit or look for a hang";
    case Fault::wrong_answer: return "the candidate's output differs from the reference by more than the tolerance";
    case Fault::device: return "the device failed; the candidate may be right, measure it again";
    case Fault::unknown: return "something else failed; the candidate may be right, measure it again";
    case Fault::stopped: return "measuring was stopped before the candidate's turn";
  }
  return "unknown fault";
}

/// Whether another measurement of the same candidate would have the same result. If not, a resumed search repeats it.
[[nodiscard]] constexpr bool is_final(Fault fault) noexcept {
  return fault != Fault::device && fault != Fault::unknown && fault != Fault::stopped;
}

/// The exception with which a candidate's own code states its fault; any other exception counts as the fault of the
/// stage in which it was thrown.
class Failure : public std::exception {
 public:
  Failure(Fault fault, std::string text) : fault_{fault}, text_{std::move(text)} {}
  [[nodiscard]] Fault fault() const noexcept { return fault_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  Fault fault_;
  std::string text_;
};

/// Converts an error of a session to a fault: of the device, of making the candidate, or of its run.
[[nodiscard]] constexpr Fault fault_of(Errc code) noexcept {
  switch (code) {
    case Errc::ok: return Fault::none;
    case Errc::kernel_failed:
    case Errc::orchestration_failed:
    case Errc::deadlock:
    case Errc::check_failed:
    case Errc::abandoned: return Fault::run;
    case Errc::timed_out: return Fault::run_timeout;
    case Errc::stopped: return Fault::stopped;
    case Errc::device_failed:
    case Errc::no_such_device:
    case Errc::out_of_resources:
    case Errc::not_open: return Fault::device;
    default: return Fault::instantiation;
  }
}

namespace detail {

struct FaultAndText {
  Fault fault = Fault::none;
  std::string text;
};

/// Returns a text or, if there is no memory for it, "out of memory".
[[nodiscard]] inline std::string text_of(const char* text) noexcept {
  try {
    return text;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
}

/// Converts the exception being handled; `stage` is the fault for unknown exceptions. Call it in a catch block.
[[nodiscard]] inline FaultAndText current_fault(Fault stage) noexcept {
  try {
    throw;
  } catch (const Failure& e) {
    return {e.fault() == Fault::none ? stage : e.fault(), text_of(e.what())};
  } catch (const Error& e) {
    return {fault_of(e.code()), text_of(e.what())};
  } catch (const std::bad_alloc&) {
    return {Fault::unknown, "out of memory"};  // the candidate may be right
  } catch (const std::exception& e) {
    return {stage, text_of(e.what())};
  } catch (...) {
    return {stage, text_of("an exception that is no std::exception")};
  }
}

}  // namespace detail

}  // namespace rondo::measure
