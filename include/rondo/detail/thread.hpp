// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <pthread.h>
#include <unistd.h>

#include <cstdint>

/// What the umbrella needs of <thread> and <mutex>, which would cost everybody who includes it 150 ms of compile time.
namespace rondo::detail {

/// A thread that runs `body(context)`. Immovable, since the thread knows its address.
///
/// Lifetime: joined before it is destroyed. Thread safety: one thread starts and joins it.
class Thread {
 public:
  using Body = void (*)(void* context) noexcept;

  Thread() noexcept = default;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  /// @throws Error out_of_resources: `who` could not be started; `advice`: what to do about it, from "; " on
  void start(Body body, void* context, const char* who, const char* advice = "") {
    body_ = body;
    context_ = context;
    const int code = pthread_create(
        &handle_, nullptr,
        [](void* self) -> void* {
          static_cast<Thread*>(self)->body_(static_cast<Thread*>(self)->context_);
          return nullptr;
        },
        this);
    if (code != 0) {
      throw Error(Errc::out_of_resources, Error::Text(who, " could not be started: the system says error ", code,
                                                      code == again ? ", no thread is left" : "", advice));
    }
    runs_ = true;
  }
  [[nodiscard]] bool joinable() const noexcept { return runs_; }
  /// Waits for its end, if it was started.
  void join() noexcept {
    if (runs_) (void)pthread_join(handle_, nullptr);
    runs_ = false;
  }

 private:
  static constexpr int again = 11;  ///< EAGAIN

  Body body_ = nullptr;
  void* context_ = nullptr;
  pthread_t handle_{};
  bool runs_ = false;
};

/// As std::mutex, for std::lock_guard's like below.
class Mutex {
 public:
  constexpr Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock() noexcept { (void)pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { (void)pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// Holds a mutex until the end of the block.
class [[nodiscard]] Lock {
 public:
  explicit Lock(Mutex& mutex) noexcept : mutex_{mutex} { mutex_.lock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

/// How many of the host's cores may be in use at once; 1 if nobody knows.
[[nodiscard]] inline std::uint32_t host_cores() noexcept {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1U : static_cast<std::uint32_t>(n);
}

}  // namespace rondo::detail
