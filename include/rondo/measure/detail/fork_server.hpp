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

/// A process that does nothing but fork workers: made before there is anything to disturb, with a single thread, so
/// that its children are whole where those of a program with threads would not be, and cheap, since it holds nothing
/// but what the program held then. Above it is a keeper, which starts another one should it be killed.
///
/// Lifetime: from construction to destruction; they and all workers end with this program, however that ends. Should
/// even the keeper be killed, the next spawn() starts both anew. Thread safety: spawn() and reap() from any thread.
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
    control_.reset();  // by that they know
    int status = 0;
    while (keeper_ > 0 && ::waitpid(keeper_, &status, 0) < 0 && errno == EINTR) {
    }
  }

  /// Waits some milliseconds at most. @throws Error out_of_resources
  [[nodiscard]] Worker spawn() {
    const std::lock_guard lock(mutex_);
    for (int attempt = 0; attempt < 8; ++attempt) {
      if (keeper_ <= 0) start();
      FdPair connection = make_sockets(SOCK_STREAM);
      FdPair output = make_pipe();
      const int fds[2] = {connection.second.get(), output.second.get()};
      const auto reply = ask(ServerRequest::spawn, 0, fds);
      // A worker that was forked for a request whose answer got lost finds its connection closed, and ends.
      if (!reply) continue;
      if (reply->pid <= 0) fail_call("no worker process could be started", reply->status);
      set_nonblocking(output.first.get());
      return {reply->pid, std::move(connection.first), std::move(output.first)};
    }
    throw Error(Errc::out_of_resources, Error::Text("the process that starts workers ends as soon as it is started"));
  }

  /// Kills a worker and all that came from it, unless they are dead already, and returns its status as of waitpid().
  /// Nothing if that is unknown: it ended with its server. Waits until they are gone.
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

  /// Nothing if the server died, before the request or upon it.
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
      if (is_there && reply.number == 0) return std::nullopt;  // else of an earlier request, whose caller is gone
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
