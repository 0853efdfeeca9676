#!/bin/bash
# Fails unless every operation has three sets of machine code: the same functions
# at each level, each a definition of its own, with no vector register wider than
# SSE's in the scalar one, ymm but no zmm in the avx2 one, zmm but no tile in the
# avx512 one, and tiles in the amx one, where an operation has that. What a level's name in a trace says is then what ran. Dies of an archive
# that is missing, unreadable, or empty, and of a count that is not the expected.
#
#   levels_code_test.sh COUNT ARCHIVE...   .../lib<op>_kernel_<level>.a, COUNT
#                                          operations
set -u
expected=$1
shift

archive_of() {  # operation, level, archives
  local operation=$1 level=$2 archive
  shift 2
  for archive in "$@"; do
    [[ $archive == */lib${operation}_kernel_${level}.a ]] && echo "$archive"
  done
}

# The functions that dispatch may take, without their level.
functions_of() {  # archive, level
  nm -C --defined-only "$1" 2>/dev/null | sed -n "s/^[0-9a-f]* T lockstep::$2::/ /p" |
    sort
}

# Widest registers in the code, in width_of[archive]: 0, 256, 512 or "tile".
declare -A width_of
measure() {  # archive
  [[ ${width_of[$1]-} ]] && return
  width_of[$1]=$(objdump -d --no-show-raw-insn "$1" | awk '
    /%ymm/ { ymm = 1 }
    /%zmm/ { zmm = 1 }
    /%tmm/ { tmm = 1 }
    END { print tmm ? "tile" : zmm ? 512 : ymm ? 256 : 0 }')
}

check() {  # operation, archives of scalar, avx2, avx512, and amx if there is one
  local want level width functions operation=$1
  shift
  want=$(functions_of "$1" scalar)
  [[ $want ]] || { echo "$operation: no functions at the scalar level"; return 1; }
  for level in scalar:0 avx2:256 avx512:512 amx:tile; do
    [[ $level == amx:* && $# == 0 ]] && return
    [[ -s ${1-} ]] || { echo "$operation: no archive of $level"; return 1; }
    functions=$(functions_of "$1" "${level%:*}")
    if [[ $functions != "$want" ]]; then
      echo "$operation: ${level%:*} has other functions: $functions, not $want"
      return 1
    fi
    measure "$1"
    width=${width_of[$1]}
    if [[ $width != "${level#*:}" ]]; then
      echo "$operation: ${level%:*} has registers of width $width, not ${level#*:}"
      return 1
    fi
    shift
  done
}

status=0
count=0
for scalar in "$@"; do
  [[ $scalar == *_kernel_scalar.a ]] || continue
  operation=$(basename "$scalar" _kernel_scalar.a)
  operation=${operation#lib}
  avx2=$(archive_of "$operation" avx2 "$@")
  avx512=$(archive_of "$operation" avx512 "$@")
  amx=$(archive_of "$operation" amx "$@")
  # shellcheck disable=SC2086
  check "$operation" "$scalar" "$avx2" "$avx512" $amx || status=1
  # The canaries: a level in another's place.
  for wrong in "$scalar $scalar $avx512" "$scalar $avx2 $avx2" "$avx2 $avx2 $avx512" \
    "$scalar $avx2 $avx512 $avx512"; do
    # shellcheck disable=SC2086
    if check "$operation" $wrong >/dev/null; then
      echo "$operation: a level in another's place is not seen"
      status=1
    fi
  done
  count=$((count + 1))
done
if [[ $count != "$expected" ]]; then
  echo "$expected operations expected, $count seen"
  status=1
fi
echo "$count operations, of each three levels at least"
exit $status
