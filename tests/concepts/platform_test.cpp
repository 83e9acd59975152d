// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/arch/a5.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/concept.hpp>

#include <cstddef>

// Near misses of a Platform: each model below is a platform but for one thing, and fails in precisely the part that
// asks for it.

namespace {

using namespace rondo;
using Device = DevicePtr<std::byte>;
using ConstDevice = DevicePtr<const std::byte>;

struct Options {};

/// Fulfils everything; the near misses derive from it and hide one member.
struct Complete {
  using Arch = arch::A5;
  using Options = ::Options;
  static constexpr const char* name = "complete";
  Complete() = default;
  explicit Complete(const ::Options&) {}
  Device allocate(Bytes, Bytes) { return {}; }
  Status release(Device) noexcept { return {}; }
  Status copy_in(Device, const void*, Bytes) noexcept { return {}; }
  Status copy_out(void*, ConstDevice, Bytes) noexcept { return {}; }
  Status wait() noexcept { return {}; }
};
static_assert(Platform<Complete>);
static_assert(check_platform<Complete>());

enum class Part { arch, name, options, memory, copy, wait };

template <class P>
constexpr bool has(Part part) {
  switch (part) {
    case Part::arch: return HasArch<P>;
    case Part::name: return HasName<P>;
    case Part::options: return HasOptions<P>;
    case Part::memory: return HasMemory<P>;
    case Part::copy: return HasCopy<P>;
    case Part::wait: return HasWait<P>;
  }
  return false;
}

/// No platform, for want of this part and of no other.
template <class P>
consteval bool lacks_only(Part missing) {
  for (const Part part : {Part::arch, Part::name, Part::options, Part::memory, Part::copy, Part::wait}) {
    if (has<P>(part) == (part == missing)) return false;
  }
  return !Platform<P>;
}

struct WithOptions : Complete {
  using Complete::Complete;
};
static_assert(Platform<WithOptions>);

// --- arch
struct ArchIsANumber : WithOptions {
  using WithOptions::WithOptions;
  using Arch = int;
};
struct ArchIsNoChip : WithOptions {
  using WithOptions::WithOptions;
  using Arch = arch::CommonFacts;
};
static_assert(lacks_only<ArchIsANumber>(Part::arch));
static_assert(lacks_only<ArchIsNoChip>(Part::arch));

// --- name
struct NameIsAFunction : WithOptions {
  using WithOptions::WithOptions;
  static const char* name() { return "f"; }
};
struct NameIsANumber : WithOptions {
  using WithOptions::WithOptions;
  static constexpr int name = 7;
};
static_assert(lacks_only<NameIsAFunction>(Part::name));
static_assert(lacks_only<NameIsANumber>(Part::name));

// --- options
struct OptionsWithoutDefault : WithOptions {
  struct Options {
    explicit Options(int) {}
  };
  explicit OptionsWithoutDefault(const Options&) {}
};
struct NotMadeOfOptions : WithOptions {
  struct Options {};
};
struct WantsToChangeOptions : WithOptions {
  struct Options {};
  explicit WantsToChangeOptions(Options&) {}
};
static_assert(lacks_only<OptionsWithoutDefault>(Part::options));
static_assert(lacks_only<NotMadeOfOptions>(Part::options));
static_assert(lacks_only<WantsToChangeOptions>(Part::options));

// --- memory
struct AllocatesHostPointers : WithOptions {
  using WithOptions::WithOptions;
  std::byte* allocate(Bytes, Bytes) { return nullptr; }
};
struct AllocatesWithoutAlignment : WithOptions {
  using WithOptions::WithOptions;
  Device allocate(Bytes) { return {}; }
};
struct ReleaseMayThrow : WithOptions {
  using WithOptions::WithOptions;
  Status release(Device) { return {}; }
};
struct ReleaseSaysNothing : WithOptions {
  using WithOptions::WithOptions;
  void release(Device) noexcept {}
};
struct ReleaseIsPrivate : WithOptions {
  using WithOptions::WithOptions;

