"""Makes the golden files of tests/data/golden: small cases of our own, in the same format as the published files.

    python3 make_own.py ../data/golden        needs only numpy

This program is independent of the library in two ways. The models are written again from their formulas. The gradients
are not derived, but computed by the complex step, df/dx = Im f(x + ih) / h, which has no cancellation, so it is exact
up to rounding (own_files.py). This file has the optimisers and calls all other files: own_edges.py has Edge
Transformers, own_graphs.py has models from sentences to labelled graphs, own_parsers.py has heads of dependency
parsers, own_sequences.py has encoders and decoders, and own_trees.py has trees and the tree machine.
"""
# SPDX-License-Identifier: Apache-2.0
import json, sys
from pathlib import Path

import numpy as np

import own_graphs
import own_parsers
import own_sequences
import own_trees
from own_edges import attention, attention_params, layer, layer_params, pad_mask4, padding, settings
from own_files import NOTE, draw, linear, relu, save, write

# ---- models over real or complex numbers -----------------------------------------------------------------------------
def run_attention(p, i, config):
    return {"y": attention(p, "", i["x"], config, i.get("mask4"))}


def run_layer(p, i, config):
    return layer(p, "", i["x"], config, i.get("mask4"))


def run_clutrr(p, i, config):
    x, out = p["encoder.embedding.weight"][i["batched_graphs"]], {}
    out["hidden_0"] = x
    for k in range(config["layers"]):
        x = layer(p, f"encoder.layers.{0 if config['tied'] else k}.", x, config, pad_mask4(i["pad_mask"]))["y"]
        out[f"hidden_{k + 1}"] = x
    b, s, t = i["query_edges"].T
    out["logits"] = logits = linear(p, "decoder2vocab.3", relu(linear(p, "decoder2vocab.0", x[b, s, t])))
    out["pred"] = logits.real.argmax(-1)
    e = np.log(np.exp(logits - logits.real.max(-1, keepdims=True)).sum(-1)) + logits.real.max(-1)
    out["loss"] = (e - logits[np.arange(len(b)), i["query_labels"]]).mean()
    return out


def save_updates(folder, case, random, optimizer, args, clip, schedule, without, steps):
    """Kind optim: Adam and AdamW by their formulas, with clipping and a linear warm-up."""
    params = {"w": draw(random, 3, 2), "b": draw(random, 5), "c": draw(random, 1)}
    beta1, beta2 = args.get("betas", (0.9, 0.999))
    decay, eps = args.get("weight_decay", 0.01 if optimizer == "AdamW" else 0), args.get("eps", 1e-8)
    gradients = [{k: draw(random, *v.shape, scale=2) for k, v in params.items() if k != without} for _ in range(steps)]
    for dtype, real in (("f64", np.float64), ("f32", np.float32)):
        p = dict(params)
        m, v = ({k: np.zeros_like(g) for k, g in gradients[0].items()} for _ in range(2))
        tensors = {"in/param/" + k: x for k, x in p.items()}
        for t in range(steps):
            lr = args["lr"]
            if schedule:
                warm, total = schedule["num_warmup_steps"], schedule["num_training_steps"]
                lr *= t / max(1, warm) if t < warm else max(0, (total - t) / max(1, total - warm))
            norm = np.sqrt(sum((g * g).sum() for g in gradients[t].values()))
            for k, g in gradients[t].items():
                tensors[f"in/step{t}/grad/{k}"] = g
                g = g * min(1, clip / (norm + 1e-6)) if clip else g
                if optimizer == "AdamW":
                    p[k] = p[k] * (1 - lr * decay)
                else:
                    g = g + decay * p[k]
                m[k] = beta1 * m[k] + (1 - beta1) * g
                v[k] = beta2 * v[k] + (1 - beta2) * g * g
                p[k] = p[k] - lr / (1 - beta1 ** (t + 1)) * m[k] / (np.sqrt(v[k]) / np.sqrt(1 - beta2 ** (t + 1)) + eps)
            tensors |= {f"out/step{t}/param/{k}": x for k, x in p.items()}
            if clip:
                tensors[f"out/step{t}/grad_norm_before_clip"] = norm
            tensors[f"rate/out/step{t}/lr"] = np.float64(lr)
        tensors |= {f"out/final/exp_avg/{k}": x for k, x in m.items()} | {f"out/final/exp_avg_sq/{k}": x for k, x in v.items()}
        tensors = {k.removeprefix("rate/"): np.asarray(x).astype(np.float64 if k.startswith("rate/") else real) for k, x in tensors.items()}
        config = {"optimizer": optimizer, "args": args, "steps": steps, "clip": clip, "schedule": schedule,
                  "param_without_grad": without, "dtype": dtype}
        write(folder / f"optim__{case}.{dtype}.safetensors", {"kind": "optim", "config": json.dumps(config), "note": NOTE}, tensors)


