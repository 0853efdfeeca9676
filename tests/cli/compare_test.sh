#!/bin/bash
# The verbs that hold runs against each other, as commands: exit codes, JSON.
# Their runs are trained once, in seconds.
source tests/cli/expect.sh "$1"

numbers=(--baseline 2.412,2.418,2.409,2.416 --candidate)
expect 0 '^improved: ' "$lockstep" compare "${numbers[@]}" 2.405,2.411,2.404,2.409 --min-effect 0.003
expect 0 '"verdict":"improved","delta":0.006' \
  "$lockstep" compare "${numbers[@]}" 2.405 2.411 2.404,2.409 --min-effect 0.003 --json
expect 1 '^inconclusive: ' "$lockstep" compare --baseline 2.404 --candidate 2.400 --min-effect 0.003
expect 1 '^regressed: ' "$lockstep" compare "${numbers[@]}" 2.505,2.511,2.504,2.509 --min-effect 0.003
expect 0 '^equivalent: ' "$lockstep" compare "${numbers[@]}" 2.412,2.418,2.409,2.416 --min-effect 0.03
expect 2 'neither a run' "$lockstep" compare "${numbers[@]}" no/such/run --min-effect 0.003
expect 2 'neither a run' "$lockstep" compare "${numbers[@]}" 0x2,1e300 --min-effect 0.003
expect 2 'min-effect' "$lockstep" compare "${numbers[@]}" 2.4
expect 2 'min-effect' "$lockstep" compare "${numbers[@]}" 2.4 --min-effect -1

sets=(--set train.steps=2 --set schedule.warmup=1 --set data.sequence=32)
allowed=(--allow dirty --reason test)
expect 0 '"seeds":2' "$lockstep" seeds "$recipe" --seeds 2 "${sets[@]}" \
  "${allowed[@]}" --runs spread --out spread.json --json
expect 0 'done before' "$lockstep" seeds "$recipe" --seeds 2 "${sets[@]}" \
  "${allowed[@]}" --runs spread --out spread.json
expect 1 'inconclusive' "$lockstep" compare --baseline spread/seed_1 \
  --candidate spread/seed_2 --min-effect 1e-9 --spread spread.json
expect 0 'identity' "$lockstep" seeds "$recipe" --seeds 1 "${sets[@]}" \
  "${allowed[@]}" --runs other --set optimizer.lr=1e-3 --quiet
arms=(--baseline spread/seed_1 other/seed_1 --candidate spread/seed_2)
expect 3 'optimizer.lr' "$lockstep" compare "${arms[@]}" --min-effect 0.01
expect 1 'UNMATCHED' "$lockstep" compare "${arms[@]}" --min-effect 0.01 \
  --allow-unmatched 'to see it'

expect 0 '^equal: ' "$lockstep" diff spread/seed_1 spread/seed_1
expect 1 '^differs: ' "$lockstep" diff spread/seed_1 spread/seed_2
expect 1 '"verdict":"differs","step":1' \
  "$lockstep" diff spread/seed_1 other/seed_1 --json
expect 2 'no run' "$lockstep" diff spread/seed_1 spread
finish 19
