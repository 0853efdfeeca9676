#!/bin/bash
# Real processes, really killed: at named points through --fault, and from
# outside at whatever instruction they are, most of them with a checkpoint on
# its way. The command that goes on afterwards ends in the unbroken run's lines.
# kill_test.sh LOCKSTEP KILLS: so many from outside.
set -uo pipefail

lockstep=$PWD/$1
wanted=$2
recipe=$PWD/recipes/debug.toml
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/kill.XXXXXX")
cd "$scratch" || exit 1
failures=0
compared=0
named=0
outside=0
in_save=0
RANDOM=1

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

trainer() { # RUN MORE...; becomes the process, so that it can be killed
  local run=$1
  shift
  exec "$lockstep" train "$recipe" --allow dirty --reason test --run "$run" \
    --quiet --set train.steps=16 --set data.sequence=16 \
    --set batch.global=4 --set model.hidden=32 --set model.ffn=32 \
    --set model.hidden_dropout=0.1 --set checkpoint.every=3 \
    --set eval.every=4 --set eval.samples=4 "$@" >out 2>err </dev/null
}

# The shell's own word about a killed child is of no interest.
train() { { (trainer "$@"); } 2>/dev/null; }

strip() {
  sed -E 's/"(step_ms|tokens_per_s|mfu)":[^,}]*,?//g' "$1/metrics.jsonl"
}

expect_unbroken() { # RUN STRAIGHT
  cmp <(strip "$2") <(strip "$1") || fail "$1 differs"
  cmp "$2/eval.jsonl" "$1/eval.jsonl" || fail "$1 evaluates differently"
  compared=$((compared + $(wc -l <"$1/metrics.jsonl")))
}

train straight --threads 2 || fail "the unbroken run: $(cat err)"
[[ $(wc -l <straight/metrics.jsonl) == 16 ]] || fail "not 16 lines"

# Three generations, each killed elsewhere.
i=0
for points in "step.end,step=1 micro.end,step=5 save.shard.write,step=9" \
  "micro.end,step=2 save.index.sync,step=6 save.eval.write,step=12" \
  "save.step.rename,step=3 save.eval.write,step=8 micro.end,step=15" \
  "save.checkpoints.sync_dir,step=3 step.begin,step=7 save.metrics.write,step=13"; do
  i=$((i + 1))
  for point in $points; do
    train "named$i" --threads 2 --fault "kind=kill,at=$point"
    [[ $? == 137 ]] || fail "not killed at $point: $(cat err)"
    named=$((named + 1))
  done
  train "named$i" --threads 2 || fail "named$i did not go on: $(cat err)"
  expect_unbroken "named$i" straight
done
[[ $compared == $((4 * 16)) ]] || fail "$compared lines of named kills"

# From outside, at instants nobody chose: one rank and two in turns, a
# checkpoint at every step, and every third run without a thread of its own for
# them. Each run is killed until it has ended, or ten times.
runs=0
often=(--set train.steps=32 --set checkpoint.every=1 --set checkpoint.keep=2)
one=(--threads 1 "${often[@]}")
two=(--threads 1 "${often[@]}" --ranks 2 --set parallel.data=2)
train straight1 "${one[@]}" || fail "the unbroken run of one: $(cat err)"
train straight2 "${two[@]}" || fail "the unbroken run of two: $(cat err)"
while ((outside < wanted && failures == 0)); do
  runs=$((runs + 1))
  run=outside$runs
  ranks=$((1 + runs % 2))
  if ((ranks == 1)); then flags=("${one[@]}"); else flags=("${two[@]}"); fi
  ((runs % 3 == 0)) && flags+=(--set checkpoint.async=false)
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    (trainer "$run" "${flags[@]}") &
    process=$!
    sleep "0.$(printf %03d $((10 + RANDOM % 600)))"
    kill -KILL "$process" 2>/dev/null || break
    { wait "$process"; } 2>/dev/null
    outside=$((outside + 1))
    compgen -G "$run/checkpoints/.tmp-*" >/dev/null && in_save=$((in_save + 1))
    ((outside < wanted)) || break
  done
  { wait; } 2>/dev/null
  train "$run" "${flags[@]}" || fail "$run did not go on: $(cat err)"
  expect_unbroken "$run" "straight$ranks"
  "$lockstep" ckpt verify "$run" --json >verified || fail "$run: $(cat verified)"
  rm -rf "$run"
done

echo "$compared lines compared, $named + $outside kills, $in_save of them with" \
  "a checkpoint on its way, $runs runs, $failures failures"
[[ $failures == 0 && $compared == $((4 * 16 + runs * 32)) && $named == 12 &&
  $outside -ge $wanted && $in_save -gt 0 ]]
