#!/bin/bash
# count_tests.py must see every way in which a run can go wrong: a failed case,
# a crash, a target that did not build, an unreadable report, a run that says
# nothing at all, and one in which no test ran.
set -u
script=$1
events=$TEST_TMPDIR/events
mkdir -p "$events"

expect() { # exit status, last line
  local output status
  output=$(python3 "$script" "$events")
  status=$?
  if [[ $status != "$1" || $(tail -n 1 <<<"$output") != "$2" ]]; then
    echo "wanted $1 and '$2', got $status and:"
    echo "$output"
    exit 1
  fi
  rm -f "$events"/*
}

report() { # name, cases...
  local path=$TEST_TMPDIR/$1.xml
  shift
  printf '%s' "<testsuites><testsuite>$*</testsuite></testsuites>" >"$path"
}

result() { # label, uri
  echo '{"id":{"testResult":{"label":"'"$1"'","run":1,"shard":1}},"testResult":{"testActionOutput":[{"name":"test.xml","uri":"file://'"$2"'"}]}}'
}

summary() { # label, status
  echo '{"id":{"testSummary":{"label":"'"$1"'"}},"testSummary":{"overallStatus":"'"$2"'"}}'
}

pass='<testcase name="a" status="run" result="completed"/>'
fail='<testcase name="b"><failure message="1 != 2"/></testcase>'
skip='<testcase name="c" result="skipped"><skipped/></testcase><testcase name="d" status="notrun" result="suppressed"/>'
report mixed "$pass$fail$skip"
report good "$pass$pass"

run() { # name, bazel's exit status; events on stdin
  cat >"$events/$1.json"
  echo "$2" >"$events/$1.exit"
}

{ result //a "$TEST_TMPDIR/good.xml"; summary //a PASSED; } | run default 0
expect 0 "2 passed, 0 failed, 0 skipped"

{ result //a "$TEST_TMPDIR/mixed.xml"; summary //a FAILED; } | run default 3
{ result //a "$TEST_TMPDIR/good.xml"; summary //a PASSED; } | run asan 0
expect 1 "3 passed, 1 failed, 2 skipped"

{ result //a "$TEST_TMPDIR/good.xml"; summary //a TIMEOUT; } | run default 3
expect 1 "2 passed, 1 failed, 0 skipped"

{ result //a "$TEST_TMPDIR/absent.xml"; summary //a PASSED; } | run default 0
expect 1 "0 passed, 1 failed, 0 skipped"

{
  result //a "$TEST_TMPDIR/good.xml"
  summary //a PASSED
  echo '{"id":{"targetCompleted":{"label":"//b"}},"completed":{}}'
} | run default 1
expect 1 "2 passed, 1 failed, 0 skipped"

{ result //a "$TEST_TMPDIR/good.xml"; summary //a PASSED; } | run default 1
expect 1 "2 passed, 1 failed, 0 skipped"

run default 37 </dev/null
expect 1 "0 passed, 1 failed, 0 skipped"

expect 1 "0 passed, 0 failed, 0 skipped"
