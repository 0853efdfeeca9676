"""Writes golden/: the float64 model's outputs and gradients, single layers, the optimizer and the schedules.

    make_golden.py [all | model | layers | optimizer] [--out DIR]

Inputs are drawn in float32 from fixed seeds, so that every one of them is exact in every precision that reads them;
results are float64. No tensor is a scalar of rank 0, and no file has metadata, to keep readers simple.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import platform
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

import model_fp64 as oracle

HERE = Path(__file__).resolve().parent
DENSE = oracle.Config(
    pattern="M-M*-", vocab=256, hidden=64, mamba_heads=8, mamba_head_dim=16, groups=2, state=32, chunk=32, conv=4,
    heads=4, kv_heads=2, head_dim=16, ffn=128, norm_eps=1e-5,
)
SLOW_HEAD = 2  # dt below 1e-3 at every token: shows a floor on dt.
FAST_HEAD = 5  # A = -16: decays underflow inside one chunk.


class Draw:
    """Float32 values from a fixed seed, widened."""

    def __init__(self, seed: int):
        self.rng = np.random.Generator(np.random.Philox(seed))

    def normal(self, *shape: int, std: float = 1.0, mean: float = 0.0) -> Tensor:
        return widen(self.rng.normal(mean, std, shape))

    def uniform(self, low: float, high: float, *shape: int) -> Tensor:
        return widen(self.rng.uniform(low, high, shape))

    def integers(self, high: int, *shape: int) -> Tensor:
        return torch.from_numpy(self.rng.integers(0, high, shape))


def widen(values: np.ndarray) -> Tensor:
    return torch.from_numpy(values.astype(np.float32).astype(np.float64))


def draw_parameter(draw: Draw, name: str, shape: tuple[int, ...]) -> Tensor:
    """No value at its usual start: norms are not 1, D is not 1, biases are not 0, and groups and heads all differ."""
    if name.endswith("norm.weight") or name.endswith("norm_f.weight"):
        return draw.uniform(0.5, 1.5, *shape)
    if name.endswith("embeddings.weight"):
        return draw.normal(*shape, std=0.7)
    if "conv1d" in name:
        return draw.uniform(-0.5, 0.5, *shape)
    if name.endswith("dt_bias"):
        return draw.uniform(-4.0, 0.5, *shape)
    if name.endswith("A_log"):
        return draw.uniform(-0.5, 2.0, *shape)
    if name.endswith(".D"):
        return draw.uniform(-0.5, 1.7, *shape)
    return draw.normal(*shape, std=0.8 / math.sqrt(shape[-1]))


def shape_special_heads(weights: dict[str, Tensor], prefix: str, heads: int) -> None:
    weights[prefix + "dt_bias"][SLOW_HEAD] = -8.0
    weights[prefix + "A_log"][FAST_HEAD] = float(np.float32(math.log(16.0)))
    weights[prefix + "dt_bias"][FAST_HEAD] = 0.5
    # A power of two keeps the values exact. Without this the slow head's dt would stray above 1e-3.
    weights[prefix + "in_proj.weight"][-heads + SLOW_HEAD] *= 0.125


def draw_weights(cfg: oracle.Config, seed: int) -> dict[str, Tensor]:
    draw = Draw(seed)
    weights = {name: draw_parameter(draw, name, shape) for name, shape in oracle.parameter_shapes(cfg).items()}
    for i, kind in enumerate(cfg.pattern):
        if kind == "M":
            shape_special_heads(weights, f"backbone.layers.{i}.mixer.", cfg.mamba_heads)
    return weights


def f32(x: Tensor) -> Tensor:
    return x.detach().to(torch.float32).contiguous()


def f64(x: Tensor) -> Tensor:
    return x.detach().to(torch.float64).reshape(x.shape or (1,)).contiguous()


def i32(x: Tensor) -> Tensor:
    return x.detach().to(torch.int32).contiguous()


def draw_tokens(draw: Draw, batch: int, steps: int, vocab: int) -> tuple[Tensor, Tensor]:
    tokens = draw.integers(vocab, batch, steps + 1)
    tokens[:, 3] = tokens[:, 40] = tokens[:, 41] = tokens[0, 7]  # One id met often, within and across samples.
    mask = torch.ones(batch, steps, dtype=torch.int64)
    mask[0, 5:9] = 0
    mask[1, 0] = mask[1, 33] = 0
    mask[1, -4:] = 0
    return tokens, mask


def run_model(
    weights: dict[str, Tensor], tokens: Tensor, mask: Tensor, cfg: oracle.Config, segments: Tensor | None = None
) -> dict[str, Tensor]:
    leaves = {name: value.clone().requires_grad_() for name, value in weights.items()}
    logits, hidden = oracle.forward(leaves, tokens[:, :-1], cfg, segments)
    loss = oracle.loss_sum(logits, tokens[:, 1:], mask)
    loss.backward()
    out = {
        "tokens": i32(tokens), "mask": i32(mask), "logits": f64(logits), "loss_sum": f64(loss),
        "n_tok": i32(mask.sum().reshape(1)),
    }
    out |= {f"hidden/{i}": f32(x) for i, x in enumerate(hidden)}
    out |= {f"grads/{name}": f64(value.grad) for name, value in leaves.items()}
    return out


def make_model(out: Path) -> None:
    weights = draw_weights(DENSE, seed=20)
    tokens, mask = draw_tokens(Draw(21), batch=2, steps=75, vocab=DENSE.vocab)
    dense = run_model(weights, tokens, mask, DENSE)
    save_file(dense | {f"weights/{k}": f32(v) for k, v in weights.items()}, out / "hybrid_dense.safetensors")
    DENSE.save(out / "hybrid_dense.config.json")

    # Documents that begin inside a convolution's reach of one another, at a chunk's first token and in mid-chunk.
    segments = torch.ones_like(mask)
    for sample, starts in enumerate([[10, 12, 32, 50], [31, 64, 74]]):
        for start in starts:
            segments[sample, start:] += 1
            mask[sample, start - 1] = 0  # The label after a document's last token belongs to the next document.
    reset = run_model(weights, tokens, mask, DENSE, segments) | {"segments": i32(segments)}
    # Same weights as hybrid_dense; gradients rounded to float32 to stay small.
    reset = {k: f32(v) if k.startswith("grads/") else v for k, v in reset.items()}
    save_file(reset, out / "hybrid_dense_reset.safetensors")


def record(out: dict[str, Tensor], layer: str, inputs: dict[str, Tensor], function, draw: Draw) -> None:
    """Stores a function's inputs, its output, an output cotangent and the gradient of <cotangent, output>."""
    leaves = {name: value.clone().requires_grad_() for name, value in inputs.items()}
    result = function(**leaves)
    cotangent = draw.normal(*result.shape)
    (result * cotangent).sum().backward()
    out |= {f"{layer}/in/{name}": f32(value) for name, value in inputs.items()}
    out |= {f"{layer}/out": f64(result), f"{layer}/cotangent": f32(cotangent)}
    out |= {f"{layer}/grads/{name}": f64(value.grad) for name, value in leaves.items()}


