"""Triangular attention as a function."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _arrays, _checks, _kernels, _weights

FORMS = {"full": 0, "value_ablation": 1, "attention_ablation": 2, "both_ablations": 3, "flat": 4}


def form_number(form: str) -> int:
    if form not in FORMS:
        raise ValueError(f"form is {form!r}, expected one of {', '.join(FORMS)}; leave it out for full")
    return FORMS[form]


def has_right(form: int) -> bool:
    """Returns whether a form of attention multiplies by a second value, v2."""
    return form in (0, 2)


def _expect_shapes(shapes: dict[str, tuple], ragged: bool) -> None:
    query = shapes["q"]
    expected = "(rows, heads, width)" if ragged else "(batch, n, n, heads, width)"
    if len(query) != (3 if ragged else 5):
        raise ValueError(f"q has shape {query}, expected {expected}; reshape it by heads")
    if not ragged and query[1] != query[2]:
        raise ValueError(f"q has shape {query}: its second and third size are the numbers of nodes, and differ; pad "
                         "graphs to one size")
    if query[-1] == 0 or query[-2] == 0:
        raise ValueError(f"q has shape {query}: heads and width are 1 or more; pass fewer heads or a larger width")
    for name, shape in shapes.items():
        if shape != query:
            raise ValueError(f"{name} has shape {shape}, and q has {query}; pass the same shape")


def sizes_of(offsets, rows: int) -> np.ndarray:
    """Returns the number of nodes of each graph, int64 (b), from the indices at which its edges begin.

    Offsets have b + 1 entries, from 0 to the number of rows."""
    offsets = np.asarray(_arrays.expect_plain(offsets, "offsets"))
    if offsets.ndim != 1 or offsets.size < 1 or offsets.dtype.kind not in "iu":
        raise ValueError("offsets are whole numbers, one more than there are graphs: 0, then where each graph's edges "
                         "end; pass such a list")
    edges = np.diff(offsets.astype(np.int64))
    if offsets[0] != 0 or offsets[-1] != rows or (edges < 0).any():
        raise ValueError(f"offsets go from 0 up to the {rows} rows of q, and these go from {offsets[0]} to "
                         f"{offsets[-1]}; count the edges of each graph")
    nodes = np.array([math.isqrt(int(e)) for e in edges], dtype=np.int64)
    for graph in np.flatnonzero(nodes * nodes != edges):
        raise ValueError(f"graph {graph} has {edges[graph]} edges by its offsets, and a complete graph of n nodes has "
                         "n n; pass all edges, with those of a node to itself")
    return nodes


def expect_bias_form(form: int) -> None:
    if form == FORMS["flat"]:
        raise ValueError("bias is given with the form 'flat', expected another form: its scores have no bias; leave "
                         "bias out")


def _expect_right(v2, number: int, form: str) -> None:
    if has_right(number) and v2 is None:
        raise ValueError(f"the form {form!r} needs v2; pass it, or another form")
    if not has_right(number) and v2 is not None:
        raise ValueError(f"the form {form!r} has no second value; leave v2 out (None)")


def triangular_attention(q: Any, k: Any, v1: Any, v2: Any = None, mask: Any = None, scale: float | None = None,
                         dropout_p: float = 0.0, generator: Any = None, causal_sources: Any = None, form: str = "full",
                         *, offsets: Any = None, fill: float = -1e9, return_weights: Any = None,
                         bias: Any = None) -> Any:
    """Edge (i, j) of a graph attends over the middle node l of all triangles (i, l), (l, j) (Edge Transformer,
    equations 5 to 8):

        o[i, j] = sum over l of  p[i, l, j] v1[i, l] * v2[l, j]
        p[i, l, j] = softmax over l of  scale q[i, l] . k[l, j] + bias[i, l, j]

    for each head.  No array of size n^3 times the width is ever stored.

    q, k, v1, v2   (batch, n, n, heads, width): queries, keys and the two values of edge (i, j) at [b, i, j].
                   With `offsets`, a batch of graphs of different sizes: (rows, heads, width), one graph after another,
                   and the edges of each graph row by row.
    mask           bool (batch, n, n, n) at [b, i, l, j], or broadcastable to this shape; with `offsets` (sum of n^3).
                   True means that a triangle takes part, as in scaled_dot_product_attention.  The score of a triangle
                   that does not take part is `fill`.  If no triangle of an edge takes part, the edge gets the mean
                   over all middle nodes.  If pad (batch, n) is True for padding nodes, pass ~pad[:, None, :, None].
    scale          factor of the scores; None: 1 / sqrt(width).
    dropout_p      dropout rate of the weights p, after the softmax.  There is no argument `training`: pass 0 to
                   evaluate.
    generator      torch.Generator (for arrays numpy.random.Generator) from which the seed is drawn.  Do not pass it
                   under torch.utils.checkpoint, which restores only PyTorch's own generators before it computes again.
    causal_sources a number, or one for each graph (batch).  The first `causal_sources` nodes are sources.  A later
                   node l is a middle node of (i, j) only if l <= max(i, j).
    form           "full"; "value_ablation", without v2; "attention_ablation", scores q[i, l] . k[i, j];
                   "both_ablations"; "flat", one softmax over the 2 n edges that touch i or j (then v2 is None).
    offsets        (batch + 1): the index of each graph's first edge, then the number of all edges.
    fill           see mask.
    return_weights pairs of nodes [(i, j), ...].  The result is then (o, weights) with the weights p of these edges
                   without dropout, (batch, pairs, heads, n), in the type of q.  In the flat form the last axis is 2 n:
                   first the edges (i, z), then (z, j).  The weights of tensors are differentiable.  There are no
                   weights with `offsets`.
    bias           (batch, heads, n, n, n) at [b, h, i, l, j], or what broadcasts to it: added to the scores, before the
                   mask.  Its gradient is computed if it requires one.  Its type is that of q, or float32 if q is of a
                   half type.  With `offsets` (heads sum of n^3), which is (heads, n, n, n) of one graph after another,
                   or (sum of n^3) for all heads alike.  The form "flat" has no bias.  An expanded tensor is copied, so
                   pass sizes of 1 instead.

    Returns o in the shape and type of q.  Accepts tensors of PyTorch in float32, float64, bfloat16 and float16; half
    types are computed in float32.  For tensors, the function is differentiable once.  Also accepts NumPy's arrays and
    others with __dlpack__, in the same types but without derivatives.  On a host, float64 and the flat form are
    computed by plain loops on one thread, for checks and not for training.  Raises a ValueError or TypeError that names
    the wrong argument.
    """
    number = form_number(form)
    _expect_right(v2, number, form)
    dropout_p = _checks.rate(dropout_p, "dropout_p")
    if causal_sources is not None and number == FORMS["flat"]:
        raise ValueError("the form 'flat' has no causal meaning; leave causal_sources out")
    if return_weights is not None and offsets is not None:
        raise ValueError("return_weights is given with offsets, expected one of the two; call each graph by itself for "
                         "its weights")
    if _arrays.is_torch(q):
        from ._torch_attention import of_tensors
        return of_tensors(q, k, v1, v2, mask, scale, dropout_p, generator, causal_sources, number, offsets, fill,
                          return_weights, bias)
    return _of_arrays(q, k, v1, v2, mask, scale, dropout_p, generator, causal_sources, number, offsets, fill,
                      return_weights, bias)


def _read_all(given: dict[str, Any], ragged: bool) -> dict[str, np.ndarray]:
    """Checks that all arrays have the same shape and type.  Returns them in the type for computing."""
    _arrays.expect_one_kind(given)
    arrays = {name: _arrays.read(x, name) for name, x in given.items()}
    for name, x in arrays.items():
        if x.dtype != arrays["q"].dtype:
            raise TypeError(f"{name} is {x.dtype}, and q is {arrays['q'].dtype}; convert one of the two")
    _expect_shapes({name: x.shape for name, x in arrays.items()}, ragged)
    return {name: np.ascontiguousarray(_arrays.computed(x)) for name, x in arrays.items()}


def _masked(mask, shape: tuple) -> np.ndarray:
    """Returns bytes of this shape, which are 1 for triangles that are masked out."""
    mask = np.asarray(_arrays.through_dlpack(mask, "mask") if hasattr(mask, "__dlpack__") else mask)
    if mask.dtype != np.bool_:
        raise TypeError(f"mask is {mask.dtype}, expected bool; pass True where a triangle takes part")
    try:
        mask = np.broadcast_to(mask, shape)
    except ValueError:
        raise _checks.mask_error(mask.shape, shape) from None
    return np.ascontiguousarray(~mask).view(np.uint8)


def _bias(bias, query: np.ndarray, form: int, batch: int, n: int | None, triangles: int) -> np.ndarray:
    """Returns a bias in the type for computing, with all five axes, or with one for graphs of different sizes."""
    expect_bias_form(form)
    numbers = _arrays.computed(_arrays.read(bias, "bias"))
    if numbers.dtype != query.dtype:
        raise TypeError(f"bias is {numbers.dtype}, expected {query.dtype} or a type that is computed in it; convert "
                        "it by astype")
    shape = _checks.bias_shape(numbers.shape, batch, query.shape[-2], n, triangles)
    return np.ascontiguousarray(numbers.reshape(shape))


def _axes_of(bias: np.ndarray, expected: tuple) -> int:
    """Returns the axes of a bias as the kernels' bits: graphs, heads, i, l and j."""
    if bias.ndim == 1:
        return 0b11101 if bias.size == expected[-1] else 0b11111
    return sum(1 << axis for axis in range(5) if bias.shape[axis] == expected[axis])


