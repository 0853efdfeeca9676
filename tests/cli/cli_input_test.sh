#!/bin/bash
# What a user may type, at its edges: numbers, values that are not there, the
# wrong recipe, a step beyond reason. Each is exit 2 (or 3) and named; none is a
# crash, and none passes in silence.
set -uo pipefail

faults_md=$PWD/determinism/FAULTS.md
# shellcheck source=tests/cli/expect.sh
source tests/cli/expect.sh

# Runs of three steps have no room for the recipe's warm-up.
train() {
  "$lockstep" train "$recipe" --allow dirty --reason test \
    --set schedule.warmup=0 "$@"
}
order() { "$lockstep" data order "$recipe" "$@"; }

expect 0 unseed train --run r --set train.steps=3

# Integers: each option of each verb, above and below what it takes, and what is
# no number. 2^63 and more must not saturate.
whole() { # LEAST MOST COMMAND... OPTION
  local option=${*: -1} least=$1 most=$2
  shift 2
  for value in $((least - 1)) 99999999999999999999 -99999999999999999999 1.5 x \
    0x10 1e3 ' 7'; do
    expect 2 "$option: takes a whole number from $least to $most, and got" \
      "${@:1:$#-1}" "$option" "$value"
  done
  if [[ $most != 9223372036854775807 ]]; then
    expect 2 "$option: takes a whole number from $least to $most, and got" \
      "${@:1:$#-1}" "$option" $((most + 1))
  fi
}
steps=268435456
whole 1 $steps "$lockstep" data order "$recipe" --from
whole 1 $steps "$lockstep" data order "$recipe" --from 1 --to
whole 1 $steps "$lockstep" train "$recipe" --until
whole 1 $steps "$lockstep" explain r --step
whole 0 $steps "$lockstep" explain r --step 1 --window
whole 1 1048576 "$lockstep" generate r --prompt x --tokens
whole 0 9223372036854775807 "$lockstep" generate r --prompt x --seed
for verb in "train $recipe" "eval r $recipe" "generate r --prompt x" \
  "explain r --step 1" "bench order"; do
  # shellcheck disable=SC2086
  whole 1 1024 "$lockstep" $verb --threads
done
whole 1 16777216 "$lockstep" eval r "$recipe" --micro-batch
whole 0 4611686018427387904 "$lockstep" data prepare x --output y --document-bytes
whole 1 16777216 "$lockstep" data train-tokenizer x --output y.model --vocab
whole 1 9223372036854775807 "$lockstep" data train-tokenizer x --vocab 300 \
  --output y.model --sample-bytes
expect 0 'step 10 ' order --from 010 # ten, not eight
expect 0 'step 268435456 ' order --from $steps
expect 2 'more than 4194304 samples' order --from 1 --to $steps --json \
  --set batch.global=65536
expect 2 'from 1 to 16777216' "$lockstep" recipe check "$recipe" \
  --set batch.schedule=0:8,100:99999999

# A value that is not there is not the next argument.
expect 2 '--skip-samples= has no value' train --skip-samples= --until 5
expect 2 '--run has no value before --until' train --run --until 5
expect 2 '--set= has no value' train --set= --run x

# Nor is an empty one, as of a shell's variable that is not set, none at all.
for verb in train verify seeds 'recipe check' 'data order' plan tax 'eval x' \
  'recipe diff x' launch; do
  expect 2 'is empty' "$lockstep" $verb ''
done
for option in --fork --run --resume; do
  expect 2 "behind $option is empty" train $option ''
done
expect 2 'behind --output is empty' \
  "$lockstep" ckpt reshard x --layout data=2 --output ''
expect 2 'one degree "tensor"' \
  "$lockstep" verify "$recipe" --layout tensor=2,tensor=4
expect 2 '--tokens has no value before --json' \
  "$lockstep" generate r --prompt x --tokens --json
expect 0 '"prompt":"--json"' "$lockstep" generate r --prompt=--json --tokens 1 --json
[[ ! -e --until && ! -e x ]] || fail "a folder of a mistake"

# Numbers and words of a recipe.
check() { "$lockstep" recipe check "$recipe" "$@"; }
expect 2 '18446744073709551616 is beyond the integers' check --set seed=18446744073709551616
expect 2 '9223372036854775808 is beyond' check --set seed=9223372036854775808
expect 0 . check --set seed=9223372036854775807
expect 2 'data.source.0.path.*names no file' check --set 'data.source=[{path=""}]'
expect 2 'not both' check --set 'data.source=[{path="a",text="b"}]'
expect 2 'nearest valid value: (")?0:4,1000:16' check --set batch.global=4 \
  --set batch.schedule=0:8,1000:16
expect 2 'nearest valid value: 2$' check --set batch.micro=4 \
  --set batch.schedule=0:8,1000:6

