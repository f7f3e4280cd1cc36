"""Compares the bias of the scores, and its gradient, with plain PyTorch."""
import numpy as np
import pytest
import torch
from torch import nn

from triad_torch import TriangularAttention, _operators, products, triangular_attention

B, H, N, K = 2, 2, 4, 3
SHAPES = [(B, H, N, N, N), (1, H, N, N, N), (H, 1, N, N), (B, 1, N, 1, N), (N, 1), (1, H, 1, N, 1), (B, 1, 1, 1, 1),
          (1, 1, N, N, 1)]
FORMS = ["full", "value_ablation", "attention_ablation", "both_ablations"]


def tensors(n=N, dtype=torch.float64, batch=B, grad=False):
    return [torch.randn(batch, n, n, H, K, dtype=dtype, requires_grad=grad) for _ in range(4)]


def values_of(form, v1, v2):
    return (v1, v2) if form in ("full", "attention_ablation") else (v1,)


def by_formulas(q, k, v1, v2=None, bias=0.0, mask=None, form="full", scale=None):
    """Returns the result and the weights (b, h, i, l, j)."""
    keys = "bijhc" if form in ("attention_ablation", "both_ablations") else "bljhc"
    scores = torch.einsum(f"bilhc,{keys}->bhilj", q, k) * (K ** -0.5 if scale is None else scale) + bias
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None], -1e9)
    p = scores.softmax(3)
    if v2 is None:
        return torch.einsum("bhilj,bilhc->bijhc", p, v1), p
    return torch.einsum("bhilj,bilhc,bljhc->bijhc", p, v1, v2), p


def assert_gradients_agree(found, expected, inputs, atol):
    cotangent = torch.randn_like(expected)
    assert torch.allclose(found, expected, atol=atol)
    for a, b in zip(torch.autograd.grad(found, inputs, cotangent), torch.autograd.grad(expected, inputs, cotangent)):
        assert a.shape == b.shape and torch.allclose(a, b, atol=atol)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", FORMS)
def test_the_bias_is_added_to_the_scores(shape, form):
    q, k, *values = tensors(grad=True)
    values = values_of(form, *values)
    bias = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    mask = torch.rand(B, N, N, N) > 0.3
    found = triangular_attention(q, k, *values, bias=bias, mask=mask, form=form, scale=0.7)
    expected, _ = by_formulas(q, k, *values, bias=bias, mask=mask, form=form, scale=0.7)
    assert_gradients_agree(found, expected, [q, k, *values, bias], 1e-12)


@pytest.mark.parametrize("n", [5, 22, 40])
@pytest.mark.parametrize("shape", [(B, H, 0, 0, 0), (1, H, 1, 0, 0), (1, 1, 0, 0, 1), (B, 1, 0, 1, 0)])
def test_the_kernels_of_float32_agree(n, shape):
    x = tensors(n, torch.float32, grad=True)
    bias = torch.randn([size or n for size in shape], requires_grad=True)
    assert_gradients_agree(triangular_attention(*x, bias=bias), by_formulas(*x, bias=bias)[0], [*x, bias], 2e-4)


@pytest.mark.parametrize("shape", [(B, H, N, N, N), (1, H, 1, N, N), (1, 1, 1, N, 1)])
def test_gradcheck(shape):
    bias = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    mask = torch.rand(B, N, N, N) > 0.3
    call = lambda *x: triangular_attention(*x[:4], bias=x[4], mask=mask, causal_sources=1)
    assert torch.autograd.gradcheck(call, (*tensors(grad=True), bias))


def test_gradcheck_with_dropout():
    """A generator with the same seed in each call draws the same weights."""
    bias = torch.randn(1, H, N, N, N, dtype=torch.float64, requires_grad=True)
    call = lambda *x: triangular_attention(*x[:4], bias=x[4], dropout_p=0.4,
                                           generator=torch.Generator().manual_seed(3))
    assert torch.autograd.gradcheck(call, (*tensors(grad=True), bias))


