# What triad::mpi needs: an MPI with its C interface.  The installed package reads this file too.

if(NOT TARGET MPI::MPI_CXX)  # a project that has found one already keeps it
  set(MPI_CXX_SKIP_MPICXX ON)  # its C++ bindings are not used, and newer versions have none
  find_package(MPI QUIET GLOBAL COMPONENTS CXX)
endif()
if(TARGET MPI::MPI_CXX AND NOT TARGET triad::mpi_library)
  add_library(triad::mpi_library INTERFACE IMPORTED GLOBAL)
  target_link_libraries(triad::mpi_library INTERFACE MPI::MPI_CXX)
endif()