def main(folder):
    random = np.random.default_rng(20)

    def one_attention(case, config, B, n, d, mask="none", bias=False, hidden=0):
        """`mask` is none, padding or random. `random` masks random triangles, and all triangles of one row."""
        p, unused = layer_params(random, "", d, hidden, config, bias) if hidden else attention_params(random, "", d, config, bias)
        i, c = {"x": draw(random, B, n, n, d)}, {"y": draw(random, B, n, n, d)}
        if mask == "padding":
            i["pad_mask"] = padding(random, B, n)
            i["mask4"] = pad_mask4(i["pad_mask"])
        if mask == "random":
            i["mask4"] = (random.random((B, n, n, n)) < 0.35).astype(np.int64)
            i["mask4"][0, 0, :, 1] = 1
            i["mask4"][0, 1, 0, :] = 1
        kind = "et_layer" if hidden else "tri_attn_flat" if config["flat"] else "tri_attn"
        save(folder, kind, case, run_layer if hidden else run_attention, p, i, c, config, unused)

    one_attention("one_node", settings(heads=3), 2, 1, 3)
    one_attention("odd_width_padded", settings(heads=3), 2, 4, 9, "padding")
    one_attention("any_mask_biased", settings("cfq", 2), 1, 4, 6, "random", bias=True)
    one_attention("both_ablations_any_mask", settings("cogs", 2, value=True, attention=True), 1, 3, 4, "random", bias=True)
    one_attention("any_mask", settings(heads=2, flat=True), 2, 3, 4, "random")
    one_attention("wide_block_biased", settings("cogs", 3), 1, 4, 6, "padding", bias=True, hidden=11)
    one_attention("narrow_block_flat", settings(heads=1, flat=True), 2, 3, 5, "random", hidden=3)

    for case, config in (("untied", settings(heads=2, layers=2, tied=False)), ("one_layer", settings(heads=1, layers=1, tied=True, value=True))):
        B, n, d, labels, targets = 3, 4, 4, 5, 3
        p, unused = {"encoder.embedding.weight": draw(random, labels, d)}, []
        for k in range(1 if config["tied"] else config["layers"]):
            more, without = layer_params(random, f"encoder.layers.{k}.", d, 6, config, False)
            p, unused = p | more, unused + without
        p |= {"decoder2vocab.0.weight": draw(random, d, d, scale=0.4), "decoder2vocab.0.bias": draw(random, d, scale=0.2)}
        p |= {"decoder2vocab.3.weight": draw(random, targets, d, scale=0.4), "decoder2vocab.3.bias": draw(random, targets, scale=0.2)}
        pad = padding(random, B, n)
        real = n - pad.sum(1)
        i = {"batched_graphs": random.integers(0, labels, (B, n, n)), "pad_mask": pad,
             "query_edges": np.stack([np.arange(B), random.integers(0, real), random.integers(0, real)], 1),
             "query_labels": random.integers(0, targets, B)}
        i["batched_graphs"] *= (1 - pad)[:, :, None] * (1 - pad)[:, None, :]
        save(folder, "et_clutrr", case, run_clutrr, p, i, {}, config, unused)

    save_updates(folder, "adamw_fractional_total", random, "AdamW", {"lr": 0.02, "betas": [0.8, 0.9], "weight_decay": 0.3}, 2.5,
                 {"num_warmup_steps": 2, "num_training_steps": 5.5}, "b", 7)
    save_updates(folder, "adam_decay", random, "Adam", {"lr": 0.01, "eps": 1e-3, "weight_decay": 0.2}, None, None, None, 3)

    random = np.random.default_rng(21)
    one_attention("seventeen_nodes_padded", settings(heads=1), 1, 17, 4, "padding")

    own_graphs.main(folder)
    own_parsers.main(folder)
    own_trees.main(folder)
    own_sequences.main(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    main(Path(sys.argv[1]))
