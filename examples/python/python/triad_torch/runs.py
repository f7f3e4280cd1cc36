"""Loads runs of triad's programs: a PyTorch module with the run's weights, and the run's vocabulary."""
from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Union

import torch

from . import graph_runs, meaning_runs, parser_runs, semantic_runs, sequence_runs
from ._checkpoint_names import expect_texts
from ._safetensors import read_safetensors
from .graph_runs import Run, graph_run
from .meaning_runs import MeaningRun, meaning_run
from .parser_runs import ParserRun, parser_run
from .semantic_runs import SemanticRun, semantic_run
from .sequence_runs import SequenceRun, sequence_run
from .tree_runs import TreeRun, tree_run

AnyRun = Union[Run, MeaningRun, SemanticRun, SequenceRun, ParserRun, TreeRun]

# The programs whose vocabulary is a dict: their names, their models, the lists that tell the vocabulary from others,
# and what makes a run.
_PROGRAMS: list[tuple[str, tuple[str, ...], set[str], Callable[..., AnyRun]]] = [
    ("clutrr or graphs", graph_runs.MODELS, {"edges", "targets"}, graph_run),
    ("meanings", meaning_runs.MODELS, {"tokens", "relations", "graph_labels"}, meaning_run),
    ("cogs", semantic_runs.MODELS, {"tokens", *semantic_runs.KINDS}, semantic_run),
    ("cognition, pairs or cfq", sequence_runs.MODELS, {"source", "target"}, sequence_run),
    ("dependencies", parser_runs.MODELS, {"tokens", "relations"}, parser_run)]
_LISTS = {"edges", "targets", "tokens", "relations", "labels", "graph_labels", *semantic_runs.KINDS}  # of texts


def load(folder: str | os.PathLike, averages: bool = True) -> AnyRun:
    """Loads a run from a folder that `train` of a program wrote: a Run of clutrr and graphs, a MeaningRun of meanings,
    a SemanticRun of cogs, a SequenceRun of cognition, pairs and cfq, a ParserRun of dependencies, or a TreeRun of trees
    and tree-transforms.

    averages  uses the moving averages of the weights if the run has them (`train --average`), like `evaluate`.

    Raises a ValueError that names the file if it cannot be read, or the model if this package has no module for it.
    """
    path = Path(folder)
    if path.is_dir():
        path = path / "model.safetensors"
    if not path.is_file():
        raise ValueError(f"{path}: no such file; give the folder that a program's `train --out` wrote")
    tensors, texts = read_safetensors(path)
    if not str(texts.get("format")).startswith("triad-checkpoint"):
        raise ValueError(f"{path}: not a checkpoint of triad; load another program's weights by load_state_dict")
    try:
        return _run_of(path, tensors, texts, averages)
    except (KeyError, TypeError, AttributeError, RuntimeError, AssertionError, IndexError, OverflowError,
            ValueError) as error:
        if str(error).startswith(f"{path}: "):
            raise
        first = " ".join(line.strip() for line in str(error).splitlines()[:2])  # a RuntimeError lists every parameter
        raise ValueError(f"{path}: not as triad's programs write it: {type(error).__name__}: {first}") from error


def _run_of(path: Path, tensors: dict[str, torch.Tensor], texts: dict[str, str], averages: bool) -> AnyRun:
    settings, words = json.loads(texts["configuration"]), json.loads(texts["vocabulary"])
    model = settings.get("model", "edge-transformer")
    for name, names in words.items() if isinstance(words, dict) else ():
        if name in _LISTS:
            expect_texts(names, name, path)
    prefix = "average." if averages and "averages" in texts else ""
    weights = {name.removeprefix(prefix): x for name, x in tensors.items()
               if name.startswith(prefix) and not (prefix == "" and name.split(".")[0] in ("adam", "average"))}
    if isinstance(words, list) and model == "tree-machine":
        expect_texts(words, "symbols", path)
        return tree_run(path, weights, settings, words)
    for _, models, lists, run in _PROGRAMS if isinstance(words, dict) else ():
        if lists <= words.keys() and model in models:
            if run is meaning_run and (chosen := re.search(r"; threshold (\S+)", texts.get("extra.run", ""))):
                settings["threshold"] = float(chosen[1])  # which `train --choose-threshold` chose
            return run(path, weights, settings, words)
    known = ", ".join(f"of {name} ({', '.join(models)})" for name, models, *_ in _PROGRAMS)
    raise ValueError(f"{path}: a run of model {model!r}, expected one {known}, or of trees, for which there are "
                     "modules; `predict` of the program that trained it answers")
