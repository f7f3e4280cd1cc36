# Finds what triad::onednn needs: oneDNN 2.6 or later, with headers for C++. The installed package reads this file too.

# oneDNN's own CMake package is not used. Debian's asks for OpenCL, which the processor does not need.
find_path(TRIAD_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp DOC "The folder of oneapi/dnnl/dnnl.hpp")
find_library(TRIAD_ONEDNN_LIBRARY NAMES dnnl DOC "The library of oneDNN")
mark_as_advanced(TRIAD_ONEDNN_INCLUDE_DIR TRIAD_ONEDNN_LIBRARY)
set(triad_onednn_version 0)
if(TRIAD_ONEDNN_INCLUDE_DIR AND EXISTS "${TRIAD_ONEDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h")
  file(STRINGS "${TRIAD_ONEDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h" triad_lines REGEX "define DNNL_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9]+([0-9]+)" "\\1." triad_onednn_version "${triad_lines}")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" triad_onednn_version "${triad_onednn_version}")
  unset(triad_lines)
endif()
if(TRIAD_ONEDNN_LIBRARY AND triad_onednn_version VERSION_GREATER_EQUAL 2.6 AND NOT TARGET triad::onednn_library)
  add_library(triad::onednn_library UNKNOWN IMPORTED GLOBAL)
  set_target_properties(triad::onednn_library PROPERTIES IMPORTED_LOCATION "${TRIAD_ONEDNN_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${TRIAD_ONEDNN_INCLUDE_DIR}")
endif()
