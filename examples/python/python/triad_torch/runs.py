"""Reads a run of triad's programs.  Returns a PyTorch module with the run's weights, and the run's vocabulary."""
from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.functional import pad

from . import _checks, _graphs
from ._safetensors import read_safetensors
from .baselines import GraphAttentionNetwork, RelationTransformer
from .modules import EdgeTransformer

_norms = {"norm1.gain": "norm1.weight", "norm1.bias": "norm1.bias", "norm2.gain": "norm2.weight",
          "norm2.bias": "norm2.bias"}
_rest_of_layer = {**_norms, "feed_forward.inner.weight": "linear1.weight", "feed_forward.inner.bias": "linear1.bias",
                  "feed_forward.outer.weight": "linear2.weight", "feed_forward.outer.bias": "linear2.bias"}
_outside = {"embedding.table": "encoder.embedding.weight", "readout.inner.weight": "decoder2vocab.0.weight",
            "readout.inner.bias": "decoder2vocab.0.bias", "readout.outer.weight": "decoder2vocab.3.weight",
            "readout.outer.bias": "decoder2vocab.3.bias"}

_models = ("edge-transformer", "rat", "rrat", "gat")


def _both(ours: str, theirs: str) -> dict[str, str]:
    """Returns the names of the weight and of the bias of a linear map."""
    return {f"{ours}.{kind}": f"{theirs}.{kind}" for kind in ("weight", "bias")}


def _names(model: str, form: str) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the names of parameters outside of layers, and of those of a layer: from triad's name to that in the
    released program, or in GraphAttentionNetwork."""
    outside, layer = dict(_outside), dict(_rest_of_layer)
    if model == "edge-transformer":
        numbers = ({"key": 0, "left_value": 1, "query": 2, "output": 3} if form == "flat"
                   else {"query": 0, "key": 1, "left_value": 2, "right_value": 3, "output": 5})
        for part, number in numbers.items():
            layer |= _both(f"attention.{part}", f"edge_attention.linears.{number}")
    elif model == "gat":
        outside |= {f"{name}.weight": f"encoder.{name}.weight" for name in ("edge_score", "edge_value")}
        layer |= {"value.weight": "value.weight", "query": "query", "key": "key", "norm.gain": "norm.weight",
                  "norm.bias": "norm.bias"}
    else:
        for number, part in enumerate(("query", "key", "value", "output")):
            layer |= _both(f"attention.{part}", f"rel_attention.linears.{number}")
        for ours, theirs in (("relation_key", "relation_key_map"), ("relation_value", "relation_value_map")):
            outside |= _both(ours, f"encoder.{theirs}")
            layer |= _both(ours, f"rel_attention.{theirs}")
        for side in ("left", "right"):
            layer |= _both(side, f"rel_attention.{side}_linear")
        for ours, theirs in _rest_of_layer.items():  # "norm1.weight" becomes "norm_graph1.weight"
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
        for source, name, target in edges:
            if not (0 <= source < count and 0 <= target < count):
                raise ValueError(f"edges: ({source}, {target}), expected nodes from 0 to {count - 1}; pass the number "
                                 "of nodes, or number the nodes from 0")
            words.setdefault((source, target), set()).add(name)
        labels = torch.zeros(count, count, dtype=torch.int64, device=next(self.module.parameters()).device)
        for (i, j), names in words.items():
            labels[i, j] = self.label(" + ".join(sorted(names, key=str.encode)))
        return labels

    def ask(self, edges: Iterable[tuple[int, str, int]], source: int, target: int,
            nodes: int | Sequence[str] | None = None) -> tuple[str, float]:
        """Returns the answer about (source, target) and its probability."""
        edges = list(edges)
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
        given, rows = [_graphs.members(graph) for graph in graphs], []
        if _checks.whole(batch, "batch") < 1:
            raise ValueError(f"batch: {batch}, expected 1 or more; pass the number of graphs to compute at a time")
        for g in given:
            if not isinstance(g["query"], list) or len(g["query"]) != 2:
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


def load(folder: str | os.PathLike, averages: bool = True) -> Run:
    """Loads a run from a folder that `clutrr train` or `graphs train` wrote.

    averages  uses the moving averages of the weights if the run has them (`train --average`), like `evaluate`.

    Raises a ValueError that names the file if it cannot be read, or the model if this package has no module for it.
    """
    path = Path(folder)
    if path.is_dir():
        path = path / "model.safetensors"
    if not path.exists():
        raise ValueError(f"{path}: no such file; give the folder that a program's `train --out` wrote")
    tensors, texts = read_safetensors(path)
    if not texts.get("format", "").startswith("triad-checkpoint"):
        raise ValueError(f"{path}: not a checkpoint of triad; load another program's weights by load_state_dict")
    try:
        return _run_of(path, tensors, texts, averages)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: not as triad's programs write it: {type(error).__name__}: {error}") from error


def _run_of(path: Path, tensors: dict[str, torch.Tensor], texts: dict[str, str], averages: bool) -> Run:
    settings, words = json.loads(texts["configuration"]), json.loads(texts["vocabulary"])
    model = settings.get("model", "edge-transformer")
    if model not in _models or "edges" not in words or "targets" not in words:
        of = "" if model not in _models else " of another program"
        raise ValueError(f"{path}: model {model!r}{of}, expected {', '.join(_models)} of clutrr or graphs, for which "
                         "there are modules; `predict` of the program that trained it answers")
    if settings["form"] not in ("released", "paper"):
        raise ValueError(f"{path}: form {settings['form']!r}, expected 'released' or 'paper', for which there is a "
                         "module; `predict` of the program that trained it answers")
    prefix = "average." if averages and "averages" in texts else ""
    weights = {name.removeprefix(prefix): x for name, x in tensors.items()
               if name.startswith(prefix) and not (prefix == "" and name.split(".")[0] in ("adam", "average"))}
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
    module.load_state_dict({_renamed(name, names, path): x for name, x in weights.items()})
    return Run(module.eval(), words["edges"], words["targets"], settings)


def _renamed(name: str, names: tuple[dict[str, str], dict[str, str]], path: Path) -> str:
    """Returns the module's name of a parameter.  `names` are those of _names()."""
    outside, layer = names
    if name in outside:
        return outside[name]
    start, _, rest = name.partition(".")
    number, _, rest = rest.partition(".")
    if start == "layers" and rest in layer:
        return f"encoder.layers.{number}.{layer[rest]}"
    raise ValueError(f"{path}: a tensor {name!r} has no place in the module")
