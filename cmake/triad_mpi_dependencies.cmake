# What triad::mpi needs: an MPI with its C interface.  The installed package reads this file too.

# FindMPI makes its target before it tries it, and leaves it there without an MPI.  So a target is a project's own, which
# it keeps, unless we have looked for it; and what we have found is known everywhere.
get_property(triad_has_mpi GLOBAL PROPERTY triad_has_mpi)  # no variable at all where none was set
if("${triad_has_mpi}" STREQUAL "" AND TARGET MPI::MPI_CXX AND NOT (DEFINED MPI_CXX_FOUND AND NOT MPI_CXX_FOUND))
  set(triad_has_mpi TRUE)
elseif("${triad_has_mpi}" STREQUAL "")
  block(PROPAGATE MPI_CXX_FOUND MPI_CXX_VERSION)
    set(MPI_CXX_SKIP_MPICXX ON)  # its C++ bindings are not used, and newer versions have none
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
