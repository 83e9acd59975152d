# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0

# Tests on several ranks, where there is rondo::mpi.

# rondo_add_mpi_test(<name> <ranks> <command>...)
#   A ctest entry that runs the command on so many ranks of this machine. What Open MPI needs for that comes by its
#   environment, which other MPIs do not look at: as root too, more ranks than cores, none bound to a core, and by shared
#   memory without asking the kernel for another process's memory, which containers refuse.
function(rondo_add_mpi_test name ranks)
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS} ${ARGN}
                                ${MPIEXEC_POSTFLAGS})
  rondo_mpi_test_properties(${name})
endfunction()

function(rondo_mpi_test_properties name)
  set(environment
      OMPI_ALLOW_RUN_AS_ROOT=1
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
      OMPI_MCA_rmaps_base_oversubscribe=1
      OMPI_MCA_hwloc_base_binding_policy=none
      OMPI_MCA_btl=self,vader
      OMPI_MCA_btl_vader_single_copy_mechanism=none)
  set_tests_properties(${name} PROPERTIES LABELS mpi TIMEOUT 120 PROCESSORS 2 ENVIRONMENT "${environment}")
endfunction()
