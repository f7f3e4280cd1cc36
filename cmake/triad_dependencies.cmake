# Finds what the core needs: an mdspan (CCCL), a BLAS with CBLAS, and the system's threads. Prints one line for each of
# the first two. The installed package reads this file too, so a build and an install search the same places. With
# triad_tree_alone this file searches for CCCL alone.

# ---- CCCL -----------------------------------------------------------------------------------------------------------
# The search goes in this order: TRIAD_CCCL_DIR; headers installed next to this file; the CUDA toolkit; the standard
# prefixes; the headers that an installed package was built with; build/deps, where an earlier configure unpacked the
# pinned release. A build then fetches that release (fetch_cccl.cmake).
set(TRIAD_CCCL_DIR "$ENV{TRIAD_CCCL_DIR}" CACHE PATH
  "Directory of CCCL's headers: the one that holds cuda/std/mdspan, or its prefix")
if(NOT TRIAD_CCCL_DIR)  # also if an earlier configure found none
  set_property(CACHE TRIAD_CCCL_DIR PROPERTY VALUE "$ENV{TRIAD_CCCL_DIR}")
endif()
set(TRIAD_DEPS_DIR "${CMAKE_CURRENT_LIST_DIR}/../build/deps")

# 2.8 is the first release whose mdspan provides everything that triad uses.
function(triad_cccl_is_recent result directory)
  set(version 0)
  if(EXISTS "${directory}/cuda/std/__cccl/version.h")
    file(STRINGS "${directory}/cuda/std/__cccl/version.h" line REGEX "define CCCL_VERSION ")
    string(REGEX MATCH "[0-9]+$" version "${line}")
  endif()
  if(version LESS 2008000)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

function(triad_find_cccl)
  set(suffixes include/cccl include targets/x86_64-linux/include/cccl targets/sbsa-linux/include/cccl
    nvidia/cu13/include/cccl)
  if(TRIAD_CCCL_DIR OR NOT EXISTS "${TRIAD_CCCL_INCLUDE_DIR}/cuda/std/mdspan")
    # The result of the last configure may be deleted, or may not be what is requested now.
    unset(TRIAD_CCCL_INCLUDE_DIR CACHE)
  endif()
  if(TRIAD_CCCL_DIR)
    find_path(TRIAD_CCCL_INCLUDE_DIR cuda/std/mdspan PATHS "${TRIAD_CCCL_DIR}" PATH_SUFFIXES ${suffixes}
      # The headers are the same for every processor.
      NO_DEFAULT_PATH CMAKE_FIND_ROOT_PATH_BOTH VALIDATOR triad_cccl_is_recent)
    if(NOT TRIAD_CCCL_INCLUDE_DIR)
      message(FATAL_ERROR "triad: TRIAD_CCCL_DIR is ${TRIAD_CCCL_DIR}, but there is no cuda/std/mdspan of CCCL 2.8 or "
        "later in it.")
    endif()
    return()
  endif()
  find_program(TRIAD_NVCC nvcc)
  mark_as_advanced(TRIAD_NVCC)
  cmake_path(SET beside_nvcc NORMALIZE "${TRIAD_NVCC}/../..")
  find_path(TRIAD_CCCL_INCLUDE_DIR cuda/std/mdspan VALIDATOR triad_cccl_is_recent
    HINTS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cccl" "${CUDAToolkit_ROOT}" ENV CUDAToolkit_ROOT ENV CUDA_HOME
      ENV CUDA_PATH "${beside_nvcc}"
    PATHS /usr/local/cuda /opt/cuda "${triad_built_with_cccl}" "${TRIAD_DEPS_DIR}/cccl" "${PROJECT_BINARY_DIR}/deps/cccl"
    PATH_SUFFIXES ${suffixes} CMAKE_FIND_ROOT_PATH_BOTH)
endfunction()

triad_find_cccl()
if(NOT TRIAD_CCCL_INCLUDE_DIR AND EXISTS "${CMAKE_CURRENT_LIST_DIR}/fetch_cccl.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/fetch_cccl.cmake")
  triad_find_cccl()
endif()
mark_as_advanced(TRIAD_CCCL_INCLUDE_DIR)

if(TRIAD_CCCL_INCLUDE_DIR)
  block(PROPAGATE triad_found_cccl)  # an installed package runs in its user's scope, whose variables it must not change
    file(STRINGS "${TRIAD_CCCL_INCLUDE_DIR}/cuda/std/__cccl/version.h" line REGEX "define CCCL_VERSION ")
    string(REGEX MATCH "[0-9]+$" number "${line}")
    math(EXPR major "${number} / 1000000")
    math(EXPR minor "${number} / 1000 % 1000")
    math(EXPR patch "${number} % 1000")
    set(triad_found_cccl "${major}.${minor}.${patch} in ${TRIAD_CCCL_INCLUDE_DIR}")
  endblock()
  if(NOT TARGET triad::cccl)
    add_library(triad::cccl INTERFACE IMPORTED GLOBAL)  # an imported target is SYSTEM: its warnings are silent
    target_include_directories(triad::cccl INTERFACE "${TRIAD_CCCL_INCLUDE_DIR}")
  endif()
else()
  set(triad_found_cccl "not found; set TRIAD_CCCL_DIR")
endif()

if(triad_tree_alone)
  return()
endif()

# ---- BLAS -----------------------------------------------------------------------------------------------------------
# The search begins with the BLAS that an installed package was built with, then OpenBLAS, whose header and library
# belong together. Any other library that has cblas_sgemm works too.
if(NOT CMAKE_CROSSCOMPILING AND NOT TRIAD_CBLAS_LIBRARY AND NOT TRIAD_CBLAS_INCLUDE_DIR
   AND EXISTS "${triad_built_with_cblas}" AND EXISTS "${triad_built_with_cblas_include}/cblas.h")
  set(TRIAD_CBLAS_LIBRARY "${triad_built_with_cblas}" CACHE FILEPATH "The BLAS")
  set(TRIAD_CBLAS_INCLUDE_DIR "${triad_built_with_cblas_include}" CACHE PATH "The folder of cblas.h")
endif()
find_path(TRIAD_CBLAS_INCLUDE_DIR cblas.h)
find_path(TRIAD_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas cblas)  # some distributions put it in these folders
find_library(TRIAD_CBLAS_LIBRARY NAMES openblas cblas)
mark_as_advanced(TRIAD_CBLAS_INCLUDE_DIR TRIAD_CBLAS_LIBRARY)
if(TRIAD_CBLAS_INCLUDE_DIR AND TRIAD_CBLAS_LIBRARY)
  if(NOT TARGET triad::cblas)
    add_library(triad::cblas UNKNOWN IMPORTED GLOBAL)
    set_target_properties(triad::cblas PROPERTIES IMPORTED_LOCATION "${TRIAD_CBLAS_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${TRIAD_CBLAS_INCLUDE_DIR}")
  endif()
  set(triad_found_blas "${TRIAD_CBLAS_LIBRARY}, cblas.h in ${TRIAD_CBLAS_INCLUDE_DIR}")
else()
  set(triad_found_blas "not found, so triad/cpu/ and triad/triad.hpp cannot be used; install OpenBLAS, or set \
TRIAD_CBLAS_INCLUDE_DIR and TRIAD_CBLAS_LIBRARY")
endif()

# ---- threads --------------------------------------------------------------------------------------------------------
find_package(Threads REQUIRED GLOBAL)
