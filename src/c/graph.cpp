// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "objects.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace rondo::c {

namespace {

template <class F>
rondo_code with_graph(rondo_graph handle, F&& f) noexcept {
  return with<GraphObject>(handle.id, f);
}

template <class Object>
rondo_code destroy(std::uint64_t id) noexcept {
  auto* const object = find<Object>(id);
  if (object == nullptr) return wrong_handle(kind_of<Object>);
  Handles::instance().remove(id);
  delete object;
  return RONDO_OK;
}

erased::KernelArgument argument_of(const GraphObject& object, const erased::KernelRecord& kernel,
                                   const rondo_argument& argument, std::size_t n) {
  const erased::KernelParameter& parameter = kernel.parameters[n];
  if (!parameter.is_tensor) return {{}, {}, word_of(argument, parameter, kernel.name)};
  if (argument.kind != 0) {
    erased::fail(Errc::invalid_argument, "kernel '", kernel.name, "' takes a tensor as ", parameter.name,
                 "; make the argument with rondo_tensor_argument");
  }
  const TensorKey key = key_of(argument.value.tensor);
  return {key, object.graph.tasks.declared_shape(erased::tensor_of(object.graph, key)), 0};
}

struct BodyFailed {};
/// Counts a body for as long as it runs, also if code in C++ leaves it by an exception.
struct BodyRuns {
  explicit BodyRuns(unsigned& running) noexcept : bodies{running} { ++bodies; }
  BodyRuns(const BodyRuns&) = delete;
  BodyRuns& operator=(const BodyRuns&) = delete;
  ~BodyRuns() { --bodies; }
  unsigned& bodies;
};

rondo_code add_loop(rondo_graph graph, graph::LoopRecord::Kind kind, rondo_tensor condition, const char* most,
                    rondo_loop_body body, void* context, rondo_task* task) noexcept {
  rondo_code failed = RONDO_OK;
  const rondo_code code = with_graph(graph, [&](GraphObject& object) {
    if (body == nullptr) erased::fail(Errc::null_memory, "the body of a loop is NULL; pass a function that adds tasks");
    const auto limit = [&](erased::Graph& g) { return parse_extent(g, most); };
    const auto add_body = [&] {
      const BodyRuns runs(object.bodies);
      failed = body(graph, context);
      if (failed != RONDO_OK) throw BodyFailed{};
    };
    try {
      const TaskId id = erased::add_loop(object.graph, kind, key_of(condition), limit, add_body, 0);
      if (task != nullptr) *task = index(id);
    } catch (const BodyFailed&) {
    }
  });
  return failed != RONDO_OK ? failed : code;
}

}  // namespace

}  // namespace rondo::c

using rondo::c::find;
using rondo::c::guarded;
using rondo::c::key_of;
using rondo::c::require;
using rondo::c::with_graph;

