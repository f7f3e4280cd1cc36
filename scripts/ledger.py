"""docs/runs/ledger.csv: a row for each run that was made. docs/runs/README.md explains its columns."""

import csv
import io
import re

COLUMNS = tuple("name state seed command commit machine date epochs time failed figures note".split())
STATES = {  # each with what tables print for a run without figures
    "done": "",  # ended and scored: scripts/reproduce skips it
    "stopped": "begun, not ended",
    "unscored": "not scored whole",  # ended
}
FAILED = {"no": "no", "yes": "**yes**", "diverged": "**diverged**", "": ""}


class Wrong(Exception):
    """The ledger, the tables or the pages have invalid contents; the text names the place."""


class Run:
    def __init__(self, cells, where):
        self.cells, self.where = cells, where
        self.name, self.state = cells["name"], cells["state"]
        if not re.fullmatch(r"[\w.-]+-s\d+", self.name):
            raise Wrong(f"{where}: the name is {self.name!r}, expected letters, digits, dots and dashes, with -sSEED")
        if not self.name.endswith(f"-s{cells['seed']}"):
            raise Wrong(f"{where}: the seed of {self.name} is {cells['seed']!r}")
        if self.state not in STATES:
            raise Wrong(f"{where}: the state is {self.state!r}, expected one of {', '.join(STATES)}")
        if cells["failed"] not in FAILED:
            raise Wrong(f"{where}: failed is {cells['failed']!r}, expected no, yes or diverged, or nothing")
        if not re.fullmatch(r"(\d{4}-\d\d-\d\d)?", cells["date"]):
            raise Wrong(f"{where}: the date is {cells['date']!r}, expected YYYY-MM-DD or nothing")
        self.figures = {}
        for part in filter(None, cells["figures"].split("; ")):
            key, colon, value = part.partition(": ")
            if not colon or not value or key in self.figures:
                raise Wrong(f"{where}: figures are NAME: VALUE; NAME: VALUE, each name once; found {part!r}")
            self.figures[key] = value

    def device(self):
        return next((chip for chip in ("H100", "H200") if chip in self.cells["machine"]), "CPU")


def figures_text(figures):
    return "; ".join(f"{key}: {value}" for key, value in figures.items())


def read(path):
    """{name: Run}, in the order of the file."""
    runs = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            if tuple(next(rows, ())) != COLUMNS:
                raise Wrong(f"{path}:1: expected {','.join(COLUMNS)}")
            for row in rows:
                where = f"{path}:{rows.line_num}"
                if len(row) != len(COLUMNS):
                    raise Wrong(f"{where}: {len(row)} cells, expected {len(COLUMNS)}")
                run = Run(dict(zip(COLUMNS, row)), where)
                if run.name in runs:
                    raise Wrong(f"{where}: {run.name} is in {runs[run.name].where} too: a run has one row")
                runs[run.name] = run
    except OSError as error:
        raise Wrong(f"{path}: cannot be read ({error.strerror})") from None
    return runs


def in_order(runs):
    """Sorts by name, with numbers compared as numbers: -s2 before -s10."""

    def key(name):
        return [(len(part), part) if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]

    return sorted(runs, key=key)


def text_of(runs):
    """The contents of the file. Rows are in the order of their names, so that two authors who add rows seldom
    conflict."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(COLUMNS)
    for name in in_order(runs):
        rows.writerow([runs[name].cells[column] for column in COLUMNS])
    return file.getvalue()


def write(path, runs):
    beside = path.with_name(path.name + ".part")
    try:
        beside.write_text(text_of(runs), encoding="utf-8")
        beside.rename(path)
    except OSError as error:
        raise Wrong(f"{path}: cannot be written ({error.strerror})") from None
