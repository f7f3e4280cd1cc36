"""Tests arguments other than plain tensors and numbers. The error names the argument, or the result is correct."""
import re

import numpy as np
import pytest
import torch

from triad_torch import (EdgeTransformer, EdgeTransformerLayer, FuseAttention, Roles, TriangularAttention, bind, car,
                         child, fuse_attention, graft, triangular_attention)


def operands(kind="torch", n=3):
    x = [torch.randn(2, n, n, 1, 2) for _ in range(4)]
    return x if kind == "torch" else [t.numpy() for t in x]


class Dispatched(torch.Tensor):
    """A subclass of tensors with its own operators."""

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


class Named(torch.Tensor):
    """A subclass of tensors with PyTorch's operators."""


def unusual(x):
    """Yields (description, tensor) for tensors that store x, or a part of x, in an unusual way."""
    yield "is of layout torch.sparse_coo, expected a dense tensor", x.to_sparse()
    yield "is a nested tensor", torch.nested.nested_tensor([x, x])
    yield "is a nested tensor", torch.nested.nested_tensor([x, x], layout=torch.jagged)
    yield "Dispatched, which has operators of its own", x.as_subclass(Dispatched)
    yield "MaskedTensor, which has operators of its own", torch.masked.masked_tensor(x, x > 0)
    if torch.backends.mkldnn.is_available() and x.dim() <= 5:
        yield "is of layout torch._mkldnn", x.to_mkldnn()


@pytest.mark.filterwarnings("ignore")
def test_tensors_of_another_kind_are_refused_by_name():
    q, k, v1, v2 = operands()
    attention, fuse = TriangularAttention(4, 2), FuseAttention(4, 2)
    x, rows, states = torch.randn(2, 3, 3, 4), torch.randn(3, 4), torch.randn(2, 3, 4)
    roles, tree = Roles.gather(3), torch.randn(2, 7, 3)
    dense, flat_tree = Roles.dense(3), torch.randn(2, 3, 7)
    for f, given, name in [(lambda t: triangular_attention(t, k, v1, v2), q, "q"),
                           (lambda t: triangular_attention(q, k, v1, t), v2, "v2"),
                           (attention, x, "x"), (lambda t: fuse(t, states), rows, "x"),
                           (lambda t: fuse(rows, t), states, "states"), (lambda t: car(roles, t), tree, "x"),
                           (lambda t: car(dense, t), flat_tree, "x"), (lambda t: bind(roles, t), tree, "fillers"),
                           (lambda t: fuse_attention(t, states), rows.view(3, 1, 4), "u")]:
        for says, unusual_one in unusual(given):
            with pytest.raises(TypeError, match=f"^{name} is .*{re.escape(says.removeprefix('is '))}"):
                f(unusual_one)


def test_masks_and_sources_of_another_kind_are_refused_by_name():
    x, mask = operands(), torch.ones(2, 3, 3, 3, dtype=torch.bool)
    with pytest.raises(TypeError, match="mask is of layout torch.sparse_coo"):
        triangular_attention(*x, mask=mask.to_sparse())
    with pytest.raises(TypeError, match="causal_sources is of layout torch.sparse_coo"):
        triangular_attention(*x, causal_sources=torch.tensor([1, 2]).to_sparse())


@pytest.mark.parametrize("kind", ["torch", "numpy"])
def test_a_mask_of_padding_nodes_is_refused_with_the_remedy(kind):
    mask = np.ones((2, 3), bool)
    says = re.escape("expected (2, 3, 3, 3) or what broadcasts to it; for padding nodes, pass ~pad[:, None, :, None]")
    with pytest.raises(ValueError, match=says):
        triangular_attention(*operands(kind), mask=torch.from_numpy(mask) if kind == "torch" else mask)
    with pytest.raises(ValueError, match="broadcasts to it$"):
        triangular_attention(*operands(kind), mask=torch.from_numpy(mask.T) if kind == "torch" else mask.T)


@pytest.mark.parametrize("form", ["full", "value_ablation", "attention_ablation", "both_ablations", "flat"])
def test_the_remedy_hides_padding_nodes(form):
    layer, x = EdgeTransformerLayer(8, 2, form=form).eval(), torch.randn(2, 5, 5, 8)
    pad = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    padded, alone = layer(x, ~pad[:, None, :, None]), layer(x[1:, :3, :3])
    assert torch.allclose(padded[1, :3, :3], alone[0], atol=1e-5)


def test_tensors_and_arrays_are_not_mixed():
    tensors, arrays = operands(), operands("numpy")
    with pytest.raises(TypeError, match="v1 is ndarray, and q is Tensor: all arguments must be tensors, or all"):
        triangular_attention(*tensors[:2], arrays[2], tensors[3])
    with pytest.raises(TypeError, match="v2 is Tensor, and q is ndarray: all arguments must be tensors, or all"):
        triangular_attention(*arrays[:3], tensors[3])
    with pytest.raises(TypeError, match="^x is ndarray, expected a tensor of PyTorch; pass torch.as_tensor"):
        TriangularAttention(2, 1)(np.zeros((2, 3, 3, 2), np.float32))


