// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for NVIDIA's library of collectives, libnccl.so.2, over the stand-in for the driver. Written from the
// library's public documentation.

#include "control.hpp"
#include "stand_in/ranks.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

/// The id that ranks exchange, which is passed by value. UBSan wants the caller's name of the type.
namespace rondo::platform::cuda {
struct NcclId {
  char bytes[128];
};
}  // namespace rondo::platform::cuda

namespace {

using rondo::platform::cuda::NcclId;
using stand_in::ranks::Comm;
using stand_in::ranks::Kind;
using stand_in::ranks::Refusal;

constexpr int cuda_failed = 1, system_failed = 2, internal = 3, invalid_argument = 4, invalid_usage = 5,
              remote_error = 6;

/// HCCL's number of NCCL's type: int8, uint8, int32, uint32, int64, uint64, and floating-point numbers.
int type_of(int type) {
  constexpr int types[] = {0, 7, 2, 9, 5, 6, 3, 4, 10, 11};
  return type < 0 || type > 9 ? -1 : types[type];
}

int launch(Kind kind, const void* from, void* to, std::size_t count, int type, int op, int other, void* handle,
           void* stream) {
  auto* const comm = static_cast<Comm*>(handle);
  int mode = 0;
  if (cuStreamIsCapturing(stream, &mode) != 0) return cuda_failed;
  stand_in::ranks::Words words;
  switch (
      prepare(words, kind, from, to, count, type_of(type), op, static_cast<std::uint32_t>(other), comm, mode != 0)) {
    case Refusal::parameter: return invalid_argument;
    case Refusal::unsupported: return invalid_usage;
    case Refusal::not_warm: return internal;
    case Refusal::none: break;
  }
  const int code = rondo_cuda_stand_in_launch(stream, &stand_in::ranks::run, &words, sizeof(words));
  return code == 0 ? 0 : cuda_failed;
}

/// Ends the program.
void end_if(bool is_wrong, const char* text) {
  if (!is_wrong) return;
  std::fprintf(stderr, "%s\n", text);
  std::abort();
}
/// Whether there is a CUDA graph, which may have collectives.
bool has_graphs() { return rondo_cuda_stand_in_live("executables") != 0; }

}  // namespace

extern "C" {

int ncclGetUniqueId(void* id) {
  stand_in::ranks::make_id(id, sizeof(NcclId));
  return 0;
}
int ncclCommInitRank(void** handle, int ranks, NcclId id, int rank) {
  void* context = nullptr;
  if (cuCtxGetCurrent(&context) != 0 || context == nullptr) return cuda_failed;
  const auto most = static_cast<int>(stand_in::ranks::most_ranks);
  if (rank < 0 || rank >= ranks || ranks > most) return invalid_argument;
  bool is_too_late = false;
  auto comm =
      stand_in::ranks::join(&id, static_cast<std::uint32_t>(ranks), static_cast<std::uint32_t>(rank), is_too_late);
  if (comm == nullptr) return system_failed;
  *handle = comm.release();
  return 0;
}
int ncclCommAbort(void* handle) {
  auto* const comm = static_cast<Comm*>(handle);
  end_if(has_graphs(), "ncclCommAbort does not return: a CUDA graph with collectives is there");
  stand_in::ranks::abort(*comm);
  // A kernel that has not begun yet still looks at it.
  static auto& aborted = *new std::vector<std::unique_ptr<Comm>>;
  aborted.emplace_back(comm);
  return 0;
}
int ncclCommDestroy(void* handle) {
  const std::unique_ptr<Comm> comm{static_cast<Comm*>(handle)};
  end_if(comm->has_failed || comm->running != 0, "ncclCommDestroy does not return: a collective failed, or still runs");
  end_if(has_graphs(), "ncclCommDestroy does not return: a CUDA graph with collectives is there");
  leave(*comm);
  return 0;
}
int ncclCommGetAsyncError(void* handle, int* code) {
  *code = static_cast<Comm*>(handle)->has_failed ? remote_error : 0;
  return 0;
}

int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int op, void* comm, void* stream) {
  return launch(Kind::all_reduce, from, to, count, type, op, 0, comm, stream);
}
int ncclAllGather(const void* from, void* to, std::size_t count, int type, void* comm, void* stream) {
  return launch(Kind::all_gather, from, to, count, type, 0, 0, comm, stream);
}
int ncclReduceScatter(const void* from, void* to, std::size_t count, int type, int op, void* comm, void* stream) {
  return launch(Kind::reduce_scatter, from, to, count, type, op, 0, comm, stream);
}
int ncclBcast(void* memory, std::size_t count, int type, int root, void* comm, void* stream) {
  return launch(Kind::broadcast, memory, memory, count, type, 0, root, comm, stream);
}
int ncclSend(const void* memory, std::size_t count, int type, int to, void* comm, void* stream) {
  return launch(Kind::send, memory, nullptr, count, type, 0, to, comm, stream);
}
int ncclRecv(void* memory, std::size_t count, int type, int from, void* comm, void* stream) {
  return launch(Kind::recv, memory, memory, count, type, 0, from, comm, stream);
}
const char* ncclGetErrorString(int code) {
  switch (code) {
    case 0: return "no error";
    case cuda_failed: return "unhandled cuda error";
    case system_failed: return "unhandled system error";
    case internal: return "internal error";
    case invalid_argument: return "invalid argument";
    case invalid_usage: return "invalid usage";
    default: return "unknown result code";
  }
}
}
