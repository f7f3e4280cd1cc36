# Says how this project's own sources are compiled: tests, examples and benchmarks. Nothing here affects a user.

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

if(NOT TARGET triad::cblas AND TRIAD_CUDA)
  message(STATUS "  the cpu backend is left out of the programs: no BLAS; they have reference and cuda")
elseif(NOT TARGET triad::cblas)
  message(FATAL_ERROR "triad: the tests, examples and benchmarks need a BLAS with CBLAS: install OpenBLAS "
    "(libopenblas-dev), set TRIAD_CBLAS_INCLUDE_DIR and TRIAD_CBLAS_LIBRARY, or switch them off (TRIAD_TESTS, TRIAD_EXAMPLES, TRIAD_BENCH).")
endif()

set(TRIAD_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(TRIAD_WERROR)
  list(APPEND TRIAD_WARNINGS -Werror)
endif()

# Views and standard containers check every index, except in release builds.
set(checked $<NOT:$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>)
add_library(triad_own_flags INTERFACE)
target_link_libraries(triad_own_flags INTERFACE triad::triad triad::native)
# nvcc does not know these warnings.
target_compile_options(triad_own_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${TRIAD_WARNINGS}>")
target_compile_options(triad_own_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)  # CMake 3.25 has no C++20 for nvcc
target_compile_definitions(triad_own_flags INTERFACE $<${checked}:CCCL_ENABLE_HOST_ASSERTIONS _GLIBCXX_ASSERTIONS>)

# Compiles kernels with optimisation in every build, since they are compiled once and run by many programs, also by
# programs that are not optimised.
function(triad_optimised target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Debug>,$<COMPILE_LANGUAGE:CXX>>:-O2>)
endfunction()
# Links the kernels' objects before those of a target. Kernels call small functions of views, which the target has too.
# A linker takes the first definition: an unoptimised one would make the tests of models three times as slow.
function(triad_kernels_first target kernels)
  target_link_options(${target} INTERFACE $<$<CONFIG:Debug>:$<TARGET_OBJECTS:${kernels}>>)
endfunction()
# For tests that compute little outside kernels. The preset ci compiles them with -O0, in two thirds of the time.
set(TRIAD_TEST_FLAGS "" CACHE STRING "Compiler options of tests that compute little outside kernels, after those of the build type")
mark_as_advanced(TRIAD_TEST_FLAGS)
function(triad_computes_little target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${TRIAD_TEST_FLAGS}>)
endfunction()

# By default g++ begins to collect garbage at 128 MB, and units of models take 1 to 2 GB. The unit of pairs compiles in
# 43 s without collections, in 50 s with them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(triad_own_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-expand=100>" "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=2000000>")
endif()

# triad_own has these flags and the host's kernels, which are compiled once for all targets.
add_library(triad_own INTERFACE)
target_link_libraries(triad_own INTERFACE triad_own_flags)
if(TARGET triad::cblas)
  triad_add_kernels(triad_own_kernels LINK triad_own_flags)
  triad_optimised(triad_own_kernels)
  target_link_libraries(triad_own INTERFACE triad_own_kernels)
  triad_kernels_first(triad_own triad_own_kernels)
endif()

find_package(CLI11 QUIET GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/triad_app.cmake)

# A precompiled header has what most units of programs include. It omits the command line, which only main.cpp reads and
# which costs each unit that includes it two seconds. CMAKE_DISABLE_PRECOMPILE_HEADERS (the preset clang) checks that
# each unit includes what it uses.
file(CONFIGURE OUTPUT empty.cpp CONTENT "")
add_library(triad-programs-precompiled OBJECT EXCLUDE_FROM_ALL "${CMAKE_CURRENT_BINARY_DIR}/empty.cpp")
target_link_libraries(triad-programs-precompiled PRIVATE triad_own)
target_precompile_headers(triad-programs-precompiled PRIVATE <algorithm> <filesystem> <map> <string> <vector> <triad/train/trainer.hpp>)
if(TARGET triad::cblas)
  target_precompile_headers(triad-programs-precompiled PRIVATE <triad/cpu/cpu.hpp>)
endif()
if(TARGET triad::io)
  target_link_libraries(triad-programs-precompiled PRIVATE triad::io)
  target_precompile_headers(triad-programs-precompiled PRIVATE <triad/io/checkpoint.hpp>)
endif()
function(triad_precompiled target)
  target_precompile_headers(${target} REUSE_FROM triad-programs-precompiled)
endfunction()

# CUDA's kernels in float, compiled by nvcc once for all programs. A target that computes in double compiles its own
# kernels.
if(TRIAD_CUDA AND TARGET triad::cuda)
  file(CONFIGURE OUTPUT triad_own_cuda_kernels.cu CONTENT "#define TRIAD_CUDA_KERNELS\n#include \"triad/cuda.cuh\"\n")
  add_library(triad_own_cuda_kernels STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_BINARY_DIR}/triad_own_cuda_kernels.cu")
  target_link_libraries(triad_own_cuda_kernels PUBLIC triad_own_flags triad::cuda)
  target_compile_definitions(triad_own_cuda_kernels INTERFACE TRIAD_CUDA_KERNELS=extern)
endif()

# Adds a program in bin/ if all libraries that it links exist. If a source is a .cu file, the program links the CUDA
# backend.
# CPU: the program has the cpu backend and no other, so it needs a BLAS.
function(triad_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CPU" "" "SOURCES;LINK")
  if(arg_CPU)
    list(PREPEND arg_LINK triad::cblas)
  endif()
  if(TRIAD_CUDA AND arg_SOURCES MATCHES "\\.cu(;|$)")
    list(APPEND arg_LINK triad_own_cuda_kernels)
  endif()
  foreach(library IN LISTS arg_LINK)
    if(NOT TARGET ${library})
      message(STATUS "  ${name} left out: no ${library}")
      return()
    endif()
  endforeach()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE triad_own ${arg_LINK})
  triad_precompiled(${name})
endfunction()

# Compiles once what several programs have in common. Reports no missing library, since each of the programs reports it.
function(triad_parts name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  foreach(library IN LISTS arg_LINK)
    if(NOT TARGET ${library})
      return()
    endif()
  endforeach()
  add_library(${name} OBJECT ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC triad_own ${arg_LINK})
  triad_precompiled(${name})
endfunction()

# Adds a program made of the parts of triad_app_parts(), one name or a list of names. For tests it also adds
# NAME-on-cuda-on-host.
function(triad_program_of name parts)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LINK")
  list(TRANSFORM parts APPEND -parts OUTPUT_VARIABLE common)
  if(TRIAD_CUDA)
    list(TRANSFORM parts APPEND -on-cuda OUTPUT_VARIABLE on_cuda)
    triad_program(${name} SOURCES ${arg_SOURCES} LINK ${arg_LINK} ${common} ${on_cuda})
    return()
  endif()
  list(TRANSFORM parts APPEND -without-cuda OUTPUT_VARIABLE without_cuda)
  triad_program(${name} SOURCES ${arg_SOURCES} LINK ${arg_LINK} ${common} ${without_cuda})
  list(TRANSFORM parts APPEND -on-cuda-on-host-parts OUTPUT_VARIABLE on_host)
  foreach(part IN LISTS on_host)
    if(NOT TARGET ${part})
      return()
    endif()
  endforeach()
  if(TARGET ${name})
    triad_program(${name}-on-cuda-on-host SOURCES ${arg_SOURCES} LINK ${arg_LINK} ${common} ${on_host} triad-cuda-on-host-kernels)
  endif()
endfunction()

# Adds tests of a program. SCRIPTS are paths without .cmake, relative to the folder; each script gets PROGRAM and FOLDER
# and runs if there is a cpu backend. on_cuda.cmake runs on a GPU or on its stand-in.
function(triad_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SCRIPTS")
  if(NOT TRIAD_TESTS OR NOT TARGET ${name})
    return()
  endif()
  macro(test_of program test script)
    add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${program}> -D FOLDER=${CMAKE_CURRENT_BINARY_DIR}/${test}
      -D CUDA=${TRIAD_CUDA} -P ${CMAKE_CURRENT_SOURCE_DIR}/${script}.cmake)
    set_tests_properties(${test} PROPERTIES LABELS programs TIMEOUT 300)
  endmacro()
  if(TARGET triad::cblas)
    foreach(script IN LISTS arg_SCRIPTS)
      string(REGEX REPLACE "^[./]+" "" called "${script}")
      string(REPLACE "/" "-" called "${name}-${called}")
      test_of(${name} ${called} ${script})
    endforeach()
  endif()
  if(NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/on_cuda.cmake")  # its models are tested with another program
    return()
  endif()
  if(TRIAD_CUDA)
    test_of(${name} ${name}-on-cuda on_cuda)
  elseif(TARGET ${name}-on-cuda-on-host)
    test_of(${name}-on-cuda-on-host ${name}-on-cuda-on-host on_cuda)
  endif()
endfunction()
