"""Tests the tree algebra with unit vectors and with orthonormal roles, for NumPy and for PyTorch."""
import re

import numpy as np
import pytest
import torch

from triad_torch import Roles, bind, car, cdr, child, cons, graft, plant, root, unbind

ROLES = [Roles.gather(4), Roles.dense(4, seed=3), Roles.dense(4, seed=1, width=20), Roles.gather(3, branching=3),
         Roles.dense(3, seed=2, branching=3)]


def some_tree(roles, kind, batch=(2,), filler=5, levels=None):
    """Returns a tree whose last level is empty, so that no node is lost when the tree gets a new root."""
    x = np.random.default_rng(0).standard_normal((*batch, roles.count, filler))
    inner = (roles.branching ** (roles.depth - 1) - 1) // (roles.branching - 1)
    x[..., inner:, :] = 0
    x = x if kind == "numpy" else torch.from_numpy(x)
    return bind(roles, x), x


def same(a, b):
    return np.allclose(np.asarray(a), np.asarray(b), atol=1e-12)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("roles", ROLES, ids=repr)
def test_laws(roles, kind):
    tree, fillers = some_tree(roles, kind)
    assert same(unbind(roles, tree), fillers)
    other, _ = some_tree(roles, kind)
    s = root(roles, tree)
    whole = cons(roles, [tree, other * 2], s)
    assert same(car(roles, whole), tree) and same(cdr(roles, whole), other * 2) and same(root(roles, whole), s)
    parts = [child(roles, tree, c) for c in range(roles.branching)]
    assert same(cons(roles, parts, root(roles, tree)), tree)
    assert same(child(roles, graft(roles, tree, 1), 0), tree * 0)
    assert same(root(roles, plant(roles, s)), s)


@pytest.mark.parametrize("roles", ROLES[1:3], ids=repr)
def test_orthonormal_roles_and_unit_vectors_agree(roles):
    unit = Roles.gather(roles.depth)
    x = np.random.default_rng(1).standard_normal((3, roles.count, 4))
    for f in (car, cdr, lambda r, t: graft(r, t, 1)):
        assert same(unbind(roles, f(roles, bind(roles, x))), f(unit, x))


def test_numpy_and_torch_have_the_same_bits():
    roles = Roles.gather(6)
    x = np.random.default_rng(2).standard_normal((4, roles.count, 3)).astype(np.float32)
    assert np.array_equal(cdr(roles, x), cdr(roles, torch.from_numpy(x)).numpy())


@pytest.mark.parametrize("roles", [Roles.gather(3), Roles.dense(3)], ids=repr)
def test_derivatives_are_right_as_often_as_wanted(roles):
    tree, _ = some_tree(roles, "torch", (2,), 2)
    x = tree.clone().requires_grad_()
    for f in (lambda t: car(roles, t), lambda t: graft(roles, t, 1), lambda t: root(roles, t),
              lambda t: cons(roles, [t, t], root(roles, t)), lambda t: unbind(roles, t)):
        assert torch.autograd.gradcheck(f, x)
        assert torch.autograd.gradgradcheck(f, x)


def test_operators_keep_pytorchs_rules_and_compile():
    x = torch.randn(2, 7, 3, requires_grad=True)
    torch.library.opcheck(torch.ops.triad.tree_child.default, (x, 1, 2, 3))
    torch.library.opcheck(torch.ops.triad.tree_graft.default, (x, 0, 2, 3))
    roles = Roles.gather(3)
    f = lambda t: cons(roles, [cdr(roles, t), car(roles, t)], root(roles, t))
    assert torch.equal(torch.compile(f, fullgraph=True)(x), f(x))


def test_roles_serve_inference_first_and_training_then():
    import copy
    roles = Roles.dense(3)
    x = torch.randn(2, 4, 7)
    with torch.inference_mode():
        before = car(roles, x)
    y = x.clone().requires_grad_()
    car(roles, y).sum().backward()
    assert torch.equal(car(copy.deepcopy(roles), x), before)
    compiled = torch.compile(lambda t: car(roles, t), fullgraph=True)
    assert torch.allclose(compiled(x), before)


def test_half_precision_is_moved_as_it_is():
    roles = Roles.gather(3)
    x = torch.randn(2, 7, 3)
    for dtype in (torch.bfloat16, torch.float16):
        assert torch.equal(cdr(roles, x.to(dtype)), cdr(roles, x).to(dtype))
    assert cdr(roles, torch.zeros(2, 7, 0)).shape == (2, 7, 0)
    assert cdr(roles, np.zeros((2, 7, 0))).shape == (2, 7, 0)
    with pytest.raises(TypeError, match="x is torch.int64"):
        car(roles, torch.zeros(7, 3, dtype=torch.int64))


