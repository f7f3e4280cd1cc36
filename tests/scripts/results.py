#!/usr/bin/env python3
"""Tests that the tables of docs/results/ agree with docs/runs/ledger.csv, and that scripts/results reports differences
between a page, the ledger and docs/runs/NAME.csv:  results.py ROOT FOLDER"""

import csv
import shutil
import subprocess
import sys
from pathlib import Path

root, folder = Path(sys.argv[1]), Path(sys.argv[2])
copy = folder / "copy"


def call(*arguments):
    done = subprocess.run(
        [sys.executable, root / "scripts/results", *arguments], capture_output=True, encoding="utf-8", check=False
    )
    return done.returncode, done.stdout + done.stderr


def fail(text):
    sys.exit(f"results: {text}")


status, said = call("--check", root)
if status != 0:
    fail(f"the pages and the ledger disagree:\n{said}")
print(said, end="")

# In every group, scripts/reproduce must count exactly the runs of the ledger as done.
listed = subprocess.run(
    [root / "scripts/reproduce", "all", "--array", "--list"], capture_output=True, encoding="utf-8", check=True
).stdout
states = {name: state for _, name, state in (line.split("\t") for line in listed.splitlines())}
with (root / "docs/runs/ledger.csv").open(encoding="utf-8", newline="") as file:
    done = {row["name"] for row in csv.DictReader(file) if row["state"] == "done"}
if len(states) < 250 or len(done & states.keys()) < 200:
    fail(f"{len(states)} runs of scripts/reproduce, {len(done & states.keys())} done: this looks in the wrong place")
for name, state in states.items():  # `finished` means that the run was also made in this checkout
    if (state == "done" and name not in done) or (state == "left" and name in done):
        fail(f"{name} is {state} for scripts/reproduce, and the ledger says otherwise")


# ---- changes in a copy of the pages, and the messages that must follow
# -------------------------------------------------
def fresh():
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / "docs/runs", copy / "docs/runs")
    for folder_of_pages in ("results", "notes"):
        shutil.copytree(root / "docs" / folder_of_pages, copy / "docs" / folder_of_pages)


def change(name, old, new):
    path = copy / "docs" / name
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        fail(f"{name} has {old!r} {text.count(old)} times: this test wants it once")
    path.write_text(text.replace(old, new), encoding="utf-8")


def expect(text, *arguments, status=1):
    found, output = call(*arguments, copy)
    if found != status or text not in output:
        fail(f"{' '.join(arguments)}: status {found}, expected {status} and {text!r}:\n{output}")


def damaged(name, old, new, text):
    fresh()
    change(name, old, new)
    expect(text, "--check")


