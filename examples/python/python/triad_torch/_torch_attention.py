"""Triangular attention over tensors of PyTorch."""
from __future__ import annotations

import math
from typing import Any

import torch

from . import _arrays, _checks, _operators, _weights
from .attention import _expect_shapes, expect_bias_form, form_number, has_right, sizes_of

_computed = {torch.float32: torch.float32, torch.float64: torch.float64, torch.bfloat16: torch.float32,
             torch.float16: torch.float32}
_whole = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def expect_dense(x: torch.Tensor, name: str) -> None:
    """Refuses tensors that are not dense, because the kernels read their numbers from memory."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} is {type(x).__name__}, expected a tensor of PyTorch; pass torch.as_tensor(...)")
    if x.is_nested:
        raise TypeError(f"{name} is a nested tensor, expected a dense one; pass {name}.to_padded_tensor(0.0)")
    if x.layout != torch.strided:
        raise TypeError(f"{name} is of layout {x.layout}, expected a dense tensor; pass {name}.to_dense()")
    if not torch.compiler.is_compiling() and _computes_by_itself(type(x)):
        kind = f"{type(x).__module__}.{type(x).__qualname__}"
        raise TypeError(f"{name} is {kind}, which has operators of its own; expected a torch.Tensor")


def _computes_by_itself(kind: Any) -> bool:
    """Returns whether a class of tensors has its own operators.  Returns false for the classes of tracers and
    collectives, whose objects only represent tensors."""
    return (kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__
            and not kind.__module__.startswith(("torch._subclasses.", "torch.distributed._functional_collectives")))


def expect_type(x: torch.Tensor, name: str) -> torch.dtype:
    """Checks x, and returns the type for computing."""
    expect_dense(x, name)
    if x.dtype not in _computed:
        raise TypeError(f"{name} is {x.dtype}, expected float32, float64, bfloat16 or float16; convert it by .to")
    _operators.expect_device(x.device, name)
    return _computed[x.dtype]


def numbers_are_at_hand(x: torch.Tensor) -> bool:
    """Returns whether the numbers of x can be read now, which is so if x is on the host and is not being traced."""
    return type(x) is torch.Tensor and x.device.type == "cpu" and not torch.compiler.is_compiling()


def outside(x: torch.Tensor, count: int, but: torch.Tensor | None = None) -> int | None:
    """Returns a number of x that is not from 0 to count - 1, or None if there is none or if x cannot be read now.
    Numbers where the bool tensor `but` is True may have any value."""
    if not numbers_are_at_hand(x):
        return None
    wrong = (x < 0) | (x >= count)
    found = x[wrong if but is None else wrong & ~but]
    return int(found[0]) if found.numel() else None


def _nothing(device, dtype) -> torch.Tensor:
    return torch.empty(0, dtype=dtype, device=device)


def _masked(mask, shape: tuple, device) -> torch.Tensor:
    """Returns a bool tensor of this shape, which is True for triangles that are masked out."""
    if mask is None:
        return _nothing(device, torch.bool)
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, torch.Tensor) else type(mask).__name__
        raise TypeError(f"mask is {kind}, expected a bool tensor; pass True where a triangle takes part")
    expect_dense(mask, "mask")
    if mask.device != device:
        raise ValueError(f"mask lies on {mask.device}, and the rest on {device}; move it by .to(device)")
    try:
        mask = mask.broadcast_to(shape)
    except RuntimeError:
        raise _checks.mask_error(tuple(mask.shape), shape) from None
    return mask.logical_not().contiguous()


def no_bias(x: torch.Tensor) -> torch.Tensor:
    """Returns the operators' argument for no bias, in the type and on the device of x."""
    return x.new_empty(0)


def bias_argument(bias, x: torch.Tensor, batch, heads, n, triangles, form: int) -> torch.Tensor:
    """Returns the operators' argument for a bias of the scores.  x is a projection in the type for computing."""
    if bias is None:
        return no_bias(x)
    computed = expect_type(bias, "bias")
    expect_bias_form(form)
    if computed != x.dtype and not torch.is_autocast_enabled(x.device.type):
        raise TypeError(f"bias is {bias.dtype}, expected {x.dtype} or a type that is computed in it; convert it by .to")
    if bias.device != x.device:
        raise ValueError(f"bias lies on {bias.device}, and the rest on {x.device}; move it by .to(device)")
    return bias.reshape(_checks.bias_shape(tuple(bias.shape), batch, heads, n, triangles)).to(x.dtype)


