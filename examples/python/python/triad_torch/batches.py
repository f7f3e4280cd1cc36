"""Batches of graphs of PyTorch Geometric, of DGL, and of plain lists of edges, as EdgeTransformer takes them."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional as F

from . import _checks

_usual_names = ("edge_type", "edge_attr")


@dataclass(frozen=True, eq=False)
class DenseBatch:
    """Graphs of up to n nodes as tensors with one entry for each pair of nodes.  dense_batch() makes it.

    labels   int64 (b, n, n), the label of edge (i, j) at [graph, i, j]; 0 where there is no edge.
    pad      bool (b, n), True for padding nodes.
    edges    int64 (3, all edges): graph, source and target of each edge, in the order in which the edges were given.
             Nodes are numbered from 0 in each graph.
    first    int64 (b + 1), the number of each graph's first node in the whole batch, then the number of all nodes.
    add      the number that was added to all labels.

    Pass labels and pad to EdgeTransformer: model(batch.labels, query, batch.pad).
    """
    labels: torch.Tensor
    pad: torch.Tensor
    edges: torch.Tensor
    first: torch.Tensor
    add: int = 0

    def query(self, pairs: torch.Tensor) -> torch.Tensor:
        """Returns the argument `query` of EdgeTransformer, int64 (any number, 3), for pairs (2, any number) of source
        and target, which have the numbers of the nodes in the whole batch, as in edge_index of a batch."""
        pairs = _pairs_of(pairs, "pairs").to(self.first.device)
        return _in_graphs(pairs, self.first, "pairs").T.contiguous()

    def at_edges(self, y: torch.Tensor) -> torch.Tensor:
        """Returns the rows (all edges, ...) of y (b, n, n, ...) that belong to the edges, in the order in which the
        edges were given."""
        if y.shape[:3] != self.labels.shape:
            raise ValueError(f"y has shape {tuple(y.shape)}, expected {tuple(self.labels.shape)} and further axes; "
                             "pass the states of this batch")
        return y[tuple(self.edges)]

    def at_nodes(self, y: torch.Tensor) -> torch.Tensor:
        """Returns the rows (all nodes, ...) of y (b, n, ...) that belong to nodes, in the order of the batch."""
        if y.shape[:2] != self.pad.shape:
            raise ValueError(f"y has shape {tuple(y.shape)}, expected {tuple(self.pad.shape)} and further axes; pass "
                             "states of nodes, such as x.diagonal(dim1=1, dim2=2).movedim(-1, 1)")
        return y[~self.pad]

    @property
    def offsets(self) -> torch.Tensor:
        """The argument `offsets` of triangular_attention(), int64 (b + 1), for rows that to_rows() returns."""
        return F.pad(self.first.diff().square().cumsum(0), (1, 0))

    def to_rows(self, y: torch.Tensor) -> torch.Tensor:
        """Returns the rows (all pairs of nodes, ...) of y (b, n, n, ...) without padding: one graph after another, and
        the pairs (i, j) of each graph row by row."""
        if y.shape[:3] != self.labels.shape:
            raise ValueError(f"y has shape {tuple(y.shape)}, expected {tuple(self.labels.shape)} and further axes; "
                             "pass states of this batch")
        return y[self._pairs()]

    def from_rows(self, rows: torch.Tensor) -> torch.Tensor:
        """Returns y (b, n, n, ...) with these rows (all pairs of nodes, ...), and zeros at padding nodes."""
        pairs = self._pairs()
        if rows.dim() < 1 or rows.shape[0] != int(self.offsets[-1]):
            raise ValueError(f"rows have shape {tuple(rows.shape)}, expected {int(self.offsets[-1])} rows; pass a row "
                             "for each pair of nodes, as to_rows returns them")
        return rows.new_zeros(*self.labels.shape, *rows.shape[1:]).masked_scatter(
            pairs.reshape(*pairs.shape, *[1] * (rows.dim() - 1)), rows)

    def _pairs(self) -> torch.Tensor:
        """Returns bool (b, n, n), True for pairs of nodes of the graph."""
        here = ~self.pad
        return here[:, :, None] & here[:, None, :]

    def graphs(self) -> list[tuple[torch.Tensor, torch.Tensor, int]]:
        """Returns (edge_index, labels, nodes) of each graph: int64 (2, edges), int64 (edges), and a number.  Edges are
        in the order in which they were given, and labels are those that were given."""
        graph, labels = self.edges[0], self.labels[tuple(self.edges)] - self.add
        return [(self.edges[1:, graph == g], labels[graph == g], int(nodes))
                for g, nodes in enumerate(self.first.diff())]


def dense_batch(graphs: Any, labels: str | None = None, *, add: int = 0, nodes: int | None = None) -> DenseBatch:
    """Returns graphs with labelled edges as the tensors that EdgeTransformer takes.

    graphs   a Batch or Data of PyTorch Geometric; a DGLGraph, also one that dgl.batch() made; or a list.  Each entry of
             the list is a Data, a DGLGraph, a pair (edge_index, labels), or (edge_index, labels, nodes).  edge_index is
             (2, edges), the sources and the targets, and labels is (edges).  In a pair, the largest number in
             edge_index belongs to the last node.
    labels   the name of the edges' attribute that has the labels; None: edge_type, or else edge_attr.
    add      a number to add to all labels.  Pass 1 if they count from 0, because the label 0 means that there is no
             edge.
    nodes    the number of nodes to which the graphs are padded; None: that of the largest graph.

    The result lies on the device of the edges.  Raises a TypeError for other kinds of graphs and labels.  Raises a
    ValueError for a label below 1, an edge that is given twice, or an edge between two graphs.
    """
    add = _checks.whole(add, "add")
    if isinstance(graphs, (list, tuple)):
        ends, values, sizes = _joined([_read(graph, labels, f"graphs[{k}]") for k, graph in enumerate(graphs)])
    else:
        ends, values, sizes = _read(graphs, labels, "graphs")
    if len(sizes) == 0:
        raise ValueError("graphs: 0 of them, expected 1 or more; leave empty batches out")
    first = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
    edges = _in_graphs(ends, first, "edge_index")
    largest = int(sizes.max())
    n = largest if nodes is None else _checks.whole(nodes, "nodes")
    if n < largest:
        raise ValueError(f"nodes: {n}, expected {largest} or more, the nodes of the largest graph; leave nodes out")
    values = values + add
    wrong = (values < 1).nonzero()
    if len(wrong):
        g, i, j = edges[:, int(wrong[0])].tolist()
        raise ValueError(f"labels: {int(values[wrong[0]])} at edge ({i}, {j}) of graph {g}, expected 1 or more, "
                         "because 0 means that there is no edge; pass add=1 if your labels count from 0")
    try:
        dense = torch.zeros(len(sizes), n, n, dtype=torch.int64, device=first.device)
    except RuntimeError as error:
        raise ValueError(f"edge_index: {len(sizes)} graphs of up to {n} nodes, expected fewer nodes, because the "
                         "labels of all pairs do not fit into memory; number the nodes of each graph from 0") from error
    times = torch.zeros_like(dense).index_put_(tuple(edges), torch.ones_like(values), accumulate=True)
    if values.numel() and int(times.max()) > 1:
        g, i, j = (times > 1).nonzero()[0].tolist()
        raise ValueError(f"edge_index: edge ({i}, {j}) of graph {g} is given {int(times[g, i, j])} times, expected "
                         "once; join the labels of an edge to one label")
    dense[tuple(edges)] = values
    pad = torch.arange(n, device=first.device) >= sizes[:, None]
    return DenseBatch(dense, pad, edges, first, add)


def _read(graphs, name: str | None, where: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns edge_index (2, edges) with node numbers of the whole batch, labels (edges), and the nodes of each graph,
    all in int64."""
    if isinstance(graphs, (list, tuple)):
        return _of_list(graphs, where)
    if hasattr(graphs, "batch_num_nodes") and hasattr(graphs, "edata"):
        return _of_dgl(graphs, name, where)
    if hasattr(graphs, "edge_index") and hasattr(graphs, "num_nodes"):
        return _of_geometric(graphs, name, where)
    kind = f"{type(graphs).__module__}.{type(graphs).__qualname__}"
    raise TypeError(f"{where}: {kind}, expected a Data or Batch of PyTorch Geometric, a DGLGraph, or a list of them or "
                    "of (edge_index, labels); make a heterogeneous graph homogeneous by to_homogeneous()")


