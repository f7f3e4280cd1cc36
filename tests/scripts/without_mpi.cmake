# A configure where there is no MPI leaves out triad::mpi, and says so: quickstart installs none.  FindMPI makes its
# target before it has found anything, so the target alone does not say that there is one.
file(REMOVE_RECURSE ${FOLDER})
execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH= PKG_CONFIG_LIBDIR=${FOLDER}
  ${CMAKE_COMMAND} -S ${SOURCE} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D TRIAD_CCCL_DIR=${CCCL}
  -D TRIAD_TESTS=OFF -D TRIAD_EXAMPLES=OFF -D TRIAD_BENCH=OFF
  -D MPI_SKIP_COMPILER_WRAPPER=ON -D MPI_SKIP_GUESSING=ON
  -B ${FOLDER} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(failed OR NOT output MATCHES "MPI +not found \\(Debian: libopenmpi-dev\\), so there is no triad::mpi")
  message(FATAL_ERROR "without an MPI, status ${failed}: ${output}")
endif()
