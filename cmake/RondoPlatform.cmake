# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0

# Which platform rondo::SelectedPlatform names. Shared by the build and by the installed package, so that one variable,
# RONDO_PLATFORM, means the same with add_subdirectory and with find_package.

set(rondo_platforms a2a3_sim a5_sim a2a3_onboard a5_onboard host cuda)

function(rondo_check_platform)
  if(DEFINED RONDO_PLATFORM AND NOT RONDO_PLATFORM IN_LIST rondo_platforms)
    list(JOIN rondo_platforms ", " known)
    message(FATAL_ERROR "RONDO_PLATFORM is '${RONDO_PLATFORM}', but Rondo knows only: ${known}")
  endif()
endfunction()

# Hands the choice to a target's users. The headers take a2a3_sim by themselves, so without a choice nothing is defined
# and users get the language standard alone. Not exported: an installed Rondo serves every platform.
function(rondo_select_platform target)
  if(DEFINED RONDO_PLATFORM AND NOT RONDO_PLATFORM STREQUAL a2a3_sim)
    target_compile_definitions(${target} INTERFACE $<BUILD_INTERFACE:RONDO_PLATFORM=${RONDO_PLATFORM}>)
  endif()
endfunction()
