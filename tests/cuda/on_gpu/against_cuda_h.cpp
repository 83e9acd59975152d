// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Compares platform/cuda/driver.hpp with NVIDIA's cuda.h where a toolkit is installed. Compiling it is the test.

#include <rondo/platform/cuda/codes.hpp>
#include <rondo/platform/cuda/driver.hpp>
#include <rondo/platform/streams/callers_stream.hpp>

#include <cuda.h>

#include <cstddef>
#include <type_traits>

namespace cuda = rondo::platform::cuda;
using rondo::Errc;

static_assert(sizeof(cuda::Result) == sizeof(CUresult) && sizeof(cuda::DeviceId) == sizeof(CUdevice));
static_assert(std::is_unsigned_v<CUdeviceptr> && sizeof(cuda::Pointer) == sizeof(CUdeviceptr));
static_assert(sizeof(cuda::Stream) == sizeof(CUstream) && sizeof(cuda::Event) == sizeof(CUevent));

static_assert(cuda::success == CUDA_SUCCESS && cuda::invalid_value == CUDA_ERROR_INVALID_VALUE);
static_assert(cuda::out_of_memory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(cuda::not_initialised == CUDA_ERROR_NOT_INITIALIZED && cuda::not_found == CUDA_ERROR_NOT_FOUND);
static_assert(cuda::not_ready == CUDA_ERROR_NOT_READY && cuda::launch_timeout == CUDA_ERROR_LAUNCH_TIMEOUT);

// The meaning of codes, by name.
static_assert(cuda::errc_of(CUDA_ERROR_STUB_LIBRARY) == Errc::no_such_device);
static_assert(cuda::errc_of(CUDA_ERROR_DEVICE_UNAVAILABLE) == Errc::no_such_device);
static_assert(cuda::errc_of(CUDA_ERROR_INVALID_DEVICE) == Errc::no_such_device);
static_assert(cuda::errc_of(CUDA_ERROR_SYSTEM_NOT_READY) == Errc::no_such_device);
static_assert(cuda::errc_of(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH) == Errc::no_such_device);
static_assert(cuda::errc_of(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE) == Errc::no_such_device);
static_assert(cuda::errc_of(CUDA_ERROR_MPS_CONNECTION_FAILED) == Errc::no_such_device);
static_assert(cuda::errc_of(CUDA_ERROR_DEINITIALIZED) == Errc::not_open);
static_assert(cuda::errc_of(CUDA_ERROR_CONTEXT_ALREADY_CURRENT) == Errc::not_open);
static_assert(cuda::errc_of(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE) == Errc::not_open);
static_assert(cuda::errc_of(CUDA_ERROR_CONTEXT_IS_DESTROYED) == Errc::not_open);
static_assert(cuda::errc_of(CUDA_ERROR_MAP_FAILED) == Errc::out_of_resources);
static_assert(cuda::errc_of(CUDA_ERROR_UNMAP_FAILED) == Errc::out_of_resources);
static_assert(cuda::errc_of(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) == Errc::out_of_resources);
static_assert(cuda::errc_of(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) == Errc::out_of_resources);
static_assert(cuda::errc_of(CUDA_ERROR_MPS_SERVER_NOT_READY) == Errc::busy);
static_assert(cuda::errc_of(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED) == Errc::out_of_resources);
static_assert(cuda::errc_of(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED) == Errc::out_of_resources);
static_assert(cuda::errc_of(CUDA_ERROR_TIMEOUT) == Errc::timed_out);
static_assert(cuda::errc_of(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_UNSUPPORTED_LIMIT) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_JIT_COMPILER_NOT_FOUND) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_JIT_COMPILATION_DISABLED) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_NOT_PERMITTED) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_STREAM_CAPTURE_MERGE) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_STREAM_CAPTURE_UNJOINED) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_STREAM_CAPTURE_ISOLATION) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) == Errc::unsupported);
static_assert(cuda::errc_of(CUDA_ERROR_DEVICE_NOT_LICENSED) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_INVALID_SOURCE) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_FILE_NOT_FOUND) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_OPERATING_SYSTEM) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_ILLEGAL_STATE) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_LOSSY_QUERY) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_TOO_MANY_PEERS) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_INVALID_CLUSTER_SIZE) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_FUNCTION_NOT_LOADED) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_INVALID_RESOURCE_TYPE) == Errc::invalid_argument);
static_assert(cuda::errc_of(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION) == Errc::invalid_argument);
static_assert(cuda::is_sticky(CUDA_ERROR_ILLEGAL_ADDRESS) && cuda::is_sticky(CUDA_ERROR_LAUNCH_TIMEOUT));
static_assert(cuda::is_sticky(CUDA_ERROR_ILLEGAL_INSTRUCTION) && cuda::is_sticky(CUDA_ERROR_MISALIGNED_ADDRESS));
static_assert(cuda::is_sticky(CUDA_ERROR_INVALID_ADDRESS_SPACE) && cuda::is_sticky(CUDA_ERROR_INVALID_PC));
static_assert(cuda::is_sticky(CUDA_ERROR_LAUNCH_FAILED) && cuda::is_sticky(CUDA_ERROR_ASSERT));
static_assert(cuda::is_sticky(CUDA_ERROR_HARDWARE_STACK_ERROR) && cuda::is_sticky(CUDA_ERROR_ECC_UNCORRECTABLE));
static_assert(!cuda::is_sticky(CUDA_ERROR_OUT_OF_MEMORY) && !cuda::is_sticky(CUDA_ERROR_NOT_READY));