def test_roles_of_ones_own():
    drawn = Roles.dense(3, seed=5)
    given = Roles.given(drawn.vectors, 3)
    assert np.array_equal(drawn.shifts, given.shifts)
    with pytest.raises(ValueError, match="not orthonormal"):
        Roles.given(np.ones((7, 7)), 3)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_given_vectors_are_orthonormal_as_their_numbers_can_be(kind):
    single = Roles.dense(3, seed=5, width=12).vectors.astype(np.float32)
    roles = Roles.given(single if kind == "numpy" else torch.from_numpy(single), 3)
    x, _ = some_tree(roles, "numpy")
    assert np.allclose(car(roles, graft(roles, x, 0)), x, atol=1e-5)
    with pytest.raises(ValueError, match="not orthonormal.*within 1e-10"):
        Roles.given(single.astype(np.float64), 3)
    single[0] *= 1.001
    with pytest.raises(ValueError, match="not orthonormal.*within 1e-05"):
        Roles.given(single, 3)


def test_what_is_wrong_is_said():
    roles = Roles.gather(3)
    for call, says in [(lambda: car(roles, np.zeros((2, 6, 3))),
                        r"x has shape \(2, 6, 3\), expected \(..., 7, filler\)"),
                       (lambda: child(roles, np.zeros((7, 3)), 2),
                        "child 2 is asked for, and a node has 2 children; count from 0"),
                       (lambda: bind(roles, np.zeros((6, 3))), "one a position"),
                       (lambda: Roles.dense(3, width=6), "orthonormal in 7"),
                       (lambda: Roles.gather(0), "expected 2 or more and 1 or more"),
                       (lambda: Roles.gather(60), "too many for an array"),
                       (lambda: cons(roles, [np.zeros((7, 1))] * 3, np.zeros(1)), "there are 3 children"),
                       (lambda: Roles.given(np.eye(5), 3), "one role a position")]:
        with pytest.raises(ValueError, match=says):
            call()
    with pytest.raises(TypeError, match="float32 or float64"):
        car(roles, np.zeros((7, 3), np.int32))


@pytest.mark.parametrize("function, call", [
    (car, "car(roles, x)"), (cdr, "cdr(roles, x)"), (root, "root(roles, x)"), (unbind, "unbind(roles, x)"),
    (bind, "bind(roles, fillers)"), (plant, "plant(roles, filler)")])
def test_the_order_of_swapped_arguments_is_said(function, call):
    with pytest.raises(TypeError, match=f"^roles is ndarray, expected Roles; call {re.escape(call)}$"):
        function(np.zeros((7, 3)), Roles.gather(3))


def test_the_order_of_three_arguments_is_said():
    roles, tree = Roles.gather(3), torch.zeros(7, 3)
    for function in (child, graft):
        with pytest.raises(TypeError, match=rf"roles is Tensor, .* {function.__name__}\(roles, x, c\)$"):
            function(tree, roles, 0)
    with pytest.raises(TypeError, match=r"roles is list, .* cons\(roles, children, filler\)$"):
        cons([tree], roles, torch.zeros(3))


@pytest.mark.parametrize("roles, shape", [(Roles.gather(3), (7, 2)), (Roles.dense(3), (2, 7))], ids=repr)
def test_cons_takes_a_list_of_one_kind(roles, shape):
    for tree in (torch.zeros(2, *shape), np.zeros((2, *shape))):
        with pytest.raises(TypeError, match=r"children is \w+, expected a list of trees; pass one such as"):
            cons(roles, tree, tree[:, 0])
    array, tensor = np.zeros(shape, np.float32), torch.zeros(shape)
    for children, filler, says in [([tensor, array], torch.zeros(2), r"children\[1\] is ndarray, and filler is Tensor"),
                                   ([tensor], np.zeros(2, np.float32), r"children\[0\] is Tensor, and filler is nda")]:
        with pytest.raises(TypeError, match=f"{says}.*: all arguments must be tensors, or all must be arrays"):
            cons(roles, children, filler)


def test_trees_of_jax():
    jax = pytest.importorskip("jax")
    roles = Roles.gather(3)
    x = np.random.default_rng(3).standard_normal((7, 2)).astype(np.float32)
    y = car(roles, jax.numpy.asarray(x))
    assert isinstance(y, jax.Array) and np.array_equal(np.asarray(y), car(roles, x))
