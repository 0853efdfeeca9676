#!/bin/bash
# The suite of all transports over MPI: mpi_comm_test.sh HELPER PROGRAM [large].
# Counts what ran on every rank and refuses to pass on less.
set -u
source "$1"
program=$2
failed=0

suite() { # ranks, least number of cases, argument
  local out
  out=$(run_ranks "$1" "$program" $3 2>&1)
  local status=$?
  local ran
  ran=$(grep -cE "^rank [0-9]+ of $1: [0-9]+ cases passed$" <<<"$out")
  local least
  least=$(sed -nE "s/^rank [0-9]+ of $1: ([0-9]+) cases passed$/\1/p" <<<"$out" |
    sort -n | head -1)
  if [[ $status -ne 0 || $ran -ne $1 || ${least:-0} -lt $2 ]]; then
    echo "$1 ranks $3: status $status, $ran ranks passed, least ${least:-0} cases"
    echo "$out" | tail -80
    failed=1
  else
    echo "$1 ranks $3: $ran ranks, $least cases"
  fi
}

if [[ ${3:-} == large ]]; then
  suite 2 1 large
  exit $failed
fi
suite 1 20 ""
suite 2 20 ""
suite 3 17 ""
suite 4 20 ""
suite 8 20 ""
suite 3 17 small
suite 4 20 small
exit $failed
