// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "../erased/declaration.hpp"
#include "../erased/orchestration.hpp"
#include "objects.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace rondo::c {

namespace {

using erased::AnyRound;
using erased::RoundArgument;
using erased::RoundTensor;
using erased::TaskRef;

}  // namespace

/// The rounds of a session whose tasks a function adds; its handle lives as long as the session.
struct RoundObject {
  rondo_orchestration function = nullptr;
  void* context = nullptr;
  rondo_round handle{};
  AnyRound* native = nullptr;  ///< null between rounds
  bool has_stopped = false;
  std::vector<RoundTensor> regions;                     ///< of this round; a handle is an index and the round's number
  static inline std::atomic<std::uint32_t> rounds = 0;  ///< of all sessions, so that no two share a number
  std::vector<TaskRef> tasks;
  std::uint32_t number = 0;
  std::vector<std::shared_ptr<const erased::SignatureKernel>> kernels;  ///< of all rounds

  void run(AnyRound& round) {
    const struct Ends {  // also if code in C++ leaves the function by an exception
      AnyRound*& native;
      ~Ends() { native = nullptr; }
    } ends{native};
    native = &round;
    has_stopped = false;
    regions.clear();
    tasks.clear();
    number = rounds.fetch_add(1, std::memory_order_relaxed) + 1;
    const rondo_code code = function(handle, context);
    if (has_stopped) throw erased::Stopped{};
    if (code != RONDO_OK) {
      throw std::runtime_error("it returned " + std::to_string(code) +
                               ", and the last error is: " + rondo_last_error());
    }
  }
  [[nodiscard]] RoundTensor tensor_of(const rondo_argument& argument) const {
    if (argument.kind == 0) return native->tensor(key_of(argument.value.tensor));
    const std::uint64_t id = argument.value.region.id;
    if (argument.kind != 4 || id >> 32 != number || (id & 0xFFFF'FFFF) >= regions.size()) {
      erased::fail(Errc::invalid_argument,
                   "the argument is no tensor or region of this round; make it with rondo_tensor_argument or "
                   "rondo_region_argument");
    }
    return regions[id & 0xFFFF'FFFF];
  }
  rondo_region add_region(const RoundTensor& region) {
    regions.push_back(region);
    return {std::uint64_t{number} << 32 | (regions.size() - 1)};
  }
};

template <>
inline constexpr Kind kind_of<RoundObject> = Kind::round;

void DestroyRound::operator()(RoundObject* object) const noexcept {
  Handles::instance().remove(object->handle.id);
  delete object;
}

namespace {

/// Calls f with the round of a handle, which is under way.
template <class F>
rondo_code with_round(rondo_round handle, F&& f) noexcept {
  return with<RoundObject>(handle.id, [&](RoundObject& object) {
    if (object.native == nullptr) {
      erased::fail(Errc::not_open, "the round is over; an orchestration uses its round only until it returns");
    }
    try {
      f(object);
    } catch (const erased::Stopped&) {
      object.has_stopped = true;
      erased::fail(Errc::stopped, "the round has failed; return from the orchestration");
    }
  });
}

}  // namespace

Shape shape_of(const int64_t* extents, size_t rank) {
  if (rank != 0) require(extents, "the array of extents");
  if (rank > max_rank) erased::fail(Errc::invalid_argument, "a tensor has at most ", max_rank, " dimensions");
  std::int64_t e[max_rank] = {1, 1, 1, 1, 1};
  std::copy_n(extents, rank, e);
  return {e, rank};
}

}  // namespace rondo::c

using rondo::Errc;
using rondo::c::find;
using rondo::c::require;
using rondo::c::RoundObject;
using rondo::c::with_round;

extern "C" {

rondo_code rondo_open_orchestrated(rondo_graph interface, const char* platform, const char* runtime,
                                   rondo_orchestration orchestration, void* context, const rondo_options* options,
                                   rondo_session* session) {
  return rondo::c::with<rondo::c::GraphObject>(interface.id, [&](const rondo::c::GraphObject& source) {
    require(platform, "rondo_open_orchestrated: platform");
    require(reinterpret_cast<const void*>(orchestration), "rondo_open_orchestrated: orchestration");
    require(session, "rondo_open_orchestrated: session");
    const auto called =
        runtime == nullptr ? rondo::erased::Runtime::tensormap_and_ringbuffer : rondo::erased::runtime_called(runtime);
    auto object = std::make_unique<rondo::c::SessionObject>();
    auto made = std::make_unique<RoundObject>();
    made->function = orchestration;
    made->context = context;
    RoundObject* const round = made.get();
    round->handle.id = give_handle(std::move(made));
    object->round.reset(round);
    object->session =
        rondo::erased::open_orchestrated_any(platform, source.graph, rondo::c::options_of(options), called,
                                             [round](rondo::erased::AnyRound& native) { round->run(native); });
    session->id = give_handle(std::move(object));
  });
}

rondo_code rondo_round_add_task(rondo_round round, rondo_kernel kernel, const rondo_argument* arguments, size_t count,
                                uint32_t blocks, rondo_task* task) {
  auto* const found = find<rondo::c::KernelObject>(kernel.id);
  if (found == nullptr) return rondo::c::wrong_handle(rondo::c::Kind::kernel);
  return with_round(round, [&](RoundObject& object) {
    if (count != 0) require(arguments, "rondo_round_add_task: arguments");
    const rondo::erased::SignatureKernel& record = *found->kernel;
    require_count(record, count);
    std::vector<rondo::erased::RoundTensor> tensors;
    tensors.reserve(count);
    std::vector<rondo::erased::RoundArgument> list(count);
    for (std::size_t n = 0; n < count; ++n) {
      if (record.parameters[n].is_tensor) {
        tensors.push_back(object.tensor_of(arguments[n]));
        list[n].tensor = &tensors.back();
      } else {
        list[n].scalar = rondo::c::word_of(arguments[n], record.parameters[n], record.name);
      }
    }
    auto& kernels = object.kernels;
    if (std::find(kernels.begin(), kernels.end(), found->kernel) == kernels.end()) kernels.push_back(found->kernel);
    object.tasks.push_back(object.native->add(record, rondo::Blocks{blocks}, list));
    if (task != nullptr) *task = static_cast<rondo_task>(object.tasks.size() - 1);
  });
}

rondo_code rondo_round_add_edge(rondo_round round, rondo_task before, rondo_task after) {
  return with_round(round, [&](RoundObject& object) {
    const std::size_t tasks = object.tasks.size();
    if (before >= tasks || after >= tasks) {
      rondo::erased::fail(Errc::invalid_argument, "rondo_round_add_edge: the round has ", tasks,
                          " tasks so far; pass numbers of rondo_round_add_task");
    }
    object.native->add_edge(object.tasks[before], object.tasks[after]);
  });
}

rondo_code rondo_round_workspace(rondo_round round, const char* type, const int64_t* extents, size_t rank,
                                 rondo_region* region) {
  return with_round(round, [&](RoundObject& object) {
    require(type, "rondo_round_workspace: type");
    require(region, "rondo_round_workspace: region");
    rondo::DataType element{};
    if (!rondo::erased::find_element(type, element)) {
      rondo::erased::fail(Errc::invalid_argument, "rondo_round_workspace: there are no elements of type '", type,
                          "'; write f32, for example");
    }
    *region = object.add_region(object.native->workspace(element, rondo::c::shape_of(extents, rank)));
  });
}

rondo_code rondo_round_view(rondo_round round, rondo_argument of, const int64_t* first, const int64_t* extents,
                            size_t rank, rondo_region* region) {
  return with_round(round, [&](RoundObject& object) {
    require(region, "rondo_round_view: region");
    *region = object.add_region(
        object.native->view(object.tensor_of(of), rondo::c::shape_of(first, rank), rondo::c::shape_of(extents, rank)));
  });
}

rondo_code rondo_round_begin_scope(rondo_round round) {
  return with_round(round, [](RoundObject& object) { object.native->begin_scope(); });
}
rondo_code rondo_round_end_scope(rondo_round round) {
  return with_round(round, [](RoundObject& object) { object.native->end_scope(false); });
}

rondo_code rondo_round_values(rondo_round round, rondo_tensor input, const void** values, size_t* bytes) {
  return with_round(round, [&](RoundObject& object) {
    require(values, "rondo_round_values: values");
    const auto held = object.native->values(rondo::c::key_of(input));
    *values = held.data();
    if (bytes != nullptr) *bytes = held.size();
  });
}

}  // extern "C"
