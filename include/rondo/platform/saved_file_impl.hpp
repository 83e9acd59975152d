// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/lanes.hpp>
#include <rondo/platform/file.hpp>
#include <rondo/platform/saved_file.hpp>
#include <rondo/version.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

/// The bodies of saved_file.hpp, which includes them.
namespace rondo::detail {

/// The beginning of a file.
struct SavedHeader {
  char magic[8] = {'r', 'o', 'n', 'd', 'o', ' ', 's', '\n'};
  std::uint32_t format = 2;  ///< as a number of this machine: another byte order is another format
  std::uint32_t rondo[3] = {static_cast<std::uint32_t>(version.major), static_cast<std::uint32_t>(version.minor),
                            static_cast<std::uint32_t>(version.patch)};
  std::uint64_t size = 0;      ///< the number of bytes after the header
  std::uint64_t checksum = 0;  ///< the checksum of these bytes
};

/// The name of a platform, shortened if it is longer.
struct SavedName {
  char text[32] = {};
};

[[nodiscard]] inline std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
  Hash hash;
  hash.add(bytes);
  return hash.value();
}
[[noreturn, gnu::cold]] inline void refuse_saved(const char* path, const Error::Text& why) {
  throw Error(Errc::invalid_argument, Error::Text{path, ": ", why, "; delete the file, and save the session again"});
}

inline void add_tensors(Hash& hash, const graph::GraphView& graph) {
  for (const graph::TensorRecord& tensor : graph.tensors) {
    hash.add(std::uint64_t{tensor.name.begin} << 32U | tensor.name.size);
    hash.add(static_cast<std::uint64_t>(tensor.type) | static_cast<std::uint64_t>(tensor.direction) << 8U |
             static_cast<std::uint64_t>(tensor.zeroed) << 16U | static_cast<std::uint64_t>(tensor.value.kind) << 24U |
             std::uint64_t{tensor.fixed} << 32U | std::uint64_t{tensor.kept} << 33U |
             std::uint64_t{tensor.delivered} << 34U | static_cast<std::uint64_t>(tensor.memory) << 48U |
             std::uint64_t{tensor.shape.rank()} << 40U);
    hash.add(std::uint64_t{tensor.alias_of} << 32U | tensor.view_of);
    for (std::size_t d = 0; d < tensor.shape.rank(); ++d) hash.add(static_cast<std::uint64_t>(tensor.shape.extent(d)));
    hash.add(tensor.count);
    hash.add(tensor.view_first);
  }
}
inline void add_tasks(Hash& hash, const graph::GraphView& graph) {
  for (const graph::TaskRecord& task : graph.tasks) {
    hash.add(std::uint64_t{task.name.begin} << 32U | task.name.size);
    hash.add(static_cast<std::uint64_t>(task.core) | std::uint64_t{task.fills} << 8U |
             std::uint64_t{task.call != nullptr} << 9U | std::uint64_t{task.blocks} << 32U);
    hash.add(std::uint64_t{task.arg_count} << 32U | task.block_bytes);
    hash.add(std::uint64_t{task.threads} << 32U | task.shared_bytes);
    hash.add(std::uint64_t{task.loop} << 32U | task.added_as);
  }
  for (const graph::LoopRecord& loop : graph.loops) {
    hash.add(static_cast<std::uint64_t>(loop.kind) | std::uint64_t{loop.condition} << 32U);
    hash.add(std::uint64_t{loop.parent} << 32U | loop.decision);
    hash.add(std::uint64_t{loop.first} << 32U | loop.last);
  }
  for (const graph::ArgRecord& arg : graph.args) {
    hash.add(static_cast<std::uint64_t>(arg.kind) | static_cast<std::uint64_t>(arg.access) << 8U |
             std::uint64_t{arg.width} << 16U | std::uint64_t{arg.tensor} << 32U);
    hash.add(std::uint64_t{arg.offset} << 32U | std::uint64_t{arg.in_place_of} << 16U | arg.dimension);
    if (arg.kind != graph::ArgRecord::Kind::scalar) hash.add(static_cast<std::uint64_t>(arg.bits));
  }
}

RONDO_INLINE SavedKey make_saved_key(const SavedOrigin& origin) {
  const auto& [platform, graph, chip, rules] = origin;
  SavedKey key{.platform = FixedText<32>(platform)};
  Hash hash;
  hash.add(graph.tensors.size());
  hash.add(graph.tasks.size());
  hash.add(graph.args.size());
  hash.add(graph.text);
  add_tensors(hash, graph);
  add_tasks(hash, graph);
  hash.add(std::as_bytes(graph.successor_begin));
  hash.add(std::as_bytes(graph.successors));
  if (graph.lanes != nullptr) {
    hash.add(graph.lanes->count);
    hash.add(std::as_bytes(std::span(graph.lanes->lane_of)));
    hash.add(std::as_bytes(std::span(graph.lanes->order)));
  }
  key.graph = hash.value();
  hash = {};
  hash.add(std::string_view(chip.name));
  for (const std::uint32_t limit :
       {chip.max_blocks, chip.max_task_tensors, chip.max_task_scalars, chip.max_graph_tensors, chip.tensor_alignment,
        chip.view_alignment, chip.block_granule, chip.block_guard}) {
    hash.add(limit);
  }
  key.chip = hash.value();
  hash = {};
  hash.add(rules.planner);
  hash.add(rules.concurrency);
  hash.add(rules.slots);
  hash.add(std::uint64_t{rules.ports_last} << 1U | std::uint64_t{rules.residents_first});
  key.layout = hash.value();
  return key;
}

