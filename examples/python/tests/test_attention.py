"""Compares triangular_attention() with the paper's equations, and tests which arguments it refuses."""
import numpy as np
import pytest
import torch

import triad_torch
from triad_torch import _operators, triangular_attention
from triad_torch._formulas import by_broadcast, by_einsum


def tensors(b, n, h, d, dtype=torch.float64, count=4, grad=True):
    return [torch.randn(b, n, n, h, d, dtype=dtype, requires_grad=grad) for _ in range(count)]


def gradients(f, inputs):
    y = f(*inputs)
    dy = torch.cos(torch.arange(y.numel(), dtype=torch.float64)).reshape(y.shape).to(y.dtype)
    return [y, *torch.autograd.grad(y, inputs, dy)]


def assert_alike(ours, theirs, tolerance):
    for a, b in zip(ours, theirs):
        assert a.shape == b.shape
        scale = max(1e-30, float(b.detach().abs().max())) if b.numel() else 1
        assert float((a - b).detach().abs().max() if b.numel() else 0) <= tolerance * scale


SHAPES = [(1, 1, 1, 1), (2, 3, 2, 5), (3, 5, 4, 50), (1, 13, 2, 7), (2, 20, 1, 16), (1, 33, 4, 50)]


@pytest.mark.parametrize("shape", SHAPES)
def test_values_and_gradients_are_those_of_the_equations(shape):
    x = tensors(*shape)
    assert_alike(gradients(triangular_attention, x), gradients(by_einsum, x), 1e-12)
    x = [t.detach().float().requires_grad_() for t in x]
    assert_alike(gradients(triangular_attention, x), gradients(by_einsum, x), 2e-5)


def test_the_fused_formula_is_the_same_function():
    x = tensors(2, 6, 2, 4)
    assert_alike(gradients(by_broadcast, x), gradients(by_einsum, x), 1e-12)


@pytest.mark.parametrize("n", [4, 17])
def test_masked_triangles_take_no_part(n):
    x = tensors(2, n, 2, 3)
    mask = torch.rand(2, n, n, n) > 0.3
    assert_alike(gradients(lambda *t: triangular_attention(*t, mask=mask), x),
                 gradients(lambda *t: by_einsum(*t, mask=mask), x), 1e-12)
    nodes = torch.rand(2, n) > 0.2  # the mask depends only on the middle node l
    middle = nodes[:, None, :, None]
    assert_alike(gradients(lambda *t: triangular_attention(*t, mask=middle), x),
                 gradients(lambda *t: by_einsum(*t, mask=middle.expand(2, n, n, n)), x), 1e-12)


def test_an_edge_without_triangles_averages_over_all():
    q, k, v1, v2 = tensors(1, 4, 1, 3, grad=False)
    o = triangular_attention(q, k, v1, v2, mask=torch.zeros(1, 4, 4, 4, dtype=torch.bool))
    expected = torch.einsum("bilhc,bljhc->bijhc", v1, v2) / 4
    assert torch.allclose(o, expected)


def test_scale_is_that_of_the_scores():
    q, k, v1, v2 = tensors(1, 5, 2, 8)
    assert torch.allclose(triangular_attention(q, k, v1, v2, scale=0.7),
                          by_einsum(q * 0.7 * 8 ** 0.5, k, v1, v2))


def test_ragged_graphs_are_each_by_itself():
    sizes = [3, 0, 1, 14, 5]
    parts = [tensors(1, n, 2, 6) for n in sizes]
    flat = [torch.cat([p[i].reshape(-1, 2, 6) for p in parts]).detach().requires_grad_() for i in range(4)]
    offsets = np.cumsum([0, *(n * n for n in sizes)])
    together = gradients(lambda *t: triangular_attention(*t, offsets=torch.from_numpy(offsets)), flat)
    for g, n in enumerate(sizes):
        if n == 0:
            continue
        alone = triangular_attention(*parts[g])
        assert torch.equal(alone.reshape(-1, 2, 6), together[0][offsets[g]:offsets[g + 1]])


