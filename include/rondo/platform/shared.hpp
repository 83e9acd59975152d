// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/refresh_op.hpp>
#include <rondo/concepts.hpp>
#include <rondo/memory/concurrency.hpp>

#include <cstddef>

namespace rondo::platform {

/// A platform that several sessions run on, one at a time, in one arena: what each of them opens is a view of it.
///
/// Lifetime: the platform and the arena's owner outlive the view. Thread safety: as P. Cost: none; every call is P's.
template <Platform P>
class Shared {
 public:
  using Arch = typename P::Arch;
  static constexpr const char* name = P::name;
  static constexpr memory::Concurrency concurrency = memory::concurrency_of<P>();
  static constexpr bool args_in_host_memory = [] {
    if constexpr (requires { P::args_in_host_memory; }) return bool{P::args_in_host_memory};
    return false;
  }();

  /// The platform that is shared, and who lends its arena.
  struct Options {
    P* platform = nullptr;
    void* owner = nullptr;
    /// The arena's base, made at least so large before. @throws Error out_of_memory
    DevicePtr<std::byte> (*borrow)(void* owner, Bytes size) = nullptr;
    /// What the owner keeps of per-round values, for all views together.
    void* values = nullptr;
  };

  explicit Shared(const Options& options) noexcept : options_{options} {}

  [[nodiscard]] void* values() const noexcept { return options_.values; }
  [[nodiscard]] DevicePtr<std::byte> borrow_arena(Bytes size, Bytes) { return options_.borrow(options_.owner, size); }
  [[nodiscard]] DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    return device().allocate(size, alignment);
  }
  Status release(DevicePtr<std::byte> block) noexcept { return device().release(block); }

  [[gnu::always_inline]] Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return device().copy_in(to, from, size);
  }
  Status copy_in_snapshot(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept requires HasSnapshotCopy<P> {
    return device().copy_in_snapshot(to, from, size);
  }
  [[gnu::always_inline]] Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    return device().copy_out(to, from, size);
  }
  Status wait() noexcept { return device().wait(); }

  Status refresh_args(const args::RefreshOp& op) noexcept requires requires(P& p) { p.refresh_args(op); }
  { return device().refresh_args(op); }

  template <class Graph, class Args>
  [[nodiscard]] auto load(const Graph& graph, Args& args) {
    return device().load(graph, args);
  }
  template <class Program>
  [[gnu::always_inline]] Status launch(Program& program) noexcept {
    return device().launch(program);
  }
  template <class Program>
  void move_arena(Program& program, DevicePtr<std::byte> from, DevicePtr<std::byte> to) noexcept requires
      requires(P& p) {
    p.move_arena(program, from, to);
  }
  { device().move_arena(program, from, to); }
  Status fill_zeros(DevicePtr<std::byte> to, Bytes size) noexcept requires requires(P& p) { p.fill_zeros(to, size); }
  { return device().fill_zeros(to, size); }
  template <class Program>
  Status unload(Program& program) noexcept {
    return device().unload(program);
  }

  void request_stop() noexcept requires requires(P& p) { p.request_stop(); }
  { device().request_stop(); }
  void keep_awake(bool awake) noexcept requires requires(P& p) { p.keep_awake(awake); }
  { device().keep_awake(awake); }
  [[nodiscard]] decltype(auto) failure_text() const noexcept requires requires(const P& p) { p.failure_text(); }
  { return const_cast<const P&>(*options_.platform).failure_text(); }

 private:
  [[nodiscard]] P& device() noexcept { return *options_.platform; }

  Options options_;
};

}  // namespace rondo::platform
