// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

/// Helpers of the fuzzers. A fuzzer that finds a fault ends the process.
namespace rondo::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// Calls `use`. An Error that refuses the bytes is a correct answer, too.
template <class Use>
void allow_refusal(const Use& use) {
  try {
    use();
  } catch (const Error& error) {
    const Errc code = error.code();
    require(code == Errc::invalid_argument || code == Errc::overflow || code == Errc::limit_exceeded);
    require(*error.what() != '\0');
  }
}

/// Takes numbers from the front of the bytes; 0 once there are none left.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : rest_{data, size} {}
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  template <class T = std::uint8_t>
  [[nodiscard]] T take() {
    T value{};
    const std::size_t size = rest_.size() < sizeof(T) ? rest_.size() : sizeof(T);
    if (size != 0) std::memcpy(&value, rest_.data(), size);
    rest_ = rest_.subspan(size);
    return value;
  }
  [[nodiscard]] std::span<const std::uint8_t> rest() const { return rest_; }

 private:
  std::span<const std::uint8_t> rest_;
};

/// A folder of this process, which is removed when it ends.
class Folder {
 public:
  Folder() : path_{std::filesystem::temp_directory_path() / ("rondo_fuzz_" + std::to_string(getpid()))} {
    std::filesystem::create_directory(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string path() const { return path_.string(); }
  /// Writes a file of the folder; returns its path.
  std::string write(const char* name, std::span<const std::uint8_t> bytes) const {
    std::string path = (path_ / name).string();
    std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                                static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  [[nodiscard]] std::string read(const char* name) const {
    std::ifstream file{path_ / name, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace rondo::fuzz
