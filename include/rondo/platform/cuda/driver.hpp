// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/streams/api.hpp>

#include <cstddef>
#include <cstdint>

/// The part of the CUDA driver API that Rondo uses: handles, values, and one table of function pointers. It follows the
/// API's public documentation, so programs compile without the vendor's headers.
namespace rondo::platform::cuda {

using Result = streams::Code;   ///< CUresult
using DeviceId = int;           ///< CUdevice
using Pointer = std::uint64_t;  ///< CUdeviceptr
using Context = void*;
using Module = void*;
using Function = void*;
using Graph = void*;
using GraphNode = void*;
using GraphExec = void*;
using streams::Event;
using streams::keep_first;
using streams::Stream;

inline constexpr Result success = 0;
inline constexpr Result invalid_value = 1;
inline constexpr Result out_of_memory = 2;
inline constexpr Result not_initialised = 3;
inline constexpr Result not_found = 500;
inline constexpr Result not_ready = 600;
inline constexpr Result launch_timeout = 702;
/// Rondo's own codes, which no driver returns.
inline constexpr Result waited_too_long = -1;
inline constexpr Result stream_is_captured = -2;
inline constexpr Result forked = -3;

enum DeviceAttribute : int {
  max_threads_per_block = 1,
  max_grid_x = 5,
  max_shared_per_block = 8,
  compute_major = 75,
  compute_minor = 76,
  max_shared_opt_in = 97,
};
enum FunctionAttribute : int { function_max_threads = 0, function_shared_bytes = 1, function_max_dynamic_shared = 8 };

inline constexpr std::uint32_t stream_non_blocking = 1;
inline constexpr std::uint32_t event_no_timing = 2;
inline constexpr std::uint32_t host_portable = 1;
inline constexpr int capture_thread_local = 1;
inline constexpr int capture_relaxed = 2;
/// Options of loading a module: where the PTX compiler writes its error messages.
inline constexpr int jit_error_log = 5;
inline constexpr int jit_error_log_bytes = 6;

/// CU_MEMORYTYPE_DEVICE.
inline constexpr unsigned memory_of_device = 2;

/// The parameters of a kernel node, with the layout that the first version of cuGraphAddKernelNode takes.
struct KernelNodeParams {
  Function function = nullptr;
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
};
/// The parameters of a copy of rows, with the layout of CUDA_MEMCPY2D. Members that start with `no_` stay zero.
struct CopyRows {
  std::size_t no_from_x = 0, no_from_y = 0;
  unsigned from_kind = memory_of_device;
  const void* no_from_host = nullptr;
  Pointer from = 0;
  void* no_from_array = nullptr;
  std::size_t from_pitch = 0;
  std::size_t no_to_x = 0, no_to_y = 0;
  unsigned to_kind = memory_of_device;
  void* no_to_host = nullptr;
  Pointer to = 0;
  void* no_to_array = nullptr;
  std::size_t to_pitch = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};
static_assert(sizeof(CopyRows) == 128 && offsetof(CopyRows, from) == 32 && offsetof(CopyRows, to) == 88);
static_assert(sizeof(void*) == 8 && sizeof(Result) == 4 && sizeof(Pointer) == 8);
static_assert(sizeof(KernelNodeParams) == 56 && offsetof(KernelNodeParams, grid) == 8 &&
              offsetof(KernelNodeParams, shared_bytes) == 32 && offsetof(KernelNodeParams, parameters) == 40);

/// The parameters of a conditional node, with the layout of CUgraphNodeParams. A node has one body, an empty graph that
/// the driver makes and that the node owns.
struct ConditionalNodeParams {
  enum Kind : int { when = 0, loop = 1 };
  int type = 13;  ///< CU_GRAPH_NODE_TYPE_CONDITIONAL
  int reserved[3] = {};
  std::uint64_t handle = 0;  ///< of create_conditional
  Kind kind = when;
  unsigned body_count = 1;
  Graph* bodies = nullptr;  ///< the driver's array, after the call
  Context context = nullptr;
  std::uint64_t unused[26] = {};
};
static_assert(sizeof(ConditionalNodeParams) == 256 && offsetof(ConditionalNodeParams, bodies) == 32);

/// The table of functions. Those after `optional` may be null.
struct Calls {
  Result (*driver_version)(int*) = nullptr;
  Result (*init)(unsigned) = nullptr;
  Result (*error_name)(Result, const char**) = nullptr;
  Result (*error_string)(Result, const char**) = nullptr;
  Result (*device_count)(int*) = nullptr;
  Result (*device_get)(DeviceId*, int) = nullptr;
  Result (*device_name)(char*, int, DeviceId) = nullptr;
  Result (*device_attribute)(int*, int attribute, DeviceId) = nullptr;
  Result (*context_retain)(Context*, DeviceId) = nullptr;
  Result (*context_release)(DeviceId) = nullptr;
  Result (*context_set)(Context) = nullptr;
  Result (*context_get)(Context*) = nullptr;
  Result (*malloc)(Pointer*, std::size_t) = nullptr;
  Result (*free)(Pointer) = nullptr;
  Result (*malloc_host)(void**, std::size_t, unsigned flags) = nullptr;
  Result (*free_host)(void*) = nullptr;
  Result (*copy_to_device)(Pointer, const void*, std::size_t, Stream) = nullptr;
  Result (*copy_to_host)(void*, Pointer, std::size_t, Stream) = nullptr;
  Result (*copy_inside)(Pointer, Pointer, std::size_t, Stream) = nullptr;
  Result (*copy_rows)(const CopyRows*, Stream) = nullptr;
  Result (*set)(Pointer, unsigned char, std::size_t, Stream) = nullptr;
  Result (*create_stream)(Stream*, unsigned flags, int priority) = nullptr;
  Result (*destroy_stream)(Stream) = nullptr;
  Result (*synchronize)(Stream) = nullptr;
  Result (*query_stream)(Stream) = nullptr;
  Result (*wait_event)(Stream, Event, unsigned flags) = nullptr;
  Result (*is_capturing)(Stream, int*) = nullptr;
  Result (*create_event)(Event*, unsigned flags) = nullptr;
  Result (*destroy_event)(Event) = nullptr;
  Result (*record_event)(Event, Stream) = nullptr;
  Result (*query_event)(Event) = nullptr;
  Result (*elapsed_time)(float* ms, Event from, Event to) = nullptr;
  Result (*load_module)(Module*, const void*, unsigned count, int* options, void** values) = nullptr;
  Result (*unload_module)(Module) = nullptr;
  Result (*get_function)(Function*, Module, const char*) = nullptr;
  Result (*function_attribute)(int*, int attribute, Function) = nullptr;
  Result (*set_function_attribute)(Function, int attribute, int) = nullptr;
  Result (*launch)(Function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, Stream, void** parameters, void** extra) = nullptr;

