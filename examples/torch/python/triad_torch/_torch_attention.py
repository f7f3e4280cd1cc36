"""Triangular attention over tensors of PyTorch."""
from __future__ import annotations

import math

import torch

from . import _operators
from .attention import _expect_shapes, has_right, sizes_of

_computed = {torch.float32: torch.float32, torch.float64: torch.float64, torch.bfloat16: torch.float32,
             torch.float16: torch.float32}


def expect_type(x: torch.Tensor, name: str) -> torch.dtype:
    """What x is computed in."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} is {type(x).__name__}, expected a tensor of PyTorch, as the others are")
    if x.dtype not in _computed:
        raise TypeError(f"{name} is {x.dtype}, expected float32, float64, bfloat16 or float16")
    _operators.expect_device(x.device, name)
    return _computed[x.dtype]


def _nothing(device, dtype) -> torch.Tensor:
    return torch.empty(0, dtype=dtype, device=device)


def batch_arguments(device, batch, n, sizes, mask, causal_sources, dropout_p, generator, fill, form):
    """What the operators take behind the projections.  n: nodes of every graph, or None where `sizes` (b) has them."""
    if mask is None:
        masked = _nothing(device, torch.bool)
    else:
        if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
            kind = mask.dtype if isinstance(mask, torch.Tensor) else type(mask).__name__
            raise TypeError(f"mask is {kind}, expected a bool tensor: True where a triangle takes part")
        if mask.device != device:
            raise ValueError(f"mask lies on {mask.device}, and the rest on {device}")
        shape = (batch, n, n, n) if n is not None else (int((sizes ** 3).sum()),)
        try:
            mask = mask.broadcast_to(shape)
        except RuntimeError:
            raise ValueError(f"mask has shape {tuple(mask.shape)}, expected {shape} or what broadcasts to it") from None
        masked = mask.logical_not().contiguous()
    if causal_sources is None:
        sources = _nothing(device, torch.int64)
    elif isinstance(causal_sources, int):
        sources = torch.full((batch,), causal_sources, dtype=torch.int64, device=device)
    else:
        sources = torch.as_tensor(causal_sources, device=device)
        if sources.is_floating_point() or sources.dtype == torch.bool:
            raise TypeError(f"causal_sources is {sources.dtype}, expected whole numbers")
        if sources.dim() > 1 or (sources.dim() == 1 and sources.shape[0] != batch):
            raise ValueError(f"causal_sources has shape {tuple(sources.shape)}, expected a number, or ({batch},)")
        sources = sources.to(torch.int64).expand(batch)
    seed = _operators.draw_seed(generator, device, dropout_p)
    if sizes is None:
        counts = _nothing("cpu", torch.int64)
    else:
        counts = torch.from_numpy(sizes)
    return counts, masked, sources, seed, n if n is not None else 0, form, float(fill), dropout_p


def of_tensors(q, k, v1, v2, mask, scale, dropout_p, generator, causal_sources, form, offsets, fill):
    given = {"q": q, "k": k, "v1": v1}
    if has_right(form):
        given["v2"] = v2
    for name, x in given.items():
        computed = expect_type(x, name)
        if x.dtype != q.dtype and not torch.is_autocast_enabled(q.device.type):
            raise TypeError(f"{name} is {x.dtype}, and q is {q.dtype}")
        if x.device != q.device:
            raise ValueError(f"{name} lies on {x.device}, and q on {q.device}")
    _expect_shapes({name: tuple(x.shape) for name, x in given.items()}, offsets is not None)
    heads, width = q.shape[-2:]
    if offsets is None:
        batch, n, sizes = q.shape[0], q.shape[1], None
    else:
        sizes = sizes_of(offsets.cpu().numpy() if isinstance(offsets, torch.Tensor) else offsets, q.shape[0])
        batch, n = len(sizes), None
    if q.numel() == 0:  # nothing to attend over; the sum of nothing keeps the graph of derivatives
        return sum(x.sum() for x in given.values()) + torch.zeros_like(q)
    rows = [x.to(computed).reshape(-1, heads, width) for x in given.values()]
    if scale is not None:
        rows[0] = rows[0] * (scale * math.sqrt(width))
    if not has_right(form):
        rows.append(rows[0].new_empty(0, heads, width))
    how = batch_arguments(q.device, batch, n, sizes, mask, causal_sources, dropout_p, generator, fill, form)
    o, _, _ = _operators.triangle(*rows, *how)
    return o.to(q.dtype).reshape(q.shape)
