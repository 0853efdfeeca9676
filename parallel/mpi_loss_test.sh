#!/bin/bash
# A rank is lost: mpi_loss_test.sh HELPER PROGRAM. All must end within the
# timeout (1 s) and a few seconds, and the others leave their last words.
set -u
source "$1"
program=$2
failed=0

complain() {
  echo "$what: $1"
  cat "$folder"/* 2>/dev/null
  tail -40 <<<"$out"
  failed=1
}

lose() { # what, exit codes that are right, a pattern of the last words
  what=$1
  folder=$TEST_TMPDIR/words_$1
  mkdir -p "$folder"
  local began=$SECONDS
  out=$(run_ranks 4 "$program" "$1" "$folder" 2>&1)
  local status=$?
  local took=$((SECONDS - began))
  [[ $2 =~ (^|,)$status(,|$) ]] || complain "exit $status"
  [[ $took -le 15 ]] || complain "took $took s"
  if [[ -n $3 ]]; then
    local words
    words=$(grep -lE "$3" "$folder"/0 "$folder"/2 "$folder"/3 2>/dev/null | wc -l)
    [[ $words -eq 3 ]] || complain "$words of 3 survivors said $3"
  fi
  echo "$1: exit $status after $took s"
}

# Nobody dies: each rank that waits gives up by itself.
lose sleep 6 "^step 5, all-reduce .*, waited for 1$"
# A rank that fails ends its part; the others learn of it at once.
lose raise 4,6 "^step 5, all-reduce .*, waited for 1$"
lose drop 4,6 "^step 5, all-reduce .*, waited for 1$"
# mpirun itself sees a killed process and kills the others.
lose kill 137,6 ""
# Nothing happens: the program is sound.
lose nothing 0 ""
[[ -z $(ls "$TEST_TMPDIR/words_nothing") ]] || { echo "words of a sound run"; failed=1; }
exit $failed
