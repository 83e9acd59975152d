# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0

# rondo_own_flags: what Rondo's own tests, examples and benchmarks are compiled with. Nothing of it reaches consumers.

option(RONDO_WARNINGS_AS_ERRORS "Fail Rondo's own targets on any warning" OFF)
set(RONDO_SANITIZE "" CACHE STRING "Sanitizers for Rondo's own targets, for example address,undefined or thread")

set(rondo_warnings -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 warns of an overlap inside its own std::string for "text" + std::string (GCC bug 105651), and at -O3 of
  # reads past the end of short vectors in loops that are not entered for them.
  list(APPEND rondo_warnings -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
if(RONDO_WARNINGS_AS_ERRORS)
  list(APPEND rondo_warnings -Werror)
endif()

add_library(rondo_own_flags INTERFACE)
target_compile_options(rondo_own_flags INTERFACE ${rondo_warnings})
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Hardly any garbage collection inside of g++, and the same code: a tenth less time for a third more memory.
  target_compile_options(rondo_own_flags INTERFACE "SHELL:--param ggc-min-expand=1000"
                                                   "SHELL:--param ggc-min-heapsize=1000000")
endif()
target_compile_definitions(rondo_own_flags INTERFACE RONDO_PLATFORM=${RONDO_PLATFORM})
target_link_libraries(rondo_own_flags INTERFACE rondo::rondo)
if(RONDO_SANITIZE)
  # Every finding ends the program: a report that a test passes over is a report that nobody reads.
  set(sanitize -fsanitize=${RONDO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND RONDO_SANITIZE MATCHES undefined)
    # With its null checks g++ takes "this reference is not null" for no constant, so constant expressions that clang and
    # g++ itself accept fail to compile. The clang presets keep the checks.
    list(APPEND sanitize -fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute)
  endif()
  # Not optimised: an instrumented test at -O1 takes three times as long to compile.
  target_compile_options(rondo_own_flags INTERFACE ${sanitize})
  target_link_options(rondo_own_flags INTERFACE ${sanitize})
endif()
