"""The bytes of a checkpoint through PyTorch, for `lockstep bench checkpoint --peer "PYTHON tests/oracle/bench_dcp.py"`.

The bench appends `--threads N --shape FILE`, FILE saying the shard it has saved and an empty folder. This script
prints `ready NAME`; for each line it reads it does one thing, the last three with torch.distributed.checkpoint, and prints its
seconds:

    open    take the shard's tensors into memory
    stall   async_save, until it returns and training could go on (the rest of it is waited for, and not counted)
    save    save, with the files synced (FileSystemWriter's own way)
    load    load into tensors that are there, from files of which the system holds nothing in memory

It has one process and no process group, as the bench has one rank. PyTorch's loader compares no hash. The first `load` is
held against the tensors that were saved. At the end of its input it ends.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

import torch
import torch.distributed.checkpoint as dcp
from safetensors.torch import load_file


class Bytes:
    def __init__(self, shape: dict, threads: int):
        self.shard = shape["shard"]
        self.folder = Path(shape["folder"])
        self.threads = threads
        self.compared = False

    def open(self) -> float:
        start = time.perf_counter()
        self.state = {name: tensor.clone() for name, tensor in load_file(self.shard).items()}
        self.room = {name: torch.zeros_like(tensor) for name, tensor in self.state.items()}
        return time.perf_counter() - start

    def writer(self) -> dcp.FileSystemWriter:
        return dcp.FileSystemWriter(self.folder, thread_count=self.threads, overwrite=True)

    def stall(self) -> float:
        start = time.perf_counter()
        saving = dcp.async_save(self.state, storage_writer=self.writer(), no_dist=True)
        seconds = time.perf_counter() - start
        saving.result()
        return seconds

    def save(self) -> float:
        start = time.perf_counter()
        dcp.save(self.state, storage_writer=self.writer(), no_dist=True)
        return time.perf_counter() - start

    def load(self) -> float:
        if not (self.folder / ".metadata").exists():
            self.save()
        for path in self.folder.iterdir():
            with open(path, "rb") as file:
                os.fdatasync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        start = time.perf_counter()
        dcp.load(self.room, storage_reader=dcp.FileSystemReader(self.folder), no_dist=True)
        seconds = time.perf_counter() - start
        if not self.compared:
            for name, tensor in self.state.items():
                if not torch.equal(self.room[name].view(torch.uint8), tensor.view(torch.uint8)):
                    raise SystemExit(f"bench_dcp: {name} came back otherwise")
            self.compared = True
        return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for known in ["torch.distributed is disabled", "Detected an existing checkpoint"]:
        warnings.filterwarnings("ignore", message=known)
    torch.set_num_threads(options.threads)
    work = Bytes(json.loads(options.shape.read_text()), options.threads)
    does = {"open": work.open, "stall": work.stall, "save": work.save, "load": work.load}
    print(f"ready PyTorch {torch.__version__}", flush=True)
    for line in sys.stdin:
        print(repr(does[line.strip()]()), flush=True)


if __name__ == "__main__":
    main()
