#!/bin/bash
# Turns Bazel's status file into a header; what is missing counts as dirty.
set -eu
commit=unstamped
dirty=1
while read -r key value; do
  case $key in
    STABLE_LOCKSTEP_COMMIT) commit=$value ;;
    STABLE_LOCKSTEP_DIRTY) dirty=$value ;;
  esac
done <"$1"
[[ $commit == unstamped ]] && dirty=1
echo "#define LOCKSTEP_BUILD_COMMIT \"$commit\""
echo "#define LOCKSTEP_BUILD_DIRTY $dirty"