def _of_list(graph, where: str):
    if len(graph) not in (2, 3):
        raise ValueError(f"{where}: {len(graph)} entries, expected (edge_index, labels) or (edge_index, labels, "
                         "nodes); put several graphs into a list")
    ends = _pairs_of(torch.as_tensor(graph[0]), f"{where}: edge_index")
    values = _labels_of(torch.as_tensor(graph[1], device=ends.device), ends, f"{where}: labels")
    if len(graph) == 2 and ends.numel() == 0:
        raise ValueError(f"{where}: no edges and no number of nodes, expected one of them; pass (edge_index, labels, "
                         "nodes)")
    nodes = _checks.whole(graph[2], f"{where}: nodes") if len(graph) == 3 else 1 + int(ends.max())
    if len(graph) == 3 and nodes < 0:
        raise ValueError(f"{where}: nodes: {nodes}, expected 0 or more; pass the number of nodes of the graph")
    return ends, values, torch.tensor([nodes], device=ends.device)


def _of_geometric(graphs, name: str | None, where: str):
    ends = _pairs_of(graphs.edge_index, f"{where}: edge_index")
    values = _attribute(lambda key: getattr(graphs, key, None), name, where)
    first, of_nodes = getattr(graphs, "ptr", None), getattr(graphs, "batch", None)
    if first is not None:
        sizes = first.to(ends).diff()
    elif of_nodes is not None:
        if bool((of_nodes.diff() < 0).any()):
            raise ValueError(f"{where}: nodes whose graphs are not in order, expected a sorted attribute batch; make "
                             "the batch by Batch.from_data_list")
        sizes = torch.bincount(of_nodes).to(ends)
    else:
        sizes = torch.tensor([graphs.num_nodes], device=ends.device)
    return ends, _labels_of(values, ends, f"{where}: labels"), sizes


