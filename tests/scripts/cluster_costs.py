"""Tests bench/cluster_costs.py: its numbers of bytes equal those that processes send, and its tables equal those in
docs/operations/cluster.md:
  cluster_costs.py ROOT FOLDER TRAFFIC_OF     TRAFFIC_OF: the program triad-traffic-of
SPDX-License-Identifier: Apache-2.0"""

import math
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
root, counts = Path(sys.argv[1]), sys.argv[3]
sys.path.insert(0, str(root / "bench"))
import cluster_costs as costs  # noqa: E402


def expect(holds, what):
    if not holds:
        sys.exit("cluster_costs: " + what)


def output(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


# ---- messages and bytes of each process: computed, and counted -------------------------------------------------------
script = root / "bench/cluster_costs.py"
for processes in 1, 2, 4, 8, 32:
    for values in 1, 5, 4096, 4097, 10003, costs.TASKS["clutrr"].parameters:
        reckoned, counted = output(sys.executable, script, values, processes), output(counts, values, processes)
        expect(reckoned == counted, f"{values} values, {processes} processes: rank, messages, bytes\nreckoned:\n{reckoned}"
                                    f"counted:\n{counted}")
        expect(len(counted.splitlines()) == processes, f"{processes} processes, and other lines:\n{counted}")
for key, task in costs.TASKS.items():
    sent = sum(e.sent for e in costs.all_reduce(task.parameters, 8, 0))
    expect(abs(sent - 2 * 7 / 8 * task.parameters) < 4, f"{key}: 8 processes send {sent} values each")
for wrong in ["7"], ["7", "3"], ["7", "0"], ["x", "2"]:
    expect(subprocess.run([sys.executable, script, *wrong], capture_output=True).returncode == 2, f"takes {wrong}")

# ---- time -------------------------------------------------------------------------------------------------------------
free = costs.Network("free", 0, math.inf, 1, 0, math.inf, 0, None)
machine = costs.Machine("a machine", {"clutrr": 8.0}, {"clutrr": 6.0}, math.inf, 1, 0)
setup = costs.Setup(machine, free, "all")
for processes, examples in (2, 200), (8, 50), (64, 7), (512, 1), (1024, 1):  # 400 examples in total
    found = costs.speed_up(setup, "clutrr", processes)
    expect(math.isclose(found, 400 / examples), f"{processes} processes without messages are {found} times as fast")
expect(costs.half_used(setup, "clutrr") == 512 and costs.fastest(setup, "clutrr") == 512, "half used, fastest")
found = costs.speed_up(setup._replace(shrinks="floor"), "clutrr", 4)
expect(math.isclose(found, 8 / (2 + 6 / 4)), f"where the floor shrinks alone 4 processes are {found} times as fast")

# Each of four processes sends 4 messages for the gradient and 2 for the loss. The messages for the gradient have half
# of it, a quarter, and both again.
n = costs.TASKS["clutrr"].parameters
slow = costs.Network("slow", 0.5, 1e6, 2, 0.25, 2e6, 0.125, None)
half, quarter = 4 * n / 2 / 1e6, 4 * n / 4 / 1e6
gradient = 2 * (0.25 + half / 2) + 2 * (0.5 + quarter)
rest = (0.25 + 4 / 2e6) + (0.5 + 4 / 1e6) + 2 * 0.125
by_hand = 8.0 / 4 + gradient + rest
t = costs.times(setup._replace(network=slow), "clutrr", 4)
expect(math.isclose(costs.seconds(t, False), by_hand, rel_tol=1e-5), f"{costs.seconds(t, False)} s, by hand {by_hand}")
by_hand = 2 / 3 + max(4 / 3, gradient) + rest
expect(math.isclose(costs.seconds(t, True), by_hand, rel_tol=1e-5), f"overlapped {costs.seconds(t, True)} s, not {by_hand}")
copied = costs.times(setup._replace(network=slow._replace(copies=(1, 1e6))), "clutrr", 4)
expect(math.isclose(copied.gradient - t.gradient, 2 * 4 + 2 * 2 * (half + quarter), rel_tol=1e-5), "copies to the host")
adding = costs.times(setup._replace(machine=machine._replace(launch=1, memory=12e6)), "clutrr", 4)
expect(math.isclose(adding.gradient, 2 + n * 3 / 4 / 1e6, rel_tol=1e-5), f"adding takes {adding.gradient} s")

for setup in costs.SETUPS:
    for key in setup.machine.seconds:
        for processes in costs.PROCESSES:
            what = f"{costs.setup_name(setup)}, {key}, {processes} processes"
            alone, strong = 1.0, costs.speed_up(setup, key, processes)
            expect(0 < strong <= costs.TASKS[key].examples and strong <= processes, f"{what}: {strong} times as fast")
            expect(costs.speed_up(setup, key, processes, True) >= strong, f"{what}: overlap makes it slower")
            expect(0 <= costs.overlap_gain(setup, key, processes) <= costs.BACKWARD, f"{what}: overlap's gain")
            expect(0 < costs.weak(setup, key, processes) <= alone, f"{what}: weak scaling")

# ---- the page ---------------------------------------------------------------------------------------------------------
page = (root / "docs/operations/cluster.md").read_text(encoding="utf-8")
for name, text in costs.tables().items():
    expect(text in page, f"docs/operations/cluster.md has not the table \"{name}\" that bench/cluster_costs.py prints:\n{text}")
for number in "30 µs", "2 µs", "11.8 µs", "22.4 µs", "10 µs":
    expect(number in page, f"docs/operations/cluster.md does not say the assumption {number}")
print("bench/cluster_costs.py: messages as counted, times as by hand, tables as in docs/operations/cluster.md")
