# TRIAD_MPIRUN: the mpirun of the MPI that programs are linked to, whose compiler FindMPI calls MPI_CXX_COMPILER.
#
# Where two MPIs are installed, the first mpirun of PATH may be the other's: it starts N processes that do not know each
# other.  Debian calls them mpicxx.mpich and mpirun.mpich, mpic++.openmpi and mpirun.openmpi, by links that may lead to
# one of each; elsewhere the two lie side by side.
set(beside_mpi "")
set(of_mpi "")
if(MPI_CXX_COMPILER)
  cmake_path(GET MPI_CXX_COMPILER PARENT_PATH beside_mpi)
  set(link "${MPI_CXX_COMPILER}")
  while(NOT link MATCHES "\\.(mpich|openmpi)$" AND IS_SYMLINK "${link}")  # no further: all of Open MPI's are one program
    cmake_path(GET link PARENT_PATH folder)
    file(READ_SYMLINK "${link}" link)
    cmake_path(ABSOLUTE_PATH link BASE_DIRECTORY "${folder}" NORMALIZE)
  endwhile()
  string(REGEX MATCH "\\.(mpich|openmpi)$" of_mpi "${link}")
endif()
find_program(TRIAD_MPIRUN mpirun${of_mpi} PATHS ${beside_mpi} NO_DEFAULT_PATH)  # HINTS come after CMAKE_PREFIX_PATH
find_program(TRIAD_MPIRUN mpirun${of_mpi})
mark_as_advanced(TRIAD_MPIRUN)
