# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0

# Kernels for CUDA devices, compiled by clang without a CUDA toolkit. Shared by the build and by the installed package.

set(RONDO_CUDA_ARCH sm_70 CACHE STRING "The oldest GPUs on which kernels run; later ones run them, too")
set(RONDO_CUDA_PTX ptx63 CACHE STRING "The version of PTX: the older, the older the drivers that take it")

# rondo_add_cuda_kernels(<target> <file>...)
#   Compiles each file to PTX and embeds it in the target, so that sessions on the platform Cuda find its kernels without
#   being told. The PTX is in <build folder>/<target>_cuda/<name>.ptx, too. Floating-point operations are not contracted,
#   so that kernels give what the host gives; set the source property COMPILE_OPTIONS to change that.
function(rondo_add_cuda_kernels target)
  find_program(RONDO_CUDA_CLANG NAMES clang++-19 clang++-20 clang++-18 clang++-17 clang++-16 clang++)
  if(NOT RONDO_CUDA_CLANG)
    message(FATAL_ERROR "Kernels for CUDA are compiled by clang++ 16 or later, and none was found; install one, or set RONDO_CUDA_CLANG")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_cuda)
  file(MAKE_DIRECTORY ${folder})
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    cmake_path(GET file STEM name)
    get_source_file_property(options ${file} COMPILE_OPTIONS)
    if(NOT options)
      set(options)
    endif()
    set(ptx ${folder}/${name}.ptx)
    set(includes $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    add_custom_command(
      OUTPUT ${ptx}
      COMMAND
        ${RONDO_CUDA_CLANG} -x cuda --cuda-device-only --cuda-gpu-arch=${RONDO_CUDA_ARCH} --cuda-feature=+${RONDO_CUDA_PTX}
        -nocudainc -nocudalib -Wno-unknown-cuda-version -std=c++20 -O3 -ffp-contract=off ${options}
        "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" -S -MD -MF ${ptx}.d -MT ${ptx} -o ${ptx} ${file}
      DEPENDS ${file}
      DEPFILE ${ptx}.d
      COMMENT "Compiling ${name} for CUDA devices"
      COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_command(
      OUTPUT ${ptx}.cpp
      COMMAND ${CMAKE_COMMAND} -DPTX=${ptx} -DOUT=${ptx}.cpp -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/RondoEmbedPtx.cmake
      DEPENDS ${ptx} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/RondoEmbedPtx.cmake
      VERBATIM)
    target_sources(${target} PRIVATE ${ptx}.cpp)
  endforeach()
endfunction()