  // --- optional: without them tasks are launched one by one
  Result (*create_graph)(Graph*, unsigned flags) = nullptr;
  Result (*add_kernel_node)(GraphNode*, Graph, const GraphNode* needs, std::size_t, const KernelNodeParams*) = nullptr;
  Result (*instantiate)(GraphExec*, Graph, unsigned long long flags) = nullptr;
  Result (*launch_graph)(GraphExec, Stream) = nullptr;
  Result (*destroy_exec)(GraphExec) = nullptr;
  Result (*destroy_graph)(Graph) = nullptr;
  // --- without them the tasks of a graph with library calls are launched one by one
  Result (*begin_capture)(Stream, int mode) = nullptr;
  Result (*end_capture)(Stream, Graph*) = nullptr;
  Result (*add_child_graph)(GraphNode*, Graph, const GraphNode* needs, std::size_t, Graph child) = nullptr;
  // --- without them the host decides about loops
  Result (*create_conditional)(std::uint64_t* handle, Graph, Context, unsigned at_launch, unsigned flags) = nullptr;
  Result (*add_node)(GraphNode*, Graph, const GraphNode* needs, std::size_t, ConditionalNodeParams*) = nullptr;
  // --- without them no round becomes part of a graph that the owner of the stream captures
  Result (*capture_info)(Stream, int* state, std::uint64_t* id, Graph*, const GraphNode**, std::size_t*) = nullptr;
  Result (*exchange_capture_mode)(int* mode) = nullptr;
  // --- without it the first launch uploads the graph
  Result (*upload_graph)(GraphExec, Stream) = nullptr;

