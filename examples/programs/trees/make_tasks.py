#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random trees of depth 4 and 5, in test_deeper of 6, and what is made of them, for `trees train --data DIR`.
  python3 make_tasks.py swap|take|rotate DIR"""
import json
import pathlib
import random
import sys

TASKS = {"swap": lambda t: [t[0], t[2], t[1]],
         "take": lambda t: t[2][1],
         "rotate": lambda t: [t[1][0], t[1][1], [t[0], t[1][2], t[2]]]}


def tree(depth, rng, least=1):  # [label, left, right] or [label]; one child has depth - 1, the other `least` or more
    children = [tree(d, rng) for d in (depth - 1, rng.randint(least, depth - 1))] if depth > 1 else []
    return [f"L{rng.randrange(20)}"] + rng.sample(children, len(children))


def text(t):
    return t[0] if len(t) == 1 else f"( {t[0]} {text(t[1])} {text(t[2])} )"


if len(sys.argv) != 3 or sys.argv[1] not in TASKS:
    sys.exit(__doc__)
name, folder, rng = sys.argv[1], pathlib.Path(sys.argv[2]), random.Random(1)
folder.mkdir(parents=True, exist_ok=True)
parts = [("train", 1000, (4, 5)), ("test", 200, (4, 5)), ("test_deeper", 200, (6,))]
for part, rows, depths in parts[: 2 if name == "rotate" else 3]:
    trees = [tree(rng.choice(depths), rng, 2) for _ in range(rows)]  # 2: some tasks move a child of a child
    lines = [json.dumps({"source": text(t), "target": text(TASKS[name](t))}) + "\n" for t in trees]
    (folder / f"{part}.jsonl").write_text("".join(lines))
