// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "folder.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

/// Helpers of the tests of child processes.
namespace rondo::test {

[[nodiscard]] inline std::string read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// Whether the process exists and is no zombie.
[[nodiscard]] inline bool is_alive(long pid) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/stat"};
  std::string stat;
  // The process may end after its file was opened. Reading then fails, and read_file would throw.
  (void)std::getline(in, stat);
  const auto end = stat.rfind(')');
  return end != std::string::npos && end + 2 < stat.size() && stat[end + 2] != 'Z' && stat[end + 2] != 'X';
}

/// Starts this test program again as a process of its own that runs one test case, which is skipped otherwise, with
/// further environment variables. It ends with this process. @returns its process number
[[nodiscard]] inline pid_t start_program(const std::string& test_case, std::vector<std::string> environment) {
  for (char** each = environ; *each != nullptr; ++each) environment.emplace_back(*each);
  const std::string filter = "--test-case=" + test_case;
  std::vector<char*> variables;
  for (std::string& variable : environment) variables.push_back(variable.data());
  variables.push_back(nullptr);
  const char* const arguments[] = {"test", "--no-skip=1", "--out=/dev/null", filter.c_str(), nullptr};
  const pid_t program = ::fork();
  if (program == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)::execve("/proc/self/exe", const_cast<char* const*>(arguments), variables.data());
    ::_exit(127);
  }
  return program;
}

/// Waits until a condition holds.
template <class Predicate>
void await(Predicate&& predicate) {
  while (!predicate()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace rondo::test
