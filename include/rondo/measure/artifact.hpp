// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/detail/posix.hpp>

#include <sys/file.h>

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace rondo::measure {

namespace detail {

/// A folder for artifacts: either a given one, which stays, or a new one in the system's temporary folder, removed with
/// its last artifact. A folder that a killed program left is removed by the next program that makes one.
class ArtifactFolder {
 public:
  /// An empty `path` means a temporary folder. @throws Error out_of_resources
  explicit ArtifactFolder(const std::string& path) : ArtifactFolder(!path.empty()) {
    std::error_code error;
    if (keeps_) {
      std::filesystem::create_directories(path, error);
      path_ = std::filesystem::absolute(path, error).string();
      if (error || !std::filesystem::is_directory(path_, error)) {
        throw Error(Errc::out_of_resources, Error::Text{"no folder can be made at ", path, " for artifacts"});
      }
      return;
    }
    const std::string parent = std::filesystem::temp_directory_path(error).string();
    if (error) fail_call("TMPDIR, or else /tmp, is no folder for temporary files", error.value());
    remove_abandoned(parent);
    path_ = parent + "/" + prefix + "XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) fail_call("no temporary folder could be made", errno);
    // Locked under another name first, so that a file named `lock` is locked throughout its owner's lifetime.
    lock_ = Fd{::open((path_ + "/new").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    if (!lock_ || ::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) fail_call("a temporary folder is unusable", errno);
    std::filesystem::rename(path_ + "/new", path_ + "/lock", error);
    if (error) fail_call("a temporary folder is unusable", error.value());
  }
  ArtifactFolder(const ArtifactFolder&) = delete;
  ArtifactFolder& operator=(const ArtifactFolder&) = delete;
  ~ArtifactFolder() {
    try {
      std::error_code ignored;
      if (!keeps_) std::filesystem::remove_all(path_, ignored);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next program removes the folder
    }
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool keeps() const noexcept { return keeps_; }
  /// A name without an extension that no file in the folder has yet, also if other programs or machines use it.
  [[nodiscard]] std::string unique_name() const {
    // With the process, since a forked one continues with the same numbers.
    return fmt::format("{:016x}-{}-{}", owner_, ::getpid(), count_.fetch_add(1, std::memory_order_relaxed));
  }

 private:
  /// The public constructor calls this one first, so that the destructor removes the folder if the public one throws.
  explicit ArtifactFolder(bool keeps) : keeps_{keeps} {
    if (::getentropy(&owner_, sizeof owner_) != 0) fail_call("the system has no random numbers", errno);
  }

  static constexpr const char* prefix = "rondo-artifacts-";

  static void remove_abandoned(const std::string& parent) noexcept {
    try {
      std::error_code error;
      for (const auto& entry : std::filesystem::directory_iterator{parent, error}) {
        if (!entry.path().filename().string().starts_with(prefix)) continue;
        const Fd lock{::open((entry.path() / "lock").c_str(), O_RDWR | O_CLOEXEC)};
        if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) std::filesystem::remove_all(entry.path(), error);
      }
    } catch (...) {  // NOLINT(bugprone-empty-catch): the folder of another program, or out of memory
    }
  }

  bool keeps_;
  std::uint64_t owner_ = 0;  ///< a random number
  mutable std::atomic<std::uint64_t> count_{0};
  std::string path_;
  Fd lock_;
};

/// A file in the folder; removed with its last user, unless the folder keeps its files.
class ArtifactFile {
 public:
  ArtifactFile(std::shared_ptr<const ArtifactFolder> folder, std::string path)
      : folder_{std::move(folder)}, path_{std::move(path)} {}
  ArtifactFile(const ArtifactFile&) = delete;
  ArtifactFile& operator=(const ArtifactFile&) = delete;
  ~ArtifactFile() {
    if (!folder_->keeps()) (void)::unlink(path_.c_str());
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::shared_ptr<const ArtifactFolder> folder_;
  std::string path_;
};

}  // namespace detail

/// A compiled candidate: a shared object in a file. Copies refer to the same file, which is removed with the last of
/// them, unless its folder was named to the builder or store.
class SharedObject {
 public:
  SharedObject(std::shared_ptr<const detail::ArtifactFile> file, std::string argument)
      : file_{std::move(file)}, argument_{std::move(argument)} {}

  [[nodiscard]] const std::string& path() const noexcept { return file_->path(); }
  /// The input for the workload.
  [[nodiscard]] const std::string& argument() const noexcept { return argument_; }

 private:
  std::shared_ptr<const detail::ArtifactFile> file_;
  std::string argument_;
};

/// Makes artifacts from bytes, for builders and runners that receive them, for example from another machine. Thread
/// safety: put() from any thread. Artifacts may outlive the store.
class ArtifactStore {
 public:
  /// An empty `path` means a temporary folder, removed with the last artifact. @throws Error out_of_resources
  explicit ArtifactStore(const std::string& path = {}) : folder_{std::make_shared<detail::ArtifactFolder>(path)} {}

  /// Stores the bytes in a file. @throws Error out_of_resources if it cannot be written
  [[nodiscard]] SharedObject put(std::string_view bytes, std::string argument = {}) {
    const std::string name = fmt::format("{}/{}.so", folder_->path(), folder_->unique_name());
    auto file = std::make_shared<const detail::ArtifactFile>(folder_, name);
    std::ofstream out{name, std::ios::binary};
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) {
      (void)::unlink(name.c_str());
      throw Error(Errc::out_of_resources, Error::Text{"an artifact cannot be written to ", name});
    }
    return {std::move(file), std::move(argument)};
  }

 private:
  std::shared_ptr<const detail::ArtifactFolder> folder_;
};

}  // namespace rondo::measure
