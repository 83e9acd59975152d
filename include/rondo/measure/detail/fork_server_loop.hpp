// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/detail/child_process.hpp>
#include <rondo/measure/detail/posix.hpp>

#include <poll.h>
#include <stdio_ext.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

/// The process that a ForkServer starts.
namespace rondo::measure::detail {

/// A worker's loop over its end of the connection, which it serves until that is closed.
using Serve = std::function<void(int connection)>;

struct ServerRequest {
  enum Kind : int { spawn, reap };
  int kind = spawn;
  pid_t pid = 0;
  std::uint64_t number = 0;  ///< from 1
};
/// For spawn: the worker's pid, or 0 and errno. For reap: the worker's pid and status, or 0 if there is no such worker.
struct ServerReply {
  pid_t pid = 0;
  int status = 0;
  std::uint64_t number =
      0;  ///< the number of the request; 0: not an answer, but a new server reports that it replaced one that died
};

/// Sends a request with two file descriptors or none. Returns false if the other end is closed.
[[nodiscard]] inline bool send_request(int control, const ServerRequest& request, const int* fds) noexcept {
  iovec part{const_cast<ServerRequest*>(&request), sizeof request};  // NOLINT: sendmsg() only reads it
  alignas(cmsghdr) char space[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fds != nullptr) {
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(2 * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds, 2 * sizeof(int));
  }
  for (;;) {
    if (::sendmsg(control, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof request)) return true;
    if (errno != EINTR) return false;
  }
}

/// Receives a request. Returns false at the end of the connection.
[[nodiscard]] inline bool receive_request(int control, ServerRequest& request, Fd (&fds)[2]) noexcept {
  iovec part{&request, sizeof request};
  alignas(cmsghdr) char space[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  ssize_t n = 0;
  while ((n = ::recvmsg(control, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (n != static_cast<ssize_t>(sizeof request)) return false;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(2 * sizeof(int))) {
    int numbers[2];
    std::memcpy(numbers, CMSG_DATA(header), sizeof numbers);
    fds[0] = Fd{numbers[0]};
    fds[1] = Fd{numbers[1]};
  }
  return true;
}

/// Closes every descriptor above 2 except one. Otherwise this process would keep connections of the program open, and
/// other processes would wait for their end.
inline void close_all_but(int kept) noexcept {
  const bool done = (kept <= 3 || ::close_range(3, static_cast<unsigned>(kept) - 1, 0) == 0) &&
                    ::close_range(static_cast<unsigned>(kept) + 1, ~0U, 0) == 0;
  if (done) return;
  const long most = std::clamp(::sysconf(_SC_OPEN_MAX), 256L, 65536L);  // for kernels before 5.9
  for (int fd = 3; fd < most; ++fd) {
    if (fd != kept) (void)::close(fd);
  }
}

/// The processes whose parent is this one.
[[nodiscard]] inline std::vector<pid_t> own_children() {
  std::vector<pid_t> children;
  const std::string path = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
  if (std::FILE* const file = std::fopen(path.c_str(), "re")) {
    for (long pid = 0; std::fscanf(file, "%ld", &pid) == 1;) children.push_back(static_cast<pid_t>(pid));
    (void)std::fclose(file);
  }
  return children;
}

/// Kills and reaps every child for which `spared` returns false. A child may fork while it is killed, and its children
/// are then reparented to this process; so this repeats until two passes find none: the kernel's list may miss some.
template <class Spared>
void kill_children(const Spared& spared) noexcept {
  for (int pass = 0, seen_none = 0; pass < 1000 && seen_none < 2; ++pass) {
    bool some = false;
    for (const pid_t child : own_children()) {
      if (spared(child)) continue;
      some = true;
      (void)::kill(child, SIGKILL);
      (void)::waitpid(child, nullptr, 0);
    }
    if (!some) ++seen_none;
  }
}

/// Whether this process has children, including those that have ended.
[[nodiscard]] inline bool has_children() noexcept {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// Gives up everything that a process inherited from the program, except its memory and one descriptor.
inline void leave_program(int kept) noexcept {
  (void)::setpgid(0, 0);  // signals from the terminal are for the program
  close_all_but(kept);
  for (int s = 1; s < NSIG; ++s) (void)::signal(s, SIG_DFL);  // and so are its signal handlers
  sigset_t none;
  sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
  // The program itself writes its buffers. Those of files are dropped, since their descriptors are closed. Otherwise a
  // later flush would write them into descriptors that got the same numbers.
  __fpurge(stdout);
  __fpurge(stderr);
  (void)std::fflush(nullptr);
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);  // descendants that lose their parent become children of this process
}

class ServerLoop {
 public:
  ServerLoop(int control, Serve& serve) : control_{control}, serve_{serve} {}

  /// Serves until the other end of the connection is closed for any reason; then kills all workers and ends the
  /// process. `keeper` is the parent; this process ends with it.
  [[noreturn]] void run(pid_t keeper, bool took_a_place) noexcept {
    leave_program(control_);
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != keeper) ::_exit(1);
    if (took_a_place) answer({});
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    (void)::sigprocmask(SIG_SETMASK, &ended, nullptr);
    const int signals = ::signalfd(-1, &ended, SFD_NONBLOCK | SFD_CLOEXEC);
    for (;;) {
      pollfd waits[2] = {{control_, POLLIN, 0}, {signals, POLLIN, 0}};
      (void)::poll(waits, 2, -1);
      if (waits[1].revents != 0) {
        signalfd_siginfo info;
        while (::read(signals, &info, sizeof info) > 0) {
        }
        collect();
      }
      if (waits[0].revents == 0) continue;
      ServerRequest request;
      Fd fds[2];
      if (!receive_request(control_, request, fds)) end();
      ServerReply reply = request.kind == ServerRequest::spawn ? spawn(fds) : reap(request.pid);
      reply.number = request.number;
      answer(reply);
    }
  }

 private:
  struct Known {
    pid_t pid;
    bool has_ended;
    int status;
  };

  void answer(const ServerReply& reply) noexcept {
    if (::send(control_, &reply, sizeof reply, MSG_NOSIGNAL) < 0) end();
  }
  [[nodiscard]] ServerReply spawn(Fd (&fds)[2]) noexcept {
    const pid_t server = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) work(server, fds);
    if (child < 0) return {0, errno, 0};
    (void)::setpgid(child, child);
    workers_.push_back({child, false, 0});
    return {child, 0, 0};
  }

  [[noreturn]] void work(pid_t server, Fd (&fds)[2]) noexcept {
    (void)::setpgid(0, 0);
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that the worker knows its daemons; see has_children()
    if (::getppid() != server) ::_exit(1);
    const int null = ::open("/dev/null", O_RDONLY);
    (void)::dup2(null, 0);
    (void)::dup2(fds[1].get(), 1);
    (void)::dup2(fds[1].get(), 2);
    close_all_but(fds[0].get());
    const rlimit no_core{0, 0};
    (void)::setrlimit(RLIMIT_CORE, &no_core);
    sigset_t none;
    sigemptyset(&none);
    (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
    // If a candidate calls exit(), the program's exit handlers and static destructors must not run.
    (void)::on_exit(
        [](int status, void*) {
          (void)std::fflush(nullptr);
          ::_exit(status);
        },
        nullptr);
    try {
      serve_(fds[0].get());
    } catch (...) {  // NOLINT(bugprone-empty-catch): the other end sees that the process has ended
    }
    ::_exit(0);
  }

  [[nodiscard]] ServerReply reap(pid_t pid) noexcept {
    const auto worker = std::find_if(workers_.begin(), workers_.end(), [pid](const Known& w) { return w.pid == pid; });
    if (worker == workers_.end()) return {};
    if (!worker->has_ended) worker->status = kill_group(pid);
    const int status = worker->status;
    workers_.erase(worker);
    kill_strays();
    return {pid, status, 0};
  }

  /// Records which workers have ended. Their children are killed, so that no process holds the connection open.
  void collect() noexcept {
    bool some_ended = false;
    for (Known& worker : workers_) {
      if (worker.has_ended || !has_ended(worker.pid)) continue;
      worker.status = kill_group(worker.pid);
      worker.has_ended = some_ended = true;
    }
    if (some_ended) kill_strays();
    reap_strays();
  }
  [[nodiscard]] bool is_known(pid_t pid) const noexcept {
    return std::any_of(workers_.begin(), workers_.end(), [pid](const Known& w) { return w.pid == pid; });
  }
  void reap_strays() noexcept {
    siginfo_t info{};
    for (;;) {
      info.si_pid = 0;
      // Only kill_group() reaps workers, so check before reaping.
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0 || is_known(info.si_pid)) {
        return;
      }
      (void)::waitpid(info.si_pid, nullptr, 0);
    }
  }
  /// Kills every child that is not a worker; these are descendants of workers.
  void kill_strays() noexcept {
    kill_children([this](pid_t pid) { return is_known(pid); });
  }
  [[noreturn]] void end() noexcept {
    for (const Known& worker : workers_) {
      if (!worker.has_ended) (void)kill_group(worker.pid);
    }
    workers_.clear();
    kill_strays();
    ::_exit(0);
  }

  int control_;
  Serve& serve_;
  std::vector<Known> workers_;
};

/// The loop of the server's parent process: if the server is killed, for example by a candidate, the keeper kills all
/// its descendants and starts another server, which also has a single thread, since the keeper has only one.
[[noreturn]] inline void keep_server(int control, Serve& serve) noexcept {
  leave_program(control);
  const pid_t keeper = ::getpid();
  for (bool took_a_place = false;; took_a_place = true) {
    const pid_t server = ::fork();
    if (server == 0) ServerLoop{control, serve}.run(keeper, took_a_place);
    int status = 0;
    pid_t ended = -1;
    while (server > 0 && ended != server && ((ended = ::waitpid(-1, &status, 0)) >= 0 || errno == EINTR)) {
    }
    kill_children([](pid_t) { return false; });
    if (ended != server || WIFEXITED(status)) ::_exit(0);  // the program has ended, or nothing can be done
  }
}

}  // namespace rondo::measure::detail