PAGE, COGS, LEDGER, TABLES = "results/clutrr.md", "results/cogs.md", "runs/ledger.csv", "runs/tables.txt"
SEED_1 = "| seed 1 (`clutrr-k234-s1`) | 99.0 | 98.1 | 97.8 | 83.9 | 86.9 | no | CPU, 1 h |"
damaged(PAGE, SEED_1, SEED_1.replace("83.9", "84.9"), "83.9")
damaged(PAGE, SEED_1, SEED_1.replace("| no |", "| **yes** |"), SEED_1)
damaged(PAGE, SEED_1 + "\n", "", "the page has")
damaged(PAGE, "<!-- scripts/results: clutrr-k234 -->\n\n", "", "no line `<!-- scripts/results: NAME -->`")
damaged(COGS, "<!-- scripts/results: cogs -->", "<!-- scripts/results: cog -->", "has no table cog")
ROW = "k=6: 99.0; k=7: 98.1; k=8: 97.8; k=9: 83.9; k=10: 86.9"
damaged(LEDGER, ROW, ROW.replace("86.9", "87.7"), "call scripts/results")
damaged(LEDGER, ROW, ROW.replace("; k=10: 86.9", ""), "clutrr-k234-s1 (")
damaged(LEDGER, ROW, ROW.replace("k=7: ", "k=6: "), "each name once")
damaged(LEDGER, "clutrr-k234-s1,done,", "clutrr-k234-s1,ended,", "the state is 'ended'")
damaged(LEDGER, "clutrr-k234-s1,done,1,", "clutrr-k234-s1,done,2,", "the seed of clutrr-k234-s1 is '2'")
damaged(LEDGER, "\nclutrr-k234-s1,", "\nclutrr-k234-s2,", "the seed of clutrr-k234-s2 is '1'")
damaged(LEDGER, "name,state,", "name,stage,", "expected name,state,")
damaged(TABLES, "table cogs\n", "table cogs-2\n", "has no table cogs")
# Checks the metrics that runs wrote in training: epochs, validation and time, and that each file belongs to a run.
fresh()
shutil.copy(copy / "docs/runs/clutrr-k234-s4.csv", copy / "docs/runs/clutrr-k234-s11.csv")
expect("clutrr-k234-s11.csv: the ledger has no run clutrr-k234-s11", "--check")
fresh()
course = copy / "docs/runs/clutrr-k234-augmented-full-s1.csv"
lines = course.read_text(encoding="utf-8").splitlines(keepends=True)
course.write_text("".join(lines[:-1]), encoding="utf-8")
expect("clutrr-k234-augmented-full-s1 has 20 epochs, and clutrr-k234-augmented-full-s1.csv 19", "--check")
course.write_text("".join(lines).replace(",0.9937,", ",0.9837,"), encoding="utf-8")
expect("validation of clutrr-k234-augmented-full-s1 is 99.4, and 98.37", "--check")
damaged("runs/clutrr-k234-s4.csv", ",38.03,", ",48.03,", "clutrr-k234-s4 took 38.0 s, and 48.0 s by its lines in")
damaged("runs/cfq-parse-paper-edge-tied-s1.csv", "500,0.568289,", "500,0.668289,", "0.67")
# A mean that a page states in its text must be close to the mean in the ledger.
damaged(TABLES, "test, LAS = 95.3 ± 0.2", "test, LAS = 94.3 ± 0.2", "LAS is 95.4 ± 0.2 by the ledger, and 94.3 ± 0.2")

# ---- a new run: its row, the mean, missing runs ----------------------------------------------------------------------
fresh()
with (copy / "docs" / LEDGER).open("a", encoding="utf-8") as file:  # at the end of the file: scripts/results sorts it
    figures = "k=6: 100.0; k=7: 100.0; k=8: 100.0; k=9: 100.0; k=10: 100.0"
    file.write(f"clutrr-k234-untied-s6,done,6,,abc1234,NVIDIA H200,2026-12-01,50,40.0 s,no,{figures},two sittings\n")
    file.write("clutrr-k234-untied-s8,stopped,8,,abc1234,NVIDIA H200,2026-12-01,10,,,,\n")
expect("its rows are not in the order of names", "--check")
expect("are made anew", status=0)
expect("agree with the ledger", "--check", status=0)
text = (copy / "docs" / PAGE).read_text(encoding="utf-8")
for line in (
    "| seed 6 (`clutrr-k234-untied-s6`) | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | no | H200, 40.0 s, two sittings |",
    "| mean ± standard error, 5 seeds | 98.1 ± 0.6 | 98.3 ± 1.0 | 94.5 ± 2.1 | 89.5 ± 4.1 | 89.7 ± 3.4 | 0 of 5 | |",
    "| lower than the paper by (allowed) | 0.1 (1.3) | -0.1 (2.1) | 1.1 (4.5) | 3.6 (8.7) | 0.5 (7.3) | | |",
    "| clutrr-k234-untied-s5, 7, 9 and 10 | not run yet | | | | | | |",
    "| clutrr-k234-untied-s8 | begun, not ended | | | | | | |",
):
    if f"{line}\n" not in text:
        near = [other for other in text.splitlines() if other.startswith(line[:12])]
        fail("\n".join((f"with two rows more the page has not\n{line}\nbut", *near)))
if text.count("\n") != (root / "docs" / PAGE).read_text(encoding="utf-8").count("\n") + 2:
    fail("with two rows more the page has other lines too")
with (copy / "docs" / LEDGER).open("a", encoding="utf-8") as file:
    file.write("graphs-grid-s1,done,1,,,,,,,,,\n")
expect("no table shows graphs-grid-s1", "--check")
print("every disagreement is told")
