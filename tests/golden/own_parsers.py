"""Golden files of the heads of dependency parsers: scores of arcs, and relations of pairs of tokens."""
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from own_files import draw, linear, relu, save

ENDS = "arc_child", "arc_parent", "relation_child", "relation_parent"


def run_edge(p, i, config):
    """Heads that are linear maps of the state of every edge."""
    return {"arc": linear(p, "arc", i["x"])[:, 0], "relation": linear(p, "relation", i["x"][i["edge"]])}


def run_biaffine(p, i, config):
    """Heads on pairs of tokens. Arcs are scored by a matrix W, and relations by matrices with shared factors. A root is
    its own parent."""
    B, n = config["B"], config["n"]
    u, v, child, parent = (relu(linear(p, name, i["x"])) for name in ENDS)
    arc = np.einsum("bia,bja->bij", linear(p, "arc", u).reshape(B, n, -1), v.reshape(B, n, -1))
    arc = arc + np.eye(n) * linear(p, "root", u).reshape(B, n, 1)
    product = linear(p, "child", child)[i["child"]] * linear(p, "parent", parent)[i["parent"]]
    return {"arc": arc.reshape(-1), "relation": linear(p, "relation", product)}


def main(folder):
    random = np.random.default_rng(80)

    def one(case, heads, B, n, d, relations, pairs, inner=0):
        def linear_params(name, into, out):
            return {name + ".weight": draw(random, out, into, scale=into ** -0.5), name + ".bias": draw(random, out, scale=0.3)}

        if heads == "edge":
            maps = [("arc", d, 1), ("relation", d, relations)]
        else:
            maps = [(name, d, inner) for name in ENDS] + [("arc", inner, inner), ("root", inner, 1)]
            maps += [("child", inner, inner), ("parent", inner, inner), ("relation", inner, relations)]
        p = {}
        for m in maps:
            p |= linear_params(*m)
        sentence, i, j = random.integers(0, B, pairs), random.integers(0, n, pairs), random.integers(0, n, pairs)
        i[0] = j[0]  # a root
        sentence[-1], i[-1], j[-1] = sentence[0], i[0], j[0]  # the same pair twice
        tensors = {"x": draw(random, B * n * (n if heads == "edge" else 1), d), "edge": (sentence * n + i) * n + j, "child": sentence * n + i,
                   "parent": sentence * n + j}
        config = {"heads": heads, "B": B, "n": n, "d": d, "relations": relations, "inner": inner}
        save(folder, "dep_heads", case, run_edge if heads == "edge" else run_biaffine, p, tensors,
             {"arc": draw(random, B * n * n), "relation": draw(random, pairs, relations)}, config)

    one("edge", "edge", 2, 3, 5, 4, 4)
    one("biaffine", "biaffine", 2, 3, 5, 4, 5, inner=3)
    one("biaffine_one_token", "biaffine", 1, 1, 4, 2, 1, inner=2)
