// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/streams/api.hpp>

#include <cstddef>
#include <cstdint>

/// The part of CANN's public host API that Rondo uses: handles, values, and one table of function pointers. It is
/// written from the API's documentation, so that no file of the vendor's is needed to compile.
namespace rondo::platform::onboard {

using AclError = streams::Code;
using streams::Event;
using streams::Stream;
using BinHandle = void*;
using FuncHandle = void*;
using RunInstance = void*;      ///< a captured graph
using PhysicalMemory = void*;   ///< device pages that have no address yet
using ExceptionInfo = void;     ///< the report on a kernel that failed
using ConditionHandle = void*;  ///< a word on the device that a conditional task reads

/// The size of the pages that an allocation asks for.
enum PagePolicy : int { huge_first = 0, huge_only = 1, normal_only = 2, huge_first_for_peers = 3 };
inline constexpr std::uint32_t host_register_mapped = 2;

using enum streams::CopyKind;
enum CaptureMode : int { capture_global = 0, capture_thread_local = 1, capture_relaxed = 2 };
inline constexpr std::uint32_t event_flag_sync = 1;
inline constexpr std::uint32_t event_flag_time_line = 8;
inline constexpr std::uint32_t stream_flag_fast_launch = 1;
inline constexpr std::uint32_t stream_flag_fast_sync = 2;
inline constexpr int event_complete = 1;
inline constexpr int device_info_npu_arch = 601;
inline constexpr int function_kernel_type = 1;
inline constexpr std::int64_t kernel_on_cube_cores = 1;
inline constexpr std::int64_t kernel_on_vector_cores = 2;
inline constexpr std::int32_t launch_schedule_mode = 1;
inline constexpr std::int32_t launch_timeout_us = 8;
inline constexpr std::int32_t schedule_all_at_once = 1;

/// One attribute of a launch, in the runtime's layout.
struct LaunchAttr {
  std::int32_t id = 0;
  std::int32_t value[4] = {};
};
/// The attributes of a launch, in the runtime's layout.
struct LaunchConfig {
  LaunchAttr* attrs = nullptr;
  std::size_t count = 0;
};
/// One option for loading a binary, in the runtime's layout.
struct LoadOption {
  std::int32_t type = 0;
  std::uint32_t value[4] = {};
};
/// The options for loading a binary, in the runtime's layout.
struct LoadOptions {
  const LoadOption* options = nullptr;
  std::size_t count = 0;
};
inline constexpr std::int32_t load_option_magic = 2;  ///< option: the type of cores of kernels that do not state it
inline constexpr std::uint32_t magic_vector_core = 0x4141'5246;
inline constexpr std::uint32_t magic_cube_core = 0x4149'4343;
inline constexpr std::int32_t load_option_cpu_kernel_mode = 3;
inline constexpr std::uint32_t cpu_kernels_from_data = 2;  ///< the data is a shared library for the AICPU

/// An address inside the arguments that points to data inside them, in the runtime's layout.
struct Placeholder {
  std::uint32_t address_offset = 0;
  std::uint32_t data_offset = 0;
};
/// The side of the bus on which memory lies, in the runtime's layout.
struct MemoryLocation {
  std::uint32_t id = 0;
  std::int32_t type = 1;  ///< the device
};
/// The source and the destination of a batch of copies, in the runtime's layout.
struct CopyBatchAttr {
  MemoryLocation to;
  MemoryLocation from;
  std::uint8_t reserved[16] = {};
};
/// The kind of physical memory that is asked for, in the runtime's layout.
struct PhysicalMemoryProp {
  std::int32_t handle_type = 0;
  std::int32_t allocation_type = 0;  ///< pinned
  std::int32_t attribute = 4;        ///< device memory in huge pages
  MemoryLocation location;
  std::uint64_t reserved = 0;
};
/// A task of a captured graph that reads a word on the device and runs another captured graph, its body: once if the
/// word is not 0, or again and again while it is not. In the runtime's layout.
struct ConditionalTask {
  enum Kind : std::int32_t { when = 0, loop = 1 };
  ConditionHandle condition = nullptr;
  std::int32_t kind = when;
  std::uint32_t bodies = 1;
  RunInstance* body = nullptr;  ///< the runtime writes the graph to which the body is to be captured
};
static_assert(sizeof(void*) == 8 && sizeof(std::size_t) == 8 && sizeof(AclError) == 4);
static_assert(sizeof(LaunchConfig) == 16 && offsetof(LaunchConfig, count) == 8);
static_assert(sizeof(LaunchAttr) == 20 && offsetof(LaunchAttr, id) == 0 && offsetof(LaunchAttr, value) == 4);
static_assert(sizeof(LoadOption) == 20 && offsetof(LoadOption, value) == 4);
static_assert(sizeof(LoadOptions) == 16 && offsetof(LoadOptions, count) == 8);
static_assert(sizeof(Placeholder) == 8);
static_assert(sizeof(CopyBatchAttr) == 32 && offsetof(CopyBatchAttr, to) == 0 && offsetof(CopyBatchAttr, from) == 8);
static_assert(sizeof(ConditionalTask) == 24 && offsetof(ConditionalTask, bodies) == 12);
static_assert(sizeof(PhysicalMemoryProp) == 32 && offsetof(PhysicalMemoryProp, location) == 12);

/// The calls of the API that Rondo makes. An address of a struct is passed as a plain address. The calls after
/// `optional` may be null: the predicates at the end tell which functions the runtime has.
struct Calls {
  AclError (*init)(const char*) = nullptr;
  AclError (*finalize)() = nullptr;
  const char* (*recent_error)() = nullptr;
  AclError (*set_device)(std::int32_t) = nullptr;
  AclError (*reset_device)(std::int32_t) = nullptr;
  AclError (*device_count)(std::uint32_t*) = nullptr;
  const char* (*soc_name)() = nullptr;
  AclError (*create_stream)(Stream*, std::uint32_t priority, std::uint32_t flags) = nullptr;
  AclError (*destroy_stream)(Stream) = nullptr;
  AclError (*synchronize)(Stream, std::int32_t timeout_ms) = nullptr;
  AclError (*create_event)(Event*, std::uint32_t flags) = nullptr;
  AclError (*destroy_event)(Event) = nullptr;
  AclError (*record_event)(Event, Stream) = nullptr;
  AclError (*wait_event)(Stream, Event) = nullptr;
  AclError (*query_event)(Event, int* status) = nullptr;
  AclError (*elapsed_time)(float* ms, Event from, Event to) = nullptr;
  AclError (*malloc)(void**, std::size_t, int policy) = nullptr;
  AclError (*free)(void*) = nullptr;
  AclError (*malloc_host)(void**, std::size_t) = nullptr;
  AclError (*free_host)(void*) = nullptr;
  AclError (*copy)(void* to, std::size_t room, const void* from, std::size_t size, int kind) = nullptr;
  AclError (*copy_async)(void* to, std::size_t room, const void* from, std::size_t size, int kind, Stream) = nullptr;
  AclError (*set_async)(void*, std::size_t room, std::int32_t value, std::size_t size, Stream) = nullptr;
  AclError (*load_file)(const char* path, const void* options, BinHandle*) = nullptr;
  AclError (*load_data)(const void*, std::size_t, const void* options, BinHandle*) = nullptr;
  AclError (*unload)(BinHandle) = nullptr;
  AclError (*get_function)(BinHandle, const char* name, FuncHandle*) = nullptr;

