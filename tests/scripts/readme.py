#!/usr/bin/env python3
"""Copies the code in README.md into files, runs it, and compares the output with README.md:
  readme.py ROOT FOLDER programs BUILD                       the commands, with BUILD/bin/clutrr and BUILD/bin/graphs
  readme.py ROOT FOLDER project COMPILER GENERATOR CCCL      the C++ program and its project, and the line of Python
A whole run of the quickstart would take minutes. So its lines are compared with those of a run of a few updates, and
its results with docs/runs/ledger.csv. A block of README.md that this file does not know is an error.
SPDX-License-Identifier: Apache-2.0"""

import csv
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

LONGEST_PAGE, LONGEST_PROGRAM = 150, 40  # lines


def fail(text):
    sys.exit(f"README.md: {text}")


def run(command, folder, statuses=(0,)):
    """Runs a command with bash and returns its output. An error contains the output."""
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
    if done.returncode not in statuses:
        fail(f"this ends with status {done.returncode}:\n{command}\n{done.stdout}{done.stderr}")
    return done


class Page:
    def __init__(self, root):
        self.text = (root / "README.md").read_text(encoding="utf-8")
        blocks = [(language, body) for language, body in re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", self.text)]
        languages = [language for language, _ in blocks]
        if languages != ["", "", "json", "", "cpp", "cmake", "bibtex"]:
            fail(f"its blocks are {languages}; each block has a check in tests/scripts/readme.py")
        (self.quickstart, self.quickstart_prints, self.data, self.data_commands, self.program, self.project,
         self.bibtex) = (body for _, body in blocks)

    def quoted(self, pattern):
        """Returns the only inline code that matches the pattern."""
        prose = re.sub(r"(?ms)^```.*?^```$", "", self.text)
        found = [code for code in re.findall(r"`([^`\n]+)`", prose) if re.search(pattern, code)]
        if len(found) != 1:
            fail(f"{len(found)} pieces of code match {pattern}, expected one")
        return found[0]


def programs(page, root, folder, build):
    clone, quickstart, predict = page.quickstart.splitlines()
    if run("git rev-parse --git-dir", root, (0, 128)).returncode == 0:
        run(f"{clone.replace('ADDRESS', shlex.quote(str(root)))} && test -x scripts/quickstart", folder)
    else:
        print("left out: git clone, since this is no checkout of git")
    here = folder / "checkout"  # has the uncommitted changes, too
    (here / "build/release").mkdir(parents=True)
    (here / "build/release/bin").symlink_to(build / "bin")
    (here / "examples").symlink_to(root / "examples")

    script = (root / quickstart).read_text()
    if "--preset quickstart" not in script or "runs/quickstart" not in script:
        fail("scripts/quickstart no longer trains by preset quickstart into runs/quickstart; what does it print?")
    train = "build/release/bin/clutrr train --preset quickstart --epochs 1 --chains 288 --test-size 20 --out runs/quickstart"
    printed = run(train, here, (3,)).stdout.splitlines()  # 3: the model did not learn, as the run is short

    def form(line):
        return re.sub(r"\d\.\d{3}", "0.000", line)

    *shown, answer = page.quickstart_prints.splitlines()
    rows = [line for line in printed if line.startswith("k=")]
    if [row.split()[0] for row in rows] != [f"k={k}" for k in range(2, 11)]:
        fail("the quickstart prints no row for each k from 2 to 10:\n" + "\n".join(printed))
    forms = {row.split()[0]: form(row) for row in rows}
    with open(root / "docs/runs/ledger.csv", newline="", encoding="utf-8") as file:
        figures = {row["name"]: dict(part.split(": ") for part in row["figures"].split("; ")) for row in csv.DictReader(file)
                   if row["name"] in ("quickstart-edge-s1", "quickstart-rat-s1")}
    compared = 0
    for line in shown:
        if line == "...":
            continue
        k = line.split()[0]
        if form(line) != forms[k]:
            fail(f"it shows\n{line}\nand the program prints lines like\n{forms[k]}")
        measured = [figures[name][k] for name in ("quickstart-edge-s1", "quickstart-rat-s1")]
        if re.findall(r"\d\.\d{3}", line) != measured:
            fail(f"it shows\n{line}\nand docs/runs/ledger.csv has {measured}")
        compared += 1
    if compared < 3:
        fail(f"{compared} rows of the quickstart are shown, expected 3 or more")
    said = run(predict, here).stdout
    if said != answer + "\n":
        fail(f"{predict}\nprints\n{said}expected\n{answer}")

    (here / "data").mkdir()
    for part in ("train", "test"):
        (here / f"data/{part}.jsonl").write_text(page.data)
    if "cmake --build build/release --target graphs" not in page.text:
        fail("it does not say how the program graphs is built")
    *training, question = page.data_commands.splitlines()
    for command in training:
        run(command, here)
    said, expected = run(question, here).stdout, page.quoted(r'^"target":')
    if said.count("\n") != 1 or expected not in said:
        fail(f"{question}\nprints\n{said}expected {expected}")
    print(f"README.md: {compared} rows of the quickstart, the answers of two models")


def project(page, root, folder, compiler, generator, cccl):
    here = folder / "hello"
    here.mkdir()
    lines = page.program.count("\n")
    if lines > LONGEST_PROGRAM:
        fail(f"its program has {lines} lines, expected at most {LONGEST_PROGRAM}")
    (here / "main.cpp").write_text(page.program)
    if page.project.count("ADDRESS") != 1:
        fail("its CMake project names no ADDRESS")
    (here / "CMakeLists.txt").write_text(page.project.replace("ADDRESS", "https://example.invalid/triad.git"))
    build = page.quoted("^cmake -B build ")
    local = ["-D", f"FETCHCONTENT_SOURCE_DIR_TRIAD={root}", "-D", "FETCHCONTENT_FULLY_DISCONNECTED=ON", "-G", generator,
             "-D", f"TRIAD_CCCL_DIR={cccl}", "-D", f"CMAKE_CXX_COMPILER={compiler}"]
    command = build.replace("cmake -B build ", f"cmake -B build {shlex.join(local)} ", 1)
    done = run(command, here)
    if "warning" in (done.stdout + done.stderr).lower():
        fail(f"a reader sees warnings:\n{done.stdout}{done.stderr}")
    said, expected = done.stdout.splitlines()[-1], page.quoted("^chains of ")
    # With the kernels for AVX-512, AVX2 and SSE2, the model answers 100.00 % of 2,000 chains correctly. On another
    # processor, rounding may change an answer.
    if said not in (expected, expected.replace("100 %", "99 %")):
        fail(f"its program prints\n{said}\nexpected\n{expected}")

    python = page.quoted("^import torch")
    compile(python, "README.md", "exec")
    for interpreter in (sys.executable, root / "build/torch/bin/python"):  # scripts/torch installs into the second
        if not Path(interpreter).exists():
            continue
        if subprocess.run([interpreter, "-c", "import torch, triad_torch"], capture_output=True).returncode == 0:
            run(f"{shlex.quote(str(interpreter))} -c {shlex.quote(python + chr(10) + 'assert y.shape == (8, 20, 20, 64)')}", here)
            print("README.md: the line of Python ran")
            break
    else:
        print("left out: the line of Python, since no PyTorch with triad_torch was found here; its syntax is right")
    print(f"README.md: its program of {lines} lines printed: {said}")


def main(root, folder, part, *rest):
    root, folder = Path(root).resolve(), Path(folder).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    page = Page(root)
    lines = page.text.count("\n")
    if lines > LONGEST_PAGE:
        fail(f"it has {lines} lines, expected at most {LONGEST_PAGE}")
    {"programs": lambda build: programs(page, root, folder, Path(build).resolve()),
     "project": lambda *with_what: project(page, root, folder, *with_what)}[part](*rest)


if __name__ == "__main__":
    main(*sys.argv[1:])
