// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "objects.hpp"

#include <rondo/version.hpp>

namespace rondo::c {

namespace {

constinit thread_local Error::Text last_error;

// Each code of the header is one of Errc, in the same order.
static_assert(RONDO_OK == static_cast<rondo_code>(Errc::ok));
static_assert(RONDO_SHARED_MEMORY == static_cast<rondo_code>(Errc::shared_memory));
static_assert(RONDO_LIMIT_EXCEEDED == static_cast<rondo_code>(Errc::limit_exceeded));
static_assert(RONDO_NOT_OPEN == static_cast<rondo_code>(Errc::not_open));
static_assert(RONDO_UNSUPPORTED == static_cast<rondo_code>(Errc::unsupported));
static_assert(RONDO_KERNEL_FAILED == static_cast<rondo_code>(Errc::kernel_failed));
static_assert(RONDO_STALE_MEMORY == static_cast<rondo_code>(Errc::stale_memory));

}  // namespace

rondo_code failure(rondo_code code, const Error::Text& text) noexcept {
  last_error = text;
  return code;
}

rondo_code wrong_handle(Kind wanted) noexcept {
  constexpr const char* names[] = {"", "kernel", "graph", "session", "bindings", "round"};
  const char* const name = names[static_cast<std::size_t>(wanted)];
  return failure(RONDO_WRONG_HANDLE, Error::Text{"the handle is of no ", name,
                                                 ", or of one that was closed or destroyed"
                                                 "; pass a ",
                                                 name, " that is open"});
}

rondo_code explained(const SessionObject& session, Status status) noexcept {
  return failure(static_cast<rondo_code>(status.code()), session.session->explain(status));
}

ArgWord word_of(const rondo_argument& argument, const erased::KernelParameter& parameter, std::string_view kernel) {
  switch (argument.kind) {
    case 1: return erased::scalar_word(argument.value.integer, parameter, kernel);
    case 2: return erased::scalar_word(argument.value.number, parameter, kernel);
    case 3: return erased::scalar_word(argument.value.natural, parameter, kernel);
    default:
      erased::fail(Errc::invalid_argument, "kernel '", kernel, "' takes a scalar as ", parameter.name,
                   ", not a tensor; make the argument with rondo_number_argument or rondo_integer_argument");
  }
}

}  // namespace rondo::c

extern "C" {

uint32_t rondo_abi_version(void) { return RONDO_ABI_VERSION; }

const char* rondo_version(void) {
  static constexpr rondo::detail::FixedText<32> text{rondo::version.major, ".", rondo::version.minor, ".",
                                                     rondo::version.patch};
  return text.c_str();
}

const char* rondo_describe(rondo_code code) {
  switch (code) {
    case RONDO_WRONG_HANDLE: return "the handle is of no open object of the kind that the call takes";
    case RONDO_OUT_OF_HOST_MEMORY: return "the host has no memory left";
    case RONDO_INTERNAL: return "a defect of Rondo; please report it";
    default:
      return code < 0 || code > RONDO_STALE_MEMORY ? "unknown error code" : describe(static_cast<rondo::Errc>(code));
  }
}

const char* rondo_last_error(void) { return rondo::c::last_error.c_str(); }

}  // extern "C"
