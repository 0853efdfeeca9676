#!/bin/bash
# bisect as a command: each run by the program that made it, what it keeps and
# where, whether a fix is one, and the saved operation in doctor's hands.
set -u
. tests/cli/expect.sh

# says PATTERN: of the last command's answer.
says() {
  checks=$((checks + 1))
  grep -qE -- "$1" out || fail "no '$1'"
}
there() {
  checks=$((checks + 1))
  [[ -s $1 ]] || fail "no file $1"
}
fault=kind=flip,step=3,at=layers.1.mixer.down_proj.forward,element=31,bit=22
small() { # RUN, options...
  local run=$1
  shift
  expect 0 '^unseed ' train --run "$run" --set train.steps=4 \
    --set schedule.warmup=1 --set model.hidden=32 --set data.sequence=32 \
    --set checkpoint.every=2 --threads 1 "$@"
}
small a
small b --fault "$fault"
small c
small d

# The wrappers write down what they were asked.
for side in a b; do
  printf '#!/bin/bash\necho "$*" >>%s/asked_%s\nexec %s "$@"\n' "$PWD" "$side" \
    "$lockstep" >"program_$side"
  chmod +x "program_$side"
done
expect 1 '"operation":"down_proj"' "$lockstep" bisect a b --json \
  --binary-a ./program_a --binary-b ./program_b
says '"verdict":"operation"'
says '"elements":{"tensor":"y"'
says '"differ":1,'
for side in a b; do
  checks=$((checks + 1))
  grep -q "^replay $side --from 3 " "asked_$side" || fail "program_$side was not asked"
done
there bisects/a_b/report.html
there bisects/a_b/report.json
expect 2 'gave no answer' "$lockstep" bisect a b --binary-a /bin/true

# Without fingerprints on record: the update of step 2 is wrong, and no loss says
# so before step 3.
wrong=kind=flip,step=2,bit=22,element=5
wrong=$wrong,at=backbone.layers.1.mixer.up_proj.weight.adamw.optimizer
small blind_a --set metrics.fingerprints=false --set checkpoint.every=4
small blind_b --set metrics.fingerprints=false --set checkpoint.every=4 --fault "$wrong"
expect 1 '"operation":"adamw"' "$lockstep" bisect blind_a blind_b --json \
  --binary-a ./program_a --binary-b ./program_b
says '"step":2,'

# By this program, with the operation's bytes; a page of one's own.
expect 1 '^page: pages/b.html' "$lockstep" bisect a b --output found --html pages/b.html
says '^operation$'
says '^operation: found/operation.safetensors'
there pages/b.html
expect 0 'run a left this' "$lockstep" doctor --operation found/operation.safetensors
expect 0 '"agrees":"a"' "$lockstep" doctor --operation found/operation.safetensors --json
says '"repeats":true'
expect 2 'no operation' "$lockstep" doctor --operation found
expect 2 'no operation' "$lockstep" doctor --operation none
cp found/operation.safetensors cut
truncate -s -5 cut
expect 2 'no operation' "$lockstep" doctor --operation cut

# Equal runs leave nothing behind.
expect 0 '^equal$' "$lockstep" bisect a c
checks=$((checks + 1))
[[ ! -e bisects/a_c ]] || fail "a folder for equal runs"

expect 0 '^fix: fixed$' "$lockstep" bisect a b --verify-fix c d
says 'a step takes'
expect 1 '"verdict":"not_fixed"' "$lockstep" bisect a b --verify-fix c b --json
expect 2 'verify-fix' "$lockstep" bisect a b --verify-fix c
expect 2 'requires --verify-fix' "$lockstep" bisect a b --binary-fix ./program_a
for option in '--trace-level kernel' '--trace-values bytes' '--trace-scope layers.1'; do
  expect 2 'requires --trace' "$lockstep" replay a --from 3 --to 3 $option
done
expect 2 'both are this folder' "$lockstep" bisect a b --verify-fix c c
expect 2 'both are this folder' "$lockstep" bisect a b --verify-fix c ./d/../c/
expect 2 'nowhere' "$lockstep" bisect a nowhere

# Files that are gone, or folders in their place.
cp -r b gone
rm -r gone/launches
expect 2 'what a launch was made of is gone' "$lockstep" bisect a gone
cp -r b folder
rm folder/metrics.jsonl
mkdir folder/metrics.jsonl
expect 2 'Is a directory' "$lockstep" bisect a folder
mkdir -p traces/rank_0.step_00000000.trace
expect 2 'Is a directory' "$lockstep" trace diff traces traces

finish 41
