"""Runs a trained checkpoint in transformers and compares its held-out loss with the one that `lockstep eval` prints.

The masters of the checkpoint's shard are the weights; the held-out documents are the last tokens of the run's token
file. Windows are those of the trainer: sample s is tokens sT to sT+T inclusive, the last one padded and masked.

  check_checkpoint.py --checkpoint RUN/checkpoints/step_00000020 --sizes sizes.json --bin RUN/data/text-KEY.bin \
      --held-out-tokens 4590 --sequence 64 --loss 4.041076
"""
import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.torch import load_file

from check_transformers import hf_config, load_model, write_folder
from model_fp64 import Config

PREFIX, SUFFIX = "parameters/", ".master"


def read_masters(checkpoint: Path) -> dict[str, torch.Tensor]:
    tensors = load_file(checkpoint / "rank_00000.safetensors")
    return {
        name.removeprefix(PREFIX).removesuffix(SUFFIX): value
        for name, value in tensors.items()
        if name.startswith(PREFIX) and name.endswith(SUFFIX)
    }


def held_out_loss(model: torch.nn.Module, tokens: torch.Tensor, sequence: int) -> float:
    """Mean loss in nats over every label of the held-out tokens, summed in float64."""
    total, labels = 0.0, 0
    with torch.no_grad():
        for start in range(0, len(tokens) - 1, sequence):
            window = tokens[start : start + sequence + 1]
            logits = model(input_ids=window[None, :-1], use_cache=False).logits[0].double()
            total += torch.nn.functional.cross_entropy(logits, window[1:], reduction="sum").item()
            labels += len(window) - 1
    return total / labels


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--sizes", type=Path, required=True, help="as golden/hybrid_dense.config.json")
    parser.add_argument("--bin", type=Path, required=True, help="uint16 token file")
    parser.add_argument("--held-out-tokens", type=int, required=True)
    parser.add_argument("--sequence", type=int, required=True)
    parser.add_argument("--loss", type=float, required=True, help="what lockstep eval printed")
    args = parser.parse_args()
    torch.set_num_threads(1)
    tokens = np.fromfile(args.bin, dtype="<u2")[-args.held_out_tokens :]
    with tempfile.TemporaryDirectory() as name:
        write_folder(Path(name), read_masters(args.checkpoint), hf_config(Config.load(args.sizes)))
        model = load_model(Path(name), chunk_size=args.sequence)
        theirs = held_out_loss(model, torch.from_numpy(tokens.astype(np.int64)), args.sequence)
    relative = abs(theirs - args.loss) / args.loss
    print(f"transformers {transformers.__version__}: {theirs:.6f}, lockstep {args.loss:.6f}, relative {relative:.1e}")
    return 0 if relative <= 1e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
