#!/bin/bash
# `lockstep plan` as a process: what a user may ask, what cannot be, and that
# what it says of memory is what a run then takes.
set -uo pipefail

# shellcheck source=tests/cli/expect.sh
source tests/cli/expect.sh

plan() { "$lockstep" plan "$recipe" "$@"; }

expect 0 'first +data 4 x pipeline 1 x tensor 1' plan --world 4
expect 0 '"layouts":\[\{"data":4,"tensor":1,"pipeline":1,' plan --world 4 --json
expect 0 'of [0-9]+ layouts' \
  "$lockstep" plan "${recipe%/*}/hybrid_8b_tp4_pp2_dp4.toml" --world 4096
expect 0 'first  data 4 x pipeline 1 x tensor 4' plan --world 4096
expect 0 'first' plan --world 8 --set batch.global=16777214 # not simulated
expect 0 '"world":6,"world_before":8,"hosts":3' plan --world 8 \
  --ranks-per-host 2 --lost host1 --json
printf 'a slots=4\nb slots=4\n' >hosts
expect 0 '"world":4,"world_before":8,"hosts":1' plan --world 8 --hosts hosts \
  --lost b --json
# Spare slots take the lost ranks.
expect 0 '"world":4,"world_before":4' plan --world 4 --hosts hosts --lost b --json

# What cannot be.
for world in 0 -1 65537 99999999999999999999 1.5 x; do
  expect 2 '--world: takes a whole number from 1 to 65536' plan --world $world
done
expect 2 'world' plan
expect 2 'no host is called c' plan --world 8 --hosts hosts --lost c
expect 2 'nearest name is host3' plan --world 8 --ranks-per-host 2 --lost hots3
expect 2 'every host is lost' plan --world 8 --hosts hosts --lost a --lost b
expect 2 'none is known' plan --world 8 --lost a
expect 2 'give --world 8 or less' plan --world 9 --hosts hosts
expect 2 'cannot be read' plan --world 8 --hosts nowhere
expect 2 'cannot be read' plan --world 8 --hosts .
printf 'a slots=4\nb slots=some\n' >odd
expect 2 'odd:2' plan --world 4 --hosts odd
: >empty
expect 2 'names no host' plan --world 4 --hosts empty
expect 2 'two different things' plan --world 8 --hosts hosts --ranks-per-host 2
expect 2 'needs least is' plan --world 4 --memory 1000
expect 2 'nowhere.toml' "$lockstep" plan nowhere.toml --world 4
expect 2 'no power of two' plan --world 4 --set parallel.tensor=3
expect 2 'parallel.tensr' plan --world 4 --set parallel.tensr=2

# A run's own account, of the rank that took most, beside the plan's.
agrees() { # SET...
  local sets=() planned peak
  for set in train.steps=3 schedule.warmup=1 "$@"; do sets+=(--set "$set"); done
  planned=$(plan --world 4 --json "${sets[@]}" |
    grep -oE '"(bytes_per_rank|current)":[a-z0-9]+' |
    grep -B 1 'true' | head -n 1 | grep -oE '[0-9]+$')
  peak=$(train --run "r$checks" --ranks 4 --json "${sets[@]}" |
    grep -oE '"peak_bytes":[0-9]+' | grep -oE '[0-9]+$')
  checks=$((checks + 1))
  : >out >err
  [[ -n $planned && -n $peak ]] || { fail "no bytes: $*"; return; }
  ((planned * 100 <= peak * 105 && planned * 100 >= peak * 95)) ||
    fail "planned $planned bytes, taken $peak: $*"
}
agrees parallel.tensor=2
agrees parallel.pipeline=2 parallel.interleave=2
agrees parallel.tensor=2 parallel.pipeline=2 guarantee=layout_invariant

finish 30
