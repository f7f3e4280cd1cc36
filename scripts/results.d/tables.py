"""The tables that docs/runs/tables.txt defines, made from the runs of the ledger. docs/runs/README.md describes both
files."""

import csv
import math
import re

from figures import PLUS_MINUS, error_of, mean_of, row_of, spans_text, with_error
from ledger import FAILED, STATES, Wrong


def read_course(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def names_of(text):
    """NAME,NAME...; a-s1..3 is a-s1,a-s2,a-s3"""
    names = []
    for part in text.split(","):
        match = re.fullmatch(r"(.*?)(\d+)\.\.(\d+)", part)
        names += [f"{match[1]}{n}" for n in range(int(match[2]), int(match[3]) + 1)] if match else [part]
    return names


def seeds_text(names):
    """a-s5 to 10: the names of runs that differ only in their seeds."""
    stems = {}
    for name in names:
        stem, number = re.fullmatch(r"(.*?)(\d+)", name).groups()
        stems.setdefault(stem, []).append(int(number))
    return ", ".join(stem + spans_text(numbers, " and ") for stem, numbers in stems.items())


def cells_of(row):
    return [cell.strip() for cell in row.strip()[1:-1].split("|")]


class Tables:
    """docs/runs/tables.txt, as docs/runs/README.md describes it."""

    def __init__(self, path, runs, folder):
        self.path, self.runs, self.folder = path, runs, folder
        self.sections, self.used, self.rows, self.published = {}, set(), {}, {}
        name = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line or line.startswith("#"):
                continue
            if line.startswith("table "):
                name = line[6:]
                if name in self.sections:
                    raise Wrong(f"{path}:{number}: a second table {name}")
                self.sections[name] = []
            elif line.startswith("rows "):  # numbers of rows, which give the count of a rounded accuracy
                prefix = re.match(r"rows (\S+)\* |", line)[1] or ""
                self.rows[name] = prefix, {k: int(n) for k, n in re.findall(r"(\S+):(\d+)", line)}
            elif line.startswith("prose "):  # runs that the pages mention outside tables
                for run in names_of(line[6:]):
                    self.run(run, number)
            elif name is None:
                raise Wrong(f"{path}:{number}: expected `table NAME` first, found {line[:60]}")
            else:
                self.sections[name].append((number, line))

    def run(self, name, number):
        if name not in self.runs:
            raise Wrong(f"{self.path}:{number}: the ledger has no run {name}")
        self.used.add(name)
        return self.runs[name]

    def done(self, text, number):
        """The runs of a set that have figures to show; the ledger may lack some runs of the set."""
        return [self.run(n, number) for n in names_of(text) if n in self.runs and self.runs[n].state == "done"]

    def figure(self, run, key, number):
        """A figure of a run, or several figures as one cell, as text."""
        if key in run.figures:
            return run.figures[key]
        if run.cells["failed"] == "diverged":
            return "-"
        if key in run.cells:
            return run.cells[key]
        parts = key.split(", ")
        if len(parts) > 1:
            values = [self.figure(run, part, number) for part in parts]
            return f"{values[0]} each" if len(set(values)) == 1 else ", ".join(values)
        raise Wrong(f"{self.path}:{number}: {run.name} ({run.where}) has no figure {key!r}")

    def values(self, text, key, number, table):
        """The figures of the runs of a set by their names, without diverged runs; exact instead of rounded if the
        number of rows is known."""
        prefix, counts = self.rows.get(table, ("", {}))
        rows = counts.get(key) if text.startswith(prefix) else None
        values = {}
        for run in self.done(text, number):
            if run.cells["failed"] == "diverged":
                continue
            try:
                value = float(self.figure(run, key, number))
            except ValueError:
                raise Wrong(f"{self.path}:{number}: {key} of {run.name} is no number: {run.figures[key]!r}") from None
            values[run.name] = 100 * round(value * rows / 100) / rows if rows else value
        return values

    def computed(self, word, sets, key, number, table):
        """Computes mean, average, difference, paired or lower from sets of runs, as (text, numbers)."""
        def figures_of(text, least):
            values = self.values(text, key, number, table)
            if len(values) < least:
                raise Wrong(
                    f"{self.path}:{number}: {word} of {text}: {len(values)} runs are done, expected {least} or more"
                )
            return values

        by_name = figures_of(sets[0], 1 if word == "average" else 2)
        first = list(by_name.values())
        if word == "mean":
            numbers = (mean_of(first), error_of(first))
            return with_error(*numbers), numbers
        if word == "average":
            return f"{mean_of(first):.1f}", (mean_of(first),)
        if word == "lower":  # how much it is below a published mean, and the allowed difference
            mean, error = map(float, self.published_figure(sets[1], key, number).split(f" {PLUS_MINUS} "))
            allowed = 2 * math.hypot(error, error_of(first))
            numbers = (mean - mean_of(first), allowed)
            return f"{numbers[0]:.1f} ({allowed:.1f})", numbers
        other_by_name = figures_of(sets[1], 2)
        second = list(other_by_name.values())
        if word == "difference":
            numbers = (mean_of(first) - mean_of(second), math.hypot(error_of(first), error_of(second)))
            return with_error(*numbers), numbers
        if word == "paired":  # pairs runs of the same seed
            others = {self.runs[name].cells["seed"]: value for name, value in other_by_name.items()}
            seeds = {self.runs[name].cells["seed"]: value for name, value in by_name.items()}
            differences = [value - others[seed] for seed, value in seeds.items() if seed in others]
            if len(differences) < 2:
                raise Wrong(f"{self.path}:{number}: {len(differences)} pairs of one seed are done, expected 2 or more")
            numbers = (mean_of(differences), error_of(differences))
            return with_error(*numbers, sign="+"), numbers
        raise Wrong(f"{self.path}:{number}: {word} is nothing that can be computed")

    def published_figure(self, name, key, number):
        try:
            return self.published[name][key]
        except KeyError:
            raise Wrong(f"{self.path}:{number}: no row `published {name}` above, or it has no {key}") from None

    def placeholder(self, text, run, number, table):
        if text == "run":
            return f"`{run.name}`"
        if text == "time":
            device, usual = run.device(), self.usual_device
            return ("" if usual in (None, device) else f"{device}, ") + run.cells["time"]
        if match := re.fullmatch(r"(mean|average|lower|difference|paired) (\S+?)(?: (\S+?))?:(.+?)(?: = (.+))?", text):
            word, key, said = match[1], match[4], match[5]
            shown, numbers = self.computed(word, [match[2], match[3]], key, number, table)
            if said and said != shown:  # its text has more digits than the ledger: the last digit may differ
                stated = [float(x) for x in re.findall(r"[-+]?\d+(?:\.\d+)?", said)]
                if len(stated) != len(numbers) or any(abs(a - b) > 0.11 for a, b in zip(stated, numbers)):
                    raise Wrong(f"{self.path}:{number}: {word} of {key} is {shown} by the ledger, and {said} here")
                return said
            return shown
        if match := re.fullmatch(r"count (\S+)", text):
            return str(len(self.done(match[1], number)))
        if match := re.fullmatch(r"failures (\S+)", text):
            runs = self.done(match[1], number)
            return f"{sum(run.cells['failed'] in ('yes', 'diverged') for run in runs)} of {len(runs)}"
        if match := re.fullmatch(r"([\w.-]+)\.csv:(\w+)@(\d+)", text):
            return self.course(match[1], match[2], match[3], number)
        if match := re.fullmatch(r"(\S+?):(\S.*)", text):
            return self.figure(self.run(match[1], number), match[2], number)
        if run is None:
            raise Wrong(f"{self.path}:{number}: {{{text}}} is of a run, and this row is of none")
        if text.endswith(", note"):
            value = self.placeholder(text[:-6], run, number, table)
            return ", ".join(filter(None, (value, run.cells["note"])))
        if text != "failed" and re.fullmatch(r"\W*failed\W*", text):  # printed only for a run that failed
            return text.replace("failed", "**failed**") if run.cells["failed"] == "yes" else ""
        if text.endswith("?"):  # empty for a run without this figure
            return run.figures.get(text[:-1], "")
        if text == "failed":
            return FAILED[run.cells["failed"]]
        return self.figure(run, text, number)

    def course(self, name, column, step, number):
        """A value in the line of NAME.csv for an update. It has two digits, or two decimals from 1 on."""
        self.run(name, number)
        for row in read_course(self.folder / f"{name}.csv"):
            if row["step"] == step:
                value = float(row[column])
                if value >= 1:
                    return f"{value:.2f}"
                places = 1 - math.floor(math.log10(value)) if value > 0 else 2
                return f"{value:.{places}f}"
        raise Wrong(f"{self.path}:{number}: {name}.csv has no line of update {step}")

    def fill(self, row, header, run, number, table):
        cells = cells_of(row)
        for at, cell in enumerate(cells):
            if "*}" in cell:  # repeated for all remaining columns
                span = len(header) - len(cells) + 1
                cells[at : at + 1] = [cell.replace("*}", header[at + i] + "}") for i in range(span)]
                break
        if len(cells) != len(header):
            raise Wrong(f"{self.path}:{number}: {len(cells)} cells, and the head of table {table} has {len(header)}")
        return [re.sub(r"\{([^{}]+)\}", lambda m: self.placeholder(m[1], run, number, table), cell) for cell in cells]

    def make(self, table):
        """The lines of one table."""
        lines, header, self.usual_device = [], None, None
        for number, line in self.sections[table]:
            word, _, rest = line.partition(" ")
            if word == "device":  # the device that times do not name; with `device all` times name every device
                self.usual_device = rest
            elif word == "|" and header is None:
                header = cells_of(line)
                lines += [row_of(header), row_of(["---"] * len(header))]
            elif word == "|":
                lines.append(row_of(self.fill(line, header, None, number, table)))
            elif word == "published":  # NAME | cells: a published row of others
                name, _, row = rest.partition(" ")
                cells = cells_of(row)
                self.published[name] = dict(zip(header, cells))
                lines.append(row_of(cells))
            elif word == "each":  # SET | cells: a row for each run of the set with figures
                names, _, row = rest.partition(" ")
                for run in self.done(names, number):
                    lines.append(row_of(self.fill(row, header, run, number, table)))
            elif word == "several":  # SET | cells: a row if two or more runs have figures
                names, _, row = rest.partition(" ")
                if len(self.done(names, number)) > 1:
                    lines.append(row_of(self.fill(row.replace("SET", names), header, None, number, table)))
            elif word == "for":  # WORD A,B,... | cells: a row for each of A, B, ..., in place of WORD
                name, values, row = rest.split(" ", 2)
                for value in values.split(","):
                    lines.append(row_of(self.fill(row.replace(name, value), header, None, number, table)))
            elif word == "left":  # SET [| label]: a row for runs without figures, one for each state
                names, _, row = rest.partition(" ")
                lines += self.left(names, row, header, number, table)
            else:
                raise Wrong(f"{self.path}:{number}: expected a row of table {table}, found {line[:60]}")
        return lines

    def left(self, names, row, header, number, table):
        states = {}
        for name in names_of(names):
            run = self.runs.get(name)
            if run:
                self.used.add(name)
            if run is None or run.state != "done":
                states.setdefault(STATES[run.state] if run else "not run yet", []).append(name)
        lines = []
        for state, those in states.items():
            if row:
                cells = cells_of(row.replace("{state}", state))
            else:
                cells = [seeds_text(those), state]
            cells += [""] * (len(header) - len(cells))
            lines.append(row_of(self.fill(row_of(cells), header, None, number, table)))
        return lines
