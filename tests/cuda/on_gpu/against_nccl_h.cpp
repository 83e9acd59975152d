// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Compares platform/cuda/nccl.hpp with NVIDIA's nccl.h where it is installed. Compiling it is the test.

#include <rondo/platform/cuda/nccl.hpp>

#include <nccl.h>

#include <type_traits>

using rondo::DataType;
using rondo::Reduction;
using rondo::platform::cuda::Nccl;

static_assert(sizeof(ncclUniqueId) == Nccl::id_bytes && sizeof(ncclComm_t) == sizeof(Nccl::Comm));
static_assert(sizeof(ncclResult_t) == sizeof(rondo::platform::streams::Code) && ncclSuccess == 0);

static_assert(Nccl::number_of(DataType::int8) == ncclInt8 && Nccl::number_of(DataType::uint8) == ncclUint8);
static_assert(Nccl::number_of(DataType::int32) == ncclInt32 && Nccl::number_of(DataType::uint32) == ncclUint32);
static_assert(Nccl::number_of(DataType::int64) == ncclInt64 && Nccl::number_of(DataType::uint64) == ncclUint64);
static_assert(Nccl::number_of(DataType::float16) == ncclFloat16 && Nccl::number_of(DataType::float32) == ncclFloat32);
static_assert(Nccl::number_of(DataType::float64) == ncclFloat64 && Nccl::number_of(DataType::bfloat16) == ncclBfloat16);
static_assert(Nccl::number_of(Reduction::sum) == ncclSum && Nccl::number_of(Reduction::product) == ncclProd);
static_assert(Nccl::number_of(Reduction::max) == ncclMax && Nccl::number_of(Reduction::min) == ncclMin);
static_assert(Nccl::number_of(Reduction::mean) == ncclAvg);

/// Whether a function of the library takes what Rondo passes to it: enumerations are passed as integers.
template <class Ours, class Theirs>
inline constexpr bool fits = false;
template <class A, class B>
inline constexpr bool passes_as = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class R, class... A, class S, class... B>
inline constexpr bool fits<R (*)(A...), S(B...)> =
    sizeof...(A) == sizeof...(B) && passes_as<R, S> && (passes_as<A, B> && ...);

using Calls = Nccl::Calls;
static_assert(fits<decltype(Calls::make_id), decltype(ncclGetUniqueId)>);
static_assert(fits<decltype(Calls::destroy), decltype(ncclCommDestroy)>);
static_assert(fits<decltype(Calls::all_reduce), decltype(ncclAllReduce)>);
static_assert(fits<decltype(Calls::all_gather), decltype(ncclAllGather)>);
static_assert(fits<decltype(Calls::reduce_scatter), decltype(ncclReduceScatter)>);
static_assert(fits<decltype(Calls::broadcast), decltype(ncclBcast)>);
static_assert(fits<decltype(Calls::send), decltype(ncclSend)>);
static_assert(fits<decltype(Calls::recv), decltype(ncclRecv)>);
static_assert(fits<decltype(Calls::error_string), decltype(ncclGetErrorString)>);
static_assert(std::is_same_v<decltype(ncclCommInitRank), ncclResult_t(ncclComm_t*, int, ncclUniqueId, int)>);
static_assert(std::is_same_v<decltype(ncclCommAbort), ncclResult_t(ncclComm_t)>);
static_assert(std::is_same_v<decltype(ncclCommGetAsyncError), ncclResult_t(ncclComm_t, ncclResult_t*)>);