def _of_arrays(q, k, v1, v2, mask, scale, dropout_p, generator, causal_sources, form, offsets, fill, return_weights,
               bias):
    given = {"q": q, "k": k, "v1": v1, **({} if v2 is None else {"v2": v2})}
    arrays = _read_all(given, offsets is not None)
    query = arrays["q"]
    heads, width = query.shape[-2:]
    sizes = (sizes_of(offsets, query.shape[0]) if offsets is not None
             else np.full(query.shape[0], query.shape[1], dtype=np.int64))
    edges = None if return_weights is None else _weights.edges_asked(return_weights, query.shape[1])
    call = _kernels.TriangleCall(place=_arrays.place(), type=_arrays.TYPES[query.dtype], form=form, heads=heads,
                                 width=width, graphs=len(sizes), sizes=sizes.ctypes.data,
                                 rows=query.size // (heads * width), fill=fill, dropout=dropout_p)
    if scale is not None:
        arrays["q"] = query * np.asarray(scale * math.sqrt(width), dtype=query.dtype)
    beside = {}  # further arrays, by the names of the call's fields
    if mask is not None:
        triangles = (int((sizes ** 3).sum()),) if offsets is not None else (len(sizes), *[query.shape[1]] * 3)
        beside["masked"] = _masked(mask, triangles)
        call.masks = beside["masked"].size
    if causal_sources is not None:
        beside["sources"] = _checks.source_counts(causal_sources, len(sizes))
    _arrays.expect_generator(generator)
    if dropout_p > 0:
        beside["seed"] = _arrays.seed(generator)
    if bias is not None:
        n, triangles = None if offsets is not None else query.shape[1], int((sizes ** 3).sum())
        beside["bias"] = _bias(bias, query, form, len(sizes), n, triangles)
        call.biases = beside["bias"].size
        call.bias_axes = _axes_of(beside["bias"], (triangles,) if n is None else (len(sizes), heads, n, n, n))
    for field, x in beside.items():
        setattr(call, field, x.ctypes.data)
    for field, name in (("query", "q"), ("key", "k"), ("left", "v1"), ("right", "v2")):
        if name in arrays:
            setattr(call, field, _kernels.Rows(arrays[name].ctypes.data, heads * width))
    output = np.empty(query.shape, query.dtype)
    statistics = np.empty((2, call.rows, heads), query.dtype)
    call.output = _kernels.Rows(output.ctypes.data, heads * width)
    call.maximum, call.inverse_sum = statistics[0].ctypes.data, statistics[1].ctypes.data
    if call.rows > 0:
        _kernels.run_call("triad_triangle", call)
    if edges is None:
        return _arrays.give_back(output, q)
    i, j = (np.array(nodes, dtype=np.int64) for nodes in edges)
    masked = beside["masked"].view(np.bool_) if "masked" in beside else None
    p = _weights.weights(np, _weights.query_rows(arrays["q"], i, j, form),
                         _weights.key_rows(np, arrays["k"], i, j, form), i, j, beside.get("bias"), masked,
                         beside.get("sources"), width ** -0.5, form, fill, query.shape[1])
    return _arrays.give_back(output, q), _arrays.give_back(p, q)
