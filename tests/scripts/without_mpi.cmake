# Tests that configuring without an MPI leaves out triad::mpi and prints that; scripts/quickstart installs no MPI.
# FindMPI makes its target before it has found an MPI, so the target alone does not show that there is one. With MPICXX,
# the compiler wrapper of an MPI, the MPI is found.
file(REMOVE_RECURSE ${FOLDER})
set(configure ${CMAKE_COMMAND} -S ${SOURCE} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D TRIAD_CCCL_DIR=${CCCL}
  -D TRIAD_TESTS=OFF -D TRIAD_EXAMPLES=OFF -D TRIAD_BENCH=OFF)
execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH= PKG_CONFIG_LIBDIR=${FOLDER}
  ${configure} -D MPI_SKIP_COMPILER_WRAPPER=ON -D MPI_SKIP_GUESSING=ON
  -B ${FOLDER}/without RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(failed OR NOT output MATCHES "MPI +not found \\(Debian: libopenmpi-dev\\), so there is no triad::mpi")
  message(FATAL_ERROR "without an MPI, status ${failed}: ${output}")
endif()
if(NOT MPICXX)
  message(STATUS "with an MPI: left out, there is no mpicxx here")
  return()
endif()
execute_process(COMMAND ${configure} -D MPI_CXX_COMPILER=${MPICXX} -B ${FOLDER}/with
  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(failed OR NOT output MATCHES "MPI +found [0-9]")
  message(FATAL_ERROR "with ${MPICXX}, status ${failed}: ${output}")
endif()
