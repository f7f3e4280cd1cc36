# Installs the headers, the CMake package and the pkg-config file. Both packages search for the dependencies again on
# the machine that uses them.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Distributions set absolute directories, which CMake 3.25 and pkg-config would append to the prefix. A directory below
# the prefix is made relative, so that the installed files can be moved. If a directory is elsewhere, its path is made
# relative to the prefix for headers, and stays absolute for libraries.
set(include_dir "${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${include_dir}")
  cmake_path(RELATIVE_PATH include_dir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
endif()
set(lib_dir "${CMAKE_INSTALL_LIBDIR}")
if(IS_ABSOLUTE "${lib_dir}")
  cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX "${lib_dir}" NORMALIZE below)
  if(below)
    cmake_path(RELATIVE_PATH lib_dir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
  endif()
endif()
set(package_dir "${lib_dir}/cmake/triad")

# Exports each component separately, so that a missing dependency of one component does not hide the others.
foreach(component IN ITEMS triad_tree triad triad_io triad_text triad_cuda triad_nccl triad_mpi triad_onednn triad_native)
  if(TARGET ${component})
    string(REPLACE "_" "-" file ${component})
    install(TARGETS ${component} EXPORT ${component} FILE_SET HEADERS DESTINATION "${include_dir}")
    install(EXPORT ${component} NAMESPACE triad:: FILE ${file}-targets.cmake DESTINATION "${package_dir}")
  endif()
endforeach()
install(FILES include/triad/ops/hooks.inc DESTINATION "${include_dir}/triad/ops")  # compiles only inside other headers

configure_package_config_file(cmake/triad-config.cmake.in triad-config.cmake INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(triad-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/triad-config.cmake" "${PROJECT_BINARY_DIR}/triad-config-version.cmake"
  cmake/triad_dependencies.cmake cmake/triad_text_dependencies.cmake
  cmake/triad_mpi_dependencies.cmake cmake/triad_onednn_dependencies.cmake cmake/triad_nccl_dependencies.cmake
  cmake/triad_kernels.cmake cmake/kernels.cpp.in DESTINATION "${package_dir}")

# Installs headers that this build fetched next to the package file, since they would be deleted with the build tree.
set(pc_cccl_dir "${TRIAD_CCCL_INCLUDE_DIR}")
if(TRIAD_CCCL_INCLUDE_DIR MATCHES "^(.*/deps/cccl)/")
  file(GLOB licences "${CMAKE_MATCH_1}/*/licenses")
  install(DIRECTORY ${licences} DESTINATION "${package_dir}/cccl")
  install(DIRECTORY "${TRIAD_CCCL_INCLUDE_DIR}/cub" "${TRIAD_CCCL_INCLUDE_DIR}/cuda" "${TRIAD_CCCL_INCLUDE_DIR}/nv"
    "${TRIAD_CCCL_INCLUDE_DIR}/thrust"
    DESTINATION "${package_dir}/cccl/include")
  set(pc_cccl_dir "${package_dir}/cccl/include")
  if(NOT IS_ABSOLUTE "${package_dir}")
    string(PREPEND pc_cccl_dir "\${prefix}/")
  endif()
endif()

set(pc_cblas_cflags "")
set(pc_cblas_library "")
if(TARGET triad::cblas)
  set(pc_cblas_library "${TRIAD_CBLAS_LIBRARY}")
  if(NOT TRIAD_CBLAS_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    set(pc_cblas_cflags " -isystem ${TRIAD_CBLAS_INCLUDE_DIR}")
  endif()
endif()
set(pc_flags " -fopenmp-simd -pthread")
cmake_path(ABSOLUTE_PATH lib_dir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE OUTPUT_VARIABLE pc_dir)
file(RELATIVE_PATH pc_prefix "${pc_dir}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file(cmake/triad.pc.in triad.pc @ONLY)
configure_file(cmake/triad-tree.pc.in triad-tree.pc @ONLY)
if(TARGET triad_text)
  configure_file(cmake/triad-text.pc.in triad-text.pc @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/triad-text.pc" DESTINATION "${lib_dir}/pkgconfig")
endif()
install(FILES "${PROJECT_BINARY_DIR}/triad.pc" "${PROJECT_BINARY_DIR}/triad-tree.pc" DESTINATION "${lib_dir}/pkgconfig")
