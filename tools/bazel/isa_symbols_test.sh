#!/bin/bash
# Fails if a library compiled for a newer CPU exports a weak function: the linker
# would be free to choose that copy for generic code, and the program would die
# of an illegal instruction on an older CPU. Weak data (V) holds no instructions
# and may stay. Also fails on a file it cannot read, and on one without symbols:
# a guard that saw nothing has proven nothing.
#
#   isa_symbols_test.sh COUNT LIBRARY...    COUNT: how many there must be
set -u
expected=${1-0}
shift || true
if [[ $# != "$expected" || $# == 0 ]]; then
  echo "$expected libraries expected, $# given: $*"
  exit 1
fi
status=0
for library in "$@"; do
  if ! symbols=$(nm --defined-only "$library"); then
    echo "$library: cannot be read"
    status=1
  elif ! grep -q ' [TtDdRrBb] ' <<<"$symbols"; then
    echo "$library: has no symbols"
    status=1
  elif weak=$(grep ' W ' <<<"$symbols"); then
    echo "$library: weak symbols, see -fno-weak in tools/bazel/flags.bzl:"
    c++filt <<<"$weak" | head -20
    status=1
  fi
done
exit $status
