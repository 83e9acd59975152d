// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/task_graph.hpp>
#include <rondo/observe/kernel_table.hpp>
#include <rondo/observe/manifest.hpp>
#include <rondo/observe/npy.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/session/open.hpp>
#include <rondo/tensor/data_type.hpp>
#include <rondo/types.hpp>

#include <range/v3/algorithm/find.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// Runs a dumped task again; see replay.hpp.
namespace rondo::observe::detail {

using ContentsByTensor = std::map<std::uint32_t, std::vector<std::byte>>;

/// Reads a file, which must have the tensor's type and shape. @throws Error invalid_argument
[[nodiscard]] inline std::vector<std::byte> contents_of(const DumpedRound& dump, const DumpedContents& contents) {
  const std::string path = dump.folder + '/' + contents.file;
  NpyArray array = read_npy(path, dump.tensors[contents.tensor].type);
  if (array.shape != dump.tensors[contents.tensor].shape) fail_npy(path, "has another shape than the manifest says");
  return std::move(array.bytes);
}

/// Whether the contents of this workspace do not matter after the task that writes it. In a dump of an earlier version,
/// which does not say what is needed, only tasks of the dump that read the tensor itself are known.
[[nodiscard]] inline bool is_scratch(const DumpedRound& dump, std::uint32_t tensor) {
  const auto reads = dump.tasks | ::ranges::views::transform(&DumpedTask::read) | ::ranges::views::join;
  return dump.tensors[tensor].direction == Direction::workspace && !dump.tensors[tensor].needed &&
         ::ranges::find(reads, tensor, &DumpedContents::tensor) == ::ranges::end(reads);
}

/// What replayed tasks wrote, for tasks that read it later: by the memory, since a view or an output that reuses an
/// input shares it with another tensor.
class CarriedResults {
 public:
  /// A task wrote `replayed` where the dump has `dumped`, which has the same size.
  void add(const DumpedRound& dump, std::uint32_t tensor, std::span<const std::byte> dumped,
           std::span<const std::byte> replayed) {
    const Part part = part_of(dump, tensor);
    std::copy(dumped.begin(), dumped.end(), part.dumped.begin());
    std::copy(replayed.begin(), replayed.end(), part.replayed.begin());
  }
  /// A task that was not replayed wrote the tensor: later tasks read the dump.
  void forget(const DumpedRound& dump, std::uint32_t tensor) {
    if (!memories_.contains(dump.tensors[tensor].memory)) return;
    const Part part = part_of(dump, tensor);
    std::copy(part.dumped.begin(), part.dumped.end(), part.replayed.begin());
  }
  /// Replaces those elements of a tensor of the dump that nothing has changed since a replayed task wrote them.
  void put_into(const DumpedRound& dump, std::uint32_t tensor, std::vector<std::byte>& bytes) {
    const Part part = part_of(dump, tensor);
    const std::size_t size = size_of(dump.tensors[tensor].type);
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      if (std::memcmp(&bytes[at], &part.dumped[at], size) == 0) std::memcpy(&bytes[at], &part.replayed[at], size);
    }
  }

 private:
  /// Some memory, with zeros where no task has written: there, an element of the dump replaces itself.
  struct Memory {
    std::vector<std::byte> dumped;
    std::vector<std::byte> replayed;
  };
  /// The part of it that is a tensor.
  struct Part {
    std::span<std::byte> dumped;
    std::span<std::byte> replayed;
  };
  [[nodiscard]] Part part_of(const DumpedRound& dump, std::uint32_t tensor) {
    const DumpedTensor& own = dump.tensors[tensor];
    Memory& found = memories_[own.memory];
    found.dumped.resize(bytes_of(dump.tensors[own.memory]));
    found.replayed.resize(found.dumped.size());
    const std::uint64_t bytes = bytes_of(own);
    return {std::span(found.dumped).subspan(own.offset, bytes), std::span(found.replayed).subspan(own.offset, bytes)};
  }

  std::map<std::uint32_t, Memory> memories_;
};

/// The contents of a task's tensors before it runs: from the dump, with what `carried` has; outputs are poisoned with
/// values that are NaN as floats.
[[nodiscard]] inline ContentsByTensor contents_before(const DumpedRound& dump, const DumpedTask& task,
                                                      CarriedResults* carried) {
  ContentsByTensor contents;
  for (const DumpedContents& r : task.read) {
    auto& bytes = contents[r.tensor] = contents_of(dump, r);
    if (carried != nullptr) carried->put_into(dump, r.tensor, bytes);
  }
  for (const graph::ArgRecord& slot : task.slots) {
    if (slot.kind != graph::ArgRecord::Kind::address || contents.contains(slot.tensor)) continue;
    if (reads(slot.access)) throw Error(Errc::invalid_argument, Error::Text("the manifest lacks what the task reads"));
    auto& bytes = contents[slot.tensor];
    bytes.resize(bytes_of(dump.tensors[slot.tensor]));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = i % 2 == 0 ? std::byte{0xFA} : std::byte{0x7F};
  }
  return contents;
}

