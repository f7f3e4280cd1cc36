# How this project's own sources are compiled: tests, examples and benchmarks.  Nothing here reaches a user.

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

if(NOT TARGET triad::cblas)
  message(FATAL_ERROR "triad: the tests, examples and benchmarks need a BLAS with CBLAS: install OpenBLAS "
    "(libopenblas-dev), set TRIAD_CBLAS_INCLUDE_DIR and TRIAD_CBLAS_LIBRARY, or switch them off (TRIAD_TESTS, TRIAD_EXAMPLES, TRIAD_BENCH).")
endif()

set(TRIAD_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(TRIAD_WERROR)
  list(APPEND TRIAD_WARNINGS -Werror)
endif()

# Outside release builds, views and standard containers check every index.
set(checked $<NOT:$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>)
add_library(triad_own INTERFACE)
target_link_libraries(triad_own INTERFACE triad::triad triad::native)
target_compile_options(triad_own INTERFACE ${TRIAD_WARNINGS})
target_compile_definitions(triad_own INTERFACE $<${checked}:CCCL_ENABLE_HOST_ASSERTIONS _GLIBCXX_ASSERTIONS>)

find_package(CLI11 QUIET GLOBAL)
find_package(ZLIB QUIET GLOBAL)

# A program in bin/.  Where a library it links is missing, it is left out with a line that says so.
function(triad_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  foreach(library IN LISTS arg_LINK)
    if(NOT TARGET ${library})
      message(STATUS "  ${name} left out: no ${library}")
      return()
    endif()
  endforeach()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE triad_own ${arg_LINK})
endfunction()
