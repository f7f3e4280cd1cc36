"""A PyTorch module of the Differentiable Tree Machine.

    M_0 = the input tree;  the first tokens: one for the operation, one for the root
    step k:  a new token  W flat(M_k) + b;   tokens = transformer_k(tokens)
             o = softmax(operation scores);  p = softmax over trees of the argument scores;  s = the root
             M_{k+1} = o_car car(sum_l p M_l) + o_cdr cdr(sum_l p M_l) + o_cons cons(sum_l p M_l, sum_l p M_l, s)
"""
from __future__ import annotations

import copy
import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from . import _checks
from ._pretrained import Pretrained
from ._torch_attention import expect_dense, outside
from .trees import positions

EMPTY = 0           # the number of the symbol of an empty position
_least_norm = 0.01  # a position whose scores have at most this norm is empty, as in the released program
_parts = ("op_logits_token", "root_filler_token", "empty_token", "ctrl_net.", "nta.", "interpreter.")  # of _Machine


@dataclass
class TreeStep:
    """What the machine did in one step."""
    operations: torch.Tensor  # (b, 3): probabilities of car, cdr and cons
    arguments: torch.Tensor   # (b, n, 4): how much the argument of car, of cdr, and the left and the right argument of
                              # cons is each of n trees: those of the memory, then the empty tree if there is one
    root: torch.Tensor        # (b, fillers): the root that cons writes
    tree: torch.Tensor        # (b, positions, fillers): the new tree


class _Shifts(nn.Module):
    """car, cdr and cons of trees by position.  They move blocks of rows: the nodes of a subtree at one level are next
    to each other.  The functions of trees.py would need kernels for the type and the device."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.levels = [2 ** level for level in range(depth - 1)]  # the size of each level of a subtree

    def forward(self, trees: torch.Tensor, weights: torch.Tensor, root: torch.Tensor) -> torch.Tensor:
        """trees (b, n, positions, fillers), weights (b, n, 4), root (b, fillers).  Returns the new tree."""
        inner = trees.shape[2] // 2  # the positions of a subtree
        taken = torch.einsum("blc,blnf->bcnf", weights[..., :2], trees)
        below = torch.einsum("blc,blnf->bcnf", weights[..., 2:], trees[:, :, :inner])
        # Level k, of m = 2^k nodes, is rows m - 1 to 2 m - 2 of a tree.  In the tree above, the left subtree's level k
        # is rows 2 m - 1 to 3 m - 2, and the right one's is rows 3 m - 1 to 4 m - 2.
        cons = [below[:, c, m - 1:2 * m - 1] for m in self.levels for c in (0, 1)]
        children = [taken[:, 0, 2 * m - 1:3 * m - 1] + taken[:, 1, 3 * m - 1:4 * m - 1] for m in self.levels]
        last = root.new_zeros(len(root), trees.shape[2] - inner, root.shape[1])
        return torch.cat([root[:, None], *cons], 1) + torch.cat([*children, last], 1)


# The classes _Car, _Cdr and _Cons give the matrices their names in the released program.
class _Car(nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.car_weight = nn.Parameter(torch.empty(count, count))


class _Cdr(nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.cdr_weight = nn.Parameter(torch.empty(count, count))


class _Cons(nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.cons_l, self.cons_r = (nn.Parameter(torch.empty(count, count)) for _ in range(2))


class _LearnedShifts(nn.Module):
    """Learned matrices instead of car, cdr and cons: an ablation of the paper."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        count = positions(2, depth)
        self.car_net, self.cdr_net, self.cons_net = _Car(count), _Cdr(count), _Cons(count)
        for matrix in self.parameters():
            nn.init.uniform_(matrix, -count ** -0.5, count ** -0.5)

    def forward(self, trees: torch.Tensor, weights: torch.Tensor, root: torch.Tensor) -> torch.Tensor:
        maps = torch.stack([self.car_net.car_weight, self.cdr_net.cdr_weight, self.cons_net.cons_l,
                            self.cons_net.cons_r])
        new = torch.einsum("cqp,bcpf->bqf", maps, torch.einsum("blc,blpf->bcpf", weights, trees))
        return torch.cat([new[:, :1] + root[:, None], new[:, 1:]], 1)


class _Agent(nn.Module):
    """The Neural Tree Agent: a Transformer and three heads for each step."""

    def __init__(self, steps: int, width: int, heads: int, layers: int, hidden: int, fillers: int, dropout: float,
                 norm_first: bool, activation: str) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, heads, hidden, dropout, activation, batch_first=True,
                                           norm_first=norm_first)
        transformer = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width) if norm_first else None,
                                            enable_nested_tensor=False)
        self.layers = nn.ModuleList(copy.deepcopy(transformer) for _ in range(steps))
        self.op_logits_list, self.root_filler_list, self.arg_logits_list = (
            nn.ModuleList(nn.Linear(width, to) for _ in range(steps)) for to in (3, fillers, 4))


