#!/usr/bin/env python3
"""Makes tables of runs of scripts/reproduce, which calls this:  scripts/reproduce [GROUP] --collect FOLDER... [--out
FILE]
  collect.py RUNS KNOWN DONE TABLE LEDGER FOLDER...
RUNS is a file with a line for each requested run: group, name, program and arguments, separated by tabs. KNOWN has
the names of all existing runs, DONE those that the ledger lists as done. TABLE is the file to write, or '' for
standard output. LEDGER is the ledger that gets a row for each run (--record), with NAME.csv next to it, or ''.
FOLDER is a folder of runs, of this machine or copied from another one.
All facts about a run come from its files, never from its name alone: seed and options from config.toml, figures from
the program's own tables, epochs and seconds from metrics.csv, status, machine and commit from NAME.sittings.
NAME.log is read only for what a program prints and writes nowhere else.
A run that is in several folders with the same figures counts once. If its figures differ, if a file is truncated, or
if its options differ from those of its neighbours in the table, no table is made. Each such case is printed, with
status 1."""

import csv
import json
import math
import re
import shutil
import struct
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True  # writes no __pycache__ next to the scripts
import ledger  # noqa: E402

METRICS = "epoch,step,loss,rate,norm,validation,seconds,examples_per_second"
CLOCK = 2  # the last columns are times, which differ between sittings
# Options that say where and how a run is made, but not what the run is.
NOT_OF_THE_RUN = {"seed", "seeds", "threads", "backend", "data", "out", "resume", "recompute", "memory", "preset",
                  "dev-only"}
SHOWN_LENGTHS = range(6, 11)  # lengths of CLUTRR's chains, as in the papers' tables
FAILED_BELOW = 0.5  # of the figure that selects checkpoints; docs/results/method.md has the rule
TREES_FAILED_BELOW = 90.0  # percent of the training rows
PLUS_MINUS = "\u00b1"


class Damaged(Exception):
    """The files of a folder cannot be used; the text names the file."""


def whole_lines(path):
    """The lines of a file. Programs write a file at once, so a file without a final line end was truncated by a
    copy."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Damaged(f"{path}: cannot be read ({error})") from None
    if not text:
        raise Damaged(f"{path}: the file is empty; copy it again")
    if not text.endswith("\n"):
        raise Damaged(f"{path}:{text.count(chr(10)) + 1}: the last line has no end: the file was cut; copy it again")
    return text.splitlines()


def setting_of(name):
    """The name of a run without its seed, and the seed."""
    setting, seed = re.fullmatch(r"(.*)-s(\d+)", name).groups()
    return setting, int(seed)


def number(cell, where):
    try:
        return float(cell)
    except ValueError:
        raise Damaged(f"{where}: a number is expected, found {cell!r}") from None


# ---- files that programs write ---------------------------------------------------------------------------------------
def read_metrics(path, finished):
    """The rows of metrics.csv, with cells as text. The last line of a run that may still be running elsewhere may be
    incomplete: it is left out, as --resume does."""
    if not path.exists():
        return []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Damaged(f"{path}: cannot be read ({error})") from None
    lines = text.split("\n")
    rest = lines.pop()
    if rest and finished:
        raise Damaged(f"{path}:{len(lines) + 1}: the last line has no end: the file was cut; copy it again")
    if not lines:
        if finished:
            raise Damaged(f"{path}:1: the file is empty; copy it again")
        return []
    if lines[0] != METRICS:
        raise Damaged(f"{path}:1: expected {METRICS}, found {lines[0][:80]}")
    rows = []
    for at, line in enumerate(lines[1:], 2):
        cells = line.split(",")
        if len(cells) != METRICS.count(",") + 1:
            raise Damaged(f"{path}:{at}: {len(cells)} cells, expected {METRICS.count(',') + 1}: copy it again")
        for cell in cells:
            number(cell, f"{path}:{at}")
        rows.append(cells)
    return rows


def table_rows(path):
    """The rows of a table that a program printed, {first cell: {header: cell}}; cells are separated by two or more
    spaces."""
    lines = [line for line in whole_lines(path) if set(line.strip()) - {"-"}]
    header = re.split(r" {2,}", lines[0].strip()) if lines else []
    rows = {}
    for line in lines[1:]:
        cells = re.split(r" {2,}", line.strip())
        if len(cells) == len(header) + 1:
            rows[cells[0]] = dict(zip(header, cells[1:]))
    return rows


def cell_of(path, rows, row, column):
    if row not in rows or column not in rows[row]:
        raise Damaged(f"{path}: no {column!r} of {row!r} in this table")
    return number(rows[row][column], path)


def log_lines(run):
    if not run.log.exists():
        raise Damaged(f"{run.log}: is missing, and {run.program} writes some of its figures nowhere else; copy it too")
    return whole_lines(run.log)


def clutrr_figures(run):
    """The last block of lines k=N  ACCURACY in the program's output."""
    block, found = {}, {}
    for line in log_lines(run) + [""]:
        match = re.fullmatch(r"k=(\d+) +([01]\.\d{3})", line)
        if match:
            block[int(match[1])] = 100 * float(match[2])
        elif block:
            found, block = block, {}
    if not found:
        raise Damaged(f"{run.log}: no line k=N  ACCURACY, and the run is marked as finished; copy it again")
    return {f"k={k}": value for k, value in found.items()}


