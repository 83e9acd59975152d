// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/graph/words.hpp>
#include <rondo/platform/file.hpp>
#include <rondo/tensor/data_type.hpp>
#include <rondo/types.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The description of a dump: `manifest.json`, next to the .npy files that it lists.
namespace rondo::observe {

/// A tensor of the dumped graph.
struct DumpedTensor {
  std::string name;
  DataType type = DataType::float32;
  Direction direction = Direction::in;
  std::vector<std::int64_t> shape;
  std::uint32_t memory = 0;  ///< the tensor that owns its memory: itself, the source of a view, or a reused input
  std::uint64_t offset = 0;  ///< where it begins there, in bytes
  bool descriptor = false;   ///< a value that holds an address, which is valid in the dumped round only
  bool needed = false;  ///< for a workspace: whether a task, dumped or not, reads its memory, or the round leaves it
};

/// The contents of a tensor. Several tasks may share a file: contents that did not change are written once.
struct DumpedContents {
  std::uint32_t tensor = 0;  ///< its index in DumpedRound::tensors
  std::string file;
};

/// A task: its kernel, its arguments, and the contents of its tensors before and after it.
struct DumpedTask {
  std::uint32_t id = 0;  ///< TaskId, the position in the order of add()
  std::string kernel;
  CoreType core = CoreType::vector;
  std::uint32_t blocks = 1;
  std::uint32_t block_bytes = 0;        ///< the size of one argument block
  bool idle = false;                    ///< no kernel: the task sets workspaces to zero
  bool finished = false;                ///< its kernel returned without an exception
  std::string args;                     ///< the argument blocks: int64 of shape {blocks, block_bytes / 8}
  std::vector<graph::ArgRecord> slots;  ///< the meaning of each word of a block; `tensor` as in DumpedContents
  std::vector<DumpedContents> read;     ///< contents before it ran
  std::vector<DumpedContents> written;  ///< contents after it ran
};

/// One round: all its tensors, and the selected tasks in the order in which they ran.
struct DumpedRound {
  std::string folder;
  std::uint64_t round = 0;
  std::vector<DumpedTensor> tensors;
  std::vector<DumpedTask> tasks;
};

namespace detail {

inline constexpr const char* manifest_name = "manifest.json";
inline constexpr int manifest_version = 1;

using Slot = graph::ArgRecord;
inline constexpr std::string_view slot_kinds[] = {"address",   "scalar", "extent",          "block",       "constant",
                                                  "own_block", "system", "reshaped_extent", "filled_bytes"};
static_assert(std::size(slot_kinds) == static_cast<std::size_t>(Slot::Kind::filled_bytes) + 1);
inline constexpr std::string_view accesses[] = {"", "read", "write", "read_write"};

/// The enumerator with the name `text`, among `count` that start at 0. @throws Error invalid_argument
template <class E, class Name>
[[nodiscard]] E enumerator(std::string_view text, std::size_t count, Name name) {
  for (std::size_t e = 0; e < count; ++e) {
    if (name(static_cast<E>(e)) == text) return static_cast<E>(e);
  }
  throw Error(Errc::invalid_argument, Error::Text{"'", text, "' is unknown here"});
}

[[nodiscard]] inline nlohmann::ordered_json contents_to_json(const std::vector<DumpedContents>& list) {
  auto json = nlohmann::ordered_json::array();
  for (const DumpedContents& c : list) json.push_back({{"tensor", c.tensor}, {"file", c.file}});
  return json;
}

/// The name of a file in the dump's folder. @throws Error invalid_argument
[[nodiscard]] inline std::string own_file(const nlohmann::json& json) {
  auto name = json.get<std::string>();
  if (name.empty() || name.find('/') != std::string::npos) {
    throw Error(Errc::invalid_argument, Error::Text{"'", name, "' is no file of the dump's folder"});
  }
  return name;
}

[[nodiscard]] inline std::vector<DumpedContents> contents_from_json(const nlohmann::json& json, std::size_t tensors) {
  std::vector<DumpedContents> list;
  for (const auto& each : json) {
    list.push_back({each.at("tensor").get<std::uint32_t>(), own_file(each.at("file"))});
    if (list.back().tensor >= tensors) throw Error(Errc::invalid_argument, Error::Text("it names no tensor"));
  }
  return list;
}

[[nodiscard]] inline std::uint64_t bytes_of(const DumpedTensor& tensor) {
  std::uint64_t bytes = size_of(tensor.type);
  for (const std::int64_t extent : tensor.shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      throw Error(Errc::invalid_argument, Error::Text{"tensor '", tensor.name, "' has an invalid shape"});
    }
  }
  return bytes;
}

/// Checks that each tensor lies within the memory that it names. @throws Error invalid_argument
inline void check_memory(const std::vector<DumpedTensor>& tensors) {
  for (const DumpedTensor& tensor : tensors) {
    if (tensor.memory >= tensors.size()) {
      throw Error(Errc::invalid_argument, Error::Text{"tensor '", tensor.name, "' lies in the memory of tensor ",
                                                      tensor.memory, "; there are ", tensors.size()});
    }
    const std::uint64_t all = bytes_of(tensors[tensor.memory]);
    const std::uint64_t bytes = bytes_of(tensor);
    if (bytes > all || tensor.offset > all - bytes) {
      throw Error(Errc::invalid_argument,
                  Error::Text{"tensor '", tensor.name, "' lies outside of its memory, that of '",
                              tensors[tensor.memory].name, "'"});
    }
  }
}

[[nodiscard]] inline nlohmann::ordered_json to_json(const DumpedTask& task) {
  auto slots = nlohmann::ordered_json::array();
  for (const Slot& s : task.slots) {
    nlohmann::ordered_json slot{
        {"kind", slot_kinds[static_cast<std::size_t>(s.kind)]}, {"offset", s.offset}, {"width", s.width}};
    if (s.kind == Slot::Kind::address) {
      slot["tensor"] = s.tensor;
      slot["access"] = accesses[static_cast<std::size_t>(s.access)];
    }
    if (s.kind == Slot::Kind::own_block || s.kind == Slot::Kind::system) slot["bits"] = s.bits;
    slots.push_back(std::move(slot));
  }
  return {{"id", task.id},
          {"kernel", task.kernel},
          {"core", to_string(task.core)},
          {"blocks", task.blocks},
          {"block_bytes", task.block_bytes},
          {"idle", task.idle},
          {"finished", task.finished},
          {"args", task.args},
          {"slots", std::move(slots)},
          {"read", contents_to_json(task.read)},
          {"written", contents_to_json(task.written)}};
}

[[nodiscard]] inline DumpedTask task_from_json(const nlohmann::json& json, std::size_t tensors) {
  DumpedTask task;
  task.id = json.at("id").get<std::uint32_t>();
  task.kernel = json.at("kernel").get<std::string>();
  task.core = enumerator<CoreType>(json.at("core").get<std::string>(), core_type_count,
                                   [](CoreType c) { return std::string_view{to_string(c)}; });
  task.blocks = json.at("blocks").get<std::uint32_t>();
  task.block_bytes = json.at("block_bytes").get<std::uint32_t>();
  if (task.block_bytes % sizeof(ArgWord) != 0) {
    throw Error(Errc::invalid_argument, Error::Text("the size of an argument block is no multiple of 8"));
  }
  task.idle = json.at("idle").get<bool>();
  task.finished = json.at("finished").get<bool>();
  task.args = own_file(json.at("args"));
  for (const auto& each : json.at("slots")) {
    Slot slot;
    slot.kind = enumerator<Slot::Kind>(each.at("kind").get<std::string>(), std::size(slot_kinds),
                                       [](Slot::Kind k) { return slot_kinds[static_cast<std::size_t>(k)]; });
    slot.offset = each.at("offset").get<std::uint32_t>();
    const auto width = each.at("width").get<std::uint64_t>();
    if (width != 4 && width != 8) throw Error(Errc::invalid_argument, Error::Text("a slot's width is wrong"));
    slot.width = static_cast<std::uint8_t>(width);
    if (slot.kind == Slot::Kind::address) {
      slot.tensor = each.at("tensor").get<std::uint32_t>();
      slot.access = enumerator<Access>(each.at("access").get<std::string>(), std::size(accesses),
                                       [](Access a) { return accesses[static_cast<std::size_t>(a)]; });
      if (slot.tensor >= tensors) throw Error(Errc::invalid_argument, Error::Text("it names no tensor"));
    }
    slot.bits = each.value("bits", ArgWord{0});
    task.slots.push_back(slot);
  }
  task.read = contents_from_json(json.at("read"), tensors);
  task.written = contents_from_json(json.at("written"), tensors);
  return task;
}

}  // namespace detail

