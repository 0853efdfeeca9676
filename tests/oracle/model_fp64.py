"""The hybrid Mamba-2/attention model in float64, as plainly as it can be written.

An oracle, so nothing here is clever: the state-space layer is its recurrence, one token at a time, attention is a full
matrix of scores, and every derivative is autograd's. It shares no code with the trainer or with transformers.

Weights are a dict from checkpoint names to float64 tensors; linear weights are [out, in].
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor


@dataclass(frozen=True)
class Config:
    """Sizes of a model, under the names that a recipe's [model] section uses."""

    pattern: str
    vocab: int
    hidden: int
    mamba_heads: int
    mamba_head_dim: int
    groups: int
    state: int
    chunk: int  # The recurrence does not use it; a chunked implementation under test does.
    conv: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    norm_eps: float

    @property
    def inner(self) -> int:
        return self.mamba_heads * self.mamba_head_dim

    @property
    def conv_channels(self) -> int:
        return self.inner + 2 * self.groups * self.state

    @staticmethod
    def load(path: Path) -> "Config":
        return Config(**json.loads(path.read_text()))

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")


def layer_shapes(cfg: Config, kind: str) -> dict[str, tuple[int, ...]]:
    """Shapes of one mixer's parameters, by their name after `mixer.`."""
    d = cfg.hidden
    if kind == "M":
        return {
            "in_proj.weight": (cfg.inner + cfg.conv_channels + cfg.mamba_heads, d),
            "conv1d.weight": (cfg.conv_channels, 1, cfg.conv),
            "conv1d.bias": (cfg.conv_channels,),
            "dt_bias": (cfg.mamba_heads,),
            "A_log": (cfg.mamba_heads,),
            "D": (cfg.mamba_heads,),
            "norm.weight": (cfg.inner,),
            "out_proj.weight": (d, cfg.inner),
        }
    if kind == "*":
        q, kv = cfg.heads * cfg.head_dim, cfg.kv_heads * cfg.head_dim
        return {
            "q_proj.weight": (q, d),
            "k_proj.weight": (kv, d),
            "v_proj.weight": (kv, d),
            "o_proj.weight": (d, q),
        }
    if kind == "-":
        return {"up_proj.weight": (cfg.ffn, d), "down_proj.weight": (d, cfg.ffn)}
    raise ValueError(f"unknown layer kind {kind!r}")


def parameter_shapes(cfg: Config) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"backbone.embeddings.weight": (cfg.vocab, cfg.hidden)}
    for i, kind in enumerate(cfg.pattern):
        shapes[f"backbone.layers.{i}.norm.weight"] = (cfg.hidden,)
        for name, shape in layer_shapes(cfg, kind).items():
            shapes[f"backbone.layers.{i}.mixer.{name}"] = shape
    shapes["backbone.norm_f.weight"] = (cfg.hidden,)
    shapes["lm_head.weight"] = (cfg.vocab, cfg.hidden)
    return shapes


def silu(x: Tensor) -> Tensor:
    return x / (1 + torch.exp(-x))


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return weight * x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)


def gated_norm(y: Tensor, z: Tensor, weight: Tensor, groups: int, eps: float) -> Tensor:
    """Gate first, then normalise each group of channels by itself."""
    gated = y * silu(z)
    parts = gated.unflatten(-1, (groups, -1))
    scaled = parts / torch.sqrt((parts * parts).mean(-1, keepdim=True) + eps)
    return weight * scaled.flatten(-2)


def conv_silu(x: Tensor, weight: Tensor, bias: Tensor, segments: Tensor | None = None) -> Tensor:
    """Causal depthwise convolution over time, then SiLU. x [B,T,C], weight [C,1,K]; the last tap is the current token.

    With segments, a tap that would read another document reads zero.
    """
    steps, taps = x.shape[1], weight.shape[-1]
    pre = bias.expand_as(x)
    for k in range(taps):
        back = taps - 1 - k
        if back >= steps:
            continue
        past = x[:, : steps - back]
        if segments is not None:
            same = segments[:, back:] == segments[:, : steps - back]
            past = past * same.unsqueeze(-1)
        shifted = torch.cat([torch.zeros_like(x[:, :back]), past], dim=1)
        pre = pre + weight[:, 0, k] * shifted
    return silu(pre)


def softplus(v: Tensor) -> Tensor:
    # The inner `where` keeps exp from overflowing in the branch not taken, whose gradient would be NaN.
    return torch.where(v > 20, v, torch.log1p(torch.exp(torch.where(v > 20, torch.zeros_like(v), v))))


