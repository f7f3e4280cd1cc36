"""Trees as tensors.  Each filler is bound to the role of its position in the tree.  Linear maps take trees apart and
build trees.

    T = sum over positions i of  f[i] bound to role[i]          (Differentiable Tree Machine, section 2)

Position 0 is the root, and child c of position i, counted from 0, is position branching * i + 1 + c.  So positions are
in breadth-first order.  A tree of depth d has d levels, and a binary tree has 2^d - 1 positions.  A filler of zeros
means that a position is empty.
Every function takes a batch of trees.  It accepts NumPy's arrays, other arrays with __dlpack__, and tensors of PyTorch.
All arguments of a call must be tensors, or all must be arrays.
For tensors, every function is differentiable any number of times.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays, _checks, _kernels

__all__ = ["Roles", "car", "cdr", "child", "graft", "cons", "root", "plant", "bind", "unbind"]


def positions(branching: int, depth: int) -> int:
    """Returns the number of positions of a tree."""
    branching, depth = _checks.whole(branching, "branching"), _checks.whole(depth, "depth")
    if branching < 2 or depth < 1:
        raise ValueError(f"branching is {branching} and depth {depth}, expected 2 or more and 1 or more; pass larger "
                         "ones")
    count = (branching ** depth - 1) // (branching - 1)
    if count >= 2 ** 31:
        raise ValueError(f"a tree of branching {branching} and depth {depth} has {count} positions, too many for an "
                         "array; pass a smaller depth")
    return count


class Roles:
    """The positions of a tree, with a role vector for each.

    Roles.gather(depth)                   unit vectors: a tree is (..., positions, filler), with a row for each position
    Roles.dense(depth, seed, width)       orthonormal vectors drawn from a seed, the same as in C++: a tree is
                                          (..., filler, width)
    Roles.given(vectors, depth)           orthonormal vectors (positions, width).  Their inner products may differ from
                                          0 and 1 by at most 1e-10, or by 1e-5 if the array is float32

    branching is the number of children that a node can have, 2 by default.

    Each further level of dense or given binary roles takes 4 times the memory: 24 MiB at depth 10 and 384 MiB at depth
    12, if width is the number of positions.  Making dense roles takes seconds at depth 10 and minutes at depth 12.
    """

    def __init__(self, depth: int, branching: int, vectors: np.ndarray | None, shifts: np.ndarray | None) -> None:
        self.count = positions(branching, depth)
        self.depth, self.branching = int(depth), int(branching)
        self.vectors, self.shifts = vectors, shifts  # (N, r) and D of each child (b, r, r), float64; None: unit vectors
        self._tensors: dict[tuple, Any] = {}

    @classmethod
    def gather(cls, depth: int, branching: int = 2) -> Roles:
        """Returns unit vectors as roles."""
        return cls(depth, branching, None, None)

    @classmethod
    def dense(cls, depth: int, seed: int = 0, width: int | None = None, branching: int = 2) -> Roles:
        """Returns orthonormal vectors (positions, width), which are drawn from the seed.  Raises a ValueError if width
        is less than the number of positions, which is its default."""
        count = positions(branching, depth)
        width, seed = count if width is None else _checks.whole(width, "width"), _checks.whole(seed, "seed")
        if width < count:
            raise ValueError(f"width is {width}, and {count} roles can be orthonormal in {count} dimensions or more; "
                             "leave width out")
        vectors, shifts = np.empty((count, width)), np.empty((branching, width, width))
        _kernels.run("triad_make_roles", branching, depth, width, seed % 2**64, _arrays.address(vectors),
                     _arrays.address(shifts))
        return cls(depth, branching, vectors, shifts)

    @classmethod
    def given(cls, vectors: Any, depth: int, branching: int = 2) -> Roles:
        """Returns your own vectors, an array (positions, width), as roles.  Raises a ValueError if they are not
        orthonormal."""
        given = np.asarray(_arrays.expect_plain(vectors, "vectors"))
        exactness = _arrays.TYPES.get(given.dtype, _kernels.FLOAT64)
        vectors = np.array(given, dtype=np.float64, order="C")
        count = positions(branching, depth)
        if vectors.ndim != 2 or vectors.shape[0] != count:
            raise ValueError(f"vectors have shape {vectors.shape}, expected ({count}, width); pass one role a position")
        shifts = np.empty((branching, vectors.shape[1], vectors.shape[1]))
        _kernels.run("triad_make_shifts", branching, depth, vectors.shape[1], exactness, _arrays.address(vectors),
                     _arrays.address(shifts))
        return cls(depth, branching, vectors, shifts)

    @property
    def is_dense(self) -> bool:
        """Whether a tree is (..., filler, width).  If not, it is (..., positions, filler)."""
        return self.vectors is not None

    def __repr__(self) -> str:
        kind = f"dense, width {self.vectors.shape[1]}" if self.vectors is not None else "gather"
        return f"Roles({kind}, depth {self.depth}, branching {self.branching}, {self.count} positions)"

    def _expect_tree(self, x, name: str) -> None:
        if self.vectors is not None:
            axis, size, expected = -1, self.vectors.shape[1], f"(..., filler, {self.vectors.shape[1]})"
        else:
            axis, size, expected = -2, self.count, f"(..., {self.count}, filler)"
        if len(x.shape) < 2 or x.shape[axis] != size:
            raise ValueError(f"{name} has shape {tuple(x.shape)}, expected {expected}; make it by bind, plant or cons")

    def _expect_child(self, c: int) -> int:
        c = _checks.whole(c, "c")
        if not 0 <= c < self.branching:
            raise ValueError(f"child {c} is asked for, and a node has {self.branching} children; count from 0")
        return c

    def _like(self, x, which: str):
        """Returns the vectors or the shift matrices in the type and on the device of x."""
        if not _arrays.is_torch(x):
            return getattr(self, which).astype(x.dtype, copy=False)
        import torch
        key = (which, x.dtype, x.device)
        if key in self._tensors:
            return self._tensors[key]
        with torch.inference_mode(False):  # so that training can also use the stored tensor
            made = torch.from_numpy(getattr(self, which)).to(x.device, x.dtype)
        if type(made) is torch.Tensor:  # not a tracer's tensor, which has no data
            self._tensors[key] = made
        return made

    def __getstate__(self):
        return {**self.__dict__, "_tensors": {}}


def _expect_roles(roles, call: str) -> None:
    if not isinstance(roles, Roles):
        raise TypeError(f"roles is {type(roles).__name__}, expected Roles; call {call}")


def _transposed(x):
    return x.mT if _arrays.is_torch(x) else np.swapaxes(x, -1, -2)


def _prepared(roles: Roles, x, name: str):
    x = _numbers(x, name)
    roles._expect_tree(x, name)
    return x


def _numbers(x, name: str):
    """Returns an array in the type for computing.  Checks a tensor, and returns it unchanged."""
    if not _arrays.is_torch(x):
        return _arrays.computed(_arrays.read(x, name))
    from ._torch_attention import expect_type
    expect_type(x, name)
    return x


def _shift(kernel: str, roles: Roles, c: int, x):
    """Computes D_c x or E_c x for unit vectors."""
    shape = x.shape
    if _arrays.is_torch(x):
        from . import _operators
        from ._torch_attention import expect_type
        if x.numel() == 0:
            return x + 0
        operator = getattr(_operators, kernel)
        computed = x.to(expect_type(x, "x"))  # the operator only moves numbers and does not round
        return operator(computed.reshape(-1, *shape[-2:]), c, roles.branching, roles.depth).reshape(shape).to(x.dtype)
    x = np.ascontiguousarray(x)
    y = np.empty_like(x)
    if x.size == 0:
        return y
    trees = x.size // (shape[-1] * shape[-2])
    call = _kernels.TreeCall(place=_arrays.place(), type=_arrays.TYPES[x.dtype], trees=trees, branching=roles.branching,
                             depth=roles.depth, filler=shape[-1], child=c, source=x.ctypes.data, to=y.ctypes.data)
    _kernels.run_call("triad_" + kernel, call)
    return y


def child(roles: Roles, x: Any, c: int) -> Any:
    """Returns the subtree at child c of the root, moved to the root: D_c x.  The last level of the result is empty."""
    _expect_roles(roles, "child(roles, x, c)")
    c = roles._expect_child(c)
    y = _prepared(roles, x, "x")
    y = y @ _transposed(roles._like(y, "shifts")[c]) if roles.is_dense else _shift("tree_child", roles, c, y)
    return _finish(y, x)


def graft(roles: Roles, x: Any, c: int) -> Any:
    """Returns the tree as child c of a root without a filler: E_c x.  The last level of x is dropped."""
    _expect_roles(roles, "graft(roles, x, c)")
    c = roles._expect_child(c)
    y = _prepared(roles, x, "x")
    y = y @ roles._like(y, "shifts")[c] if roles.is_dense else _shift("tree_graft", roles, c, y)
    return _finish(y, x)


def _finish(y, like):
    return y if _arrays.is_torch(y) else _arrays.give_back(y, like)


def car(roles: Roles, x: Any) -> Any:
    """Returns the left subtree, child 0."""
    _expect_roles(roles, "car(roles, x)")
    return child(roles, x, 0)


def cdr(roles: Roles, x: Any) -> Any:
    """Returns the right subtree, child 1."""
    _expect_roles(roles, "cdr(roles, x)")
    return child(roles, x, 1)


def root(roles: Roles, x: Any) -> Any:
    """Returns the root's filler (..., filler)."""
    _expect_roles(roles, "root(roles, x)")
    y = _prepared(roles, x, "x")
    return _finish(y @ roles._like(y, "vectors")[0] if roles.is_dense else y[..., 0, :], x)


