// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The operator library for the stand-in of Rondo's tests, or for a device: it puts copies within the
// device on the stream.

#include "../operators.hpp"

#include <cstddef>

extern "C" int aclrtMemcpyAsync(void* to, std::size_t room, const void* from, std::size_t size, int kind, void* stream);

struct Executor {
  std::size_t bytes;
  std::size_t shift_bytes;
  bool is_repeatable = false;
  bool was_used = false;
};

extern "C" int op_roll_get_workspace_size(std::int64_t elements, std::int64_t shift, std::uint64_t* workspace_bytes,
                                          Executor** executor) {
  if (elements <= 0 || shift < 0 || shift > elements) return 161002;
  const auto bytes = static_cast<std::size_t>(elements) * sizeof(float);
  *workspace_bytes = bytes;
  *executor = new Executor{bytes, static_cast<std::size_t>(shift) * sizeof(float)};
  return 0;
}

extern "C" int op_set_repeatable(Executor* executor) {
  executor->is_repeatable = true;
  return 0;
}

extern "C" int op_roll(float* x, void* workspace, std::uint64_t workspace_bytes, Executor* executor, void* stream) {
  if (workspace_bytes < executor->bytes) return 161002;
  if (executor->was_used && !executor->is_repeatable) return 561103;  // a vendor's library has freed it
  executor->was_used = true;
  const auto copy = [&](void* to, const void* from, std::size_t size) {
    constexpr int device_to_device = 3;
    return size == 0 ? 0 : aclrtMemcpyAsync(to, size, from, size, device_to_device, stream);
  };
  const std::size_t rest = executor->bytes - executor->shift_bytes;
  auto* const old = static_cast<std::byte*>(workspace);
  if (const int code = copy(old, x, executor->bytes); code != 0) return code;
  if (const int code = copy(x, old + executor->shift_bytes, rest); code != 0) return code;
  return copy(reinterpret_cast<std::byte*>(x) + rest, old, executor->shift_bytes);
}

extern "C" int op_destroy_executor(Executor* executor) {
  delete executor;
  return 0;
}