def test_operators_keep_pytorchs_rules():
    rows = [t.reshape(-1, H, K) for t in tensors()]
    nothing = torch.empty(0, dtype=torch.int64)
    alike = nothing, torch.rand(B * N ** 3) > 0.5, nothing, nothing, N, 0, -1e9, 0.0
    ragged = (torch.tensor([N, N]), torch.empty(0, dtype=torch.bool), torch.tensor([1, 3]), torch.tensor([7]), 0, 0,
              -1e9, 0.25)
    for shape, how in (((B, 1, N, N, N), alike), ((2 * H * N ** 3,), ragged)):
        bias = torch.randn(shape, dtype=torch.float64)
        with_gradients = [t.clone().requires_grad_() for t in (*rows, bias)]
        torch.library.opcheck(torch.ops.triad.triangle.default, [*with_gradients, *how])
        torch.library.opcheck(torch.ops.triad.triangle.default, [*with_gradients[:4], bias, *how])
        stacked = torch.stack(rows, 1).requires_grad_()
        torch.library.opcheck(torch.ops.triad.triangle_stacked.default, [stacked, with_gradients[4], *how])
        with torch.no_grad():
            saved = _operators.triangle(*rows, bias, *how)
            for wanted in (0, 1):
                torch.library.opcheck(torch.ops.triad.triangle_grad.default,
                                      [torch.ones_like(saved[0]), *saved, *rows, bias, *how, wanted])
                torch.library.opcheck(torch.ops.triad.triangle_stacked_grad.default,
                                      [torch.ones_like(saved[0]), *saved, torch.stack(rows, 1), bias, *how, wanted])


def test_only_a_bias_that_needs_a_gradient_gets_one(monkeypatch):
    wanted, grad = [], _operators._triangle_grad
    monkeypatch.setattr(_operators, "_triangle_grad", lambda *all: (wanted.append(all[-1]), grad(*all))[1])
    x, bias = tensors(grad=True), torch.randn(N, N, N, dtype=torch.float64)
    for requires in (False, True):
        triangular_attention(*x, bias=bias.requires_grad_(requires)).sum().backward()
    assert wanted == [0, 1] and bias.grad is not None
    alone = [t.detach() for t in x]
    triangular_attention(*alone, bias=bias).sum().backward()  # the bias is the only one
    assert wanted == [0, 1, 1]


