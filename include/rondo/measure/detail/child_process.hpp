// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/detail/posix.hpp>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

namespace rondo::measure::detail {

struct ChildLimits {
  double seconds = 60;                      ///< from the start; after that, the child and its children are killed
  std::size_t output_bytes = 16384;         ///< the part of its output that is kept; the rest is read and dropped
  const std::atomic<bool>* stop = nullptr;  ///< when it becomes true, the child is killed
};

struct ChildOutcome {
  int start_error = 0;  ///< errno, if it could not be started
  bool timed_out = false;
  bool stopped = false;
  int status = 0;      ///< the status that waitpid() returns
  std::string output;  ///< standard output and standard error
  double seconds = 0;

  [[nodiscard]] bool ok() const noexcept {
    return start_error == 0 && !timed_out && !stopped && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
};

/// The steps between fork and exec. Uses only calls that are safe in the child of a multi-threaded program.
[[noreturn]] inline void become(char* const* argv, int output, int null, int start_error, pid_t parent,
                                unsigned cpu_seconds) noexcept {
  (void)::setpgid(0, 0);
  // The child's parent is the thread that waits for it. If that thread dies with the whole program, so does the child.
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGCHLD}) (void)::signal(signal, SIG_DFL);
  // In that case, the child's own children survive; this limits them.
  const rlimit cpu{cpu_seconds, cpu_seconds};
  (void)::setrlimit(RLIMIT_CPU, &cpu);
  const rlimit no_core{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  (void)::dup2(null, 0);
  (void)::dup2(output, 1);
  (void)::dup2(output, 2);
  (void)::execvp(argv[0], argv);
  const int error = errno;
  (void)!::write(start_error, &error, sizeof error);
  ::_exit(127);
}

/// Kills a process group and reaps its leader. Until it is reaped, no other process can get the leader's number.
/// Returns the leader's status, or -1 if the system does not keep it.
inline int kill_group(pid_t leader) noexcept {
  (void)::kill(-leader, SIGKILL);
  (void)::kill(leader, SIGKILL);  // in case it is not a group leader yet
  int status = -1;
  while (::waitpid(leader, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// Whether the child has ended. Does not reap it.
[[nodiscard]] inline bool has_ended(pid_t child) noexcept {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == child;
}

/// Runs a program in its own process group until it ends or reaches its limit; processes that it leaves in the group
/// are killed. Waits. @throws Error out_of_resources
[[nodiscard]] inline ChildOutcome run_child(const std::vector<std::string>& command, const ChildLimits& limits) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& argument : command)
    argv.push_back(const_cast<char*>(argument.c_str()));  // NOLINT: as exec wants it
  argv.push_back(nullptr);
  FdPair output = make_pipe();
  FdPair start = make_pipe();
  const Fd null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  // The kernel counts the seconds of all threads of a process.
  const unsigned cores = static_cast<unsigned>(std::clamp(::sysconf(_SC_NPROCESSORS_ONLN), 1L, 4096L));
  const unsigned cpu_seconds = cores * (static_cast<unsigned>(std::clamp(limits.seconds, 0.0, 1e6)) + 2);

  const auto began = Clock::now();
  const auto deadline = after_seconds(limits.seconds);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail_call("no process could be started", errno);
  if (child == 0) become(argv.data(), output.second.get(), null.get(), start.second.get(), parent, cpu_seconds);
  (void)::setpgid(child, child);  // parent and child both call it, since either may be first
  output.second.reset();
  start.second.reset();

  ChildOutcome outcome;
  ssize_t n = 0;
  while ((n = ::read(start.first.get(), &outcome.start_error, sizeof outcome.start_error)) < 0 && errno == EINTR) {
  }
  if (n != sizeof outcome.start_error) outcome.start_error = 0;

  BoundedText text(limits.output_bytes);
  set_nonblocking(output.first.get());
  bool is_open = true;
  while (!has_ended(child)) {
    const int left = milliseconds_until(deadline);
    if (left == 0) {
      outcome.timed_out = true;
      break;
    }
    if (limits.stop != nullptr && limits.stop->load(std::memory_order_relaxed)) {
      outcome.stopped = true;
      break;
    }
    // A grandchild may hold the pipe open after the child has ended, or the child may close it early, so check the
    // child every few milliseconds as well.
    pollfd wait{is_open ? output.first.get() : -1, POLLIN, 0};
    (void)::poll(&wait, 1, std::min(left, is_open ? 20 : 2));
    if (is_open && wait.revents != 0) is_open = drain(output.first.get(), text);
  }
  outcome.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  outcome.status = kill_group(child);
  if (outcome.status == -1 && outcome.start_error == 0 && !outcome.timed_out && !outcome.stopped) {
    throw Error(Errc::out_of_resources,
                Error::Text("how a child process ended is unknown, since this program ignores SIGCHLD or waits for all "
                            "its children; leave the signal and the waiting to their defaults"));
  }
  if (is_open) (void)drain(output.first.get(), text);
  outcome.output = text.str();
  return outcome;
}

}  // namespace rondo::measure::detail
