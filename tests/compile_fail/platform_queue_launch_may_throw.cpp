// expect: rondo: the platform's queue cannot launch what load() returns; write `Status launch(
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/rondo.hpp>

#include <vector>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::queue, Capability::args_in_host_memory};
  struct Queue {
    void reserve(Bytes);
    Status copy_in(std::uint32_t, DevicePtr<std::byte>, const void*, Bytes) noexcept;
    Status copy_out(std::uint32_t, void*, DevicePtr<const std::byte>, Bytes) noexcept;
    Status launch(std::uint32_t, Program&);
    Status commit(std::uint32_t) noexcept;
    bool is_done(std::uint32_t) noexcept;
    void await(std::uint32_t) noexcept;
    Status deliver(std::uint32_t) noexcept;
    void cancel(std::uint32_t) noexcept;
    Status close() noexcept;
  };
  Queue open_queue(std::size_t, std::size_t, Bytes);
};

void run(PipelinedSession<Mine, 2>& session, Input<float> x, std::vector<float>& values) {
  (void)session.submit_round(bind(x, values));
}
