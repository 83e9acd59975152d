// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/library_call.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/streams/api.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rondo::platform::streams {

/// The library calls of a loaded graph, for devices with streams: see TaskGraph::add_call().
///
/// Lifetime: the graph's text outlives it. Thread safety: none. Cost: set-up, and a copy of each call's words.
class LibraryCalls {
 public:
  /// The number of a launch that is not a library call.
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  /// Adds the call of the task at a position; its addresses do not change later. @returns its number, or `none` for a
  /// task that runs a kernel
  std::uint32_t add(const graph::GraphView& view, std::uint32_t position, args::ArgsTable& args) {
    const graph::TaskRecord& task = view.tasks[position];
    if (task.call == nullptr) return none;
    Call call{task.call, view.name(task.name), std::vector<ArgWord>(task.block_bytes / sizeof(ArgWord))};
    const std::ptrdiff_t word = args.block(position, 0) - args.words();
    // Copied, since on some platforms the image is not an array of words.
    __builtin_memcpy(call.words.data(), args.bytes() + word * std::ptrdiff_t{sizeof(ArgWord)}, task.block_bytes);
    calls_.push_back(static_cast<Call&&>(call));
    return static_cast<std::uint32_t>(calls_.size() - 1);
  }
  [[nodiscard]] bool empty() const noexcept { return calls_.empty(); }
  /// Lists the calls, for a failure whose task is unknown: each of them may be waiting for another rank. Empty if the
  /// graph has no library call.
  [[nodiscard, gnu::cold]] Error::Text list() const noexcept {
    constexpr std::size_t most = 4;
    Error::Text text;
    for (std::size_t i = 0; i < calls_.size() && i < most; ++i) {
      text.append(
          {i == 0 ? "the task is unknown, and the library calls of the graph are '" : ", '", calls_[i].name, "'"});
    }
    if (calls_.size() > most) text.append({" and ", calls_.size() - most, " others"});
    if (!calls_.empty()) text.append({": if one is a collective, look whether another rank has stopped; "});
    return text;
  }

  /// Makes a call that enqueues its work on a stream. @returns library_call_failed if the call returns a code other
  /// than 0 or throws; `what` then describes the failure
  [[nodiscard]] Code run(std::uint32_t number, Stream stream, const char*& what) noexcept {
    Call& call = calls_[number];
    Error::Text thrown;
    const int code = call_on_stream(call.entry, call.words.data(), stream, thrown);
    if (code == 0) return code_ok;
    failure_ = code == call_threw ? Error::Text{"library call '", call.name, "' threw ", thrown.c_str()}
                                  : Error::Text{"library call '", call.name, "' returned ", code};
    what = failure_.c_str();
    return library_call_failed;
  }

 private:
  struct Call {
    CallEntry entry;
    std::string_view name;
    std::vector<ArgWord> words;
  };
  std::vector<Call> calls_;
  Error::Text failure_;
};

}  // namespace rondo::platform::streams
