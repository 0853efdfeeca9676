#!/bin/bash
# The command as a process: exit codes, messages, signals, kills. What a test in
# the same process cannot see.
set -uo pipefail

# shellcheck source=tests/cli/expect.sh
source tests/cli/expect.sh

expect 0 'train' "$lockstep" --help
for verb in train status eval generate explain "recipe check" "recipe show" "recipe diff" \
  "data prepare" "data inspect" "data verify" "ckpt list" "ckpt show" \
  "ckpt verify" "ckpt diff" "ckpt reshard" verify "trace show"; do
  # shellcheck disable=SC2086
  expect 0 'Example:' "$lockstep" $verb --help
done
expect 2 . "$lockstep"
expect 2 . "$lockstep" trian "$recipe"
expect 2 . "$lockstep" train
expect 2 'no_such.toml' "$lockstep" train no_such.toml

# Eight recipes, eight mistakes: what, where, what to do.
bad() { # NAME PATTERN TEXT
  printf '%s\n' "$3" >"$1.toml"
  expect 2 "$2" "$lockstep" recipe check "$1.toml"
  grep -q "$1.toml" err || fail "$1: the file is not named"
}
base="extends = \"$recipe\""
bad misspelt 'lr' "$base
[optimizer]
learnign_rate = 1e-3"
bad wrong_section 'optimizer.lr' "$base
[train]
lr = 1e-3"
bad wrong_type 'integer' "$base
[batch]
global = \"eight\""
bad out_of_range 'hidden_dropout' "$base
[model]
hidden_dropout = 1.5"
bad no_toml ':2' "$base
[batch"
printf '%s\n' "$base" '[optimizer]' 'lr = 1e-4' >other_lr.toml
bad no_fit 'tensor' "$base"$'\nparallel.tensor = 3'
bad no_cut 'not divide model.ffn = 36.*4' "$base"$'\nguarantee = "layout_invariant"\nmodel.ffn = 36\ngrid.tensor = 8'
bad no_groups 'not divide model.groups = 2.*2' "$base"$'\nmodel.groups = 2\nparallel.tensor = 4'
checks=$((checks + 1))
printf '%s\n' "$base" '[batch]' 'micro = 3' '[optimizer]' 'lrr = 1' \
  '[model]' 'pattern = "MX"' >three.toml
"$lockstep" recipe check three.toml >out 2>err
for key in micro lrr pattern; do
  grep -q "$key" err || fail "three mistakes, $key not told"
done
expect 0 'peak learning rate' "$lockstep" recipe keys
expect 0 'model.hidden = 64.*debug.toml' "$lockstep" recipe show "$recipe"
expect 1 'optimizer.lr' "$lockstep" recipe diff "$recipe" other_lr.toml
expect 2 'not built yet' "$lockstep" train "$recipe" --set model.pattern=ME
expect 2 'not built yet' "$lockstep" train "$recipe" --set precision.mode=nvfp4
expect 2 'kind' train --run faulty --fault kind=flop,step=1

# Data that cannot serve: what, where, what to do, and exit 2.
bad_data() { # PATTERN PREFIX
  expect 2 "$1" train --run bad_data --set "data.source=[{path='$PWD/$2'}]"
  grep -q "$2" err || fail "$2: the file is not named"
}
head -c 40000 /usr/share/common-licenses/GPL-3 >text.txt
mkdir empty && : >empty/nothing.txt
expect 0 'tokens' "$lockstep" data prepare text.txt --output tokens \
  --document-bytes 1000 --quiet
expect 0 '"documents"' "$lockstep" data inspect tokens --json
expect 0 '"ok":true' "$lockstep" data verify tokens --json
expect 0 'identity' "$lockstep" data train-tokenizer text.txt --vocab 400 \
  --output small.model
expect 0 '"tokenizer"' "$lockstep" data prepare text.txt --output pieces \
  --tokenizer small.model --json
expect 2 'too high' "$lockstep" data train-tokenizer text.txt --vocab 90000 \
  --output other.model
head -c 300 small.model >cut.model
expect 2 'cut.model' "$lockstep" data prepare text.txt --output other \
  --tokenizer cut.model
expect 2 'choose one of' "$lockstep" bench nothing
copy() { for end in bin idx; do cp "tokens.$end" "$1.$end"; done; }
copy cut && truncate -s -5 cut.idx && bad_data 'cut.idx' cut
copy half && truncate -s -8 half.idx && bad_data 'half.idx' half
copy wide && truncate -s 20001 wide.bin && bad_data 'wide.bin' wide
copy beyond && for at in $(seq 0 40 39000); do
  printf '\377\377' | dd of=beyond.bin bs=1 seek=$((at * 2)) conv=notrunc status=none
  [[ $at -gt 1000 ]] && break
done && bad_data '65535' beyond
bad_data 'no_such' no_such
expect 2 'empty' "$lockstep" data prepare empty --output nothing
expect 2 'no_such_folder' "$lockstep" data prepare no_such_folder --output x

# A run; its JSON; its verbs.
expect 0 '"unseed"' train --run r --set train.steps=4 --json
expect 0 'unseed' train --run r --set train.steps=4
expect 0 'step_00000004' "$lockstep" ckpt list r
expect 0 '"ok":true' "$lockstep" ckpt verify r --json
expect 0 'embeddings' "$lockstep" ckpt show r
expect 0 '"text"' "$lockstep" generate r --prompt 'The ' --tokens 5 --json
expect 0 'bits_per_byte' "$lockstep" eval r "$recipe" --json
# --text is an output, and never takes the place of a file that is there.
expect 0 'bits' "$lockstep" eval r "$recipe" --text scored.txt
[ -s scored.txt ] || fail "eval --text wrote nothing"
echo mine >kept.txt
expect 2 'this exists' "$lockstep" eval r "$recipe" --text kept.txt
[ "$(cat kept.txt)" = mine ] || fail "eval --text took the place of a file"
expect 2 "guarantee: the run's is bitwise" "$lockstep" eval r "$recipe" \
  --set guarantee=layout_invariant
expect 2 . "$lockstep" generate nowhere --prompt x
expect 0 '"state":"none"' "$lockstep" status r --json
expect 0 'last event +stop at step 4' "$lockstep" status r
expect 2 'nowhere' "$lockstep" status nowhere
expect 0 'unseed' train --run fork --fork r/checkpoints/step_00000004 \
  --set train.steps=5
expect 0 'forked from r/' "$lockstep" status fork
expect 2 'folder of its own' train --run r --fork r/checkpoints/step_00000004
expect 0 'recurs to the bit' "$lockstep" explain r --step 3
expect 0 '"verdict":"recurs_to_the_bit"' "$lockstep" explain r --step 4 --json
expect 2 'has not done step 5' "$lockstep" explain r --step 5
expect 2 . "$lockstep" explain nowhere --step 1
expect 0 'recurs to the bit' "$lockstep" explain fork --step 5
expect 2 'has not done step 4' "$lockstep" explain fork --step 4

# Sizes that no machine has are the user's input, not a crash.
for set in model.hidden=9223372036854775807 model.state=4611686018427387904 \
  model.hidden=1073741824 batch.global=9223372036854775806; do
  expect 2 "${set%=*}" "$lockstep" recipe check "$recipe" --set "$set"
done
expect 2 'memory' train --run big --set model.hidden=1048576 \
  --set model.ffn=1048576
expect 2 . "$lockstep" data prepare text.txt --output x --document-bytes -5
expect 2 'trace file' "$lockstep" trace show /nope
expect 2 '/nope' "$lockstep" ckpt list /nope
expect 2 'folder' train --run text.txt/run
expect 0 'tensor 2' "$lockstep" recipe check "$recipe" --set parallel.tensor=2

# A folder that lost its manifest or its checkpoints is no fresh one.
cp -r r lost && rm lost/manifest.json
expect 3 'manifest' train --run lost --set train.steps=4
cp r/manifest.json lost/ && rm -r lost/checkpoints
expect 4 'ledger lists' train --run lost --set train.steps=4
expect 0 unseed train --run lost --set train.steps=4 --resume never
rm lost/metrics.jsonl
expect 0 'lacks 4 of the 4' train --run lost --set train.steps=5 --quiet

# A file size limit is an error of the write, not a signal.
expect 7 . bash -c "ulimit -f 100; '$lockstep' train '$recipe' --allow dirty \
  --reason test --run limited --set train.steps=8"

# One trainer a run.
checks=$((checks + 1))
"$lockstep" train "$recipe" --allow dirty --reason test --run busy \
  --set train.steps=100000 >busy.out 2>&1 &
busy=$!
until [[ -s busy/metrics.jsonl ]]; do sleep 0.1; done
expect 2 'another trainer' train --run busy
expect 0 '"state":"alive"' "$lockstep" status busy --json

# SIGTERM: saved, exit 8, and the same command goes on.
kill -TERM $busy
wait $busy
code=$?
[[ $code == 8 ]] || fail "SIGTERM: exit $code, not 8"
stopped=$(wc -l <busy/metrics.jsonl)
expect 0 . train --run busy --set train.steps=100000 --until $((stopped + 2))
[[ $(wc -l <busy/metrics.jsonl) == $((stopped + 2)) ]] ||
  fail "the stopped run did not go on"

# Told twice, in a step that does not end: at once, and the last checkpoint is
# whole.
checks=$((checks + 1))
"$lockstep" train "$recipe" --allow dirty --reason test --run twice \
  --set train.steps=8 --set checkpoint.every=2 \
  --fault kind=sleep,step=4,ms=60000 >twice.out 2>twice.err &
twice=$!
until [[ $(wc -l <twice/metrics.jsonl) == 3 && -d twice/checkpoints/step_00000002 ]] 2>/dev/null; do sleep 0.1; done
kill -TERM $twice
sleep 0.2
kill -TERM $twice
wait $twice
code=$?
[[ $code == 8 ]] || fail "told twice: exit $code, not 8"
grep -q 'told twice to stop' twice.err || fail "told twice: not said"
expect 0 'resumed from twice/checkpoints/step_00000002' train --run twice \
  --set train.steps=8 --set checkpoint.every=2

# SIGKILL: the frames of every finished step are there; what was trained again has the same bits.
checks=$((checks + 1))
train --run straight --set train.steps=12 --set checkpoint.every=3 >/dev/null 2>&1
train --run killed --set train.steps=12 --set checkpoint.every=3 \
  --fault kind=kill,step=8 >/dev/null 2>&1
[[ $? == 137 ]] || fail "the fault did not kill"
expect 0 'did not end in order' "$lockstep" status killed
[[ $(grep -ao 'train/grad_norm_clipped' killed/tb/* | wc -l) == 7 ]] ||
  fail "event files of a killed run"
expect 0 . train --run killed --set train.steps=12 --set checkpoint.every=3
strip() { sed -E 's/"(step_ms|tokens_per_s|mfu)":[^,}]*,?//g' "$1/metrics.jsonl"; }
cmp <(strip straight) <(strip killed) || fail "the killed run differs"

finish 40
