"""Golden files of kinds dtm_*: trees and their text, and the tree machine, in parts and as a whole. make_own.py calls
main()."""
# SPDX-License-Identifier: Apache-2.0
import json, math

import numpy as np

from own_files import NOTE, draw, layer_norm, linear, relu, save, softmax, write


# ---- the tree machine, over real or complex numbers --------------------------------------------------------------------------
def gelu(x):
    """Returns x P(normal variable < x), to first order in the imaginary part. The complex step needs no more."""
    erf = np.vectorize(math.erf, otypes=[np.float64])
    below, density = 0.5 + 0.5 * erf(x.real / np.sqrt(2)), np.exp(-x.real * x.real / 2) / np.sqrt(2 * np.pi)
    return (x * (below + 1j * density * x.imag)).astype(x.dtype)


def transformer_layer(p, prefix, x, config):
    d, h = x.shape[-1], config["nhead"]

    def attend(x):
        q, k, v = np.split(x @ p[prefix + "self_attn.in_proj_weight"].T + p[prefix + "self_attn.in_proj_bias"], 3, -1)
        q, k, v = (t.reshape(*t.shape[:2], h, d // h) for t in (q, k, v))
        w = softmax(np.einsum("bihe,bjhe->bijh", q, k) / np.sqrt(d // h), 2)
        return linear(p, prefix + "self_attn.out_proj", np.einsum("bijh,bjhe->bihe", w, v).reshape(x.shape))

    between = relu if config["activation"] == "relu" else gelu
    feed = lambda x: linear(p, prefix + "linear2", between(linear(p, prefix + "linear1", x)))
    if config["norm_first"]:
        x = x + attend(layer_norm(p, prefix + "norm1", x))
        return x + feed(layer_norm(p, prefix + "norm2", x))
    x = layer_norm(p, prefix + "norm1", x + attend(x))
    return layer_norm(p, prefix + "norm2", x + feed(x))


def agent(p, prefix, k, x, config):
    """Returns the tokens, and the logits of the operation, the root and the arguments."""
    for j in range(config.get("layers_per_step", 1)):
        x = transformer_layer(p, f"{prefix}layers.{k}.layers.{j}.", x, config)
    if config["norm_first"]:
        x = layer_norm(p, f"{prefix}layers.{k}.norm", x)
    said = lambda name, x: linear(p, f"{prefix}{name}_list.{k}", x)
    return x, said("op_logits", x[:, 0]), said("root_filler", x[:, 1]), said("arg_logits", x[:, 2:])


def interpret(maps, root_role, memory, w, s, o):
    """`maps` are the matrices for car, cdr and the two arguments of cons. memory (B, l, f, r), w (B, l, 4), s (B, f), o
    (B, 3)."""
    car, cdr, left, right = (np.einsum("bl,blmn->bmn", w[..., c], memory) @ maps[c].T for c in range(4))
    of = lambda c: o[:, c, None, None]
    return of(0) * car + of(1) * cdr + of(2) * (left + right + s[:, :, None] * root_role)


def run_agent(p, i, config):
    x, o, s, a = agent(p, "", config["step"], i["encodings"], config)
    return {"encodings": x, "op_dist": softmax(o, -1), "root_filler": s, "arg_weights": softmax(a, 1)}


# ---- trees: a place is a tuple of left and right turns; only the order of places is used -------------------------
def places(depth):
    level, found = [()], []
    for _ in range(depth):
        found, level = found + level, [x + (c,) for x in level for c in (0, 1)]
    return found


def save_trees(folder, case, random, depth, labels, d_filler, d_role, B):
    """Makes files of kinds dtm_tpr, dtm_DE and dtm_ops from their definitions, which are sums over places."""
    order = places(depth)
    number = {x: k for k, x in enumerate(order)}
    R = np.linalg.qr(random.standard_normal((d_role, d_role)))[0][: len(order)]
    F = np.linalg.qr(random.standard_normal((max(labels, d_filler),) * 2))[0][:labels, :d_filler]
    F[0] = 0
    D = [sum((np.outer(R[number[x]], R[number[(c,) + x]]) for x in order if (c,) + x in number), np.zeros((d_role, d_role))) for c in (0, 1)]
    fixed = {"tpr.role_emb.weight": R, "tpr.filler_emb.weight": F}
    config = {"B": B, "max_depth": depth, "decode_eps": 0.01}

    def tree():
        """Returns the labels of a random tree. The tree has a root and both children of the root. Below them, each
        child of a node exists with probability 3/4."""
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
    size = np.linspace(0.002, 0.02, len(order))  # above and below the threshold
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


LEARNED = ("car_net.car_weight", "cdr_net.cdr_weight", "cons_net.cons_l", "cons_net.cons_r")


def roles_and_shifts(random, depth, d_role):
    """Returns the roles of the places, and the matrices of car, cdr and the two arguments of cons. The matrices are
    computed from their definitions, which are sums over places."""
    order = places(depth)
    number = {x: k for k, x in enumerate(order)}
    R = np.linalg.qr(random.standard_normal((d_role, d_role)))[0][: len(order)]
    D = [sum(np.outer(R[number[x]], R[number[(c,) + x]]) for x in order if (c,) + x in number) for c in (0, 1)]
    return order, R, [D[0], D[1], D[0].T, D[1].T]


def agent_params(random, prefix, steps, config):
    d, hidden, p = config["d_model"], config["dim_feedforward"], {}
    for k in steps:
        def add(name, rows, columns, bias=".bias", weight=".weight"):
            p[prefix + name + weight], p[prefix + name + bias] = draw(random, rows, columns, scale=columns ** -0.5), draw(random, rows, scale=0.2)

        def norm(name):
            p[prefix + name + ".weight"], p[prefix + name + ".bias"] = draw(random, d, scale=0.2, around=1), draw(random, d, scale=0.2)

        for j in range(config.get("layers_per_step", 1)):
            at = f"layers.{k}.layers.{j}."
            add(at + "self_attn.in_proj", 3 * d, d, "_bias", "_weight")
            add(at + "self_attn.out_proj", d, d)
            add(at + "linear1", hidden, d)
            add(at + "linear2", d, hidden)
            norm(at + "norm1")
            norm(at + "norm2")
        if config["norm_first"]:
            norm(f"layers.{k}.norm")
        for name, count in (("op_logits", 3), ("root_filler", config["d_filler"]), ("arg_logits", 4)):
            add(f"{name}_list.{k}", count, d)
    return p


def save_agent(folder, case, random, B, tokens, config):
    """Makes a file of kind dtm_nta."""
    d = config["d_model"]
    config = config | {"B": B, "tokens": tokens}
    c = {"encodings": draw(random, B, tokens, d), "op_dist": draw(random, B, 3), "root_filler": draw(random, B, config["d_filler"]),
         "arg_weights": draw(random, B, tokens - 2, 4)}
    save(folder, "dtm_nta", case, run_agent, agent_params(random, "", [config["step"]], config), {"encodings": draw(random, B, tokens, d)}, c, config)


def save_interpreter(folder, case, random, depth, labels, d_filler, d_role, B, L, learned):
    """Makes a file of kind dtm_interp."""
    order, R, shifts = roles_and_shifts(random, depth, d_role)
    F = np.concatenate([np.zeros((1, d_filler)), draw(random, labels - 1, d_filler)])
    config = {"B": B, "memory_len": L, "max_depth": depth, "learned_D_E": learned, "params_not_trained": ["tpr.filler_emb.weight", "tpr.role_emb.weight"]}
    p = {"I." + name: draw(random, d_role, d_role, scale=d_role ** -0.5) for name in LEARNED} if learned else {}
    weights = lambda *shape: np.float64(np.float32(softmax(draw(random, *shape), 1)))
    i = {"memory": draw(random, B, L, d_filler, d_role), "arg_weights": weights(B, L, 4), "root_filler": draw(random, B, d_filler), "op_dist": weights(B, 3)}
    maps = lambda p: [p["I." + name] for name in LEARNED] if learned else shifts
    run = lambda p, i, config: {"new_tree": interpret(maps(p), R[0], i["memory"], i["arg_weights"], i["root_filler"], i["op_dist"])}
    save(folder, "dtm_interp", case, run, p, i, {"new_tree": draw(random, B, d_filler, d_role)}, config,
         constants={"tpr.role_emb.weight": R, "tpr.filler_emb.weight": F})


def save_machine(folder, case, random, depth, labels, d_filler, d_role, B, config, learned=False, temperature=None):
    """Makes a file of kind dtm_full. The trees are full, so no position has scores near zero, where the loss has a
    kink.

    config may have op_dist_fn and arg_dist_fn, each "softmax" or "gumbel". Without them, both are "gumbel" if there is
    a temperature. arg_dist_axis is the axis over which the weights of arguments add up to one: "trees" or "arguments".
    The default is "arguments", as for gumbel in the released program. If root_dist is "softmax", the root of cons is
    the softmax of the agent's scores, and fillers are unit vectors, one for each label. With empty_tree, an argument
    may be the empty tree, whose token follows those of the trees. A tree that was made k steps ago has k · recency
    subtracted from its logit."""
    order, R, shifts = roles_and_shifts(random, depth, d_role)
    F = np.linalg.qr(random.standard_normal((max(labels, d_filler),) * 2))[0][:labels, :d_filler]
    if config.get("root_dist") == "softmax":
        assert d_filler == labels
        F = np.eye(labels)
    F[0] = 0
    d, N, steps, empty = config["d_model"], len(order), config["steps"], int(config.get("empty_tree", False))
    config = config | {"B": B, "max_depth": depth, "d_filler": d_filler, "learned_D_E": learned, "gumbel_temp": temperature, "decode_eps": 0.01,
                       "params_not_trained": ["tpr.filler_emb.weight", "tpr.role_emb.weight"]}
    p = {"dtm.op_logits_token": draw(random, 1, d), "dtm.root_filler_token": draw(random, 1, d),
         "dtm.ctrl_net.weight": draw(random, d, d_filler * d_role, scale=(d_filler * d_role) ** -0.5), "dtm.ctrl_net.bias": draw(random, d, scale=0.2)}
    p |= agent_params(random, "dtm.nta.", range(steps), config)
    if empty:
        p |= {"dtm.empty_token": draw(random, 1, d)}
    if learned:
        p |= {"dtm.interpreter." + name: draw(random, d_role, d_role, scale=d_role ** -0.5) for name in LEARNED}
    i = {"input": random.integers(1, labels, (B, N)), "output": random.integers(0, labels, (B, N))}
    usual = "gumbel" if temperature else "softmax"
    noisy = [kind for kind in ("op", "arg") if config.get(kind + "_dist_fn", usual) == "gumbel"]
    over = config.get("arg_dist_axis", "arguments" if "arg" in noisy else "trees")
    axis = {"op": -1, "arg": {"trees": 1, "arguments": -1}[over]}
    noise = {}
    for k in range(steps):
        noise |= {f"gumbel_{kind}_{k}": draw(random, B, *{"op": (3,), "arg": (k + 1 + empty, 4)}[kind]) for kind in noisy}

    def chosen(kind, k, logits):
        return softmax((logits + noise[f"gumbel_{kind}_{k}"]) / temperature if kind in noisy else logits, axis[kind])

    def run(p, i, config):
        maps = [p["dtm.interpreter." + name] for name in LEARNED] if learned else shifts
        memory = np.einsum("brm,rn->bmn", F[i["input"]], R)[:, None] + 0 * p["dtm.ctrl_net.bias"][0]
        out = {"input_tpr": memory[:, 0]}
        tokens = ["op_logits_token", "root_filler_token"] + ["empty_token"] * empty
        x = np.stack([np.tile(p["dtm." + token], (B, 1)) for token in tokens], 1)
        for k in range(steps):
            shrunk = linear(p, "dtm.ctrl_net", memory[:, -1].reshape(B, -1))[:, None]
            x = np.concatenate([x[:, : k + 2], shrunk, x[:, k + 2 :]], 1)
            x, o, s, a = agent(p, "dtm.nta.", k, x, config)
            age = np.array([0] + [k - l for l in range(1, k + 1)] + [0] * empty)  # the input tree has no age
            o, a = chosen("op", k, o), chosen("arg", k, a - config.get("recency", 0) * age[:, None])
            s = softmax(s, -1) if config.get("root_dist") == "softmax" else s
            tree = interpret(maps, R[0], memory, a[:, : k + 1], s, o)
            memory = np.concatenate([memory, tree[:, None]], 1)
            out |= {f"step{k}/encodings": x, f"step{k}/op_dist": o, f"step{k}/root_filler": s, f"step{k}/arg_weights": a, f"step{k}/new_tree": tree}
        scores = np.einsum("bmn,rn,vm->brv", tree, R, F)
        squares, right = (scores * scores).sum(-1), i["output"]
        wrong = ((scores - np.eye(labels)[right]) ** 2).sum(-1)
        norms = np.sqrt(squares.real)
        assert norms.min() > 1e-3
        symbols = np.where(norms > 0.01, scores.real.argmax(-1), 0)
        hit, filled = symbols == right, right != 0
        return out | {"output_tpr": tree, "decoded": scores, "symbols": symbols, "loss": np.where(filled, wrong, np.sqrt(squares)).mean(),
                      "accuracy": np.float64(hit.all(1).mean()), "partial_accuracy": np.float64((hit & filled).sum() / (filled.sum() + (~filled & ~hit).sum())),
                      "min_norm_margin": abs(norms - 0.01).min()}

    save(folder, "dtm_full", case, run, p, i, {}, config, constants={"tpr.role_emb.weight": R, "tpr.filler_emb.weight": F}, more=noise)


def save_texts(folder, case, max_depth, rows):
    """Makes a file of kind dtm_data."""
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


def main(folder):
    random = np.random.default_rng(21)
    save_trees(folder, "two_levels_wide_roles", random, 2, 4, 5, 6, 2)
    save_trees(folder, "four_levels", random, 4, 6, 6, 15, 1)
    save_texts(folder, "three_levels", 3, [
        {"source": "( a ( b c ) ( c ( d ) b ) )", "target": "( e a )"}, {"source": "( a ( b ( c ( f d ) ) ) )", "target": "( g )"},
        {"source": "( d )", "target": "( h ( e d c ) )"}, {"source": "( e ( a b ) c )", "target": "( e ( a ( b ( c d ) ) ) )"}])

    random = np.random.default_rng(22)
    sizes = lambda norm_first, act, d, h, f, **more: {"norm_first": norm_first, "activation": act, "d_model": d, "nhead": h, "dim_feedforward": f} | more
    save_interpreter(folder, "two_levels", random, 2, 4, 3, 4, 2, 3, False)
    save_interpreter(folder, "learned", random, 2, 4, 5, 3, 3, 2, True)
    save_agent(folder, "norms_before", random, 2, 4, sizes(True, "gelu", 4, 2, 6, d_filler=3, step=1, layers_per_step=2))
    save_agent(folder, "norms_after_relu", random, 3, 3, sizes(False, "relu", 6, 3, 5, d_filler=4, step=0))
    save_machine(folder, "norms_before_noisy", random, 2, 4, 5, 4, 2, sizes(1, "gelu", 4, 2, 6, steps=2), temperature=1.5)
    save_machine(folder, "norms_after_learned", random, 2, 4, 4, 3, 3, sizes(0, "relu", 4, 1, 5, steps=2), learned=True)
    save_machine(folder, "three_levels", random, 3, 5, 5, 8, 2, sizes(1, "gelu", 4, 2, 6, steps=3))

    # These files have noise only on operations, only on arguments, or on both, over each axis. norms_before_noisy above
    # has noise on both, as in the released program.
    random = np.random.default_rng(104)  # chosen: no symbol is near the threshold, and no norm has a small divisor
    over_trees = {"arg_dist_axis": "trees"}
    for case, op, arg, more, temperature in (("noisy_operations", "gumbel", "softmax", {}, 0.7),
                                             ("noisy_arguments_released", "softmax", "gumbel", {}, 0.6),
                                             ("noisy_arguments", "softmax", "gumbel", over_trees, 1.3),
                                             ("noisy_both", "gumbel", "gumbel", over_trees, 0.5)):
        config = sizes(1, "gelu", 4, 2, 6, steps=3, op_dist_fn=op, arg_dist_fn=arg) | more
        save_machine(folder, case, random, 2, 4, 5, 4, 2, config, temperature=temperature)

    # Features that the released program does not have: an empty tree in memory, recency, and roots that are
    # distributions. Norms over 8 numbers have larger divisors than norms over 4, so they are less sensitive to
    # rounding.
    random = np.random.default_rng(31)
    config = sizes(1, "gelu", 8, 2, 6, steps=3, empty_tree=True, recency=0.5, root_dist="softmax", op_dist_fn="softmax", arg_dist_fn="gumbel")
    save_machine(folder, "roots_distributions", random, 2, 5, 5, 4, 2, config | over_trees, temperature=1.3)
    save_machine(folder, "empty_tree_recent", random, 2, 4, 5, 4, 2, sizes(1, "gelu", 8, 2, 6, steps=4, empty_tree=True, recency=0.75))
