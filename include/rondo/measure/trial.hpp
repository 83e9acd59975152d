// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/check_close.hpp>
#include <rondo/measure/fault.hpp>
#include <rondo/measure/result.hpp>
#include <rondo/measure/timing.hpp>

#include <dlfcn.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace rondo::measure {

/// One candidate's turn, for a workload: holds the candidate, times it, and keeps the times.
///
///     [&](Trial& trial) {
///       TaskGraph graph;
///       …
///       graph.add_raw("matmul", CoreType::cube, trial.symbol<void(ArgWord*)>("matmul"),
///                     reads(a), reads(b), writes(c));
///       auto session = open<SelectedPlatform>(graph);
///       … one round …
///       trial.check("c", hc, reference);
///       trial.time_rounds(session, bind(a, ha), bind(b, hb), bind(c, hc));
///     }
///
/// Lifetime: that of the workload's call; then the candidate's code is unloaded, so sessions must end within the call.
/// Thread safety: one thread at a time.
class Trial {
 public:
  Trial(std::string path, std::string argument, std::size_t device, const Repetition& repetition)
      : path_{std::move(path)}, argument_{std::move(argument)}, device_{device}, repetition_{repetition} {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() {
    if (library_ != nullptr) (void)::dlclose(library_);
  }

  /// The artifact's file.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The input for the workload.
  [[nodiscard]] const std::string& argument() const noexcept { return argument_; }
  /// The number of the device, from 0.
  [[nodiscard]] std::size_t device() const noexcept { return device_; }
  [[nodiscard]] const Repetition& repetition() const noexcept { return repetition_; }

  /// A function of the candidate, which must declare it extern "C". @throws Failure instantiation if it does not exist
  template <class Function>
    requires std::is_function_v<Function>
  [[nodiscard]] Function* symbol(const char* name) {
    if (library_ == nullptr) library_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) throw Failure(Fault::instantiation, ::dlerror());
    void* const address = ::dlsym(library_, name);
    if (address == nullptr) {
      throw Failure(Fault::instantiation,
                    std::string{"the candidate has no function "} + name + "; declare it extern \"C\"");
    }
    return reinterpret_cast<Function*>(address);
  }

  /// Compares an output with its reference. @throws Failure wrong_answer
  template <class Got, class Want>
  void check(const char* name, const Got& got, const Want& want, const Tolerance& tolerance = {}) const {
    check_close(name, got, want, tolerance);
  }

  /// Times rounds of a session according to repetition(). @throws Failure as measure::time_rounds does
  template <class Session, BoundPair... B>
  void time_rounds(Session& session, const B&... pairs) {
    Times times = measure::time_rounds(repetition_, session, pairs...);
    measured_.seconds = std::move(times.seconds);
    measured_.device_seconds = std::move(times.device_seconds);
  }
  /// Times any call, for work without a session.
  template <std::invocable Call>
  void time_calls(Call&& call) {
    measured_.seconds = measure::time_calls(repetition_, call);
    measured_.device_seconds.clear();  // of rounds that were timed before
  }

  [[nodiscard]] Measured& measured() noexcept { return measured_; }

 private:
  std::string path_;
  std::string argument_;
  std::size_t device_;
  Repetition repetition_;
  Measured measured_;
  void* library_ = nullptr;
};

}  // namespace rondo::measure