def test_nothing_gives_nothing_and_keeps_its_derivatives():
    for shape in [(0, 4, 4, 2, 3), (2, 0, 0, 2, 3)]:
        x = [torch.randn(shape, requires_grad=True) for _ in range(4)]
        y = triangular_attention(*x)
        assert y.shape == shape
        y.sum().backward()
        assert x[0].grad.shape == shape


def test_strides_do_not_matter():
    b, n, h, d = 2, 6, 2, 5
    base = torch.randn(b, n, n, 4, h, d, dtype=torch.float64)
    views = base.unbind(3)  # rows have a stride of 4 h d
    dense = [v.contiguous() for v in views]
    assert torch.equal(triangular_attention(*views), triangular_attention(*dense))
    turned = [v.transpose(1, 2).contiguous().transpose(1, 2) for v in dense]
    assert torch.equal(triangular_attention(*turned), triangular_attention(*dense))
    by_node = [v.permute(4, 3, 2, 1, 0).contiguous().permute(4, 3, 2, 1, 0) for v in dense]
    assert torch.equal(triangular_attention(*by_node), triangular_attention(*dense))


def test_what_was_expanded_is_read_as_it_is():
    """Tests rows that overlap in memory: rows of expanded operands, and rows of gradients that PyTorch returns for
    sums."""
    q, k, v1, _ = tensors(2, 5, 2, 3, dtype=torch.float32, grad=False)
    ones = torch.ones(2, 3).expand(2, 5, 5, 2, 3)
    assert torch.equal(triangular_attention(q, k, v1, ones), triangular_attention(q, k, v1, ones.contiguous()))
    for axes in ((0, 1, 2), (1, 2), (0, 1, 2, 3, 4)):
        x = tensors(1, 5, 2, 3)
        weights = torch.randn(triangular_attention(*x).sum(axes).shape, dtype=torch.float64)
        ours = torch.autograd.grad((triangular_attention(*x).sum(axes) * weights).sum(), x)
        theirs = torch.autograd.grad((by_einsum(*x).sum(axes) * weights).sum(), x)
        assert_alike(ours, theirs, 1e-12)
    one = [torch.randn(1, 1, 1, 2, 3).expand(4, 1, 1, 2, 3) for _ in range(4)]  # graphs of one node
    assert torch.allclose(triangular_attention(*one), by_einsum(*one), atol=1e-6)
    narrow = tensors(1, 4, 1, 1)
    assert_alike(torch.autograd.grad(triangular_attention(*narrow).sum(), narrow),
                 torch.autograd.grad(by_einsum(*narrow).sum(), narrow), 1e-12)
    attention = triad_torch.TriangularAttention(6, 2).double()
    y = torch.randn(1, 4, 4, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: attention(t).sum((0, 1, 2)), y)


def test_operands_that_end_where_a_page_ends_are_read_no_further():
    import mmap
    n, h, d = 16, 4, 16  # 64 KiB, a whole number of pages
    room = mmap.mmap(-1, n * n * h * d * 4 + mmap.PAGESIZE)
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    address = ctypes.addressof(ctypes.c_char.from_buffer(room))
    # Now a read from the page after the operand would kill the process.
    assert libc.mprotect(ctypes.c_void_p(address + n * n * h * d * 4), mmap.PAGESIZE, 0) == 0
    q = torch.frombuffer(room, dtype=torch.float32, count=n * n * h * d).reshape(1, n, n, h, d)
    q.normal_()
    expected = by_einsum(q, q, q, q)
    assert torch.allclose(triangular_attention(q, q, q, q), expected, atol=1e-5)
    libc.mprotect(ctypes.c_void_p(address + n * n * h * d * 4), mmap.PAGESIZE, 3)


