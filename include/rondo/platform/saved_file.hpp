// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace rondo {

class SavedFile;
namespace detail {
struct SavedOrigin;
struct SavedState;
template <std::size_t Capacity>
class FixedText;

/// Reads a file for a session; see session/saved.hpp. `reason`: why the file is not used. A template, so that headers
/// of platforms can name it without its body.
template <class State>
void load_saved(const SavedFile& file, const SavedOrigin& origin, std::optional<State>& state, FixedText<320>& reason);

}  // namespace detail

/// What happens when a session cannot use the file that its options name.
enum class IfUnusable : std::uint8_t {
  refuse,  ///< opening throws an Error that says why
  ignore,  ///< the session plans and learns as without a file; its log says why
};

/// A file of session.save(), from which a session takes its plan and all that was learned: `Options{.saved =
/// "decode.rondo"}`.
class SavedFile {
 public:
  constexpr SavedFile() noexcept = default;
  /// `file` must stay valid until the session is open; null: no file.
  constexpr SavedFile(const char* file, IfUnusable otherwise = IfUnusable::refuse) noexcept  // NOLINT: reads as a path
      : path_{file}, if_unusable_{otherwise}, load_{&detail::load_saved<detail::SavedState>} {}

  /// Null: no file.
  [[nodiscard]] constexpr const char* path() const noexcept { return path_; }
  /// What happens if the file is missing, damaged, or of another session.
  [[nodiscard]] constexpr IfUnusable if_unusable() const noexcept { return if_unusable_; }

  /// Called by sessions: reads the file if there is one. Programs that never name a file do not contain the reader.
  /// @throws Error as detail::load_saved()
  void load(const detail::SavedOrigin& origin, std::optional<detail::SavedState>& state,
            detail::FixedText<320>& reason) const {
    if (path_ != nullptr) load_(*this, origin, state, reason);
  }

 private:
  const char* path_ = nullptr;
  IfUnusable if_unusable_ = IfUnusable::refuse;
  decltype(&detail::load_saved<detail::SavedState>) load_ = nullptr;
};

}  // namespace rondo
