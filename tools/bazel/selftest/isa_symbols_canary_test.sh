#!/bin/bash
# The guard must fire on weak symbols, on a missing file, on an empty one, on
# fewer files than there should be, and on none; a clean library must pass.
set -u
guard=$1 weak=$2 clean=$3
must_fail() {
  if "$guard" "$@" >/dev/null 2>&1; then
    echo "the guard let pass: $*"
    exit 1
  fi
}
: >"$TEST_TMPDIR/empty.a"
must_fail 1 "$weak"
must_fail 2 "$clean" "$weak"
must_fail 1 "$TEST_TMPDIR/absent.a"
must_fail 1 "$TEST_TMPDIR/empty.a"
must_fail 2 "$clean"
must_fail 0
must_fail
"$guard" 1 "$clean"
