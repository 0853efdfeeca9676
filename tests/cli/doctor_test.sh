#!/bin/bash
# `lockstep doctor` and `lockstep bench` as processes: exit codes and answers.
set -uo pipefail

lockstep=$PWD/$1
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/doctor.XXXXXX")
cd "$scratch" || exit 1
failures=0
checks=0

# expect CODE PATTERN COMMAND...: exit code, and a pattern in what it printed.
expect() {
  local code=$1 pattern=$2 got
  shift 2
  checks=$((checks + 1))
  "$@" >out 2>err </dev/null
  got=$?
  if [[ $got != "$code" ]] || ! grep -qE -- "$pattern" out err; then
    echo "FAILED: exit $got, wanted $code and '$pattern': $*"
    head -n 30 out err
    failures=$((failures + 1))
  fi
}

expect 0 'Example:' "$lockstep" doctor --help
expect 0 'this machine is sound' "$lockstep" doctor --threads 2
expect 0 '"sound":true' "$lockstep" doctor --json
expect 0 'used: scalar' env LOCKSTEP_ISA=scalar "$lockstep" doctor
expect 0 'every check fires' "$lockstep" doctor --canary
expect 0 '"at":"step.begin"' "$lockstep" doctor --fault-points --json
expect 2 'no such folder' "$lockstep" doctor --folder nowhere
expect 2 'avx9' env LOCKSTEP_ISA=avx9 "$lockstep" doctor
expect 0 '"bench":"gemm"' "$lockstep" bench gemm --rounds 1 --only 'BF16 NT 1024' --json
expect 0 'ring 64 KiB, 2 threads.*"ratio_low"' "$lockstep" bench comm --only ring --rounds 6 --json
expect 2 'takes a whole number from 1 to 64' "$lockstep" bench comm --ranks 65
expect 2 'no such peer' "$lockstep" bench gemm --peer nobody
# The machine is not unsound because a folder is not one.
expect 2 'no such folder' "$lockstep" doctor --folder err
expect 2 'cannot make a file' "$lockstep" doctor --folder /proc
expect 2 'no UTF-8' "$lockstep" doctor --folder $'bad\xff' --json
expect 2 'no canary' "$lockstep" doctor --fault-points --canary
expect 2 'one operation' "$lockstep" doctor --operation file --canary
expect 2 'avx9' env LOCKSTEP_ISA=avx9 "$lockstep" bench order
expect 2 'no use for --only' "$lockstep" bench order --only none
expect 2 'takes a whole number from 1 to 1000' "$lockstep" bench fingerprint --rounds 0x10
expect 0 'LOCKSTEP_ISA is not set' env LOCKSTEP_ISA= "$lockstep" doctor
[[ -z $(ls -A | grep -v -x -e out -e err) ]] || {
  echo "FAILED: files were left behind: $(ls -A)"
  failures=$((failures + 1))
}

echo "$checks checks, $failures failures"
[[ $failures == 0 && $checks == 21 ]]
