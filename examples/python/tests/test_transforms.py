"""Tests PyTorch's function transforms of the operators: derivatives that exist are correct, and missing derivatives are
refused."""
import pytest
import torch
from torch.autograd import forward_ad

from triad_torch import (FuseAttention, Roles, TriangularAttention, _operators, _products, car, cdr, cons, graft, root,
                         triangular_attention)


def swapped(roles, tree):
    return cons(roles, [cdr(roles, tree), car(roles, tree)], root(roles, tree))


def of_one_tensor():
    """Yields (name, function of one tensor, tensor) for every operator."""
    others = [torch.randn(1, 3, 3, 1, 2) for _ in range(3)]
    attention, fuse, states = TriangularAttention(4, 2), FuseAttention(4, 2), torch.randn(2, 3, 4)
    roles = Roles.gather(3)
    yield "triangle", lambda x: triangular_attention(x, *others), torch.randn(1, 3, 3, 1, 2)
    nothing = torch.empty(0, dtype=torch.int64)
    how = nothing, torch.empty(0, dtype=torch.bool), nothing, nothing, 3, 0, -1e9, 0.0
    yield "triangle_stacked", lambda x: _operators.triangle_stacked(x, torch.empty(0), *how)[0], torch.randn(9, 4, 2, 2)
    yield "triangle", lambda x: triangular_attention(*others[:1], *others, bias=x), torch.randn(1, 1, 3, 3, 3)
    yield "(attention|triangle_stacked)", attention, torch.randn(1, 3, 3, 4)
    if not _products.refused:
        weights = torch.randn(5, 4, 4).unbind()
        yield ("attention", lambda x: _operators.attention(x, *weights, torch.empty(0), *how, 2, 0)[0],
               torch.randn(9, 4))
    yield "fuse", lambda x: fuse(x, states), torch.randn(3, 4)
    yield "tree_child", lambda x: car(roles, x), torch.randn(2, 7, 3)
    yield "tree_graft", lambda x: graft(roles, x, 1), torch.randn(2, 7, 3)


def forward_tangent(f, x):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, torch.ones_like(x)))).tangent


FORWARD = {
    "jvp": lambda f, x: torch.func.jvp(f, (x,), (x,)), "jacfwd": lambda f, x: torch.func.jacfwd(f)(x),
    "linearize": lambda f, x: torch.func.linearize(f, x), "forward_ad": forward_tangent,
    "compiled": lambda f, x: torch.compile(lambda t: torch.func.jvp(f, (t,), (t,)), backend="eager")(x)}
BACKWARD = {
    "grad": lambda f, x: torch.func.grad(lambda t: f(t).sum())(x), "vjp": lambda f, x: torch.func.vjp(f, x),
    "jacrev": lambda f, x: torch.func.jacrev(f)(x), "hessian": lambda f, x: torch.func.hessian(f)(x)}


@pytest.mark.parametrize("way", FORWARD)
def test_forward_mode_is_refused_by_name(way):
    for name, f, x in of_one_tensor():
        with pytest.raises(RuntimeError, match=f"triad::{name} has no forward-mode derivative"):
            FORWARD[way](f, x)


@pytest.mark.parametrize("way", BACKWARD)
def test_torch_func_grad_is_refused_by_name(way):
    for name, f, x in of_one_tensor():
        with pytest.raises(RuntimeError, match=f"triad::{name} has no torch.func.grad, vjp or jacrev"):
            BACKWARD[way](f, x)


def test_vmap_is_refused_by_name():
    for name, f, x in of_one_tensor():
        with pytest.raises(RuntimeError, match=f"triad::{name} has no torch.func.vmap"):
            torch.func.vmap(f)(x[None])


def test_tangents_of_a_gradient_are_refused():
    """Forward mode over a backward pass is refused too. The gradient operators have no forward derivative."""
    for _, f, x in of_one_tensor():
        x.requires_grad_()
        y = f(x)
        with forward_ad.dual_level():
            dy = forward_ad.make_dual(torch.ones_like(y), torch.ones_like(y))
            with pytest.raises(RuntimeError, match="has no forward-mode derivative"):
                torch.autograd.grad(y, x, dy)


def test_what_is_not_differentiated_passes_through_transforms():
    for _, f, x in of_one_tensor():
        with torch.no_grad():
            y = f(x).sum()
            slope = torch.func.grad(lambda t: (t * f(x).sum()).sum())(torch.ones(()))
            _, tangent = torch.func.jvp(lambda t: t * f(x).sum(), (torch.ones(()),), (torch.ones(()),))
        # Under a transform, a module does not call its one operator, so the last bits may differ.
        assert torch.allclose(slope, y, atol=1e-6) and torch.allclose(tangent, y, atol=1e-6)


def test_trees_over_given_vectors_take_every_transform():
    roles, x = Roles.dense(3), torch.randn(2, 3, 7)
    value, tangent = torch.func.jvp(lambda t: swapped(roles, t), (x,), (x,))
    assert torch.allclose(value, tangent)  # a linear map is its own derivative
    assert torch.func.grad(lambda t: swapped(roles, t).sum())(x).shape == x.shape
    assert torch.allclose(torch.func.vmap(lambda t: swapped(roles, t))(x), swapped(roles, x), atol=1e-6)