def _of_dgl(graphs, name: str | None, where: str):
    if not getattr(graphs, "is_homogeneous", True):
        raise TypeError(f"{where}: a heterogeneous DGLGraph, expected a homogeneous one; call dgl.to_homogeneous")
    ends = _pairs_of(torch.stack(graphs.edges()), f"{where}: edges")
    values = _attribute(lambda key: graphs.edata[key] if key in graphs.edata else None, name, where)
    return ends, _labels_of(values, ends, f"{where}: labels"), graphs.batch_num_nodes().to(ends)


def _attribute(get, name: str | None, where: str):
    names = _usual_names if name is None else (name,)
    for key in names:
        if get(key) is not None:
            return get(key)
    raise ValueError(f"{where}: edges without {' and '.join(names)}, expected an attribute with a label for each edge; "
                     "pass its name as labels")


def _pairs_of(ends: torch.Tensor, name: str) -> torch.Tensor:
    if ends.dim() != 2 or ends.shape[0] != 2:
        raise ValueError(f"{name}: shape {tuple(ends.shape)}, expected (2, edges): the sources, then the targets; "
                         "transpose a list of pairs")
    if ends.numel() and (ends.is_floating_point() or ends.is_complex() or ends.dtype == torch.bool):
        raise TypeError(f"{name}: {ends.dtype}, expected whole numbers; convert them by .long()")
    return ends.long()


def _labels_of(values: Any, ends: torch.Tensor, name: str) -> torch.Tensor:
    edges = ends.shape[1]
    if not isinstance(values, torch.Tensor) or values.shape not in ((edges,), (edges, 1)):
        got = f"shape {tuple(values.shape)}" if isinstance(values, torch.Tensor) else type(values).__name__
        raise ValueError(f"{name}: {got}, expected ({edges},), a label for each edge; pass the name of the attribute "
                         "as labels")
    if values.numel() and (values.is_floating_point() or values.is_complex()):
        raise TypeError(f"{name}: {values.dtype}, expected whole numbers; number the labels from 1")
    return values.reshape(edges).to(ends)


def _joined(parts: list) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns several batches as one."""
    if not parts:
        none = torch.zeros(0, dtype=torch.int64)
        return none.reshape(2, 0), none, none
    ends, values, sizes = zip(*parts)
    before, moved = 0, []
    for k, (pairs, nodes) in enumerate(zip(ends, sizes)):
        here = int(nodes.sum())
        _expect_nodes(pairs, here, f"graphs[{k}]: edge_index")
        moved.append(pairs + before)
        before += here
    return torch.cat(moved, 1), torch.cat(values), torch.cat(sizes)


def _expect_nodes(pairs: torch.Tensor, nodes: int, name: str) -> None:
    wrong = ((pairs < 0) | (pairs >= nodes)).any(0).nonzero()
    if len(wrong):
        i, j = pairs[:, int(wrong[0])].tolist()
        raise ValueError(f"{name}: edge ({i}, {j}), expected nodes from 0 to {nodes - 1}; pass the number of nodes, or "
                         "number the nodes from 0")


def _in_graphs(pairs: torch.Tensor, first: torch.Tensor, name: str) -> torch.Tensor:
    """Returns graph, source and target (3, edges) of pairs of nodes, which have the numbers of the whole batch."""
    _expect_nodes(pairs, int(first[-1]), name)
    graph = torch.bucketize(pairs, first[1:], right=True)
    wrong = (graph[0] != graph[1]).nonzero()
    if len(wrong):
        i, j = pairs[:, int(wrong[0])].tolist()
        g, h = graph[:, int(wrong[0])].tolist()
        raise ValueError(f"{name}: edge ({i}, {j}) from graph {g} to graph {h}, expected both nodes in one graph; make "
                         "the batch from its graphs again")
    return torch.cat([graph[:1], pairs - first[graph]])