def test_tensors_that_only_look_unusual_are_computed():
    x = operands()
    expected = triangular_attention(*x)
    assert torch.equal(triangular_attention(x[0].as_subclass(Named), *x[1:]), expected)
    negated = torch.complex(torch.zeros_like(x[0]), -x[0]).conj().imag  # a view that is negated when read
    assert negated.is_neg() and torch.equal(triangular_attention(negated, *x[1:]), expected)
    parameters = [torch.nn.Parameter(t) for t in x]
    assert torch.equal(triangular_attention(*parameters), expected)


@pytest.mark.parametrize("kind", ["torch", "numpy"])
@pytest.mark.parametrize("sources, error, says", [
    (True, TypeError, "causal_sources is True"), (np.bool_(True), TypeError, "causal_sources is bool"),
    (1.0, TypeError, "causal_sources is 1.0"), (2**64, ValueError, "causal_sources is 18446744073709551616"),
    (-1, ValueError, "causal_sources is -1"), ([1, -2], ValueError, "causal_sources has -2"),
    (np.array([1, 2**63], np.uint64), ValueError, "causal_sources has 9223372036854775808"),
    ([True, False], TypeError, "causal_sources is bool"), ("two", TypeError, "causal_sources is 'two'"),
    ([1, 2, 3], ValueError, r"causal_sources has shape \(3,\)"),
    (np.ma.masked_array([1, 2], [True, False]), TypeError, "causal_sources is a masked array"),
])
def test_numbers_of_sources_are_whole_and_not_negative(kind, sources, error, says):
    with pytest.raises(error, match=says):
        triangular_attention(*operands(kind), causal_sources=sources)


@pytest.mark.parametrize("sources, error, says", [
    (torch.tensor([1, -1]), ValueError, "has -1"), (torch.tensor(True), TypeError, "is torch.bool"),
    (torch.tensor([1, 2], dtype=torch.uint64), TypeError, "is torch.uint64"),
    (torch.tensor([1j, 2j]), TypeError, "is torch.complex64")])
def test_numbers_of_sources_in_tensors_are_whole_and_not_negative(sources, error, says):
    with pytest.raises(error, match=f"causal_sources.*{says}"):
        triangular_attention(*operands(), causal_sources=sources)


def test_numbers_of_sources_are_taken_in_every_form():
    x, arrays = operands(n=5), operands("numpy", n=5)
    for same in (2, np.int64(2), [2, 2], np.array([2, 2], np.uint8), torch.tensor(2), torch.tensor([2, 2])):
        assert torch.equal(triangular_attention(*x, causal_sources=same), triangular_attention(*x, causal_sources=2))
        assert np.array_equal(triangular_attention(*arrays, causal_sources=same),
                              triangular_attention(*arrays, causal_sources=2))


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_a_generator_of_the_other_library_is_refused_by_name(rate):
    numpys, torchs = np.random.default_rng(0), torch.Generator()
    states = torch.randn(2, 3, 4)
    for call in (lambda: triangular_attention(*operands(), dropout_p=rate, generator=numpys),
                 lambda: fuse_attention(torch.randn(3, 1, 4), states, rate, numpys)):
        with pytest.raises(TypeError, match="generator is numpy.random.*Generator, expected torch.Generator"):
            call()
    with pytest.raises(TypeError, match="generator is torch.*Generator, expected numpy.random.Generator"):
        triangular_attention(*operands("numpy"), dropout_p=rate, generator=torchs)


@pytest.mark.parametrize("call, says", [
    (lambda: Roles.gather(2.0), "depth is 2.0"), (lambda: Roles.gather(True), "depth is True"),
    (lambda: Roles.gather(2, branching=2.0), "branching is 2.0"), (lambda: Roles.dense(2, seed=1.5), "seed is 1.5"),
    (lambda: Roles.dense(2, width=4.0), "width is 4.0"), (lambda: Roles.given(np.eye(3), 2.0), "depth is 2.0"),
    (lambda: child(Roles.gather(2), np.zeros((3, 1)), 1.0), "c is 1.0"),
    (lambda: graft(Roles.dense(2), np.zeros((1, 3)), True), "c is True"),
    (lambda: TriangularAttention(8.0, 2), "width is 8.0"), (lambda: TriangularAttention(8, True), "heads is True"),
    (lambda: FuseAttention(8, 2.0), "heads is 2.0"), (lambda: EdgeTransformer(4, 3, 8, 2, 2.0), "layers is 2.0"),
])
def test_sizes_are_whole_numbers(call, says):
    with pytest.raises(TypeError, match=f"{says}, expected a whole number"):
        call()


