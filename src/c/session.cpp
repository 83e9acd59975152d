// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "objects.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

namespace rondo::c {

namespace {

/// Calls f, which returns a Status, with the object of a handle.
template <class F>
[[gnu::always_inline]] inline rondo_code with_bindings(rondo_bindings handle, F&& f) noexcept {
  auto* const object = find<BindingsObject>(handle.id);
  if (object == nullptr) [[unlikely]]
    return wrong_handle(Kind::bindings);
  return code_of(*object->session, f(*object));
}
template <class F>
rondo_code with_session(rondo_session handle, F&& f) noexcept {
  auto* const object = find<SessionObject>(handle.id);
  if (object == nullptr) return wrong_handle(Kind::session);
  return code_of(*object, f(*object));
}

/// Whether the tensor is of the session's graph, and was there when the session was opened.
bool is_of(const BindingsObject& object, rondo_tensor tensor) noexcept {
  const graph::GraphView graph = object.session->session->interface();
  return key_of(tensor).graph() == graph.tag && index(key_of(tensor).tensor()) < graph.tensors.size();
}

/// Calls f, which returns a Status, with the bindings, the tensor, and a layout of its elements.
template <class F>
rondo_code with_layout(rondo_bindings handle, rondo_tensor tensor, const int64_t* extents, const int64_t* strides,
                       size_t rank, const F& f) noexcept {
  return with_bindings(handle, [&](BindingsObject& object) {
    if (!is_of(object, tensor)) return Status{Errc::wrong_tensor};
    const TensorId id = key_of(tensor).tensor();
    if (rank != 0 && (extents == nullptr || strides == nullptr)) {
      return Status::of_tensor(Errc::invalid_argument, index(id));
    }
    const DataType type = object.session->session->interface().tensors[index(id)].type;
    return f(object.bindings->list(), id, StridedLayout(size_of(type), extents, strides, rank));
  });
}

/// Calls f, which returns a Status, with a session and the array that it allocated at an address.
template <class F>
rondo_code with_array(rondo_session handle, uint64_t address, const F& f) noexcept {
  auto* const object = find<SessionObject>(handle.id);
  if (object == nullptr) return wrong_handle(Kind::session);
  const auto array = std::find_if(object->arrays.begin(), object->arrays.end(), [&](DeviceArray<std::uint8_t>& each) {
    return each.span().data().address() == address;
  });
  if (address != 0 && array != object->arrays.end()) return code_of(*object, f(*object, array));
  return failure(RONDO_INVALID_ARGUMENT,
                 Error::Text("the session has no array at this address; pass one that rondo_allocate() returned, and "
                             "that was not released"));
}

Status submit(BindingsObject& object, bool waits, uint64_t* ticket) noexcept {
  const RoundTicket made = object.bindings->submit(waits);
  if (made && ticket != nullptr) *ticket = made.number();
  return made.submitted();
}

}  // namespace

erased::Options options_of(const rondo_options* given) {
  erased::Options options;
  if (given == nullptr) return options;
  // Programs that were compiled before `trace` was added pass the members before it.
  if (given->size != sizeof(rondo_options) && given->size != offsetof(rondo_options, trace)) {
    erased::fail(Errc::invalid_argument, "rondo_open: the options have ", given->size,
                 " bytes, and this library expects ", sizeof(rondo_options), "; begin with RONDO_OPTIONS_INIT");
  }
  options.device = given->device;
  options.threads = given->threads;
  options.in_flight = given->in_flight;
  options.timeout_ms = given->timeout_ms;
  options.device_memory = given->device_memory;
  if (given->kernel_file_count != 0) require(given->kernel_files, "rondo_open: kernel_files");
  for (std::size_t f = 0; f < given->kernel_file_count; ++f) {
    require(given->kernel_files[f], "rondo_open: a path in kernel_files");
    options.kernel_files.emplace_back(given->kernel_files[f]);
  }
  if (given->size == sizeof(rondo_options)) options.trace = given->trace != 0;
  return options;
}

}  // namespace rondo::c

using rondo::Bytes;
using rondo::Errc;
using rondo::Status;
using rondo::c::BindingsObject;
using rondo::c::guarded;
using rondo::c::key_of;
using rondo::c::require;
using rondo::c::SessionObject;
using rondo::c::with;
using rondo::c::with_array;
using rondo::c::with_bindings;
using rondo::c::with_layout;
using rondo::c::with_session;