def _sources(given, batch: int, device) -> torch.Tensor:
    """Returns the number of sources of each graph, int64 (batch)."""
    if given is None:
        return _nothing(device, torch.int64)
    if type(given) is int:  # torch.compile can trace this branch
        return torch.full((batch,), _checks.source_count(given), dtype=torch.int64, device=device)
    if not isinstance(given, torch.Tensor):
        return torch.from_numpy(_checks.source_counts(given, batch)).to(device)
    expect_dense(given, "causal_sources")
    if given.dtype not in _whole:
        raise TypeError(f"causal_sources is {given.dtype}, expected whole numbers; convert them by .to(torch.int64)")
    _checks.expect_source_shape(given.shape, batch)
    if numbers_are_at_hand(given) and given.numel() and (least := int(given.min())) < 0:
        raise ValueError(f"causal_sources has {least}, expected 0 or more, below 2^63; it counts the first nodes that "
                         "are sources")
    return given.to(device, torch.int64).expand(batch)


def batch_arguments(device, batch, n, sizes, mask, causal_sources, dropout_p, generator, fill, form):
    """Returns the operators' arguments after the projections.  `n` is the number of nodes of each graph, or None if
    `sizes` (b) has the numbers."""
    masked = _masked(mask, (batch, n, n, n) if sizes is None else (int((sizes ** 3).sum()),), device)
    sources = _sources(causal_sources, batch, device)
    seed = _operators.draw_seed(generator, device, dropout_p)
    counts = _nothing(device, torch.int64) if sizes is None else torch.from_numpy(sizes)
    return counts, masked, sources, seed, n if n is not None else 0, form, float(fill), dropout_p


def asked_weights(rows_of_query, rows_of_key, edges, bias, how, scale, n: int) -> torch.Tensor:
    """Returns the attention weights of edges, in the type of the rows: (b, edges, heads, n), for the flat form 2 n.

    The rows (b, edges, terms, heads, width) are those of query_rows() and key_rows(), `edges` two tensors (edges),
    `bias` the operators' argument from bias_argument(), and `how` those from batch_arguments()."""
    _, masked, sources, _, _, form, fill, _ = how
    i, j = edges
    scale = rows_of_query.shape[-1] ** -0.5 if scale is None else scale
    with torch.autocast(i.device.type, enabled=False):
        return _weights.weights(torch, rows_of_query, rows_of_key, i, j, bias if bias.numel() else None,
                                masked if masked.numel() else None, sources if sources.numel() else None, scale, form,
                                fill, n)


def edges_on(device, return_weights, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the sources and the targets of return_weights, int64 (edges) each, on a device."""
    i, j = _weights.edges_asked(return_weights, n)
    return torch.tensor(i, dtype=torch.int64, device=device), torch.tensor(j, dtype=torch.int64, device=device)


def of_tensors(q, k, v1, v2, mask, scale, dropout_p, generator, causal_sources, form, offsets, fill, return_weights,
               bias):
    given = {"q": q, "k": k, "v1": v1}
    if has_right(form):
        given["v2"] = v2
    _arrays.expect_one_kind(given)
    for name, x in given.items():
        computed = expect_type(x, name)
        if x.dtype != q.dtype and not torch.is_autocast_enabled(q.device.type):
            raise TypeError(f"{name} is {x.dtype}, and q is {q.dtype}; convert one of the two")
        if x.device != q.device:
            raise ValueError(f"{name} lies on {x.device}, and q on {q.device}; move it by .to(q.device)")
    _expect_shapes({name: tuple(x.shape) for name, x in given.items()}, offsets is not None)
    heads, width = q.shape[-2:]
    if offsets is None:
        batch, n, sizes = q.shape[0], q.shape[1], None
    else:
        if isinstance(offsets, torch.Tensor):
            expect_dense(offsets, "offsets")
            offsets = offsets.cpu().numpy()
        sizes = sizes_of(offsets, q.shape[0])
        batch, n = len(sizes), None
    edges = None if return_weights is None else edges_on(q.device, return_weights, n)
    triangles = None if sizes is None else int((sizes ** 3).sum())
    of_scores = bias_argument(bias, q.new_empty(0, dtype=computed), batch, heads, n, triangles, form)
    if q.numel() == 0:  # no queries; the empty sums connect the result with its operands for autograd
        o = sum(x.sum() for x in (*given.values(), *(() if bias is None else (bias,)))) + torch.zeros_like(q)
        terms = 2 * n if edges is not None and form == form_number("flat") else n
        return o if edges is None else (o, q.new_zeros(batch, len(edges[0]), heads, terms))
    rows = [x.to(computed).reshape(-1, heads, width) for x in given.values()]
    if scale is not None:
        rows[0] = rows[0] * (scale * math.sqrt(width))
    if not has_right(form):
        rows.append(rows[0].new_empty(0, heads, width))
    how = batch_arguments(q.device, batch, n, sizes, mask, causal_sources, dropout_p, generator, fill, form)
    o, _, _ = _operators.triangle(*rows, of_scores, *how)
    o = o.to(q.dtype).reshape(q.shape)
    if edges is None:
        return o
    p = asked_weights(_weights.query_rows(q.to(computed), *edges, form),
                      _weights.key_rows(torch, k.to(computed), *edges, form), edges, of_scores, how, scale, n)
    return o, p.to(q.dtype)
