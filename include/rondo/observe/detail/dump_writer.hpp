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
#include <vector>

namespace rondo::observe::detail {

/// Runs a graph's tasks on the calling thread, in the graph's order, and writes what each reads and writes. Tensors are
/// looked at just before and just after the task that touches them, so it does not matter which others use their
/// memory.
class DumpWriter {
 public:
  /// `graph` outlives this, and so does the memory of `args`. @throws Error unsupported
  DumpWriter(const graph::GraphView& graph, const args::ArgsTable& args)
      : graph_{graph}, blocks_(graph.tasks.size()), seen_(graph.tensors.size()) {
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
      blocks_[t] = args.block(t, 0);
      for (const graph::ArgRecord& arg : graph.args_of(graph.tasks[t])) {
        if (arg.kind == graph::ArgRecord::Kind::address && arg.width != sizeof(std::uint64_t)) {
          throw Error(Errc::unsupported, Error::Text("Dumping: task '", graph.name(graph.tasks[t].name),
                                                     "' takes an address of 4 bytes, which cannot be looked at"));
        }
      }
    }
  }

  /// One round. `tasks`: which to write; none: all. A failure to write changes nothing but `failure`: the round runs
  /// on.
  /// @returns what Inline would
  [[nodiscard]] Status run(platform::sim::Halt& halt, const std::string& folder, std::uint64_t round,
                           std::span<const TaskId> tasks, Error::Text& failure) noexcept {
    std::optional<DumpedRound> dump;
    const auto keep_going = [&](auto&& write) {
      if (failure.size() != 0) return;
      try {
        write();
      } catch (...) {
        failure = platform::sim::current_exception_text();
      }
    };
    keep_going([&] { dump = begin(folder, round); });
    Status status;
    for (std::size_t t = 0; status.ok() && t < graph_.tasks.size(); ++t) {
      const bool is_chosen =
          tasks.empty() || std::find(tasks.begin(), tasks.end(), TaskId{graph_.tasks[t].added_as}) != tasks.end();
      if (is_chosen) keep_going([&] { before(*dump, t); });
      status = run_task(t, halt);
      if (is_chosen && status.ok()) keep_going([&] { after(*dump, t); });
    }
    keep_going([&] { write_manifest(*dump); });
    return status;
  }

 private:
  /// A tensor's contents as they were last written.
  struct Seen {
    std::vector<std::byte> bytes;
    std::string file;
    std::uint32_t versions = 0;
  };

  [[nodiscard]] DumpedRound begin(const std::string& folder, std::uint64_t round) {
    std::filesystem::create_directories(folder);
    std::filesystem::remove(std::filesystem::path{folder} / manifest_name);  // a failed dump must not pass for the last
    std::fill(seen_.begin(), seen_.end(), Seen{});
    DumpedRound dump{folder, round, {}, {}};
    for (const graph::TensorRecord& t : graph_.tensors) {
      dump.tensors.push_back({std::string{graph_.name(t.name)}, t.type, t.direction, shape_of(t)});
    }
    return dump;
  }

  void before(DumpedRound& dump, std::size_t position) {
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
    const std::span<const ArgWord> blocks{blocks_[position], task.blocks * words};
    write_npy(dump.folder + '/' + task.args, DataType::int64,
              std::vector<std::int64_t>{task.blocks, static_cast<std::int64_t>(words)}, std::as_bytes(blocks));
    const auto args = graph_.args_of(record);
    task.slots.assign(args.begin(), args.end());
    look(dump, position, task.read, [](Access a) { return reads(a); });
    dump.tasks.push_back(std::move(task));
  }

  void after(DumpedRound& dump, std::size_t position) {
    DumpedTask& task = dump.tasks.back();
    look(dump, position, task.written, [](Access a) { return writes(a); });
    task.finished = true;
  }

  /// Writes the tensors that the task accesses so, unless they are as they were when last looked at.
  template <class Wanted>
  void look(const DumpedRound& dump, std::size_t position, std::vector<DumpedContents>& list, Wanted wanted) {
    for (const graph::ArgRecord& arg : graph_.args_of(graph_.tasks[position])) {
      if (arg.kind != graph::ArgRecord::Kind::address || !wanted(arg.access)) continue;
      const auto is_it = [&](const DumpedContents& c) { return c.tensor == arg.tensor; };
      if (std::any_of(list.begin(), list.end(), is_it)) continue;
      const graph::TensorRecord& tensor = graph_.tensors[arg.tensor];
      std::uint64_t address = 0;
      std::memcpy(&address, reinterpret_cast<const std::byte*>(blocks_[position]) + arg.offset, sizeof address);
      const std::span bytes{reinterpret_cast<const std::byte*>(address), tensor.bytes};  // NOLINT: simulated memory
      Seen& seen = seen_[arg.tensor];
      if (seen.file.empty() || !std::equal(bytes.begin(), bytes.end(), seen.bytes.begin())) {
        seen.bytes.assign(bytes.begin(), bytes.end());
        seen.file = file_name(arg.tensor, seen.versions++);
        write_npy(dump.folder + '/' + seen.file, tensor.type, shape_of(tensor), bytes);
      }
      list.push_back({arg.tensor, seen.file});
    }
  }

  [[nodiscard]] static std::vector<std::int64_t> shape_of(const graph::TensorRecord& tensor) {
    std::vector<std::int64_t> shape(tensor.shape.rank());
    for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = tensor.shape.extent(d);
    return shape;
  }

  /// A tensor may be called anything; its file is called by what of that is plain.
  [[nodiscard]] std::string file_name(std::uint32_t tensor, std::uint32_t version) const {
    std::string plain{graph_.name(graph_.tensors[tensor].name).substr(0, 64)};
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    for (char& c : plain) c = letters.find(c) == std::string_view::npos ? '_' : c;
    return fmt::format("tensor{}_{}.{}.npy", tensor, plain, version);
  }

  [[nodiscard]] Status run_task(std::size_t position, platform::sim::Halt& halt) noexcept {
    if (halt.requested()) return halt.status();
    const graph::TaskRecord& task = graph_.tasks[position];
    const std::size_t words = task.block_bytes / sizeof(ArgWord);
    try {
      for (std::uint32_t b = 0; b < task.blocks; ++b) task.entry(blocks_[position] + b * words);
    } catch (...) {
      halt.record(task.added_as);
      return halt.status();
    }
    return {};
  }

  graph::GraphView graph_;
  std::vector<ArgWord*> blocks_;  ///< by position: where its argument blocks start
  std::vector<Seen> seen_;        ///< by tensor
};

}  // namespace rondo::observe::detail