static_assert(int{cuda::max_threads_per_block} == int{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK});
static_assert(int{cuda::max_grid_x} == int{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X});
static_assert(int{cuda::max_shared_per_block} == int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK});
static_assert(int{cuda::compute_major} == int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR});
static_assert(int{cuda::compute_minor} == int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR});
static_assert(int{cuda::max_shared_opt_in} == int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN});
static_assert(int{cuda::function_max_threads} == int{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK});
static_assert(int{cuda::function_shared_bytes} == int{CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES});
static_assert(int{cuda::function_max_dynamic_shared} == int{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES});

static_assert(cuda::stream_non_blocking == CU_STREAM_NON_BLOCKING);
static_assert(cuda::event_no_timing == CU_EVENT_DISABLE_TIMING);
static_assert(cuda::host_portable == CU_MEMHOSTALLOC_PORTABLE);
static_assert(cuda::capture_thread_local == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(cuda::capture_relaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(cuda::jit_error_log == CU_JIT_ERROR_LOG_BUFFER);
static_assert(cuda::jit_error_log_bytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(cuda::memory_of_device == CU_MEMORYTYPE_DEVICE);

// The calls take the first version of these parameters.
using Node = CUDA_KERNEL_NODE_PARAMS_v1;
static_assert(sizeof(cuda::KernelNodeParams) == sizeof(Node));
static_assert(offsetof(cuda::KernelNodeParams, function) == offsetof(Node, func));
static_assert(offsetof(cuda::KernelNodeParams, grid) == offsetof(Node, gridDimX));
static_assert(offsetof(cuda::KernelNodeParams, block) == offsetof(Node, blockDimX));
static_assert(offsetof(cuda::KernelNodeParams, shared_bytes) == offsetof(Node, sharedMemBytes));
static_assert(offsetof(cuda::KernelNodeParams, parameters) == offsetof(Node, kernelParams));
static_assert(offsetof(cuda::KernelNodeParams, extra) == offsetof(Node, extra));

static_assert(sizeof(cuda::CopyRows) == sizeof(CUDA_MEMCPY2D));
static_assert(offsetof(cuda::CopyRows, from_kind) == offsetof(CUDA_MEMCPY2D, srcMemoryType));
static_assert(offsetof(cuda::CopyRows, from) == offsetof(CUDA_MEMCPY2D, srcDevice));
static_assert(offsetof(cuda::CopyRows, from_pitch) == offsetof(CUDA_MEMCPY2D, srcPitch));
static_assert(offsetof(cuda::CopyRows, to_kind) == offsetof(CUDA_MEMCPY2D, dstMemoryType));
static_assert(offsetof(cuda::CopyRows, to) == offsetof(CUDA_MEMCPY2D, dstDevice));
static_assert(offsetof(cuda::CopyRows, to_pitch) == offsetof(CUDA_MEMCPY2D, dstPitch));
static_assert(offsetof(cuda::CopyRows, width) == offsetof(CUDA_MEMCPY2D, WidthInBytes));
static_assert(offsetof(cuda::CopyRows, height) == offsetof(CUDA_MEMCPY2D, Height));

using Conditional = CUgraphNodeParams;
static_assert(sizeof(cuda::ConditionalNodeParams) == sizeof(Conditional));
static_assert(cuda::ConditionalNodeParams{}.type == CU_GRAPH_NODE_TYPE_CONDITIONAL);
static_assert(int{cuda::ConditionalNodeParams::when} == CU_GRAPH_COND_TYPE_IF);
static_assert(int{cuda::ConditionalNodeParams::loop} == CU_GRAPH_COND_TYPE_WHILE);
static_assert(sizeof(std::uint64_t) == sizeof(CUgraphConditionalHandle));
static_assert(offsetof(cuda::ConditionalNodeParams, handle) ==
              offsetof(Conditional, conditional) + offsetof(CUDA_CONDITIONAL_NODE_PARAMS, handle));
static_assert(offsetof(cuda::ConditionalNodeParams, kind) ==
              offsetof(Conditional, conditional) + offsetof(CUDA_CONDITIONAL_NODE_PARAMS, type));
static_assert(offsetof(cuda::ConditionalNodeParams, body_count) ==
              offsetof(Conditional, conditional) + offsetof(CUDA_CONDITIONAL_NODE_PARAMS, size));
static_assert(offsetof(cuda::ConditionalNodeParams, bodies) ==
              offsetof(Conditional, conditional) + offsetof(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out));
static_assert(offsetof(cuda::ConditionalNodeParams, context) ==
              offsetof(Conditional, conditional) + offsetof(CUDA_CONDITIONAL_NODE_PARAMS, ctx));

static_assert(int{rondo::platform::streams::not_captured} == int{CU_STREAM_CAPTURE_STATUS_NONE});
static_assert(int{rondo::platform::streams::being_captured} == int{CU_STREAM_CAPTURE_STATUS_ACTIVE});
static_assert(int{rondo::platform::streams::capture_lost} == int{CU_STREAM_CAPTURE_STATUS_INVALIDATED});

int main() {}