  [[nodiscard]] constexpr bool has_graphs() const noexcept {
    return create_graph && add_kernel_node && instantiate && launch_graph && destroy_exec && destroy_graph;
  }
  [[nodiscard]] constexpr bool captures() const noexcept { return begin_capture && end_capture && add_child_graph; }
  [[nodiscard]] constexpr bool can_be_captured() const noexcept { return capture_info && exchange_capture_mode; }
  [[nodiscard]] constexpr bool has_conditional_nodes() const noexcept { return create_conditional && add_node; }
};

/// Calls `visit(name, symbol, slot)` for each required call, with its name in the documentation and the symbol of its
/// version in the library.
template <class Visit>
constexpr void visit_required(Calls& c, Visit visit) {
  visit("cuDriverGetVersion", "cuDriverGetVersion", c.driver_version);
  visit("cuInit", "cuInit", c.init);
  visit("cuGetErrorName", "cuGetErrorName", c.error_name);
  visit("cuGetErrorString", "cuGetErrorString", c.error_string);
  visit("cuDeviceGetCount", "cuDeviceGetCount", c.device_count);
  visit("cuDeviceGet", "cuDeviceGet", c.device_get);
  visit("cuDeviceGetName", "cuDeviceGetName", c.device_name);
  visit("cuDeviceGetAttribute", "cuDeviceGetAttribute", c.device_attribute);
  visit("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", c.context_retain);
  visit("cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2", c.context_release);
  visit("cuCtxSetCurrent", "cuCtxSetCurrent", c.context_set);
  visit("cuCtxGetCurrent", "cuCtxGetCurrent", c.context_get);
  visit("cuMemAlloc", "cuMemAlloc_v2", c.malloc);
  visit("cuMemFree", "cuMemFree_v2", c.free);
  visit("cuMemHostAlloc", "cuMemHostAlloc", c.malloc_host);
  visit("cuMemFreeHost", "cuMemFreeHost", c.free_host);
  visit("cuMemcpyHtoDAsync", "cuMemcpyHtoDAsync_v2", c.copy_to_device);
  visit("cuMemcpyDtoHAsync", "cuMemcpyDtoHAsync_v2", c.copy_to_host);
  visit("cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync_v2", c.copy_inside);
  visit("cuMemcpy2DAsync", "cuMemcpy2DAsync_v2", c.copy_rows);
  visit("cuMemsetD8Async", "cuMemsetD8Async", c.set);
  visit("cuStreamCreateWithPriority", "cuStreamCreateWithPriority", c.create_stream);
  visit("cuStreamDestroy", "cuStreamDestroy_v2", c.destroy_stream);
  visit("cuStreamSynchronize", "cuStreamSynchronize", c.synchronize);
  visit("cuStreamQuery", "cuStreamQuery", c.query_stream);
  visit("cuStreamWaitEvent", "cuStreamWaitEvent", c.wait_event);
  visit("cuStreamIsCapturing", "cuStreamIsCapturing", c.is_capturing);
  visit("cuEventCreate", "cuEventCreate", c.create_event);
  visit("cuEventDestroy", "cuEventDestroy_v2", c.destroy_event);
  visit("cuEventRecord", "cuEventRecord", c.record_event);
  visit("cuEventQuery", "cuEventQuery", c.query_event);
  visit("cuEventElapsedTime", "cuEventElapsedTime", c.elapsed_time);
  visit("cuModuleLoadDataEx", "cuModuleLoadDataEx", c.load_module);
  visit("cuModuleUnload", "cuModuleUnload", c.unload_module);
  visit("cuModuleGetFunction", "cuModuleGetFunction", c.get_function);
  visit("cuFuncGetAttribute", "cuFuncGetAttribute", c.function_attribute);
  visit("cuFuncSetAttribute", "cuFuncSetAttribute", c.set_function_attribute);
  visit("cuLaunchKernel", "cuLaunchKernel", c.launch);
}

/// Does the same for each optional call. Without one, a capability is missing.
template <class Visit>
constexpr void visit_optional(Calls& c, Visit visit) {
  visit("cuGraphCreate", "cuGraphCreate", c.create_graph);
  visit("cuGraphAddKernelNode", "cuGraphAddKernelNode", c.add_kernel_node);
  visit("cuGraphInstantiateWithFlags", "cuGraphInstantiateWithFlags", c.instantiate);
  visit("cuGraphLaunch", "cuGraphLaunch", c.launch_graph);
  visit("cuGraphExecDestroy", "cuGraphExecDestroy", c.destroy_exec);
  visit("cuGraphDestroy", "cuGraphDestroy", c.destroy_graph);
  visit("cuStreamBeginCapture", "cuStreamBeginCapture_v2", c.begin_capture);
  visit("cuStreamEndCapture", "cuStreamEndCapture", c.end_capture);
  visit("cuGraphAddChildGraphNode", "cuGraphAddChildGraphNode", c.add_child_graph);
  visit("cuGraphConditionalHandleCreate", "cuGraphConditionalHandleCreate", c.create_conditional);
  visit("cuGraphAddNode", "cuGraphAddNode", c.add_node);
  visit("cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v2", c.capture_info);
  visit("cuThreadExchangeStreamCaptureMode", "cuThreadExchangeStreamCaptureMode", c.exchange_capture_mode);
  visit("cuGraphUpload", "cuGraphUpload", c.upload_graph);
}

/// While one exists, captures of streams do not forbid any call of the thread.
class InRelaxedMode {
 public:
  explicit InRelaxedMode(const Calls& calls) noexcept : exchange_{calls.exchange_capture_mode} { exchange(); }
  InRelaxedMode(const InRelaxedMode&) = delete;
  InRelaxedMode& operator=(const InRelaxedMode&) = delete;
  ~InRelaxedMode() { exchange(); }

 private:
  void exchange() noexcept {
    if (exchange_ != nullptr) (void)exchange_(&mode_);
  }
  Result (*exchange_)(int*);
  int mode_ = capture_relaxed;
};

}  // namespace rondo::platform::cuda
