# Runs a program as ranks on one host; sourced by tests.
#
# More ranks than cores, as root, and several at a time: process numbers repeat
# across sandboxes while the temporary and shared-memory folders are the host's,
# so each run gets folders of its own.

if [[ -n ${LOCKSTEP_NO_MPI-} ]]; then
  echo "a build without MPI: nothing to run"
  exit 0
fi

run_ranks() { # ranks, program, arguments...
  local ranks=$1
  shift
  TMPDIR=$TEST_TMPDIR \
  OMPI_MCA_btl_vader_backing_directory=$TEST_TMPDIR \
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    mpirun --oversubscribe --allow-run-as-root --bind-to none \
    --mca mpi_yield_when_idle 1 --mca btl self,vader \
    -np "$ranks" "$@"
}
