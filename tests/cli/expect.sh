#!/bin/bash
# What tests of the command share: a folder to work in, and `expect`. Sourced by
# them, with the command's path as their first argument.

lockstep=$PWD/$1
recipe=$PWD/recipes/debug.toml
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/cli.XXXXXX")
cd "$scratch" || exit 1
failures=0
checks=0

fail() {
  echo "FAILED: $*"
  sed 's/^/    /' out err 2>/dev/null | head -n 20
  failures=$((failures + 1))
}

# expect CODE PATTERN COMMAND...: exit code, and a pattern in what it printed.
expect() {
  local code=$1 pattern=$2 got
  shift 2
  checks=$((checks + 1))
  "$@" >out 2>err </dev/null
  got=$?
  [[ $got == "$code" ]] || fail "exit $got, not $code: $*"
  grep -qE -- "$pattern" out err || fail "no '$pattern' from: $*"
}

train() { "$lockstep" train "$recipe" --allow dirty --reason test "$@"; }

# finish LEAST: the last line; a test that checked less has not run.
finish() {
  echo "$checks checks, $failures failures"
  [[ $failures == 0 && $checks -ge $1 ]]
}