def plant(roles: Roles, filler: Any) -> Any:
    """Returns a tree with only a root, which has this filler (..., filler)."""
    _expect_roles(roles, "plant(roles, filler)")
    s = _numbers(filler, "filler")
    if len(s.shape) < 1:
        raise ValueError("filler is (..., numbers of a filler)")
    if roles.is_dense:
        return _finish(s[..., :, None] * roles._like(s, "vectors")[0], filler)
    if _arrays.is_torch(s):
        from torch.nn.functional import pad
        return pad(s.unsqueeze(-2), (0, 0, 0, roles.count - 1))
    tree = np.zeros((*s.shape[:-1], roles.count, s.shape[-1]), s.dtype)
    tree[..., 0, :] = s
    return _finish(tree, filler)


def cons(roles: Roles, children: Sequence[Any], filler: Any) -> Any:
    """Returns the tree with this filler (..., filler) at the root and these children, at most as many as the branching.

    E_0 children[0] + E_1 children[1] + ... + the filler bound to the root's role."""
    _expect_roles(roles, "cons(roles, children, filler)")
    if hasattr(children, "__dlpack__"):
        raise TypeError(f"children is {type(children).__name__}, expected a list of trees; pass one such as [left, "
                        "right]")
    _arrays.expect_one_kind({"filler": filler, **{f"children[{c}]": x for c, x in enumerate(children)}})
    if len(children) > roles.branching:
        raise ValueError(f"there are {len(children)} children, and a node has {roles.branching}; pass fewer")
    tree = plant(roles, filler)
    for c, x in enumerate(children):
        tree = tree + graft(roles, x, c)
    return tree


def bind(roles: Roles, fillers: Any) -> Any:
    """Returns the tree of these fillers (..., positions, filler).  There is a row for each position.  A row of zeros
    means no filler."""
    _expect_roles(roles, "bind(roles, fillers)")
    x = _numbers(fillers, "fillers")
    if len(x.shape) < 2 or x.shape[-2] != roles.count:
        raise ValueError(f"fillers have shape {tuple(x.shape)}, expected (..., {roles.count}, filler); pass one a "
                         "position")
    return _finish(_transposed(x) @ roles._like(x, "vectors") if roles.is_dense else x + 0, fillers)


def unbind(roles: Roles, x: Any) -> Any:
    """Returns the filler at each position (..., positions, filler); unbind(roles, bind(roles, f)) is f."""
    _expect_roles(roles, "unbind(roles, x)")
    y = _prepared(roles, x, "x")
    return _finish(roles._like(y, "vectors") @ _transposed(y) if roles.is_dense else y + 0, x)
