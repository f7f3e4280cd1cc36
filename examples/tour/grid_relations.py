#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stories of rooms on a grid, as JSON lines for `graphs train --data DIR`:   python3 grid_relations.py DIR

The edge [0, "left", 1] says that room 1 is left of room 0.  The question: in which direction is the last room, seen
from the first room?  A story may turn but never goes back: after `left` and `right`, the answer would depend on the
number of steps.  Training stories have 2 to 4 steps.  The stories of each test file have the same number of steps, from
5 to 10."""
import json
import pathlib
import random
import sys


def story(steps, rng):
    sides = rng.choice(["left", "right"]), rng.choice(["above", "below"])  # the two directions that this story may take
    taken = [rng.choice(sides) for _ in range(steps)]
    edges = [[room, side, room + 1] for room, side in enumerate(taken)]
    target = "-".join(side for side in sides if side in taken)  # one of eight: "left", ..., "right-below"
    return json.dumps({"nodes": steps + 1, "edges": edges, "query": [0, steps], "target": target}) + "\n"


if len(sys.argv) != 2:
    sys.exit(__doc__)
folder, rng = pathlib.Path(sys.argv[1]), random.Random(1)
folder.mkdir(parents=True, exist_ok=True)
(folder / "train.jsonl").write_text("".join(story(2 + row % 3, rng) for row in range(3000)))
for steps in range(5, 11):
    (folder / f"test_{steps}.jsonl").write_text("".join(story(steps, rng) for _ in range(500)))
