#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the trained models of examples/models give the answers that the pages show, and that the programs accept
the commands of scripts/small-models:
  small_models.py ROOT FOLDER BUILD"""
import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys

root, folder, build = (pathlib.Path(a) for a in sys.argv[1:4])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
os.symlink(root / "examples", folder / "examples")


def expect(true, text):
    if not true:
        sys.exit(f"small-models: {text}")


def masked(text):
    """Returns the text without the digits of probabilities and times, because processors round differently."""
    return re.sub(r"\d+\.\d+", "N", text)


def blocks_after(mark, text):
    """For each such comment, yields the block after it and the next block."""
    for part in text.split(f"<!-- {mark} -->\n")[1:]:
        yield re.findall(r"```\n(.*?)```", part, re.S)[:2]


def ask(line):
    command = shlex.split(line.replace("build/release/bin", str(build / "bin")))
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    expect(done.returncode == 0, f"{line}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


# ---- the output that the pages show ----
asked = 0
for page in ("docs/quickstart.md", "examples/models/README.md"):
    text = (root / page).read_text()
    for commands, printed in blocks_after("asked: answers", text):
        got = "".join(ask(line) for line in commands.splitlines() if not line.startswith("cmake "))
        expect(masked(got) == masked(printed), f"{page} prints\n{printed}and the programs\n{got}")
        asked += 1
    for commands, *_ in blocks_after("asked: pages", text):
        for line in commands.splitlines():
            ask(line)
            file = folder / re.search(r"--html (\S+)", line)[1]
            expect("<!doctype html>" in file.read_text(), f"{line}: writes no page")
            file.unlink()
            asked += 1
expect(asked >= 4, f"only {asked} blocks of commands are found on the pages")

# ---- the files ----
page = (root / "examples/models/README.md").read_text()
models = sorted(path.parent for path in (root / "examples/models").glob("*/model.safetensors"))
expect(len(models) >= 2, f"there are {len(models)} models")
for model in models:
    data = (model / "model.safetensors").read_bytes()
    expect(len(data) < 1_000_000, f"{model.name} has {len(data)} bytes")
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__")
    expect(not any(name.startswith("adam.") for name in header), f"{model.name} has moments")
    values = sum(e["data_offsets"][1] - e["data_offsets"][0] for e in header.values()) // 4
    row = next((line for line in page.splitlines() if line.startswith(f"| `{model.name}` |")), "")
    expect(f"{values:,}" in row, f"{model.name} has {values:,} parameters; its page has: {row}")
    for file in ("config.toml", "made.txt"):
        found = re.search(r'(^|[ "])(/[\w.]+)+', (model / file).read_text(), re.M)
        expect(not found, f"{model.name}/{file} has a path of one machine: {found and found[0]}")

# ---- the programs accept the commands that make the files ----
script = [sys.executable, root / "scripts/small-models"]
printed = subprocess.run([*script, "--dry-run"], capture_output=True, text=True, check=True).stdout
for model in models:
    made = (model / "made.txt").read_text()
    first = [line for line in made.splitlines() if line and not line.startswith(("commit ", "data:"))][:2]
    for line in first:
        expect(line in printed.splitlines(), f"{model.name} was made by\n{line}\nand --dry-run prints\n{printed}")
tried = subprocess.run([*script, "--try", "--bin", build / "bin"], capture_output=True, text=True, check=False)
expect(tried.returncode == 0, f"--try: status {tried.returncode}\n{tried.stdout}{tried.stderr}")
wrong = subprocess.run([*script, "nobody"], capture_output=True, text=True, check=False)
expect(wrong.returncode == 2 and "nobody is no model" in wrong.stderr, f"a name that is no model: {wrong.stderr}")
print(f"small-models: {len(models)} models, {asked} blocks of commands")
