"""Computes the projections of a module, directly from their weights if possible, otherwise by calls of their modules.
Says whether one call can compute a module with its projections."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from . import _products

_own_hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_hooks_of_all = tuple(f"_global{name}" for name in _own_hooks)
_own_forward: Any = nn.Linear.forward
if _own_forward.__globals__ is not nn.modules.linear.__dict__:  # it was replaced before this import
    _own_forward = None
_own_linear = torch._C._nn.linear


def is_plain(part: nn.Module, width: int) -> bool:
    """Returns whether `part` only multiplies by its weight (width, width) and adds its bias when it is called.

    Returns false for an adapter, a quantised layer, and a layer with hooks.  Pruning, weight norm and spectral norm use
    hooks.  Also returns false if a program has replaced nn.Linear.forward or nn.functional.linear."""
    if type(part) is not nn.Linear or "forward" in part.__dict__ or part.out_features != width:
        return False
    if nn.Linear.forward is not _own_forward or F.linear is not _own_linear:
        return False
    if any(getattr(part, name) for name in _own_hooks) or any(getattr(nn.modules.module, n) for n in _hooks_of_all):
        return False
    return _is_tensor(part.weight)


def _is_tensor(x: object) -> bool:
    """Returns false for classes other than Tensor, which may define their own product.  The classes of tracers are
    accepted, because their objects only represent tensors."""
    return type(x) in (nn.Parameter, torch.Tensor) or type(x).__module__.startswith("torch._subclasses.")


def type_in_one_call(parts: Iterable[nn.Module], x: torch.Tensor) -> torch.dtype | None:
    """Returns the type of the result if one call of oneDNN's kernels can compute attention with these projections of x,
    else None."""
    if not _products.by_onednn or x.device.type != "cpu" or torch.compiler.is_exporting():
        return None
    if not torch.compiler.is_compiling() and torch._C._are_functorch_transforms_active():
        return None
    parts, width = list(parts), x.shape[-1]
    if not all(is_plain(part, width) for part in parts) or len({part.bias is None for part in parts}) > 1:
        return None
    numbers = [x for part in parts for x in (part.weight, part.bias) if x is not None]
    kinds = {(x.dtype, x.device, x.layout) for x in numbers}
    if len(kinds) > 1 or not all(_is_tensor(x) for x in numbers):
        return None
    of_weights, device, layout = kinds.pop()
    if device != x.device or layout != torch.strided:
        return None
    of_result = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else x.dtype
    if torch.is_autocast_enabled("cpu"):
        computed = of_result == torch.bfloat16 and {x.dtype, of_weights} <= {torch.float32, torch.bfloat16}
    else:
        computed = of_result in (torch.float32, torch.bfloat16) and of_weights == of_result
    return of_result if computed else None


def call(part: nn.Module, name: str, x: torch.Tensor) -> torch.Tensor:
    """Returns part(x), which must have the shape of x (..., width)."""
    y = part(x)
    if not isinstance(y, torch.Tensor) or y.shape != x.shape:
        given = f"shape {tuple(y.shape)}" if isinstance(y, torch.Tensor) else type(y).__name__
        raise ValueError(f"{name} gives {given}, expected a tensor of shape {tuple(x.shape)}; its module must keep "
                         "the width")
    return y


def side_by_side(parts: Mapping[str, nn.Module], x: torch.Tensor) -> torch.Tensor:
    """Returns the outputs of all parts for x (..., width), concatenated: (..., parts * width).  If all parts are plain,
    computes them as one product."""
    all_of: list[Any] = list(parts.values())
    if not all(is_plain(part, x.shape[-1]) for part in all_of) or len({part.bias is None for part in all_of}) > 1:
        return torch.cat([call(part, name, x) for name, part in parts.items()], -1)
    weight = torch.cat([part.weight for part in all_of])
    bias = None if all_of[0].bias is None else torch.cat([part.bias for part in all_of])
    return F.linear(x, weight, bias)
