#!/bin/bash
# Real processes, really killed: at named points through --fault, and from
# outside at whatever instruction they are. The command that goes on afterwards
# ends in the unbroken run's lines.
set -uo pipefail

lockstep=$PWD/$1
recipe=$PWD/recipes/debug.toml
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/kill.XXXXXX")
cd "$scratch" || exit 1
failures=0
compared=0
killed=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

trainer() { # RUN MORE...; becomes the process, so that it can be killed
  local run=$1
  shift
  exec "$lockstep" train "$recipe" --allow dirty --reason test --run "$run" \
    --quiet --threads 2 --set train.steps=16 --set data.sequence=16 \
    --set batch.global=4 --set model.hidden=32 --set model.ffn=32 \
    --set model.hidden_dropout=0.1 --set checkpoint.every=3 \
    --set eval.every=4 --set eval.samples=4 "$@" >out 2>err </dev/null
}

# The shell's own word about a killed child is of no interest.
train() { { (trainer "$@"); } 2>/dev/null; }

strip() {
  sed -E 's/"(step_ms|tokens_per_s|mfu)":[^,}]*,?//g' "$1/metrics.jsonl"
}

expect_unbroken() { # RUN
  cmp <(strip straight) <(strip "$1") || fail "$1 differs"
  cmp straight/eval.jsonl "$1/eval.jsonl" || fail "$1 evaluates differently"
  compared=$((compared + $(wc -l <"$1/metrics.jsonl")))
}

train straight || fail "the unbroken run: $(cat err)"
[[ $(wc -l <straight/metrics.jsonl) == 16 ]] || fail "not 16 lines"

# Three generations, each killed elsewhere.
i=0
for points in "step.end,step=1 micro.end,step=5 save.shard.write,step=9" \
  "micro.end,step=2 save.index.sync,step=6 save.eval.write,step=12" \
  "save.step.rename,step=3 save.eval.write,step=8 micro.end,step=15" \
  "save.checkpoints.sync_dir,step=3 step.begin,step=7 save.metrics.write,step=13"; do
  i=$((i + 1))
  for point in $points; do
    train "named$i" --fault "kind=kill,at=$point"
    [[ $? == 137 ]] || fail "not killed at $point: $(cat err)"
    killed=$((killed + 1))
  done
  train "named$i" || fail "named$i did not go on: $(cat err)"
  expect_unbroken "named$i"
done

# From outside, at instants nobody chose.
for i in 1 2 3 4; do
  for delay in 0.0$((17 * i % 9 + 1)) 0.$((i + 4))5 0.06; do
    (trainer "outside$i") &
    process=$!
    sleep "$delay"
    kill -KILL "$process" 2>/dev/null && killed=$((killed + 1))
    wait "$process" 2>/dev/null
  done
  train "outside$i" || fail "outside$i did not go on: $(cat err)"
  expect_unbroken "outside$i"
done

echo "$compared lines compared, $killed kills, $failures failures"
[[ $failures == 0 && $compared == $((8 * 16)) && $killed -ge 12 ]]
