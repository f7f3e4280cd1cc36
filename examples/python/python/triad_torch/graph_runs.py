"""Runs of the programs `clutrr` and `graphs`: questions about labelled graphs."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.functional import pad

from . import _checks, _graphs
from ._checkpoint_names import both, of_edge_layer, renamed, rest_of_layer
from .baselines import GraphAttentionNetwork, RelationTransformer
from .modules import EdgeTransformer

_outside = {"embedding.table": "encoder.embedding.weight", "readout.inner.weight": "decoder2vocab.0.weight",
            "readout.inner.bias": "decoder2vocab.0.bias", "readout.outer.weight": "decoder2vocab.3.weight",
            "readout.outer.bias": "decoder2vocab.3.bias"}
MODELS = ("edge-transformer", "rat", "rrat", "gat")


def _names(model: str, form: str) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the names of parameters outside of layers, and of those of a layer: from triad's name to that in the
    released program, or in GraphAttentionNetwork."""
    outside, layer = dict(_outside), dict(rest_of_layer)
    if model == "edge-transformer":
        layer = of_edge_layer(form)
    elif model == "gat":
        outside |= {f"{name}.weight": f"encoder.{name}.weight" for name in ("edge_score", "edge_value")}
        layer |= {"value.weight": "value.weight", "query": "query", "key": "key", "norm.gain": "norm.weight",
                  "norm.bias": "norm.bias"}
    else:
        for number, part in enumerate(("query", "key", "value", "output")):
            layer |= both(f"attention.{part}", f"rel_attention.linears.{number}")
        for ours, theirs in (("relation_key", "relation_key_map"), ("relation_value", "relation_value_map")):
            outside |= both(ours, f"encoder.{theirs}")
            layer |= both(ours, f"rel_attention.{theirs}")
        for side in ("left", "right"):
            layer |= both(side, f"rel_attention.{side}_linear")
        for ours, theirs in rest_of_layer.items():  # "norm1.weight" becomes "norm_graph1.weight"
            layer[f"edges.{ours}"] = re.sub(r"(\d)", r"_graph\1", theirs)
    return outside, layer


