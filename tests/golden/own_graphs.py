"""Golden files of models that map a sentence to a labelled graph: an Edge Transformer over tokens and slots, and heads
that label the graph's edges and nodes, and the graph itself."""
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from own_edges import attention, layer_params, settings
from own_files import draw, layer_norm, linear, relu, save, softmax

KAPPA = 1 - 1e-6


# ---- functions of complex numbers ------------------------------------------------------------------------------------
def log1p(x):
    return np.log1p(x.real) + 1j * np.log1p(x).imag  # numpy computes log(1 + x) if x is complex


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def log_sum_exp(x):
    return np.log(np.exp(x - x.real.max()).sum()) + x.real.max()


# ---- one sentence ----------------------------------------------------------------------------------------------------
def relation_numbers(n, slots, reach):
    """Relations of tokens by their clipped distance, and one each for token to slot, slot to token, slot to slot."""
    r = np.full((n + slots, n + slots), 2 * reach + 3)
    r[:n, :n] = np.clip(np.arange(n)[None] - np.arange(n)[:, None], -reach, reach) + reach
    r[:n, n:], r[n:, :n] = 2 * reach + 1, 2 * reach + 2
    return r


def states(p, tokens, config):
    """Returns the states before the first layer and after every layer, and the states after the last norm."""
    n, slots = len(tokens), config["slots"]
    nodes = np.concatenate([tokens, config["words"] + np.arange(slots)])
    x = p["encoder.left_tokens"][nodes][:, None] + p["encoder.right_tokens"][nodes][None]
    x = x + p["encoder.relations"][relation_numbers(n, slots, config["reach"])]
    x = x + np.eye(len(nodes))[:, :, None].astype(x.dtype) * p["encoder.tokens"][nodes][:, None]
    all_states = [x]
    for k in range(config["layers"]):
        at = f"layers.{0 if config['tied'] else k}."
        x = x + attention(p, at + "edge_attention.", layer_norm(p, at + "norm1", x)[None], config, None)[0]
        x = x + linear(p, at + "linear2", relu(linear(p, at + "linear1", layer_norm(p, at + "norm2", x))))
        all_states.append(x)
    return all_states, layer_norm(p, "norm", x)


def pointers(p, x, queried, members, config):
    """Returns L, of which row a says whose roles node a takes over. Nodes that are not members keep their own."""
    z = layer_norm(p, "head.pointers.norm", x[np.ix_(queried, queried)])

    def score(prefix, of):
        hidden = relu(linear(p, prefix + "hidden", of))
        return linear(p, prefix + "score", hidden)[..., 0]

    each = np.arange(len(queried))
    pairs, own = score("head.pointers.", z), score("head.pointers.self_", z[each, each])
    rows = np.eye(len(queried)).astype(x.dtype)
    for i in range(members):
        row = np.array([pairs[i, j] - config["distance"] * (i - j - 1) for j in range(i)] + [own[i]])
        rows[i, : i + 1] = softmax(row, 0)
    return rows


def word_pointers(p, tokens, queried, members, config):
    """Returns L. Whether a node keeps its own roles is read from the three words before it."""
    rows = np.eye(len(queried)).astype(p["head.pointers.words"].dtype)
    for i, at in enumerate(queried[:members]):
        before = [tokens[j] if j >= 0 else config["words"] for j in range(at - 3, at)]
        near = np.concatenate([p["head.pointers.words"][word] for word in before])
        own = linear(p, "head.pointers.self_score", relu(linear(p, "head.pointers.self_hidden", near)))[0]
        row = np.array([-config["distance"] * (i - j - 1) for j in range(i)] + [own])
        rows[i, : i + 1] = softmax(row, 0)
    return rows


def without_implied(p, edge, node):
    """Removes labels that edges imply from log(1 - P). Edges are constants of the gradient."""
    implied = sigmoid(16 * p["head.implied"])
    leaving = 1 - np.exp(edge.real.sum(1))  # (m, R): the probability that an edge leaves the node
    kept = np.prod(1 - KAPPA * implied * leaving[:, :, None], axis=1)
    return np.log(1 - (1 - np.exp(node)) * kept)