def record_norms(out: dict[str, Tensor], draw: Draw) -> None:
    x = draw.normal(3, 7, 64)
    x[0, 0] = 0.0
    x[0, 1] = f32(x[0, 1] * 1e-3).double()  # The epsilon outweighs the mean square.
    x[0, 2] = f32(x[0, 2] * 1e3).double()
    weight = draw.uniform(0.5, 1.5, 64)
    record(out, "rms_norm", {"x": x, "weight": weight}, lambda x, weight: oracle.rms_norm(x, weight, 1e-5), draw)

    inputs = {"y": draw.normal(2, 7, 64, std=2.0), "z": draw.normal(2, 7, 64, std=2.0)}
    inputs["y"][..., 32:] *= 8.0  # Groups of unequal size: a norm over all channels would show.
    inputs["weight"] = draw.uniform(0.5, 1.5, 64)
    record(out, "gated_norm", inputs, lambda y, z, weight: oracle.gated_norm(y, z, weight, 2, 1e-5), draw)


def record_mamba(out: dict[str, Tensor], draw: Draw) -> None:
    conv = {"x": draw.normal(2, 37, 24), "weight": draw.uniform(-0.5, 0.5, 24, 1, 4)}
    conv["bias"] = draw.uniform(-0.5, 0.5, 24)
    record(out, "conv_silu", conv, oracle.conv_silu, draw)

    # Head 0 has a step above 20 (softplus's linear branch), 1 a step below 1e-3, 2 a decay that underflows in a chunk.
    heads = {
        "dt_bias": torch.tensor([24.0, -8.0, 2.0, -1.5], dtype=torch.float64),
        "a_log": f32(torch.log(torch.tensor([0.004, 1.0, 16.0, 2.5]))).double(),
        "d": draw.uniform(-0.5, 1.7, 4),
    }
    scan = {"x": draw.normal(2, 75, 4, 8), "b": draw.normal(2, 75, 2, 16), "c": draw.normal(2, 75, 2, 16)}
    record(out, "ssd", scan | {"dt_raw": draw.normal(2, 75, 4, std=0.3)} | heads, oracle.ssd, draw)

    cfg = oracle.Config(
        pattern="M", vocab=1, hidden=32, mamba_heads=8, mamba_head_dim=8, groups=2, state=16, chunk=32, conv=4,
        heads=1, kv_heads=1, head_dim=1, ffn=1, norm_eps=1e-5,
    )
    weights = {name: draw_parameter(draw, "." + name, shape) for name, shape in oracle.layer_shapes(cfg, "M").items()}
    shape_special_heads(weights, "", cfg.mamba_heads)
    record(out, "mamba2", {"u": draw.normal(2, 75, 32)} | weights, lambda u, **w: oracle.mamba2(u, w, cfg), draw)


