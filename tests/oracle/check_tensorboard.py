"""Reads RUN/tb with TensorBoard's own reader and compares every scalar with metrics.jsonl and eval.jsonl.

  check_tensorboard.py --run RUN [--least-files 2]

The reader drops what an abandoned launch wrote beyond the step that a resume went back to, so each step of the run must
come back exactly once, in order, with the binary32 nearest to what metrics.jsonl says.
"""
import argparse
import json
import math
import struct
import sys
from pathlib import Path

import tensorboard
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader

TRAIN = ["loss", "grad_norm", "grad_norm_clipped", "lr", "loss_scale", "tokens_per_s", "mfu"]


def float32(value: float) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def expected(run: Path) -> dict[str, list[tuple[int, float]]]:
    scalars: dict[str, list[tuple[int, float]]] = {}
    for line in lines(run / "metrics.jsonl"):
        for name in TRAIN:
            if name != "lr" or not line["skipped"]:
                scalars.setdefault(f"train/{name}", []).append((line["step"], float32(line[name])))
    for line in lines(run / "eval.jsonl"):
        parts = {"eval": line} | {f"eval/source_{i}": part for i, part in enumerate(line.get("sources", []))}
        for scope, part in parts.items():
            for name in ("loss", "bits_per_byte"):
                scalars.setdefault(f"{scope}/{name}", []).append((line["step"], float32(part[name])))
    return scalars


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--least-files", type=int, default=1, help="launches that must have left a file")
    args = parser.parse_args()
    files = sorted((args.run / "tb").glob("events.out.tfevents.*"))
    records = sum(sum(1 for _ in RawEventFileLoader(str(file)).Load()) for file in files)
    reader = EventAccumulator(str(args.run / "tb"), size_guidance={"scalars": 0})
    reader.Reload()
    found = {tag: [(s.step, s.value) for s in reader.Scalars(tag)] for tag in reader.Tags()["scalars"]}
    wanted = expected(args.run)
    wrong = sorted(set(found) ^ set(wanted))
    for tag in set(found) & set(wanted):
        same = len(found[tag]) == len(wanted[tag]) and all(
            a[0] == b[0] and (a[1] == b[1] or math.isnan(a[1]) and math.isnan(b[1]))
            for a, b in zip(found[tag], wanted[tag])
        )
        if not same:
            wrong.append(f"{tag}: {found[tag][:3]}... ({len(found[tag])}), wanted {wanted[tag][:3]}... ({len(wanted[tag])})")
    points = sum(len(values) for values in found.values())
    print(f"TensorBoard {tensorboard.__version__}: {len(files)} files, {records} records, {len(found)} tags, {points} points; {len(wrong)} wrong")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 0 if not wrong and points and len(files) >= args.least_files else 1


if __name__ == "__main__":
    sys.exit(main())
