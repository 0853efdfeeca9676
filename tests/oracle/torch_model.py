"""The trainer's model in PyTorch, as fast as PyTorch has it on a CPU: for bench_torch.py.

Written from the equations of model/MODEL.md: the scan runs over chunks with batched products, as the Mamba-2 paper's
listing does, attention is PyTorch's own. Matrices are bfloat16 (or whatever type the weights have), decays, step sizes
and norms float32. Not an oracle: model_fp64.py is, and `bench_torch.py --check` holds this one to it.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model_fp64 import Config


class Norm(nn.Module):
    def __init__(self, width: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x.float(), self.weight.shape, self.weight.float(), self.eps).to(x.dtype)


class GatedNorm(nn.Module):
    def __init__(self, width: int, groups: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.groups, self.eps = groups, eps

    def forward(self, y: Tensor, z: Tensor) -> Tensor:
        gated = (y.float() * F.silu(z.float())).unflatten(-1, (self.groups, -1))
        scaled = F.rms_norm(gated, gated.shape[-1:], None, self.eps).flatten(-2)
        return (scaled * self.weight.float()).to(z.dtype)


def scan(x: Tensor, b: Tensor, c: Tensor, dt: Tensor, a: Tensor, chunk: int) -> Tensor:
    """y without the D term. x [B,T,H,P], b and c [B,T,G,N] in the storage type; dt and a [B,T,H] float32."""
    batch, steps, heads, width = x.shape
    groups, repeat = b.shape[2], heads // b.shape[2]
    pad = -steps % chunk
    x, b, c = (F.pad(t, (0, 0, 0, 0, 0, pad)) for t in (x, b, c))
    dt, a = (F.pad(t, (0, 0, 0, pad)) for t in (dt, a))
    low = x.dtype
    # [batch, chunks, heads or groups, chunk, ...]
    x, b, c = (t.unflatten(1, (-1, chunk)).transpose(2, 3) for t in (x, b, c))
    dt, a = (t.unflatten(1, (-1, chunk)).transpose(2, 3) for t in (dt, a))
    cs = a.cumsum(-1)
    u = (x * dt.unsqueeze(-1)).to(low)
    causal = torch.ones(chunk, chunk, dtype=torch.bool, device=x.device).tril()
    decay = torch.exp((cs.unsqueeze(-1) - cs.unsqueeze(-2)).masked_fill(~causal, -math.inf))
    scores = (c @ b.transpose(-1, -2)).repeat_interleave(repeat, dim=2)
    inside = (scores * decay).to(low) @ u
    # What a chunk adds to the state, and the states that chunks begin with: one product over chunks.
    last = cs[..., -1]
    entering = (u * torch.exp(last.unsqueeze(-1) - cs).unsqueeze(-1)).to(low)
    added = entering.transpose(-1, -2) @ b.repeat_interleave(repeat, dim=2)
    ends = F.pad(last.transpose(1, 2).cumsum(-1), (1, 0))  # [B,H,chunks+1]
    chunks = ends.shape[-1] - 1
    before = torch.ones(chunks, chunks, dtype=torch.bool, device=x.device).tril(-1)
    between = torch.exp((ends[..., :-1].unsqueeze(-1) - ends[..., 1:].unsqueeze(-2)).masked_fill(~before, -math.inf))
    carried = between @ added.float().flatten(-2).transpose(1, 2)
    carried = carried.transpose(1, 2).unflatten(-1, added.shape[-2:]).to(low)
    across = (c.repeat_interleave(repeat, dim=2) @ carried.transpose(-1, -2)) * torch.exp(cs).unsqueeze(-1)
    y = (inside + across).transpose(2, 3).flatten(1, 2)
    return y[:, :steps]


class Mamba2(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.cfg = cfg
        self.in_proj = nn.Linear(cfg.hidden, cfg.inner + cfg.conv_channels + cfg.mamba_heads, bias=False)
        self.conv1d = nn.Conv1d(cfg.conv_channels, cfg.conv_channels, cfg.conv, groups=cfg.conv_channels)
        self.dt_bias = nn.Parameter(torch.full((cfg.mamba_heads,), -4.0))
        self.A_log = nn.Parameter(torch.log(torch.linspace(1, 16, cfg.mamba_heads)))
        self.D = nn.Parameter(torch.ones(cfg.mamba_heads))
        self.norm = GatedNorm(cfg.inner, cfg.groups, cfg.norm_eps)
        self.out_proj = nn.Linear(cfg.inner, cfg.hidden, bias=False)

    def forward(self, u: Tensor) -> Tensor:
        cfg = self.cfg
        bc = cfg.groups * cfg.state
        z, xbc, dt = self.in_proj(u).split([cfg.inner, cfg.conv_channels, cfg.mamba_heads], dim=-1)
        xbc = F.silu(self.conv1d(F.pad(xbc.transpose(1, 2), (cfg.conv - 1, 0)))).transpose(1, 2)
        x, b, c = xbc.split([cfg.inner, bc, bc], dim=-1)
        x = x.unflatten(-1, (cfg.mamba_heads, -1))
        b, c = (t.unflatten(-1, (cfg.groups, -1)) for t in (b, c))
        dt = F.softplus(dt.float() + self.dt_bias.float())
        y = scan(x, b, c, dt, -torch.exp(self.A_log.float()) * dt, cfg.chunk)
        y = y + self.D.float().unsqueeze(-1) * x
        return self.out_proj(self.norm(y.flatten(-2), z))


class Attention(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.cfg = cfg
        self.q_proj = nn.Linear(cfg.hidden, cfg.heads * cfg.head_dim, bias=False)
        self.k_proj = nn.Linear(cfg.hidden, cfg.kv_heads * cfg.head_dim, bias=False)
        self.v_proj = nn.Linear(cfg.hidden, cfg.kv_heads * cfg.head_dim, bias=False)
        self.o_proj = nn.Linear(cfg.heads * cfg.head_dim, cfg.hidden, bias=False)

    def forward(self, u: Tensor) -> Tensor:
        q, k, v = (p(u).unflatten(-1, (-1, self.cfg.head_dim)).transpose(1, 2)
                   for p in (self.q_proj, self.k_proj, self.v_proj))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o_proj(o.transpose(1, 2).flatten(-2))


class Mlp(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.up_proj = nn.Linear(cfg.hidden, cfg.ffn, bias=False)
        self.down_proj = nn.Linear(cfg.ffn, cfg.hidden, bias=False)

    def forward(self, u: Tensor) -> Tensor:
        return self.down_proj(F.relu(self.up_proj(u)).square())


class Layer(nn.Module):
    def __init__(self, cfg: Config, kind: str):
        super().__init__()
        self.norm = Norm(cfg.hidden, cfg.norm_eps)
        self.mixer = {"M": Mamba2, "*": Attention, "-": Mlp}[kind](cfg)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.mixer(self.norm(x))


class Backbone(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.embeddings = nn.Embedding(cfg.vocab, cfg.hidden)
        self.layers = nn.ModuleList(Layer(cfg, kind) for kind in cfg.pattern)
        self.norm_f = Norm(cfg.hidden, cfg.norm_eps)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embeddings(ids)
        for layer in self.layers:
            x = layer(x)
        return self.norm_f(x)


class Model(nn.Module):
    """Parameters have the checkpoint's names."""

    def __init__(self, cfg: Config):
        super().__init__()
        self.backbone = Backbone(cfg)
        self.lm_head = nn.Linear(cfg.hidden, cfg.vocab, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        return self.lm_head(self.backbone(ids))

    def loss(self, ids: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(self(ids).float().flatten(0, 1), labels.flatten(), reduction="sum")
