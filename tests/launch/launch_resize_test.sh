#!/bin/bash
# A launcher whose hosts come and go. In the place of mpirun stands a script
# that runs the ranks as threads of one process on no host at all; which hosts
# live, a probe says.
set -u
lockstep=$PWD/$1
recipe=$PWD/recipes/debug.toml
cd "$TEST_TMPDIR" || exit 1
failures=0
fail() {
  echo "FAILED: $*" >&2
  tail -n 20 err >&2 2>/dev/null
  failures=$((failures + 1))
}

# mpirun --host a:1,b:1 -x NAME -np N PROGRAM train ...: with FILE `die` there
# it kills the job once the fourth step is saved, and host b with it.
cat >fake_mpirun <<'END'
#!/bin/bash
while [ "$1" != -np ]; do
  [ "$1" = --host ] && echo "$2" >>hosts_used
  shift
done
ranks=$2
shift 2
run=$(sed -E 's/.* --run ([^ ]*).*/\1/' <<<"$*")
if [ ! -e die ]; then exec "$@" --ranks "$ranks"; fi
rm die
"$@" --ranks "$ranks" --fault kind=sleep,step=5,ms=60000 &
until [ -e "$run/checkpoints/step_00000004/index.json" ]; do sleep 0.1; done
: >dead.b
kill -9 $!
wait
echo "mpirun noticed that process rank 1 with PID 0 on node b exited on signal 9 (Killed)." >&2
exit 137
END
chmod +x fake_mpirun
printf 'a slots=1\nb slots=1\n' >hosts.txt
# shellcheck disable=SC2016
small=(--set train.steps=8 --set schedule.warmup=1 --set data.sequence=32
  --set model.hidden=32 --set checkpoint.every=2 --threads 1
  --set 'elastic.probe="test ! -e dead.$LOCKSTEP_HOST"'
  --set elastic.wait_for_replacement_s=2 --allow dirty --reason test)
launch() {
  "$lockstep" launch "$recipe" --hosts hosts.txt --mpirun ./fake_mpirun \
    "${small[@]}" "$@"
}
unseed() { sed -n 's/^unseed //p' "$1"; }
field() { grep '"event":"layout_change"' "$1/ledger.jsonl" | grep -q "$2"; }
again() { rm -f dead.b hosts_used && : >die; }

"$lockstep" train "$recipe" "${small[@]}" --set guarantee=layout_invariant \
  --run one >out 2>err || fail "one rank"
one=$(unseed out)
[ -n "$one" ] || fail "no unseed"

# One of two hosts dies: after the wait its replica is gone, and no bit.
again
launch --set guarantee=layout_invariant --run invariant >out 2>err ||
  fail "invariant: exit $?"
[ "$(unseed out)" = "$one" ] || fail "invariant: other bits"
for part in '"step":4' '"next_sample":[1-9]' '"from":"data 2 x pipeline 1 x tensor 1"' \
  '"to":"data 1 x pipeline 1 x tensor 1"' 'on node b exited on signal 9' \
  '"waited_ms":[2-9][0-9]{3}' '"bits":"unchanged"' \
  '"guarantee_after":"layout_invariant"'; do
  grep '"event":"layout_change"' invariant/ledger.jsonl | grep -Eq "$part" ||
    fail "invariant: no $part in $(grep layout_change invariant/ledger.jsonl)"
done
[ "$(tr '\n' ' ' <hosts_used)" = 'a:1,b:1 a:1 ' ] || fail "hosts: $(cat hosts_used)"
"$lockstep" ckpt verify invariant >out 2>&1 || fail "verify: $(cat out)"

# The same on a lower rung: on record as another lineage.
again
launch --run bitwise >out 2>err || fail "bitwise: exit $?"
field bitwise '"bits":"may differ"' || fail "bitwise: not on record"
field bitwise '"guarantee_after":"state_exact"' || fail "bitwise: which rung"
old=$(grep '"event":"launch"' bitwise/ledger.jsonl | sed 's/.*"lineage":"//;s/".*//')
new=$(grep '"event":"layout_change"' bitwise/ledger.jsonl | sed 's/.*"lineage":"//;s/".*//')
{ [ -n "$old" ] && [ -n "$new" ] && [ "$old" != "$new" ]; } ||
  fail "bitwise: lineage $old, $new"

# There and back without a save in between: both are on record, and the bits
# are those of the layout that saved.
train() { "$lockstep" train "$recipe" "${small[@]}" --run back "$@" >out 2>err; }
train --ranks 2 --until 4 || fail "back: two ranks"
train --ranks 1 --allow layout --fault kind=raise,step=5 &&
  fail "back: the fault is not met"