def slot_anchors(p, y, n):
    """Returns the probability that each slot has the roles of each token."""
    slot = np.arange(n, len(y))
    both = linear(p, "head.anchors.from_slot", y[n:, :n]) + linear(p, "head.anchors.to_slot", y[:n, n:].swapaxes(0, 1))
    none = linear(p, "head.anchors.none", y[slot, slot])
    return softmax(np.concatenate([both[..., 0], none], 1), 1)[:, :n]


def predicate_scores(p, x, y, tokens, queried, members, config):
    n = len(tokens)
    token = np.arange(n)
    by_words = config.get("pointer_words", False)
    points = by_words or config["pointers_after"]
    predicate, label = (sigmoid(linear(p, "head." + name, y[token, token])) for name in ("predicate", "label"))
    out = {}
    if points:
        heads = word_pointers(p, tokens, queried, members, config) if by_words else pointers(
            p, x[config["pointers_after"]], queried, members, config)
        out["pointers"] = heads
        for _ in range(config["squarings"]):
            heads = heads @ heads
    if config.get("slot_form") == "anchors":
        role = sigmoid(linear(p, "head.role", y[:n, :n]))  # (n, n, 3): the roles of all tokens
        if points:
            lists = np.eye(n).astype(role.dtype)
            lists[np.ix_(queried[:members], queried[:members])] = heads[:members, :members]
            role = np.einsum("ac,tck->tak", lists, role)
        of_slots = np.einsum("sc,tck->tsk", slot_anchors(p, y, n), role)
        role = np.concatenate([role[:, queried[:members]], of_slots], 1)
    else:
        role = sigmoid(linear(p, "head.role", y[token][:, queried]))  # (n, m, 3)
        if points:
            role = np.einsum("ac,tck->tak", heads, role)
    first, second, third = np.moveaxis(role, -1, 0)
    out["edge"] = log1p(-KAPPA * np.einsum("tr,ta,tb->tabr", predicate, first, second)).sum(0)
    out["node"] = log1p(-KAPPA * np.einsum("tu,ta->tau", label, third)).sum(0)
    if config.get("implied_labels"):
        out["node"] = without_implied(p, out["edge"], out["node"])
    out["bag"] = log1p(-KAPPA * predicate).sum(0)
    return out


def edge_scores(p, y, queried):
    pairs, nodes = y[np.ix_(queried, queried)], y[queried, queried]
    return {"edge": linear(p, "head.edge", pairs), "node": linear(p, "head.node", nodes)}


# ---- a batch ---------------------------------------------------------------------------------------------------------
def miss(scores, target, config):
    """Returns the sum of the binary cross entropies of labels."""
    if config["head"] == "edge":
        return -(target * np.log(sigmoid(scores)) + (1 - target) * np.log(sigmoid(-scores))).sum()
    s = scores - 1e-7
    return -(target * np.log(-np.expm1(s)) + (1 - target) * s).sum()


def run_sentences(p, i, config):
    b, slots = len(i["lengths"]), config["slots"]
    parts = {k: [] for k in ("edge", "node", "graph", "bag", "pointers")}
    parts |= {f"hidden_{k}": [] for k in range(config["layers"])}
    answers, graph, bag, penalty = 0, [], 0, 0
    token_ends, member_ends = np.cumsum(i["lengths"]), np.cumsum(i["members"])
    for s in range(b):
        n, members = i["lengths"][s], i["members"][s]
        tokens = i["tokens"][token_ends[s] - n : token_ends[s]]
        queried = np.concatenate([i["queried"][member_ends[s] - members : member_ends[s]], n + np.arange(slots)])
        x, y = states(p, tokens, config)
        straight = config["head"] == "edge"
        out = edge_scores(p, y, queried) if straight else predicate_scores(p, x, y, tokens, queried, members, config)
        out["graph"] = linear(p, "head.graph", y[n, n])  # of the first slot
        out |= {f"hidden_{k}": x[k] for k in range(config["layers"])}
        for k, v in out.items():
            parts[k].append(v.reshape(-1))

        edge, node = (np.zeros(out[k].shape, out[k].real.dtype) for k in ("edge", "node"))
        for _, a, r, c in i["edges"][i["edges"][:, 0] == s]:
            edge[a, c, r] = 1
        for _, a, u in i["labels"][i["labels"][:, 0] == s]:
            node[a, u] = 1
        answers = answers + miss(out["edge"], edge, config) + miss(out["node"], node, config)
        if i["graph_label"][s] >= 0:
            graph.append(log_sum_exp(out["graph"]) - out["graph"][i["graph_label"][s]])
        if "bag" in out:
            bag = bag + miss(out["bag"], edge.max((0, 1)), config)
        if "pointers" in out:
            own = out["pointers"].diagonal()[1:members]
            penalty = penalty - np.log(1 - own + 1e-4).sum()
    loss = (answers + config["bag"] * bag + config["pointers"] * penalty) / b + np.mean(graph)
    return {k: np.concatenate(v) for k, v in parts.items() if v} | {"loss": loss}