@pytest.mark.parametrize("form", ["full", "value_ablation", "attention_ablation", "both_ablations", "flat"])
def test_forms_have_right_gradients(form):
    right = form in ("full", "attention_ablation")
    x = tensors(1, 4, 2, 3, count=4 if right else 3)
    assert torch.autograd.gradcheck(
        lambda *t: triangular_attention(*t[:3], t[3] if right else None, form=form), x, fast_mode=True)


def test_forms_are_those_of_the_paper():
    q, k, v1, v2 = tensors(2, 5, 2, 4)
    p = (torch.einsum("bilhc,bljhc->bhilj", q, k) / 2).softmax(3)
    assert torch.allclose(triangular_attention(q, k, v1, form="value_ablation"),
                          torch.einsum("bhilj,bilhc->bijhc", p, v1))
    p = (torch.einsum("bilhc,bijhc->bhilj", q, k) / 2).softmax(3)
    assert torch.allclose(triangular_attention(q, k, v1, v2, form="attention_ablation"),
                          torch.einsum("bhilj,bilhc,bljhc->bijhc", p, v1, v2))


def test_causal_edges_do_not_see_later_nodes():
    x = tensors(2, 7, 2, 3, grad=False)
    o = triangular_attention(*x, causal_sources=3)
    shorter = [t[:, :5, :5].contiguous() for t in x]
    assert torch.allclose(o[:, :5, :5], triangular_attention(*shorter, causal_sources=3))
    assert torch.equal(o, triangular_attention(*x, causal_sources=torch.tensor([3, 3])))
    y = [t.clone().requires_grad_() for t in x]
    assert torch.autograd.gradcheck(lambda *t: triangular_attention(*t, causal_sources=3), y, fast_mode=True)


def test_dropout_keeps_what_a_seed_says():
    x = tensors(2, 12, 2, 4, dtype=torch.float32)
    draw = lambda seed: triangular_attention(*x, dropout_p=0.4, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))
    torch.manual_seed(5)
    first = triangular_attention(*x, dropout_p=0.4)
    torch.manual_seed(5)
    assert torch.equal(first, triangular_attention(*x, dropout_p=0.4))
    one = torch.ones(1, 40, 40, 1, 1)
    zero = torch.zeros_like(one)
    # Each element is the kept fraction of 40 weights, times 1 / 0.7.
    kept = triangular_attention(zero, zero, one, one, dropout_p=0.3)
    assert abs(float(kept.mean()) - 1) < 0.01
    assert abs(float(kept.var()) - 0.3 / 0.7 / 40) < 0.002


def test_dropout_has_the_gradient_of_its_mask():
    x = tensors(1, 5, 2, 3)
    f = lambda *t: triangular_attention(*t, dropout_p=0.5, generator=torch.Generator().manual_seed(3))
    assert torch.autograd.gradcheck(f, x, fast_mode=True)


def test_threads_do_not_change_a_bit():
    x = tensors(2, 30, 2, 10, dtype=torch.float32)
    before = torch.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            results.append(gradients(triangular_attention, x))
        for other in results[1:]:
            assert all(torch.equal(a, b) for a, b in zip(results[0], other))
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_single(dtype):
    x = [t.detach().to(dtype).requires_grad_() for t in tensors(2, 6, 2, 4)]
    y, *dx = gradients(triangular_attention, x)
    expected = by_einsum(*[t.float() for t in x])
    assert y.dtype == dtype and all(t.dtype == dtype for t in dx)
    assert torch.allclose(y.float(), expected, atol=float(expected.detach().abs().max()) * 2 ** -8)