 private:
  [[maybe_unused]] Status release(Device) noexcept { return {}; }
};
static_assert(lacks_only<AllocatesHostPointers>(Part::memory));
static_assert(lacks_only<AllocatesWithoutAlignment>(Part::memory));
static_assert(lacks_only<ReleaseMayThrow>(Part::memory));
static_assert(lacks_only<ReleaseSaysNothing>(Part::memory));
static_assert(lacks_only<ReleaseIsPrivate>(Part::memory));

// --- copy
struct CopyInMayThrow : WithOptions {
  using WithOptions::WithOptions;
  Status copy_in(Device, const void*, Bytes) { return {}; }
};
struct CopyOutMayThrow : WithOptions {
  using WithOptions::WithOptions;
  Status copy_out(void*, ConstDevice, Bytes) { return {}; }
};
struct CopyOutNeedsWritableDevice : WithOptions {
  using WithOptions::WithOptions;
  Status copy_out(void*, Device, Bytes) noexcept { return {}; }
};
struct CopyInTakesMutableHost : WithOptions {
  using WithOptions::WithOptions;
  Status copy_in(Device, void*, Bytes) noexcept { return {}; }
};
struct CopyTellsABool : WithOptions {
  using WithOptions::WithOptions;
  bool copy_in(Device, const void*, Bytes) noexcept { return true; }
};
struct CopyCountsElements : WithOptions {
  using WithOptions::WithOptions;
  Status copy_in(Device, const void*, std::size_t) noexcept { return {}; }
};
static_assert(lacks_only<CopyInMayThrow>(Part::copy));
static_assert(lacks_only<CopyOutMayThrow>(Part::copy));
static_assert(lacks_only<CopyOutNeedsWritableDevice>(Part::copy));
static_assert(lacks_only<CopyInTakesMutableHost>(Part::copy));
static_assert(lacks_only<CopyTellsABool>(Part::copy));
static_assert(lacks_only<CopyCountsElements>(Part::copy));

// --- wait
struct WaitMayThrow : WithOptions {
  using WithOptions::WithOptions;
  Status wait() { return {}; }
};
struct WaitSaysNothing : WithOptions {
  using WithOptions::WithOptions;
  void wait() noexcept {}
};
struct WaitWantsALimit : WithOptions {
  using WithOptions::WithOptions;
  Status wait(int) noexcept { return {}; }
};
static_assert(lacks_only<WaitMayThrow>(Part::wait));
static_assert(lacks_only<WaitSaysNothing>(Part::wait));
static_assert(lacks_only<WaitWantsALimit>(Part::wait));

// --- nothing of it
struct Nothing {};
static_assert(!HasArch<Nothing> && !HasName<Nothing> && !HasOptions<Nothing> && !HasMemory<Nothing>);
static_assert(!HasCopy<Nothing> && !HasWait<Nothing> && !Platform<Nothing> && !Platform<int>);

// --- running a graph, which the session asks for
struct Graph {};
struct Args {};
struct Runs : WithOptions {
  struct Program {};
  Program load(const Graph&, Args&) { return {}; }
  Status launch(Program&) noexcept { return {}; }
  Status unload(Program&) noexcept { return {}; }
};
struct CannotLoad : WithOptions {
  struct Program {};
  Status launch(Program&) noexcept { return {}; }
  Status unload(Program&) noexcept { return {}; }
};
struct LaunchMayThrow : Runs {
  Status launch(Program&) { return {}; }
};
struct CannotUnload : WithOptions {
  struct Program {};
  Program load(const Graph&, Args&) { return {}; }
  Status launch(Program&) noexcept { return {}; }
};
struct LoadsWantingToChangeTheGraph : Runs {
  Program load(Graph&, Args&) { return {}; }
};
static_assert(HasLaunch<Runs, Graph, Args>);
static_assert(!HasLaunch<CannotLoad, Graph, Args>);
static_assert(!HasLaunch<LaunchMayThrow, Graph, Args>);
static_assert(!HasLaunch<CannotUnload, Graph, Args>);
static_assert(!HasLaunch<LoadsWantingToChangeTheGraph, Graph, Args>);

// --- capabilities: declared, and there
static_assert(!HasClose<Complete> && !HasQueue<Complete> && !HasFailureText<Complete> &&
              !HasArgsInHostMemory<Complete>);
struct ClosesUndeclared : WithOptions {
  using WithOptions::WithOptions;
  Status close() noexcept { return {}; }
};
struct Closes : ClosesUndeclared {
  using ClosesUndeclared::ClosesUndeclared;
  static constexpr Capabilities capabilities{Capability::close, Capability::args_in_host_memory};
};
struct CloseMayThrow : Closes {
  using Closes::Closes;
  Status close() { return {}; }
};
struct CannotClose : WithOptions {
  using WithOptions::WithOptions;
  static constexpr Capabilities capabilities = Closes::capabilities;
};
static_assert(!HasClose<ClosesUndeclared> && HasClose<Closes> && !HasClose<CloseMayThrow> && !HasClose<CannotClose>);
static_assert(check_platform<ClosesUndeclared>() && check_platform<Closes>() && HasArgsInHostMemory<Closes>);

static_assert(!Capabilities{}.has(Capability::close) && Closes::capabilities.has(Capability::close));
static_assert((Closes::capabilities | Capabilities{Capability::queue}).has(Capability::queue));
static_assert(!Closes::capabilities.has(Capability::queue) && !HasClose<Complete>);

}  // namespace
