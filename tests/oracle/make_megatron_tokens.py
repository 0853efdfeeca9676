"""Writes the corpus in golden/corpus as token files, with megatron-core's own writer.

One file is one document, files in the order of their names as bytes. Tokens are the document's bytes; EOD follows each.

    megatron_small           uint16, the type megatron-core picks for this vocabulary; an empty document is [EOD]
    megatron_small_int32     the same tokens, as for a large vocabulary
    megatron_small_uint8     without EOD, which does not fit: an empty document is a sequence of length 0
    megatron_small_skip      uint16; the empty document has no sequence at all, as from preprocess_data
"""

from __future__ import annotations

import argparse
from pathlib import Path

import megatron.core
import numpy as np
from megatron.core.datasets.indexed_dataset import DType, IndexedDataset, IndexedDatasetBuilder

import make_golden

HERE = Path(__file__).resolve().parent
VOCABULARY = 257
EOD = 256


def documents(folder: Path) -> list[list[int]]:
    return [list(path.read_bytes()) for path in sorted(folder.glob("*.txt"), key=lambda path: path.name.encode())]


def write(prefix: Path, docs: list[list[int]], dtype: type, skip_empty: bool = False) -> None:
    builder = IndexedDatasetBuilder(f"{prefix}.bin", dtype=dtype)
    for tokens in docs:
        builder.add_document(tokens, [] if skip_empty and not tokens else [len(tokens)])
    builder.finalize(f"{prefix}.idx")


def read_back(prefix: Path) -> list[list[int]]:
    """Documents as megatron-core's reader sees them."""
    data = IndexedDataset(str(prefix))
    bounds = data.document_indices
    return [[int(t) for s in range(a, b) for t in data[s]] for a, b in zip(bounds[:-1], bounds[1:])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "golden")
    args = parser.parse_args()
    raw = documents(HERE / "golden" / "corpus")
    ended = [tokens + [EOD] for tokens in raw]
    ended_unless_empty = [tokens + [EOD] if tokens else [] for tokens in raw]

    assert DType.optimal_dtype(VOCABULARY) is np.uint16
    files = {
        "megatron_small": (ended, np.uint16, False),
        "megatron_small_int32": (ended, np.int32, False),
        "megatron_small_uint8": (raw, np.uint8, False),
        "megatron_small_skip": (ended_unless_empty, np.uint16, True),
    }
    for name, (docs, dtype, skip_empty) in files.items():
        write(args.out / name, docs, dtype, skip_empty)
        assert read_back(args.out / name) == docs, name
        print(f"{name}: {len(docs)} documents, {sum(map(len, docs))} tokens")
    make_golden.note_version(
        args.out, [f"{name}.{end}" for name in files for end in ("bin", "idx")], "make_megatron_tokens.py",
        megatron_core=megatron.core.__version__,
    )


if __name__ == "__main__":
    main()
