#!/usr/bin/env python3
"""Makes tables of runs of scripts/reproduce, which calls this:  scripts/reproduce [GROUP] --collect FOLDER... [--out
FILE]
  collect.py RUNS KNOWN DONE TABLE LEDGER FOLDER...
RUNS is a file with a line for each requested run: group, name, program and arguments, separated by tabs. KNOWN has
the names of all existing runs, DONE those that the ledger lists as done. TABLE is the file to write, or '' for
standard output. LEDGER is the ledger that gets a row for each run (--record), with NAME.csv next to it, or ''.
FOLDER is a folder of runs, of this machine or copied from another one; run_files.py reads them.
A run that is in several folders with the same figures counts once. If its figures differ, if a file is truncated, or
if its options differ from those of its neighbours in the table, no table is made. Each such case is printed, with
status 1."""

import re
import shutil
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True  # writes no __pycache__ next to the scripts
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ledger  # noqa: E402
from figures import PLUS_MINUS, mean_text, row_of, spans_text  # noqa: E402
from run_files import METRICS, NOT_OF_THE_RUN, Damaged, Run, setting_of  # noqa: E402


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


def names_text(setting, seeds):
    return f"{setting}-s{spans_text(seeds, ', ')}"


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
            of = f"{len(scored)} of {len(ended)} seeds, {spans_text(diverged, ', ')} diverged"
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
