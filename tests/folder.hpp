// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

namespace rondo::test {

/// An empty folder, which is removed at the end of its lifetime.
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

}  // namespace rondo::test
