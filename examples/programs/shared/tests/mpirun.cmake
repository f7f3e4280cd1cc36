# For tests by mpirun: more processes than processors, none bound to one, and by root in a container.  A run that has not
# learned ends with 3: mpirun may then end with another status, and may drop what it has not printed yet, unless it is
# told not to mind.
set(ENV{OMPI_MCA_rmaps_base_oversubscribe} 1)
set(ENV{OMPI_MCA_hwloc_base_binding_policy} none)
set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)
set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
set(ENV{OMPI_MCA_orte_abort_on_non_zero_status} 0)
