// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/instantiate.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/observe/manifest.hpp>
#include <rondo/observe/npy.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/platform/sim/inline.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace rondo::observe::detail {

/// Makes the folder of the next dump. @throws Error invalid_argument
inline void make_dump_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(Errc::invalid_argument, Error::Text{"dump_next: ", folder, ": ", error.message()});
}

/// Reads the arguments and tensors of simulated tasks from the host's memory.
class HostReader {
 public:
  /// The memory of `args` must outlive this.
  HostReader(const graph::GraphView& graph, const args::ArgsTable& args) : blocks_(graph.tasks.size()) {
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) blocks_[t] = args.block(t, 0);
  }
  [[nodiscard]] const std::byte* args(std::size_t position, std::uint64_t) const noexcept {
    return reinterpret_cast<const std::byte*>(blocks_[position]);
  }
  [[nodiscard]] static const std::byte* tensor(std::uint64_t address, std::uint64_t) noexcept {
    return reinterpret_cast<const std::byte*>(address);  // NOLINT: simulated memory
  }
  /// Runs a task on the calling thread. @returns the status that Inline would return
  [[nodiscard]] Status run_task(const graph::TaskRecord& task, std::size_t position,
                                platform::sim::Halt& halt) noexcept {
    if (halt.requested()) return halt.status();
    const std::size_t words = task.block_bytes / sizeof(ArgWord);
    try {
      for (std::uint32_t b = 0; b < task.blocks; ++b) task.entry(blocks_[position] + b * words);
    } catch (...) {
      halt.record(task.added_as);
      return halt.status();
    }
    return {};
  }

 private:
  std::vector<ArgWord*> blocks_;  ///< by position: the start of its argument blocks
};

/// Writes the data that the tasks of a round read and wrote. Tensors are read immediately before and after the task
/// that uses them, so it does not matter whether others share their memory. If writing fails, `failure()` returns the
/// reason, and the other functions do nothing.
///
/// `Reader`: HostReader, or another class with `args` and `tensor`, which may throw Error.
template <class Reader>
class DumpWriter {
 public:
  /// `graph` and the memory that the reader reads must outlive this. @throws Error unsupported
  DumpWriter(const graph::GraphView& graph, Reader reader)
      : graph_{graph}, reader_{std::move(reader)}, seen_(graph.tensors.size()) {
    for (const graph::TaskRecord& task : graph.tasks) {
      for (const graph::ArgRecord& arg : graph.args_of(task)) {
        if (arg.kind == graph::ArgRecord::Kind::address && arg.width != sizeof(std::uint64_t)) {
          throw Error(Errc::unsupported, Error::Text{"Dumping: task '", graph.name(task.name),
                                                     "' takes an address of 4 bytes, which cannot be looked at"});
        }
      }
    }
  }

  [[nodiscard]] Reader& reader() noexcept { return reader_; }
  /// The reason why the dump was not written; empty if it was.
  [[nodiscard]] const Error::Text& failure() const noexcept { return failure_; }

  /// Calls `write`, which may throw, unless the dump has failed.
  template <class Write>
  void keep_going(Write write) noexcept {
    if (failure_.size() != 0) return;
    try {
      write();
    } catch (...) {
      failure_ = platform::sim::current_exception_text();
    }
  }

  /// `tasks`: the tasks to write; empty: all.
  void begin(const std::string& folder, std::uint64_t round, std::vector<TaskId> tasks) noexcept {
    failure_ = {};
    tasks_ = std::move(tasks);
    keep_going([&] { dump_ = begun(folder, round); });
  }
  void before(std::size_t position) noexcept {
    if (is_chosen(position)) keep_going([&] { add_task(position); });
  }
  void after(std::size_t position) noexcept {
    if (is_chosen(position)) keep_going([&] { finish_task(position); });
  }
  void end() noexcept {
    keep_going([&] { write_manifest(*dump_); });
  }

 private:
  /// The contents of a tensor as they were written last.
  struct Seen {
    std::vector<std::byte> bytes;
    std::string file;
    std::uint32_t versions = 0;
  };

