#!/bin/bash
# A corpus blended from four Debian packages trains; a document of one repeated
# byte, planted in a copy of one source, makes the loss spike; `explain` of the
# step with the spike names it. Minutes, and a download: run by hand, from the
# working tree (tests/README.md).
set -euo pipefail

lockstep=$PWD/$1
# The tree itself: in a sandbox or runfiles there is no corpus.
recipe=$(readlink -f recipes/blend.toml)
tree=$(dirname "$(dirname "$recipe")")
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/blend.XXXXXX")
run=$scratch/run

"$tree/tools/corpus" blend
cp -r "$tree/corpus/blend/manual" "$scratch/manual"
# Between two files of the manual, sixteen samples of a byte that no text has.
head -c 4096 /dev/zero | tr '\0' '\377' >"$scratch/manual/menu-planted.txt"

"$lockstep" train "$recipe" --run "$run" --allow dirty --reason test \
  --set data.source.2.text="$scratch/manual"

# The step furthest above the median of the five before it, once it has learnt.
spike=$(sed -n 's/.*"step":\([0-9]*\),.*"loss":\([0-9.e+-]*\),.*"lm_loss".*/\1 \2/p' \
  "$run/metrics.jsonl" | awk '
    { loss[NR] = $2; step[NR] = $1 }
    END {
      for (i = 60; i <= NR; ++i) {
        for (j = 0; j < 5; ++j) five[j] = loss[i - 1 - j]
        for (a = 0; a < 5; ++a) for (b = a + 1; b < 5; ++b)
          if (five[b] < five[a]) { t = five[a]; five[a] = five[b]; five[b] = t }
        rise = loss[i] - five[2]
        if (rise > most) { most = rise; at = i }
      }
      print step[at], loss[at], loss[at] - most
    }')
read -r step loss usual <<<"$spike"
echo "the spike: step $step, loss $loss, usual $usual"

"$lockstep" explain "$run" --step "$step" >"$scratch/text"
head -n 12 "$scratch/text"
answer=$("$lockstep" explain "$run" --step "$step" --json)
suspect=$(sed -n 's/.*"suspect":\({[^}]*}\).*/\1/p' <<<"$answer")
echo "suspect: $suspect"

failed=0
expect() { # PATTERN TEXT WHAT
  grep -qE -- "$1" <<<"$2" || { echo "FAILED: $3" && failed=1; }
}
expect '"verdict":"recurs_to_the_bit"' "$answer" "the step does not recur"
expect '"source":2,' "$suspect" "another source is suspected"
expect '"longest_run":([6-9][0-9]|[0-9]{3,})' "$suspect" \
  "the document is not the planted one"
expect "'.xFF' [0-9]+ times in a row" "$(head -n 5 "$scratch/text")" \
  "the first lines do not show it"
awk -v a="$loss" -v b="$usual" 'BEGIN { exit !(a > b + 0.25) }' ||
  { echo "FAILED: no spike" && failed=1; }
rm -rf "$scratch"
exit $failed
