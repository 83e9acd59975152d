// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rondo {

/// What happens when a session cannot use the file that its options name.
enum class IfUnusable : std::uint8_t {
  refuse,  ///< opening throws an Error that says why
  ignore,  ///< the session plans and learns as without a file; its log says why
};

/// A file of session.save(), from which a session takes its plan and all that was learned: `Options{.saved =
/// "decode.rondo"}`.
struct SavedFile {
  constexpr SavedFile() noexcept = default;
  /// `file` must stay valid until the session is open; null: no file.
  constexpr SavedFile(const char* file, IfUnusable otherwise = IfUnusable::refuse) noexcept  // NOLINT: reads as a path
      : path{file}, if_unusable{otherwise} {}

  const char* path = nullptr;                   ///< null: no file
  IfUnusable if_unusable = IfUnusable::refuse;  ///< if the file is missing, damaged, or of another session
};

}  // namespace rondo
