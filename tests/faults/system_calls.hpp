// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <string>

/// Failures of the system. This program has its own definitions of the functions below (system_calls.cpp), which call
/// the system's unless they are told to fail.
namespace rondo::test {

/// The functions of the system that can be told to fail.
enum class SystemCall : std::uint8_t {
  allocate,  ///< operator new, aligned_alloc
  thread,    ///< pthread_create
  open,      ///< open, fopen, mkdtemp
  read,      ///< read, fread
  write,     ///< write, writev; with error 0 half of the bytes are written, and the next call fails with ENOSPC
  sync,      ///< fsync
  rename,
  process,  ///< fork
  channel,  ///< pipe2, socketpair
  library,  ///< dlopen of a library that is to be loaded; also in the processes that this one forks
};

/// Makes the `n`th use of a function fail with `error`, and no other use, in any thread of this process. Uses are
/// counted from this call on, starting with 1.
void fail_call(SystemCall call, std::uint64_t n, int error) noexcept;
/// Makes no further use fail. Returns whether one has failed since fail_call().
bool stop_failing() noexcept;

/// The resources that this process holds.
struct Held {
  std::int64_t allocations = 0;  ///< the number of allocations by operator new
  int descriptors = 0;           ///< the number of open file descriptors
  int threads = 0;
  friend bool operator==(const Held&, const Held&) = default;
};
[[nodiscard]] Held held();

/// The result of one life in which a call failed.
struct Outcome {
  std::uint64_t n = 0;  ///< the use that failed
  int error = 0;        ///< the errno
  bool is_right = false;
  std::string told;  ///< the text of the exception; empty: there was none
};

/// Runs `live` once for each use that it makes of a function, with that use failing, and hands each outcome to `judge`.
/// `live` returns whether its results are right. It may throw the exceptions of set-up: Error or std::bad_alloc.
/// `prepare` is called before each life, while nothing fails. @returns the number of uses that failed
std::uint64_t fail_each_use(
    SystemCall call, std::initializer_list<int> errors, const std::function<bool()>& live,
    const std::function<void(const Outcome&)>& judge = [](const Outcome&) {},
    const std::function<void()>& prepare = [] {});

}  // namespace rondo::test
