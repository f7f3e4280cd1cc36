# Settings of mpirun for tests. More processes than processors are allowed, no process is bound to a processor, and
# mpirun may run as root in a container. If a model has not learned its task, the program exits with status 3. mpirun
# must then not end early with another status, or lose output.
set(ENV{OMPI_MCA_rmaps_base_oversubscribe} 1)
set(ENV{OMPI_MCA_hwloc_base_binding_policy} none)
set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)
set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
set(ENV{OMPI_MCA_orte_abort_on_non_zero_status} 0)
