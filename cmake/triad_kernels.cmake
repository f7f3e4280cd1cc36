# triad_add_kernels(NAME [LINK LIBRARY...]) adds a static library of the host's kernels, which this build compiles once.
#
# A target that links NAME does not compile the kernels again; otherwise NAME is like triad::triad. NAME is compiled
# with the flags of this directory and of the LIBRARYs, and the LIBRARYs' flags also reach targets that link NAME. The
# kernels and the units that use them must agree on the instruction set and on whether views are checked; otherwise the
# program does not link (include/triad/cpu/kernels/compiled_for.hpp). Units that do not link NAME compile kernels of
# their own, which have other names if the flags differ. triad::kernels is such a library with LINK triad::native.

function(triad_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  if(NOT TARGET triad::cblas)
    message(FATAL_ERROR "triad_add_kernels: the kernels need a BLAS with CBLAS: install OpenBLAS, or set "
      "TRIAD_CBLAS_INCLUDE_DIR and TRIAD_CBLAS_LIBRARY.")
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kernels.cpp.in" "${source}" @ONLY)
  add_library(${name} STATIC EXCLUDE_FROM_ALL "${source}")
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)  # so that a shared library can link it
  target_link_libraries(${name} PUBLIC triad::triad ${arg_LINK})
  # nvcc compiles with other flags.
  target_compile_definitions(${name} INTERFACE $<$<COMPILE_LANGUAGE:CXX>:TRIAD_KERNELS=extern>)
endfunction()