  [[nodiscard]] bool is_chosen(std::size_t position) const noexcept {
    return tasks_.empty() ||
           std::find(tasks_.begin(), tasks_.end(), TaskId{graph_.tasks[position].added_as}) != tasks_.end();
  }
  [[nodiscard]] DumpedRound begun(const std::string& folder, std::uint64_t round) {
    std::filesystem::create_directories(folder);
    std::filesystem::remove(std::filesystem::path{folder} / manifest_name);  // a failed dump must not look complete
    std::fill(seen_.begin(), seen_.end(), Seen{});
    DumpedRound dump{folder, round, {}, {}};
    for (std::uint32_t t = 0; t < graph_.tensors.size(); ++t) {
      const graph::TensorRecord& tensor = graph_.tensors[t];
      DumpedTensor& dumped = dump.tensors.emplace_back();
      dumped.name = graph_.name(tensor.name);
      dumped.type = tensor.type;
      dumped.direction = tensor.direction;
      dumped.shape = shape_of(tensor);
      dumped.memory = graph::home_of(graph_.tensors, t);
      dumped.offset = tensor.view_offset();
      dumped.descriptor = tensor.value.kind == graph::ValueKind::descriptor;
    }
    find_needed(dump);
    return dump;
  }
  /// Finds the workspaces whose contents matter after the task that writes them.
  void find_needed(DumpedRound& dump) const {
    const auto tensors = graph_.tensors;
    std::vector<char> needed(tensors.size());  // by the tensor that owns the memory, which its views share
    for (std::uint32_t t = 0; t < tensors.size(); ++t) {
      const graph::TensorRecord& tensor = tensors[t];
      if (tensor.delivered || tensor.kept) needed[dump.tensors[t].memory] = 1;
      if (tensor.value.kind == graph::ValueKind::descriptor) needed[dump.tensors[tensor.value.source].memory] = 1;
    }
    for (const graph::ArgRecord& arg : graph_.args) {
      if (arg.is_address() && reads(arg.access)) needed[dump.tensors[arg.tensor].memory] = 1;
    }
    for (DumpedTensor& tensor : dump.tensors) tensor.needed = needed[tensor.memory] != 0;
  }

  void add_task(std::size_t position) {
    DumpedRound& dump = *dump_;
    const graph::TaskRecord& record = graph_.tasks[position];
    DumpedTask task;
    task.id = record.added_as;
    task.kernel = graph_.name(record.name);
    task.core = record.core;
    task.blocks = record.blocks;
    task.block_bytes = record.block_bytes;
    task.idle = record.fills;
    task.args = fmt::format("task{}_args.npy", task.id);
    const std::size_t words = task.block_bytes / sizeof(ArgWord);
    const std::uint64_t bytes = std::uint64_t{task.blocks} * words * sizeof(ArgWord);
    write_npy(dump.folder + '/' + task.args, DataType::int64,
              std::vector<std::int64_t>{task.blocks, static_cast<std::int64_t>(words)},
              std::span(reader_.args(position, bytes), bytes));
    const auto args = graph_.args_of(record);
    task.slots.assign(args.begin(), args.end());
    look(dump, position, task.read, [](Access a) { return reads(a); });
    dump.tasks.push_back(std::move(task));
  }

  void finish_task(std::size_t position) {
    DumpedTask& task = dump_->tasks.back();
    look(*dump_, position, task.written, [](Access a) { return writes(a); });
    task.finished = true;
  }

  /// Writes the tensors whose access is `wanted`, except those that have not changed since they were written last.
  template <class Wanted>
  void look(const DumpedRound& dump, std::size_t position, std::vector<DumpedContents>& list, Wanted wanted) {
    for (const graph::ArgRecord& arg : graph_.args_of(graph_.tasks[position])) {
      if (arg.kind != graph::ArgRecord::Kind::address || !wanted(arg.access)) continue;
      const auto is_it = [&](const DumpedContents& c) { return c.tensor == arg.tensor; };
      if (std::any_of(list.begin(), list.end(), is_it)) continue;
      const graph::TensorRecord& tensor = graph_.tensors[arg.tensor];
      std::uint64_t address = 0;
      std::memcpy(&address, reader_.args(position, graph_.tasks[position].block_bytes) + arg.offset, sizeof address);
      const std::span bytes{reader_.tensor(address, tensor.bytes), tensor.bytes};
      Seen& seen = seen_[arg.tensor];
      if (seen.file.empty() || !std::equal(bytes.begin(), bytes.end(), seen.bytes.begin())) {
        seen.bytes.assign(bytes.begin(), bytes.end());
        seen.file = file_name(arg.tensor, seen.versions++);
        write_npy(dump.folder + '/' + seen.file, tensor.type, shape_of(tensor), bytes);
      }
      list.push_back({arg.tensor, seen.file});
    }
  }

  /// The shape of a tensor; that of a session value, which is not a tensor, is its size in bytes.
  [[nodiscard]] static std::vector<std::int64_t> shape_of(const graph::TensorRecord& tensor) {
    if (tensor.direction == Direction::session_value) return {static_cast<std::int64_t>(tensor.bytes)};
    std::vector<std::int64_t> shape(tensor.shape.rank());
    for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = tensor.shape.extent(d);
    return shape;
  }

  /// The name of a tensor's file. In the tensor's name, `_` replaces all but letters, digits, `_` and `-`.
  [[nodiscard]] std::string file_name(std::uint32_t tensor, std::uint32_t version) const {
    std::string plain{graph_.name(graph_.tensors[tensor].name).substr(0, 64)};
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    for (char& c : plain) c = letters.find(c) == std::string_view::npos ? '_' : c;
    return fmt::format("tensor{}_{}.{}.npy", tensor, plain, version);
  }

  graph::GraphView graph_;
  Reader reader_;
  std::vector<Seen> seen_;  ///< by tensor
  std::vector<TaskId> tasks_;
  std::optional<DumpedRound> dump_;
  Error::Text failure_;
};

}  // namespace rondo::observe::detail
