// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/registry.hpp>

#include <cstdint>

namespace rondo::detail {

/// Returns a sentence for a status of a session over `graph`, with the name of the tensor or task. `detail`: the bytes
/// that were bound if the code is wrong_size, or the memory::Staleness if it is stale_memory; `said`: the platform's
/// text for its last failure, or null.
[[nodiscard]] Error::Text explain_status(const graph::GraphView& graph, Status status, std::uint64_t detail,
                                         const Error::Text* said) noexcept;

#if RONDO_HAS_BODIES
[[gnu::cold, gnu::noinline]] RONDO_INLINE Error::Text explain_status(const graph::GraphView& graph, Status status,
                                                                     std::uint64_t detail,
                                                                     const Error::Text* said) noexcept {
  Error::Text text;
  if (status.subject() == Status::Subject::tensor && status.index() < graph.tensors.size()) {
    const graph::TensorRecord& tensor = graph.tensors[status.index()];
    text = Error::Text{"tensor '", graph.name(tensor.name), "' (", to_string(tensor.direction), ", "};
    if (!tensor.is_symbolic()) text.append(Error::Text{tensor.count, " × "});
    text.append(Error::Text{to_string(tensor.type), "): "});
    if (status.code() == Errc::wrong_size && !tensor.is_symbolic()) {
      text.append(Error::Text{"it takes ", tensor.bytes, " bytes, ", detail,
                              " were bound; bind a span of exactly its elements"});
      return text;
    }
    if (status.code() == Errc::stale_memory) {
      text.append(memory::describe(static_cast<memory::Staleness>(detail)));
      return text;
    }
    if (status.code() == Errc::uninitialized_read) {
      text.append("a task reads it, but nothing was uploaded to it yet; call session.upload first");
      return text;
    }
  } else if (status.subject() == Status::Subject::task) {
    for (const graph::TaskRecord& task : graph.tasks) {
      if (task.added_as == status.index())
        text = Error::Text{"task ", task.added_as, " '", graph.name(task.name), "': "};
    }
  }
  text.append(status.message());
  const Errc code = status.code();
  const bool is_busy = code == Errc::busy;  // may come from the session; `said` is older then
  const bool is_of_device = code == Errc::kernel_failed || code == Errc::device_failed || code == Errc::deadlock ||
                            code == Errc::orchestration_failed || code == Errc::check_failed || code == Errc::timed_out;
  if (said != nullptr && said->size() != 0 && (is_busy || is_of_device)) {
    text.append(is_busy ? "; the platform's last failure: " : "; the platform reports: ");
    text.append(*said);
  }
  return text;
}
#endif

}  // namespace rondo::detail
