// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/detail/child_process.hpp>
#include <rondo/measure/detail/fork_server_loop.hpp>
#include <rondo/measure/detail/posix.hpp>

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace rondo::measure::detail {

/// A process that does nothing but fork workers: made before there is anything to disturb, with a single thread, so
/// that its children are whole where those of a program with threads would not be, and cheap, since it holds nothing
/// but what the program held then.
///
/// Lifetime: from construction to destruction; it and all of its workers end with this program, however that ends. If
/// it is killed, the next spawn() starts another. Thread safety: spawn() and reap() from any thread.
class ForkServer {
 public:
  struct Worker {
    pid_t pid = 0;
    Fd connection;  ///< a stream; the worker got the other end
    Fd output;      ///< what it writes to standard output and error; does not block
  };

  /// `serve` is what a worker does, with its end of the connection. @throws Error out_of_resources
  explicit ForkServer(Serve serve) : serve_{std::move(serve)} { start(); }
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;
  ~ForkServer() {
    control_.reset();  // by that it knows
    int status = 0;
    while (server_ > 0 && ::waitpid(server_, &status, 0) < 0 && errno == EINTR) {
    }
  }

  /// Waits some milliseconds at most. @throws Error out_of_resources
  [[nodiscard]] Worker spawn() {
    const std::lock_guard lock(mutex_);
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (server_ <= 0) start();
      FdPair connection = make_sockets(SOCK_STREAM);
      FdPair output = make_pipe();
      const int fds[2] = {connection.second.get(), output.second.get()};
      if (send_request(control_.get(), {ServerRequest::spawn, 0}, fds)) {
        if (const auto reply = receive_reply()) {
          if (reply->pid <= 0) fail_call("no worker process could be started", reply->status);
          set_nonblocking(output.first.get());
          return {reply->pid, std::move(connection.first), std::move(output.first)};
        }
      }
      bury();
    }
    throw Error(Errc::out_of_resources, Error::Text("the process that starts workers ends as soon as it is started"));
  }

  /// Kills a worker and all that came from it, unless they are dead already, and returns its status as of waitpid().
  /// Nothing if nobody knows. Waits until they are gone.
  [[nodiscard]] std::optional<int> reap(pid_t worker) noexcept {
    const std::lock_guard lock(mutex_);
    if (server_ > 0 && send_request(control_.get(), {ServerRequest::reap, worker}, nullptr)) {
      if (const auto reply = receive_reply()) {
        if (reply->pid == worker) return reply->status;
        return std::nullopt;  // it was another server's
      }
    }
    bury();
    return std::nullopt;
  }

 private:
  void start() {
    FdPair ends = make_sockets(SOCK_SEQPACKET);
    const pid_t server = ::fork();
    if (server < 0) fail_call("no process could be started", errno);
    if (server == 0) ServerLoop{ends.second.release(), serve_}.run();
    (void)::setpgid(server, server);
    server_ = server;
    control_ = std::move(ends.first);
  }
  /// It is dead, or as good as that.
  void bury() noexcept {
    if (server_ > 0) (void)kill_group(server_);
    server_ = 0;
    control_.reset();
  }
  [[nodiscard]] std::optional<ServerReply> receive_reply() noexcept {
    ServerReply reply;
    for (;;) {
      const ssize_t n = ::recv(control_.get(), &reply, sizeof reply, 0);
      if (n == static_cast<ssize_t>(sizeof reply)) return reply;
      if (n >= 0 || errno != EINTR) return std::nullopt;
    }
  }

  Serve serve_;
  std::mutex mutex_;
  pid_t server_ = 0;
  Fd control_;
};

}  // namespace rondo::measure::detail
