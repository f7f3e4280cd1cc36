"""Projections that a module reads the weights of, and when it must call them instead."""
from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn
from torch.nn import functional as F

_own_hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_hooks_of_all = tuple(f"_global{name}" for name in _own_hooks)


def is_plain(part: nn.Module, width: int) -> bool:
    """Whether a call of `part` is a product with its weight (width, width), and its bias added, and nothing else: not
    so of an adapter, a quantised layer, or one with hooks, as pruning, weight norm and spectral norm use them."""
    if type(part) is not nn.Linear or "forward" in part.__dict__ or part.out_features != width:
        return False
    if any(getattr(part, name) for name in _own_hooks) or any(getattr(nn.modules.module, n) for n in _hooks_of_all):
        return False
    # A weight of another class has products of its own, but for the tracers' own classes, which stand for tensors.
    kind = type(part.weight)
    return kind in (nn.Parameter, torch.Tensor) or kind.__module__.startswith("torch._subclasses.")


def call(part: nn.Module, name: str, x: torch.Tensor) -> torch.Tensor:
    """part(x), which must have the shape of x (..., width)."""
    y = part(x)
    if not isinstance(y, torch.Tensor) or y.shape != x.shape:
        given = f"shape {tuple(y.shape)}" if isinstance(y, torch.Tensor) else type(y).__name__
        raise ValueError(f"{name} gives {given}, expected a tensor of shape {tuple(x.shape)}")
    return y


def side_by_side(parts: Mapping[str, nn.Module], x: torch.Tensor) -> torch.Tensor:
    """What each part makes of x (..., width), side by side: (..., parts * width).  One product where all are plain."""
    all_of = list(parts.values())
    if not all(is_plain(part, x.shape[-1]) for part in all_of) or len({part.bias is None for part in all_of}) > 1:
        return torch.cat([call(part, name, x) for name, part in parts.items()], -1)
    weight = torch.cat([part.weight for part in all_of])
    bias = None if all_of[0].bias is None else torch.cat([part.bias for part in all_of])
    return F.linear(x, weight, bias)