def cogs_figures(run):
    path = run.folder / "generalisation.txt"
    rows = table_rows(path)
    figures = {"generalisation": cell_of(path, rows, "all", "graph"), "as trees": cell_of(path, rows, "all", "tree")}
    # Rows for kinds and for the two groups.
    run.more = {row: cell_of(path, rows, row, "graph") for row in rows if row != "all"}
    figures["dev"] = 100 * float(run.metrics[-1][5])
    for line in log_lines(run):
        match = re.match(rf"seed {run.seed}: dev [\d.]+  test ([\d.]+)  generalisation", line)
        if match:
            figures["test"] = float(match[1])
    return figures


def tree_figures(run):
    path = run.folder / "splits.txt"
    rows = table_rows(path)
    attempts = [1]
    if run.log.exists():
        text = "\n".join(log_lines(run))
        attempts += [int(a or b) for a, b in re.findall(r", (?:attempt (\d+)|(\d+) attempts)\b(?! at most)", text)]
    run.more = {"attempts": max(attempts), "seconds": int(run.seconds() + 0.5)}
    return {part: cell_of(path, rows, part, "whole trees") for part in rows}


def sequence_figures(run):
    path, config = run.folder / "scores.csv", run.folder / "config.toml"
    figures = {}
    # Of the figures of single kinds of sentences, a page has those of COGS' generalisation set.
    of_cogs = config.exists() and 'task = "cogs"' in whole_lines(config)
    rows = list(csv.reader(whole_lines(path)))
    if not rows or rows[0] != ["seed", "part", "figure", "value"]:
        raise Damaged(f"{path}:1: expected seed,part,figure,value")
    for at, row in enumerate(rows[1:], 2):
        if len(row) != 4 or row[0] != str(run.seed):
            raise Damaged(f"{path}:{at}: expected four cells, the first the seed {run.seed}, found {','.join(row)}")
        if of_cogs or not row[2].startswith("exact match of "):  # otherwise the row is of one kind of sentence
            figures[f"{row[1]}, {row[2]}"] = number(row[3], f"{path}:{at}")
    if not figures:
        raise Damaged(f"{path}: no figure in it")
    return figures


READERS = {
    "clutrr": (clutrr_figures, None),
    "cogs": (cogs_figures, "generalisation.txt"),
    "tree-transforms": (tree_figures, "splits.txt"),
    "cognition": (sequence_figures, "scores.csv"),
    "cfq": (sequence_figures, "scores.csv"),
    "meanings": (sequence_figures, "scores.csv"),
    "sequences": (sequence_figures, "scores.csv"),
    "pairs": (sequence_figures, "scores.csv"),  # an older name of `sequences`
}


def read_sittings(path):
    """(began, ended): lists of the lines' cells. The last line of a run in progress may be incomplete."""
    began, ended = [], []
    if not path.exists():
        return began, ended
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    for at, line in enumerate(lines[:-1], 1):
        cells = line.split("\t")
        if cells[0] == "began" and len(cells) == 5:
            began.append(cells[1:])
        elif cells[0] == "ended" and len(cells) == 3 and cells[2].isdigit():
            ended.append(cells[1:])
        else:
            expected = "began, time, host, machine, commit or ended, time, status"
            raise Damaged(f"{path}:{at}: expected {expected}, found {line[:80]}")
    return began, ended