class _Machine(nn.Module):
    """The part of the model that has parameters, with its names in the released program."""

    def __init__(self, depth: int, width: int, fillers: int, empty_tree: bool, learned: bool, **of_agent) -> None:
        super().__init__()
        self.op_logits_token, self.root_filler_token = (nn.Parameter(torch.randn(1, width)) for _ in range(2))
        self.empty_token = nn.Parameter(torch.randn(1, width)) if empty_tree else None
        self.ctrl_net = nn.Linear(positions(2, depth) * fillers, width)
        self.nta = _Agent(width=width, fillers=fillers, **of_agent)
        self.interpreter: nn.Module = _LearnedShifts(depth) if learned else _Shifts(depth)


class _Table(nn.Module):
    weight: torch.Tensor

    def __init__(self, symbols: int, width: int) -> None:
        super().__init__()
        self.register_buffer("weight", torch.eye(symbols, width))
        self.weight[EMPTY] = 0


class _Fillers(nn.Module):
    """The vectors of the symbols, which are not trained."""

    def __init__(self, symbols: int, width: int) -> None:
        super().__init__()
        self.filler_emb = _Table(symbols, width)


class TreeMachine(Pretrained):
    """The Differentiable Tree Machine, which maps binary trees to binary trees.  Parameters have the names of the
    released program.

    symbols      symbols of the vocabulary; symbol 0 is the empty position.
    depth        levels of a tree: a tree has 2^depth - 1 positions.
    steps        steps of the machine; each has a Transformer of `layers` layers of its own.
    hidden       width of the feed-forward blocks; None: 4 * width.
    fillers      length of a symbol's vector; None: `symbols`.  Vectors are unit vectors, and are not trained.
    norm_first, activation   norms come before the branches of a layer; gelu or relu.
    operation_choice, argument_choice   softmax; gumbel: with noise in training; for arguments also gumbel-released:
                 gumbel, with the softmax over the four arguments of a tree, as in the released program.
    root         scores: cons writes the agent's output; distribution: its softmax over the fillers, which are the
                 symbols if `fillers` is None.
    empty_tree   every argument may be the empty tree, for which the agent has a token; not with gumbel-released.
    learned      learned matrices instead of car, cdr and cons.

    The defaults are those of the released program's command.  A tree is stored by position, with a vector for each, so
    car, cdr and cons move blocks of rows.  A checkpoint of the released program has random roles; when it is loaded,
    they become part of ctrl_net, and of learned matrices.  This is the same function, up to rounding.  With learned
    matrices, roles must have as many dimensions as there are positions, which is not the released program's default.

    config is a dict of the arguments with which the model was made.
    """

    def __init__(self, symbols: int, depth: int, steps: int, width: int = 64, heads: int = 4, layers: int = 1,
                 hidden: int | None = None, dropout: float = 0.1, fillers: int | None = None, norm_first: bool = True,
                 activation: str = "gelu", operation_choice: str = "softmax", argument_choice: str = "softmax",
                 root: str = "scores", empty_tree: bool = False, learned: bool = False) -> None:
        super().__init__()
        symbols, steps = _checks.whole(symbols, "symbols"), _checks.one_or_more(steps, "steps")
        width, heads = _checks.width_and_heads(width, heads)
        if symbols < 2:
            raise ValueError(f"symbols is {symbols}, expected 2 or more; count the empty position")
        given = symbols if fillers is None else _checks.whole(fillers, "fillers")
        if given < symbols:
            raise ValueError(f"fillers is {given}, expected {symbols} or more, a dimension for each symbol; leave it "
                             "out")
        for name, value, known in (("activation", activation, ("gelu", "relu")),
                                   ("operation_choice", operation_choice, ("softmax", "gumbel")),
                                   ("argument_choice", argument_choice, ("softmax", "gumbel", "gumbel-released")),
                                   ("root", root, ("scores", "distribution"))):
            if value not in known:
                raise ValueError(f"{name} is {value!r}, expected {' or '.join(known)}; pass one of them")
        if empty_tree and argument_choice == "gumbel-released":
            raise ValueError("argument_choice is 'gumbel-released' with an empty tree, expected softmax or gumbel; the "
                             "released softmax over arguments has no place for it")
        self.config = {"symbols": symbols, "depth": depth, "steps": steps, "width": width, "heads": heads,
                       "layers": layers, "hidden": hidden, "dropout": dropout, "fillers": fillers,
                       "norm_first": norm_first, "activation": activation, "operation_choice": operation_choice,
                       "argument_choice": argument_choice, "root": root, "empty_tree": empty_tree, "learned": learned}
        self.steps, self.choices, self.root = steps, (operation_choice, argument_choice), root
        self.tpr = _Fillers(symbols, given)
        self.dtm = _Machine(depth, width, given, empty_tree, learned, steps=steps, heads=heads,
                            layers=_checks.one_or_more(layers, "layers"),
                            hidden=_checks.hidden_width(hidden, width), dropout=_checks.rate(dropout, "dropout"),
                            norm_first=norm_first, activation=activation)
        self.count = positions(2, depth)
        self.register_load_state_dict_pre_hook(self._read_released)

    @staticmethod
    def _read_released(self, state, prefix, *_) -> None:
        """Reads the state_dict of the released program's machine: adds "dtm." to the names that lack it, and makes the
        roles part of the parameters."""
        for key in [key for key in state if key.startswith(tuple(prefix + part for part in _parts))]:
            state[f"{prefix}dtm.{key.removeprefix(prefix)}"] = state.pop(key)
        roles = state.pop(f"{prefix}tpr.role_emb.weight", None)
        if roles is None:
            return
        if roles.shape[0] != self.count:
            raise ValueError(f"tpr.role_emb.weight has {roles.shape[0]} rows, expected {self.count}, the positions of "
                             "a tree; make the machine with the depth of the checkpoint")
        fold_roles(state, roles, f"{prefix}dtm.", fillers_first=True)

    def forward(self, trees: torch.Tensor, temperature: float | tuple[float, float] = 1.0,
                recency: float = 0.0) -> torch.Tensor:
        """trees int64 (b, positions): the symbol at each position; the root is position 0, and the children of position
        i are 2 i + 1 and 2 i + 2.  Returns scores (b, positions, symbols) of the symbols of the new trees.

        temperature   scores of choices are divided by it before the softmax; a pair: for operations and for arguments.
        recency       step k subtracts recency * (k - l) from the scores of tree l of the memory, but not of the input.
                      The programs' --recency is steps times this number.
        """
        return self.trace(trees, temperature, recency)[0]

    def trace(self, trees: torch.Tensor, temperature: float | tuple[float, float] = 1.0,
              recency: float = 0.0) -> tuple[torch.Tensor, list[TreeStep]]:
        """Returns the result of forward(), and what the machine did in each step."""
        expect_dense(trees, "trees")
        if trees.dtype != torch.int64:
            raise TypeError(f"trees are {trees.dtype}, expected int64; convert them by .to(torch.int64)")
        if trees.dim() != 2 or trees.shape[1] != self.count:
            raise ValueError(f"trees have shape {tuple(trees.shape)}, expected (trees, {self.count}), a symbol for "
                             "each position; fill up with 0")
        _expect_symbols(trees, "trees", self.config["symbols"])
        machine, agent, fillers = self.dtm, self.dtm.nta, self.tpr.filler_emb.weight
        of_operation, of_argument = self._expect_settings(temperature, recency)
        memory, steps = F.embedding(trees, fillers)[:, None], []
        first = [machine.op_logits_token, machine.root_filler_token]
        last = [] if machine.empty_token is None else [machine.empty_token]
        tokens = torch.stack([*first, *last], 1).expand(len(trees), -1, -1)
        for k in range(self.steps):
            at = tokens.shape[1] - len(last)
            new = machine.ctrl_net(memory[:, -1].flatten(1))[:, None]
            tokens = agent.layers[k](torch.cat([tokens[:, :at], new, tokens[:, at:]], 1))
            operations = self._chosen(agent.op_logits_list[k](tokens[:, 0]), self.choices[0], of_operation)
            scores = agent.arg_logits_list[k](tokens[:, 2:])
            if recency:
                age = torch.arange(k, 0, -1, device=trees.device, dtype=scores.dtype) - 1  # of the trees 1 to k
                scores = scores - F.pad(recency * age, (1, len(last)))[:, None]
            arguments = self._chosen(scores, self.choices[1], of_argument)
            root = agent.root_filler_list[k](tokens[:, 1])
            if self.root == "distribution":
                root = root.softmax(-1)
            weights = arguments[:, :k + 1] * operations[:, None, [0, 1, 2, 2]]  # nothing comes from the empty tree
            tree = machine.interpreter(memory, weights, operations[:, 2:] * root)
            steps.append(TreeStep(operations, arguments, root, tree))
            memory = torch.cat([memory, tree[:, None]], 1)
        return tree @ fillers.T, steps

    def _expect_settings(self, temperature: float | tuple[float, float], recency: float) -> tuple[float, float]:
        """Checks the settings of a pass.  Returns the temperatures of operations and of arguments."""
        both = temperature if isinstance(temperature, tuple) and len(temperature) == 2 else (temperature, temperature)
        for name, value in (("temperature", both[0]), ("temperature", both[1]), ("recency", recency)):
            _checks.expect_number(value, name)
            if not 0 <= value < math.inf or (name == "temperature" and value == 0):
                raise ValueError(f"{name} is {value}, expected a finite number, "
                                 f"{'above 0' if name == 'temperature' else '0 or more'}; leave it out")
        if recency and self.choices[1] == "gumbel-released":
            raise ValueError(f"recency is {recency}, expected 0 with gumbel-released, whose softmax is not over "
                             "trees; leave it out")
        return both

    def _chosen(self, scores: torch.Tensor, choice: str, temperature: float) -> torch.Tensor:
        if choice != "softmax" and self.training:
            scores = scores + _gumbel(scores)
        return (scores / temperature).softmax(2 if choice == "gumbel-released" else 1)

    @staticmethod
    def loss(scores: torch.Tensor, targets: torch.Tensor, empty_weight: float = 1.0) -> torch.Tensor:
        """Returns the loss of the released program, the mean over positions of

            sum over symbols v of (score(v) - [v = target])^2    where the target tree has a symbol
            empty_weight * |scores|                              where it has none

        scores are the result of forward(), targets int64 (b, positions).  Half types are summed in float32."""
        if targets.dtype != torch.int64 or targets.shape != scores.shape[:-1]:
            raise ValueError(f"targets: {targets.dtype} {tuple(targets.shape)}, expected torch.int64 "
                             f"{tuple(scores.shape[:-1])}; pass the symbol of each position")
        if not 0 <= empty_weight < math.inf:
            raise ValueError(f"empty_weight is {empty_weight}, expected 0 or more, and finite; leave it out")
        _expect_symbols(targets, "targets", scores.shape[-1])
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        filled = targets != EMPTY
        wanted = F.one_hot(targets, scores.shape[-1]).to(scores)
        squared = (scores - wanted)[filled].square().sum()
        empty = torch.linalg.vector_norm(scores[~filled], dim=-1).sum()
        return (squared + empty_weight * empty) / max(1, targets.numel())

    @staticmethod
    def symbols(scores: torch.Tensor) -> torch.Tensor:
        """Returns the likeliest symbol of each position, int64 (b, positions): 0 where all scores are near 0."""
        return scores.argmax(-1).where(torch.linalg.vector_norm(scores, dim=-1) > _least_norm, EMPTY)


