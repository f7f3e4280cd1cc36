"""Computes the attention weights of chosen edges, in operations that PyTorch and NumPy both have.

The kernels never store weights, so these functions compute the scores of the chosen edges again.  This takes n times
the width of operations for each edge, and no array of size n^3.
"""
from __future__ import annotations

from typing import Any

from . import _checks

_flat, _own_key = 4, (2, 3)  # numbers of forms, as in attention.py


def edges_asked(given: Any, n: int) -> tuple[list[int], list[int]]:
    """Returns the sources and the targets of the pairs in return_weights, which are nodes below n."""
    pairs = given.tolist() if hasattr(given, "tolist") else given
    expected = "expected pairs of nodes; pass a list such as [(0, 2), (1, 3)]"
    if not isinstance(pairs, (list, tuple)):
        raise TypeError(f"return_weights is {type(given).__name__}, {expected}")
    sources, targets = [], []
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ValueError(f"return_weights contains {pair!r}, {expected}")
        i, j = (_checks.whole(node, "a node in return_weights") for node in pair)
        if not (0 <= i < n and 0 <= j < n):
            raise ValueError(f"return_weights asks for edge ({i}, {j}), and there are {n} nodes; count from 0")
        sources.append(i)
        targets.append(j)
    return sources, targets


def query_rows(x, i, j, form: int):
    """Returns the rows of x (b, n, n, ...) that are queries of the edges (i, j): (b, edges, n, ...), or (b, edges, 1,
    ...) if all terms of an edge have the same query."""
    return x[:, i, j][:, :, None] if form == _flat else x[:, i]


def key_rows(module, x, i, j, form: int):
    """Returns the rows of x (b, n, n, ...) that are keys of the edges (i, j), in the order of the softmax.  `module` is
    torch or numpy."""
    if form in _own_key:
        return x[:, i, j][:, :, None]
    into = x[:, :, j].swapaxes(1, 2)
    return module.concatenate([x[:, i], into], 2) if form == _flat else into


def _bias_rows(bias, i, j):
    """Returns the bias (b or 1, edges, heads or 1, n or 1) of the edges (i, j).  An axis of size 1 has only place 0."""
    i, j = (nodes if bias.shape[axis] != 1 else nodes * 0 for nodes, axis in ((i, 2), (j, 4)))
    return bias.swapaxes(3, 4)[:, :, i, j].swapaxes(1, 2)


def weights(module, query, key, i, j, bias, masked, sources, factor: float, form: int, fill: float, n: int):
    """Returns the attention weights of the edges (i, j), without dropout: (b, edges, heads, n), or (b, edges, heads,
    2 n) for the flat form.

    query, key   the rows from query_rows() and key_rows(): (b, edges, n or 1 or 2 n, heads, width).
    i, j         whole numbers (edges).
    bias         (b, heads, n, n, n) with a size of 1 along each axis that it lacks; or None.
    masked       bool (b, n, n, n), True where a triangle is excluded; or None.
    sources      whole numbers (b) of the causal form; or None.
    factor       factor of the scores; the score of an excluded triangle is fill.
    """
    scores = (query * key).sum(-1).swapaxes(2, 3) * factor  # (b, edges, heads, terms)
    terms = 2 * n if form == _flat else n
    scores = module.broadcast_to(scores, (*scores.shape[:3], terms))
    if bias is not None:
        scores = scores + _bias_rows(bias, i, j)
    if masked is not None:
        excluded = masked.swapaxes(2, 3)[:, i, j][:, :, None]
        if form == _flat:  # the terms (i, z) and (z, j) belong to the same triangle
            excluded = module.concatenate([excluded, excluded], 3)
        scores = module.where(excluded, module.full_like(scores, fill), scores)
    if sources is not None:
        end = module.maximum(module.maximum(i, j)[None] + 1, sources[:, None])
        middle = module.arange(n, **({} if not hasattr(i, "is_cuda") else {"device": i.device}))
        later = middle >= end[:, :, None, None]
        scores = module.where(later, module.full_like(scores, -float("inf")), scores)
    if terms == 0:
        return scores
    if hasattr(scores, "softmax"):
        return scores.softmax(-1)
    powers = module.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)