extern "C" {

rondo_code rondo_kernel_create(const char* name, rondo_core core, const char* signature, rondo_function function,
                               rondo_kernel* kernel) {
  return guarded([&] {
    require(name, "rondo_kernel_create: name");
    require(signature, "rondo_kernel_create: signature");
    require(kernel, "rondo_kernel_create: kernel");
    if (core != RONDO_CUBE && core != RONDO_VECTOR) {
      rondo::erased::fail(rondo::Errc::invalid_argument, "rondo_kernel_create: core is ", core,
                          "; choose RONDO_CUBE or RONDO_VECTOR");
    }
    auto object = std::make_unique<rondo::c::KernelObject>();
    object->kernel = std::make_shared<const rondo::erased::SignatureKernel>(
        name, core == RONDO_CUBE ? rondo::CoreType::cube : rondo::CoreType::vector, signature, function);
    kernel->id = give_handle(std::move(object));
  });
}
rondo_code rondo_kernel_destroy(rondo_kernel kernel) { return rondo::c::destroy<rondo::c::KernelObject>(kernel.id); }

rondo_code rondo_graph_create(rondo_edges edges, rondo_graph* graph) {
  return guarded([&] {
    require(graph, "rondo_graph_create: graph");
    if (edges != RONDO_EDGES_DERIVED && edges != RONDO_EDGES_EXPLICIT) {
      rondo::erased::fail(rondo::Errc::invalid_argument, "rondo_graph_create: edges is ", edges,
                          "; choose RONDO_EDGES_DERIVED or RONDO_EDGES_EXPLICIT");
    }
    graph->id = give_handle(std::make_unique<rondo::c::GraphObject>(
        edges == RONDO_EDGES_DERIVED ? rondo::Edges::derived : rondo::Edges::explicit_));
  });
}
rondo_code rondo_graph_destroy(rondo_graph graph) {
  const rondo_code code = with_graph(graph, [](const rondo::c::GraphObject& object) {
    if (object.bodies == 0) return;
    rondo::erased::fail(rondo::Errc::busy, "rondo_graph_destroy: the body of a loop of this graph runs; return first");
  });
  return code != RONDO_OK ? code : rondo::c::destroy<rondo::c::GraphObject>(graph.id);
}

rondo_code rondo_graph_add_tensors(rondo_graph graph, const char* declarations, rondo_tensor* tensors, size_t count) {
  return with_graph(graph, [&](rondo::c::GraphObject& object) {
    require(declarations, "rondo_graph_add_tensors: declarations");
    require(tensors, "rondo_graph_add_tensors: tensors");
    const std::vector<rondo::TensorKey> keys = add_tensors(object.graph, declarations, count);
    for (std::size_t t = 0; t < count; ++t) tensors[t].id = keys[t].value;
  });
}

rondo_code rondo_graph_find_tensor(rondo_graph graph, const char* name, rondo_tensor* tensor) {
  return with_graph(graph, [&](rondo::c::GraphObject& object) {
    require(name, "rondo_graph_find_tensor: name");
    require(tensor, "rondo_graph_find_tensor: tensor");
    const rondo::TaskGraph& tasks = object.graph.tasks;
    const auto& all = tasks.tensors();
    const auto place = std::find_if(all.begin(), all.end(), [&](const auto& t) { return tasks.name(t.name) == name; });
    if (place == all.end()) {
      rondo::erased::fail(rondo::Errc::wrong_tensor, "the graph has no tensor called '", name, "'");
    }
    tensor->id = tasks.interface().key(static_cast<std::size_t>(place - all.begin())).value;
  });
}

rondo_code rondo_graph_add_task(rondo_graph graph, rondo_kernel kernel, const rondo_argument* arguments, size_t count,
                                const char* blocks, rondo_task* task) {
  auto* const found = find<rondo::c::KernelObject>(kernel.id);
  if (found == nullptr) return rondo::c::wrong_handle(rondo::c::Kind::kernel);
  return with_graph(graph, [&](rondo::c::GraphObject& object) {
    if (count != 0) require(arguments, "rondo_graph_add_task: arguments");
    const rondo::erased::SignatureKernel& record = *found->kernel;
    require_count(record, count);
    std::vector<rondo::erased::KernelArgument> list;
    for (std::size_t n = 0; n < count; ++n) {
      list.push_back(rondo::c::argument_of(object, record, arguments[n], n));
    }
    const std::string_view text = blocks == nullptr ? "1" : blocks;
    if (object.kernels.empty() || object.kernels.back() != found->kernel) object.kernels.push_back(found->kernel);
    const bool is_number = text.find_first_not_of("0123456789") == std::string_view::npos;
    const rondo::TaskId id = rondo::erased::change(object.graph, !is_number, [&](rondo::erased::Graph& g) {
      return add_task(g, record, parse_extent(g, text), list);
    });
    if (task != nullptr) *task = index(id);
  });
}

rondo_code rondo_graph_repeat_until(rondo_graph graph, rondo_tensor condition, const char* most, rondo_loop_body body,
                                    void* context, rondo_task* task) {
  if (most == nullptr) return guarded([] { require(nullptr, "rondo_graph_repeat_until: most"); });
  return rondo::c::add_loop(graph, rondo::graph::LoopRecord::Kind::repeat_until, condition, most, body, context, task);
}
rondo_code rondo_graph_when(rondo_graph graph, rondo_tensor condition, rondo_loop_body body, void* context,
                            rondo_task* task) {
  return rondo::c::add_loop(graph, rondo::graph::LoopRecord::Kind::when, condition, nullptr, body, context, task);
}

rondo_code rondo_graph_add_edge(rondo_graph graph, rondo_task before, rondo_task after) {
  return with_graph(graph, [&](rondo::c::GraphObject& object) {
    object.graph.tasks.add_edge(rondo::TaskId{before}, rondo::TaskId{after});
  });
}

rondo_code rondo_graph_keep(rondo_graph graph, rondo_tensor tensor) {
  return with_graph(
      graph, [&](rondo::c::GraphObject& object) { object.graph.tasks.keep(rondo::Input<float>{key_of(tensor)}); });
}

rondo_code rondo_graph_in_memory(rondo_graph graph, rondo_tensor tensor, const char* kind) {
  return with_graph(graph, [&](rondo::c::GraphObject& object) {
    require(kind, "rondo_graph_in_memory: kind");
    in_memory(object.graph, key_of(tensor), kind);
  });
}

rondo_code rondo_graph_zero(rondo_graph graph, rondo_tensor workspace, int32_t once) {
  return with_graph(graph, [&](rondo::c::GraphObject& object) {
    zero(object.graph, key_of(workspace), once != 0 ? rondo::Zeroed::once : rondo::Zeroed::each_round);
  });
}

rondo_code rondo_graph_alias(rondo_graph graph, rondo_tensor output, rondo_tensor input) {
  return with_graph(graph, [&](rondo::c::GraphObject& object) { alias(object.graph, key_of(output), key_of(input)); });
}

}  // extern "C"