def ssd(
    x: Tensor, b: Tensor, c: Tensor, dt_raw: Tensor, dt_bias: Tensor, a_log: Tensor, d: Tensor,
    segments: Tensor | None = None,
) -> Tensor:
    """The state-space recurrence. x [B,T,H,P]; b, c [B,T,G,N]; dt_raw [B,T,H]. Head h reads group floor(h G / H)."""
    batch, steps, heads, width = x.shape
    groups, state = b.shape[2], b.shape[3]
    group_of = torch.arange(heads) * groups // heads
    b, c = b[:, :, group_of], c[:, :, group_of]
    dt = softplus(dt_raw + dt_bias)
    decay = torch.exp(-torch.exp(a_log) * dt)

    h = x.new_zeros(batch, heads, width, state)
    outputs = []
    for t in range(steps):
        carried = decay[:, t]
        if segments is not None and t > 0:
            carried = carried * (segments[:, t] == segments[:, t - 1]).unsqueeze(-1)
        entering = (dt[:, t, :, None] * x[:, t])[..., None] * b[:, t, :, None, :]
        h = carried[..., None, None] * h + entering
        outputs.append((h * c[:, t, :, None, :]).sum(-1) + d[:, None] * x[:, t])
    return torch.stack(outputs, dim=1)


def mamba2(u: Tensor, w: dict[str, Tensor], cfg: Config, segments: Tensor | None = None) -> Tensor:
    bc = cfg.groups * cfg.state
    z, xbc, dt_raw = torch.split(u @ w["in_proj.weight"].T, [cfg.inner, cfg.conv_channels, cfg.mamba_heads], dim=-1)
    xbc = conv_silu(xbc, w["conv1d.weight"], w["conv1d.bias"], segments)
    x, b, c = torch.split(xbc, [cfg.inner, bc, bc], dim=-1)
    y = ssd(
        x.unflatten(-1, (cfg.mamba_heads, -1)),
        b.unflatten(-1, (cfg.groups, -1)),
        c.unflatten(-1, (cfg.groups, -1)),
        dt_raw, w["dt_bias"], w["A_log"], w["D"], segments,
    ).flatten(-2)
    return gated_norm(y, z, w["norm.weight"], cfg.groups, cfg.norm_eps) @ w["out_proj.weight"].T


def attention_core(q: Tensor, k: Tensor, v: Tensor, segments: Tensor | None = None) -> Tensor:
    """Causal attention. q [B,T,n_q,h]; k, v [B,T,n_kv,h]. Query head j reads key/value head floor(j n_kv / n_q)."""
    steps, heads, width = q.shape[1], q.shape[2], q.shape[3]
    kv_of = torch.arange(heads) * k.shape[2] // heads
    k, v = k[:, :, kv_of], v[:, :, kv_of]
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / width**0.5
    visible = torch.ones(steps, steps, dtype=torch.bool).tril()
    if segments is not None:
        visible = visible & (segments[:, None, :, None] == segments[:, None, None, :])
    probabilities = torch.softmax(scores.masked_fill(~visible, float("-inf")), dim=-1)
    return torch.einsum("bhij,bjhd->bihd", probabilities, v)


def attention(u: Tensor, w: dict[str, Tensor], cfg: Config, segments: Tensor | None = None) -> Tensor:
    """No rotary or other positional embedding: the state-space layers carry the position."""
    q, k, v = ((u @ w[f"{part}_proj.weight"].T).unflatten(-1, (-1, cfg.head_dim)) for part in "qkv")
    return attention_core(q, k, v, segments).flatten(-2) @ w["o_proj.weight"].T


def mlp(u: Tensor, w: dict[str, Tensor]) -> Tensor:
    return torch.relu(u @ w["up_proj.weight"].T) ** 2 @ w["down_proj.weight"].T


def mixer(kind: str, u: Tensor, w: dict[str, Tensor], cfg: Config, segments: Tensor | None) -> Tensor:
    if kind == "M":
        return mamba2(u, w, cfg, segments)
    if kind == "*":
        return attention(u, w, cfg, segments)
    return mlp(u, w)


def forward(
    weights: dict[str, Tensor], ids: Tensor, cfg: Config, segments: Tensor | None = None
) -> tuple[Tensor, list[Tensor]]:
    """Logits [B,T,V], and the residual stream after each layer."""
    x = weights["backbone.embeddings.weight"][ids]
    hidden = []
    for i, kind in enumerate(cfg.pattern):
        prefix = f"backbone.layers.{i}."
        own = {name: weights[f"{prefix}mixer.{name}"] for name in layer_shapes(cfg, kind)}
        x = x + mixer(kind, rms_norm(x, weights[prefix + "norm.weight"], cfg.norm_eps), own, cfg, segments)
        hidden.append(x)
    return rms_norm(x, weights["backbone.norm_f.weight"], cfg.norm_eps) @ weights["lm_head.weight"].T, hidden


def loss_sum(logits: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """Cross-entropy summed over the positions whose mask is 1; divide by mask.sum() for the mean."""
    target = logits.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    return ((torch.logsumexp(logits, dim=-1) - target) * mask).sum()
