# Sets TRIAD_MPIRUN to the mpirun of the MPI that programs are linked to; FindMPI calls the compiler of that MPI
# MPI_CXX_COMPILER.
#
# If two MPIs are installed, the first mpirun in PATH may belong to the other MPI. It would start N processes that do
# not know each other. Debian has mpicxx.mpich and mpirun.mpich, mpic++.openmpi and mpirun.openmpi; its links mpicxx and
# mpirun may lead to different MPIs. On other systems the compiler and its mpirun are in the same folder.
set(beside_mpi "")
set(of_mpi "")
if(MPI_CXX_COMPILER)
  cmake_path(GET MPI_CXX_COMPILER PARENT_PATH beside_mpi)
  set(link "${MPI_CXX_COMPILER}")
  # Stops there, since all of Open MPI's compilers are links to one program.
  while(NOT link MATCHES "\\.(mpich|openmpi)$" AND IS_SYMLINK "${link}")
    cmake_path(GET link PARENT_PATH folder)
    file(READ_SYMLINK "${link}" link)
    cmake_path(ABSOLUTE_PATH link BASE_DIRECTORY "${folder}" NORMALIZE)
  endwhile()
  string(REGEX MATCH "\\.(mpich|openmpi)$" of_mpi "${link}")
endif()
# HINTS would be searched after CMAKE_PREFIX_PATH.
find_program(TRIAD_MPIRUN mpirun${of_mpi} PATHS ${beside_mpi} NO_DEFAULT_PATH)
find_program(TRIAD_MPIRUN mpirun${of_mpi})
mark_as_advanced(TRIAD_MPIRUN)
