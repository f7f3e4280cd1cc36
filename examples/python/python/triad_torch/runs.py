"""Loads runs of triad's programs: a PyTorch module with the run's weights, and the run's vocabulary."""
from __future__ import annotations

import json
import os
from pathlib import Path

import torch

from . import graph_runs, parser_runs
from ._checkpoint_names import expect_texts
from ._safetensors import read_safetensors
from .graph_runs import Run, graph_run
from .parser_runs import ParserRun, parser_run
from .tree_runs import TreeRun, tree_run


def load(folder: str | os.PathLike, averages: bool = True) -> Run | ParserRun | TreeRun:
    """Loads a run from a folder that `train` of a program wrote: a Run of clutrr and graphs, a ParserRun of
    dependencies, or a TreeRun of trees and tree-transforms.

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
    except (KeyError, TypeError, AttributeError, RuntimeError, AssertionError, IndexError, ValueError) as error:
        if str(error).startswith(f"{path}: "):
            raise
        first = " ".join(line.strip() for line in str(error).splitlines()[:2])  # a RuntimeError lists every parameter
        raise ValueError(f"{path}: not as triad's programs write it: {type(error).__name__}: {first}") from error


def _run_of(path: Path, tensors: dict[str, torch.Tensor], texts: dict[str, str],
            averages: bool) -> Run | ParserRun | TreeRun:
    settings, words = json.loads(texts["configuration"]), json.loads(texts["vocabulary"])
    model = settings.get("model", "edge-transformer")
    for name in ("edges", "targets", "tokens", "relations") if isinstance(words, dict) else ():
        expect_texts(words.get(name, []), name, path)
    prefix = "average." if averages and "averages" in texts else ""
    weights = {name.removeprefix(prefix): x for name, x in tensors.items()
               if name.startswith(prefix) and not (prefix == "" and name.split(".")[0] in ("adam", "average"))}
    if isinstance(words, list) and model == "tree-machine":
        expect_texts(words, "symbols", path)
        return tree_run(path, weights, settings, words)
    if isinstance(words, dict) and {"tokens", "relations"} <= words.keys() and model in parser_runs.MODELS:
        return parser_run(path, weights, settings, words)
    if isinstance(words, dict) and {"edges", "targets"} <= words.keys() and model in graph_runs.MODELS:
        return graph_run(path, weights, settings, words)
    raise ValueError(f"{path}: a run of model {model!r}, expected one of clutrr or graphs "
                     f"({', '.join(graph_runs.MODELS)}), of dependencies ({', '.join(parser_runs.MODELS)}), or of "
                     "trees, for which there are modules; `predict` of the program that trained it answers")
