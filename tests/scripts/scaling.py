"""Tests bench/scaling with stubs of programs and of mpirun, which only print numbers:  scaling.py ROOT FOLDER
SPDX-License-Identifier: Apache-2.0"""

import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

root, folder = Path(sys.argv[1]), Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)
(folder / "bin").mkdir(parents=True)
calls = folder / "calls"

PROGRAM = f"""#!{sys.executable}
import json, os, sys
from pathlib import Path
value = lambda name: sys.argv[sys.argv.index(name) + 1]
processes, threads, batch = int(os.environ.get("STUB_PROCESSES", 1)), int(value("--threads")), int(value("--batch"))
with open({str(calls)!r}, "a") as file:
    file.write(json.dumps([processes, threads, batch, sys.argv[1:]]) + "\\n")
number = sum(1 for _ in open({str(calls)!r}))
if os.environ.get("STUB_FAILS"):
    sys.exit("no such weather")
rate = {{(1, 1): 100, (1, 2): 160, (2, 1): 200}}[processes, threads] * (1.02 if number % 2 else 1)
if os.environ.get("STUB_UNSTEADY") and processes == 2 and number % 3 == 0:
    rate /= 2
out = Path(value("--out"))
out.mkdir()
head = "epoch,step,loss,rate,norm,validation,seconds,examples_per_second"
(out / "metrics.csv").write_text(f"{{head}}\\n1,5,1,1,1,1,1,7\\n2,10,1,1,1,1,1,{{rate}}\\n")
weights = f"{{processes if os.environ.get('STUB_OTHER_WEIGHTS') else 0}} {{batch}}"
(out / "model.safetensors").write_text(weights)
print("edge-transformer, 10000 parameters; 10 updates of 400 graphs; memory 19 MiB; about 4 h")
sys.exit(3)
"""
MPIRUN = f"""#!{sys.executable}
import os, subprocess, sys
assert sys.argv[1:4] == ["--bind-to", "none", "-n"], sys.argv
sys.exit(subprocess.run(sys.argv[5:], env=dict(os.environ, STUB_PROCESSES=sys.argv[4])).returncode)
"""
for name, text in ("bin/clutrr", PROGRAM), ("bin/cogs", PROGRAM), ("bin/triad-mpi.so", ""), ("mpirun", MPIRUN):
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def scaling(*arguments, **environment):
    calls.write_text("")
    return subprocess.run([sys.executable, root / "bench/scaling", "--bin", folder / "bin", "--cores", "2", *arguments],
                          env=dict(os.environ, MPIRUN=str(folder / "mpirun"), **environment), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def expect(holds, what):
    if not holds:
        sys.exit("scaling: " + what)


def says(text, *arguments, **environment):
    done = scaling(*arguments, **environment)
    expect(done.returncode == 1 and text in done.stdout, f"{arguments}: no \"{text}\" in:\n{done.stdout}")


done = scaling("--anyway", "--rounds", "4", "clutrr")
expect(done.returncode == 0, done.stdout)
rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in done.stdout.splitlines() if line[:1] == "|"]
expect([r[:3] for r in rows[2:]] == [["clutrr", "strong", "400"], ["clutrr", "weak", "800"]], f"rows {rows}")
called = [json.loads(line) for line in calls.read_text().splitlines()]
expect(len(called) == 20, f"{len(called)} runs")


def median(processes, threads, batch):
    """Returns the milliseconds of an update in the second epoch, at the rates of the stub."""
    speed = {(1, 1): 100, (1, 2): 160, (2, 1): 200}[processes, threads]
    return statistics.median(1000 * batch / (speed * (1.02 if number % 2 else 1))
                             for number, c in enumerate(called, 1) if c[:3] == [processes, threads, batch])


for row, batch in (rows[2], 400), (rows[3], 800):
    one, threads, processes = median(1, 1, 400), median(1, 2, batch), median(2, 1, batch)
    for cell, found in zip(row[3:6], (one, threads, processes)):
        expect(cell.startswith(f"{found:.3g} ("), f"{batch} examples: {cell}, where {found} ms is the median")
    ratios = [f"{threads / one:.2f}", f"{processes / one:.2f}", f"{processes / threads:.2f}"]
    expect(row[6:9] == ratios, f"{batch} examples: ratios {row[6:9]}, not {ratios}")
# Two halves of 10,000 floats, a loss and a byte have 40,004 bytes and take four messages.
expect(rows[2][9] == rows[3][9] == "0.04 MB in 4", f"sent: {rows[2][9]}")
order = [tuple(c[:3]) for c in called]
expect(len(set(order[:5])) == 5 and order[0] != order[5] and set(order[:5]) == set(order[5:10]), f"not in turn: {order}")
for c in called:
    expect(c[3][c[3].index("--shares") + 1] == "8", f"other shares: {c}")

done = scaling("--anyway", "--rounds", "6", "clutrr", STUB_UNSTEADY="1")
expect(done.returncode == 0 and "not steady" in done.stdout, f"claims a ratio of what is not steady:\n{done.stdout}")
says("end with other weights", "--anyway", "clutrr", STUB_OTHER_WEIGHTS="1")
says("no such weather", "--anyway", "clutrr", STUB_FAILS="1")
done = scaling("--help")
expect(done.returncode == 0 and "[--rounds N]" in done.stdout, f"--help: {done.stdout}")
says("no program cfq", "cfq")
says("3 cores; give a power of two", "--cores", "3", "clutrr")
says("--rounds is at least 3", "--rounds", "2", "clutrr")
says("--updates is above 0", "--updates", "0", "clutrr")
(folder / "bin/triad-mpi.so").unlink()
says("build it: cmake --preset release", "clutrr")

# Nothing is measured if the machine does other work. In this test, every load counts as too high.
text = (root / "bench/scaling").read_text().replace("MOST_LOAD = 0.5", "MOST_LOAD = -1")
(folder / "scaling").write_text(text)
shutil.copy(root / "bench/cluster_costs.py", folder)
(folder / "bin/triad-mpi.so").touch()
calls.write_text("")
done = subprocess.run([sys.executable, folder / "scaling", "--bin", folder / "bin", "--cores", "2"], text=True,
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
expect(done.returncode == 1 and "not taken, the machine is busy" in done.stdout and not calls.read_text(), done.stdout)
print("bench/scaling: in turn, medians, ratios of what is steady")
