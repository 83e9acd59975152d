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

/// One measurement as it stands in a log: which candidate of which task, and what came of it.
struct Record : Measured {
  std::string task;  ///< what all candidates do; times of different tasks do not compare
  std::string key;   ///< which candidate
  double build_seconds = 0;
  double at = 0;  ///< when, in seconds since 1970
};

/// One line of JSON, with its newline. Bytes that are no UTF-8 (compilers print such) are replaced.
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

/// The inverse. Nothing if it is no such line; fields that it does not know are passed over.
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

/// The measurements of a task, in a file that several runs of a tuner go on with.
///
///     RecordLog log("matmul.jsonl", "matmul 256 on a2a3_sim");
///     if (!log.is_settled(key)) measurer.submit(source, [&, key](const Result& r) { log.append(key, r); });
///
/// Each record is appended by one write of one line, so a program that is killed leaves at most one line cut short;
/// that is passed over, and not continued. Lines of other tasks are left alone.
/// Thread safety: all members from any thread. Several programs may append to one file, and see what was there when
/// they opened it.
class RecordLog {
 public:
  /// Opens the file, or makes it, and reads it. @throws Error invalid_argument if that cannot be done
  RecordLog(const std::string& path, std::string task) : path_{path}, task_{std::move(task)} {
    std::ifstream in{path, std::ios::binary};
    for (std::string line; std::getline(in, line);) {
      begins_line_ = !in.eof();  // the end came before a newline
      if (auto record = from_line(line); !record) {
        if (!line.empty()) ++unreadable_;
      } else if (record->task == task_) {
        add(std::move(*record));
      }
    }
    file_ = detail::Fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)};
    if (!file_) {
      throw Error(Errc::invalid_argument, Error::Text("the log ", path, " cannot be written: ", std::strerror(errno)));
    }
  }

  /// Adds what came of a candidate; one that was stopped is left out. It is in the file when this returns.
  /// @throws Error out_of_resources if it cannot be written, as on a full disk
  void append(const std::string& key, const Result& result) {
    if (result.fault == Fault::stopped) return;
    Record record;
    static_cast<Measured&>(record) = result;
    record.task = task_;
    record.key = key;
    record.build_seconds = result.build_seconds;
    record.at = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    std::string line = to_line(record);
    const std::lock_guard lock(mutex_);
    if (!begins_line_) line.insert(line.begin(), '\n');
    const ssize_t n = ::write(file_.get(), line.data(), line.size());
    if (n != static_cast<ssize_t>(line.size())) {
      if (n > 0) begins_line_ = false;
      throw Error(Errc::out_of_resources,
                  Error::Text("the log ", path_, " cannot be written: ", n < 0 ? std::strerror(errno) : "disk full"));
    }
    begins_line_ = true;
    add(std::move(record));
  }

  /// The latest record of a candidate.
  [[nodiscard]] std::optional<Record> find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto position = latest_.find(key);
    if (position == latest_.end()) return std::nullopt;
    return records_[position->second];
  }
  /// Whether there is a record that measuring again would only repeat.
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
  /// All of this task, in the order of the file.
  [[nodiscard]] std::vector<Record> records() const {
    const std::lock_guard lock(mutex_);
    return records_;
  }
  /// Lines that were no records when the file was read.
  [[nodiscard]] std::size_t unreadable() const noexcept { return unreadable_; }

 private:
  void add(Record record) {
    const std::size_t position = records_.size();
    latest_[record.key] = position;
    const bool is_best = record.ok() && record.best() < best_seconds_;
    if (is_best) best_seconds_ = record.best();
    if (is_best || best_ == position) best_ = is_best ? position : position + 1;
    records_.push_back(std::move(record));
  }

  std::string path_;
  std::string task_;
  detail::Fd file_;
  mutable std::mutex mutex_;
  std::vector<Record> records_;
  std::unordered_map<std::string, std::size_t> latest_;
  std::size_t best_ = 0;  ///< records_.size(): none
  double best_seconds_ = std::numeric_limits<double>::infinity();
  std::size_t unreadable_ = 0;
  bool begins_line_ = true;
};

}  // namespace rondo::measure