/// Converts the dumped slots and values into arguments of a graph whose tensors are numbered by `number`.
[[nodiscard]] inline std::vector<graph::ArgRecord> arguments_of(const DumpedRound& dump, const DumpedTask& task,
                                                                const std::map<std::uint32_t, std::uint32_t>& number) {
  using Kind = graph::ArgRecord::Kind;
  const std::string path = dump.folder + '/' + task.args;
  const NpyArray blocks = read_npy(path, DataType::int64);
  const std::vector<std::int64_t> shape{task.blocks, static_cast<std::int64_t>(task.block_bytes / sizeof(ArgWord))};
  if (blocks.shape != shape) fail_npy(path, "has another shape than the manifest says");
  std::vector<graph::ArgRecord> args;
  for (graph::ArgRecord arg : task.slots) {
    if (arg.offset > task.block_bytes || arg.width > task.block_bytes - arg.offset) {
      throw Error(Errc::invalid_argument, Error::Text("a slot lies outside of its argument block"));
    }
    if (arg.kind == Kind::address) {
      arg.tensor = number.at(arg.tensor);
    } else if (arg.kind == Kind::scalar || arg.kind == Kind::extent || arg.kind == Kind::constant) {
      arg.kind = Kind::constant;
      arg.bits = 0;
      if (!blocks.bytes.empty()) std::memcpy(&arg.bits, blocks.bytes.data() + arg.offset, arg.width);
    }
    args.push_back(arg);
  }
  return args;
}

/// Runs one task in its own session, where its tensors are residents, so that any number of them can be copied.
/// @throws Error if there is no such kernel, a descriptor is read, or the round fails; errors of open()
template <Platform P>
void run_task(const DumpedRound& dump, const DumpedTask& task, const KernelTable& kernels,
              const typename P::Options& options, ContentsByTensor& contents) {
  const KernelTable::Entry* const kernel = kernels.find(task.kernel);
  if (kernel == nullptr) {
    throw Error(Errc::invalid_argument,
                Error::Text{"no kernel called '", task.kernel, "' is linked; add it to the kernels of the replay"});
  }
  if (kernel->block_bytes != 0 && kernel->block_bytes != task.block_bytes) {
    throw Error(Errc::invalid_argument,
                Error::Text{"the kernel takes ", kernel->block_bytes, " bytes of arguments, the dump has ",
                            task.block_bytes, "; its parameters are not those that it was dumped with"});
  }
  TaskGraph graph;
  std::map<std::uint32_t, std::uint32_t> number;
  for (const auto& [t, bytes] : contents) {
    const DumpedTensor& tensor = dump.tensors[t];
    if (tensor.descriptor) {
      throw Error(Errc::unsupported,
                  Error::Text{"the task cannot be replayed, since its value '", tensor.name,
                              "' is a descriptor, whose address was valid in the dumped round only"});
    }
    if (tensor.shape.size() > max_rank) throw Error(Errc::invalid_argument, Error::Text("a shape of too many extents"));
    // A graph has no tensors without elements; the kernel reads the extents from its own arguments.
    const Shape shape = bytes.empty() ? Shape{1} : Shape(tensor.shape.data(), tensor.shape.size());
    (void)graph.add_tensor(tensor.name, tensor.type, Direction::resident, shape);
    number.emplace(t, static_cast<std::uint32_t>(number.size()));
  }
  (void)graph.add_laid_out(task.kernel, task.core, Blocks{task.blocks}, kernel->entry, arguments_of(dump, task, number),
                           task.block_bytes);

  auto session = open<P>(graph, options);
  const auto check = [&](Status status) {
    if (!status) throw Error(status.code(), session.explain(status));
  };
  const auto view = session.graph().view();
  const auto move = [&](std::uint32_t t, auto&& transfer) {
    const std::uint32_t own = number.at(t);
    std::vector<std::byte> stand_in;
    if (contents.at(t).empty()) stand_in.resize(view.tensors[own].bytes);
    auto& bytes = stand_in.empty() ? contents.at(t) : stand_in;
    const std::span elements{reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()};  // NOLINT: as bytes
    check(transfer(Resident<std::uint8_t>{view.key(own)}, elements));
  };
  for (const auto& each : contents) {
    move(each.first, [&](auto tensor, auto elements) { return session.upload(tensor, elements); });
  }
  check(session.run_round());
  for (const graph::ArgRecord& slot : task.slots) {
    if (slot.kind != graph::ArgRecord::Kind::address || !writes(slot.access)) continue;
    move(slot.tensor, [&](auto tensor, auto elements) { return session.download(tensor, elements); });
  }
  check(session.close());
}

}  // namespace rondo::observe::detail