train --ranks 2 --allow faults || fail "back: two ranks again"
[ "$(grep -c '"event":"layout_change"' back/ledger.jsonl)" = 2 ] ||
  fail "back: $(cat back/ledger.jsonl)"
last=$(grep '"event":"layout_change"' back/ledger.jsonl | tail -n 1)
for part in '"from":"data 1 ' '"to":"data 2 ' '"bits":"unchanged"' \
  '"guarantee_after":"bitwise"' \
  "$(grep '"event":"launch"' back/ledger.jsonl | grep -o '"lineage":"[^"]*"')"; do
  grep -qF "$part" <<<"$last" || fail "back: no $part in $last"
done

# A spare takes the place, and the layout stays.
again
printf 'a slots=1\nb slots=1\nc slots=1\n' >hosts.txt
launch --set guarantee=layout_invariant --set elastic.spares=c \
  --set parallel.data=2 --run spare >out 2>err || fail "spare: exit $?"
[ "$(tr '\n' ' ' <hosts_used)" = 'a:1,b:1 a:1,c:1 ' ] || fail "spare: $(cat hosts_used)"
grep -q '"event":"layout_change"' spare/ledger.jsonl && fail "spare: a resize"
grep -q 'idle: c: all of 1 slots' err || fail "spare: idle hosts are not named"

# Three replicas are left for eight micro-batches: nine are nearest, and where
# the batch must stay there are two, and a host is idle.
for batch in nearest refuse; do
  again
  printf '%s slots=1\n' a b c d >hosts.txt
  launch --set elastic.batch=$batch --set batch.micro=1 --set batch.global=8 \
    --run "batch_$batch" >out 2>err || fail "$batch: exit $?"
done
grep -q '"to":"data 3 ' batch_nearest/ledger.jsonl || fail "nearest: which layout"
tail -n 1 batch_nearest/metrics.jsonl | grep -q '"samples_seen":68,' ||
  fail "nearest: $(tail -n 1 batch_nearest/metrics.jsonl)"
grep '"to":"data 2 ' batch_refuse/ledger.jsonl |
  grep -qF '"idle":["d: all of 1 slots"]' || fail "refuse: idle hosts"
tail -n 1 batch_refuse/metrics.jsonl | grep -q '"samples_seen":64,' ||
  fail "refuse: another batch"

# Slurm's list of hosts in the place of a file.
rm -f hosts_used dead.b
SLURM_JOB_NODELIST='n[1-2]' SLURM_TASKS_PER_NODE='1(x2)' \
  "$lockstep" launch "$recipe" --mpirun ./fake_mpirun "${small[@]}" \
  --run slurm --until 2 >out 2>err || fail "slurm: exit $?"
[ "$(cat hosts_used)" = n1:1,n2:1 ] || fail "slurm: $(cat hosts_used)"

# Where no smaller layout can be, the end is 6 and the run can go on.
again
printf 'a slots=1\nb slots=1\n' >hosts.txt
launch --set parallel.tensor=2 --run fixed >out 2>err
code=$?
[ "$code" = 6 ] || fail "fixed: exit $code"
grep -q 'no smaller layout is allowed' err || fail "fixed: not said"
rm dead.b
launch --set parallel.tensor=2 --run fixed >out 2>err || fail "fixed: going on"

# What is not tried again, and what there is nothing of.
"$lockstep" launch "$recipe" >out 2>err
[ $? = 2 ] || fail "without hosts: exit code"
launch --np 2 >out 2>err
[ $? = 2 ] || fail "two kinds of hosts: exit code"
# What cannot be started is not tried at all, nor does it make a run's folder.
: >shut
for program in /no/such no_such_mpirun ./shut .; do
  "$lockstep" launch "$recipe" --np 1 --mpirun "$program" "${small[@]}" \
    --run none >out 2>err
  [ $? = 2 ] || fail "mpirun $program: exit code"
  grep -qF -- "--mpirun $program" err || fail "mpirun $program: not said"
  grep -q ': attempt' err && fail "mpirun $program: tried"
  [ -e none ] && fail "mpirun $program: a folder"
done
# What only the kernel can tell, an interpreter that is not there, is said.
echo '#!/no/such' >odd && chmod +x odd
"$lockstep" launch "$recipe" --np 1 --mpirun ./odd --retries 0 "${small[@]}" \
  --run none >out 2>err
[ $? = 6 ] || fail "no interpreter: exit code"
grep -q './odd cannot be run: No such file' err || fail "no interpreter: not said"
grep -q 'not tried again (--retries 0)' err || fail "no interpreter: how often"

echo "$failures failures"
[ "$failures" = 0 ]