def test_autocast_goes_on_in_single_precision():
    attention = triad_torch.TriangularAttention(16, 2)
    x = torch.randn(2, 5, 5, 16, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        y = attention(x)
    assert y.dtype == torch.bfloat16
    y.sum().backward()
    assert torch.allclose(y.float(), attention(x), atol=0.05)


def test_many_nodes_store_no_triangle():
    """For n = 400, one number for each triangle and channel would take 2 GB."""
    import resource
    n = 400
    x = tensors(1, n, 1, 8, dtype=torch.float32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    o = triangular_attention(*x)
    o.backward(o.detach())
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 200
    i, j = 17, 311
    p = (torch.einsum("lc,lc->l", x[0][0, i, :, 0], x[1][0, :, j, 0]) / 8 ** 0.5).softmax(0)
    assert torch.allclose(o[0, i, j, 0], (p[:, None] * x[2][0, i, :, 0] * x[3][0, :, j, 0]).sum(0), atol=1e-5)


def test_operators_keep_pytorchs_rules():
    x = [t.reshape(-1, 2, 4) for t in tensors(2, 4, 2, 4)]
    nothing = torch.empty(0, dtype=torch.int64)
    how = (x[0].new_empty(0), nothing, torch.empty(0, dtype=torch.bool), nothing, nothing, 4, 0, -1e9, 0.0)
    torch.library.opcheck(torch.ops.triad.triangle.default, [*[t.detach().requires_grad_() for t in x], *how])
    stacked = torch.stack([t.detach() for t in x], 1).requires_grad_()
    torch.library.opcheck(torch.ops.triad.triangle_stacked.default, [stacked, *how])
    mask, sources, seed = torch.rand(2 * 4 ** 3) > 0.5, torch.tensor([2, 3]), torch.tensor([7])
    ragged = (x[0].new_empty(0), torch.tensor([4, 4]), mask, sources, seed, 0, 0, -1e9, 0.25)
    torch.library.opcheck(torch.ops.triad.triangle.default, [*[t.detach().requires_grad_() for t in x], *ragged])
    with torch.no_grad():
        o, maximum, inverse = _operators.triangle(*x, *ragged)
        torch.library.opcheck(torch.ops.triad.triangle_grad.default,
                              [torch.ones_like(o), o, maximum, inverse, *x, *ragged, 0])


def test_stacked_projections_give_the_same():
    x = tensors(2, 5, 2, 3)
    nothing = torch.empty(0, dtype=torch.int64)
    how = (x[0].new_empty(0), nothing, torch.empty(0, dtype=torch.bool), nothing, nothing, 5, 0, -1e9, 0.0)
    f = lambda *t: _operators.triangle_stacked(torch.stack([a.reshape(-1, 2, 3) for a in t], 1), *how)[0]
    g = lambda *t: triangular_attention(*t).reshape(-1, 2, 3)
    assert_alike(gradients(f, x), gradients(g, x), 1e-15)


def test_it_compiles_into_one_graph():
    x = tensors(2, 6, 2, 4, dtype=torch.float32)
    f = lambda *t: triangular_attention(*t[:3], t[3]) * 2
    compiled = torch.compile(f, fullgraph=True)
    assert_alike(gradients(compiled, x), gradients(f, x), 1e-6)
    masked = lambda *t: triangular_attention(*t, mask=torch.ones(1, 1, 6, 1, dtype=torch.bool), dropout_p=0.1)
    torch.compile(masked, fullgraph=True)(*x)


def test_no_product_of_pytorch_is_called():
    from torch.profiler import ProfilerActivity, profile
    x = tensors(1, 20, 2, 8, dtype=torch.float32)
    with profile(activities=[ProfilerActivity.CPU]) as found:
        triangular_attention(*x).sum().backward()
    names = {event.key for event in found.key_averages()}
    assert "triad::triangle" in names and "triad::triangle_grad" in names
    assert not {name for name in names if "bmm" in name or "einsum" in name or "matmul" in name}


def test_vmap_and_second_derivatives_are_refused_in_a_sentence():
    x = tensors(2, 4, 2, 3)
    with pytest.raises(RuntimeError, match="no torch.func.vmap"):
        torch.func.vmap(triangular_attention)(*[t[None] for t in x])
    y = triangular_attention(*x)
    (dx,) = torch.autograd.grad(y.sum(), x[0], create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative"):
        dx.sum().backward()


def shaped(*shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype)


@pytest.mark.parametrize("wrong, error, says", [
    (dict(q=shaped(2, 3, 4, 1, 2)), ValueError, "numbers of nodes, and differ"),
    (dict(q=shaped(2, 3, 3, 2)), ValueError, r"expected \(batch, n, n, heads, width\)"),
    (dict(k=shaped(1, 3, 3, 1, 2)), ValueError, "k has shape"),
    (dict(v2=None), ValueError, "needs v2"),
    (dict(form="value_ablation"), ValueError, "leave v2 out"),
    (dict(form="squared"), ValueError, "form is 'squared'"),
    (dict(k=shaped(2, 3, 3, 1, 2, dtype=torch.float64)), TypeError, "k is torch.float64, and q is torch.float32"),
    (dict(q=shaped(2, 3, 3, 1, 2, dtype=torch.int64)), TypeError, "q is torch.int64"),
    (dict(k=np.zeros((2, 3, 3, 1, 2), np.float32)), TypeError, "all arguments must be tensors, or all must be arrays"),
    (dict(q="triangle"), TypeError, "expected a tensor of PyTorch, a NumPy array"),
    (dict(mask=torch.zeros(2, 3, 3, 3)), TypeError, "expected a bool tensor"),
    (dict(mask=torch.zeros(5, 3, 3, 3, dtype=torch.bool)), ValueError, "broadcasts"),
    (dict(dropout_p=1.0), ValueError, "dropout_p is 1.0"),
    (dict(causal_sources=torch.tensor([1, 2, 3])), ValueError, "causal_sources has shape"),
    (dict(causal_sources=torch.tensor(1.5)), TypeError, "expected whole numbers"),
    (dict(form="flat", v2=None, causal_sources=1), ValueError, "no causal meaning"),
])
def test_what_is_wrong_is_said(wrong, error, says):
    arguments = {name: shaped(2, 3, 3, 1, 2) for name in ("q", "k", "v1", "v2")}
    arguments.update(wrong)
    with pytest.raises(error, match=says):
        triangular_attention(**arguments)


def test_wrong_offsets_are_said():
    x = [torch.zeros(13, 1, 2) for _ in range(4)]
    for offsets, says in [([0, 9], "from 0 up to the 13 rows"), ([0, 8, 13], "graph 0 has 8 edges"),
                          ([0.0, 13.0], "whole numbers"), ([[0, 13]], "whole numbers")]:
        with pytest.raises(ValueError, match=says):
            triangular_attention(*x, offsets=offsets)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_of_numpy_have_the_values_of_tensors(dtype):
    x = [t.detach().to(torch.float32 if dtype == np.float32 else torch.float64) for t in tensors(2, 14, 2, 5)]
    arrays = [t.numpy() for t in x]
    mask = np.random.default_rng(0).random((2, 14, 14, 14)) > 0.2
    assert np.array_equal(triangular_attention(*arrays), triangular_attention(*x).numpy())
    assert np.array_equal(triangular_attention(*arrays, mask=mask, causal_sources=5),
                          triangular_attention(*x, mask=torch.from_numpy(mask), causal_sources=5).numpy())
    ragged = [a.reshape(-1, 2, 5) for a in arrays]
    assert np.array_equal(triangular_attention(*ragged, offsets=[0, 196, 392]).reshape(arrays[0].shape),
                          triangular_attention(*arrays))
    drop = lambda: triangular_attention(*arrays, dropout_p=0.5, generator=np.random.default_rng(1))
    assert np.array_equal(drop(), drop())
    with pytest.raises(TypeError, match="float32 or float64"):
        triangular_attention(*[a.astype(np.int32) for a in arrays])


def test_jax_gives_and_takes_its_arrays():
    jax = pytest.importorskip("jax")
    x = [t.detach() for t in tensors(1, 5, 2, 3, dtype=torch.float32)]
    y = triangular_attention(*[jax.numpy.asarray(t.numpy()) for t in x])
    assert isinstance(y, jax.Array)
    assert np.array_equal(np.asarray(y), triangular_attention(*x).numpy())
