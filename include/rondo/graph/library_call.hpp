// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/arguments.hpp>
#include <rondo/graph/words.hpp>
#include <rondo/tensor/handle.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Calls to libraries as tasks; see TaskGraph::add_call().
namespace rondo {

/// The argument of the callable of TaskGraph::add_call(): the stream for its work, and the addresses, sizes and values
/// of the task. Trivially copyable; valid only during the call.
class LibraryCall {
 public:
  constexpr LibraryCall(const ArgWord* block, void* stream) noexcept : block_{block}, stream_{stream} {}

  /// The device's stream, an aclrtStream or a CUstream. The call enqueues its work on the stream and must not wait for
  /// it. Null on the host and in simulation: there the work must be done when the call returns.
  [[nodiscard]] constexpr void* stream() const noexcept { return stream_; }

  /// The number of tensors of the task.
  [[nodiscard]] constexpr std::size_t tensors() const noexcept { return static_cast<std::size_t>(block_[tensors_at]); }
  /// The device address of tensor `i`, counted from 0 in the order of add_call(). It never changes within a session.
  [[nodiscard]] constexpr std::uint64_t address(std::size_t i) const noexcept {
    return static_cast<std::uint64_t>(block_[first_word + 2 * i]);
  }
  /// The same as a pointer, which only the device may dereference.
  template <class T>
  [[nodiscard]] T* data(std::size_t i) const noexcept {
    return reinterpret_cast<T*>(address(i));  // NOLINT: an address of the device
  }
  /// The number of elements of tensor `i`.
  [[nodiscard]] constexpr std::int64_t elements(std::size_t i) const noexcept { return block_[first_word + 2 * i + 1]; }
  /// Value `i` of add_call(), computed for the round's symbols.
  [[nodiscard]] constexpr std::int64_t value(std::size_t i) const noexcept {
    return block_[first_word + 2 * tensors() + i];
  }

 private:
  template <class F>
  friend int call_library(ArgWord* block, void* stream);

  /// The words of a call's block: the address of the callable, the number of tensors, the address and the number of
  /// elements of each tensor, and the values.
  static constexpr std::size_t callable_at = 0;
  static constexpr std::size_t tensors_at = 1;
  static constexpr std::size_t first_word = 2;

  const ArgWord* block_;
  void* stream_;
};

/// A tensor of a library call, made from reads(x), writes(y) or updates(z).
struct CallTensor {
  TensorKey key;
  Access access;

  template <class T, Direction D>
  constexpr CallTensor(const RawTensor<TensorHandle<T, D>>& tensor) noexcept  // NOLINT(google-explicit-constructor)
      : key{tensor.handle.key}, access{tensor.access} {
    static_assert(!is_carried_in_args(D),
                  "rondo: a host input is in the args table; copy it to a tensor with a kernel");
  }
  constexpr CallTensor(TensorKey tensor, Access how) noexcept : key{tensor}, access{how} {}
};

/// Whether F has no state, so that the graph need store only its type.
template <class F>
inline constexpr bool is_stateless_call = std::is_empty_v<F> && std::is_default_constructible_v<F>;

/// Optional: `void session_opens(const CallSession&)` is called when a session opens, once for each shape and slot,
/// before anything is captured. If it throws an Error, opening fails. `void session_closes(const CallSession&)
/// noexcept` is called once for each call of session_opens() that returned.
template <class F>
concept HasSessionHooks = requires(F& callable, const CallSession& session) {
  callable.session_opens(session);
  { callable.session_closes(session) } noexcept;
};
/// Optional, with the hooks above: `void session_captures(const CallSession&)` is called on NPUs and GPUs when the
/// graph was captured or will not be, on GPUs also before, and may change `capture`. If it throws, opening fails.
template <class F>
concept HasCaptureHook = requires(F& callable, const CallSession& session) { callable.session_captures(session); };
/// Optional: `static constexpr bool waits_for_others = true;`, if the call waits for other processes. In the order of
/// the graph, its task comes after all tasks that do not depend on it.
template <class F>
concept WaitsForOthers = requires { requires F::waits_for_others; };

/// Calls `use` with the callable of a library call: one of its type if it has no state, or else the one at `address`.
template <class F, class Use>
auto with_callable([[maybe_unused]] ArgWord address, const Use& use) {
  if constexpr (is_stateless_call<F>) {
    F callable{};
    return use(callable);
  } else {
    return use(*reinterpret_cast<F*>(address));  // NOLINT: written by add_call()
  }
}

/// The CallEntry of a callable: calls it and returns its code, or 0 if it returns nothing.
template <class F>
int call_library(ArgWord* block, void* stream) {
  const LibraryCall call{block, stream};
  return with_callable<F>(block[LibraryCall::callable_at], [&](F& callable) {
    if constexpr (std::is_void_v<decltype(callable(call))>) {
      callable(call);
      return 0;
    } else {
      return static_cast<int>(callable(call));
    }
  });
}

/// The kernel of a library call on platforms whose kernels are host functions. @throws Error kernel_failed if it fails
template <class F>
void run_library_call(ArgWord* block) {
  const int code = call_library<F>(block, nullptr);
  if (code != 0) throw Error(Errc::kernel_failed, Error::Text{"a library call returned ", code});
}

/// The code of a library call that threw an exception.
inline constexpr int call_threw = -0x7FFF'FFFF;
/// Calls the library in a round on a device, which must not throw. @returns the call's code, or `call_threw`; then
/// `text` is that of an Error
[[nodiscard]] inline int call_on_stream(CallEntry call, ArgWord* block, void* stream, Error::Text& text) noexcept {
  try {
    return call(block, stream);
  } catch (const Error& error) {
    text = Error::Text(error.what());
    return call_threw;
  } catch (...) {
    text = Error::Text("an exception");
    return call_threw;
  }
}

}  // namespace rondo
