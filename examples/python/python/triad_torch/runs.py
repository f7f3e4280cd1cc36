"""Reads a run of triad's programs.  Returns a PyTorch module with the run's weights, and the run's vocabulary."""
from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path

import torch

from .modules import EdgeTransformer

_types = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
          "I32": torch.int32, "U8": torch.uint8}
_norms = {"norm1.gain": "norm1.weight", "norm1.bias": "norm1.bias", "norm2.gain": "norm2.weight",
          "norm2.bias": "norm2.bias"}
_rest_of_layer = {**_norms, "feed_forward.inner.weight": "linear1.weight", "feed_forward.inner.bias": "linear1.bias",
                  "feed_forward.outer.weight": "linear2.weight", "feed_forward.outer.bias": "linear2.bias"}
_outside = {"embedding.table": "encoder.embedding.weight", "readout.inner.weight": "decoder2vocab.0.weight",
            "readout.inner.bias": "decoder2vocab.0.bias", "readout.outer.weight": "decoder2vocab.3.weight",
            "readout.outer.bias": "decoder2vocab.3.bias"}


def read_safetensors(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Returns the tensors and the texts of a safetensors file.  Raises a ValueError that names the file and the
    error."""
    data = path.read_bytes()
    if data.startswith(b"version https://git-lfs.github.com/spec/"):
        raise ValueError(f"{path}: a Git LFS pointer, expected the file that it stands for; run `git lfs pull` where it "
                         "was cloned")
    try:
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8:8 + length])
    except (struct.error, ValueError) as error:
        raise ValueError(f"{path}: not a safetensors file: {error}") from None
    if not isinstance(header, dict):
        raise ValueError(f"{path}: not a safetensors file: its header is no object")
    texts = header.pop("__metadata__", None) or {}
    tensors = {}
    for name, entry in header.items():
        try:
            kind, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"{path}: {name} lacks a type, a shape or two offsets") from None
        if kind not in _types:
            raise ValueError(f"{path}: {name} is {kind}, expected one of {', '.join(_types)}")
        raw = bytearray(data[8 + length + begin:8 + length + end])
        element = torch.empty((), dtype=_types[kind]).element_size()
        count = 1
        for size in shape:
            count *= size
        if len(raw) != count * element:
            raise ValueError(f"{path}: {name} wants {count * element} bytes, and {len(raw)} are there: the file is cut "
                             "off")
        tensors[name] = (torch.frombuffer(raw, dtype=_types[kind]) if raw else torch.empty(0, dtype=_types[kind])
                         ).reshape(shape)
    return tensors, texts


@dataclass
class Run:
    """A trained model: `module` in evaluation mode, its vocabulary, and the settings of the run.

    ask(edges, source, target) answers one question about one graph of labelled edges.  It supports neither labels of
    nodes nor several labels of one edge, which the program `graphs` can read.  For such graphs, make the tensors of
    labels yourself.
    """
    module: EdgeTransformer
    edges: list[str]     # labels of edges; the k-th label has number k + 1, and 0 means no edge
    targets: list[str]   # answers, in the order of the logits
    settings: dict = field(default_factory=dict)

    def label(self, name: str) -> int:
        """Returns the number of an edge's label."""
        if name not in self.edges:
            raise ValueError(f"no label {name!r}: the run knows {', '.join(self.edges)}")
        return self.edges.index(name) + 1

    def labels(self, nodes: int, edges) -> torch.Tensor:
        """Returns the labels (nodes, nodes) of a graph from triples (from, name, to)."""
        labels = torch.zeros(nodes, nodes, dtype=torch.int64, device=next(self.module.parameters()).device)
        for source, name, target in edges:
            if not (0 <= source < nodes and 0 <= target < nodes):
                raise ValueError(f"edge ({source}, {target}) of a graph whose nodes are 0 to {nodes - 1}")
            if labels[source, target] != 0:
                raise ValueError(f"edge ({source}, {target}) is named twice")
            labels[source, target] = self.label(name)
        return labels

    @torch.no_grad()
    def ask(self, edges, source: int, target: int, nodes: int | None = None) -> tuple[str, float]:
        """Returns the answer about (source, target) and its probability.  `edges` are triples (from, name, to)."""
        edges = list(edges)
        if nodes is None:
            nodes = 1 + max([source, target, *(max(a, b) for a, _, b in edges)])
        if not (0 <= source < nodes and 0 <= target < nodes):
            raise ValueError(f"({source}, {target}) is asked about, and the nodes are 0 to {nodes - 1}")
        labels = self.labels(nodes, edges)
        logits = self.module(labels[None], torch.tensor([[source, target]], device=labels.device))
        probability, best = logits.softmax(-1)[0].max(-1)
        return self.targets[int(best)], float(probability)


def load(folder, averages: bool = True) -> Run:
    """Loads a run of the model edge-transformer from a folder that `clutrr train` or `graphs train` wrote.

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
    if model != "edge-transformer" or "edges" not in words or "targets" not in words:
        raise ValueError(f"{path}: the model is {model!r}, and there is a module for 'edge-transformer' of the "
                         "programs clutrr and graphs alone; `predict` of its own program answers for others")
    prefix = "average." if averages and "averages" in texts else ""
    weights = {name.removeprefix(prefix): x for name, x in tensors.items()
               if name.startswith(prefix) and not (prefix == "" and name.split(".")[0] in ("adam", "average"))}
    form = settings["attention"].replace("-", "_")
    width, labels = settings["width"], weights["embedding.table"].shape[0]
    targets = weights["readout.outer.weight"].shape[0]
    if targets != len(words["targets"]):
        raise ValueError(f"{path}: {targets} logits for {len(words['targets'])} answers: a run with a dense loss, "
                         "which has no module here")
    module = EdgeTransformer(labels, targets, width, settings["heads"], settings["layers"],
                             settings["hidden_factor"] * width, 0.0, settings["tied"], form=form,
                             released=settings["form"] == "released")
    module.load_state_dict({_theirs(name, form, path): x for name, x in weights.items()})
    return Run(module.eval(), words["edges"], words["targets"], settings)


def _theirs(name: str, form: str, path: Path) -> str:
    """Returns the name of a parameter of triad in the released program."""
    if name in _outside:
        return _outside[name]
    parts = name.split(".", 2)
    if parts[0] == "layers" and len(parts) == 3:
        start, rest = f"encoder.layers.{parts[1]}.", parts[2]
        if rest in _rest_of_layer:
            return start + _rest_of_layer[rest]
        numbers = ({"key": 0, "left_value": 1, "query": 2, "output": 3} if form == "flat"
                   else {"query": 0, "key": 1, "left_value": 2, "right_value": 3, "output": 5})
        attention = rest.split(".")
        if attention[0] == "attention" and attention[1] in numbers:
            return f"{start}edge_attention.linears.{numbers[attention[1]]}.{attention[2]}"
    raise ValueError(f"{path}: a tensor {name!r} has no place in the module")
