// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>

namespace rondo::detail {

/// `error`: an errno. @throws Error out_of_resources if the system has no room, memory or descriptor left, or a disk
/// fails; otherwise invalid_argument
[[noreturn, gnu::cold]] inline void fail_file(const char* path, const char* what, int error) {
  const bool is_scarce = error == ENOSPC || error == EDQUOT || error == EIO || error == ENOMEM || error == EMFILE ||
                         error == ENFILE || error == EFBIG;
  throw Error(is_scarce ? Errc::out_of_resources : Errc::invalid_argument,
              Error::Text{path == nullptr || *path == '\0' ? "a file without a name" : path, ": ", what, ": ",
                          std::strerror(error)});
}

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// The contents of a file. @throws Error as fail_file()
[[nodiscard]] inline std::string read_file(const char* path, const char* what) {
  constexpr std::size_t step = std::size_t{1} << 16U;
  const File file{path == nullptr ? nullptr : std::fopen(path, "rb")};
  std::string all;
  for (std::size_t read = step; file != nullptr && read != 0;) {
    const std::size_t before = all.size();
    all.resize(before + step);
    read = std::fread(all.data() + before, 1, step, file.get());
    all.resize(before + read);
  }
  if (file == nullptr || std::ferror(file.get()) != 0) fail_file(path, what, path == nullptr ? ENOENT : errno);
  return all;
}

/// The contents of a file; empty if it cannot be read.
[[nodiscard]] inline std::string contents_of(const char* path) {
  try {
    return read_file(path, "");
  } catch (const Error&) {
    return {};
  }
}

/// Writes what is buffered for standard output. @throws Error as fail_file()
inline void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail_file("standard output", "it cannot be written", errno);
}

/// A file that is written under another name in the folder of `path`, and gets its own name when it is complete. So no
/// reader sees an incomplete file, and if the program fails or is killed, an older file of that name is unchanged. A
/// path that is not a regular file, such as a pipe, is written directly.
///
/// Thread safety: one thread at a time. Errors: as fail_file(); `what` is a clause for their texts, such as "the costs
/// cannot be written there". Both texts must outlive the object.
class NewFile {
 public:
  NewFile(const char* path, const char* what) : path_{path}, what_{what} {
    if (path == nullptr || *path == '\0') fail_file(path, what, ENOENT);
    struct stat old{};
    const bool is_there = ::stat(path, &old) == 0;
    if (!is_there || S_ISREG(old.st_mode) || S_ISDIR(old.st_mode)) {  // a folder is refused by commit()
      // The file that a symbolic link names is replaced, and not the link.
      char real[PATH_MAX];
      target_ = ::realpath(path, real) != nullptr ? real : path;
      const std::string begin = target_ + '.' + std::to_string(::getpid()) + '.';
      for (unsigned n = 0; file_ < 0 && (n == 0 || errno == EEXIST); ++n) {
        temporary_ = begin + std::to_string(n);
        file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);  // NOLINT: the umask counts
      }
      if (is_there) mode_ = old.st_mode & 0777U;
    } else {
      file_ = ::open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);  // NOLINT: a call with a mode has more arguments
    }
    if (file_ < 0) fail_file(path, what, errno);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (file_ >= 0) (void)::close(file_);
    if (!is_committed_ && !temporary_.empty()) (void)::unlink(temporary_.c_str());
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(file_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_file(path_, what_, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  /// Gives the file its name. Waits until its contents have reached the disk, since otherwise a crash of the system
  /// could leave an empty file of that name.
  void commit() {
    if (temporary_.empty()) return;
    if ((mode_ != as_created && ::fchmod(file_, mode_) != 0) || ::fsync(file_) != 0 ||
        std::rename(temporary_.c_str(), target_.c_str()) != 0) {
      fail_file(path_, what_, errno);
    }
    is_committed_ = true;
  }

 private:
  const char* path_;
  const char* what_;
  std::string target_;
  std::string temporary_;  ///< empty if the file is written directly
  static constexpr mode_t as_created = ~mode_t{0};
  mode_t mode_ = as_created;  ///< the permissions of the file that is replaced
  int file_ = -1;
  bool is_committed_ = false;
};

/// Writes a file as a whole. `contents`: a text, or values that follow each other in memory. @throws Error as NewFile
template <class Contents>
void write_file(const char* path, const char* what, const Contents& contents) {
  NewFile file(path, what);
  file.write(std::as_bytes(std::span(contents)));
  file.commit();
}

}  // namespace rondo::detail
