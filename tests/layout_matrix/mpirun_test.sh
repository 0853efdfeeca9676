#!/bin/bash
# Ranks as processes of mpirun: a rank that is killed leaves others with last
# words; an error that all ranks have is told once; overlap changes no bit.
set -u
lockstep=$PWD/$1
recipe=$PWD/recipes/debug.toml
# shellcheck source=/dev/null
. parallel/mpi_run.sh
cd "$TEST_TMPDIR" || exit 1
command -v mpirun >/dev/null || {
  echo "a machine without MPI"
  exit 0
}
failures=0
fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}
ranks() { # NUMBER, arguments of train...
  local number=$1
  shift
  run_ranks "$number" "$lockstep" train "$recipe" "$@"
}
small=(--set train.steps=4 --set schedule.warmup=1 --set data.sequence=32
  --set model.hidden=32 --threads 1 --allow dirty --reason test)
unseed() { sed -n 's/^unseed //p' "$1"; }

# N12: gradients sent during backward or after it, in buckets of any size.
for rung in bitwise layout_invariant; do
  n=0
  first=
  for way in overlap=false overlap=true bucket_bytes=3000; do
    n=$((n + 1))
    ranks 3 --run "$rung$n" "${small[@]}" --set "guarantee=$rung" \
      --set "parallel.$way" >out 2>err || fail "$rung, $way: $(tail -5 err)"
    [ -n "$(unseed out)" ] || fail "$rung, $way: no unseed"
    [ -n "$first" ] || first=$(unseed out)
    [ "$(unseed out)" = "$first" ] || fail "$rung, $way: other bits"
  done
done
ranks 2 --run told "${small[@]}" --json >out 2>err || fail "json: $(tail -5 err)"
grep -Eq '"exposed_comm_ms":[0-9.]*[1-9]' out || fail "exposed: $(cat out)"

# Rank 1 sleeps in step 2, the others wait for it; then it is killed, and
# mpirun ends the others.
ranks 3 --run killed "${small[@]}" \
  --fault kind=sleep,step=2,rank=1,ms=60000 >out 2>err &
launcher=$!
pid_of_rank() {
  local folder
  for folder in /proc/[0-9]*; do
    [ "$(readlink "$folder/cwd" 2>/dev/null)" = "$(pwd -P)" ] || continue
    { tr '\0' '\n' <"$folder/environ"; } 2>/dev/null |
      grep -qx "OMPI_COMM_WORLD_RANK=$1" && basename "$folder"
  done
}
for _ in $(seq 600); do
  [ "$(cat killed/metrics.jsonl 2>/dev/null | wc -l)" = 1 ] && break
  sleep 0.1
done
sleep 2 # until the others wait
victim=$(pid_of_rank 1)
if [ -z "$victim" ]; then
  fail "no process of rank 1: $(cat err)"
else
  kill -9 "$victim"
fi
wait "$launcher"
code=$?
[ "$code" = 137 ] || fail "mpirun ended with $code"
for rank in 0 2; do
  words=$(tr -d ' \n' <killed/ranks/$rank.json)
  for part in "\"rank\":$rank" '"step":2' '"waited_for":\[1\]' SIGTERM \
    '"collective":"[a-z]'; do
    grep -q "$part" <<<"$words" || fail "rank $rank, no $part: $words"
  done
done
[ ! -e killed/ranks/1.json ] || fail "the killed rank has last words"
ranks 3 --run killed "${small[@]}" >out 2>err ||
  fail "after a killed rank: $(tail -5 err)"

# What all ranks are told alike is told once, and of nobody in particular.
ranks 2 --run refused "${small[@]}" --set parallel.pipeline=8 >out 2>err
[ "$(grep -c '8 stages' err)" = 1 ] || fail "told $(cat err)"
! grep -q 'rank 0: ' err || fail "of rank 0: $(cat err)"
ranks 2 --run refused "${small[@]}" --set batch.glbal=8 >out 2>err
[ "$(grep -c 'batch.glbal' err)" = 1 ] || fail "told $(cat err)"
# What one rank alone has, with its number.
ranks 2 --run raised "${small[@]}" --fault kind=raise,step=2,rank=1 >out 2>err
grep -q 'raised on purpose' err || fail "raised: $(cat err)"

[ "$failures" = 0 ]