  // --- optional
  AclError (*launch_device_args)(FuncHandle, std::uint32_t blocks, const void* device_args, std::size_t,
                                 const void* config, Stream) = nullptr;
  AclError (*launch_host_args)(FuncHandle, std::uint32_t blocks, Stream, const void* config, void* host_args,
                               std::size_t, const void* placeholders, std::size_t) = nullptr;
  AclError (*get_function_by_entry)(BinHandle, std::uint64_t entry, FuncHandle*) = nullptr;
  AclError (*register_cpu_function)(BinHandle, const char* function, const char* kernel, FuncHandle*) = nullptr;
  AclError (*launch_host_func)(Stream, void (*)(void*), void*) = nullptr;
  AclError (*capture_begin)(Stream, int mode) = nullptr;
  AclError (*capture_end)(Stream, RunInstance*) = nullptr;
  AclError (*execute)(RunInstance, Stream) = nullptr;
  AclError (*destroy_instance)(RunInstance) = nullptr;
  AclError (*capture_info)(Stream, int* status, RunInstance*) = nullptr;
  AclError (*exchange_capture_mode)(int* mode) = nullptr;
  AclError (*create_condition)(RunInstance, std::uint32_t value, int flags, ConditionHandle*) = nullptr;
  AclError (*word_of_condition)(ConditionHandle, std::uint64_t**) = nullptr;
  AclError (*add_conditional)(ConditionalTask, Stream, std::uint32_t flags) = nullptr;
  AclError (*capture_body_begin)(Stream, RunInstance body, int mode) = nullptr;
  AclError (*reserve_address)(void**, std::size_t, std::size_t alignment, void* expected,
                              std::uint64_t flags) = nullptr;
  AclError (*release_address)(void*) = nullptr;
  AclError (*malloc_physical)(PhysicalMemory*, std::size_t, const void* prop, std::uint64_t flags) = nullptr;
  AclError (*free_physical)(PhysicalMemory) = nullptr;
  AclError (*map_memory)(void*, std::size_t, std::size_t offset, PhysicalMemory, std::uint64_t flags) = nullptr;
  AclError (*unmap_memory)(void*) = nullptr;
  AclError (*granularity)(const void* prop, int option, std::size_t*) = nullptr;
  AclError (*device_info)(std::uint32_t device, int attribute, std::int64_t*) = nullptr;
  AclError (*function_attribute)(FuncHandle, int attribute, std::int64_t*) = nullptr;
  AclError (*on_exception)(BinHandle, void (*)(ExceptionInfo*, void*), void*) = nullptr;
  AclError (*args_of_exception)(const ExceptionInfo*, void** device_args, std::uint32_t* size) = nullptr;
  AclError (*malloc_for_scheduler)(void**, std::size_t, int policy, const void* config) = nullptr;
  AclError (*register_host)(void*, std::uint64_t, std::uint32_t flags) = nullptr;
  AclError (*device_pointer_of_host)(void*, void** device, std::uint32_t flags) = nullptr;
  AclError (*unregister_host)(void*) = nullptr;
  AclError (*abort_stream)(Stream) = nullptr;
  AclError (*destroy_stream_by_force)(Stream) = nullptr;
  AclError (*reset_device_by_force)(std::int32_t) = nullptr;

