// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/host/cores.hpp>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo::platform::host {

#if defined(__linux__)

/// Sets the cores and the real-time priority of the thread that opens a session; threads that it starts inherit them.
/// If the same thread destroys this object, its former settings are restored.
class Caller {
 public:
  /// An empty list of cores and a priority of 0 change nothing. @throws Error invalid_argument, out_of_resources
  Caller(std::span<const std::uint32_t> cores, int priority) : cores_{cores}, has_priority_{priority != 0} {
    check_cores();
    (void)pthread_getaffinity_np(pthread_self(), sizeof had_cores_, &had_cores_);
    (void)pthread_getschedparam(pthread_self(), &had_policy_, &had_priority_);
    if (has_priority_) set_priority(priority);
    for (std::size_t c = 0; c < cores.size(); ++c) {
      // One core at a time: in a set, the system ignores cores that do not exist.
      if (detail::set_cores(pthread_self(), cores.subspan(c, 1))) continue;
      put_back();
      refuse_core(cores, c);
    }
    run_on_all();
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller() { put_back(); }

  /// Whether the calling thread is the one whose settings this object changed.
  [[nodiscard]] bool is_caller() const noexcept { return gettid() == thread_; }
  /// Moves the calling thread to the core of the engine's first thread.
  void run_on_first() const noexcept {
    if (!cores_.empty() && is_caller()) (void)detail::set_cores(pthread_self(), cores_.first(1));
  }
  void run_on_all() const noexcept {
    if (!cores_.empty() && is_caller()) (void)detail::set_cores(pthread_self(), cores_);
  }

 private:
  void check_cores() const {
    for (std::size_t c = 0; c < cores_.size(); ++c) {
      for (std::size_t before = 0; before < c; ++before) {
        if (cores_[before] != cores_[c]) continue;
        throw Error(Errc::invalid_argument,
                    Error::Text{"host: options.cores names core ", cores_[c],
                                " twice, so that two threads would wait for each other there; name each core once"});
      }
    }
  }
  static void set_priority(int priority) {
    const int least = sched_get_priority_min(SCHED_FIFO);
    const int most = sched_get_priority_max(SCHED_FIFO);
    if (priority < least || priority > most) {
      throw Error(Errc::invalid_argument,
                  Error::Text{"host: options.priority is ", priority, "; real-time priorities go from ", least, " to ",
                              most, ", and 0 asks for none"});
    }
    sched_param wanted{};
    wanted.sched_priority = priority;
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted) == 0) return;
    rlimit allowed{};
    (void)getrlimit(RLIMIT_RTPRIO, &allowed);
    throw Error(Errc::out_of_resources,
                Error::Text{"host: the system refuses options.priority = ", priority,
                            "; this process may have at most ", static_cast<std::uint64_t>(allowed.rlim_cur),
                            ". Raise `rtprio` for the user in /etc/security/limits.conf and log in again, or give the "
                            "program the capability CAP_SYS_NICE, or leave the option out"});
  }
  void put_back() const noexcept {
    if (!is_caller()) return;
    if (!cores_.empty()) (void)pthread_setaffinity_np(pthread_self(), sizeof had_cores_, &had_cores_);
    if (has_priority_) (void)pthread_setschedparam(pthread_self(), had_policy_, &had_priority_);
  }

  std::span<const std::uint32_t> cores_;
  bool has_priority_;
  pid_t thread_ = gettid();
  cpu_set_t had_cores_{};
  int had_policy_ = 0;
  sched_param had_priority_{};
};

#else

/// On systems other than Linux, the system decides where threads run.
class Caller {
 public:
  Caller(std::span<const std::uint32_t>, int) {
    throw Error(Errc::unsupported,
                Error::Text("host: options.cores and options.priority need Linux; leave them out here"));
  }
  [[nodiscard]] static bool is_caller() noexcept { return false; }
  void run_on_first() const noexcept {}
  void run_on_all() const noexcept {}
};

#endif

}  // namespace rondo::platform::host
