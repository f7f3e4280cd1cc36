#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes data for `trees train --data DIR`: random trees of depth 4 and 5 (6 in test_deeper), each with a transformed
tree.
  python3 make_tasks.py swap|take|rotate DIR
Or writes formulas of depth 4 and 5, each with its transformation by De Morgan's laws. No formula of test is in train:
  python3 make_tasks.py de-morgan DIR"""
import json
import pathlib
import random
import sys

TASKS = {"swap": lambda t: [t[0], t[2], t[1]],
         "take": lambda t: t[2][1],
         "rotate": lambda t: [t[1][0], t[1][1], [t[0], t[1][2], t[2]]]}


def tree(depth, rng, least=1):  # [label, left, right] or [label]; one child has depth - 1, the other at least `least`
    children = [tree(d, rng) for d in (depth - 1, rng.randint(least, depth - 1))] if depth > 1 else []
    return [f"L{rng.randrange(20)}"] + rng.sample(children, len(children))


def formula(depth, rng):  # with at most this depth
    if depth == 1 or rng.random() < 0.25:
        return [rng.choice("pqrst")]
    if rng.random() < 0.3:
        return ["NOT", formula(depth - 1, rng)]
    return [rng.choice(["AND", "OR"]), formula(depth - 1, rng), formula(depth - 1, rng)]


def de_morgan(t):  # ( NOT ( AND p q ) ) is ( OR ( NOT p ) ( NOT q ) ), and the other way round
    return [{"AND": "OR", "OR": "AND"}[t[1][0]], ["NOT", t[1][1]], ["NOT", t[1][2]]]


def text(t):
    return t[0] if len(t) == 1 else f"( {' '.join([t[0]] + [text(child) for child in t[1:]])} )"


if len(sys.argv) != 3 or sys.argv[1] not in (*TASKS, "de-morgan"):
    sys.exit(__doc__)
name, folder, rng = sys.argv[1], pathlib.Path(sys.argv[2]), random.Random(1)
folder.mkdir(parents=True, exist_ok=True)
parts = [("train", 1000, (4, 5)), ("test", 200, (4, 5)), ("test_deeper", 200, (6,))]
for part, rows, depths in parts[: 2 if name in ("rotate", "de-morgan") else 3]:
    if name == "de-morgan":
        made, trees = de_morgan, []
        while len(trees) < rows:
            below = [formula(rng.choice(depths) - 2, rng) for _ in range(2)]
            made_one = ["NOT", [rng.choice(["AND", "OR"]), *below]]
            if part == "train" or text(made_one) not in trained:
                trees.append(made_one)
        trained = {text(t) for t in trees}
    else:
        # The trees have at least 2 levels, because some tasks move a grandchild.
        trees = [tree(rng.choice(depths), rng, 2) for _ in range(rows)]
        made = TASKS[name]
    lines = [json.dumps({"source": text(t), "target": text(made(t))}) + "\n" for t in trees]
    (folder / f"{part}.jsonl").write_text("".join(lines))
