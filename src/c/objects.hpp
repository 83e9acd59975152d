// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../erased/fail.hpp"
#include "../erased/graph.hpp"
#include "../erased/session.hpp"
#include "handles.hpp"

#include <rondo/c/rondo.h>
#include <rondo/error.hpp>
#include <rondo/memory/device_array.hpp>
#include <rondo/types.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

/// The objects of the C library and how its functions fail.
namespace rondo::c {

/// Notes a sentence for rondo_last_error(), and returns the code.
rondo_code failure(rondo_code code, const Error::Text& text) noexcept;

struct KernelObject {
  std::shared_ptr<const erased::SignatureKernel> kernel;
};
struct GraphObject {
  explicit GraphObject(Edges edges) : graph{edges} {}
  erased::Graph graph;
  unsigned bodies = 0;                                                  ///< the number of bodies of loops that run now
  std::vector<std::shared_ptr<const erased::SignatureKernel>> kernels;  ///< the kernels of its tasks
};
struct RoundObject;
struct DestroyRound {
  void operator()(RoundObject* object) const noexcept;
};
struct BindingsObject;
struct SessionObject {
  std::vector<std::shared_ptr<const erased::SignatureKernel>> kernels;
  std::vector<const erased::KernelRecord*> by_task;
  std::unique_ptr<RoundObject, DestroyRound> round;  ///< null: the session has no orchestration
  std::vector<std::string> symbols;
  std::vector<LoopReport> loops;  ///< once they were asked for
  std::unique_ptr<erased::AnySession> session;
  std::vector<DeviceArray<std::uint8_t>> arrays;  ///< of rondo_allocate()
  std::vector<std::uint64_t> bindings;            ///< the handles of its bindings
};
struct BindingsObject {
  SessionObject* session = nullptr;
  std::unique_ptr<erased::AnyBindings> bindings;
};

template <class Object>
inline constexpr Kind kind_of = Kind::kernel;
template <>
inline constexpr Kind kind_of<GraphObject> = Kind::graph;
template <>
inline constexpr Kind kind_of<SessionObject> = Kind::session;
template <>
inline constexpr Kind kind_of<BindingsObject> = Kind::bindings;

/// Returns the object of a handle; null if the handle is wrong.
template <class Object>
[[nodiscard]] Object* find(std::uint64_t id) noexcept {
  return static_cast<Object*>(Handles::instance().find(kind_of<Object>, id));
}
[[gnu::cold, gnu::noinline]] rondo_code wrong_handle(Kind wanted) noexcept;

/// Keeps an object, and returns its handle. @throws std::bad_alloc
template <class Object>
[[nodiscard]] std::uint64_t give_handle(std::unique_ptr<Object> object) {
  const std::uint64_t id = Handles::instance().add(kind_of<Object>, object.get());
  (void)object.release();
  return id;
}

/// Runs set-up code; what it throws becomes a code and a sentence.
template <class F>
rondo_code guarded(F&& f) noexcept {
  try {
    f();
    return RONDO_OK;
  } catch (const Error& error) {
    return failure(static_cast<rondo_code>(error.code()), Error::Text(error.what()));
  } catch (const std::bad_alloc&) {
    return failure(RONDO_OUT_OF_HOST_MEMORY, Error::Text("the host has no memory left"));
  } catch (...) {
    return failure(RONDO_INTERNAL, Error::Text("an unexpected exception; please report this as a defect of Rondo"));
  }
}

/// Calls f with the object of a handle, under the rules of set-up.
template <class Object, class F>
rondo_code with(std::uint64_t id, F&& f) noexcept {
  auto* const object = find<Object>(id);
  if (object == nullptr) return wrong_handle(kind_of<Object>);
  return guarded([&] { f(*object); });
}

/// Returns a failed status as a code, and notes the session's explanation of it.
[[gnu::cold, gnu::noinline]] rondo_code explained(const SessionObject& session, Status status) noexcept;
[[nodiscard]] inline rondo_code code_of(const SessionObject& session, Status status) noexcept {
  if (status.ok()) [[likely]]
    return RONDO_OK;
  return explained(session, status);
}

[[nodiscard]] inline TensorKey key_of(rondo_tensor tensor) noexcept {
  TensorKey key;
  key.value = tensor.id;
  return key;
}

/// Refuses a null pointer that the caller passed as `name`. @throws Error null_memory
inline void require(const void* pointer, const char* name) {
  if (pointer == nullptr) erased::fail(Errc::null_memory, name, " is NULL; pass a valid address");
}

/// Converts the caller's extents. @throws Error invalid_argument, null_memory
[[nodiscard]] Shape shape_of(const int64_t* extents, size_t rank);

/// Converts the caller's options; null stands for the defaults. @throws Error invalid_argument
[[nodiscard]] erased::Options options_of(const rondo_options* given);

/// Converts an argument to the word that a parameter takes. @throws Error invalid_argument
[[nodiscard]] ArgWord word_of(const rondo_argument& argument, const erased::KernelParameter& parameter,
                              std::string_view kernel);

}  // namespace rondo::c
