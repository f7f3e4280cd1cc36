# Finds what triad::text needs in addition to triad::io: zlib and utf8proc, which does not have a CMake package on every
# system.
# The installed package reads this file too.

find_package(ZLIB QUIET GLOBAL)

find_path(TRIAD_UTF8PROC_INCLUDE_DIR utf8proc.h)
find_library(TRIAD_UTF8PROC_LIBRARY NAMES utf8proc utf8proc_static)
mark_as_advanced(TRIAD_UTF8PROC_INCLUDE_DIR TRIAD_UTF8PROC_LIBRARY)
set(triad_utf8proc_version 0)
if(TRIAD_UTF8PROC_INCLUDE_DIR AND TRIAD_UTF8PROC_LIBRARY)
  file(READ "${TRIAD_UTF8PROC_INCLUDE_DIR}/utf8proc.h" triad_utf8proc_text)
  if(triad_utf8proc_text MATCHES "define UTF8PROC_VERSION_MAJOR +([0-9]+)")
    set(triad_utf8proc_version "${CMAKE_MATCH_1}")
  endif()
  if(triad_utf8proc_text MATCHES "define UTF8PROC_VERSION_MINOR +([0-9]+)")
    string(APPEND triad_utf8proc_version ".${CMAKE_MATCH_1}")
  endif()
  unset(triad_utf8proc_text)
  # 2.7 is the first version with Unicode 14.
  if(triad_utf8proc_version VERSION_GREATER_EQUAL 2.7 AND NOT TARGET triad::utf8proc)
    add_library(triad::utf8proc UNKNOWN IMPORTED GLOBAL)
    set_target_properties(triad::utf8proc PROPERTIES IMPORTED_LOCATION "${TRIAD_UTF8PROC_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${TRIAD_UTF8PROC_INCLUDE_DIR}")
  endif()
endif()
