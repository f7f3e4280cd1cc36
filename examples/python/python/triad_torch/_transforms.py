"""Refuses derivatives that the operators do not have, with a message.  The operators have only a backward derivative.

Without these checks, forward mode would silently return zero tangents, and the error message of torch.func.grad would
be about internal classes of PyTorch.
"""
from __future__ import annotations

import torch
from torch.autograd import forward_ad

_instead = "differentiate by tensor.backward() or torch.autograd.grad"


def _is_under_func_grad() -> bool:
    """Returns whether the innermost transform is torch.func.grad or a transform that calls it."""
    if not torch._C._are_functorch_transforms_active():
        return False
    return torch._C._functorch.peek_interpreter_stack().key() == torch._C._functorch.TransformType.Grad


def _expect_backward_alone(name: str, tensors) -> None:
    if any(forward_ad.unpack_dual(x).tangent is not None for x in tensors):
        raise RuntimeError(f"triad_torch: triad::{name} has no forward-mode derivative (torch.func.jvp, jacfwd and "
                           f"linearize, torch.autograd.forward_ad); {_instead}")
    if torch.compiler.is_compiling():  # torch.compile itself refuses torch.func.grad here
        return
    if _is_under_func_grad() and torch.is_grad_enabled() and any(x.requires_grad for x in tensors):
        raise RuntimeError(f"triad_torch: triad::{name} has no torch.func.grad, vjp or jacrev; {_instead}")


def differentiated_backward(name: str):
    """Returns the operator triad::name as a function that refuses the derivatives that the operator does not have."""
    operator = getattr(torch.ops.triad, name).default

    def call(*arguments):
        _expect_backward_alone(name, [x for x in arguments if isinstance(x, torch.Tensor)])
        return operator(*arguments)
    return call
