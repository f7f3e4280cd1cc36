"""Runs of the programs `trees` and `tree-transforms`: trees of symbols from trees of symbols."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import torch

from . import _checks, _trees_as_text
from ._checkpoint_names import no_place, of_transformer_layer, renamed, stacked
from .tree_machine import EMPTY, TreeMachine, fold_roles
from .trees import Roles

_heads_of_agent = {"operation": "op_logits_list", "root": "root_filler_list", "arguments": "arg_logits_list"}
_of_machine = {"operation_token": "op_logits_token", "root_token": "root_filler_token", "empty_token": "empty_token",
               "shrink.weight": "ctrl_net.weight", "shrink.bias": "ctrl_net.bias",
               "interpreter.child0": "interpreter.car_net.car_weight",
               "interpreter.child1": "interpreter.cdr_net.cdr_weight",
               "interpreter.cons0": "interpreter.cons_net.cons_l", "interpreter.cons1": "interpreter.cons_net.cons_r"}


@dataclass
class TreeRun:
    """A trained tree machine: `module` in evaluation mode, its symbols, and the settings of the model."""
    module: TreeMachine
    symbols: list[str]  # the k-th symbol has number k; symbol 0 is the empty position
    settings: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers = {symbol: k for k, symbol in enumerate(self.symbols) if k != EMPTY}

    def transform(self, trees: Iterable[str], batch: int = 64) -> list[str]:
        """Returns the machine's answer for each tree, as the program's `predict` prints it: "( A B ( C D ) )".  The
        text of an empty answer is empty.  `batch` trees are computed at a time, 1 or more.

        Raises a ValueError for a text that is no binary tree, and for a tree with unknown symbols or too many levels.
        """
        if isinstance(trees, str):
            raise TypeError("trees: a text, expected a list of texts; pass [tree]")
        batch = _checks.batch_size(batch, "trees")
        rows = [_trees_as_text.numbers(tree, self._numbers, self.module.config["depth"]) for tree in trees]
        device, answers = self.module.tpr.filler_emb.weight.device, []
        for begin in range(0, len(rows), batch):
            with torch.no_grad():
                scores = self.module(torch.tensor(rows[begin:begin + batch], device=device))
            answers += [_trees_as_text.written(row, self.symbols) for row in self.module.symbols(scores).tolist()]
        return answers


def tree_run(path: Path, weights: dict[str, torch.Tensor], settings: dict, symbols: list[str]) -> TreeRun:
    if settings.get("binarise"):
        raise ValueError(f"{path}: a run with --binarise, expected one of binary trees; `predict` of the program reads "
                         "treebank trees")
    width, depth = settings["width"], settings["depth"]
    interpreter = settings["interpreter"]
    if interpreter not in ("rows", "matrices", "learned"):
        raise ValueError(f"{path}: interpreter {interpreter!r}, expected rows, matrices or learned; the file "
                         "is damaged")
    operations, arguments = (settings.get(f"{kind}_choice") or settings["choice"] for kind in ("operation", "argument"))
    operations = operations.removesuffix("-released")  # the same for operations, whose scores have one axis
    module = TreeMachine(len(symbols), depth, settings["steps"], width, settings["heads"], settings["layers"],
                         settings["hidden_factor"] * width, 0.0, operation_choice=operations,
                         argument_choice=arguments, root=settings.get("root", "scores"),
                         empty_tree=settings.get("empty_tree", False), learned=interpreter == "learned")
    state = {"tpr.filler_emb.weight": module.tpr.filler_emb.weight}
    for name, x in stacked(weights).items():
        start, _, rest = name.partition(".")
        if start == "agents":
            step, _, rest = rest.partition(".")
            state[_of_agent(step, rest, name, path)] = x
        elif name in _of_machine:
            state[f"dtm.{_of_machine[name]}"] = x[None] if name.endswith("_token") else x
        else:
            raise no_place(name, path)
    if interpreter != "rows":
        roles = torch.from_numpy(Roles.dense(depth, settings["role_seed"]).vectors)
        fold_roles(state, roles, "dtm.", fillers_first=False)
    module.load_state_dict(state)
    return TreeRun(module.eval(), symbols, settings)


def _of_agent(step: str, rest: str, name: str, path: Path) -> str:
    """Returns the module's name of a parameter of a tree machine's agent."""
    part, _, kind = rest.partition(".")
    if part in _heads_of_agent:
        return f"dtm.nta.{_heads_of_agent[part]}.{step}.{kind}"
    if part == "norm":
        return f"dtm.nta.layers.{step}.norm.{'weight' if kind == 'gain' else kind}"
    return f"dtm.nta.layers.{step}." + renamed(rest, ({}, of_transformer_layer), path, "layers", name)
