// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// The memory through which a program on the AICPU and the cube and vector cores talk to each other. The host, the
/// program and the cores' kernel (device/dispatch.hpp) are compiled with this header; it needs no more than C++17.
///
/// Each core has a mailbox. Its first lines are written by the AICPU alone and its last line by the core alone: a core
/// writes back whole lines of 64 bytes, so two writers in one line would lose data. The memory is laid out as
///
///     0     Departure, written by the host alone
///     64    Mailbox of each cube core, in the order of their blocks
///     …     Mailbox of each vector core, likewise, two for each block
///
/// A launch of the kernel has the number of its round. A core that starts ignores the request in its mailbox, which is
/// an old one, and writes the number of its launch; only then does the AICPU send it requests of that round. After each
/// request, the core answers with the number of the request. The AICPU waits for that answer before it writes the next
/// request, except the one to leave, which also applies to cores that start later.
namespace rondo::mailbox {

constexpr std::uint64_t line_bytes = 64;

/// The requests of the AICPU to a core.
enum Command : std::uint64_t {
  run = 1,  ///< call the kernel with the arguments
  echo,     ///< answer with echo_of(the first argument), which shows that both sides see what the other writes
  leave,    ///< end the kernel if the launch's number is at most `kernel`
};

/// The state of a core.
enum State : std::uint64_t {
  gone = 0,  ///< no kernel polls this mailbox
  here,      ///< it waits for requests, or works on one
};

/// The code of a task whose kernel is not in the cores' binary.
constexpr std::uint64_t unknown_kernel = ~std::uint64_t{0};

/// The most words of arguments of a block: 32 tensors of 5 dimensions with their extents, 16 scalars and a block, and
/// some more.
constexpr std::uint64_t most_words = 256;

/// Written by the AICPU. The number is written last.
struct Request {
  std::uint64_t number;
  std::uint64_t command;
  std::uint64_t kernel;  ///< kernel_id() of its name
  std::uint64_t words;   ///< the number of words of arguments
  std::uint64_t unused[4];
  std::int64_t args[most_words];
};

/// Written by the core. The number is written last.
struct Answer {
  std::uint64_t number;  ///< that of the request that was done last
  std::uint64_t state;
  std::uint64_t code;  ///< 0, or the failure; of an echo, its value; of a core that starts or leaves, the launch
  std::uint64_t unused[5];
};

/// The mailbox of a core.
struct Mailbox {
  Request request;
  Answer answer;
};

/// Written by the host: kernels whose launch has this number, or a lower one, end.
struct Departure {
  std::uint64_t launch;
  std::uint64_t unused[7];
};

static_assert(sizeof(Departure) == line_bytes && sizeof(Answer) == line_bytes && sizeof(Mailbox) % line_bytes == 0);
static_assert(offsetof(Request, args) == line_bytes && offsetof(Mailbox, answer) % line_bytes == 0);

/// The offset of a core's mailbox, in bytes. For the number of cores, it is the end of all mailboxes.
constexpr std::uint64_t place_of(std::uint64_t core) { return sizeof(Departure) + core * sizeof(Mailbox); }

/// The number that identifies a kernel: the FNV-1a hash of its name, which both sides compute.
constexpr std::uint64_t kernel_id(const char* name, std::size_t size) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(name[i])) * 0x0000'0100'0000'01B3;
  }
  return hash;
}
/// The identifier of a kernel whose name is a string literal.
template <std::size_t n>
constexpr std::uint64_t kernel_id(const char (&name)[n]) {
  return kernel_id(name, n - 1);
}

/// The answer to an echo.
constexpr std::uint64_t echo_of(std::uint64_t value) { return value * 0x9E37'79B9'7F4A'7C15 + 1; }

}  // namespace rondo::mailbox
