# Builds and runs a user's project of examples/consume in one WAY: find_package, fetch_content or pkg_config.
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/../run.cmake")

set(prefix "${BINARY}/consume/prefix")
set(build "${BINARY}/consume/${WAY}")
set(program "${build}/consume")
file(REMOVE_RECURSE "${prefix}" "${build}")
file(MAKE_DIRECTORY "${build}")
if(NOT WAY STREQUAL "fetch_content")
  run("${CMAKE_COMMAND}" --install "${BINARY}" --prefix "${prefix}")
endif()

if(WAY STREQUAL "pkg_config")
  file(GLOB_RECURSE pc "${prefix}/*/triad.pc")
  cmake_path(GET pc PARENT_PATH pc_dir)
  run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${pc_dir}" "CXX=${COMPILER}"
    "${SOURCE}/examples/consume/pkg_config/build.sh" "${program}")
else()
  set(checkout "")
  if(WAY STREQUAL "fetch_content")
    set(checkout "-DTRIAD_SOURCE_DIR=${SOURCE}" "-DTRIAD_CCCL_DIR=${CCCL}")
  endif()
  run("${CMAKE_COMMAND}" -S "${SOURCE}/examples/consume/${WAY}" -B "${build}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=${prefix}"
    ${checkout})
  if(output MATCHES "CMake (Warning|Deprecation)")
    message(FATAL_ERROR "Configuring warns:\n${output}")
  endif()
  run("${CMAKE_COMMAND}" --build "${build}")
  if(output MATCHES "warning:")
    message(FATAL_ERROR "A user sees warnings:\n${output}")
  endif()
endif()

run("${program}")
if(NOT output STREQUAL "triad ${VERSION}: 4 5 10 11\n")
  message(FATAL_ERROR "Expected version ${VERSION} and the product; the program printed:\n${output}")
endif()
message("${output}")