/// Writes `round.folder`/manifest.json, as a whole. @throws Error invalid_argument if there can be no such file,
/// out_of_resources if the disk is full
inline void write_manifest(const DumpedRound& round) {
  nlohmann::ordered_json json{{"format", "rondo-dump"}, {"version", detail::manifest_version}, {"round", round.round}};
  auto& tensors = json["tensors"] = nlohmann::ordered_json::array();
  for (const DumpedTensor& t : round.tensors) {
    tensors.push_back({{"name", t.name}, {"type", to_string(t.type)}, {"direction", to_string(t.direction)}});
    tensors.back()["shape"] = t.shape;
    tensors.back()["memory"] = t.memory;
    tensors.back()["offset"] = t.offset;
    tensors.back()["descriptor"] = t.descriptor;
    tensors.back()["needed"] = t.needed;
  }
  auto& tasks = json["tasks"] = nlohmann::ordered_json::array();
  for (const DumpedTask& t : round.tasks) tasks.push_back(detail::to_json(t));
  const std::string path = round.folder + '/' + detail::manifest_name;
  const std::string text = json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  rondo::detail::write_file(path.c_str(), "the manifest cannot be written there", text);
}

/// Reads the manifest of the dump in `folder`, but no tensors. @throws Error invalid_argument if there is none, or if
/// it does not have this form
[[nodiscard]] inline DumpedRound read_manifest(const std::string& folder) {
  const std::string path = folder + '/' + detail::manifest_name;
  const std::string text =
      rondo::detail::read_file(path.c_str(), "the folder is no dump, or its manifest cannot be read");
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.at("format") != "rondo-dump" || json.at("version") != detail::manifest_version) {
      throw Error(Errc::invalid_argument, Error::Text{"it is no rondo-dump of version ", detail::manifest_version});
    }
    DumpedRound round{folder, json.at("round").get<std::uint64_t>(), {}, {}};
    for (const auto& each : json.at("tensors")) {
      DumpedTensor tensor;
      tensor.name = each.at("name").get<std::string>();
      tensor.type = detail::enumerator<DataType>(each.at("type").get<std::string>(), data_type_count,
                                                 [](DataType t) { return std::string_view{to_string(t)}; });
      tensor.direction = detail::enumerator<Direction>(each.at("direction").get<std::string>(),
                                                       static_cast<std::size_t>(Direction::session_value) + 1,
                                                       [](Direction d) { return std::string_view{to_string(d)}; });
      tensor.shape = each.at("shape").get<std::vector<std::int64_t>>();
      // Dumps of earlier versions do not have these.
      tensor.memory = each.value("memory", static_cast<std::uint32_t>(round.tensors.size()));
      tensor.offset = each.value("offset", std::uint64_t{0});
      tensor.descriptor = each.value("descriptor", false);
      tensor.needed = each.value("needed", false);
      round.tensors.push_back(std::move(tensor));
    }
    detail::check_memory(round.tensors);
    for (const auto& each : json.at("tasks")) {
      round.tasks.push_back(detail::task_from_json(each, round.tensors.size()));
    }
    return round;
  } catch (const nlohmann::json::exception& e) {
    throw Error(Errc::invalid_argument, Error::Text{path, ": ", e.what()});
  } catch (const Error& e) {
    throw Error(e.code(), Error::Text{path, ": ", e.what()});
  }
}

}  // namespace rondo::observe