@dataclass
class Run:
    """A trained model: `module` in evaluation mode, its vocabulary, and the settings of the model.

    ask() answers one question, predict() and probabilities() answer the questions about many graphs.  `nodes` is the
    number of nodes, or a list of their labels.  `edges` are triples (from, label, to).  A pair of nodes may have
    several edges, whose labels are then one word to the model, as in the program `graphs`.
    """
    module: nn.Module    # EdgeTransformer, RelationTransformer or GraphAttentionNetwork
    edges: list[str]     # labels of edges; the k-th label has number k + 1, and 0 means no edge
    targets: list[str]   # answers, in the order of the logits; a run with --dense-loss has one more logit: no answer
    settings: dict = field(default_factory=dict)

    def label(self, name: str) -> int:
        """Returns the number of an edge's label."""
        if name not in self.edges:
            raise ValueError(f"label: {name!r}, expected one of {', '.join(self.edges)}; a run knows only the labels "
                             "that it was trained on")
        return self.edges.index(name) + 1

    def labels(self, nodes: int | Sequence[str], edges: Iterable[tuple[int, str, int]]) -> torch.Tensor:
        """Returns the labels (nodes, nodes) of a graph, int64.

        Raises a ValueError for a negative number of nodes, for an edge whose nodes do not exist, and for a label that
        the run does not know."""
        words: dict[tuple[int, int], set[str]] = {}
        nodes = _graphs.plain(nodes)
        if isinstance(nodes, list):
            count = len(nodes)
            for i, name in enumerate(nodes):
                words[i, i] = {f"node: {name}"}
        elif (count := _checks.whole(nodes, "nodes")) < 0:
            raise ValueError(f"nodes: {count}, expected 0 or more; pass the number of nodes, or a list of their labels")
        for source, name, target in map(_graphs.edge, _graphs.plain(list(edges))):
            if not (0 <= source < count and 0 <= target < count):
                raise ValueError(f"edges: ({source}, {target}), expected nodes from 0 to {count - 1}; pass the number "
                                 "of nodes, or number the nodes from 0")
            words.setdefault((source, target), set()).add(name)
        device = next(self.module.parameters()).device
        try:
            labels = torch.zeros(count, count, dtype=torch.int64, device=device)
        except (RuntimeError, TypeError) as error:  # a TypeError: more than 64 bits
            raise ValueError(f"nodes: {count}, expected fewer, because the labels of all pairs do not fit into memory; "
                             "number the nodes from 0") from error
        for (i, j), names in words.items():
            labels[i, j] = self.label(" + ".join(sorted(names, key=str.encode)))
        return labels

    def ask(self, edges: Iterable[tuple[int, str, int]], source: int, target: int,
            nodes: int | Sequence[str] | None = None) -> tuple[str, float]:
        """Returns the answer about (source, target) and its probability."""
        edges = [_graphs.edge(each) for each in _graphs.plain(list(edges))]
        source, target = _checks.whole(source, "source"), _checks.whole(target, "target")
        if nodes is None:
            nodes = 1 + max([source, target, *(max(a, b) for a, _, b in edges)])
        p, best = self.probabilities([{"nodes": nodes, "edges": edges, "query": (source, target)}])[0].max(-1)
        return self.targets[int(best)], float(p)

    @torch.no_grad()
    def probabilities(self, graphs: Iterable[Mapping[str, Any]], batch: int = 64) -> torch.Tensor:
        """Returns the probabilities (graphs, answers) of all answers.  A graph is a line of the data of `graphs`, as a
        dict with the members nodes, edges and query.  `batch` graphs are computed at a time, 1 or more.

        Raises a ValueError for a graph without these members, for a query that is not a pair of its nodes, and as
        labels() does."""
        if isinstance(graphs, Mapping):
            raise TypeError("graphs: a dict, expected a list of dicts; pass [graph]")
        given, rows = [_graphs.members(graph) for graph in graphs], []
        batch = _checks.batch_size(batch, "graphs")
        for g in given:
            if not isinstance(g["query"], list) or len(g["query"]) != 2 or any(type(k) is not int for k in g["query"]):
                raise ValueError(f"query: {g['query']}, expected the source and the target; ask about one pair of "
                                 "nodes for each graph")
        for begin in range(0, len(given), batch):
            part = [(self.labels(g["nodes"], g["edges"]), *g["query"]) for g in given[begin:begin + batch]]
            sizes = torch.tensor([len(labels) for labels, _, _ in part])
            n = int(sizes.max())
            for (_, i, j), nodes in zip(part, sizes.tolist()):
                if not (0 <= i < nodes and 0 <= j < nodes):
                    raise ValueError(f"query: ({i}, {j}), expected nodes from 0 to {nodes - 1}; ask about nodes of the "
                                     "graph")
            labels = torch.stack([pad(x, (0, n - len(x), 0, n - len(x))) for x, _, _ in part])
            query = torch.tensor([ends for _, *ends in part], device=labels.device)
            padding = (torch.arange(n) >= sizes[:, None]).to(labels.device) if int(sizes.min()) < n else None
            rows.append(self.module(labels, query, padding)[:, :len(self.targets)].softmax(-1))
        return torch.cat(rows) if rows else torch.zeros(0, len(self.targets))

    def predict(self, graphs: Iterable[Mapping[str, Any]], batch: int = 64) -> list[str]:
        """Returns the likeliest answer for each graph; the arguments are those of probabilities()."""
        return [self.targets[k] for k in self.probabilities(graphs, batch).argmax(-1).tolist()]


def graph_run(path: Path, weights: dict[str, torch.Tensor], settings: dict, words: dict) -> Run:
    model = settings.get("model", "edge-transformer")
    if settings["form"] not in ("released", "paper"):
        raise ValueError(f"{path}: form {settings['form']!r}, expected 'released' or 'paper', for which there is a "
                         "module; `predict` of the program that trained it answers")
    width, labels = settings["width"], weights["embedding.table"].shape[0]
    targets, answers = weights["readout.outer.weight"].shape[0], len(words["targets"])
    if targets not in (answers, answers + 1):
        raise ValueError(f"{path}: {targets} logits, expected one for each of {answers} answers, and at most one for "
                         "no answer; the file is damaged, so train again")
    form = settings["attention"].replace("-", "_")
    sizes = {"width": width, "heads": settings["heads"], "layers": settings["layers"], "tied": settings["tied"],
             "dropout": 0.0}
    module: nn.Module
    if model == "gat":
        module = GraphAttentionNetwork(labels, targets, **sizes)
    elif model in ("rat", "rrat"):
        module = RelationTransformer(labels, targets, hidden=settings["hidden_factor"] * width,
                                     update_relations=model == "rrat", **sizes)
    else:
        module = EdgeTransformer(labels, targets, hidden=settings["hidden_factor"] * width, form=form,
                                 released=settings["form"] == "released", **sizes)
    names = _names(model, form)
    module.load_state_dict({renamed(name, names, path): x for name, x in weights.items()})
    return Run(module.eval(), words["edges"], words["targets"], settings)
