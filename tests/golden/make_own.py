"""Makes the golden files of tests/data/golden: small cases of our own, in the format of the published ones.

    python3 make_own.py ../data/golden        needs numpy, nothing else

Independent of the library twice over: the models are written here from their formulas, and gradients are not derived
but taken by the complex step, df/dx = Im f(x + ih) / h, which has no cancellation and so is exact to rounding.
"""
# SPDX-License-Identifier: Apache-2.0
import json, struct, sys
from pathlib import Path

import numpy as np

NOTE = "made by tests/golden/make_own.py, numpy " + np.__version__
FILL = {"clutrr": -1e9, "cogs": -1e3, "cfq": -1e3}


# ---- the models, over real or complex numbers -------------------------------------------------------------------------
def linear(p, name, x):
    y = x @ p[name + ".weight"].T
    return y + p[name + ".bias"] if name + ".bias" in p else y


def softmax(s, axis):
    e = np.exp(s - s.real.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def relu(x):
    return np.where(x.real > 0, x, 0)


def layer_norm(p, name, x):
    c = x - x.mean(-1, keepdims=True)
    return p[name + ".weight"] * c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5) + p[name + ".bias"]


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


# ---- values and gradients -----------------------------------------------------------------------------------------------
def evaluate(run, params, inputs, cotangents, config, real):
    """Outputs, loss and gradients in `real` arithmetic (numpy.float64 or float32)."""
    floats = {("param/" + k): v for k, v in params.items()} | {("in/" + k): v for k, v in inputs.items() if v.dtype.kind == "f"}
    complex_type = np.result_type(real, np.complex64)

    def outputs(values):
        p = {k[6:]: v for k, v in values.items() if k.startswith("param/")}
        i = inputs | {k[3:]: v for k, v in values.items() if k.startswith("in/")}
        out = run(p, i, config)
        if "loss" not in out:
            out["loss"] = sum((out[k] * c.astype(real)).sum() for k, c in cotangents.items())
        return out

    values = {k: v.astype(complex_type) for k, v in floats.items()}
    result = {"out/" + k: np.asarray(v if np.asarray(v).dtype.kind == "i" else np.real(v)) for k, v in outputs(values).items()}
    step = 2.0 ** -50 if real is np.float32 else 2.0 ** -150
    for name, v in values.items():
        gradient = np.zeros(v.shape, real)
        for at in np.ndindex(v.shape):
            v[at] += 1j * step
            gradient[at] = outputs(values)["loss"].imag / step
            v[at] = v[at].real
        result["grad/" + name] = gradient
    return result


def largest_error(exact, rough):
    gradients = max([np.abs(v).max() for k, v in exact.items() if k.startswith("grad/")])
    worst = 0.0
    for k, v in exact.items():
        if v.dtype.kind == "f":
            worst = max(worst, np.abs(v - rough[k]).max() / (gradients if k.startswith("grad/") else np.abs(v).max()))
    return float(worst)


