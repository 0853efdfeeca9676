#!/bin/bash
# `lockstep data` as a process: where output may go, which name a pair has, and
# that verify refuses what training refuses.
set -uo pipefail

# shellcheck source=tests/cli/expect.sh
source tests/cli/expect.sh

head -c 20000 /usr/share/common-licenses/GPL-3 >text.txt
expect 2 'mkdir -p typo/deep' "$lockstep" data prepare text.txt --output typo/deep/x
expect 2 'mkdir -p typo' "$lockstep" data train-tokenizer text.txt --vocab 400 \
  --output typo/x.model
expect 2 'no such tokenizer model' "$lockstep" data prepare text.txt --output x \
  --tokenizer none.model
checks=$((checks + 1))
[[ ! -e typo && ! -e x.bin ]] || fail 'something was made'

# A pair by the name of one of its files: damage is found, not hashed anew.
expect 0 'tokens' "$lockstep" data prepare text.txt --output pair --quiet
expect 0 '"ok":true' "$lockstep" data verify pair.bin --json
printf 'x' | dd of=pair.bin bs=1 seek=99 conv=notrunc status=none
expect 1 'not what was written' "$lockstep" data verify pair.bin
expect 1 '"ok":false' "$lockstep" data verify pair --json

# Shards of llm.c: a header of 256 int32 (magic, version, count), then tokens.
shard() { # NAME MAGIC VERSION COUNT BYTES
  python3 -c 'import struct, sys
magic, version, count, size = map(int, sys.argv[1:])
sys.stdout.buffer.write(struct.pack("<3i", magic, version, count).ljust(1024, b"\0") + b"\1\0" * (size // 2))' \
    "$2" "$3" "$4" "$5" >"$1"
}
mkdir mixed none sound
shard mixed/a.bin 20240520 1 4 8
shard mixed/b.bin 20240801 7 2 8
shard none/a.bin 20240520 1 0 0
shard sound/a.bin 20240520 1 4 8
for verb in inspect verify; do
  expect 2 'uint16 and of uint32' "$lockstep" data $verb mixed
  expect 2 'hold no tokens' "$lockstep" data $verb none
done
checks=$((checks + 1))
[[ ! -e none/a.blocks && ! -e mixed/a.blocks ]] || fail 'refused, and adopted'
expect 0 'written now' "$lockstep" data verify sound
expect 0 'every block holds' "$lockstep" data verify sound

echo "$checks checks, $failures failures"
[[ $failures == 0 && $checks -ge 15 ]]
