"""Runs our weights through transformers' nemotron_h in float32 and compares.

    check_transformers.py                                  the golden model against its float64 logits and gradients
    check_transformers.py
        the golden model against its float64 logits and gradients
    check_transformers.py --record
        the same, and writes golden/hybrid_dense_transformers.safetensors
    check_transformers.py --probe
        the same under settings known to matter: chunk length, floor on dt
    check_transformers.py --weights FILE --logits FILE [--config SIZES.json]
        what the trainer wrote: weights, and logits (key `logits`, [B,T,V]) for the golden tokens or --tokens FILE
    check_transformers.py --export DIR --logits FILE
        a folder in the Hugging Face layout, with its own config.json

Exit status 1 if max|difference| / max|logit| passes --tolerance, an argmax differs (at a gap wider than the tolerance),
or a tensor of the model is missing from the file or the other way round.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoModelForCausalLM

import make_golden
from model_fp64 import Config

GOLDEN = Path(__file__).resolve().parent / "golden"


def hf_config(cfg: Config) -> dict:
    """config.json of a model of these sizes."""
    return {
        "architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h", "torch_dtype": "float32",
        "vocab_size": cfg.vocab, "hidden_size": cfg.hidden, "num_hidden_layers": len(cfg.pattern),
        "hybrid_override_pattern": cfg.pattern, "tie_word_embeddings": False,
        "num_attention_heads": cfg.heads, "num_key_value_heads": cfg.kv_heads, "head_dim": cfg.head_dim,
        "max_position_embeddings": 4096, "attention_bias": False,
        "intermediate_size": cfg.ffn, "mlp_hidden_act": "relu2", "mlp_bias": False, "use_bias": False,
        "mamba_num_heads": cfg.mamba_heads, "mamba_head_dim": cfg.mamba_head_dim, "ssm_state_size": cfg.state,
        "n_groups": cfg.groups, "conv_kernel": cfg.conv, "expand": 2, "chunk_size": cfg.chunk, "use_conv_bias": True,
        "mamba_hidden_act": "silu",
        # transformers reads this as a floor on dt; 0 is refused by its initialisation, which takes the logarithm.
        "time_step_min": 1e-30, "time_step_max": 0.1, "time_step_floor": 1e-4,
        "layer_norm_epsilon": cfg.norm_eps, "initializer_range": 0.02, "residual_in_fp32": False,
        "rescale_prenorm_residual": True, "use_mamba_kernels": False,
        "bos_token_id": None, "eos_token_id": None, "pad_token_id": None,
    }


def read_weights(path: Path) -> dict[str, Tensor]:
    """Weights by name: a golden file holds them under `weights/`, an exported one holds nothing else."""
    tensors = load_file(path)
    inside = {name.removeprefix("weights/"): value for name, value in tensors.items() if name.startswith("weights/")}
    return inside or tensors


def write_folder(folder: Path, weights: dict[str, Tensor], config: dict) -> None:
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def load_model(folder: Path, **overrides) -> torch.nn.Module:
    """The model, loaded as a user would load it; raises if names do not match one to one."""
    model, info = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True, **overrides
    )
    kinds = ("missing_keys", "unexpected_keys", "mismatched_keys")
    wrong = {kind: sorted(map(str, info[kind])) for kind in kinds if info[kind]}
    if wrong:
        raise SystemExit(f"names or shapes do not match: {wrong}")
    return model.eval()


@dataclass
class Result:
    logits: Tensor
    loss_sum: Tensor
    grads: dict[str, Tensor]


def run(model: torch.nn.Module, tokens: Tensor, mask: Tensor) -> Result:
    logits = model(input_ids=tokens[:, :-1], use_cache=False).logits
    each = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
    loss = (each * mask.flatten()).sum()
    loss.backward()
    # Files say `backbone.`, the loaded model says `model.`.
    grads = {name.replace("model.", "backbone.", 1): p.grad for name, p in model.named_parameters()}
    return Result(logits.detach(), loss.detach(), grads)


def relative(got: Tensor, want: Tensor) -> float:
    """max|got - want| / max|want|."""
    return ((got.double() - want.double()).abs().max() / want.double().abs().max()).item()


def argmax_differs(got: Tensor, want: Tensor, tolerance: float) -> int:
    """Positions where another token wins although the reference's lead is more than rounding could turn."""
    top = want.double().topk(2, dim=-1).values
    clear = top[..., 0] - top[..., 1] > 2 * tolerance * want.double().abs().max()
    return int(((got.argmax(-1) != want.argmax(-1)) & clear).sum())


