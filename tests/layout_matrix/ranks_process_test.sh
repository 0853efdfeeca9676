#!/bin/bash
# Ranks as processes: a silent rank ends the job with 6 and last words, and
# mpirun's ranks write the run that threads do.
set -u
lockstep=$PWD/$1
recipe=$PWD/recipes/debug.toml
mpi_run=$PWD/parallel/mpi_run.sh
cd "$TEST_TMPDIR" || exit 1
failures=0
fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}
small="--set train.steps=5 --set schedule.warmup=1 --set data.sequence=32 --set model.hidden=32
  --set guarantee=layout_invariant --threads 1 --allow dirty --reason test"
unseed() { sed -n 's/^unseed //p' "$1"; }

# An impossible layout is refused before a folder is there, with the nearest
# that can be.
refused() { # PATTERN, options...
  local pattern=$1
  shift
  "$lockstep" train "$recipe" --run refused "$@" >out 2>err
  local code=$?
  [ "$code" = 2 ] || fail "$*: exit code $code"
  grep -q "$pattern" err || fail "$*: $(cat err)"
  [ ! -e refused ] || fail "$*: a folder was made"
}
refused 'start 4 ranks' --ranks 2 --set parallel.data=4
refused 'start 4 or 6 ranks' --ranks 5 --set parallel.pipeline=2
refused 'micro-batches' --ranks 5
refused 'power of two' --ranks 3 --set parallel.tensor=3
# One mistake is one error, and nobody's in particular.
[ "$(grep -c 'parallel.tensor = 3' err)" = 1 ] || fail "told $(cat err)"
! grep -q 'rank 0: ' err || fail "of rank 0: $(cat err)"

# Processes of srun that are no ranks would each train the whole run.
SLURM_STEP_NUM_TASKS=4 refused 'srun --mpi=pmix'
SLURM_STEP_NUM_TASKS=1 refused 'start 4 ranks' --set parallel.data=4

# shellcheck disable=SC2086
{
  "$lockstep" train "$recipe" --run one $small >one.out 2>one.err ||
    fail "one rank: $(tail -3 one.err)"
  "$lockstep" train "$recipe" --run two $small --ranks 2 >two.out 2>two.err ||
    fail "two ranks: $(tail -3 two.err)"
  [ -n "$(unseed one.out)" ] || fail "no unseed"
  [ "$(unseed one.out)" = "$(unseed two.out)" ] || fail "threads: other bits"

  # What another rank has met was met; what none has is named.
  "$lockstep" train "$recipe" --run faults $small --ranks 2 \
    --fault kind=sleep,step=2,rank=1,ms=1 \
    --fault kind=sleep,step=2000,rank=1,ms=1 >faults.out 2>faults.err ||
    fail "faults: $(tail -3 faults.err)"
  [ "$(grep 'never met' faults.err)" = \
    'this fault was never met: kind=sleep,step=2000,rank=1,ms=1' ] ||
    fail "faults that were never met: $(cat faults.err)"

  # Rank 1 falls silent in step 2.
  start=$SECONDS
  "$lockstep" train "$recipe" --run silent $small --ranks 2 \
    --set watchdog.timeout_s=500 --rank-timeout 2 \
    --fault kind=sleep,step=2,rank=1,ms=60000 >silent.out 2>silent.err
  code=$?
  [ "$code" = 6 ] || fail "a silent rank: exit code $code, $(tail -3 silent.err)"
  [ $((SECONDS - start)) -lt 20 ] || fail "a silent rank held the job"
  grep -q '"step": 2' silent/ranks/0.json || fail "last words: no step"
  tr -d ' \n' <silent/ranks/0.json | grep -q '"waited_for":\[1\]' ||
    fail "last words: whom did it wait for: $(cat silent/ranks/0.json)"
  "$lockstep" train "$recipe" --run silent $small --ranks 2 >again.out \
    2>again.err || fail "after a lost rank: $(tail -3 again.err)"
  [ "$(unseed again.out)" = "$(unseed one.out)" ] || fail "resumed: other bits"

  # A step that does not end, though no rank waits for another yet.
  for ranks in 1 2; do
    start=$SECONDS
    "$lockstep" train "$recipe" --run slow$ranks $small --ranks $ranks \
      --step-timeout 2 --fault kind=sleep,step=2,ms=60000 >slow.out 2>slow.err
    code=$?
    [ "$code" = 6 ] || fail "a slow step: exit code $code, $(tail -3 slow.err)"
    [ $((SECONDS - start)) -lt 20 ] || fail "a slow step held the job"
    grep -q 'the step did not end within 2' slow$ranks/ranks/0.json ||
      fail "a slow step: $(cat slow$ranks/ranks/0.json)"
  done

  if command -v mpirun >/dev/null && [ -z "${LOCKSTEP_NO_MPI-}" ]; then
    # shellcheck source=/dev/null
    . "$mpi_run"
    run_ranks 2 "$lockstep" train "$recipe" --run mpi $small >mpi.out 2>mpi.err ||
      fail "mpirun: $(tail -5 mpi.err)"
    [ "$(unseed mpi.out)" = "$(unseed one.out)" ] || fail "mpirun: other bits"
    # Saves in the background, on threads and a communicator of their own.
    run_ranks 2 "$lockstep" train "$recipe" --run saves $small \
      --set checkpoint.every=1 >saves.out 2>saves.err ||
      fail "saves: $(tail -5 saves.err)"
    [ "$(unseed saves.out)" = "$(unseed one.out)" ] || fail "saves: other bits"
    [ "$(grep -c '"event":"checkpoint"' saves/ledger.jsonl)" = 5 ] ||
      fail "saves: $(cat saves/ledger.jsonl)"
    "$lockstep" ckpt verify saves >verified 2>&1 ||
      fail "saves: $(cat verified)"
    [ -s saves/checkpoints/step_00000002/rank_00001.safetensors ] ||
      fail "saves: no shard of the second rank"
    run_ranks 2 "$lockstep" train "$recipe" --run unsaved $small \
      --set checkpoint.every=1 --fault kind=eio,step=3,rank=1,at=save.shard.sync \
      >unsaved.out 2>unsaved.err
    code=$?
    [ "$code" = 7 ] || fail "a failed save: exit code $code, $(cat unsaved.err)"
    grep -q 'rank 1: ' unsaved.err || fail "a failed save: $(cat unsaved.err)"
    run_ranks 2 "$lockstep" train "$recipe" --run unsaved $small \
      --set checkpoint.every=1 >unsaved.out 2>unsaved.err ||
      fail "after a failed save: $(tail -5 unsaved.err)"
    [ "$(unseed unsaved.out)" = "$(unseed one.out)" ] ||
      fail "after a failed save: other bits"
    # The first rank alone answers.
    run_ranks 2 "$lockstep" bench comm --only ring --rounds 1 --json >comm.out \
      2>comm.err || fail "bench comm: $(tail -5 comm.err)"
    [ "$(grep -c '2 processes' comm.out)" = 1 ] ||
      fail "bench comm: $(cat comm.out)"
  fi
}
[ "$failures" = 0 ]
