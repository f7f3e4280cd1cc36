"""What the models of labelled graphs share: the readout, initial values, and checks of labels, queries and padding."""
from __future__ import annotations

import torch
from torch import nn

from ._torch_attention import expect_dense, numbers_are_at_hand


def readout(width: int, targets: int) -> nn.Sequential:
    """Returns the block from states (..., width) to logits (..., targets)."""
    return nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.0), nn.Linear(width, targets))


def initialize(encoder: nn.Module) -> None:
    """Sets the matrices of an encoder to the initial values of the released program."""
    for parameter in encoder.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)


def at_padding(pad: torch.Tensor) -> torch.Tensor:
    """Returns the mask (graphs, n, n), which is True for edges at padding nodes.  `pad` is (graphs, n)."""
    return pad[:, :, None].logical_or(pad[:, None])


def expect_graphs(labels: torch.Tensor, query: torch.Tensor, pad: torch.Tensor | None) -> None:
    """Checks the kinds of the tensors, and the shapes of labels and pad."""
    for name, x in {"labels": labels, "query": query, **({} if pad is None else {"pad": pad})}.items():
        expect_dense(x, name)
    if labels.dim() != 3 or labels.shape[1] != labels.shape[2]:
        raise ValueError(f"labels have shape {tuple(labels.shape)}, expected (batch, n, n); pad graphs to one size")
    if pad is not None and pad.shape != labels.shape[:2]:
        raise ValueError(f"pad has shape {tuple(pad.shape)}, expected {tuple(labels.shape[:2])}; pass True for each "
                         "padding node")


def without(pad: torch.Tensor) -> torch.Tensor:
    """Returns the mask (graphs, n, n, n), which is True for triangles without padding nodes, from pad (graphs, n)."""
    here = pad.logical_not()
    return here[:, :, None, None] & here[:, None, :, None] & here[:, None, None, :]


def edges_asked(query: torch.Tensor, graphs: int, n: int) -> tuple[torch.Tensor, ...]:
    """Returns the graphs, sources and targets of all rows of query.

    PyTorch would count a negative number from the end.  If the values can be read, negative numbers are refused here.
    Otherwise they are replaced by numbers that are out of range, which PyTorch refuses."""
    if query.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"query is {query.dtype}, expected int64; convert it by .to(torch.int64)")
    if query.dim() != 2 or query.shape[1] not in (2, 3) or (query.shape[1] == 2 and query.shape[0] != graphs):
        raise ValueError(f"query has shape {tuple(query.shape)}, expected ({graphs}, 2), or (any number, 3) with the "
                         "graph's number first; a row asks about one edge")
    graph = query[:, 0] if query.shape[1] == 3 else torch.arange(graphs, device=query.device)
    columns = ((graph, graphs), (query[:, -2], n), (query[:, -1], n))
    if numbers_are_at_hand(query):
        wrong = torch.stack([(x < 0) | (x >= end) for x, end in columns]).any(0).nonzero()
        if len(wrong):
            row = int(wrong[0])
            g, i, j = (int(x[row]) for x, _ in columns)
            raise ValueError(f"query {row} asks about edge ({i}, {j}) of graph {g}, and there are {graphs} graphs of "
                             f"{n} nodes; count from 0")
    return tuple(x.where(x >= 0, end) for x, end in columns)
