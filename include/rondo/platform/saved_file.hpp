// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/saved_session.hpp>

#include <concepts>
#include <cstdint>
#include <optional>

namespace rondo {

class SavedFile;

/// The reaction to a file that the options name and the session cannot use.
enum class IfUnusable : std::uint8_t {
  refuse,  ///< opening throws an Error that says why
  ignore,  ///< the session plans and learns as without a file; its log says why
};

namespace detail {

/// Reads a file of session.save(). Leaves `state` empty if the file cannot be used and is to be ignored; `reason` then
/// says why. @throws Error of read_saved_file() and decode_saved() otherwise
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

#if RONDO_HAS_BODIES
RONDO_INLINE void detail::load_saved(const SavedFile& file, const SavedOrigin& origin, std::optional<SavedState>& state,
                                     Error::Text& reason) {
  try {
    state = decode_saved(file.path(), read_saved_file(file.path()), make_saved_key(origin), origin.graph, origin.chip);
  } catch (const Error& error) {
    if (file.if_unusable() == IfUnusable::refuse) throw;
    reason = Error::Text(error.what());
  }
}
#endif

}  // namespace rondo