def record_attention_and_mlp(out: dict[str, Tensor], draw: Draw) -> None:
    core = {"q": draw.normal(2, 37, 4, 16), "k": draw.normal(2, 37, 2, 16), "v": draw.normal(2, 37, 2, 16)}
    core["q"][1, 20] *= 32.0  # A softmax that is nearly one-hot, with scores past 100.
    record(out, "attention_core", core, oracle.attention_core, draw)

    for layer, kind, function in (
        ("attention", "*", lambda u, **w: oracle.attention(u, w, DENSE)),
        ("mlp", "-", lambda u, **w: oracle.mlp(u, w)),
    ):
        shapes = oracle.layer_shapes(DENSE, kind)
        weights = {name: draw_parameter(draw, "." + name, shape) for name, shape in shapes.items()}
        record(out, layer, {"u": draw.normal(2, 37, 64)} | weights, function, draw)


def record_cross_entropy(out: dict[str, Tensor], draw: Draw) -> None:
    logits = draw.normal(2, 9, 50, std=2.0)
    logits[0, 1, 7] = 120.0  # exp overflows in fp32 unless the maximum is taken out.
    logits[0, 2] -= 200.0
    logits = f32(logits).double().requires_grad_()
    labels = draw.integers(50, 2, 9)
    labels[0, 1] = 7
    mask = torch.ones(2, 9, dtype=torch.int64)
    mask[0, 4] = mask[1, 8] = 0
    loss = oracle.loss_sum(logits, labels, mask)
    loss.backward()
    out |= {
        "cross_entropy/in/logits": f32(logits), "cross_entropy/in/labels": i32(labels),
        "cross_entropy/in/mask": i32(mask),
        "cross_entropy/out": f64(loss), "cross_entropy/grads/logits": f64(logits.grad),
    }


def make_layers(out: Path) -> None:
    tensors: dict[str, Tensor] = {}
    record_norms(tensors, Draw(30))
    record_mamba(tensors, Draw(31))
    record_attention_and_mlp(tensors, Draw(32))
    record_cross_entropy(tensors, Draw(33))
    save_file(tensors, out / "layers.safetensors")


def decay_factor(shape: str, r: float) -> float:
    """Share of (max - min) left after the fraction r of the decay."""
    return {
        "linear": 1 - r,
        "cosine": 0.5 * (1 + math.cos(math.pi * r)),
        "exponential": 2 * 0.5**r - 1,
        "minus_sqrt": 1 - math.sqrt(r),
    }[shape]


def learning_rate(kind: str, shape: str, n: int, s: dict[str, float]) -> float:
    """The rate after n samples, for schedules 'cosine' (decays from the warm-up on) and 'wsd' (holds, then decays)."""
    if n <= s["warmup"]:
        return s["init"] + (s["max"] - s["init"]) * n / s["warmup"]
    if n > s["total"]:
        return s["min"]
    start = s["warmup"] if kind == "cosine" else s["total"] - s["decay"]
    if n <= start:
        return s["max"]
    return s["min"] + (s["max"] - s["min"]) * decay_factor(shape, (n - start) / (s["total"] - start))


SCHEDULE = {"init": 1e-6, "max": 4.5e-4, "min": 4.5e-6, "warmup": 500, "total": 10000, "decay": 2000}
SCHEDULES = [("cosine", "cosine")] + [("wsd", shape) for shape in ("linear", "cosine", "exponential", "minus_sqrt")]