  [[nodiscard]] constexpr bool launches() const noexcept { return launch_device_args || launch_host_args; }
  /// Whether graphs can be captured. That needs launches with args on the device: args on the host would be frozen in
  /// the captured graph.
  [[nodiscard]] constexpr bool captures() const noexcept {
    return launch_device_args && capture_begin && capture_end && execute && destroy_instance;
  }
  /// Whether captured graphs can have conditional tasks.
  [[nodiscard]] constexpr bool captures_conditions() const noexcept {
    return captures() && launch_host_args && capture_info && create_condition && word_of_condition && add_conditional &&
           capture_body_begin;
  }
  [[nodiscard]] constexpr bool has_virtual_memory() const noexcept {
    return reserve_address && release_address && malloc_physical && free_physical && map_memory && unmap_memory &&
           granularity;
  }
};

/// Calls `visit(symbol, slot)` for each call that the library must have.
template <class Visit>
constexpr void visit_required(Calls& c, Visit visit) {
  visit("aclInit", c.init);
  visit("aclFinalize", c.finalize);
  visit("aclGetRecentErrMsg", c.recent_error);
  visit("aclrtSetDevice", c.set_device);
  visit("aclrtResetDevice", c.reset_device);
  visit("aclrtGetDeviceCount", c.device_count);
  visit("aclrtGetSocName", c.soc_name);
  visit("aclrtCreateStreamWithConfig", c.create_stream);
  visit("aclrtDestroyStream", c.destroy_stream);
  visit("aclrtSynchronizeStreamWithTimeout", c.synchronize);
  visit("aclrtCreateEventExWithFlag", c.create_event);
  visit("aclrtDestroyEvent", c.destroy_event);
  visit("aclrtRecordEvent", c.record_event);
  visit("aclrtStreamWaitEvent", c.wait_event);
  visit("aclrtQueryEventStatus", c.query_event);
  visit("aclrtEventElapsedTime", c.elapsed_time);
  visit("aclrtMalloc", c.malloc);
  visit("aclrtFree", c.free);
  visit("aclrtMallocHost", c.malloc_host);
  visit("aclrtFreeHost", c.free_host);
  visit("aclrtMemcpy", c.copy);
  visit("aclrtMemcpyAsync", c.copy_async);
  visit("aclrtMemsetAsync", c.set_async);
  visit("aclrtBinaryLoadFromFile", c.load_file);
  visit("aclrtBinaryLoadFromData", c.load_data);
  visit("aclrtBinaryUnLoad", c.unload);
  visit("aclrtBinaryGetFunction", c.get_function);
}

/// Calls `visit(symbol, slot)` for each call without which only a capability is missing.
template <class Visit>
constexpr void visit_optional(Calls& c, Visit visit) {
  visit("aclrtLaunchKernelV2", c.launch_device_args);
  visit("aclrtLaunchKernelWithHostArgs", c.launch_host_args);
  visit("aclrtBinaryGetFunctionByEntry", c.get_function_by_entry);
  visit("aclrtRegisterCpuFunc", c.register_cpu_function);
  visit("aclrtLaunchHostFunc", c.launch_host_func);
  visit("aclmdlRICaptureBegin", c.capture_begin);
  visit("aclmdlRICaptureEnd", c.capture_end);
  visit("aclmdlRIExecuteAsync", c.execute);
  visit("aclmdlRIDestroy", c.destroy_instance);
  visit("aclmdlRICaptureGetInfo", c.capture_info);
  visit("aclmdlRICaptureThreadExchangeMode", c.exchange_capture_mode);
  visit("aclmdlRICondHandleCreate", c.create_condition);
  visit("aclmdlRICondHandleGetCondPtr", c.word_of_condition);
  visit("aclmdlRIAddCondTask", c.add_conditional);
  visit("aclmdlRICaptureToModelRIBegin", c.capture_body_begin);
  visit("aclrtReserveMemAddress", c.reserve_address);
  visit("aclrtReleaseMemAddress", c.release_address);
  visit("aclrtMallocPhysical", c.malloc_physical);
  visit("aclrtFreePhysical", c.free_physical);
  visit("aclrtMapMem", c.map_memory);
  visit("aclrtUnmapMem", c.unmap_memory);
  visit("aclrtMemGetAllocationGranularity", c.granularity);
  visit("aclrtGetDeviceInfo", c.device_info);
  visit("aclrtGetFunctionAttribute", c.function_attribute);
  visit("aclrtBinarySetExceptionCallback", c.on_exception);
  visit("aclrtGetArgsFromExceptionInfo", c.args_of_exception);
  visit("aclrtMallocForTaskScheduler", c.malloc_for_scheduler);
  visit("aclrtHostRegisterV2", c.register_host);
  visit("aclrtHostGetDevicePointer", c.device_pointer_of_host);
  visit("aclrtHostUnregister", c.unregister_host);
  visit("aclrtStreamAbort", c.abort_stream);
  visit("aclrtDestroyStreamForce", c.destroy_stream_by_force);
  visit("aclrtResetDeviceForce", c.reset_device_by_force);
}

/// Ranges of the vendor's profiler, which has a library of its own. Either both calls are set or none is.
struct ProfilerCalls {
  std::uint64_t (*range_start)(const char*, Stream) = nullptr;
  void (*range_end)(std::uint64_t) = nullptr;
};

}  // namespace rondo::platform::onboard
