#!/bin/bash
# A launcher over several hosts: a killed rank, a pulled cable, a dead host, and
# an old job behind a cut that a new one has taken the run from. Takes root
# (net_hosts.sh) and a minute or two; prints how long each took.
set -u
lockstep=$PWD/$1
recipe=$PWD/recipes/debug.toml
# shellcheck source=/dev/null
. "$PWD/tests/launch/net_hosts.sh"
cd "$TEST_TMPDIR" || exit 1
if [ -n "${LOCKSTEP_NO_MPI-}" ] || ! command -v mpirun >/dev/null; then
  why="a machine or a build without MPI"
else
  why=$(net_possible)
fi
if [ -n "$why" ]; then
  echo "SKIPPED: $why"
  [ -z "${XML_OUTPUT_FILE-}" ] || printf '%s' '<testsuites><testsuite name="net_hosts" tests="1"><testcase name="all" result="skipped"><skipped/></testcase></testsuite></testsuites>' >"$XML_OUTPUT_FILE"
  exit 0
fi
failures=0
fail() {
  echo "FAILED: $*" >&2
  tail -n 30 err >&2 2>/dev/null
  failures=$((failures + 1))
}
net_scripts
trap net_down EXIT
net_switch h
net_switch k
net_trunk h k
ip addr add "$net_prefix.1/24" dev "${net_tag}k"
for host in a b; do net_host "$host" h || fail "host $host"; done
for host in c d; do net_host "$host" k || fail "host $host"; done
mapfile -t mpirun_args < <(net_mpirun_args)

small=(--set train.steps=8 --set schedule.warmup=1 --set data.sequence=32
  --set model.hidden=32 --set checkpoint.every=2 --threads 1
  --allow dirty --reason test)
launched=("${small[@]}" --set guarantee=layout_invariant --rank-timeout 5
  --set "elastic.probe=\"'$net_folder/reaches' \$LOCKSTEP_HOST\""
  --set elastic.probe_every_s=1 --set elastic.probe_timeout_s=3
  --set elastic.wait_for_replacement_s=2 "${mpirun_args[@]}")
launch() { # hosts, options...
  printf '%s slots=1\n' $1 >hosts.txt
  shift
  exec "$lockstep" launch "$recipe" --hosts hosts.txt "${launched[@]}" "$@"
}
unseed() { sed -n 's/^unseed //p' "$1"; }
lines() { cat "$1/metrics.jsonl" 2>/dev/null | wc -l; }
now_ms() { date +%s%3N; }
strip() { sed -E 's/"(step_ms|tokens_per_s|mfu)":[^,}]*,?//g' "$1/metrics.jsonl"; }
recorded() { grep '"event":"layout_change"' "$1/ledger.jsonl" | tail -n 1 | grep -Eq "$2"; }
until_step() { # run, step, checkpoint
  for _ in $(seq 600); do
    [ "$(lines "$1")" -ge "$2" ] &&
      [ -e "$1/checkpoints/step_0000000$3/index.json" ] && return
    sleep 0.1
  done
  fail "$1: step $2 is never done"
}
# The run ends as the straight one did: same bits, every byte holds.
same_run() {
  until grep -q 'resumed from' err && [ "$(lines "$1")" -ge 5 ]; do
    kill -0 "$launcher" 2>/dev/null || break
    sleep 0.02
  done
  local resumed
  resumed=$(now_ms)
  wait "$launcher"
  local code=$?
  [ "$code" = 0 ] || fail "$1: exit $code"
  echo "$1: $(($(now_ms) - struck)) ms to the end, \
$((resumed - struck)) ms to the first step of the next job"
  [ "$(unseed out)" = "$straight" ] || fail "$1: other bits"
  cmp <(strip straight) <(strip "$1") || fail "$1: other metrics"
  "$lockstep" ckpt verify "$1" >out 2>&1 || fail "$1: $(cat out)"
}
attempts() { grep -c ': attempt' err; }

"$lockstep" train "$recipe" --ranks 2 "${small[@]}" \
  --set guarantee=layout_invariant --run straight >out 2>err || fail straight
