// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// What tests of child processes share.
namespace rondo::test {

/// An empty folder that is removed in the end.
class Folder {
 public:
  Folder() { path_ = ::mkdtemp(path_.data()); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t files() const {
    const std::filesystem::directory_iterator all{path_};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "rondo-test-XXXXXX").string();
};

[[nodiscard]] inline std::string read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// Is there such a process, other than as a zombie?
[[nodiscard]] inline bool is_alive(long pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto end = stat.rfind(')');
  return end != std::string::npos && end + 2 < stat.size() && stat[end + 2] != 'Z' && stat[end + 2] != 'X';
}

/// Starts this test program again as a process of its own, to run one test case that is skipped otherwise, with further
/// environment variables. Ends with this one. Returns its process number.
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

/// Looks again and again until it holds, for at most half a minute.
template <class Predicate>
[[nodiscard]] bool becomes_true(Predicate&& predicate) {
  for (int i = 0; i < 6000; ++i) {
    if (predicate()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace rondo::test
