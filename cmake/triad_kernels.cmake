# triad_add_kernels(NAME [LINK LIBRARY...]): a static library of the host's kernels, compiled once, in this build.
#
# Who links it compiles none of them again; otherwise it is triad::triad.  It is compiled by the flags of this directory
# and of the LIBRARYs, which reach targets that link it: kernels and their users have to agree on the instruction set and on
# whether views are checked, else the program does not link (include/triad/cpu/kernels/compiled_for.hpp).  Units that
# do not link it have kernels of their own, of other names where their flags are others.  triad::kernels is this with
# LINK triad::native.

function(triad_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  if(NOT TARGET triad::cblas)
    message(FATAL_ERROR "triad_add_kernels: the kernels need a BLAS with CBLAS: install OpenBLAS, or set "
      "TRIAD_CBLAS_INCLUDE_DIR and TRIAD_CBLAS_LIBRARY.")
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kernels.cpp.in" "${source}" @ONLY)
  add_library(${name} STATIC EXCLUDE_FROM_ALL "${source}")
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)  # a shared library may link it
  target_link_libraries(${name} PUBLIC triad::triad ${arg_LINK})
  target_compile_definitions(${name} INTERFACE $<$<COMPILE_LANGUAGE:CXX>:TRIAD_KERNELS=extern>)  # nvcc has other flags
endfunction()
