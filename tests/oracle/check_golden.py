"""Checks the golden files by other means than those that made them: a figure for each; exit status 1 on failure."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import SimpleNamespace

import torch
from safetensors.torch import load_file
from torch import Tensor

import make_golden
import model_fp64 as oracle

GOLDEN = Path(__file__).resolve().parent / "golden"
failures: list[str] = []


def report(what: str, error: float, limit: float) -> None:
    print(f"{what}: {error:.1e} (limit {limit:.0e})")
    if not error <= limit:
        failures.append(what)


def golden_model() -> tuple[oracle.Config, dict[str, Tensor], dict[str, Tensor]]:
    dense = load_file(GOLDEN / "hybrid_dense.safetensors")
    weights = {k.removeprefix("weights/"): v.double() for k, v in dense.items() if k.startswith("weights/")}
    return oracle.Config.load(GOLDEN / "hybrid_dense.config.json"), weights, dense


def check_finite_differences() -> None:
    """Gradients along one random direction in each parameter, against central differences."""
    cfg, weights, want = golden_model()
    ids, mask = want["tokens"].long(), want["mask"].long()
    generator = torch.Generator().manual_seed(1)
    step, worst = 1e-5, 0.0

    def loss(name: str, value: Tensor) -> Tensor:
        return oracle.loss_sum(oracle.forward(weights | {name: value}, ids[:, :-1], cfg)[0], ids[:, 1:], mask)

    for name, value in weights.items():
        direction = torch.randn(value.shape, generator=generator, dtype=torch.float64)
        direction /= direction.norm()
        with torch.no_grad():
            slope = (loss(name, value + step * direction) - loss(name, value - step * direction)) / (2 * step)
        gradient = want["grads/" + name]
        worst = max(worst, (abs(slope - (gradient * direction).sum()) / gradient.norm()).item())
    report("gradients against finite differences", worst, 1e-7)


def check_chunk_formula() -> None:
    """The chunked form of the scan, in which a trainer computes it, against the recurrence."""
    layers = load_file(GOLDEN / "layers.safetensors")
    given = {k.removeprefix("ssd/in/"): v.double() for k, v in layers.items() if k.startswith("ssd/in/")}
    heads, groups, chunk = given["x"].shape[2], given["b"].shape[2], 32
    group_of = torch.arange(heads) * groups // heads
    b, c = given["b"][:, :, group_of], given["c"][:, :, group_of]
    dt = oracle.softplus(given["dt_raw"] + given["dt_bias"])
    u, a = dt[..., None] * given["x"], -given["a_log"].exp() * dt
    state = torch.zeros(2, heads, u.shape[-1], b.shape[-1], dtype=torch.float64)
    parts = []
    for begin in range(0, u.shape[1], chunk):
        at = slice(begin, begin + chunk)
        cs = a[:, at].cumsum(1)
        gap = (cs[:, :, None] - cs[:, None]).clamp(max=0).exp()  # [B,i,j,H]
        gap = gap * torch.ones(gap.shape[1:3], dtype=torch.float64).tril()[None, :, :, None]
        inside = torch.einsum("bijh,bihn,bjhn,bjhp->bihp", gap, c[:, at], b[:, at], u[:, at])
        before = torch.einsum("bih,bhpn,bihn->bihp", cs.exp(), state, c[:, at])
        parts.append(inside + before + given["d"][:, None] * given["x"][:, at])
        to_end = (cs[:, -1:] - cs).exp()
        entered = torch.einsum("bjh,bjhp,bjhn->bhpn", to_end, u[:, at], b[:, at])
        state = cs[:, -1].exp()[..., None, None] * state + entered
    report("recurrence against chunked scan", relative(torch.cat(parts, 1), layers["ssd/out"]), 1e-13)


def check_reset() -> None:
    """A sample with document reset equals its documents run one by one."""
    cfg, weights, _ = golden_model()
    want = load_file(GOLDEN / "hybrid_dense_reset.safetensors")
    worst = 0.0
    for ids, segments, logits in zip(want["tokens"].long(), want["segments"], want["logits"]):
        for segment in segments.unique():
            at = segments == segment
            alone, _ = oracle.forward(weights, ids[:-1][at][None], cfg)
            worst = max(worst, relative(alone[0], logits[at]))
    report("reset against separate documents", worst, 1e-12)


def relative(got: Tensor, want: Tensor) -> float:
    return ((got - want).abs().max() / want.abs().max()).item()


def check_adamw() -> None:
    """torch's AdamW against p -= lr (m^ / (sqrt v^ + eps) + wd p), gradients clipped by 1 / (norm + 1e-6)."""
    log = load_file(GOLDEN / "adamw.safetensors")
    worst = 0.0
    for name, decay in (("matrix", 0.1), ("vector", 0.0)):
        p = log[f"adamw/start/{name}"].double()
        m, v = torch.zeros_like(p), torch.zeros_like(p)
        for t in range(1, 21):
            both = [log[f"adamw/grad/{other}"][t - 1].double() for other in ("matrix", "vector")]
            norm = math.sqrt(sum((g * g).sum().item() for g in both))
            g = both[0 if name == "matrix" else 1] * min(1.0, 1.0 / (norm + 1e-6))
            m, v = 0.9 * m + 0.1 * g, 0.95 * v + 0.05 * g * g
            update = (m / (1 - 0.9**t)) / ((v / (1 - 0.95**t)).sqrt() + 1e-8)
            p = p - log["adamw/rate"][t - 1] * (update + decay * p)
            worst = max(worst, relative(p, log[f"adamw/param/{name}"][t - 1]))
    report("AdamW against the formula", worst, 1e-14)


def check_schedules() -> None:
    """Our formulas against megatron-core's scheduler."""
    from megatron.core.optimizer_param_scheduler import OptimizerParamScheduler

    log = load_file(GOLDEN / "adamw.safetensors")
    s, worst = make_golden.SCHEDULE, 0.0
    for kind, shape in make_golden.SCHEDULES:
        name = kind if kind == shape else f"{kind}_{shape}"
        theirs = OptimizerParamScheduler(
            SimpleNamespace(param_groups=[{}]), s["init"], s["max"], s["min"], s["warmup"], s["total"],
            "WSD" if kind == "wsd" else kind, 0.0, 0.0, 1, "constant",
            wsd_decay_steps=s["decay"], lr_wsd_decay_style=shape,
        )
        for n, rate in zip(log["schedule/samples"].tolist(), log[f"schedule/rate/{name}"].tolist()):
            theirs.num_steps = n
            worst = max(worst, abs(theirs.get_lr({}) - rate) / rate)
    report("schedules against megatron-core", worst, 1e-12)


def main() -> int:
    torch.set_num_threads(1)
    for check in (check_finite_differences, check_chunk_formula, check_reset, check_adamw, check_schedules):
        check()
    print("FAIL: " + ", ".join(failures) if failures else "PASS")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
