# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/rondo)
install(TARGETS rondo EXPORT rondoTargets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Kernels of Rondo's own, which users compile for their device.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/rondo/platform/onboard/device
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rondo/platform/onboard)
if(RONDO_COMPILED_LIBRARY)
  install(TARGETS rondo_compiled EXPORT rondoTargets DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(RONDO_C_LIBRARY)
  install(TARGETS rondo_c EXPORT rondoTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
foreach(product IN LISTS rondo_products)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/rondo/${product} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rondo)
endforeach()
install(EXPORT rondoTargets NAMESPACE rondo:: DESTINATION ${package_dir})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/rondoConfig.cmake.in ${PROJECT_BINARY_DIR}/rondoConfig.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break what came before.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/rondoConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/rondoConfig.cmake ${PROJECT_BINARY_DIR}/rondoConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/RondoPlatform.cmake ${CMAKE_CURRENT_LIST_DIR}/RondoCudaKernels.cmake
              ${CMAKE_CURRENT_LIST_DIR}/RondoEmbedPtx.cmake ${CMAKE_CURRENT_LIST_DIR}/RondoProducts.cmake
        DESTINATION ${package_dir})

# For builds without CMake. Paths are relative to the file, so that what is installed may be moved. It names neither the
# language standard, C++20, which is the user's to choose, nor what the products next to the core depend on.
set(pkgconfig_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir} OUTPUT_VARIABLE
           rondo_up)
configure_file(${CMAKE_CURRENT_LIST_DIR}/rondo.pc.in ${PROJECT_BINARY_DIR}/rondo.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/rondo.pc DESTINATION ${pkgconfig_dir})

# `cpack -G DEB` in the build folder makes librondo-dev, headers for any architecture.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME librondo-dev)
  set(CPACK_PACKAGE_VENDOR "The Rondo authors")
  set(CPACK_PACKAGE_CONTACT "The Rondo authors")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "sets a device graph up once and runs it round after round")
  set(CPACK_PACKAGE_DESCRIPTION
      "Rondo is a header-only C++20 library for host code of NPUs: kernel benchmarks, auto-tuners, decode loops, training
steps. It plans, allocates and lays out once, so that a round costs what its copies and kernels cost.")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS
      "graphviz, libdlpack-dev, libfmt-dev, libopenmpi-dev, librange-v3-dev, nlohmann-json3-dev")
  set(CPACK_STRIP_FILES OFF)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/librondo-dev RENAME copyright)
  include(CPack)
endif()
