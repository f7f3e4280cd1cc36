# Tests that two programs compute the same bits: HEADERS, whose source files compile the kernels themselves, and
# KERNELS, which links compiled kernels.
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/../run.cmake")

run("${HEADERS}")
set(expected "${output}")
if(NOT expected MATCHES "^loss [0-9.]+, parameters [0-9a-f]+\n$")
  message(FATAL_ERROR "Not a loss and the bits of parameters:\n${expected}")
endif()
run("${KERNELS}")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "Kernels of its own: ${expected}compiled ones: ${output}")
endif()
message("${output}")
