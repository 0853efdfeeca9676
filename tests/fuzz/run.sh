#!/bin/bash
# Every parser under libFuzzer for SECONDS each: run.sh SECONDS FOLDER [NAME...].
# Finds go to FOLDER/NAME; the last line of each says how much was run and how
# much of the code is covered. Build first: README.md. A window of Zstandard's may be
# 2 GiB (data/FORMAT.md), which nothing touches before it is filled.
set -u
seconds=$1
folder=$2
shift 2
binaries=bazel-bin/tests/fuzz
names=("$@")
[ ${#names[@]} = 0 ] && mapfile -t names < <(ls tests/fuzz/corpus)
failed=0
for name in "${names[@]}"; do
  mkdir -p "$folder/$name/corpus"
  nice -n 15 "$binaries/fuzz_$name" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -malloc_limit_mb=2304 -max_len=8192 -print_final_stats=1 \
    -artifact_prefix="$folder/$name/" "$folder/$name/corpus" \
    "tests/fuzz/corpus/$name" >"$folder/$name/log" 2>&1
  code=$?
  [ $code = 0 ] || failed=1
  covered=$(grep -o 'cov: [0-9]* ft: [0-9]*' "$folder/$name/log" | tail -n 1)
  runs=$(sed -n 's/stat::number_of_executed_units: *//p' "$folder/$name/log")
  echo "$name: exit $code, ${runs:-0} runs, $covered" \
    "$(grep -m 1 -o 'SUMMARY: .*' "$folder/$name/log")"
done
exit $failed
