// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/args/refresh_op.hpp>
#include <rondo/detail/bytes.hpp>
#include <rondo/detail/compiled.hpp>
#include <rondo/detail/fixed_text.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// The file of session.save(): a header, and the results that a session would otherwise plan, learn and measure again.
namespace rondo::detail {

/// Identifies the sessions that may use a file.
struct SavedKey {
  FixedText<32> platform{};
  std::uint64_t graph = 0;   ///< a hash of tensors, tasks, arguments and edges, without the values of scalars
  std::uint64_t chip = 0;    ///< a hash of the chip's limits
  std::uint64_t layout = 0;  ///< a hash of the plan's other inputs: the planner, the order of tasks, the slots
};

/// The contents of a file.
struct SavedState {
  std::uint64_t arena_bytes = 0;
  std::vector<std::uint64_t> offsets{};  ///< by tensor
  std::optional<args::RefreshCosts> costs{};
  std::vector<std::vector<std::byte>> learned{};  ///< by slot; the format is the platform's own
};

/// The origin of a session's plan.
struct LayoutRules {
  std::string_view planner;
  std::uint64_t concurrency = 0;
  std::uint64_t slots = 1;
  bool ports_last = false;
  bool residents_first = false;
};

/// The session that a file is for.
struct SavedOrigin {
  const char* platform;
  graph::GraphView graph;
  const arch::Limits& chip;
  LayoutRules rules;
};

[[nodiscard]] SavedKey make_saved_key(const SavedOrigin& origin);

/// The bytes of a file. @throws std::bad_alloc
[[nodiscard]] std::vector<std::byte> encode_saved(const SavedKey& key, const SavedState& state);
/// The contents of such bytes. `path` is for messages. @throws Error invalid_argument if they are damaged, or of
/// another version, platform or graph
[[nodiscard]] SavedState decode_saved(const char* path, std::span<const std::byte> bytes, const SavedKey& key,
                                      const graph::GraphView& graph, const arch::Limits& chip);

/// Writes a file as a whole. @throws Error as NewFile
void write_saved_file(const char* path, std::span<const std::byte> bytes);
/// @throws Error invalid_argument if there is no such file; out_of_resources if it cannot be read
[[nodiscard]] std::vector<std::byte> read_saved_file(const char* path);

}  // namespace rondo::detail

#if RONDO_HAS_BODIES
#include <rondo/platform/saved_session_impl.hpp>  // IWYU pragma: export
#endif
