// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The kernel that runs the tasks of graphs that the device builds, for sources in C++17 that the vendor's compiler
/// compiles for cube and vector cores. It is launched for each round, on a block for each cube core and its two vector
/// cores. Each core polls its mailbox, runs one block of a task after the other, and ends with the round.
///
///     #include "kernel_operator.h"  // before this header
///     #include <rondo/platform/onboard/device/dispatch.hpp>
///
///     struct Saxpy {
///       static constexpr std::uint64_t id = rondo::mailbox::kernel_id("saxpy");  // the kernel's name in the graph
///       static __aicore__ inline std::uint64_t Run(__gm__ std::int64_t* args) { …; return 0; }  // 0: success
///     };
///     using OnCubeCores = rondo::on_core::Tasks<>;
///     using OnVectorCores = rondo::on_core::Tasks<Saxpy>;
///
///     extern "C" __global__ __aicore__ void rondo_dispatch(GM_ADDR mailboxes, std::uint64_t launch) {
///       KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
///       rondo::on_core::Serve<OnCubeCores, OnVectorCores>(mailboxes, launch);
///     }
///
/// A task may write with scalar code or by DataCopy: a core waits for both before it answers. See
/// examples/06_onboard_saxpy/device/dispatch.cpp.
#if defined(__CCE_AICORE__) || defined(__aicore__)  // empty for host code

#include <rondo/platform/onboard/device/mailbox.hpp>

namespace rondo::on_core {

/// Memory of the device, accessed word by word through the core's data cache, which is not coherent.
class Words {
 public:
  __aicore__ inline explicit Words(GM_ADDR at) { tensor_.SetGlobalBuffer(reinterpret_cast<__gm__ std::uint64_t*>(at)); }

  __aicore__ inline std::uint64_t Load(std::uint64_t byte) const {
    Keep();
    return tensor_.GetValue(byte / 8);
  }
  __aicore__ inline void Store(std::uint64_t byte, std::uint64_t value) {
    tensor_.SetValue(byte / 8, value);
    Keep();
  }
  /// Writes a line back if it was modified, and invalidates it.
  __aicore__ inline void Discard(std::uint64_t byte) {
    Keep();
    AscendC::DataCacheCleanAndInvalid<std::uint64_t, AscendC::CacheLine::SINGLE_CACHE_LINE,
                                      AscendC::DcciDst::CACHELINE_OUT>(tensor_[byte / 8]);
    Keep();
  }
  /// Writes back and invalidates all lines in the core's cache.
  __aicore__ inline void DiscardAll() {
    Keep();
    AscendC::DataCacheCleanAndInvalid<std::uint64_t, AscendC::CacheLine::ENTIRE_DATA_CACHE,
                                      AscendC::DcciDst::CACHELINE_OUT>(tensor_);
    Keep();
  }
  /// Waits until all lines that were written back have arrived in memory.
  __aicore__ inline static void Barrier() { AscendC::DataSyncBarrier<AscendC::MemDsbT::ALL>(); }

 private:
  /// A compiler barrier for accesses to memory.
  __aicore__ inline static void Keep() { __asm__ __volatile__("" ::: "memory"); }

  AscendC::GlobalTensor<std::uint64_t> tensor_;
};

/// The tasks' kernels of one type of core.
template <class... Each>
struct Tasks {
  static __aicore__ inline std::uint64_t Run([[maybe_unused]] std::uint64_t id,
                                             [[maybe_unused]] __gm__ std::int64_t* args, std::uint64_t) {
    std::uint64_t code = mailbox::unknown_kernel;
    (void)((id == Each::id && (code = Each::Run(args), true)) || ...);
    return code;
  }
};

/// One core's half of a mailbox.
class Core {
 public:
  __aicore__ inline Core(GM_ADDR mailboxes, std::uint64_t core, std::uint64_t launch)
      : at_(mailboxes + mailbox::place_of(core)), departure_(mailboxes), mailbox_(at_), launch_(launch) {}

  /// Runs tasks until the request to leave.
  template <class Kernels>
  __aicore__ inline void Serve() {
    number_ = Number();  // the request of an earlier launch, or a request to leave
    if (IsToLeave()) return Tell(mailbox::gone, launch_);
    Tell(mailbox::here, launch_);
    for (std::uint32_t polls = 1;; ++polls) {
      const std::uint64_t number = Number();
      if (number != number_) {
        number_ = number;
        if (IsToLeave()) break;
        Tell(mailbox::here, Do<Kernels>(mailbox_.Load(offsetof(mailbox::Request, command))));
      } else if (polls % polls_per_look == 0 && IsToDepart()) {
        break;
      }
    }
    Tell(mailbox::gone, launch_);
  }

 private:
  static constexpr std::uint64_t answer = offsetof(mailbox::Mailbox, answer);
  static constexpr std::uint32_t polls_per_look = 16;

  template <class Kernels>
  __aicore__ inline std::uint64_t Do(std::uint64_t command) {
    const std::uint64_t kernel = mailbox_.Load(offsetof(mailbox::Request, kernel));
    const std::uint64_t words = mailbox_.Load(offsetof(mailbox::Request, words));
    mailbox_.DiscardAll();  // the arguments, and the results of other tasks
    constexpr std::uint64_t args = offsetof(mailbox::Request, args);
    if (command == mailbox::echo) return mailbox::echo_of(mailbox_.Load(args));
    const std::uint64_t code = Kernels::Run(kernel, reinterpret_cast<__gm__ std::int64_t*>(at_ + args), words);
    AscendC::PipeBarrier<PIPE_ALL>();  // waits for the copies of the task
    mailbox_.DiscardAll();             // writes back the stores of its scalar code
    Words::Barrier();
    return code;
  }
  /// Returns the number of the current request; the rest of the request may be read afterwards.
  __aicore__ inline std::uint64_t Number() {
    mailbox_.Discard(0);
    return mailbox_.Load(offsetof(mailbox::Request, number));
  }
  __aicore__ inline bool IsToLeave() const {
    return mailbox_.Load(offsetof(mailbox::Request, command)) == mailbox::leave &&
           mailbox_.Load(offsetof(mailbox::Request, kernel)) >= launch_;
  }
  __aicore__ inline bool IsToDepart() {
    departure_.Discard(0);
    return departure_.Load(offsetof(mailbox::Departure, launch)) >= launch_;
  }
  /// Writes the answer; all of it is in one line, so it arrives at once.
  __aicore__ inline void Tell(std::uint64_t state, std::uint64_t code) {
    mailbox_.Store(answer + offsetof(mailbox::Answer, code), code);
    mailbox_.Store(answer + offsetof(mailbox::Answer, state), state);
    mailbox_.Store(answer + offsetof(mailbox::Answer, number), number_);
    mailbox_.Discard(answer);
    Words::Barrier();
  }

  GM_ADDR at_;
  Words departure_;
  Words mailbox_;
  std::uint64_t launch_;
  std::uint64_t number_ = 0;  // the number of the last request that was done
};

/// The body of the kernel, on each core.
template <class OnCubeCores, class OnVectorCores>
__aicore__ inline void Serve(GM_ADDR mailboxes, std::uint64_t launch) {
  const std::uint64_t index = static_cast<std::uint64_t>(AscendC::GetBlockIdx());
  if ASCEND_IS_AIC {
    Core(mailboxes, index, launch).Serve<OnCubeCores>();
  } else {
    Core(mailboxes, static_cast<std::uint64_t>(AscendC::GetBlockNum()) + index, launch).Serve<OnVectorCores>();
  }
}

}  // namespace rondo::on_core

#endif