extern "C" {

const char* rondo_platform_name(size_t number) {
  const auto all = rondo::erased::platforms();
  return number < all.size() ? all[number].name : nullptr;
}

rondo_code rondo_platform_check(const char* platform) {
  return guarded([&] {
    require(platform, "rondo_platform_check: platform");
    const rondo::Error::Text missing = rondo::erased::find_platform(platform).missing();
    if (!missing.empty()) throw rondo::Error(Errc::no_such_device, missing);
  });
}

rondo_code rondo_open(rondo_graph graph, const char* platform, const rondo_options* options, rondo_session* session) {
  return with<rondo::c::GraphObject>(graph.id, [&](rondo::c::GraphObject& source) {
    require(platform, "rondo_open: platform");
    require(session, "rondo_open: session");
    auto object = std::make_unique<SessionObject>();
    object->kernels = source.kernels;
    object->by_task = source.graph.kernels;
    object->symbols = rondo::erased::symbols_of(source.graph.tasks);
    object->session = rondo::erased::open_any(platform, source.graph, rondo::c::options_of(options));
    session->id = give_handle(std::move(object));
  });
}

rondo_code rondo_close(rondo_session session) {
  auto* const found = rondo::c::find<SessionObject>(session.id);
  if (found == nullptr) return rondo::c::wrong_handle(rondo::c::Kind::session);
  const std::unique_ptr<SessionObject> object{found};
  rondo::c::Handles::instance().remove(session.id);
  const rondo_code code = code_of(*object, object->session->close());
  for (const std::uint64_t id : object->bindings) {
    const std::unique_ptr<BindingsObject> bindings{rondo::c::find<BindingsObject>(id)};
    rondo::c::Handles::instance().remove(id);
  }
  return code;
}

rondo_code rondo_bindings_create(rondo_session session, rondo_bindings* bindings) {
  return with<SessionObject>(session.id, [&](SessionObject& object) {
    require(bindings, "rondo_bindings_create: bindings");
    object.bindings.reserve(object.bindings.size() + 1);
    auto made = std::make_unique<BindingsObject>();
    made->session = &object;
    made->bindings = object.session->make_bindings();
    bindings->id = give_handle(std::move(made));
    object.bindings.push_back(bindings->id);
  });
}

rondo_code rondo_bindings_destroy(rondo_bindings bindings) {
  const std::unique_ptr<BindingsObject> object{rondo::c::find<BindingsObject>(bindings.id)};
  if (object == nullptr) return rondo::c::wrong_handle(rondo::c::Kind::bindings);
  std::erase(object->session->bindings, bindings.id);
  rondo::c::Handles::instance().remove(bindings.id);
  return RONDO_OK;
}

rondo_code rondo_bind(rondo_bindings bindings, rondo_tensor tensor, void* host, size_t bytes) {
  return with_bindings(bindings, [&](BindingsObject& b) {
    if (!rondo::c::is_of(b, tensor)) return Status{Errc::wrong_tensor};
    return b.bindings->list().bind(key_of(tensor).tensor(), host, Bytes{bytes});
  });
}
rondo_code rondo_bind_read_only(rondo_bindings bindings, rondo_tensor tensor, const void* host, size_t bytes) {
  return with_bindings(bindings, [&](BindingsObject& b) {
    if (!rondo::c::is_of(b, tensor)) return Status{Errc::wrong_tensor};
    return b.bindings->list().bind(key_of(tensor).tensor(), host, Bytes{bytes});
  });
}
rondo_code rondo_bind_strided(rondo_bindings bindings, rondo_tensor tensor, void* first, const int64_t* extents,
                              const int64_t* strides, size_t rank) {
  return with_layout(bindings, tensor, extents, strides, rank,
                     [&](auto& b, auto id, const auto& layout) { return b.bind(id, first, layout); });
}
rondo_code rondo_bind_device_strided(rondo_bindings bindings, rondo_tensor tensor, uint64_t first,
                                     const int64_t* extents, const int64_t* strides, size_t rank) {
  return with_layout(bindings, tensor, extents, strides, rank, [&](auto& b, auto id, const auto& layout) {
    return b.bind(id, rondo::DevicePtr<std::byte>{first}, layout);
  });
}
rondo_code rondo_why_copied(rondo_bindings bindings, rondo_tensor tensor, const char** why) {
  const rondo_code code = with_bindings(bindings, [&](BindingsObject& b) {
    if (!rondo::c::is_of(b, tensor)) return Status{Errc::wrong_tensor};
    if (why != nullptr) *why = b.bindings->list().why_copied(key_of(tensor).tensor());
    return Status{};
  });
  if (code != RONDO_OK || why != nullptr) return code;
  return rondo::c::failure(RONDO_INVALID_ARGUMENT,
                           rondo::Error::Text("rondo_why_copied: why is NULL; pass a valid address"));
}
rondo_code rondo_bind_device(rondo_bindings bindings, rondo_tensor tensor, uint64_t address, size_t bytes) {
  return with_bindings(bindings, [&](BindingsObject& b) {
    if (!rondo::c::is_of(b, tensor)) return Status{Errc::wrong_tensor};
    if (address == 0) return Status::of_tensor(Errc::null_memory, index(key_of(tensor).tensor()));
    return b.bindings->list().bind(key_of(tensor).tensor(), rondo::DevicePtr<std::byte>{address}, Bytes{bytes});
  });
}

rondo_code rondo_state_symbol(rondo_bindings bindings, const char* symbol, int64_t value) {
  return with<BindingsObject>(bindings.id, [&](BindingsObject& object) {
    require(symbol, "rondo_state_symbol: symbol");
    const std::vector<std::string>& symbols = object.session->symbols;
    const auto place = std::find(symbols.begin(), symbols.end(), symbol);
    if (place == symbols.end()) {
      rondo::erased::fail(Errc::invalid_argument, "rondo_state_symbol: the graph has no symbol '", symbol, "'");
    }
    if (!object.bindings->list().state_symbol(static_cast<std::size_t>(place - symbols.begin()), value).ok()) {
      rondo::erased::fail(Errc::invalid_argument, "rondo_state_symbol: ", symbol, " cannot be ", value,
                          "; pass 0 or more, or -1 to have the sizes determine it");
    }
  });
}

rondo_code rondo_run_round(rondo_bindings bindings) {
  return with_bindings(bindings, [](BindingsObject& b) { return b.bindings->run_round(); });
}
rondo_code rondo_begin_round(rondo_bindings bindings) {
  return with_bindings(bindings, [](BindingsObject& b) { return b.bindings->begin_round(); });
}
rondo_code rondo_launch(rondo_bindings bindings) {
  return with_bindings(bindings, [](BindingsObject& b) { return b.bindings->launch(); });
}
rondo_code rondo_finish_round(rondo_bindings bindings) {
  return with_bindings(bindings, [](BindingsObject& b) { return b.bindings->finish(); });
}

rondo_code rondo_submit_round(rondo_bindings bindings, uint64_t* ticket) {
  return with_bindings(bindings, [&](BindingsObject& b) { return rondo::c::submit(b, true, ticket); });
}
rondo_code rondo_try_submit_round(rondo_bindings bindings, uint64_t* ticket) {
  return with_bindings(bindings, [&](BindingsObject& b) { return rondo::c::submit(b, false, ticket); });
}
rondo_code rondo_wait(rondo_session session, uint64_t ticket) {
  return with_session(session, [&](SessionObject& s) { return s.session->wait(rondo::RoundTicket{ticket, Status{}}); });
}
rondo_code rondo_wait_all(rondo_session session) {
  return with_session(session, [](SessionObject& s) { return s.session->wait_all(); });
}
rondo_code rondo_poll(rondo_session session, size_t* in_flight) {
  return with_session(session, [&](SessionObject& s) {
    const std::size_t left = s.session->poll();
    if (in_flight != nullptr) *in_flight = left;
    return Status{};
  });
}

rondo_code rondo_upload(rondo_session session, rondo_tensor resident, const void* host, size_t bytes) {
  return with_session(session,
                      [&](SessionObject& s) { return s.session->upload(key_of(resident), host, Bytes{bytes}); });
}
rondo_code rondo_download(rondo_session session, rondo_tensor resident, void* host, size_t bytes) {
  return with_session(session,
                      [&](SessionObject& s) { return s.session->download(key_of(resident), host, Bytes{bytes}); });
}

rondo_code rondo_allocate(rondo_session session, rondo_tensor tensor, const int64_t* extents, size_t rank,
                          uint64_t* address, size_t* bytes) {
  return with<SessionObject>(session.id, [&](SessionObject& object) {
    require(address, "rondo_allocate: address");
    const rondo::Shape shape = rondo::c::shape_of(extents, rank);
    object.arrays.push_back(object.session->allocate(key_of(tensor), extents == nullptr ? nullptr : &shape));
    *address = object.arrays.back().span().data().address();
    if (bytes != nullptr) *bytes = object.arrays.back().size();
  });
}
rondo_code rondo_release(rondo_session session, uint64_t address) {
  return with_array(session, address, [](SessionObject& s, auto array) {
    const Status status = array->release();
    s.arrays.erase(array);
    return status;
  });
}
rondo_code rondo_upload_array(rondo_session session, uint64_t address, const void* host, size_t bytes) {
  return with_array(session, address,
                    [&](SessionObject& s, auto array) { return s.session->upload(*array, host, Bytes{bytes}); });
}
rondo_code rondo_download_array(rondo_session session, uint64_t address, void* host, size_t bytes) {
  return with_array(session, address,
                    [&](SessionObject& s, auto array) { return s.session->download(*array, host, Bytes{bytes}); });
}

rondo_code rondo_hold(rondo_session session, rondo_tensor input) {
  return with_session(session, [&](SessionObject& s) { return s.session->set_held(key_of(input), true); });
}
rondo_code rondo_release_hold(rondo_session session, rondo_tensor input) {
  return with_session(session, [&](SessionObject& s) { return s.session->set_held(key_of(input), false); });
}

rondo_code rondo_set_scalar(rondo_session session, rondo_task task, size_t n, rondo_argument value) {
  return with<SessionObject>(session.id, [&](SessionObject& object) {
    const rondo::TaskId id{task};
    const rondo::erased::KernelParameter& parameter = rondo::erased::scalar_of(object.by_task, id, n);
    const rondo::ArgWord word = rondo::c::word_of(value, parameter, object.by_task[task]->name);
    const Status status = object.session->set_scalar(id, n, word);
    if (!status.ok()) throw rondo::Error(status.code(), object.session->explain(status));
  });
}

rondo_code rondo_request_stop(rondo_session session) {
  auto* const object = rondo::c::find<SessionObject>(session.id);
  if (object == nullptr) return rondo::c::wrong_handle(rondo::c::Kind::session);
  if (object->session->request_stop()) return RONDO_OK;
  return rondo::c::failure(RONDO_UNSUPPORTED,
                           rondo::Error::Text("the platform cannot be stopped in the middle of a round"));
}

rondo_code rondo_get_counters(rondo_session session, rondo_counters* counters) {
  return with<SessionObject>(session.id, [&](SessionObject& object) {
    require(counters, "rondo_get_counters: counters");
    const std::size_t size = counters->size;
    if (size != sizeof(rondo_counters) && size != offsetof(rondo_counters, failed_rounds)) {
      rondo::erased::fail(Errc::invalid_argument, "rondo_get_counters: the counters have ", counters->size,
                          " bytes, and this library expects ", sizeof(rondo_counters),
                          "; set size to sizeof(rondo_counters)");
    }
    rondo::erased::AnySession& s = *object.session;
    rondo_counters all{};
    all.size = sizeof all;
    all.rounds = s.rounds();
    all.in_flight = s.in_flight();
    all.arena_bytes = s.arena_bytes().value;
    all.shapes = s.shapes();
    all.poisoned = s.poisoned() ? 1 : 0;
    all.last_round_ns = s.last_round_ns();
    if (const auto traced = s.counters()) {
      all.failed_rounds = traced->failed_rounds;
      all.copies_in = traced->copies_in;
      all.bytes_in = traced->bytes_in;
      all.copies_out = traced->copies_out;
      all.bytes_out = traced->bytes_out;
      all.refreshes = traced->refreshes;
      all.refresh_bytes = traced->refresh_bytes;
      std::copy(std::begin(traced->phase_ns), std::end(traced->phase_ns), all.phase_ns);
    }
    std::memcpy(counters, &all, size);
    counters->size = size;
  });
}

rondo_code rondo_explain_loops(rondo_session session, rondo_loop* loops, size_t room, size_t* count) {
  return with<SessionObject>(session.id, [&](SessionObject& object) {
    require(count, "rondo_explain_loops: count");
    if (room != 0) require(loops, "rondo_explain_loops: loops");
    // Once: the names that were handed out stay valid.
    if (object.loops.empty()) object.loops = object.session->loops();
    *count = object.loops.size();
    for (std::size_t l = 0; l < std::min(room, *count); ++l) {
      const rondo::LoopReport& loop = object.loops[l];
      const bool is_host = loop.decider == rondo::LoopReport::Decider::host;
      loops[l] = {loop.name.c_str(), loop.why, index(loop.decision), is_host ? 1 : 0};
    }
  });
}

rondo_code rondo_write_trace(rondo_session session, const char* path) {
  return with<SessionObject>(session.id, [&](SessionObject& object) {
    require(path, "rondo_write_trace: path");
    rondo::erased::write_trace_file(*object.session, path);
  });
}

}  // extern "C"
