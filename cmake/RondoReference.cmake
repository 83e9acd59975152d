# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0

# The target rondo_reference: pages of all public names, in reference/html of the build folder.
find_program(RONDO_DOXYGEN doxygen)
mark_as_advanced(RONDO_DOXYGEN)
if(RONDO_DOXYGEN AND EXISTS ${PROJECT_SOURCE_DIR}/docs/Doxyfile.in)  # packages of the headers leave docs/ out
  configure_file(${PROJECT_SOURCE_DIR}/docs/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
  add_custom_target(
    rondo_reference
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/reference
    COMMAND ${RONDO_DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile
    COMMENT "Writing the reference to reference/html"
    VERBATIM)
elseif(NOT RONDO_DOXYGEN)
  message(STATUS "Rondo: no doxygen, so no target rondo_reference")
endif()