def step_of(checkpoint):
    """The update of the checkpoint, from the header of a safetensors file; None without a file, as in a copy without
    weights."""
    if not checkpoint.exists():
        return None
    try:
        with checkpoint.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            return int(json.loads(file.read(min(length, 100_000_000)))["__metadata__"]["step"])
    except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
        raise Damaged(f"{checkpoint}: is no checkpoint ({error}); copy it again") from None


class Run:
    """The files of one run in one folder."""

    def __init__(self, folder, name, program, arguments):
        self.name, self.program, self.top = name, program, folder
        self.seed = setting_of(name)[1]
        self.folder, self.log = folder / name, folder / f"{name}.log"
        self.finished = (folder / f"{name}.finished").exists()
        self.metrics = read_metrics(self.folder / "metrics.csv", self.finished)
        # If a run has two trainings, metrics.csv is of the last one. It has no epoch if the first training was
        # sufficient.
        self.first_metrics = read_metrics(self.folder / "first" / "metrics.csv", self.finished)
        self.began, self.ended = read_sittings(folder / f"{name}.sittings")
        self.status = int(self.ended[-1][1]) if self.ended else None
        self.config = self.read_config(arguments)
        self.figures, self.failed, self.diverged = {}, None, False
        self.more = {}  # figures for the ledger that the tables of --collect do not show
        if self.finished:
            self.read_end()

    def read_config(self, arguments):
        path = self.folder / "config.toml"
        if not path.exists():
            if self.finished:
                raise Damaged(f"{path}: is missing, and the run is marked as finished; copy its folder too")
            return {}
        config = {}  # values as text; programs write one line for each
        for at, line in enumerate(whole_lines(path), 1):
            match = re.fullmatch(r"([a-z0-9-]+) = (.+)", line)
            if not match:
                raise Damaged(f"{path}:{at}: expected OPTION = VALUE, found {line[:80]}")
            config[match[1]] = match[2].strip('"')
        if config.get("seed", str(self.seed)) != str(self.seed):
            raise Damaged(f"{path}: seed is {config['seed']}, and the run is called {self.name}")
        preset = re.search(r"--preset (\S+)", arguments)
        if preset and config.get("preset", preset[1]) != preset[1]:
            raise Damaged(f"{path}: preset is {config['preset']}, and {self.name} is a run of --preset {preset[1]}")
        return config

    def read_end(self):
        reader, file = READERS[self.program]
        has_figures = (self.folder / file).exists() if file else any(re.match(r"k=\d+ ", x) for x in log_lines(self))
        if file == "splits.txt" and has_figures:
            has_figures = not whole_lines(self.folder / file)[0].startswith("seed ")  # a table of runs, not of scores
        elif file == "scores.csv" and has_figures:
            has_figures = len(whole_lines(self.folder / file)) > 1
        if not has_figures:
            # A run without figures is valid only if its loss became infinite or NaN.
            stopped = self.log.exists() and any(line.startswith("the loss is ") for line in whole_lines(self.log))
            if self.status == 0 or not stopped:
                raise Damaged(f"{self.folder}: marked as finished, and has no {file or 'figures'}; copy it again")
            self.failed = self.diverged = True
            return
        if not self.metrics and not self.first_metrics:
            raise Damaged(f"{self.folder}/metrics.csv: no epoch, and the run is marked as finished; copy it again")
        step, last = step_of(self.folder / "model.safetensors"), int(self.metrics[-1][1]) if self.metrics else 0
        if step is not None and step != last:
            end = f"ends at update {last}, and the checkpoint beside it has {step}"
            raise Damaged(f"{self.folder}/metrics.csv: {end}; copy both again")
        self.figures = reader(self)
        if self.status is not None:
            self.failed = self.status != 0
        elif self.program == "tree-transforms":
            self.failed = self.figures["train"] < TREES_FAILED_BELOW
        elif self.config.get("validate") != "loss":
            self.failed = float(self.metrics[-1][5]) < FAILED_BELOW

    def course(self):
        """The values that must be equal in two copies of one run."""
        return [row[:-CLOCK] for row in self.metrics]

    def seconds(self):
        return sum(float(part[-1][6]) for part in (self.first_metrics, self.metrics) if part)

    def shown(self):
        """The figures that tables by --collect show."""
        if self.program == "clutrr":
            papers = {name: value for name, value in self.figures.items() if int(name[2:]) in SHOWN_LENGTHS}
            return papers or self.figures
        return {name: value for name, value in self.figures.items() if name != "validation"}

    def machines(self):
        return list(dict.fromkeys(sitting[1] for sitting in self.began))

    def machine_texts(self):
        return list(dict.fromkeys(sitting[2] for sitting in self.began))

    def commits(self):
        return list(dict.fromkeys(sitting[3] for sitting in self.began))


