"""Holds the SentencePiece tokenizer against Python's own `sentencepiece`.

    check_sentencepiece.py
        the golden model: its ids for the golden texts, as the committed file has them
    check_sentencepiece.py --record
        the same, and writes golden/sentencepiece_ids.json
    check_sentencepiece.py --model M.model --tokens PREFIX --text FILE...
        token files that `lockstep data prepare --tokenizer M.model` made of these files, in their order, one document each:
        every id must be Python's for the whole document, and the decoded bytes must be the file

Bytes that are no UTF-8, zero bytes and U+2581 are not compared: the library loses them, the trainer keeps them.
Exit status 1 if an id differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import sentencepiece

GOLDEN = Path(__file__).resolve().parent / "golden"
IDS = GOLDEN / "sentencepiece_ids.json"
TEXTS = [
    "",
    "Hello, world.",
    "  two  spaces,   three, and a tab\there ",
    "one\ntwo\n\nthree\r\nfour\n\n\n\nfive",
    "\n",
    "\n\nleading newlines",
    "0123456789 and 3.14159",
    "caf\u00e9, na\u00efve, \u00c5ngstr\u00f6m, \u4f60\u597d, \U0001f600, e\u0301",
    "<s> </s> <unk> <0x41> are text here",
    "The state of the people is the health of the state, and of the anarchist.",
    "x" * 300,
]


def load(path: Path) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def golden_ids() -> list[dict]:
    model = load(GOLDEN / "sentencepiece.model")
    return [{"text": text, "ids": model.encode(text)} for text in TEXTS]


def check_golden(record: bool) -> bool:
    cases = golden_ids()
    if record:
        IDS.write_text(json.dumps({"made_by": f"check_sentencepiece.py, sentencepiece {sentencepiece.__version__}",
                                   "cases": cases}, indent=1) + "\n")
    same = json.loads(IDS.read_text())["cases"] == cases
    print(f"golden: {len(cases)} texts, {sum(len(c['ids']) for c in cases)} ids, {'equal' if same else 'DIFFERENT'}")
    return same


def documents(prefix: Path) -> list[np.ndarray]:
    """The documents of a token file pair, by its grammar (data/FORMAT.md)."""
    index = prefix.with_suffix(".idx").read_bytes()
    kind, sequences, bounds = index[17], *np.frombuffer(index[18:34], "<u8")
    tokens = np.fromfile(prefix.with_suffix(".bin"), {8: "<u2", 4: "<i4"}[kind])
    offsets = np.frombuffer(index, "<i8", sequences, 34 + 4 * int(sequences)) // tokens.itemsize
    starts = np.frombuffer(index, "<i8", bounds, 34 + 12 * int(sequences))
    edges = [*offsets[starts[:-1]], len(tokens)]
    return [tokens[a:b] for a, b in zip(edges[:-1], edges[1:])]


def check_tokens(model_path: Path, prefix: Path, texts: list[Path]) -> bool:
    model = load(model_path)
    ours = documents(prefix)
    assert len(ours) == len(texts), f"{len(ours)} documents, {len(texts)} files"
    compared = differ = 0
    for tokens, path in zip(ours, texts):
        text = path.read_bytes().decode()
        theirs = np.array([*model.encode(text), model.eos_id()])
        equal = len(tokens) == len(theirs) and bool((tokens == theirs).all())
        if not equal:
            at = next((i for i, (a, b) in enumerate(zip(tokens, theirs)) if a != b), min(len(tokens), len(theirs)))
            print(f"{path}: {len(tokens)} ids, Python has {len(theirs)}; first difference at {at}")
        if model.decode(tokens[:-1].tolist()) != text:
            print(f"{path}: decodes to another text")
            equal = False
        differ += not equal
        compared += len(theirs)
    print(f"{len(texts)} documents, {compared} ids, {differ} documents differ")
    return differ == 0 and compared > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--tokens", type=Path)
    parser.add_argument("--text", type=Path, nargs="+")
    args = parser.parse_args()
    sound = check_tokens(args.model, args.tokens, args.text) if args.model else check_golden(args.record)
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
