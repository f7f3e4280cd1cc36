# Finds what triad::mpi needs: an MPI with its C interface. The installed package reads this file too.

# FindMPI creates its target before it searches, and keeps the target even if it finds no MPI. So a target that exists
# before our first search belongs to the project and is kept. An MPI that our search has found is visible everywhere.
get_property(triad_has_mpi GLOBAL PROPERTY triad_has_mpi)  # a missing property leaves the variable undefined
if("${triad_has_mpi}" STREQUAL "" AND TARGET MPI::MPI_CXX AND NOT (DEFINED MPI_CXX_FOUND AND NOT MPI_CXX_FOUND))
  set(triad_has_mpi TRUE)
elseif("${triad_has_mpi}" STREQUAL "")
  block(PROPAGATE MPI_CXX_FOUND MPI_CXX_VERSION)
    set(MPI_CXX_SKIP_MPICXX ON)  # the C++ bindings are not used, and newer versions have none
    find_package(MPI QUIET GLOBAL COMPONENTS CXX)
  endblock()
  set(triad_has_mpi ${MPI_CXX_FOUND})
endif()
set_property(GLOBAL PROPERTY triad_has_mpi "${triad_has_mpi}")
if(triad_has_mpi AND NOT TARGET triad::mpi_library)
  add_library(triad::mpi_library INTERFACE IMPORTED GLOBAL)
  target_link_libraries(triad::mpi_library INTERFACE MPI::MPI_CXX)
endif()
unset(triad_has_mpi)