# ---- one run found in several folders --------------------------------------------------------------------------------
def same(a, b):
    """The copy that has progressed further. If the two are not copies of one run, raises Damaged with both names."""
    first, second = sorted((a, b), key=lambda run: (run.finished, len(run.metrics)), reverse=True)
    difference = ""
    for number_of, (x, y) in enumerate(zip(first.course(), second.course()), 1):
        if x != y:
            names = METRICS.split(",")
            at = next(i for i, (p, q) in enumerate(zip(x, y)) if p != q)
            difference = f"{names[at]} of epoch {number_of} is {x[at]} and {y[at]}"
            break
    if not difference and first.finished:
        if len(second.metrics) > len(first.metrics):
            difference = f"{len(first.metrics)} epochs, finished, and {len(second.metrics)}"
        elif second.finished and len(second.metrics) != len(first.metrics):
            difference = f"both are finished, after {len(first.metrics)} and {len(second.metrics)} epochs"
        elif second.finished and first.figures != second.figures:
            names = [n for n in {**first.figures, **second.figures} if first.figures.get(n) != second.figures.get(n)]
            x, y = first.figures.get(names[0]), second.figures.get(names[0])
            difference = f"{names[0]} is {'none' if x is None else f'{x:g}'} and {'none' if y is None else f'{y:g}'}"
        elif second.finished and first.failed != second.failed and None not in (first.failed, second.failed):
            difference = "one of them failed"
    if difference:
        raise Damaged(
            f"{a.name}: two runs of this name with other figures, {first.folder} and {second.folder}: {difference};"
            " they are not one run, so name the folder that counts"
        )
    return first


def expect_alike(runs):
    """Checks that runs of one setting differ only in their seed."""
    first = runs[0]
    for run in runs[1:]:
        for key in sorted((first.config.keys() & run.config.keys()) - NOT_OF_THE_RUN):
            if first.config[key] != run.config[key]:
                raise Damaged(
                    f"{run.folder}/config.toml: {key} is {run.config[key]}, and {first.config[key]} in {first.folder}:"
                    f" {first.name} and {run.name} are not runs of one setting"
                )
        if first.figures and run.figures and first.figures.keys() != run.figures.keys():
            raise Damaged(
                f"{run.folder}: has the figures {', '.join(run.figures)}, and {first.folder} {', '.join(first.figures)}"
            )


# ---- tables ---------------------------------------------------------------------------------------------------------
def duration(seconds):
    whole = int(seconds + 0.5)
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def seeds_text(seeds):
    """1 to 4, 7 and 9"""
    parts, at = [], 0
    while at < len(seeds):
        end = at
        while end + 1 < len(seeds) and seeds[end + 1] == seeds[end] + 1:
            end += 1
        parts.append(str(seeds[at]) if end == at else f"{seeds[at]}{' to ' if end > at + 1 else ', '}{seeds[end]}")
        at = end + 1
    return ", ".join(parts)


def names_text(setting, seeds):
    return f"{setting}-s{seeds_text(seeds)}"


def mean_text(values):
    """The mean of two or more numbers."""
    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values)
    error = math.sqrt(squares / (len(values) - 1) / len(values))
    return f"{mean:.1f} {PLUS_MINUS} {error:.1f}"


