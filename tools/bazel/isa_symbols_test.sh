#!/bin/bash
# Fails if a library compiled for a newer CPU exports a weak function. The
# linker would be free to choose that copy for generic code, and the program
# would die of an illegal instruction on an older CPU. Also fails on a file it
# cannot read, and on one without symbols: a guard that saw nothing has proven
# nothing.
set -u
[[ $# -gt 0 ]] || { echo "no library given"; exit 1; }
status=0
for library in "$@"; do
  if ! symbols=$(nm --defined-only "$library"); then
    echo "$library: cannot be read"
    status=1
  elif ! grep -q ' [TtDdRrBb] ' <<<"$symbols"; then
    echo "$library: has no symbols"
    status=1
  elif weak=$(grep -E ' [WVu] ' <<<"$symbols"); then
    echo "$library: weak symbols, see -fno-weak in tools/bazel/flags.bzl:"
    c++filt <<<"$weak" | head -20
    status=1
  fi
done
exit $status
