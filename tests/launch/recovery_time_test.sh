#!/bin/bash
# How long a killed rank costs: from SIGKILL to the first step that was not there
# before, under `launch` on debug.toml, two ranks. By hand, on a quiet machine:
# recovery_time_test.sh LOCKSTEP [TIMES]. The goal is 10 s, and the time to load, which is
# part of what is measured here and small for that recipe.
set -u
lockstep=$PWD/$1
times=${2:-10}
recipe=$PWD/recipes/debug.toml
if [ -n "${LOCKSTEP_NO_MPI-}" ] || ! command -v mpirun >/dev/null; then
  echo "a machine or a build without MPI"
  exit 0
fi
cd "$TEST_TMPDIR" || exit 1
export TMPDIR=$TEST_TMPDIR OMPI_MCA_btl_vader_backing_directory=$TEST_TMPDIR
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,vader
now_ms() { date +%s%3N; }
last_step() { tail -n 1 run/metrics.jsonl 2>/dev/null | sed 's/{"step":\([0-9]*\),.*/\1/'; }
rank_pid() { # of rank 1, in this folder
  local folder
  for folder in /proc/[0-9]*; do
    [ "$(readlink "$folder/cwd" 2>/dev/null)" = "$(pwd -P)" ] || continue
    { tr '\0' '\n' <"$folder/environ"; } 2>/dev/null |
      grep -qx OMPI_COMM_WORLD_RANK=1 && basename "$folder" && return
  done
}
"$lockstep" launch "$recipe" --np 2 --run run --set train.steps=100000 \
  --set checkpoint.every=20 --set checkpoint.keep=2 --threads 1 \
  --allow dirty --reason timing >out 2>err &
launcher=$!
trap 'kill -9 $launcher 2>/dev/null' EXIT
took=()
for ((i = 1; i <= times; ++i)); do
  reached=$((${highest:-0} + 30))
  until [ "$(last_step || echo 0)" -ge "$reached" ] 2>/dev/null; do
    kill -0 "$launcher" 2>/dev/null || { tail -n 20 err; exit 1; }
    sleep 0.05
  done
  victim=$(rank_pid)
  kill -9 "$victim"
  struck=$(now_ms)
  # Lines that this job still wrote are no new steps.
  until grep -q "attempt $((i + 1)) " err; do sleep 0.01; done
  highest=$(last_step)
  until [ "$(last_step)" -gt "$highest" ]; do sleep 0.01; done
  took+=($(($(now_ms) - struck)))
done
mapfile -t sorted < <(printf '%s\n' "${took[@]}" | sort -n)
echo "SIGKILL to the first new step, ms: ${took[*]}"
echo "median ${sorted[$((times / 2))]}, worst ${sorted[$((times - 1))]}"
[ "${sorted[$((times - 1))]}" -le 10000 ]
