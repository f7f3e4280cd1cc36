"""Trains the Edge Transformer on CLUTRR in PyTorch, with triad's triangular attention or with the paper's equations.

By default, trains both ways and compares the two.  The paper's equations are computed by einsum.  Seconds per step and
memory are measured in single precision.  Losses are compared in double precision, in which rounding errors stay small
from step to step.

    python edge_transformer.py --data FOLDER                   compares the losses of 50 steps
    python edge_transformer.py --data FOLDER --epochs 50       trains with triad, then scores each test file

FOLDER has CLUTRR's CSV files: a file whose name ends in train.csv, and files whose names end in test.csv."""
import argparse
import ast
import csv
import gzip
import sys
import time
from pathlib import Path

import torch
from torch import nn

from triad_torch import EdgeTransformer
from triad_torch._formulas import EinsumAttention
from triad_torch._memory import forget_peak, peak_mib


def read(path):
    """Yields (k, edges [(from, name, to)], query, answer) for each row."""
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="") as file:
        for row in csv.DictReader(file):
            names = ast.literal_eval(row["edge_types"])
            pairs = ast.literal_eval(row["story_edges"])
            k = int(row["task_name"].rsplit(".", 1)[1]) if row.get("task_name") else 0
            edges = [(a, name, b) for (a, b), name in zip(pairs, names)]
            yield k, edges, ast.literal_eval(row["query_edge"]), row["target"]


def batches(rows, labels, answers, size):
    """Yields tensors for each batch of `size` rows: labels of edges, queries, answers, and a mask of padding nodes."""
    for first in range(0, len(rows), size):
        part = rows[first:first + size]
        nodes = [1 + max(max(a, b) for a, _, b in edges) for _, edges, _, _ in part]
        x = torch.zeros(len(part), max(nodes), max(nodes), dtype=torch.int64)
        for g, (_, edges, _, _) in enumerate(part):
            for a, name, b in edges:
                x[g, a, b] = labels[name]
        pad = torch.arange(max(nodes)) >= torch.tensor(nodes)[:, None]
        queries = torch.tensor([query for _, _, query, _ in part])
        yield x, queries, torch.tensor([answers[answer] for *_, answer in part]), pad if pad.any() else None


def train(model, rows, labels, answers, o, steps):
    """Trains by Adam, with a linear warm-up and decay as in the released program.  Returns losses and seconds per
    step."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda s: min((s + 1) / 100, max(0.0, (steps - s) / max(1, steps - 100))))
    losses, began, made = [], time.perf_counter(), 0
    model.train()
    while made < steps:
        for x, query, answer, pad in batches(rows, labels, answers, o.batch):
            loss = nn.functional.cross_entropy(model(x, query, pad), answer)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(float(loss.detach()))
            made += 1
            if made == steps:
                break
        if o.epochs:
            seconds = (time.perf_counter() - began) / made
            print(f"step {made} of {steps}  loss {losses[-1]:.4f}  {seconds:.3f} s a step", flush=True)
    return losses, (time.perf_counter() - began) / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of CLUTRR's CSV files")
    parser.add_argument("--epochs", type=int, default=0, help="train so long with triad's attention; 0: compare both")
    parser.add_argument("--steps", type=int, default=20, help="of the comparison of times (default: 20)")
    parser.add_argument("--batch", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    files = sorted([*o.data.glob("*.csv"), *o.data.glob("*.csv.gz")])
    found = [path for path in files if path.name.removesuffix(".gz").endswith("train.csv")]
    if len(found) != 1:
        sys.exit(f"edge_transformer.py: {o.data} has {len(found)} files that end in train.csv, expected one")
    rows = list(read(found[0]))
    labels = {name: i + 1 for i, name in enumerate(sorted({name for _, edges, _, _ in rows for _, name, _ in edges}))}
    answers = {name: i for i, name in enumerate(sorted({answer for *_, answer in rows}))}

    def make(dropout):
        torch.manual_seed(o.seed)
        return EdgeTransformer(len(labels) + 2, len(answers), dropout=dropout)

    if o.epochs:
        model = make(0.2)
        train(model, rows, labels, answers, o, o.epochs * -(-len(rows) // o.batch))
        model.eval()
        for path in files:
            if path.name.removesuffix(".gz").endswith("test.csv"):
                tests = list(read(path))
                with torch.no_grad():
                    right = sum(int((model(x, query, pad).argmax(-1) == answer).sum())
                                for x, query, answer, pad in batches(tests, labels, answers, o.batch))
                print(f"{path.name}  k={tests[0][0]}  {right / len(tests):.3f}")
        return

    def pair():  # two modules with the same weights, without dropout, because their masks would differ
        ours, theirs = make(0.0), make(0.0)
        theirs.encoder.layers[0].edge_attention = EinsumAttention(theirs.encoder.layers[0].edge_attention)
        return {"triad": ours, "einsum": theirs}

    for name, model in pair().items():
        forget_peak()
        losses, seconds = train(model, rows, labels, answers, o, o.steps)
        print(f"{name:<7} float32: {o.steps} steps of {o.batch} graphs, {seconds * 1e3:.0f} ms a step, "
              f"{peak_mib():.0f} MiB at most, last loss {losses[-1]:.4f}", flush=True)
    torch.set_default_dtype(torch.float64)
    o.batch = min(o.batch, 40)
    losses = {name: train(model, rows, labels, answers, o, 50)[0] for name, model in pair().items()}
    furthest = max(abs(a - b) for a, b in zip(losses["triad"], losses["einsum"]))
    print(f"float64: 50 steps of {o.batch} graphs, largest difference of losses {furthest:.1e}")
    sys.exit(0 if furthest <= 1e-4 else 1)


if __name__ == "__main__":
    main()