@pytest.mark.parametrize("of_heads", [False, True])
def test_graphs_of_different_sizes(of_heads):
    sizes = [3, 1, 4]
    graphs = [tensors(n, batch=1, grad=True) for n in sizes]
    biases = [torch.randn(H if of_heads else 1, n, n, n, dtype=torch.float64, requires_grad=True) for n in sizes]
    rows = [torch.cat([g[p].reshape(-1, H, K) for g in graphs]) for p in range(4)]
    flat = torch.cat([b.reshape(-1) for b in biases])
    offsets = np.cumsum([0, *(n * n for n in sizes)])
    found = triangular_attention(*rows, offsets=offsets, bias=flat)
    expected = torch.cat([by_formulas(*g, bias=b)[0].reshape(-1, H, K) for g, b in zip(graphs, biases)])
    assert_gradients_agree(found, expected, biases, 1e-12)
    arrays = [t.detach().numpy() for t in rows]
    assert np.allclose(triangular_attention(*arrays, offsets=offsets, bias=flat.detach().numpy()),
                       expected.detach().numpy(), atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_and_weights(shape):
    x, bias = tensors(), torch.randn(shape, dtype=torch.float64)
    mask, edges = torch.rand(B, N, N, N) > 0.3, [(0, 3), (2, 1)]
    expected, all_weights = by_formulas(*x, bias=bias, mask=mask)
    weights = torch.stack([all_weights[:, :, i, :, j] for i, j in edges], 1)
    o, p = triangular_attention(*x, bias=bias, mask=mask, return_weights=edges)
    assert torch.allclose(o, expected, atol=1e-12) and torch.allclose(p, weights, atol=1e-12)
    o, p = triangular_attention(*(t.numpy() for t in x), bias=bias.numpy(), mask=mask.numpy(), return_weights=edges)
    assert np.allclose(o, expected.numpy(), atol=1e-12) and np.allclose(p, weights.numpy(), atol=1e-12)


def test_weights_have_right_gradients():
    bias = torch.randn(1, H, N, N, 1, dtype=torch.float64, requires_grad=True)
    call = lambda *x: triangular_attention(*x[:4], bias=x[4], return_weights=[(0, 3), (1, 1)])[1]
    assert torch.autograd.gradcheck(call, (*tensors(), bias))


class Biased(nn.Module):
    """A learned number for each head and each pair of middle node and target."""

    def __init__(self, width=H * 4, **how):
        super().__init__()
        self.attention = TriangularAttention(width, H, **how)
        self.bias = nn.Parameter(torch.randn(H, 1, N, N))

    def forward(self, x, **how):
        return self.attention(x, bias=self.bias, **how)


@pytest.mark.parametrize("by", ["auto", "pytorch"])
@pytest.mark.parametrize("form", FORMS)
def test_a_module_adds_the_bias_to_its_scores(form, by):
    """If one operator computes plain attention, a call with a bias takes the other path."""
    module, x = Biased(bias=True, form=form), torch.randn(B, N, N, H * 4)
    products(by)
    try:
        found, p = module(x, return_weights=[(1, 2)])
        plain = module.attention(x)
        zero = module.attention(x, bias=torch.zeros(1))
    finally:
        products("auto")
    assert torch.allclose(plain, zero, atol=1e-6)
    projected = [module.attention.linears[name](x).view(B, N, N, H, 4) for name in module.attention._stacked]
    o, weights = by_formulas(*projected, bias=module.bias, form=form, scale=0.5)
    expected = module.attention.linears["5"](o.reshape(x.shape))
    assert torch.allclose(p[:, 0], weights[:, :, 1, :, 2], atol=1e-6)
    parameters = [p for p in module.parameters()]
    assert_gradients_agree(found, expected, parameters, 1e-5)


def test_a_bias_is_trained():
    torch.manual_seed(0)
    module, x, target = Biased(), torch.randn(1, N, N, H * 4), torch.randn(1, N, N, H * 4)
    optimizer = torch.optim.Adam([module.bias], lr=0.1)
    losses = []
    for _ in range(20):
        losses.append(((module(x) - target) ** 2).mean())
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < losses[0]


def test_lower_precision():
    x, bias = tensors(dtype=torch.bfloat16), torch.randn(1, H, N, N, N)
    expected = by_formulas(*(t.double() for t in x), bias=bias.double())[0]
    for given in (bias, bias.bfloat16()):
        o = triangular_attention(*x, bias=given)
        assert o.dtype == torch.bfloat16 and torch.allclose(o.double(), expected, atol=5e-2)
    bias = bias.bfloat16().requires_grad_()
    triangular_attention(*x, bias=bias).sum().backward()
    assert bias.grad.dtype == torch.bfloat16
    module, states = Biased(), torch.randn(B, N, N, H * 4)
    with torch.autocast("cpu", torch.bfloat16):
        y = module(states)
    assert y.dtype == torch.bfloat16 and torch.allclose(y.float(), module(states), atol=5e-2)
    y.float().sum().backward()
    assert module.bias.grad.dtype == torch.float32


def test_a_bias_compiles_in_one_graph_for_all_sizes():
    torch._dynamo.reset()
    graphs, module = [], TriangularAttention(8, H)

    def count(graph, _):
        graphs.append(graph)
        return graph.forward
    compiled = torch.compile(module, dynamic=True, fullgraph=True, backend=count)
    for n in range(5, 9):
        x, bias = torch.randn(3, n, n, 8), torch.randn(1, H, n, n, 1)
        assert torch.allclose(compiled(x, bias=bias), module(x, bias=bias), atol=1e-6)
    assert len(graphs) == 1


@pytest.mark.parametrize("requires", [False, True])
def test_a_compiled_call_has_the_same_gradients(requires):
    torch._dynamo.reset()
    x = tensors(dtype=torch.float32, grad=True)
    bias = torch.randn(1, H, 1, N, N, requires_grad=requires)
    inputs = [*x, bias] if requires else x
    call = lambda *t: triangular_attention(*t[:4], bias=t[4])
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    assert_gradients_agree(compiled(*x, bias), call(*x, bias), inputs, 1e-6)


def test_an_exported_program_takes_a_bias_of_any_size():
    module, n = TriangularAttention(8, H), torch.export.Dim("n", min=2, max=64)
    program = torch.export.export(module, (torch.randn(2, 5, 5, 8),), {"bias": torch.randn(1, H, 5, 5, 5)},
                                  dynamic_shapes={"x": {1: n, 2: n}, "bias": {2: n, 3: n, 4: n}})
    x, bias = torch.randn(2, 7, 7, 8), torch.randn(1, H, 7, 7, 7)
    assert torch.allclose(program.module()(x, bias=bias), module(x, bias=bias), atol=1e-6)


def test_bits_do_not_depend_on_threads():
    x, bias = tensors(24, torch.float32, 3, grad=True), torch.randn(1, 1, 24, 24, 1, requires_grad=True)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(torch.autograd.grad(triangular_attention(*x, bias=bias).sum(), [*x, bias]))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*found))


