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

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// The file of session.save(): a header, and the results that a session would otherwise plan, learn and measure again.

namespace rondo {

class SavedFile;

/// The reaction to a file that the options name and the session cannot use.
enum class IfUnusable : std::uint8_t {
  refuse,  ///< opening throws an Error that says why
  ignore,  ///< the session plans and learns as without a file; its log says why
};

namespace detail {

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

/// Reads a file of session.save(). Leaves `state` empty if the file cannot be used and is to be ignored; `reason` then
/// says why. @throws Error invalid_argument if there is no such file; as read_file() and decode_saved() otherwise
void load_saved(const SavedFile& file, const SavedOrigin& origin, std::optional<SavedState>& state,
                Error::Text& reason);

}  // namespace detail

/// A file of session.save(), from which a session takes its plan and all that was learned: `Options{.saved =
/// "decode.rondo"}`. Programs that name no file do not contain the code that reads one.
class SavedFile {
 public:
  constexpr SavedFile() noexcept = default;
  /// `file` must stay valid until the session is open; null: no file.
  constexpr SavedFile(const char* file, IfUnusable otherwise = IfUnusable::refuse) noexcept  // NOLINT: reads as a path
      : path_{file}, if_unusable_{otherwise}, load_{file == nullptr ? nullptr : &detail::load_saved} {}

  /// Null: no file.
  [[nodiscard]] constexpr const char* path() const noexcept { return path_; }
  /// The reaction to a file that is missing, damaged, or of another session.
  [[nodiscard]] constexpr IfUnusable if_unusable() const noexcept { return if_unusable_; }
  /// Called by sessions: reads the file if there is one; see detail::load_saved().
  void load(const detail::SavedOrigin& origin, std::optional<detail::SavedState>& state, Error::Text& reason) const {
    if (load_ != nullptr) load_(*this, origin, state, reason);
  }

 private:
  const char* path_ = nullptr;
  IfUnusable if_unusable_ = IfUnusable::refuse;
  decltype(&detail::load_saved) load_ = nullptr;
};

/// Options with a member `SavedFile saved`: the file from which sessions take their plan and what was learned.
template <class Options>
concept NamesSavedFile = requires(const Options& options) {
  { (options.saved) } -> std::same_as<const SavedFile&>;
};

}  // namespace rondo

#if RONDO_HAS_BODIES
#include <rondo/platform/saved_file_impl.hpp>  // IWYU pragma: export
#endif
