#!/bin/bash
# tools/story as a user calls it: it ends well, and its page is where it says.
set -u
lockstep=$PWD/$1
story=$PWD/tools/story
if [[ -n ${LOCKSTEP_NO_MPI-} ]]; then
  echo "a build without MPI: nothing to run"
  exit 0
fi
export LOCKSTEP=$lockstep TMPDIR=$TEST_TMPDIR
export OMPI_MCA_btl_vader_backing_directory=$TEST_TMPDIR OMPI_MCA_btl=self,vader
export OMPI_MCA_mpi_yield_when_idle=1
folder=$TEST_TMPDIR/story
"$story" "$folder" >out 2>err || {
  echo "FAILED: $(cat out err)" >&2
  exit 1
}
failures=0
expect() { # PATTERN
  grep -q -- "$1" out || {
    echo "FAILED: nothing says '$1' in: $(cat out)" >&2
    failures=$((failures + 1))
  }
}
expect 'on signal 9'
expect 'the same bits'
expect 'step 12, forward, layers.2.mixer.in_proj, sample [0-9]*, tensor y, rank 1'
expect '1 of [0-9]* elements differ, the first at \[0,77\]'
expect "the page: file://$folder/bisect/report.html"
[ -s "$folder/bisect/report.html" ] || {
  echo "FAILED: there is no page" >&2
  failures=$((failures + 1))
}
# It stops at what goes wrong.
if LOCKSTEP=/bin/false "$story" "$folder" >out 2>err; then
  echo "FAILED: a command that fails was not noticed" >&2
  failures=$((failures + 1))
fi
exit "$failures"
