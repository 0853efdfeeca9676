#!/bin/bash
# The page of a bisection in a browser: nothing on it complains, nothing on it
# asks the network, and what it is to show is in the document that the browser
# made of it. Skips where there is no Chromium.
set -u
. tests/cli/expect.sh

for name in chromium chromium-browser google-chrome; do
  browser=$(command -v "$name") && break
done
if [[ -z $browser ]]; then
  echo "SKIPPED: none of chromium, chromium-browser, google-chrome is here"
  exit 0
fi

# A host that the browser itself looks for is not found either.
render() { # PAGE: its document in dom, complaints in console, requests in asked
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync \
    --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir="$PWD/profile" \
    --enable-logging=stderr --log-net-log="$PWD/net.json" \
    --dump-dom "file://$PWD/$1" >dom 2>log || fail "$browser: exit $?"
  grep 'CONSOLE' log >console
  # What the browser asks for on its own account has no origin.
  grep -o '"initiator":"[^"]*"' net.json | grep -v '"not an origin"' >asked
  grep -q '"constants"' net.json || fail "no record of requests"
}
none() { # FILE WHAT
  checks=$((checks + 1))
  [[ ! -s $1 ]] || fail "$2: $(head -n 3 "$1")"
}
# PATTERN is in the document.
shows() {
  checks=$((checks + 1))
  grep -qE -- "$1" dom || fail "the document lacks '$1'"
}

small() { # RUN, options...
  local run=$1
  shift
  expect 0 '^unseed ' train --run "$run" --set train.steps=4 \
    --set schedule.warmup=1 --set model.hidden=32 --set data.sequence=32 \
    --set guarantee=layout_invariant --set checkpoint.every=2 --threads 1 "$@"
}
at=step=3,at=layers.1.mixer.down_proj.forward,element=31,bit=22,sample=16
small one
small broken --fault "kind=flip,$at"
small two --ranks 2 --set parallel.tensor=2 --fault "kind=flip,$at"
small once --fault "kind=flip,replayed=no,$at"

# rows: what both timelines have, by the classes of the style sheet.
both_runs() { # A B
  shows "<b>A</b> <code>$1</code> steps 1 to 4, 2 checkpoints"
  shows "<b>B</b> <code>$2</code> steps 1 to 4, 2 checkpoints"
  shows 'step 3 is the first that differs'
  checks=$((checks + 1))
  local class
  for class in 'same' 'apart'; do
    [[ $(grep -c "<rect class=\"$class\"" dom) == 2 ]] || fail "rows of $class"
  done
}
tree() {
  shows '<summary class="row"><span class="scope strong">forward</span>'
  shows '<span class="scope strong">down_proj</span>.*class="cell origin"'
  shows '<span class="scope">up_proj</span>.*class="cell equal"'
}

for other in broken two once; do
  expect 1 "^page: $other.html" "$lockstep" bisect one "$other" \
    --html "$other.html"
  render "$other.html"
  none console "$other.html complains"
  none asked "$other.html asks"
  both_runs one "$other"
  [[ $other == once ]] && shows 'There is no pair of traces' || tree
done

# The canary: a page that complains and asks is seen to.
sed 's|</main>|<img src="http://127.0.0.1:9/x.png" /><script>nosuch()</script>&|' \
  broken.html >canary.html
render canary.html
checks=$((checks + 2))
grep -q 'nosuch is not defined' console || fail "a complaint was not seen"
[[ -s asked ]] || fail "a request was not seen"

finish 34
