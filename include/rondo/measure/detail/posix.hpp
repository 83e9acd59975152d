// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

namespace rondo::measure::detail {

using Clock = std::chrono::steady_clock;

[[noreturn]] inline void fail_call(const char* what, int error) {
  throw Error(Errc::out_of_resources, Error::Text{what, ": ", std::strerror(error)});
}

/// A file descriptor with an owner, which closes it.
class Fd {
 public:
  Fd() noexcept = default;
  explicit Fd(int fd) noexcept : fd_{fd} {}
  Fd(Fd&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }
  void reset() noexcept {
    if (fd_ >= 0) (void)::close(std::exchange(fd_, -1));
  }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

struct FdPair {
  Fd first;
  Fd second;
};

/// Makes a pipe, read end first; both ends are closed by exec.
[[nodiscard]] inline FdPair make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_call("no pipe could be opened", errno);
  return {Fd{ends[0]}, Fd{ends[1]}};
}

/// Makes two ends of a local connection, closed by exec. `type`: SOCK_STREAM or SOCK_SEQPACKET.
[[nodiscard]] inline FdPair make_sockets(int type) {
  int ends[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) fail_call("no socket could be opened", errno);
  return {Fd{ends[0]}, Fd{ends[1]}};
}

inline void set_nonblocking(int fd) noexcept { (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

/// The milliseconds until a moment, for poll(): at least 0, rounded up.
[[nodiscard]] inline int milliseconds_until(Clock::time_point moment) noexcept {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(moment - Clock::now()).count();
  return left <= 0 ? 0 : left > 3'600'000 ? 3'600'000 : static_cast<int>(left);
}

[[nodiscard]] inline Clock::time_point after_seconds(double seconds) noexcept {
  constexpr double most = 1e9;  // thirty years; more would overflow
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds < most ? seconds : most));
}

/// The output of a process: its first `room` bytes, and the number of all bytes.
class BoundedText {
 public:
  explicit BoundedText(std::size_t room) : room_{room} {}

  void append(const char* data, std::size_t size) {
    const std::size_t kept = size < room_ - text_.size() ? size : room_ - text_.size();
    text_.append(data, kept);
    dropped_ += size - kept;
  }
  [[nodiscard]] std::string str() const {
    if (dropped_ == 0) return text_;
    return fmt::format("{}... (and {} bytes more)", text_, dropped_);
  }

 private:
  std::size_t room_;
  std::string text_;
  std::size_t dropped_ = 0;
};

/// Reads what is available from a non-blocking pipe, at most a megabyte at a time, so that a process that writes
/// without end cannot keep the reader from checking the clock. Returns false at the end of the pipe.
inline bool drain(int fd, BoundedText& text) {
  char buffer[16384];
  for (int i = 0; i < 64; ++i) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) {
      text.append(buffer, static_cast<std::size_t>(n));
    } else if (n == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
  return true;
}

}  // namespace rondo::measure::detail
