"""Computes the projections of a module, directly from their weights if possible, otherwise by calls of their
modules."""
from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn
from torch.nn import functional as F

_own_hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_hooks_of_all = tuple(f"_global{name}" for name in _own_hooks)


def is_plain(part: nn.Module, width: int) -> bool:
    """Returns whether `part` only multiplies by its weight (width, width) and adds its bias when it is called.

    Returns false for an adapter, a quantised layer, and a layer with hooks.  Pruning, weight norm and spectral norm use
    hooks."""
    if type(part) is not nn.Linear or "forward" in part.__dict__ or part.out_features != width:
        return False
    if any(getattr(part, name) for name in _own_hooks) or any(getattr(nn.modules.module, n) for n in _hooks_of_all):
        return False
    # A weight of a class other than Tensor may define its own product.  The classes of tracers are accepted, because
    # their objects only represent tensors.
    kind = type(part.weight)
    return kind in (nn.Parameter, torch.Tensor) or kind.__module__.startswith("torch._subclasses.")


def call(part: nn.Module, name: str, x: torch.Tensor) -> torch.Tensor:
    """Returns part(x), which must have the shape of x (..., width)."""
    y = part(x)
    if not isinstance(y, torch.Tensor) or y.shape != x.shape:
        given = f"shape {tuple(y.shape)}" if isinstance(y, torch.Tensor) else type(y).__name__
        raise ValueError(f"{name} gives {given}, expected a tensor of shape {tuple(x.shape)}")
    return y


def side_by_side(parts: Mapping[str, nn.Module], x: torch.Tensor) -> torch.Tensor:
    """Returns the outputs of all parts for x (..., width), concatenated: (..., parts * width).  If all parts are plain,
    computes them as one product."""
    all_of = list(parts.values())
    if not all(is_plain(part, x.shape[-1]) for part in all_of) or len({part.bias is None for part in all_of}) > 1:
        return torch.cat([call(part, name, x) for name, part in parts.items()], -1)
    weight = torch.cat([part.weight for part in all_of])
    bias = None if all_of[0].bias is None else torch.cat([part.bias for part in all_of])
    return F.linear(x, weight, bias)
