#!/usr/bin/env python3
"""Paths over a grid, for `graphs train --data DIR`: `[0, "left", 1]` says that node 1 is left of node 0, and the question is
where the last node is, seen from the first.  Training has paths of 1 to 5 steps, the test files longer ones, all without
detours: `left, right, left` would ask for counting, which labels of directions do not teach.
  python3 grid_relations.py DIR
SPDX-License-Identifier: Apache-2.0"""
import json
import pathlib
import random
import sys


def path(steps, rng):
    sides = rng.choice(["left", "right"]), rng.choice(["above", "below"])  # the corner that it goes to
    taken = rng.choices(sides, k=steps)
    edges = [[i, side, i + 1] for i, side in enumerate(taken)]
    target = "-".join(side for side in sides if side in taken)
    return {"nodes": steps + 1, "edges": edges, "query": [0, steps], "target": target}


folder, rng = pathlib.Path(sys.argv[1]), random.Random(1)
folder.mkdir(parents=True, exist_ok=True)
for name, rows, lengths in [("train", 8000, (1, 2, 3, 4, 5))] + [(f"test_{k}", 500, (k,)) for k in range(6, 11)]:
    lines = [json.dumps(path(lengths[i % len(lengths)], rng)) + "\n" for i in range(rows)]
    (folder / f"{name}.jsonl").write_text("".join(lines))
