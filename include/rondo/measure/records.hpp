// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/detail/posix.hpp>
#include <rondo/measure/result.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rondo::measure {

/// One measurement in a log: the candidate, its task, and the result.
struct Record : Measured {
  std::string task;  ///< the common task of all candidates; times of different tasks are not comparable
  std::string key;   ///< the name of the candidate
  double build_seconds = 0;
  double at = 0;  ///< the time in seconds since 1970
};

/// Makes one line of JSON, including the newline. Bytes that are not UTF-8 (which some compilers print) are replaced.
[[nodiscard]] inline std::string to_line(const Record& r) {
  nlohmann::ordered_json json{{"task", r.task}, {"key", r.key}, {"fault", to_string(r.fault)}};
  if (!r.text.empty()) json["text"] = r.text;
  json["seconds"] = r.seconds;
  if (!r.device_seconds.empty()) json["device_seconds"] = r.device_seconds;
  json["build_seconds"] = r.build_seconds;
  json["run_seconds"] = r.run_seconds;
  json["at"] = r.at;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

/// Parses a line. Returns nothing if it is not a record; unknown fields are ignored.
[[nodiscard]] inline std::optional<Record> from_line(std::string_view line) {
  try {
    const auto json = nlohmann::json::parse(line);
    Record r;
    r.task = json.at("task").get<std::string>();
    r.key = json.at("key").get<std::string>();
    r.fault = fault_from(json.at("fault").get<std::string>());
    r.text = json.value("text", std::string{});
    r.seconds = json.at("seconds").get<std::vector<double>>();
    r.device_seconds = json.value("device_seconds", std::vector<double>{});
    r.build_seconds = json.value("build_seconds", 0.0);
    r.run_seconds = json.value("run_seconds", 0.0);
    r.at = json.value("at", 0.0);
    return r;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

/// The measurements of a task, in a file that several runs of a tuner can continue.
///
///     RecordLog log("matmul.jsonl", "matmul 256 on a2a3_sim");
///     if (!log.is_settled(key)) measurer.submit(source, [&, key](const Result& r) { log.append(key, r); });
///
/// Each record is appended as one line with one write, so a program that is killed leaves at most one truncated line;
/// such a line is skipped, and nothing is appended to it. Lines of other tasks are left alone.
/// Thread safety: all members from any thread. Several programs may append to one file; each sees the records that were
/// there when it opened the file.
class RecordLog {
 public:
  /// Opens or creates the file, and reads it. @throws Error invalid_argument if there can be no such file,
  /// out_of_resources if it cannot be read
  RecordLog(const std::string& path, std::string task) : path_{path}, task_{std::move(task)} {
    file_ = detail::Fd{::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)};
    if (!file_) {
      throw Error(Errc::invalid_argument, Error::Text{"the log ", path, " cannot be written: ", std::strerror(errno)});
    }
    std::ifstream in{path, std::ios::binary};
    if (!in) fail_to_read();
    for (std::string line; std::getline(in, line);) {
      if (auto record = from_line(line); !record) {
        if (!line.empty()) ++unreadable_;
      } else if (record->task == task_) {
        add(std::move(*record));
      }
    }
    if (in.bad()) fail_to_read();
  }

  /// Appends the result of a candidate, unless it was stopped. It is in the file when this function returns.
  /// @throws Error invalid_argument if the log could not be read back: the key or the task is not UTF-8, or a time is
  /// not finite; out_of_resources if it cannot be written, for example because the disk is full
  void append(const std::string& key, const Result& result) {
    if (result.fault == Fault::stopped) return;
    Record record;
    static_cast<Measured&>(record) = result;
    record.task = task_;
    record.key = key;
    record.build_seconds = result.build_seconds;
    record.at = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    std::string line = to_line(record);
    if (const auto read = from_line(line); !read || read->key != key || read->task != task_) {
      throw Error(Errc::invalid_argument,
                  Error::Text{"the log ", path_, " cannot hold a result of '", key, "': ",
                              read ? "the key and the task must be UTF-8" : "each time must be a finite number"});
    }
    const std::lock_guard lock(mutex_);
    if (!begins_line()) line.insert(line.begin(), '\n');
    const ssize_t n = ::write(file_.get(), line.data(), line.size());
    if (n != static_cast<ssize_t>(line.size())) {
      throw Error(Errc::out_of_resources,
                  Error::Text{"the log ", path_, " cannot be written: ", std::strerror(n < 0 ? errno : ENOSPC)});
    }
    add(std::move(record));
  }

  /// The latest record of a candidate.
  [[nodiscard]] std::optional<Record> find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto position = latest_.find(key);
    if (position == latest_.end()) return std::nullopt;
    return records_[position->second];
  }
  /// Whether there is a record that another measurement would only repeat.
  [[nodiscard]] bool is_settled(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto position = latest_.find(key);
    return position != latest_.end() && is_final(records_[position->second].fault);
  }
  /// The candidate with the shortest repeat so far.
  [[nodiscard]] std::optional<Record> best() const {
    const std::lock_guard lock(mutex_);
    if (best_ == records_.size()) return std::nullopt;
    return records_[best_];
  }
  /// All records of this task, in the order of the file.
  [[nodiscard]] std::vector<Record> records() const {
    const std::lock_guard lock(mutex_);
    return records_;
  }
  /// The number of lines that were not records when the file was read.
  [[nodiscard]] std::size_t unreadable() const noexcept { return unreadable_; }

 private:
  [[noreturn]] void fail_to_read() const {
    throw Error(Errc::out_of_resources, Error::Text{"the log ", path_, " cannot be read: ", std::strerror(errno)});
  }
  /// Whether a line ends where the file ends, as it is now: another program may have been killed while it wrote.
  [[nodiscard]] bool begins_line() const noexcept {
    char last = '\n';
    const off_t end = ::lseek(file_.get(), 0, SEEK_END);
    return end <= 0 || ::pread(file_.get(), &last, 1, end - 1) != 1 || last == '\n';
  }
  void add(Record record) {
    const std::size_t position = records_.size();
    records_.push_back(std::move(record));
    const Record& last = records_.back();
    try {
      latest_[last.key] = position;
    } catch (...) {
      records_.pop_back();
      throw;
    }
    const bool is_best = last.ok() && last.best() < best_seconds_;
    if (is_best) best_seconds_ = last.best();
    if (is_best || best_ == position) best_ = is_best ? position : position + 1;
  }

  std::string path_;
  std::string task_;
  detail::Fd file_;
  mutable std::mutex mutex_;
  std::vector<Record> records_;
  std::unordered_map<std::string, std::size_t> latest_;
  std::size_t best_ = 0;  ///< the number of the best record; records_.size() if there is none
  double best_seconds_ = std::numeric_limits<double>::infinity();
  std::size_t unreadable_ = 0;
};

}  // namespace rondo::measure
