"""Tests arrays of NumPy and JAX in half precision, which are computed in float32 and returned in their own type."""
import numpy as np
import pytest
import torch

from triad_torch import Roles, bind, car, cdr, cons, root, triangular_attention, unbind


def operands(make, count=4, shape=(2, 4, 4, 2, 3)):
    rng = np.random.default_rng(0)
    return [make(rng.standard_normal(shape)) for _ in range(count)]


def numpy_half(x):
    return x.astype(np.float16)


def numpy_bfloat16(x):
    return x.astype(pytest.importorskip("ml_dtypes").bfloat16)


def jax_of(name):
    def make(x):
        jax = pytest.importorskip("jax")
        return jax.numpy.asarray(x, dtype=name)
    make.__name__ = f"jax_{name}"
    return make


every_kind = pytest.mark.parametrize("make", [numpy_half, numpy_bfloat16, jax_of("float16"), jax_of("bfloat16"),
                                              jax_of("float32")], ids=lambda make: make.__name__)


def single(x):
    return np.asarray(x).astype(np.float32)


def assert_came_back(result, given, expected):
    """Checks that the result is of the same library and element type as the argument, and has the numbers of a
    computation in float32."""
    assert type(result) is type(given) and result.dtype == given.dtype
    assert np.array_equal(np.asarray(result), expected.astype(np.asarray(given).dtype))


@every_kind
def test_triangular_attention_is_computed_in_single_precision(make):
    x = operands(make)
    mask = np.random.default_rng(1).random((2, 4, 4, 4)) > 0.3
    for how in ({}, {"mask": mask, "causal_sources": 2, "scale": 0.5}):
        assert_came_back(triangular_attention(*x, **how), x[0], triangular_attention(*map(single, x), **how))


@every_kind
@pytest.mark.parametrize("roles", [Roles.gather(3), Roles.dense(3)], ids=repr)
def test_trees_are_computed_in_single_precision(make, roles):
    (fillers,) = operands(make, 1, (2, 7, 3))
    tree = bind(roles, fillers)
    assert_came_back(tree, fillers, bind(roles, single(fillers)))
    for f in (car, cdr, root, unbind):
        assert_came_back(f(roles, tree), fillers, f(roles, single(tree)))
    whole = cons(roles, [car(roles, tree)], root(roles, tree))
    assert type(whole) is type(fillers) and whole.dtype == fillers.dtype


def test_numbers_are_those_of_tensors_in_half_precision():
    x = operands(numpy_half)
    of_tensors = triangular_attention(*map(torch.from_numpy, x))
    assert np.array_equal(triangular_attention(*x), of_tensors.numpy())


def test_types_are_not_mixed():
    x = operands(numpy_half)
    with pytest.raises(TypeError, match="k is float32, and q is float16"):
        triangular_attention(x[0], single(x[1]), *x[2:])


@pytest.mark.parametrize("kind", ["int64", "complex64", "bool", ">f4"])
def test_other_types_are_named(kind):
    x = operands(lambda x: x.astype(kind))
    with pytest.raises(TypeError, match=f"q is {kind}, expected float32 or float64, or float16 or bfloat16"):
        triangular_attention(*x)
    with pytest.raises(TypeError, match=f"x is {kind}, expected float32 or float64"):
        car(Roles.gather(2), np.zeros((3, 1), kind))


@pytest.mark.parametrize("kind", ["float8_e4m3fn", "int32", "complex64"])
def test_other_types_of_jax_are_named(kind):
    jax = pytest.importorskip("jax")
    x = [jax.numpy.zeros((1, 2, 2, 1, 2), dtype=kind)] * 4
    with pytest.raises(TypeError, match=f"q is {kind}, expected float32 or float64"):
        triangular_attention(*x)


class Foreign:
    """An array of an unknown library, which prints its element types in an unusual way."""

    def __init__(self, x):
        self.x, self.dtype = x, f"<dtype: '{x.dtype}'>"

    def __dlpack__(self, **how):
        return self.x.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_arrays_of_other_libraries_are_known_by_dlpack(kind):
    x = operands(lambda x: x.astype(kind))
    found, expected = triangular_attention(*map(Foreign, x)), triangular_attention(*x)
    assert found.dtype == expected.dtype == kind and np.array_equal(found, expected)
    for roles in (Roles.gather(3), Roles.dense(3)):
        tree = bind(roles, operands(lambda x: x.astype(kind), 1, (2, 7, 3))[0])
        found, expected = car(roles, Foreign(tree)), car(roles, tree)
        assert found.dtype == expected.dtype == kind and np.array_equal(found, expected)


def test_other_types_of_other_libraries_are_named():
    x = operands(lambda x: Foreign(x.astype("int64")))
    with pytest.raises(TypeError, match="q is int64, expected float32 or float64, or float16 or bfloat16"):
        triangular_attention(*x)


@pytest.mark.parametrize("kind", ["float32", "int64", "float8_e4m3fn"])
def test_tensors_beside_arrays_are_refused(kind):
    q, k, v1, v2 = operands(lambda x: x.astype(np.float32))
    with pytest.raises(TypeError, match="k is Tensor, and q is ndarray: all arguments must be tensors, or all"):
        triangular_attention(q, torch.from_numpy(k).to(getattr(torch, kind)), v1, v2)