def test_sizes_of_numpy_are_whole_numbers_too():
    roles = Roles.gather(np.int64(3))
    assert (roles.depth, roles.count) == (3, 7) and type(roles.depth) is int
    assert TriangularAttention(np.int32(8), 2).width == 8
    with pytest.raises(ValueError, match="dropout is 1.5"):
        FuseAttention(8, 2, dropout=1.5)


@pytest.mark.parametrize("query, error, says", [
    ([[0, -1], [0, 1]], ValueError, r"query 0 asks about edge \(0, -1\) of graph 0, and there are 2 graphs of 4 nodes"),
    ([[0, 1], [4, 1]], ValueError, r"query 1 asks about edge \(4, 1\) of graph 1"),
    ([[0, 1, 2], [-1, 1, 2]], ValueError, r"query 1 asks about edge \(1, 2\) of graph -1"),
    ([[2, 1, 2]], ValueError, "of graph 2"), ([[0, 1, 2, 3]] * 2, ValueError, r"query has shape \(2, 4\)"),
    ([[0, 1]], ValueError, r"query has shape \(1, 2\), expected \(2, 2\)"), ([0, 1], ValueError, "query has shape"),
    ([[0.0, 1.0]] * 2, TypeError, "query is torch.float32"), ([[True, False]] * 2, TypeError, "query is torch.bool"),
])
def test_queries_name_edges_that_are_there(query, error, says):
    model = EdgeTransformer(4, 3, 8, 2, 1)
    with pytest.raises(error, match=says):
        model(torch.zeros(2, 4, 4, dtype=torch.int64), torch.tensor(query))


def test_queries_of_one_graph_may_be_many():
    model, labels = EdgeTransformer(4, 3, 8, 2, 1).eval(), torch.randint(4, (2, 4, 4))
    pairs = model(labels, torch.tensor([[0, 1], [2, 3]]))
    assert torch.equal(model(labels, torch.tensor([[1, 2, 3], [0, 0, 1], [1, 2, 3]])), pairs[[1, 0, 1]])


def test_a_negative_query_is_out_of_range_in_compiled_code():
    model = EdgeTransformer(4, 3, 8, 2, 1).eval()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
        compiled(torch.zeros(2, 4, 4, dtype=torch.int64), torch.tensor([[0, -1], [0, 1]]))


def test_labels_and_padding_have_the_shapes_that_are_asked_for():
    model, query = EdgeTransformer(4, 3, 8, 2, 1), torch.tensor([[0, 1], [0, 1]])
    labels = torch.zeros(2, 4, 4, dtype=torch.int64)
    with pytest.raises(ValueError, match=r"labels have shape \(2, 4, 3\)"):
        model(labels[:, :, :3], query)
    for pad in (torch.zeros(2, 1, dtype=torch.bool), torch.zeros(4, dtype=torch.bool)):
        with pytest.raises(ValueError, match=r"pad has shape .* expected \(2, 4\)"):
            model(labels, query, pad)


def test_masked_arrays_and_units_are_refused_by_name():
    class Metres(np.ndarray):
        pass

    q, k, v1, v2 = operands("numpy")
    hidden = np.ma.masked_array(q, q > 0)
    with pytest.raises(TypeError, match=r"q is a masked array, whose mask would be lost; fill it: q.filled\(0\)"):
        triangular_attention(hidden, k, v1, v2)
    with pytest.raises(TypeError, match="k is a masked array"):
        triangular_attention(q, np.ma.masked_array(k), v1, v2)
    with pytest.raises(TypeError, match="Metres, expected a plain array"):
        triangular_attention(q.view(Metres), k, v1, v2)
    with pytest.raises(TypeError, match="mask is a masked array"):
        triangular_attention(q, k, v1, v2, mask=np.ma.masked_array(np.ones((2, 3, 3, 3), bool)))
    with pytest.raises(TypeError, match="offsets is a masked array"):
        triangular_attention(*[x.reshape(-1, 1, 2) for x in (q, k, v1, v2)], offsets=np.ma.masked_array([0, 9, 18]))
    with pytest.raises(TypeError, match="x is a masked array"):
        car(Roles.gather(2), np.ma.masked_array(np.zeros((3, 1)), True))
    with pytest.raises(TypeError, match="vectors is a masked array"):
        Roles.given(np.ma.masked_array(np.eye(3)), 2)


def test_files_in_memory_are_plain_arrays(tmp_path):
    q, k, v1, v2 = operands("numpy")
    np.save(tmp_path / "q.npy", q)
    mapped = np.load(tmp_path / "q.npy", mmap_mode="r")
    assert np.array_equal(triangular_attention(mapped, k, v1, v2), triangular_attention(q, k, v1, v2))
