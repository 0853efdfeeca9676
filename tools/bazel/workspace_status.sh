#!/bin/bash
# Prints the keys that Bazel writes into stable-status.txt. Says "unstamped",
# which counts as dirty, where there is no readable git repository. Untracked
# files do not count: a run folder in the tree must not taint the build.
set -u
commit=$(git rev-parse --verify HEAD 2>/dev/null) || commit=unstamped
dirty=1
if [[ $commit != unstamped ]] &&
  changes=$(git status --porcelain --untracked-files=no 2>/dev/null); then
  [[ -z $changes ]] && dirty=0
fi
echo "STABLE_LOCKSTEP_COMMIT $commit"
echo "STABLE_LOCKSTEP_DIRTY $dirty"