def row_of(cells):
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def setting_table(setting, asked, runs):
    """The lines of a table in Markdown. asked: {seed: whether the ledger has it} of the setting; runs: {seed: Run}."""
    there = [runs[seed] for seed in asked if seed in runs]
    ended = [run for run in there if run.finished]
    scored = [run for run in ended if run.figures]
    columns = list(scored[0].shown()) if scored else []
    empty = [""] * len(columns)
    lines = [row_of(["run", *columns, "failed", "time", "machine", "commit"])]
    lines.append(row_of(["---"] * (len(columns) + 5)))

    def where(run):
        machines = ", ".join(run.machines()) or "not known"
        if len(run.began) > 1:
            machines += f" ({len(run.began)} sittings)"
        return [machines, ", ".join(run.commits()) or "not known"]

    for run in ended:
        failed = {True: "**yes**", False: "no", None: "not known"}[run.failed]
        if run.diverged:
            failed = "**diverged**"
        figures = [f"{value:.1f}" for value in run.shown().values()] or ["-"] * len(columns)
        told = f"seed {run.seed} (`{run.name}`)"
        lines.append(row_of([told, *figures, failed, duration(run.seconds()), *where(run)]))
    if len(scored) > 1:
        of = f"{len(scored)} seeds"
        diverged = [run.seed for run in ended if run.diverged]
        if diverged:
            of = f"{len(scored)} of {len(ended)} seeds, {seeds_text(diverged)} diverged"
        means = [mean_text([run.figures[column] for run in scored]) for column in columns]
        failures = f"{sum(run.failed is True for run in ended)} of {len(ended)}"
        lines.append(row_of([f"mean {PLUS_MINUS} standard error, {of}", *means, failures, "", "", ""]))
    for run in there:
        if not run.finished:
            epochs = f"{len(run.metrics)} epochs" if len(run.metrics) != 1 else "1 epoch"
            told = f"{run.name}, not finished: {epochs}"
            if run.status is not None and len(run.ended) == len(run.began):
                told += f", ended with status {run.status}"
            lines.append(row_of([told, *empty, "", duration(run.seconds()), *where(run)]))
    for known, text in ((True, "in the ledger, not in these folders"), (False, "not run yet")):
        missing = [seed for seed in asked if seed not in runs and asked[seed] == known]
        if missing:
            lines.append(row_of([f"{names_text(setting, missing)}: {text}", *empty, "", "", "", ""]))
    return lines


def command_text(program, arguments):
    return f"{program} train " + re.sub(r"--seed \d+", "--seed S", arguments)


# ---- the ledger -----------------------------------------------------------------------------------------------------
SITTINGS = {2: "two sittings", 3: "three sittings"}


def row_in_ledger(run, command):
    """The row of a run, as docs/runs/README.md describes its columns."""
    sittings = SITTINGS.get(len(run.began), "several sittings") if len(run.began) > 1 else ""
    last = (run.ended or run.began or [("",)])[-1][0][:10]
    figures = {name: f"{value:.1f}" for name, value in run.figures.items()}
    figures |= {name: str(value) if isinstance(value, int) else f"{value:.1f}" for name, value in run.more.items()}
    if run.figures and run.config.get("validate") != "loss" and (run.metrics or run.first_metrics):
        validation = 100 * float((run.metrics or run.first_metrics)[-1][5])
        figures.setdefault("validation", f"{validation:.1f}")
    return {
        "name": run.name,
        "state": "done" if run.finished else "stopped",
        "seed": str(run.seed),
        "command": command,
        "commit": ", then ".join(run.commits()),
        "machine": ", then ".join(machine_alone(text) for text in run.machine_texts()),
        "date": last,
        "epochs": str(len(run.metrics)),
        "time": duration(run.seconds()),
        "failed": "diverged" if run.diverged else {True: "yes", False: "no", None: ""}[run.failed],
        "figures": ledger.figures_text(figures),
        "note": sittings,
    }


def machine_alone(text):
    """The GPU if one computed, otherwise the machine."""
    processor, _, chip = text.partition("; ")
    return chip or processor.partition(", threads:")[0]


def record(path, runs):
    """Writes rows of these runs, [(Run, command)], and their metrics next to the ledger. A row that is done stays
    unchanged."""
    rows = ledger.read(path)
    for run, command in runs:
        if run.name in rows and rows[run.name].state == "done":
            where = rows[run.name].where
            sys.stderr.write(f"reproduce: {run.name} is done by {where}: remove that row to replace it\n")
            continue
        rows[run.name] = ledger.Run(row_in_ledger(run, command), str(path))
        if run.finished:
            for source, name in ((run.folder, run.name), (run.folder / "first", f"{run.name}-first")):
                if (source / "metrics.csv").exists():
                    shutil.copyfile(source / "metrics.csv", path.with_name(f"{name}.csv"))
        sys.stderr.write(f"reproduce: {run.name} is in {path}: {rows[run.name].state}\n")
    ledger.write(path, rows)