# Every integer key at the last integer: an answer, and soon.
"$lockstep" recipe keys | awk '/^\[/ {section = substr($1, 2, length($1) - 2) "."}
  /^\(top/ {section = ""} /^  [a-z_]+ = / {key = $1}
  /an integer/ && section !~ /\[/ {print section key}' >keys
[[ $(wc -l <keys) -ge 35 ]] || fail "only $(wc -l <keys) integer keys"
while read -r key; do
  checks=$((checks + 1))
  timeout 20 "$lockstep" recipe check "$recipe" --set "$key=9223372036854775807" \
    --set schedule.shape=constant >out 2>err </dev/null
  [[ $? -le 2 ]] || fail "$key at 2^63 - 1"
done <keys

# Texts that are none.
text() { "$lockstep" data prepare "$1" --output t; }
ln -s loop loop
ln -s nowhere dangling
expect 2 'a link that leads to no file' text loop
expect 2 'a link that leads to no file' text dangling
expect 2 'no such text file' text absent
expect 2 'tells no size' text /dev/null
expect 2 'tells no size' text /proc/self/mem

# Another model or tokenizer than the run's is told by key; other data are what
# eval is for.
eval_with() { "$lockstep" eval r "$recipe" "$@"; }
expect 2 'model.hidden: 64 -> 128' eval_with --set model.hidden=128
expect 2 'model.pattern' eval_with --set 'model.pattern="M-"'
expect 2 'precision.mode' eval_with --set precision.mode=fp16
head -c 60000 /usr/share/common-licenses/GPL-3 >text.txt
expect 0 . "$lockstep" data train-tokenizer text.txt --vocab 400 --output small.model
expect 2 'data.tokenizer: byte -> ' eval_with \
  --set "data.tokenizer=\"$PWD/small.model\"" --set model.vocab=400
expect 0 'held-out loss' eval_with --set spike.window=64 --set optimizer.lr=1
expect 0 'data.validation_fraction.*not what the run was trained with' \
  eval_with --set data.validation_fraction=0.3

# The order of a run, and of no run.
expect 0 'step 2 ' order --run r --from 2
expect 3 'data.sequence: 64 -> 32' order --run r --from 2 --set data.sequence=32
expect 3 'seed: 1 -> 2|seed' order --run r --from 2 --set seed=2
expect 0 'have the batches of this recipe: batch.global' order --run r --from 4 \
  --set batch.global=16
expect 3 'data.source' "$lockstep" data order "${recipe%debug*}quickstart.toml" --run r --from 2

# A step beyond reason, and one beyond the data.
expect 2 'batch.global; bytes: .*samples of a step .* [0-9]{13}' \
  train --run big --set batch.global=16777216 --set data.sequence=65536
expect 2 'lower batch.micro' train --run big --set batch.global=8388608 --set batch.micro=8388608 \
  --set data.sequence=4096
[[ ! -e big ]] || fail "a folder of a run that cannot be"
head -c 4000 /usr/share/common-licenses/GPL-3 >tiny.txt
expect 0 'each step reads them [0-9]+ times over' train --run over \
  --set "data.source=[{text='$PWD/tiny.txt', document_bytes=200}]" \
  --set batch.global=8192 --set data.sequence=8 --set train.steps=1

# Notices: where a run stands that has nothing to do, and what was never met.
expect 0 'stands at step 3, and the recipe' train --run r --set train.steps=3 --quiet
expect 0 'stands at step 3 of 9, and --until 2 is not beyond' \
  train --run r --set train.steps=9 --until 2 --json
expect 0 'nothing to do: the run stands at step 3' train --run zero \
  --fork r/checkpoints/step_00000003 --set train.steps=3
expect 0 'never met: kind=nan,step=1,at=nowhere' train --run unmet --quiet \
  --set train.steps=1 --fault kind=nan,step=1,at=nowhere,element=0
expect 2 'rank 4, and the run has 1' train --run rank --fault kind=kill,rank=4,step=1
expect 2 "write 'flip'" train --run kind --fault kind=flp,step=1
expect 2 'the source has [0-9]+ documents' train --run nodoc --set train.steps=2 \
  --fault kind=document,step=1,document=99999999
expect 0 'never met: kind=document' train --run document --set train.steps=1 \
  --fault kind=document,step=1,document=1,element=0

# Every place that the documents name is one: a run meets a fault at each.
places=()
while read -r place; do
  places+=(--fault "kind=sleep,ms=0,at=$place")
done < <(sed -nE 's/^\| `([^` ]+)` \|.*/\1/p' "$faults_md" | grep '\.' | grep -v =)
[[ ${#places[@]} -ge 100 ]] || fail "only ${#places[@]} / 2 places in FAULTS.md"
expect 0 unseed train --run places --set train.steps=2 --set eval.every=1 \
  --set checkpoint.every=1 "${places[@]}"
grep 'never met' err && fail "places that a run does not have"

# What a run prepared is prepared again by who may write.
expect 0 'recurs to the bit' "$lockstep" explain r --step 2
rm -r r/data
expect 2 'call .lockstep train. with' "$lockstep" explain r --step 2
expect 2 'call .lockstep train. with' order --run r --from 2
expect 0 unseed train --run r --set train.steps=3
expect 0 'recurs to the bit' "$lockstep" explain r --step 2

# A list that leaves no run.
expect 2 'needs 24 more samples.*only 5 are left' train --run none \
  --set train.steps=3 --skip-samples 5-9223372036854775807
[[ ! -e none ]] || fail "a folder of a run without samples"
expect 0 '7 passed over beside 3 that a range before it' train --run overlap \
  --set train.steps=1 --skip-samples 10-14 --skip-samples 12-21

# The lock names its holder's time as people write it.
checks=$((checks + 1))
train --run busy --set train.steps=100000 >/dev/null 2>&1 &
busy=$!
until [[ -s busy/metrics.jsonl ]]; do sleep 0.1; done
expect 2 'since 20[0-9-]{8}T[0-9:]{8}Z' train --run busy
kill -KILL $busy
wait $busy 2>/dev/null

finish 150
