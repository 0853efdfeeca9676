#!/bin/bash
# The verbs that look at checkpoints, and those that do parts of a run again, as
# processes: exit codes and what they print.
set -uo pipefail

# shellcheck source=tests/cli/expect.sh
source tests/cli/expect.sh

expect 0 'unseed' train --run r --set train.steps=4 --set checkpoint.every=2
expect 0 'step_00000004 .* d1 t1 p1 +1 +holds' "$lockstep" ckpt list r --verify
expect 0 'of 2 checkpoint' "$lockstep" ckpt verify r
expect 0 '^equal: all' "$lockstep" ckpt diff r r/checkpoints/step_00000004
expect 0 'in 4 shard' "$lockstep" ckpt reshard r --output four \
  --layout data=2,tensor=2,pipeline=1
expect 0 '"equal":true' "$lockstep" ckpt diff r four --json
expect 2 'this exists' "$lockstep" ckpt reshard r --output four --layout data=1
ln -s nowhere link
expect 2 'this is a symbolic link' "$lockstep" ckpt reshard r --output link --layout data=1
expect 2 'parallel.tensor = 3' "$lockstep" ckpt reshard r --output x \
  --layout tensor=3
expect 0 'with probability 1/2' "$lockstep" verify r --segments 1
expect 0 '"same_bits":true' "$lockstep" verify "$recipe" --steps 2 \
  --set schedule.warmup=1 --allow dirty --json
cp -r r changed && sed -i '3s/"updates":3/"updates":4/' changed/metrics.jsonl
expect 1 'step 3 came out otherwise .updates' "$lockstep" verify changed --segments 2
: >changed/ledger.jsonl
expect 1 'ledger.jsonl bytes .* has lost lines' "$lockstep" ckpt verify changed

# Another run's manifest does not make strangers of the checkpoints.
cp -r r alien
expect 0 . train --run other --set train.steps=1 --set schedule.warmup=1 --set seed=9
cp other/manifest.json alien/
expect 3 'checkpoints here are of run' \
  train --run alien --set train.steps=4 --set checkpoint.every=2

# One file that cannot be read hides nothing of the others.
cp -r r piped && rm piped/checkpoints/step_00000002/index.json
mkfifo piped/checkpoints/step_00000002/index.json
truncate -s -1 piped/checkpoints/step_00000004/rank_00000.safetensors
expect 1 'step_00000004/rank_00000.* is cut off' "$lockstep" ckpt verify piped
cp out seen
expect 1 'UNUSABLE: rank_00000.* instead of ' "$lockstep" ckpt list piped --verify
expect 0 'step_00000002/index.json .*no regular file' cat seen
expect 2 'no folder' "$lockstep" ckpt list piped/checkpoints/step_00000002/index.json
expect 2 'this is a checkpoint, not' "$lockstep" ckpt list r/checkpoints/step_00000004 --json

# What a use of the model passes over, and what a launch does.
cp -r r hurt && truncate -s -1 hurt/checkpoints/step_00000004/rank_00000.safetensors
expect 0 'passed over step_00000004: .*; step 2 is used' "$lockstep" \
  generate hurt --prompt 'The ' --tokens 1
cp -r r lost && rm -r lost/checkpoints/step_00000004
expect 1 'step_00000004 .*the ledger has it, and it is gone' "$lockstep" ckpt verify lost
expect 0 'passed over step_00000004: the ledger has it' train --run lost \
  --set train.steps=4 --set checkpoint.every=2
expect 0 '"event":"checkpoint_skipped".*"gone":\["step_00000004"\]' cat lost/ledger.jsonl
expect 0 'every byte holds' "$lockstep" ckpt verify lost
cp -r r cut && sed -i '$d' cut/ledger.jsonl
expect 0 'the ledger has lost lines' train --run cut --set train.steps=4 \
  --set checkpoint.every=2
cp -r r short && sed -i '$d' short/ledger.jsonl && rm short/ledger_head
expect 1 'ledger_head .*is missing' "$lockstep" ckpt verify short
expect 0 'nobody can say whether the ledger has lost lines' train --run short \
  --set train.steps=4 --set checkpoint.every=2
expect 0 '"event":"lost_lines".*"head":"missing"' cat short/ledger.jsonl
expect 0 'every byte holds' "$lockstep" ckpt verify short

# A checkpoint in place of its run, and where a run is needed.
expect 0 '^step 2:' "$lockstep" eval r/checkpoints/step_00000002/ "$recipe" --set train.steps=4
expect 0 '^step 4:' "$lockstep" eval r "$recipe" --set train.steps=4
(cd r/checkpoints/step_00000002 && "$lockstep" generate . --prompt 'The ' --tokens 5 --json) >here
expect 0 '"step":2' cat here
expect 2 'two checkpoints' "$lockstep" eval r/checkpoints/step_00000002 "$recipe" \
  --checkpoint r/checkpoints/step_00000004
expect 2 'in no run' "$lockstep" generate four --prompt x
expect 2 "a checkpoint's folder" "$lockstep" explain r/checkpoints/step_00000002 --step 1

# Of checkpoints that are no more, or are no runs.
expect 2 'no checkpoint' "$lockstep" ckpt diff r .
expect 2 'nothing' "$lockstep" ckpt verify nowhere
expect 2 . "$lockstep" verify nowhere
truncate -s -1 four/rank_00003.safetensors
expect 1 'rank_00003.safetensors .* is cut off' "$lockstep" ckpt verify four
expect 4 'rank_00003.* is cut off' "$lockstep" ckpt diff r four
expect 0 'was not read' "$lockstep" ckpt diff r four --quick
expect 4 'rank_00003' "$lockstep" ckpt reshard four --output x --layout data=1
: >r/checkpoints/.pin-step_00000004
expect 0 'complete, pinned' "$lockstep" ckpt list r

finish 36
