# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0

# The products next to the core. Each is an interface target with dependencies of its own, so that rondo::rondo needs
# threads alone. Shared by the build and by the installed package: a product means the same with add_subdirectory and with
# find_package(rondo COMPONENTS ...).

set(rondo_products search measure observe mpi)

# rondo_add_product(<name> [IMPORTED])
#   Makes rondo::<name> and what it depends on of Rondo. Where a dependency is missing there is no such target, and
#   rondo_<name>_missing names it.
function(rondo_add_product name)
  if(TARGET rondo::${name})
    return()
  endif()
  set(json nlohmann_json::nlohmann_json)
  set(range range-v3::range-v3)
  if(name STREQUAL search)
    set(needs ${range})
  elseif(name STREQUAL measure)
    set(needs ${range} ${json} fmt::fmt)
  elseif(name STREQUAL observe)
    set(needs rondo::measure ${range} ${json} fmt::fmt)
  elseif(name STREQUAL mpi)
    set(needs rondo::measure MPI::MPI_CXX)
  else()
    set(rondo_${name}_missing "no product ${name}" PARENT_SCOPE)
    return()
  endif()

  foreach(need IN LISTS needs)
    string(REGEX REPLACE "::.*" "" package ${need})
    if(package STREQUAL rondo)
      string(REGEX REPLACE ".*::" "" other ${need})
      rondo_add_product(${other} ${ARGN})
      set(package ${rondo_${other}_missing})
    elseif(package STREQUAL MPI)
      set(MPI_CXX_SKIP_MPICXX ON)  # not its own C++ bindings, which are no more since MPI 3
      find_package(MPI QUIET COMPONENTS CXX)
    else()
      find_package(${package} QUIET)
    endif()
    if(NOT TARGET ${need})
      set(rondo_${name}_missing ${package} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  if(name STREQUAL measure)
    list(APPEND needs ${CMAKE_DL_LIBS})
  endif()

  if("IMPORTED" IN_LIST ARGN)
    add_library(rondo::${name} INTERFACE IMPORTED)
    target_link_libraries(rondo::${name} INTERFACE rondo::rondo ${needs})
  else()
    add_library(rondo_${name} INTERFACE)
    add_library(rondo::${name} ALIAS rondo_${name})
    target_link_libraries(rondo_${name} INTERFACE rondo::rondo ${needs})
  endif()
endfunction()
