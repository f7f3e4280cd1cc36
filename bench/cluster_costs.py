#!/usr/bin/env python3
"""Computes how long an update of one run takes on R processes, message by message, for networks of given latency and
bandwidth:
  bench/cluster_costs.py                      prints the tables of docs/operations/cluster.md
  bench/cluster_costs.py VALUES PROCESSES     prints what each process sends for an update of VALUES parameters

A message of m bytes takes alpha + m beta seconds.  The two processes of an exchange send at the same time.  The time of
an update on one process was measured; everything else is computed. docs/operations/cluster.md lists the costs that are
not computed.
SPDX-License-Identifier: Apache-2.0"""

import math
import sys
from collections import namedtuple

SHORT_ROW = 4096  # as in include/triad/parallel/communicator.hpp
BYTES = 4  # bytes of a float
PROCESSES = [2 ** k for k in range(1, 11)]


# ---- what is sent -----------------------------------------------------------------------------------------------------

Exchange = namedtuple("Exchange", "distance sent received added")  # distance: to the partner's rank; the others:
                                                                   # numbers of values


def all_reduce(values, processes, rank):
    """Returns the exchanges of one process in all_reduce() (parallel/communicator.hpp), in order."""
    if values <= SHORT_ROW:
        distance, found = 1, []
        while distance < processes:
            found.append(Exchange(distance, values, values, values))
            distance *= 2
        return found
    first, last, halved, back, distance = 0, values, [], [], 1
    while distance < processes:
        middle = first + (last - first) // 2
        low, high = middle - first, last - middle
        mine, other = (high, low) if rank & distance else (low, high)
        halved.append(Exchange(distance, other, mine, mine))
        back.insert(0, Exchange(distance, mine, other, 0))
        first, last = (middle, last) if rank & distance else (first, middle)
        distance *= 2
    return halved + back


def update_exchanges(parameters, processes, rank=0):
    """Returns the exchanges of a trainer in one update: first those of the gradient, then those of the loss."""
    return all_reduce(parameters, processes, rank) + all_reduce(1, processes, rank)


def agreement(processes):
    """Returns the number of one-byte messages with which the processes of a program check that none of them was
    interrupted (any_process in examples/programs/shared)."""
    return int(math.log2(processes))


# ---- what it takes ----------------------------------------------------------------------------------------------------

# examples: the number of examples in a batch.  A batch of cfq's parser has 500 words, which are 37 questions in the
# benchmark.
Task = namedtuple("Task", "name parameters examples")
TASKS = {
    "clutrr": Task("CLUTRR", 568_818, 400),
    "cogs": Task("COGS", 222_363, 100),
    "parse": Task("CFQ, dependencies", 1_738_820, 37),
    "queries": Task("CFQ, queries", 1_840_640, 64),
}

# seconds: the measured time of an update on one process (docs/notes/).  floors: the floors of these times in the
# benchmark. memory: bytes per second. update_every: any_process is called once in this number of updates.
# launch: seconds to launch a kernel that adds numbers.
Machine = namedtuple("Machine", "name seconds floors memory update_every launch")
CORES = Machine("two cores", {"clutrr": 0.757, "cogs": 0.0402, "parse": 2.313, "queries": 16 * 1.243}, {}, 10e9, 1, 0)
H100 = Machine("H100", {"clutrr": 7.006e-3, "cogs": 1.184e-3}, {"clutrr": 4.880e-3, "cogs": 0.4073e-3}, 3.35e12, 16, 5e-6)

# alpha: seconds of latency. rate: bytes per second. inner_alpha and inner_rate: the same between processes whose ranks
# are in the same block of `node` ranks. agree: the latency of any_process, which sends between hosts. copies: seconds,
# and bytes per second, of a copy between device and host, before and after each message.
Network = namedtuple("Network", "name alpha rate node inner_alpha inner_rate agree copies")
ETHERNET = Network("10 Gb Ethernet", 30e-6, 1.25e9, 1, 0, 1, 30e-6, None)
INFINIBAND = Network("100 Gb InfiniBand", 2e-6, 12.5e9, 1, 0, 1, 2e-6, None)
BY_HOST = INFINIBAND._replace(name="100 Gb InfiniBand, by the host", copies=(10e-6, 10e9))
NVLINK = Network("NVLink by eights, 400 Gb InfiniBand", 22.4e-6, 50e9, 8, 11.8e-6, 450e9, 2e-6, None)

# shrinks: which part of an update's time is proportional to the number of examples: "all" of it, or only the "floor".
Setup = namedtuple("Setup", "machine network shrinks")
SETUPS = [
    Setup(CORES, ETHERNET, "all"),
    Setup(CORES, INFINIBAND, "all"),
    Setup(H100, BY_HOST, "all"),
    Setup(H100, NVLINK, "all"),
    Setup(H100, NVLINK, "floor"),
]

# Memory accesses for each gradient value: the value is cleared, and read for the norm.  Adam reads four arrays and
# writes three.
OWN_PASSES = 9
BACKWARD = 2 / 3  # fraction of the time for examples that the backward pass takes

Times = namedtuple("Times", "forward backward gradient rest own")