straight=$(unseed out)
[ -n "$straight" ] || fail "no unseed"

# All ranks sleep in step 6, and there a host meets its fate.
strike() { # run, hosts, what happens, options...
  local run=$1 hosts=$2 fate=$3
  shift 3
  (launch "$hosts" --run "$run" --fault "$slow" "$@") >out 2>err &
  launcher=$!
  until_step "$run" 5 4
  struck=$(now_ms)
  eval "$fate"
}
slow=kind=sleep,step=6,ms=3000

strike killed 'a b' 'kill -9 $(net_rank b)'
same_run killed
[ "$(attempts)" = 2 ] || fail "killed: $(attempts) attempts"
grep -q 'the job ended with 137 in step 6 on b' err || fail "killed: not told"
recorded killed . && fail "killed: a resize"

# The cable of a host with the last rank, and of the one that holds the lock.
for host in b a; do
  run=pulled_$host
  strike "$run" 'a b c' "net_pull $host" --set parallel.data=2 \
    --set elastic.spares=c
  same_run "$run"
  grep -q "$host does not answer: .*: the job is killed" err ||
    fail "$run: not noticed"
  grep -q 'attempt 2 on .*c.*: data 2' err || fail "$run: no spare"
  [ "$(attempts)" = 2 ] || fail "$run: $(attempts) attempts"
  recorded "$run" . && fail "$run: a resize"
  net_plug "$host"
done

# Without a probe the ranks themselves notice, when --rank-timeout is over.
strike unprobed 'a b' 'net_pull b; (sleep 16; net_plug b) &' --set 'elastic.probe=""'
same_run unprobed
grep -q 'has left its last words' err || fail "unprobed: not noticed"

# No replacement: fewer replicas, on record; and more again at the next start.
strike dead 'a b' 'net_die b'
same_run dead
grep -q 'attempt 2 on a: data 1' err || fail "dead: not made smaller"
recorded dead '"from":"data 2 .*"to":"data 1 .*"bits":"unchanged"' ||
  fail "dead: not on record: $(cat dead/ledger.jsonl)"
net_plug b && net_boot b

strike grown 'a b' 'net_die b; until grep -q "attempt 2 on a" err; do sleep 0.1; done
  net_plug b; net_boot b; until grep -q "resumed from" err; do sleep 0.1; done
  kill -9 $(net_rank a)'
same_run grown
grep -q 'attempt 3 on a, b: data 2' err || fail "grown: not made larger"
recorded grown '"from":"data 1 .*"to":"data 2 .*"bits":"unchanged"' ||
  fail "grown: not on record: $(cat grown/ledger.jsonl)"

# The launcher's side of the net, c and d, loses the side with its job, which
# goes on there. A new launcher is refused while the file system knows of the
# lock. Once that has forgotten it (as one that takes locks from silent hosts
# does; here another file stands in its place), the new job has the run, and
# the old one can add nothing more to it.
slow=kind=sleep,step=6,when=from,ms=4000
# shellcheck disable=SC2016
strike split 'a b' 'net_pull t; kill -9 $launcher $(cat /proc/$launcher/task/*/children)' \
  --set 'elastic.probe=""'
wait "$launcher" 2>/dev/null
(launch 'c d' --run split --fault "$slow") >out 2>err
[ $? = 2 ] || fail "split: the lock is not respected"
grep -q 'another trainer has this run' err || fail "split: not told of the lock"
cp split/lock split/lock.new && mv split/lock.new split/lock
(launch 'c d' --run split --fault "$slow") >out 2>err &
launcher=$!
until grep -q 'resumed from' err || ! kill -0 "$launcher"; do sleep 0.1; done
old=$(net_rank a)
[ -n "$old" ] || fail "split: the old job was over before the new one began"
same_run split
[ -z "$(net_rank a)$(net_rank b)" ] || fail "split: the old job goes on"
[ "$(tail -n 1 split/lock | grep -c '"generation":2')" = 1 ] ||
  fail "split: $(cat split/lock)"

echo "$failures failures"
[ "$failures" = 0 ]