def main(folder):
    random = np.random.default_rng(48)

    def maps(p, name, into, out, around=0.0):
        p[name + ".weight"] = draw(random, out, into, scale=into ** -0.5)
        p[name + ".bias"] = draw(random, out, scale=0.3, around=around)

    def norm(p, name, d):
        p[name + ".weight"] = draw(random, d, scale=0.2, around=1)
        p[name + ".bias"] = draw(random, d, scale=0.2)

    def one(case, head, tied, pointers_after=0, anchors=False, words_and_implied=False):
        d, hidden, words, R, U, G = 8, 10, 6, 3, 2, 3
        config = settings("cfq", heads=2) | {
            "head": head, "layers": 3, "tied": tied, "words": words, "slots": 2, "reach": 1, "edge_labels": R,
            "node_labels": U, "graph_labels": G, "pointers_after": pointers_after, "distance": 1.5, "squarings": 2,
            "bag": 0.5, "pointers": 0.4}
        if anchors:
            config["slot_form"] = "anchors"
        if words_and_implied:
            config |= {"pointer_words": True, "implied_labels": True}
        rows = words + config["slots"]
        p = {"encoder." + k: draw(random, rows, d, scale=0.5) for k in ("tokens", "left_tokens", "right_tokens")}
        p["encoder.relations"] = draw(random, 2 * config["reach"] + 4, d, scale=0.5)
        for k in range(1 if tied else config["layers"]):
            p |= layer_params(random, f"layers.{k}.", d, hidden, config, True)[0]
        norm(p, "norm", d)
        if head == "edge":
            labels = (("edge", R), ("node", U), ("graph", G))
        else:
            labels = (("predicate", R), ("label", U), ("role", 3), ("graph", G))
        for name, count in labels:
            maps(p, "head." + name, d, count, around=0 if name == "graph" else -1)
        if pointers_after:
            norm(p, "head.pointers.norm", d)
            for name in ("", "self_"):
                maps(p, f"head.pointers.{name}hidden", d, d)
                maps(p, f"head.pointers.{name}score", d, 1)
        if words_and_implied:
            p["head.pointers.words"] = draw(random, words + 1, d, scale=0.5)
            maps(p, "head.pointers.self_hidden", 3 * d, d)
            maps(p, "head.pointers.self_score", d, 1)
            p["head.implied"] = draw(random, R, U, scale=0.1)
        if anchors:
            for name in ("from_slot", "to_slot", "none"):
                maps(p, "head.anchors." + name, d, 1)
                if name != "none":
                    del p[f"head.anchors.{name}.bias"]
        # Four tokens of the first sentence are nodes of its graph, and two of the third. The graph of the second has
        # only slots. The third graph has no label.
        edges = [[0, 0, 0, 4], [0, 1, 0, 4], [0, 1, 2, 4], [0, 4, 1, 3], [0, 5, 2, 5], [1, 1, 1, 0], [2, 1, 0, 2]]
        i = {"lengths": [5, 1, 3], "tokens": [2, 5, 0, 2, 4, 1, 3, 3, 0], "members": [4, 0, 2],
             "queried": [0, 1, 2, 4, 0, 2], "edges": edges, "graph_label": [2, 0, -1],
             "labels": [[0, 0, 0], [0, 0, 1], [0, 5, 1], [1, 0, 0], [2, 3, 1]]}
        inputs = {k: np.array(v) for k, v in i.items()}
        save(folder, "sentence_to_graph", case, run_sentences, p, inputs, {}, config)

    one("edges", "edge", tied=False)
    one("predicates_tied", "predicate", tied=True)
    one("predicates_with_pointers", "predicate", tied=False, pointers_after=2)
    one("predicates_with_anchors", "predicate", tied=False, pointers_after=2, anchors=True)
    one("predicates_with_words_and_implied_labels", "predicate", tied=False, words_and_implied=True)