def schedule_points() -> list[int]:
    """200 counts of samples: the turning points and their neighbours, the rest spread evenly past the end."""
    edges = {0, 1, 499, 500, 501, 7999, 8000, 8001, 9999, 10000, 10001}
    spread = [round(i * 11000 / 300) for i in range(301)]
    step = len(spread) / (200 - len(edges))
    chosen = edges | {spread[int(i * step)] for i in range(200 - len(edges))}
    extra = (n for n in range(7, 10**6, 11) if n not in chosen)
    while len(chosen) < 200:
        chosen.add(next(extra))
    return sorted(chosen)


def make_schedules() -> dict[str, Tensor]:
    points = schedule_points()
    out = {"schedule/samples": torch.tensor(points, dtype=torch.int32)}
    out |= {f"schedule/{name}": f64(torch.tensor([value], dtype=torch.float64)) for name, value in SCHEDULE.items()}
    for kind, shape in SCHEDULES:
        rates = [learning_rate(kind, shape, n, SCHEDULE) for n in points]
        name = kind if kind == shape else f"{kind}_{shape}"
        out[f"schedule/rate/{name}"] = torch.tensor(rates, dtype=torch.float64)
    return out


def make_adamw() -> dict[str, Tensor]:
    """torch.optim.AdamW in float64: 'matrix' decays, 'vector' does not; the gradients' common norm is clipped at 1."""
    draw = Draw(40)
    params = {"matrix": draw.normal(7, 5), "vector": draw.normal(11)}
    params = {name: value.requires_grad_() for name, value in params.items()}
    optimizer = torch.optim.AdamW(
        [{"params": [params["matrix"]], "weight_decay": 0.1}, {"params": [params["vector"]], "weight_decay": 0.0}],
        lr=1.0, betas=(0.9, 0.95), eps=1e-8, foreach=False,
    )
    log: dict[str, list[Tensor]] = {}
    start = {f"adamw/start/{name}": f32(value) for name, value in params.items()}
    for step in range(20):
        rate = 1e-2 * (step + 1) / 5 if step < 5 else 1e-2 * (1 - (step - 5) / 30)
        size = (0.02, 0.6)[step % 2]  # Even steps stay under the clipping norm, odd ones pass it.
        for group in optimizer.param_groups:
            group["lr"] = rate
        for name, value in params.items():
            value.grad = draw.normal(*value.shape, std=size)
            if step in (4, 12):
                value.grad[0] = 0.0
            log.setdefault(f"grad/{name}", []).append(f32(value.grad))
        # Multiplies by min(1, 1 / (norm + 1e-6)).
        norm = torch.nn.utils.clip_grad_norm_(list(params.values()), max_norm=1.0)
        optimizer.step()
        log.setdefault("norm", []).append(f64(norm)[0])
        log.setdefault("rate", []).append(torch.tensor(rate, dtype=torch.float64))
        for name, value in params.items():
            log.setdefault(f"param/{name}", []).append(value.detach().clone())
            log.setdefault(f"m/{name}", []).append(optimizer.state[value]["exp_avg"].clone())
            log.setdefault(f"v/{name}", []).append(optimizer.state[value]["exp_avg_sq"].clone())
    return start | {f"adamw/{key}": torch.stack(values) for key, values in log.items()}


def make_optimizer(out: Path) -> None:
    save_file(make_adamw() | make_schedules(), out / "adamw.safetensors")


def note_version(out: Path, files: list[str], command: str, **versions: str) -> None:
    """Records in versions.json what made which files."""
    path = out / "versions.json"
    notes = json.loads(path.read_text()) if path.exists() else {}
    entry = {
        "command": command, "date": datetime.date.today().isoformat(), "python": platform.python_version(),
        "numpy": np.__version__, "torch": torch.__version__, **versions,
    }
    notes |= {name: entry for name in files}
    path.write_text(json.dumps(notes, indent=1, sort_keys=True) + "\n")


MAKERS = {
    "model": (make_model, ["hybrid_dense.safetensors", "hybrid_dense.config.json", "hybrid_dense_reset.safetensors"]),
    "layers": (make_layers, ["layers.safetensors"]),
    "optimizer": (make_optimizer, ["adamw.safetensors"]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="all", choices=["all", *MAKERS])
    parser.add_argument("--out", type=Path, default=HERE / "golden")
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    for name, (make, files) in MAKERS.items():
        if args.what in ("all", name):
            make(args.out)
            note_version(args.out, files, f"make_golden.py {name}")


if __name__ == "__main__":
    main()
