# Tests that CMake without Catch2 gives advice, and that the advice works.
file(REMOVE_RECURSE ${FOLDER})
set(configure ${CMAKE_COMMAND} -S ${SOURCE} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D TRIAD_CCCL_DIR=${CCCL}
  -D CMAKE_DISABLE_FIND_PACKAGE_Catch2=ON -D TRIAD_EXAMPLES=OFF -D TRIAD_BENCH=OFF -D TRIAD_INSTALL=OFF)
execute_process(COMMAND ${configure} -B ${FOLDER}/with RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX REPLACE "[ \n]+" " " output "${output}")
if(NOT failed OR NOT output MATCHES "install it .Debian: apt-get install catch2., or configure without tests, -DTRIAD_TESTS=OFF")
  message(FATAL_ERROR "without Catch2, status ${failed}: ${output}")
endif()
execute_process(COMMAND ${configure} -B ${FOLDER}/without -D TRIAD_TESTS=OFF RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(failed)
  message(FATAL_ERROR "-DTRIAD_TESTS=OFF: ${output}")
endif()