RONDO_INLINE std::vector<std::byte> encode_saved(const SavedKey& key, const SavedState& state) {
  ByteWriter body;
  SavedName platform;
  std::memcpy(platform.text, key.platform.c_str(), key.platform.size());
  body.put(platform);
  body.put(key.chip);
  body.put(key.graph);
  body.put(key.layout);
  body.put(state.arena_bytes);
  body.put_all(state.offsets);
  body.put(std::uint64_t{state.costs.has_value()});
  body.put(state.costs.value_or(args::RefreshCosts{}));
  body.put(std::uint64_t{state.learned.size()});
  for (const std::vector<std::byte>& slot : state.learned) body.put_all(slot);
  SavedHeader header;
  header.size = body.bytes().size();
  header.checksum = checksum_of(body.bytes());
  ByteWriter file;
  file.put(header);
  std::vector<std::byte> bytes = file.take();
  bytes.insert(bytes.end(), body.bytes().begin(), body.bytes().end());
  return bytes;
}

RONDO_INLINE SavedState decode_saved(const char* path, std::span<const std::byte> bytes, const SavedKey& key,
                                     const graph::GraphView& graph, const arch::Limits& chip) {
  using Text = Error::Text;
  const SavedHeader expected;
  ByteReader start(bytes);
  const auto header = start.get<SavedHeader>();
  if (!start.ok() || std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0) {
    refuse_saved(path, Text("this is no file of a session"));
  }
  if (header.format != expected.format || std::memcmp(header.rondo, expected.rondo, sizeof(header.rondo)) != 0) {
    refuse_saved(path, Text{"another version of Rondo wrote it: ", header.rondo[0], ".", header.rondo[1], ".",
                            header.rondo[2], ", format ", header.format});
  }
  const std::span<const std::byte> body = bytes.subspan(sizeof(header));
  if (header.size != body.size()) {
    refuse_saved(path,
                 Text{"it is damaged: it has ", body.size(), " bytes after its header and should have ", header.size});
  }
  if (header.checksum != checksum_of(body)) refuse_saved(path, Text("it is damaged: its checksum is wrong"));
  ByteReader from(body);
  auto platform = from.get<SavedName>();
  platform.text[sizeof(platform.text) - 1] = 0;
  const auto chip_seen = from.get<std::uint64_t>();
  if (std::strcmp(platform.text, key.platform.c_str()) != 0 || chip_seen != key.chip) {
    refuse_saved(path, Text{"it was saved on ", platform.text, " and is not for ", key.platform.c_str(),
                            ", or the limits of the chip have changed"});
  }
  if (from.get<std::uint64_t>() != key.graph)
    refuse_saved(path, Text("it was saved for another graph, or for other lanes of it"));
  if (from.get<std::uint64_t>() != key.layout) {
    refuse_saved(path, Text("it was saved with another planner, another engine or another number of rounds in flight"));
  }
  SavedState state;
  state.arena_bytes = from.get<std::uint64_t>();
  state.offsets = from.get_all<std::uint64_t>();
  const bool has_costs = from.get<std::uint64_t>() != 0;
  const auto costs = from.get<args::RefreshCosts>();
  if (has_costs) state.costs = costs;
  const auto slots = from.get<std::uint64_t>();
  for (std::uint64_t s = 0; s < slots && from.ok(); ++s) state.learned.push_back(from.get_all<std::byte>());
  // A wrong plan would let tensors overwrite each other or the heap. The checksum detects damage; this detects the
  // worst plans that have a good checksum.
  bool is_good = from.is_finished() && state.offsets.size() == graph.tensors.size();
  for (std::size_t t = 0; is_good && t < state.offsets.size(); ++t) {
    const graph::TensorRecord& tensor = graph.tensors[t];
    const std::uint64_t offset = state.offsets[t];
    const bool is_outside =
        graph.tensors[graph::root_of(graph.tensors, static_cast<std::uint32_t>(t))].is_outside_arena();
    if (is_outside || is_carried_in_args(tensor.direction) || (offset == 0 && tensor.bytes == 0)) continue;
    const std::uint64_t end = tensor.is_view() ? tensor.bytes : chip.block_bytes(tensor.bytes);
    is_good = offset <= state.arena_bytes && end <= state.arena_bytes - offset &&
              (tensor.is_view() || offset % chip.tensor_alignment == 0);
    if (tensor.is_view()) is_good = is_good && offset == state.offsets[tensor.view_of] + tensor.view_offset();
  }
  if (!is_good) refuse_saved(path, Text("it is damaged: its plan does not belong to this graph"));
  return state;
}

RONDO_INLINE void write_saved_file(const char* path, std::span<const std::byte> bytes) {
  write_file(path, "the session cannot be saved there", bytes);
}

RONDO_INLINE void load_saved(const SavedFile& file, const SavedOrigin& origin, std::optional<SavedState>& state,
                             Error::Text& reason) {
  try {
    const char* const path = file.path();
    if (::access(path, F_OK) != 0 && errno == ENOENT) {
      throw Error(Errc::invalid_argument,
                  Error::Text{path,
                              ": there is no such file; session.save() writes it, and IfUnusable::ignore opens the "
                              "session without it"});
    }
    const std::string bytes = read_file(path, "the saved session cannot be read");
    state = decode_saved(path, std::as_bytes(std::span(bytes)), make_saved_key(origin), origin.graph, origin.chip);
  } catch (const Error& error) {
    if (file.if_unusable() == IfUnusable::refuse) throw;
    reason = Error::Text(error.what());
  }
}

}  // namespace rondo::detail
