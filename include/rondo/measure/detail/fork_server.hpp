// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/detail/child_process.hpp>
#include <rondo/measure/detail/fork_server_loop.hpp>
#include <rondo/measure/detail/posix.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace rondo::measure::detail {

/// A process that only forks workers. It is forked from the program early and has a single thread, so its children are
/// in a consistent state, unlike those of a multi-threaded program, and cheap, since it only has the memory that the
/// program had then. Its parent is a keeper process, which starts another server if this one is killed.
///
/// Lifetime: the keeper, the server and all workers end when this object is destroyed or when the program ends in any
/// way. If the keeper is killed, the next spawn() restarts both. Thread safety: spawn() and reap() from any thread.
class ForkServer {
 public:
  struct Worker {
    pid_t pid = 0;
    Fd connection;  ///< a stream; the worker has the other end
    Fd output;      ///< its standard output and error; reading does not block
  };

  /// `serve` is the function of a worker; it gets its end of the connection. @throws Error out_of_resources
  explicit ForkServer(Serve serve) : serve_{std::move(serve)} { start(); }
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;
  ~ForkServer() {
    control_.reset();  // tells the keeper and the server to end
    int status = 0;
    while (keeper_ > 0 && ::waitpid(keeper_, &status, 0) < 0 && errno == EINTR) {
    }
  }

  /// Starts a worker. Waits some milliseconds at most. @throws Error out_of_resources
  [[nodiscard]] Worker spawn() {
    const std::lock_guard lock(mutex_);
    for (int attempt = 0; attempt < 8; ++attempt) {
      if (keeper_ <= 0) start();
      FdPair connection = make_sockets(SOCK_STREAM);
      FdPair output = make_pipe();
      const int fds[2] = {connection.second.get(), output.second.get()};
      const auto reply = ask(ServerRequest::spawn, 0, fds);
      // If the answer is lost, a worker forked for the request finds its connection closed, and ends.
      if (!reply) continue;
      if (reply->pid <= 0) fail_call("no worker process could be started", reply->status);
      set_nonblocking(output.first.get());
      return {reply->pid, std::move(connection.first), std::move(output.first)};
    }
    throw Error(Errc::out_of_resources, Error::Text("the process that starts workers ends as soon as it is started"));
  }

  /// Kills a worker and all its descendants, unless they are dead already, and returns its status as waitpid() does;
  /// nothing if the status is unknown because the worker ended with its server. Waits until they are gone.
  [[nodiscard]] std::optional<int> reap(pid_t worker) noexcept {
    const std::lock_guard lock(mutex_);
    const auto reply = ask(ServerRequest::reap, worker, nullptr);
    return reply && reply->pid == worker ? std::optional<int>{reply->status} : std::nullopt;
  }

 private:
  void start() {
    FdPair ends = make_sockets(SOCK_SEQPACKET);
    const pid_t keeper = ::fork();
    if (keeper < 0) fail_call("no process could be started", errno);
    if (keeper == 0) keep_server(ends.second.release(), serve_);
    (void)::setpgid(keeper, keeper);
    keeper_ = keeper;
    control_ = std::move(ends.first);
  }

  /// Returns nothing if the server died before or during the request.
  [[nodiscard]] std::optional<ServerReply> ask(ServerRequest::Kind kind, pid_t pid, const int* fds) noexcept {
    if (keeper_ <= 0) return std::nullopt;
    const ServerRequest request{kind, pid, ++requests_};
    bool is_there = send_request(control_.get(), request, fds);
    while (is_there) {
      ServerReply reply;
      const ssize_t n = ::recv(control_.get(), &reply, sizeof reply, 0);
      if (n < 0 && errno == EINTR) continue;
      is_there = n == static_cast<ssize_t>(sizeof reply);
      if (is_there && reply.number == request.number) return reply;
      if (is_there && reply.number == 0) return std::nullopt;  // or else an earlier answer arrived
    }
    (void)kill_group(keeper_);
    keeper_ = 0;
    control_.reset();
    return std::nullopt;
  }

  Serve serve_;
  std::mutex mutex_;
  pid_t keeper_ = 0;
  std::uint64_t requests_ = 0;
  Fd control_;
};

}  // namespace rondo::measure::detail
