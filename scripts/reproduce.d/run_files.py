"""The files that a run of scripts/reproduce wrote. All facts about a run come from them, never from its name alone:
seed and options from config.toml, figures from the program's own tables, epochs and seconds from metrics.csv, status,
machine and commit from NAME.sittings. NAME.log is read only for what a program prints and writes nowhere else."""

import csv
import json
import re
import struct

METRICS = "epoch,step,loss,rate,norm,validation,seconds,examples_per_second"
CLOCK = 2  # the last columns are times, which differ between sittings
# Options that say where and how a run is made, but not what the run is.
NOT_OF_THE_RUN = {"seed", "seeds", "threads", "backend", "data", "out", "resume", "recompute", "memory", "preset",
                  "dev-only"}
SHOWN_LENGTHS = range(6, 11)  # lengths of CLUTRR's chains, as in the papers' tables
FAILED_BELOW = 0.5  # of the figure that selects checkpoints; docs/results/method.md has the rule
TREES_FAILED_BELOW = 90.0  # percent of the training rows


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


# Options of a command that config.toml need not repeat: also the folder of a published encoder.
NOT_PLANNED = NOT_OF_THE_RUN - {"preset"} | {"encoder"}
# Flags that are false unless a command or the preset cogs or cogs-published sets them.
FLAGS = ("accumulate", "freeze-encoder", "only-top", "relative", "share-embedding")
OPPOSITES = {"untied": "tied"}


def planned(arguments):
    """The options of a command, {name: value as config.toml has it}, without those that do not say what the run is."""
    options, name = {} if "--preset cogs" in arguments else dict.fromkeys(FLAGS, "false"), None
    for word in arguments.split():
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            options[name] = value or "true"
        elif name is None:
            raise ValueError(f"{word}: is no option and no value of one, in {arguments}")
        else:
            options[name], name = word, None
    for flag in [name for name, value in options.items() if value == "true"]:
        opposite = OPPOSITES.get(flag, flag[3:] if flag.startswith("no-") else "")
        if opposite:
            del options[flag]
            options[opposite] = "false"
    return {name: value for name, value in options.items() if name not in NOT_PLANNED}


def equal(a, b):
    """Whether two values of an option are equal, as numbers if both are."""
    try:
        return float(a) == float(b)
    except ValueError:
        return a == b


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
        for option, value in planned(arguments).items():
            if not equal(config.get(option, value), value):
                raise Damaged(f"{path}: {option} is {config[option]}, and {self.name} is a run with {option} {value}")
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