def test_empty_batches_have_a_bias():
    bias = torch.zeros(1, H, 1, 3, 1, requires_grad=True)
    x = [torch.zeros(0, 3, 3, H, K, requires_grad=True) for _ in range(4)]
    triangular_attention(*x, bias=bias).sum().backward()
    assert torch.equal(bias.grad, torch.zeros_like(bias))
    module, bias.grad = TriangularAttention(8, H), None
    module(torch.zeros(0, 3, 3, 8), bias=bias).sum().backward()
    assert torch.equal(bias.grad, torch.zeros_like(bias))


@pytest.mark.parametrize("wrong, error, message", [
    (torch.zeros(3, 1, 1, 1, 1, dtype=torch.float64), ValueError,
     r"bias has shape \(3, 1, 1, 1, 1\), expected \(2, 2, 4, 4, 4\) or what broadcasts to it; its axes are batch"),
    (torch.zeros(1, 1, H, N, N, N, dtype=torch.float64), ValueError, r"bias has shape \(1, 1, 2, 4, 4, 4\), expected"),
    (torch.zeros(N, N, N), TypeError, "bias is torch.float32, expected torch.float64"),
    (torch.zeros(N, N, N, dtype=torch.int64), TypeError, "bias is torch.int64, expected float32"),
    (torch.zeros(N, N, N, dtype=torch.float64).to_sparse(), TypeError, "bias is of layout"),
    (0.5, TypeError, "bias is float, expected a tensor of PyTorch"),
])
def test_a_wrong_bias_is_refused(wrong, error, message):
    with pytest.raises(error, match=message):
        triangular_attention(*tensors(), bias=wrong)


def test_a_bias_without_an_axis_of_heads_is_refused_with_a_remedy():
    x = [torch.randn(B, N, N, 3, K) for _ in range(4)]
    with pytest.raises(ValueError, match=r"for one bias of all heads, pass bias\[:, None\]"):
        triangular_attention(*x, bias=torch.zeros(B, N, N, N))


def test_a_bias_is_refused_where_it_has_no_meaning():
    q, k, v, _ = tensors()
    bias = torch.zeros(N, N, N, dtype=torch.float64)
    for call in (lambda: triangular_attention(q, k, v, form="flat", bias=bias),
                 lambda: triangular_attention(*(t.numpy() for t in (q, k, v)), form="flat", bias=bias.numpy()),
                 lambda: TriangularAttention(8, H, form="flat")(torch.randn(1, 4, 4, 8), bias=bias.float())):
        with pytest.raises(ValueError, match="bias is given with the form 'flat', expected another form"):
            call()
    rows = [t.reshape(-1, H, K) for t in tensors()]
    with pytest.raises(ValueError, match=r"bias has shape \(4, 4, 4\), expected \(256,\) with offsets"):
        triangular_attention(*rows, offsets=[0, 16, 32], bias=bias)
    with pytest.raises(ValueError, match=r"bias has shape \(5, 4, 4\), expected"):
        triangular_attention(*(t.numpy() for t in tensors()), bias=np.zeros((5, 4, 4)))
