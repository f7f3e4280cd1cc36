#!/usr/bin/env python3
"""Tests that the table of memory in docs/programs.md has the numbers that the programs print before training:
  memory_table.py ROOT FOLDER BUILD
"""
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

root, folder, build = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
shutil.rmtree(folder, ignore_errors=True)
draw = random.Random(1)


def graph(nodes):
    return {"nodes": nodes, "edges": [[i, draw.choice("abc"), i + 1] for i in range(nodes - 1)], "query": [0, nodes - 1],
            "target": draw.choice("xyz")}


def sentence(words):
    return {"tokens": draw.choices("abcdefghij", k=words), "heads": [0] + [1] * (words - 1),
            "labels": ["root"] + ["obj"] * (words - 1)}


def pair(tokens):
    words = draw.choices("abcdefghij", k=tokens)
    return {"source": " ".join(words), "target": " ".join(reversed(words))}


def tree(levels):
    text = "a"
    for _ in range(levels - 1):
        text = f"( {draw.choice('ABC')} {text} b )"
    return {"source": text, "target": text}


make = {"graphs": (graph, "nodes"), "dependencies": (sentence, "words"), "sequences": (pair, "tokens"),
        "trees": (tree, "levels")}


def printed(program, options, size):
    """Returns the MiB in the line that `train` prints before the first update."""
    data = folder / program / str(size)
    data.mkdir(parents=True, exist_ok=True)
    for part in ("train", "dev", "test"):
        lines = [json.dumps(make[program][0](size)) for _ in range(300 if part == "train" else 1)]
        (data / f"{part}.jsonl").write_text("\n".join(lines) + "\n")
    run = subprocess.Popen([build / "bin" / program, "train", "--data", data, "--threads", "2", *options],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = ""
    for line in run.stdout:
        said += line
        if found := re.search(r" updates of .*; memory (\d+) MiB", line):
            run.kill()
            run.wait()
            return int(found[1])
    sys.exit(f"memory_table: {program} {size} prints no memory:\n{said}")


text = (root / "docs/programs.md").read_text(encoding="utf-8")
row = re.compile(r"^\| `([a-z]+)`(?: with `([^`]+)`)? \| .* of (\d+) ([a-z]+) \| (\d+) MiB \|$", re.M)
rows = row.findall(text)
if len(rows) < 12:
    sys.exit(f"memory_table: docs/programs.md has {len(rows)} rows of memory, expected 12 or more")
for program, options, size, unit, stated in rows:
    if unit != make[program][1]:
        sys.exit(f"memory_table: {program} has {unit}, expected {make[program][1]}")
    found = printed(program, options.split(), int(size))
    if abs(found - int(stated)) > 1 + 0.03 * found:
        sys.exit(f"memory_table: {program} {options} {size} {unit}: {found} MiB, docs/programs.md says {stated}")
print(f"memory_table: {len(rows)} rows are as printed")