def compare(label: str, result: Result, want: dict[str, Tensor], tolerance: float) -> bool:
    difference = relative(result.logits, want["logits"])
    flips = argmax_differs(result.logits, want["logits"], tolerance)
    print(f"{label}: logits {difference:.2e} relative, {flips} clear argmax differ", end="")
    if "loss_sum" in want:
        print(f", loss {relative(result.loss_sum, want['loss_sum']):.2e}", end="")
    known = {name: grad for name, grad in result.grads.items() if "grads/" + name in want}
    errors = {name: relative(grad, want["grads/" + name]) for name, grad in known.items()}
    if errors:
        worst = max(errors, key=errors.get)
        print(f", worst gradient {errors[worst]:.2e} ({worst})", end="")
    print()
    return difference <= tolerance and flips == 0


def record(result: Result, path: Path) -> None:
    tensors = {"logits": result.logits, "loss_sum": result.loss_sum.reshape(1)}
    tensors |= {f"grads/{name}": grad for name, grad in result.grads.items()}
    save_file({name: value.float().contiguous() for name, value in tensors.items()}, path)
    path.chmod(0o644)
    make_golden.note_version(
        path.parent, [path.name], "check_transformers.py --record", transformers=transformers.__version__
    )


def probe(folder: Path, cfg: Config, tokens: Tensor, mask: Tensor, want: dict[str, Tensor], tolerance: float) -> None:
    steps = tokens.shape[1] - 1
    for chunk, floor in ((steps, 1e-30), (cfg.chunk, 1e-30), (16, 1e-30), (steps, 1e-3)):
        model = load_model(folder, chunk_size=chunk, time_step_min=floor)
        compare(f"chunk_size {chunk}, time_step_min {floor:g}", run(model, tokens, mask), want, tolerance)
    shorter = tokens[:, : cfg.chunk + 1]
    model = load_model(folder, chunk_size=cfg.chunk)
    part = {"logits": want["logits"][:, : cfg.chunk]}  # Causal: the first tokens do not know of the rest.
    label = f"first {cfg.chunk} tokens, chunk_size {cfg.chunk}"
    compare(label, run(model, shorter, mask[:, : cfg.chunk]), part, tolerance)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    dense = GOLDEN / "hybrid_dense.safetensors"
    parser.add_argument("--weights", type=Path, default=dense)
    parser.add_argument("--config", type=Path, default=GOLDEN / "hybrid_dense.config.json", help="sizes, as in golden/")
    parser.add_argument("--export", type=Path, help="folder with config.json and *.safetensors, instead of --weights")
    parser.add_argument("--tokens", type=Path, default=dense, help="holds tokens [B,T+1], and optionally mask [B,T]")
    parser.add_argument("--logits", type=Path, default=dense, help="holds logits, and optionally loss_sum and grads/*")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--probe", action="store_true")
    return parser.parse_args()


def main() -> int:
    args = parse()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    data = load_file(args.tokens)
    tokens = data["tokens"].long()
    mask = data.get("mask", torch.ones_like(tokens[:, 1:]))
    want = load_file(args.logits)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if args.export:
            for file in [args.export / "config.json", *args.export.glob("*.safetensors*")]:
                shutil.copy(file, folder)
        else:
            write_folder(folder, read_weights(args.weights), hf_config(Config.load(args.config)))
        # One chunk for the whole sequence: neutral in exact arithmetic, and some versions are wrong across chunks.
        result = run(load_model(folder, chunk_size=tokens.shape[1] - 1), tokens, mask)
        passed = compare("one chunk", result, want, args.tolerance)
        if args.probe:
            probe(folder, Config.load(args.config), tokens, mask, want, args.tolerance)
    if args.record:
        record(result, GOLDEN / "hybrid_dense_transformers.safetensors")
    print("PASS" if passed else "FAIL")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
