#!/usr/bin/env bash
# Makes the virtual environment of the oracle scripts. Safe to run again: pip does only what is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
env=${1:-${LOCKSTEP_ORACLE_ENV:-/opt/lockstep-oracle}}

[ -x "$env/bin/pip" ] || "${PYTHON:-python3}" -m venv "$env"
"$env/bin/pip" install --quiet --requirement "$here/requirements.txt"
# Only its token-file writer is used, which needs torch and numpy alone.
"$env/bin/pip" install --quiet --no-deps megatron-core==0.16.1
"$env/bin/python" -c 'import torch, transformers as t; print("torch", torch.__version__, "transformers", t.__version__)'