def _expect_symbols(x: torch.Tensor, name: str, symbols: int) -> None:
    if (wrong := outside(x, symbols)) is not None:
        raise ValueError(f"{name}: symbol {wrong}, expected 0 to {symbols - 1}; number the symbols of the "
                         "vocabulary from 0, the empty position")


def _gumbel(like: torch.Tensor) -> torch.Tensor:
    return -torch.empty_like(like).exponential_().log()


def fold_roles(state: dict[str, torch.Tensor], roles: torch.Tensor, prefix: str, fillers_first: bool) -> None:
    """Changes the parameters of a machine over roles (positions, r) to those of one over positions.

    A tree over roles is (fillers, r) if `fillers_first`, and otherwise (r, fillers).  Learned matrices need as many
    dimensions of roles as positions."""
    weight = state[f"{prefix}ctrl_net.weight"]
    count, width = roles.shape
    roles = roles.to(weight)
    trees = weight.unflatten(1, (-1, width) if fillers_first else (width, -1))
    folded = torch.einsum("dfr,pr->dpf" if fillers_first else "drf,pr->dpf", trees, roles)
    state[f"{prefix}ctrl_net.weight"] = folded.flatten(1)
    for name in ("car_net.car_weight", "cdr_net.cdr_weight", "cons_net.cons_l", "cons_net.cons_r"):
        if (matrix := state.get(f"{prefix}interpreter.{name}")) is not None:
            if count != width:
                raise ValueError(f"tpr.role_emb.weight has {width} columns, expected {count}, the positions, with "
                                 "learned matrices; train the checkpoint with d_role 2^depth - 1")
            state[f"{prefix}interpreter.{name}"] = roles @ matrix @ roles.T
