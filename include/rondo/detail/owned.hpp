// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rondo::detail {

/// One object on the heap, or none: as std::unique_ptr, whose header would cost everybody who includes the umbrella 60
/// ms of compile time.
template <class T>
class Owned {
 public:
  Owned() noexcept = default;
  /// Takes over what `new` returned.
  explicit Owned(T* object) noexcept : object_{object} {}
  Owned(Owned&& other) noexcept : object_{other.object_} { other.object_ = nullptr; }
  Owned& operator=(Owned&& other) noexcept {
    T* const object = object_;
    object_ = other.object_;
    other.object_ = object;
    return *this;
  }
  ~Owned() { delete object_; }

  void reset() noexcept { *this = Owned{}; }
  [[nodiscard]] T* get() const noexcept { return object_; }
  [[nodiscard]] T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const Owned& owned, decltype(nullptr)) noexcept { return owned.object_ == nullptr; }

 private:
  T* object_ = nullptr;
};

}  // namespace rondo::detail
