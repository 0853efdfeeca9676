#!/bin/bash
# A launcher over mpirun on this machine: a killed rank costs the steps since
# the last checkpoint and no bit; signals and exit codes are the launcher's.
set -u
lockstep=$PWD/$1
recipe=$PWD/recipes/debug.toml
if [ -n "${LOCKSTEP_NO_MPI-}" ] || ! command -v mpirun >/dev/null; then
  echo "a machine or a build without MPI"
  exit 0
fi
cd "$TEST_TMPDIR" || exit 1
# Several at a time, in sandboxes whose process numbers repeat (parallel/mpi_run.sh).
export TMPDIR=$TEST_TMPDIR OMPI_MCA_btl_vader_backing_directory=$TEST_TMPDIR
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,vader
failures=0
fail() {
  echo "FAILED: $*" >&2
  tail -n 20 err >&2 2>/dev/null
  failures=$((failures + 1))
}
small=(--set train.steps=8 --set schedule.warmup=1 --set data.sequence=32
  --set model.hidden=32 --set checkpoint.every=2 --threads 1
  --allow dirty --reason test)
launch() { "$lockstep" launch "$recipe" --np 2 "${small[@]}" "$@"; }
unseed() { sed -n 's/^unseed //p' "$1"; }
strip() { sed -E 's/"(step_ms|tokens_per_s|mfu)":[^,}]*,?//g' "$1/metrics.jsonl"; }
lines() { cat "$1/metrics.jsonl" 2>/dev/null | wc -l; }
pid_of_rank() {
  local folder
  for folder in /proc/[0-9]*; do
    [ "$(readlink "$folder/cwd" 2>/dev/null)" = "$(pwd -P)" ] || continue
    { tr '\0' '\n' <"$folder/environ"; } 2>/dev/null |
      grep -qx "OMPI_COMM_WORLD_RANK=$1" && basename "$folder"
  done
}

"$lockstep" train "$recipe" --ranks 2 "${small[@]}" --run straight >out 2>err ||
  fail "straight"
straight=$(unseed out)
[ -n "$straight" ] || fail "no unseed"

# Rank 1 sleeps in step 6 of each attempt; in the first it is killed there.
launch --run killed --fault kind=sleep,step=6,rank=1,ms=4000 >out 2>err &
launcher=$!
for _ in $(seq 600); do
  [ "$(lines killed)" = 5 ] &&
    [ -e killed/checkpoints/step_00000004/index.json ] && break
  sleep 0.1
done
victim=$(pid_of_rank 1)
if [ -n "$victim" ]; then kill -9 "$victim"; else fail "no process of rank 1"; fi
wait "$launcher"
code=$?
[ "$code" = 0 ] || fail "after a killed rank: exit $code"
[ "$(unseed out)" = "$straight" ] || fail "after a killed rank: other bits"
cmp <(strip straight) <(strip killed) || fail "after a killed rank: metrics"
grep -q 'attempt 2 on localhost: data 2 x pipeline 1 x tensor 1' err ||
  fail "no second attempt"
grep -q 'the job ended with 137 in step 6 on localhost' err ||
  fail "not told what happened"
grep -q 'resumed from killed/checkpoints/step_00000004' err ||
  fail "not resumed from step 4"
"$lockstep" ckpt verify killed >out 2>&1 || fail "verify: $(cat out)"

# A loss that is not finite does not become so by trying again.
launch --run broken --fault kind=nan,step=3,at=layers.1.mixer.up_proj.forward,element=3 \
  >out 2>err
code=$?
[ "$code" = 5 ] || fail "numeric: exit $code"
[ "$(grep -c ': attempt' err)" = 1 ] || fail "numeric: tried again"
launch --run refused --set batch.glbal=3 >out 2>err
[ $? = 2 ] || fail "a bad recipe: exit code"

# A rank that hangs ends each attempt, and the code is 6 once there were enough.
# marin-community/marin#7344: a collective of 512 ranks stood still for good, no
# process died, and what restarts jobs looks at exit codes alone.
launch --run hung --set watchdog.timeout_s=2 --retries 1 \
  --fault kind=sleep,step=4,rank=1,ms=30000 >out 2>err
code=$?
[ "$code" = 6 ] || fail "hung: exit $code"
[ "$(grep -c ': attempt' err)" = 2 ] || fail "hung: not tried again"
grep -q 'in step 4 on localhost' err || fail "hung: not told where"

# SIGTERM: all ranks save after the same step, and the code is 8.
# The launcher itself, and not a shell around it.
"$lockstep" launch "$recipe" --np 2 "${small[@]}" --run told \
  --set train.steps=100000 >out 2>err &
launcher=$!
for _ in $(seq 600); do
  [ "$(lines told)" -ge 3 ] && break
  sleep 0.1
done
# Nothing of ours listens on a port, though mpirun does, which shows that this
# sees such things.
listens() { # pid
  find "/proc/$1/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null |
    tr -dc '0-9\n' |
    grep -qxFf <(awk '$4 == "0A" {print $10}' /proc/net/tcp /proc/net/tcp6)
}
listens "$launcher" && fail "the launcher listens on a port"
mpirun=$(cat "/proc/$launcher/task/$launcher/children")
listens "${mpirun%% *}" || fail "what listens is not seen"
kill -TERM "$launcher"
wait "$launcher"
code=$?
[ "$code" = 8 ] || fail "told to stop: exit $code"
done=$(lines told)
[ -e "told/checkpoints/$(printf 'step_%08d' "$done")/index.json" ] ||
  fail "told to stop: step $done is not saved"
# The launcher leaves nobody behind, also when it is killed itself.
[ -z "$(pid_of_rank 0)$(pid_of_rank 1)" ] || fail "ranks were left behind"
launch --run told --set train.steps=100000 --until $((done + 2)) >out 2>err ||
  fail "going on"
[ "$(lines told)" = $((done + 2)) ] || fail "did not go on"
# SIGUSR1 and Ctrl-C mean the same.
for signal in USR1 INT; do
  done=$(lines told)
  "$lockstep" launch "$recipe" --np 2 "${small[@]}" --run told \
    --set train.steps=100000 >out 2>err &
  launcher=$!
  for _ in $(seq 600); do
    [ "$(lines told)" -ge $((done + 2)) ] && break
    sleep 0.1
  done
  kill -s "$signal" "$launcher"
  wait "$launcher"
  code=$?
  [ "$code" = 8 ] || fail "SIG$signal: exit $code"
done

echo "$failures failures"
[ "$failures" = 0 ]
