// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for the vendor's library of collectives, libhccl.so, over the stand-in for its runtime.

#include "control.hpp"
#include "ranks.hpp"

#include <cstring>
#include <vector>

extern "C" {
int aclrtBinaryLoadFromData(const void* data, std::size_t size, const void* options, void** handle);
int aclrtBinaryUnLoad(void* handle);
int aclrtBinaryGetFunction(void* handle, const char* name, void** function);
int aclrtLaunchKernelWithHostArgs(void* function, std::uint32_t blocks, void* on, const void* config, void* args,
                                  std::size_t size, const void* placeholders, std::size_t count);
int aclmdlRICaptureGetInfo(void* on, int* status, void** instance);
}

namespace {

using stand_in::ranks::Comm;
using stand_in::ranks::Kind;
using stand_in::ranks::Refusal;

constexpr std::size_t root_info_bytes = 4108;
constexpr int parameter = 1, internal = 4, unsupported = 5, timeout = 9;

int launch(Kind kind, const void* from, void* to, std::uint64_t count, int type, int op, std::uint32_t other,
           void* handle, void* stream) {
  auto* const comm = static_cast<Comm*>(handle);
  int status = 0;
  void* graph = nullptr;
  if (aclmdlRICaptureGetInfo(stream, &status, &graph) != 0) return internal;
  stand_in::ranks::Words words;
  switch (prepare(words, kind, from, to, count, type, op, other, comm, status != 0)) {
    case Refusal::parameter: return parameter;
    case Refusal::unsupported: return unsupported;
    case Refusal::not_warm: return internal;
    case Refusal::none: break;
  }
  const int code = aclrtLaunchKernelWithHostArgs(comm->function, 1, stream, nullptr, &words, sizeof(words), nullptr, 0);
  return code == 0 ? 0 : internal;
}

}  // namespace

extern "C" {

int HcclGetRootInfo(void* info) {
  stand_in::ranks::make_id(info, root_info_bytes);
  return 0;
}
int HcclCommInitRootInfo(std::uint32_t ranks, const void* info, std::uint32_t rank, void** handle) {
  if (rank >= ranks || ranks > stand_in::ranks::most_ranks) return parameter;
  bool is_too_late = false;
  auto comm = stand_in::ranks::join(info, ranks, rank, is_too_late);
  if (comm == nullptr) return is_too_late ? timeout : internal;
  stand_in::Binary binary;
  binary.add("hccl", &stand_in::ranks::run);
  const std::vector<std::byte> bytes = binary.bytes();
  if (aclrtBinaryLoadFromData(bytes.data(), bytes.size(), nullptr, &comm->binary) != 0) return internal;
  if (aclrtBinaryGetFunction(comm->binary, "hccl", &comm->function) != 0) return internal;
  *handle = comm.release();
  return 0;
}
int HcclCommDestroy(void* handle) {
  const std::unique_ptr<Comm> comm{static_cast<Comm*>(handle)};
  (void)aclrtBinaryUnLoad(comm->binary);
  leave(*comm);
  return 0;
}

int HcclAllReduce(const void* from, void* to, std::uint64_t count, int type, int op, void* comm, void* stream) {
  return launch(Kind::all_reduce, from, to, count, type, op, 0, comm, stream);
}
int HcclAllGather(const void* from, void* to, std::uint64_t count, int type, void* comm, void* stream) {
  return launch(Kind::all_gather, from, to, count, type, 0, 0, comm, stream);
}
int HcclReduceScatter(const void* from, void* to, std::uint64_t count, int type, int op, void* comm, void* stream) {
  return launch(Kind::reduce_scatter, from, to, count, type, op, 0, comm, stream);
}
int HcclBroadcast(void* memory, std::uint64_t count, int type, std::uint32_t root, void* comm, void* stream) {
  return launch(Kind::broadcast, memory, memory, count, type, 0, root, comm, stream);
}
int HcclSend(const void* memory, std::uint64_t count, int type, std::uint32_t to, void* comm, void* stream) {
  return launch(Kind::send, memory, nullptr, count, type, 0, to, comm, stream);
}
int HcclRecv(void* memory, std::uint64_t count, int type, std::uint32_t from, void* comm, void* stream) {
  return launch(Kind::recv, memory, memory, count, type, 0, from, comm, stream);
}
const char* HcclGetErrorString(int code) {
  switch (code) {
    case 0: return "no error";
    case parameter: return "parameter error";
    case internal: return "internal error";
    case unsupported: return "feature not supported";
    case timeout: return "connect timeout";
    default: return "unknown error";
  }
}
}
