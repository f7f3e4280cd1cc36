"""Compares the attention weights of chosen edges with those of all edges, which plain PyTorch computes."""
import numpy as np
import pytest
import torch
from torch import nn

from triad_torch import TriangularAttention, products, triangular_attention

EDGES = [(0, 3), (2, 2), (4, 1), (0, 3)]  # one edge twice
FORMS = ["full", "value_ablation", "attention_ablation", "both_ablations", "flat"]
N = 5


def all_weights(q, k, form="full", excluded=None, scale=None, fill=-1e9):
    """Returns the weights of every edge: (b, n, n, heads, terms).  `excluded` is bool (b, n, n, n) at [b, i, l, j]."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    if form == "flat":
        scores = torch.cat([torch.einsum("bijhc,bizhc->bijhz", q, k), torch.einsum("bijhc,bzjhc->bijhz", q, k)], -1)
    elif form in ("attention_ablation", "both_ablations"):
        scores = torch.einsum("bilhc,bijhc->bijhl", q, k)
    else:
        scores = torch.einsum("bilhc,bljhc->bijhl", q, k)
    scores = scores * scale
    if excluded is not None:
        by_edge = excluded.transpose(2, 3)[:, :, :, None]
        scores = scores.masked_fill(torch.cat([by_edge] * (2 if form == "flat" else 1), -1), fill)
    return scores.softmax(-1)


def of_edges(p):
    return torch.stack([p[:, i, j] for i, j in EDGES], 1)


def tensors(batch=3, heads=2, dtype=torch.float64, grad=False):
    return [torch.randn(batch, N, N, heads, 4, dtype=dtype, requires_grad=grad) for _ in range(4)]


def values_of(form, v1, v2):
    return (v1, v2) if form in ("full", "attention_ablation") else (v1,)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("masked", [False, True])
def test_weights_are_those_of_the_equations_and_the_result_stays(form, masked):
    q, k, v1, v2 = tensors()
    values = values_of(form, v1, v2)
    mask = torch.rand(3, N, N, N) > 0.4 if masked else None
    how = dict(mask=mask, form=form, scale=0.7)
    o, p = triangular_attention(q, k, *values, return_weights=EDGES, **how)
    assert torch.equal(o, triangular_attention(q, k, *values, **how))
    expected = of_edges(all_weights(q, k, form, None if mask is None else ~mask, 0.7))
    assert p.shape == expected.shape == (3, 4, 2, 2 * N if form == "flat" else N)
    assert torch.allclose(p, expected, atol=1e-12)
    arrays = [t.numpy() for t in (q, k, *values)]
    how["mask"] = None if mask is None else mask.numpy()
    of_arrays = triangular_attention(*arrays, return_weights=np.array(EDGES), **how)
    assert np.allclose(of_arrays[0], o.numpy(), atol=1e-12) and np.allclose(of_arrays[1], expected.numpy(), atol=1e-12)


def test_the_weights_make_the_result():
    q, k, v1, v2 = tensors()
    mask = torch.rand(3, N, N, N) > 0.4
    o, p = triangular_attention(q, k, v1, v2, mask=mask, causal_sources=torch.tensor([1, 2, 0]), return_weights=EDGES)
    for e, (i, j) in enumerate(EDGES):
        found = torch.einsum("bhl,blhc,blhc->bhc", p[:, e], v1[:, i], v2[:, :, j])
        assert torch.allclose(found, o[:, i, j], atol=1e-12)


def test_later_nodes_have_no_weight_in_the_causal_form():
    q, k, v1, v2 = tensors()
    sources = [1, 4, 0]
    l, i, j = (torch.arange(N).view(shape) for shape in ((1, -1, 1), (-1, 1, 1), (1, 1, -1)))
    later = torch.stack([(l >= s) & (l > torch.maximum(i, j)) for s in sources])
    expected = of_edges(all_weights(q, k, excluded=later, fill=-float("inf")))
    _, p = triangular_attention(q, k, v1, v2, causal_sources=torch.tensor(sources), return_weights=EDGES)
    assert torch.allclose(p, expected, atol=1e-12) and (p == 0).any()
    arrays = triangular_attention(*(t.numpy() for t in (q, k, v1, v2)), causal_sources=sources, return_weights=EDGES)
    assert np.allclose(arrays[1], expected.numpy(), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_weights_have_right_gradients(form):
    q, k, v1, v2 = tensors(1, 1, grad=True)
    values = values_of(form, v1, v2)
    call = lambda q, k: triangular_attention(q, k, *(v.detach() for v in values), form=form,
                                             return_weights=EDGES)[1]
    assert torch.autograd.gradcheck(call, (q, k))


def test_dropout_does_not_reach_the_weights():
    x = tensors()
    _, without = triangular_attention(*x, return_weights=EDGES)
    _, dropped = triangular_attention(*x, dropout_p=0.5, return_weights=EDGES)
    assert torch.equal(without, dropped)


@pytest.mark.parametrize("by", ["auto", "pytorch"])
@pytest.mark.parametrize("form", FORMS)
def test_a_module_gives_the_weights_of_its_projections(form, by):
    module, x = TriangularAttention(8, 2, bias=True, form=form), torch.randn(3, N, N, 8)
    mask = torch.rand(3, N, N, N) > 0.4
    products(by)
    try:
        y, p = module(x, mask, return_weights=EDGES)
        assert torch.equal(y, module(x, mask))
    finally:
        products("auto")
    query, key = ("2", "0") if form == "flat" else ("0", "1")
    q, k = (module.linears[name](x).view(3, N, N, 2, 4) for name in (query, key))
    assert torch.allclose(p, of_edges(all_weights(q, k, form, ~mask)), atol=1e-6)


def test_a_module_with_a_hook_on_a_projection_gives_weights():
    module, x = TriangularAttention(8, 2), torch.randn(3, N, N, 8)
    module.linears["0"].register_forward_hook(lambda part, inputs, y: y * 0)
    assert torch.allclose(module(x, return_weights=EDGES)[1], torch.full((3, 4, 2, N), 1 / N))


def test_lower_precision_keeps_the_type():
    x = tensors(dtype=torch.bfloat16)
    _, p = triangular_attention(*x, return_weights=EDGES)
    assert p.dtype == torch.bfloat16
    assert torch.allclose(p.double(), of_edges(all_weights(x[0].double(), x[1].double())), atol=1e-2)
    module = TriangularAttention(8, 2)
    with torch.autocast("cpu", torch.bfloat16):
        y, p = module(torch.randn(1, N, N, 8), return_weights=EDGES)
    assert p.dtype == torch.float32 and torch.allclose(p.sum(-1), torch.ones(1, 4, 2), atol=1e-5)


def test_no_graphs_and_no_edges_give_no_weights():
    module = TriangularAttention(8, 2)
    assert module(torch.zeros(0, 3, 3, 8), return_weights=[(0, 1)])[1].shape == (0, 1, 2, 3)
    assert module(torch.zeros(2, 3, 3, 8), return_weights=[])[1].shape == (2, 0, 2, 3)
    empty = torch.zeros(0, 3, 3, 2, 4)
    assert triangular_attention(*[empty] * 3, form="flat", return_weights=[(0, 1)])[1].shape == (0, 1, 2, 6)


def test_weights_compile_in_one_graph_for_all_sizes():
    torch._dynamo.reset()
    graphs, module = [], TriangularAttention(8, 2)

    def count(graph, _):
        graphs.append(graph)
        return graph.forward
    compiled = torch.compile(module, dynamic=True, fullgraph=True, backend=count)
    for n in range(5, 9):
        x = torch.randn(3, n, n, 8)
        for found, expected in zip(compiled(x, return_weights=EDGES), module(x, return_weights=EDGES)):
            assert torch.allclose(found, expected, atol=1e-6)
    assert len(graphs) == 1


def test_edges_that_do_not_exist_are_refused():
    x = tensors()
    for wrong, error, message in (([(0, N)], ValueError, rf"edge \(0, {N}\), and there are {N} nodes"),
                                  ([(-1, 0)], ValueError, r"edge \(-1, 0\)"),
                                  ([(0, 1, 2)], ValueError, r"contains \(0, 1, 2\), expected pairs"),
                                  ([0, 1], ValueError, "contains 0, expected pairs"),
                                  ([(0, 1.0)], TypeError, "1.0, expected a whole number"),
                                  ("ab", TypeError, "return_weights is str, expected pairs")):
        with pytest.raises(error, match=message):
            triangular_attention(*x, return_weights=wrong)
        with pytest.raises(error, match=message):
            triangular_attention(*(t.numpy() for t in x), return_weights=wrong)
    rows = [t.reshape(-1, 2, 4) for t in x]
    with pytest.raises(ValueError, match="return_weights is given with offsets"):
        triangular_attention(*rows, offsets=[0, 25, 50, 75], return_weights=EDGES)


def test_weights_can_be_trained():
    """An entropy of the weights is a common term of a loss.  The query and the key get its gradient."""
    module = TriangularAttention(8, 2)
    _, p = module(torch.randn(1, N, N, 8), return_weights=EDGES)
    (p * p.log()).sum().backward()
    has = {name for name, part in module.linears.items() if part.weight.grad is not None
           and part.weight.grad.abs().max() > 0}
    assert isinstance(module.linears["0"], nn.Linear) and has == {"0", "1"}