def message_time(network, distance, values):
    inside = distance < network.node
    seconds = (network.inner_alpha if inside else network.alpha) + values * BYTES / (
        network.inner_rate if inside else network.rate)
    if network.copies:
        seconds += 2 * (network.copies[0] + values * BYTES / network.copies[1])
    return seconds


def exchange_time(setup, exchange):
    seconds = message_time(setup.network, exchange.distance, max(exchange.sent, exchange.received))
    if exchange.added:  # reads two rows and writes one
        seconds += setup.machine.launch + 3 * BYTES * exchange.added / setup.machine.memory
    return seconds


def times(setup, key, processes, batches=1):
    """Returns the times of an update of `batches` batches on `processes` processes, with one share for each process."""
    task, machine = TASKS[key], setup.machine
    whole = machine.seconds[key]
    own = OWN_PASSES * BYTES * task.parameters / machine.memory
    if setup.shrinks == "floor":
        own = whole - machine.floors[key]
    examples = math.ceil(task.examples * batches / processes)  # examples of the process that has the most
    compute = (whole - own) * examples / task.examples
    gradient = sum(exchange_time(setup, e) for e in all_reduce(task.parameters, processes, 0))
    rest = sum(exchange_time(setup, e) for e in all_reduce(1, processes, 0))
    rest += agreement(processes) * setup.network.agree / machine.update_every
    return Times((1 - BACKWARD) * compute, BACKWARD * compute, gradient, rest, own)


def seconds(t, overlap):
    """Returns the seconds of an update.  If `overlap`, the gradient's messages are sent during the backward pass, and
    this costs nothing.  So the result shows the most that overlap can save."""
    between = max(t.backward, t.gradient) if overlap else t.backward + t.gradient
    return t.forward + between + t.rest + t.own


def speed_up(setup, key, processes, overlap=False):
    return seconds(times(setup, key, 1), overlap) / seconds(times(setup, key, processes), overlap)


def weak(setup, key, processes):
    """Returns the time of one batch on one process, divided by the time of `processes` batches on `processes`
    processes."""
    return seconds(times(setup, key, 1), False) / seconds(times(setup, key, processes, processes), False)


def overlap_gain(setup, key, processes):
    t = times(setup, key, processes)
    return 1 - seconds(t, True) / seconds(t, False)


def half_used(setup, key):
    """Returns the largest number of processes that lose at most half of their time."""
    most = 1
    for processes in PROCESSES:
        if speed_up(setup, key, processes) < processes / 2:
            break
        most = processes
    return most


def fastest(setup, key):
    return max([1] + PROCESSES, key=lambda processes: (speed_up(setup, key, processes), -processes))


# ---- tables -----------------------------------------------------------------------------------------------------------


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table(head, rows):
    return "\n".join([row(head), row(["---"] * len(head))] + [row(cells) for cells in rows]) + "\n"


def figures(number):
    """Returns a number as a text with three digits.  Numbers from a hundred on are whole."""
    return f"{number:.0f}" if number >= 99.95 else f"{number:.1f}" if number >= 9.995 else f"{number:.2f}"


def percent(part):
    return f"{100 * part:.0f}"


def setup_name(setup):
    return f"{setup.machine.name}, {setup.network.name}" + ("; only the floor shrinks" if setup.shrinks == "floor" else "")


def sizes_table():
    rows = []
    for task in TASKS.values():
        cells = [task.name, f"{task.parameters:,}", task.examples]
        for processes in 2, 8, 64, 1024:
            sent = update_exchanges(task.parameters, processes)
            cells.append(f"{sum(e.sent for e in sent) * BYTES / 1e6:.2f} MB in {len(sent) + agreement(processes)}")
        rows.append(cells)
    return table(["task", "parameters", "examples of a batch"] + [f"{r} processes" for r in (2, 8, 64, 1024)], rows)


def each(cell, more=(), setups=tuple(SETUPS)):
    """Returns a row for each combination of machine, network and task, if the task was measured on the machine."""
    rows = []
    for setup in setups:
        for key in setup.machine.seconds:
            rows.append([setup_name(setup), TASKS[key].name] + [cell(setup, key, r) for r in PROCESSES] +
                        [f(setup, key) for _, f in more])
    return table(["a process, network", "task"] + PROCESSES + [name for name, _ in more], rows)


def tables():
    return {
        "sent": sizes_table(),
        "strong": each(lambda *at: figures(speed_up(*at)), [("half used to", half_used), ("fastest at", fastest)]),
        # For whole batches.
        "weak": each(lambda *at: percent(weak(*at)), setups=[s for s in SETUPS if s.shrinks == "all"]),
        "overlap": each(lambda *at: percent(overlap_gain(*at))),
    }


def main(arguments):
    if not arguments:
        for name, text in tables().items():
            print(f"{name}\n\n{text}")
        return 0
    if len(arguments) != 2 or not all(a.isdigit() for a in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    values, processes = map(int, arguments)
    if processes < 1 or processes & (processes - 1):
        print(f"cluster_costs: {processes} processes, expected a power of two", file=sys.stderr)
        return 2
    for rank in range(processes):
        sent = update_exchanges(values, processes, rank)
        print(rank, len(sent), sum(e.sent for e in sent) * BYTES)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
