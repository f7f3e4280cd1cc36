# What triad::mpi needs: an MPI with its C interface.  The installed package reads this file too.

if(TARGET MPI::MPI_CXX AND NOT DEFINED MPI_CXX_FOUND)  # a project has its own, from elsewhere than FindMPI
  set(triad_mpi_found TRUE)
else()
  set(MPI_CXX_SKIP_MPICXX ON)  # its C++ bindings are not used, and newer versions have none
  find_package(MPI QUIET GLOBAL COMPONENTS CXX)
  set(triad_mpi_found ${MPI_CXX_FOUND})  # FindMPI makes its target before it tries it, and leaves it there without an MPI
endif()
if(triad_mpi_found AND NOT TARGET triad::mpi_library)
  add_library(triad::mpi_library INTERFACE IMPORTED GLOBAL)
  target_link_libraries(triad::mpi_library INTERFACE MPI::MPI_CXX)
endif()
