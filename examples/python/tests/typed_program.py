"""A program whose types test_types.py checks by mypy, which does not run it.  A line with an ignored error must have
this error."""
from pathlib import Path

import torch
from typing_extensions import assert_type

import triad_torch
from triad_torch import DenseBatch, EdgeTransformer, FuseAttention, Roles, Run, TreeMachine, TriangularAttention

attention = TriangularAttention(64, heads=4, form="flat")
assert_type(attention.forward(torch.zeros(1, 3, 3, 64)), torch.Tensor | tuple[torch.Tensor, torch.Tensor])
attention.forward(torch.zeros(1, 3, 3, 64), return_weights=[(0, 1)])
attention.forward(torch.zeros(1, 3, 3, 64), return_weights=["0, 1"])  # type: ignore[list-item]
TriangularAttention(64)  # type: ignore[call-arg]
TriangularAttention(64, "4")  # type: ignore[arg-type]
FuseAttention(64, 4, drop=0.1)  # type: ignore[call-arg]

model = EdgeTransformer(labels=22, targets=18)
assert_type(model.forward(torch.zeros(1, 3, 3), torch.zeros(1, 2)), torch.Tensor)
model.save_pretrained(Path("folder"))
assert_type(EdgeTransformer.from_pretrained("folder"), EdgeTransformer)
model.forward([[0]], torch.zeros(1, 2))  # type: ignore[arg-type]

run = triad_torch.load("run")
assert_type(run, Run | triad_torch.MeaningRun | triad_torch.SemanticRun | triad_torch.SequenceRun |
            triad_torch.ParserRun | triad_torch.TreeRun)
assert isinstance(run, Run)
assert_type(run.ask([(0, "mother", 1)], 0, 1), tuple[str, float])
assert_type(run.edges, list[str])
run.ask([(0, 1)], 0, 1)  # type: ignore[list-item]
run.answers  # type: ignore[attr-defined]

batch = triad_torch.dense_batch([([[0], [1]], [1])], add=1, nodes=4)
assert_type(batch, DenseBatch)
assert_type(batch.labels, torch.Tensor)
assert_type(batch.graphs(), list[tuple[torch.Tensor, torch.Tensor, int]])
triad_torch.dense_batch([], "relation", 1)  # type: ignore[call-arg]

assert_type(Roles.dense(3, seed=1), Roles)
triad_torch.cons(Roles.gather(3), 1, 2)  # type: ignore[arg-type]
assert_type(triad_torch.products("auto"), str)
triad_torch.products(1)  # type: ignore[arg-type]
assert_type(triad_torch.__version__, str)
triad_torch.no_such_name  # type: ignore[attr-defined]
