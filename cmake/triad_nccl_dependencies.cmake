# Finds what triad::nccl needs: NCCL's header and library, next to the CUDA toolkit or in TRIAD_NCCL_INCLUDE_DIR and
# TRIAD_NCCL_LIBRARY. The installed package reads this file too.

find_path(TRIAD_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} DOC "The folder of nccl.h")
find_library(TRIAD_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64 DOC "NCCL's library")
mark_as_advanced(TRIAD_NCCL_INCLUDE_DIR TRIAD_NCCL_LIBRARY)
if(TRIAD_NCCL_INCLUDE_DIR AND EXISTS "${TRIAD_NCCL_INCLUDE_DIR}/nccl.h")
  file(STRINGS "${TRIAD_NCCL_INCLUDE_DIR}/nccl.h" triad_nccl_version REGEX "#define NCCL_(MAJOR|MINOR|PATCH) ")
  list(TRANSFORM triad_nccl_version REPLACE "^.* " "")
  list(JOIN triad_nccl_version "." triad_nccl_version)
endif()
if(triad_nccl_version VERSION_GREATER_EQUAL 2.13 AND TRIAD_NCCL_LIBRARY AND NOT TARGET triad::nccl_library)
  add_library(triad::nccl_library INTERFACE IMPORTED GLOBAL)
  target_include_directories(triad::nccl_library SYSTEM INTERFACE "${TRIAD_NCCL_INCLUDE_DIR}")
  target_link_libraries(triad::nccl_library INTERFACE "${TRIAD_NCCL_LIBRARY}")
endif()
