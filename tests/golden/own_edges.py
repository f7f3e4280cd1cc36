"""Parts of Edge Transformers: attention, layers, and their parameters."""
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from own_files import draw, layer_norm, linear, relu, softmax

FILL = {"clutrr": -1e9, "cogs": -1e3, "cfq": -1e3}


def attention(p, prefix, x, config, mask4):
    B, n, _, d = x.shape
    h = config["heads"]
    project = lambda k: linear(p, f"{prefix}linears.{k}", x).reshape(B, n, n, h, d // h)
    fill = FILL[config.get("variant", "clutrr")]
    masked = lambda s: s if mask4 is None else np.where(mask4[..., None] == 1, fill, s)
    if config["flat"]:
        k, v, q = project(0), project(1), project(2)
        leaving = masked(np.einsum("bxyhe,bxzhe->bxyzh", q, k) / np.sqrt(d // h))
        entering = masked(np.einsum("bxyhe,bzyhe->bxyzh", q, k) / np.sqrt(d // h))
        w = softmax(np.concatenate([leaving, entering], 3), 3)
        o = np.einsum("bxyzh,bxzhe->bxyhe", w[:, :, :, :n], v) + np.einsum("bxyzh,bzyhe->bxyhe", w[:, :, :, n:], v)
        last = 3
    else:
        q, k, left, right = project(0), project(1), project(2), project(3)
        s = np.einsum("bxahe,bxyhe->bxayh" if config["attention_ablation"] else "bxahe,bayhe->bxayh", q, k)
        w = softmax(masked(s / np.sqrt(d // h)), 2)
        if config["value_ablation"]:
            o = np.einsum("bxayh,bxahe->bxyhe", w, left)
        else:
            o = np.einsum("bxayh,bxahe,bayhe->bxyhe", w, left, right)
        last = 4 if config.get("variant") == "cfq" else 5
    return linear(p, f"{prefix}linears.{last}", o.reshape(B, n, n, d))


def layer(p, prefix, x, config, mask4):
    out = {"ln1": layer_norm(p, prefix + "norm1", x)}
    out["attn"] = attention(p, prefix + "edge_attention.", out["ln1"], config, mask4)
    out["ln2"] = u = layer_norm(p, prefix + "norm2", out["ln1"] + out["attn"])
    out["y"] = u + linear(p, prefix + "linear2", relu(linear(p, prefix + "linear1", u)))
    return out


def pad_mask4(pad):
    return ((pad[:, :, None, None] + pad[:, None, :, None] + pad[:, None, None, :]) > 0).astype(np.int64)


def attention_params(random, prefix, d, config, bias):
    last = 3 if config["flat"] else 4 if config["variant"] == "cfq" else 5
    p = {}
    for k in range(last + 1):
        p[f"{prefix}linears.{k}.weight"] = draw(random, d, d, scale=d ** -0.5)
        if bias:
            p[f"{prefix}linears.{k}.bias"] = draw(random, d, scale=0.3)
    used = {0, 1, 2, last} | (set() if config["value_ablation"] else {3})
    return p, [k for k in p if int(k.split("linears.")[1].split(".")[0]) not in used]


def layer_params(random, prefix, d, hidden, config, bias):
    p, unused = attention_params(random, prefix + "edge_attention.", d, config, bias)
    for norm in ("norm1", "norm2"):
        p |= {f"{prefix}{norm}.weight": draw(random, d, scale=0.2, around=1), f"{prefix}{norm}.bias": draw(random, d, scale=0.2)}
    p |= {prefix + "linear1.weight": draw(random, hidden, d, scale=d ** -0.5), prefix + "linear1.bias": draw(random, hidden, scale=0.2)}
    p |= {prefix + "linear2.weight": draw(random, d, hidden, scale=hidden ** -0.5), prefix + "linear2.bias": draw(random, d, scale=0.2)}
    return p, unused


def settings(variant="clutrr", heads=1, value=False, attention=False, flat=False, **more):
    return {"variant": variant, "heads": heads, "value_ablation": value, "attention_ablation": attention, "flat": flat} | more


def padding(random, B, n):
    """Returns a padding mask. The last node of the first graph is padding, and random nodes of the other graphs are
    padding."""
    real = np.concatenate([[n - 1], random.integers(n - 2, n + 1, B - 1)])
    return (np.arange(n)[None] >= real[:, None]).astype(np.int64)
