# Fetches the CCCL release pinned in cccl.txt (a Python wheel of 3 MB that holds headers) and unpacks it into deps/cccl.
# pip checks the hash.  It honours the user's mirror and proxy settings, which a download by CMake would not.

if(PROJECT_IS_TOP_LEVEL)
  set(deps "${TRIAD_DEPS_DIR}")  # shared by all presets, so that it is fetched once
else()
  set(deps "${PROJECT_BINARY_DIR}/deps")
endif()

set(advice "triad needs CCCL's headers (cuda/std/mdspan), and no CUDA toolkit has them here.  Either set \
-DTRIAD_CCCL_DIR to a directory that holds them, or install pip for python3 (Debian: apt-get install python3-pip) and \
configure again with network access, or unpack the release named in cmake/cccl.txt into build/deps/cccl.")

find_program(TRIAD_PYTHON NAMES python3 python)
mark_as_advanced(TRIAD_PYTHON)
if(FETCHCONTENT_FULLY_DISCONNECTED OR NOT TRIAD_PYTHON)
  message(FATAL_ERROR "${advice}")
endif()

message(STATUS "triad: fetching CCCL's headers")
file(REMOVE_RECURSE "${deps}/cccl.part")
file(MAKE_DIRECTORY "${deps}/cccl.part")
execute_process(
  COMMAND "${TRIAD_PYTHON}" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all:
    --require-hashes --requirement "${CMAKE_CURRENT_LIST_DIR}/cccl.txt" --dest "${deps}/cccl.part"
  RESULT_VARIABLE failed ERROR_VARIABLE reason)
file(GLOB wheel "${deps}/cccl.part/*.whl")
if(failed OR NOT wheel)
  message(FATAL_ERROR "${advice}\npip said: ${reason}")
endif()
file(ARCHIVE_EXTRACT INPUT "${wheel}" DESTINATION "${deps}/cccl.part")
file(REMOVE_RECURSE "${wheel}" "${deps}/cccl")
file(RENAME "${deps}/cccl.part" "${deps}/cccl")