# ---- files ----------------------------------------------------------------------------------------------------------------
def write(path, metadata, tensors):
    codes = {"int64": "I64", "float64": "F64", "float32": "F32"}
    order = sorted(tensors, key=lambda k: (tensors[k].dtype.itemsize != 8, k))
    header, data = {"__metadata__": metadata}, b""
    for k in order:
        raw = np.ascontiguousarray(tensors[k]).tobytes()
        header[k] = {"dtype": codes[tensors[k].dtype.name], "shape": list(tensors[k].shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def save(folder, kind, case, run, params, inputs, cotangents, config, unused=(), constants={}, more={}):
    """constants: parameters without gradients; more: inputs that the outputs do not depend on smoothly."""
    exact = evaluate(run, params, inputs, cotangents, config, np.float64)
    error = largest_error(exact, evaluate(run, params, inputs, cotangents, config, np.float32))
    for dtype, real in (("f64", np.float64), ("f32", np.float32)):
        tensors = {"param/" + k: v for k, v in (params | constants).items()} | {"in/" + k: v for k, v in (inputs | more).items()}
        tensors |= {"cotangent/" + k: v for k, v in cotangents.items()} | exact
        tensors = {k: v.astype(real) if v.dtype.kind == "f" else v.astype(np.int64) for k, v in tensors.items()}
        metadata = {"kind": kind, "config": json.dumps(config | {"dtype": dtype, "params_with_no_gradient": list(unused)}),
                    "note": NOTE,
                    "torch_f32_vs_f64": json.dumps({"max_abs_err_over_max_abs": error})}
        write(folder / f"{kind}__{case}.{dtype}.safetensors", metadata, tensors)


# ---- trees: places are tuples of turns, and nothing is known of positions but their order -----------------------------------
def places(depth):
    level, found = [()], []
    for _ in range(depth):
        found, level = found + level, [x + (c,) for x in level for c in (0, 1)]
    return found


def save_trees(folder, case, random, depth, labels, d_filler, d_role, B):
    """Kinds dtm_tpr, dtm_DE and dtm_ops, by the sums over places that define them."""
    order = places(depth)
    number = {x: k for k, x in enumerate(order)}
    R = np.linalg.qr(random.standard_normal((d_role, d_role)))[0][: len(order)]
    F = np.linalg.qr(random.standard_normal((max(labels, d_filler),) * 2))[0][:labels, :d_filler]
    F[0] = 0
    D = [sum((np.outer(R[number[x]], R[number[(c,) + x]]) for x in order if (c,) + x in number), np.zeros((d_role, d_role))) for c in (0, 1)]
    fixed = {"tpr.role_emb.weight": R, "tpr.filler_emb.weight": F}
    config = {"B": B, "max_depth": depth, "decode_eps": 0.01}

    def tree():
        """Labels of a random tree: a root, both children, and below them a node wherever its parent is one, three times of four."""
        all_labels = np.zeros(len(order), np.int64)
        for k, x in enumerate(order):
            if len(x) < 2 or (all_labels[number[x[:-1]]] and random.random() < 0.75):
                all_labels[k] = random.integers(1, labels)
        return all_labels

    def scored(t):
        return np.einsum("bmn,rn,fm->brf", t, R, F)

    def symbols(t):
        s = scored(t).real
        return np.where(np.sqrt((s * s).sum(-1)) > 0.01, s.argmax(-1), 0)

    bound = lambda a: np.einsum("brm,rn->bmn", F[a], R)
    trees = np.stack([tree() for _ in range(B)])
    size = np.linspace(0.002, 0.02, len(order))  # around the threshold
    noisy = np.einsum("brm,rn->bmn", F[trees] * size[:, None], R)

    def run_tpr(p, i, config):
        return {"bound": bound(trees), "bound_unbound": F[trees], "bound_decoded": scored(bound(trees)), "bound_symbols": trees,
                "unbound": np.einsum("bmn,rn->brm", i["tpr"], R), "decoded": scored(i["tpr"]),
                "noisy_decoded": scored(noisy), "noisy_symbols": np.where(np.linalg.norm(scored(noisy), axis=-1) > 0.01, symbols(noisy), 0)}

    shape = (B, len(order))
    i = {"trees": trees, "tpr": draw(random, B, d_filler, d_role)}
    save(folder, "dtm_tpr", case, run_tpr, {}, i, {"unbound": draw(random, *shape, d_filler), "decoded": draw(random, *shape, labels)}, config,
         constants=fixed, more={"noisy_tpr": noisy})

    for dtype, real in (("f64", np.float64), ("f32", np.float32)):
        out = {"D_l": D[0], "D_r": D[1], "E_l": D[0].T, "E_r": D[1].T}
        tensors = {"param/" + k: v.astype(real) for k, v in fixed.items()} | {"out/" + k: v.astype(real) for k, v in out.items()}
        write(folder / f"dtm_DE__{case}.{dtype}.safetensors", {"kind": "dtm_DE", "config": json.dumps(config | {"dtype": dtype}), "note": NOTE}, tensors)

    a, b, roots = np.stack([tree() for _ in range(B)]), np.stack([tree() for _ in range(B)]), random.integers(1, labels, B)
    child = lambda t, c: t @ D[c].T
    cons = lambda x, y, s: x @ D[0] + y @ D[1] + s[:, :, None] * R[0]
    moved = lambda t, c: np.array([[row[number[(c,) + x]] if (c,) + x in number else 0 for x in order] for row in t])

    def run_ops(p, i, config):
        made = cons(bound(a), bound(b), F[roots])
        joined = np.array([[roots[k] if not x else (a, b)[x[0]][k][number[x[1:]]] for x in order] for k in range(B)])
        assert (symbols(made) == joined).all() and (symbols(child(bound(a), 0)) == moved(a, 0)).all()
        return {"tpr_a": bound(a), "tpr_b": bound(b), "car": child(bound(a), 0), "cdr": child(bound(a), 1), "cons": made,
                "car_symbols": moved(a, 0), "cdr_symbols": moved(a, 1), "cons_symbols": joined,
                "blend_car": child(i["blend"], 0), "blend_cdr": child(i["blend"], 1), "blend_cons": cons(i["blend"], i["blend2"], i["root_filler"])}

    i = {"tree_a": a, "tree_b": b, "root_symbol": roots, "blend": draw(random, B, d_filler, d_role), "blend2": draw(random, B, d_filler, d_role),
         "root_filler": draw(random, B, d_filler)}
    c = {k: draw(random, B, d_filler, d_role) for k in ("blend_car", "blend_cdr", "blend_cons")}
    save(folder, "dtm_ops", case, run_ops, {}, i, c, config, constants=fixed)


def save_texts(folder, case, max_depth, rows):
    """Kind dtm_data."""
    def tree(text):
        stack = [[]]
        for token in text.split():
            if token == "(":
                stack.append([])
            elif token == ")":
                label, *children = stack.pop()
                stack[-1].append((label if isinstance(label, str) else label[0], children))
            else:
                stack[-1].append(token if len(stack) > 1 and not stack[-1] else (token, []))
        return stack[0][0]

    depth = lambda t: 1 + max(map(depth, t[1]), default=0)
    walk = lambda t: [t[0]] + [label for child in t[1] for label in walk(child)]
    text = lambda t, top=True: t[0] if not t[1] and not top else " ".join(["(", t[0], *(text(child, False) for child in t[1]), ")"])
    order, vocabulary, kept, arrays, texts = places(max_depth), ["<empty>"], [], ([], []), ([], [])
    for row in rows:
        pair = [tree(row["source"]), tree(row["target"])]
        kept.append(int(max(map(depth, pair)) <= max_depth))
        if not kept[-1]:
            continue
        for side, t in enumerate(pair):
            vocabulary += [label for label in dict.fromkeys(walk(t)) if label not in vocabulary]
            at = {(): t}
            for x in order[1:]:
                above = at.get(x[:-1])
                if above and x[-1] < len(above[1]):
                    at[x] = above[1][x[-1]]
            arrays[side].append([vocabulary.index(at[x][0]) if x in at else 0 for x in order])
            texts[side].append(text(t))
    metadata = {"kind": "dtm_data", "config": json.dumps({"max_depth": max_depth}), "note": NOTE, "rows": json.dumps(rows), "ind2vocab": json.dumps(vocabulary),
                "input_strings": json.dumps(texts[0]), "output_strings": json.dumps(texts[1])}
    write(folder / f"dtm_data__{case}.safetensors", metadata, {"out/kept_rows": np.array(kept), "out/input_indices": np.array(arrays[0]),
                                                               "out/output_indices": np.array(arrays[1])})


def save_updates(folder, case, random, optimizer, args, clip, schedule, without, steps):
    """Kind optim: the formulas of Adam and AdamW, with clipping and linear warm-up."""
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


def draw(random, *shape, scale=1.0, around=0.0):
    """Values that float32 holds exactly."""
    return (around + scale * random.standard_normal(shape)).astype(np.float32).astype(np.float64)


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
    """The last node of the first graph, and what is drawn of the others."""
    real = np.concatenate([[n - 1], random.integers(n - 2, n + 1, B - 1)])
    return (np.arange(n)[None] >= real[:, None]).astype(np.int64)


def main(folder):
    random = np.random.default_rng(20)

    def one_attention(case, config, B, n, d, mask="none", bias=False, hidden=0):
        """mask: none, padding, or random (any triangle; one row wholly shut)."""
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
    save_trees(folder, "two_levels_wide_roles", random, 2, 4, 5, 6, 2)
    save_trees(folder, "four_levels", random, 4, 6, 6, 15, 1)
    save_texts(folder, "three_levels", 3, [
        {"source": "( a ( b c ) ( c ( d ) b ) )", "target": "( e a )"}, {"source": "( a ( b ( c ( f d ) ) ) )", "target": "( g )"},
        {"source": "( d )", "target": "( h ( e d c ) )"}, {"source": "( e ( a b ) c )", "target": "( e ( a ( b ( c d ) ) ) )"}])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    main(Path(sys.argv[1]))
