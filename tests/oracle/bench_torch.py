"""The training step of a recipe in PyTorch, for `lockstep bench step --peer "PYTHON tests/oracle/bench_torch.py"`.

The bench appends `--threads N --shape FILE`. Then one line a step, so that both sides take turns on the same cores: this
script prints `ready NAME`, and for each line it reads runs one step and prints its seconds. At the end of its input it
ends. `--mode eager`, `compile` or `best`: the quicker of the two on this machine, tried before `ready`. `--check` compares the
model with the golden files, in float32, and does nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import torch

from model_fp64 import Config
from torch_model import Model

GOLDEN = Path(__file__).parent / "golden"


class Step:
    """Forward and backward of every micro-batch, clipping, AdamW on float32 masters, weights rounded from them."""

    def __init__(self, shape: dict, compiled: bool):
        torch.manual_seed(1)
        self.shape = shape
        self.name = "compiled" if compiled else "eager"
        low = {"bf16": torch.bfloat16, "fp32": torch.float32}[shape["precision"]]
        self.model = Model(Config(**shape["model"]))
        for p in self.model.parameters():
            if p.dim() == 2:
                torch.nn.init.normal_(p, std=0.02)
        self.masters = [torch.nn.Parameter(p.detach().clone()) for p in self.model.parameters()]
        self.model.to(low)
        self.weights = list(self.model.parameters())
        self.optimizer = torch.optim.AdamW(self.masters, lr=1e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
        self.loss = torch.compile(self.model.loss) if compiled else self.model.loss
        rows = (shape["samples"], shape["tokens"] + 1)
        self.tokens = torch.randint(shape["model"]["vocab"], rows)

    def __call__(self) -> float:
        start = time.perf_counter()
        micro = self.shape["micro"]
        for first in range(0, len(self.tokens), micro):
            part = self.tokens[first : first + micro]
            self.loss(part[:, :-1], part[:, 1:].contiguous()).backward()
        count = self.shape["samples"] * self.shape["tokens"]
        for master, weight in zip(self.masters, self.weights):
            master.grad = weight.grad.float().div_(count)
            weight.grad = None
        torch.nn.utils.clip_grad_norm_(self.masters, 1.0, foreach=True)
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_copy_(self.weights, self.masters)
        return time.perf_counter() - start


def best_step(shape: dict, mode: str) -> Step:
    candidates = []
    for compiled in {"eager": [False], "compile": [True], "best": [False, True]}[mode]:
        try:
            step = Step(shape, compiled)
            step()
            candidates.append((min(step() for _ in range(2)), step))
        except Exception as error:  # Whatever a compiler may raise: the other mode counts then.
            print(f"bench_torch: compiled={compiled} did not run: {error!r}", file=sys.stderr)
            if mode != "best":
                raise
    for seconds, step in candidates:
        print(f"bench_torch: {step.name} {seconds:.3f} s", file=sys.stderr)
    if not candidates:
        raise SystemExit("bench_torch: neither mode ran; the lines above say why")
    return min(candidates, key=lambda candidate: candidate[0])[1]


def check() -> None:
    from safetensors.torch import load_file

    cfg = Config.load(GOLDEN / "hybrid_dense.config.json")
    golden = load_file(GOLDEN / "hybrid_dense.safetensors")
    model = Model(cfg)
    weights = {name: golden["weights/" + name].float() for name in model.state_dict()}
    model.load_state_dict(weights)
    tokens = golden["tokens"].long()
    logits = model(tokens[:, :-1])
    mask = golden["mask"].bool()
    loss = torch.nn.functional.cross_entropy(logits[mask], tokens[:, 1:][mask], reduction="sum")
    loss.backward()
    worst = 0.0
    for name, parameter in model.named_parameters():
        want = golden["grads/" + name].double()
        worst = max(worst, ((parameter.grad - want).abs().max() / want.abs().max()).item())
    want = golden["logits"].double()
    error = ((logits - want).abs().max() / want.abs().max()).item()
    print(f"logits {error:.1e}, worst gradient of a parameter {worst:.1e} (of the largest entry)")
    if error > 1e-5 or worst > 1e-4:
        raise SystemExit("bench_torch: not the model of the golden files")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--mode", choices=["eager", "compile", "best"], default="best")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.check:
        return check()
    step = best_step(json.loads(options.shape.read_text()), options.mode)
    print(f"ready PyTorch {torch.__version__}, {step.name}", flush=True)
    for _ in sys.stdin:
        print(repr(step()), flush=True)


if __name__ == "__main__":
    main()