def main(runs_file, known_file, done_file, table, into, folders):
    read = [Path(path).read_text(encoding="utf-8") for path in (runs_file, known_file, done_file)]
    asked = [line.split("\t") for line in read[0].splitlines() if line]
    known, recorded = set(read[1].split()), set(read[2].split())
    wrong, found, strange = [], {}, []
    unlike = []
    for folder in folders:
        if not Path(folder).is_dir():
            sys.stderr.write(f"reproduce: no folder {folder}: --collect wants folders of runs, as runs/reproduce\n")
            return 2
    places = list(dict.fromkeys(Path(folder).resolve() for folder in folders))
    for place in places:
        here = {re.sub(r"\.finished$", "", path.name) for path in place.iterdir()}
        for name in sorted(here - known):
            if (place / name / "config.toml").exists() and not re.search(r"\.old\d*$", name):
                strange.append(str(place / name))
        for _, name, program, arguments in asked:
            if name not in here:
                continue
            try:
                run = Run(place, name, program, arguments)
                found[name] = same(found[name], run) if name in found else run
            except Damaged as error:
                wrong.append(str(error))
    settings = {}
    for group, name, program, arguments in asked:
        setting, seed = setting_of(name)
        entry = settings.setdefault(setting, {"command": command_text(program, arguments), "asked": {}, "runs": {}})
        entry["asked"][seed] = name in recorded
        if name in found:
            entry["runs"][seed] = found[name]
    for entry in settings.values():
        ended = [run for run in entry["runs"].values() if run.finished]
        try:
            if ended:
                expect_alike(ended)
        except Damaged as error:
            unlike.append(str(error))
    wrong += unlike
    if wrong:
        sys.stderr.write("".join(f"reproduce: {text}\n" for text in wrong))
        return 1

    ended = [run for run in found.values() if run.finished]
    failed = [run for run in ended if run.failed]
    missing = [name for _, name, _, _ in asked if name not in found]
    count = Counter(name in recorded for name in missing)
    lines = [
        f"Of {len(asked)} runs {len(ended)} are finished here, {len(failed)} of them failed;"
        f" {len(found) - len(ended)} were begun, {count[False]} are not run yet,"
        f" and the ledger has {count[True]} more."
    ]
    for setting, entry in settings.items():
        if entry["runs"]:
            lines += ["", f"## {setting}", "", f"The command is `{entry['command']}`.", ""]
            lines += setting_table(setting, dict(sorted(entry["asked"].items())), entry["runs"])
    machines = {}
    for run in found.values():
        for _, host, machine, _ in run.began:
            machines.setdefault(host, {})[machine] = None
    if machines:
        lines += ["", "The machines:", ""] + [f"- {host}: {'; or '.join(machines[host])}" for host in sorted(machines)]
    absent = {}
    for _, name, _, _ in asked:
        setting, seed = setting_of(name)
        if not settings[setting]["runs"]:
            absent.setdefault(name in recorded, {}).setdefault(setting, []).append(seed)
    for known_there, text in ((False, "Not run yet"), (True, "In the ledger, not in these folders")):
        if known_there in absent:
            names = [names_text(setting, sorted(seeds)) for setting, seeds in absent[known_there].items()]
            lines += ["", f"{text}:", ""] + [f"- {name}" for name in names]
    text = "\n".join(lines) + "\n"
    if into:
        commands = {name: f"{program} train {arguments}" for _, name, program, arguments in asked}
        try:
            record(Path(into), [(run, commands[name]) for name, run in found.items()])
        except ledger.Wrong as error:
            sys.stderr.write(f"reproduce: {error}\n")
            return 1
    for path in strange:
        sys.stderr.write(f"reproduce: {path} is of no run of scripts/reproduce, and left out\n")
    if table:
        beside = Path(table + ".part")
        try:
            beside.write_text(text, encoding="utf-8")
            beside.rename(table)
        except OSError as error:
            sys.stderr.write(f"reproduce: {table}: cannot be written ({error.strerror})\n")
            return 1
    else:
        sys.stdout.buffer.write(text.encode())  # UTF-8 whatever the locale is
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:6], sys.argv[6:]))
