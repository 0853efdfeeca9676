#!/bin/bash
# The house rules hold, and each rule fires on a bad example first: a rule that
# cannot fire proves nothing. Reads the real source tree behind the link that it
# is given.
set -eu
tidy=$(readlink -f "$1")
python3 "$tidy" --canaries "$TEST_TMPDIR/canaries"
python3 "$tidy"
