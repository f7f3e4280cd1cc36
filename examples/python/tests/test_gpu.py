"""Tests the operators on an NVIDIA GPU: the checks that other tests make on the host, and streams, graphs and
autocast."""
import copy
import json

import numpy as np
import pytest
import torch

from conftest import losses_of
from triad_torch import (EdgeTransformer, EdgeTransformerLayer, Roles, TriangularAttention, _kernels, _operators, bind,
                         car, cdr, cons, fuse_attention, graft, root, triangular_attention)
from triad_torch._formulas import EinsumAttention, by_einsum
from triad_torch.runs import read_safetensors

pytestmark = [pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no GPU"),
              pytest.mark.skipif(not _kernels.cuda_path().exists(), reason="the package has no kernels for GPUs, as it "
                                 "was built without TRIAD_TORCH_CUDA=ON or AUTO")]
GPU = "cuda"
double = torch.float64


@pytest.fixture(autouse=True)
def _float32_is_float32():
    torch.backends.cuda.matmul.allow_tf32 = False


def tensors(*shape, dtype=double, count=4, grad=True):
    return [torch.randn(shape, dtype=double).to(GPU, dtype).requires_grad_(grad) for _ in range(count)]


def nodes(b, n, h, d, **more):
    return tensors(b, n, n, h, d, **more)


def gradients(f, inputs):
    y = f(*inputs)
    dy = torch.cos(torch.arange(y.numel(), dtype=double)).reshape(y.shape).to(y.device, y.dtype)
    return [y, *torch.autograd.grad(y, inputs, dy)]


def assert_alike(ours, theirs, tolerance):
    for a, b in zip(ours, theirs, strict=True):
        a, b = a.detach().double().cpu(), b.detach().double().cpu()
        assert a.shape == b.shape
        assert bool(a.isfinite().all())
        if b.numel():
            assert float((a - b).abs().max()) <= tolerance * max(1e-30, float(b.abs().max()))


def test_there_are_kernels_for_this_gpu():
    assert _operators.cuda_refused == ""


SHAPES = [(1, 1, 1, 1), (2, 3, 2, 5), (400, 5, 4, 50), (1, 13, 2, 7), (3, 16, 4, 50), (2, 20, 1, 16), (1, 33, 4, 50),
          (1, 64, 2, 32), (1, 130, 2, 16)]


@pytest.mark.parametrize("shape", SHAPES)
def test_values_and_gradients_are_those_of_the_equations(shape):
    x = nodes(*shape)
    expected = gradients(by_einsum, x)
    assert_alike(gradients(triangular_attention, x), expected, 1e-11)
    single = [t.detach().float().requires_grad_() for t in x]
    assert_alike(gradients(triangular_attention, single), expected, 5e-5)
    on_host = [t.detach().cpu().requires_grad_() for t in single]
    assert_alike(gradients(triangular_attention, single), gradients(triangular_attention, on_host), 5e-5)


@pytest.mark.parametrize("n", [4, 17, 40])
def test_masked_triangles_take_no_part(n):
    x = nodes(2, n, 2, 3)
    mask = torch.rand(2, n, n, n, device=GPU) > 0.3
    assert_alike(gradients(lambda *t: triangular_attention(*t, mask=mask), x),
                 gradients(lambda *t: by_einsum(*t, mask=mask), x), 1e-11)


def test_ragged_graphs_are_each_by_itself():
    sizes = [3, 0, 1, 14, 5, 21]
    parts = [nodes(1, n, 2, 6) for n in sizes]
    flat = [torch.cat([p[i].reshape(-1, 2, 6) for p in parts]).detach().requires_grad_() for i in range(4)]
    offsets = np.cumsum([0, *(n * n for n in sizes)])
    together = triangular_attention(*flat, offsets=torch.from_numpy(offsets))
    for g, n in enumerate(sizes):
        if n:
            assert_alike([together[offsets[g]:offsets[g + 1]]], [by_einsum(*parts[g]).reshape(-1, 2, 6)], 1e-11)


@pytest.mark.parametrize("form", ["full", "value_ablation", "attention_ablation", "both_ablations", "flat"])
def test_forms_have_right_gradients(form):
    right = form in ("full", "attention_ablation")
    x = nodes(1, 4, 2, 3, count=4 if right else 3)
    assert torch.autograd.gradcheck(
        lambda *t: triangular_attention(*t[:3], t[3] if right else None, form=form), x, fast_mode=True)


def test_causal_edges_and_dropout_have_right_gradients():
    x = nodes(1, 7, 2, 3)
    assert torch.autograd.gradcheck(lambda *t: triangular_attention(*t, causal_sources=3), x, fast_mode=True)
    f = lambda *t: triangular_attention(*t, dropout_p=0.5, generator=torch.Generator(GPU).manual_seed(3))
    assert torch.autograd.gradcheck(f, x, fast_mode=True)


def test_dropout_keeps_what_a_seed_says_here_and_on_the_host():
    x = nodes(2, 12, 2, 4, dtype=torch.float32, grad=False)
    draw = lambda seed: triangular_attention(*x, dropout_p=0.4, generator=torch.Generator(GPU).manual_seed(seed))
    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))
    nothing = torch.empty(0, dtype=torch.int64)
    rows = [t.reshape(-1, 2, 4) for t in x]

    def by_seed(device):
        none = torch.empty(0, dtype=torch.int64, device=device)
        how = (x[0].new_empty(0, device=device), nothing, torch.empty(0, dtype=torch.bool, device=device), none,
               torch.tensor([7], device=device), 12, 0, -1e9, 0.4)
        return _operators.triangle(*[t.to(device) for t in rows], *how)[0]

    assert_alike([by_seed(GPU)], [by_seed("cpu")], 2e-5)


def test_strides_do_not_matter():
    base = torch.randn(2, 6, 6, 4, 2, 5, dtype=double, device=GPU)
    views = base.unbind(3)
    expected = by_einsum(*views)
    by_node = [v.permute(4, 3, 2, 1, 0).contiguous().permute(4, 3, 2, 1, 0) for v in views]
    for x in (views, [v.contiguous() for v in views], by_node):
        assert_alike([triangular_attention(*x)], [expected], 1e-12)
    x = nodes(1, 5, 2, 3)
    assert_alike(torch.autograd.grad(triangular_attention(*x).sum(), x), torch.autograd.grad(by_einsum(*x).sum(), x),
                 1e-11)  # the gradient of a sum is an expanded tensor


def test_operators_keep_pytorchs_rules():
    x = [t.detach().reshape(-1, 2, 4) for t in nodes(2, 4, 2, 4)]
    nothing, none = torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64, device=GPU)
    how = (x[0].new_empty(0), nothing, torch.empty(0, dtype=torch.bool, device=GPU), none, none, 4, 0, -1e9, 0.0)
    torch.library.opcheck(torch.ops.triad.triangle.default, [*[t.clone().requires_grad_() for t in x], *how])
    torch.library.opcheck(torch.ops.triad.triangle_stacked.default, [torch.stack(x, 1).requires_grad_(), *how])
    ragged = (x[0].new_empty(0), torch.tensor([4, 4]), torch.rand(2 * 4 ** 3, device=GPU) > 0.5,
              torch.tensor([2, 3], device=GPU), torch.tensor([7], device=GPU), 0, 0, -1e9, 0.25)
    torch.library.opcheck(torch.ops.triad.triangle.default, [*[t.clone().requires_grad_() for t in x], *ragged])
    u, states = tensors(3, 2, 4, count=1)[0], tensors(3, 3, 4, count=1)[0]
    torch.library.opcheck(torch.ops.triad.fuse.default, (u, states, none, 0.0))
    tree = torch.randn(2, 7, 3, device=GPU, requires_grad=True)
    torch.library.opcheck(torch.ops.triad.tree_child.default, (tree, 1, 2, 3))
    torch.library.opcheck(torch.ops.triad.tree_graft.default, (tree, 0, 2, 3))


def test_fuse_attention_has_right_gradients_also_with_dropout():
    u, states = tensors(3, 2, 4, count=1)[0], tensors(3, 3, 4, count=1)[0]
    assert torch.autograd.gradcheck(fuse_attention, (u, states))
    draw = lambda *t: fuse_attention(*t, dropout_p=0.4, generator=torch.Generator(GPU).manual_seed(1))
    assert torch.autograd.gradcheck(draw, (u, states))
    assert_alike(fuse_attention(u, states), fuse_attention(u.cpu(), states.cpu()), 1e-12)


@pytest.mark.parametrize("roles", [Roles.gather(4), Roles.dense(4, seed=3), Roles.gather(3, branching=3)], ids=repr)
def test_trees_are_those_of_the_host(roles):
    x = bind(roles, torch.randn(2, roles.count, 5, dtype=double))
    for f in (lambda t: car(roles, t), lambda t: cdr(roles, t), lambda t: graft(roles, t, 1),
              lambda t: root(roles, t)):
        assert_alike([f(x.to(GPU))], [f(x)], 1e-12)
        assert torch.autograd.gradcheck(f, x.to(GPU).requires_grad_(), fast_mode=True)
    if roles.branching == 2:
        f = lambda t: cons(roles, [cdr(roles, t), car(roles, t)], root(roles, t))
        assert_alike([f(x.to(GPU))], [f(x)], 1e-12)


def test_the_released_model_of_clutrr_agrees(golden):
    files = sorted(golden.glob("et_clutrr__*.f64.safetensors"))
    assert files
    for path in files:
        given, texts = read_safetensors(path)
        c = json.loads(texts["config"])
        form = ("flat" if c["flat"] else "value_ablation" if c["value_ablation"]
                else "attention_ablation" if c["attention_ablation"] else "full")
        model = EdgeTransformer(given["param/encoder.embedding.weight"].shape[0], c["target_size"], c["d"], c["heads"],
                                c["layers"], c["ff_factor"] * c["d"], 0.0, c["tied"], form=form).double()
        model.load_state_dict({n.removeprefix("param/"): t for n, t in given.items() if n.startswith("param/")})
        model = model.to(GPU)
        logits = model(given["in/batched_graphs"].to(GPU), given["in/query_edges"].to(GPU),
                       given["in/pad_mask"].bool().to(GPU))
        assert_alike([logits], [given["out/logits"]], 1e-9)
        torch.nn.functional.cross_entropy(logits, given["in/query_labels"].to(GPU)).backward()
        scale = max(float(t.abs().max()) for n, t in given.items() if n.startswith("grad/param/"))
        for name, parameter in model.named_parameters():
            assert float((parameter.grad.cpu() - given[f"grad/param/{name}"]).abs().max()) <= 1e-9 * scale


@pytest.mark.parametrize("dtype, tolerance", [(double, 1e-11), (torch.float32, 5e-5)])
def test_a_layer_whose_attention_is_replaced_has_the_same_values_and_gradients(dtype, tolerance):
    layer = EdgeTransformerLayer(40, 4).to(GPU, dtype)
    theirs = copy.deepcopy(layer)
    theirs.edge_attention = EinsumAttention(theirs.edge_attention)
    x, cotangent = torch.randn(2, 2, 9, 9, 40, dtype=dtype, device=GPU)
    x.requires_grad_()
    results = [[y := module(x), *torch.autograd.grad(y, [x, *module.parameters()], cotangent)]
               for module in (layer, theirs)]
    assert_alike(*results, tolerance)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_single(dtype):
    x = [t.detach().to(dtype).requires_grad_() for t in nodes(2, 6, 2, 4)]
    y, *dx = gradients(triangular_attention, x)
    assert y.dtype == dtype and all(t.dtype == dtype for t in dx)
    assert_alike([y], [by_einsum(*[t.float() for t in x])], 2 ** -8)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_goes_on_in_single_precision(dtype):
    attention = TriangularAttention(16, 2).to(GPU)
    x = torch.randn(2, 5, 5, 16, device=GPU, requires_grad=True)
    with torch.autocast("cuda", dtype):
        y = attention(x)
    assert y.dtype == dtype
    y.sum().backward()
    assert torch.allclose(y.float(), attention(x), atol=0.05)


def test_it_waits_for_the_callers_stream_and_the_caller_for_it():
    """During the call, a slow kernel on the caller's stream still writes the operands. The result is read immediately
    after the call."""
    x = nodes(1, 40, 2, 16, dtype=torch.float32, grad=False)
    expected = triangular_attention(*x)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    for _ in range(5):
        with torch.cuda.stream(stream):
            late = [torch.full_like(t, float("nan")) for t in x]
            torch.cuda._sleep(20_000_000)
            for a, b in zip(late, x):
                a.copy_(b)
            y = triangular_attention(*late)
            for a in late:
                a.zero_()  # runs after the kernels have read `a`
            kept = y.clone()
            del y, late
        stream.synchronize()
        assert_alike([kept], [expected], 1e-6)


def test_it_compiles_into_one_graph():
    x = nodes(2, 6, 2, 4, dtype=torch.float32)
    f = lambda *t: triangular_attention(*t) * 2
    assert_alike(gradients(torch.compile(f, fullgraph=True), x), gradients(f, x), 1e-5)


def test_a_stack_compiles_and_trains():
    model = EdgeTransformer(5, 3, 16, 2, 2, dropout=0.1).to(GPU)
    compiled = torch.compile(model, fullgraph=True)
    labels, query = torch.randint(5, (4, 6, 6), device=GPU), torch.tensor([[0, 1]] * 4, device=GPU)
    losses = losses_of(model, lambda: compiled(labels, query), 40)
    assert losses[-1] < 0.6 * losses[0]


def recorded(run):
    """Returns a CUDA graph that contains run(), and the result of run(), which each replay writes again."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = run()
    return graph, result


def new_numbers(tensors):
    with torch.no_grad():
        for t in tensors:
            t.copy_(torch.randn_like(t))


@pytest.mark.parametrize("n", [5, 12, 40])
def test_a_cuda_graph_holds_a_call_and_its_gradients(n):
    x = nodes(3, n, 2, 8, dtype=torch.float32)
    graph, result = recorded(lambda: gradients(triangular_attention, x))
    for _ in range(3):
        new_numbers(x)
        graph.replay()
        assert_alike(result, gradients(by_einsum, [t.detach().double().requires_grad_() for t in x]), 5e-5)


def test_a_cuda_graph_holds_graphs_of_different_sizes():
    sizes = [g % 7 for g in range(250)]
    offsets = torch.from_numpy(np.cumsum([0, *(n * n for n in sizes)]))
    x = tensors(int(offsets[-1]), 2, 6, dtype=torch.float32)
    call = lambda *t: triangular_attention(*t, offsets=offsets)
    graph, result = recorded(lambda: gradients(call, x))
    for _ in range(3):
        new_numbers(x)
        graph.replay()
        assert_alike(result, gradients(call, x), 0)


def test_a_cuda_graph_draws_another_mask_in_each_replay():
    x = nodes(2, 6, 2, 4, dtype=torch.float32, grad=False)
    graph, y = recorded(lambda: triangular_attention(*x, dropout_p=0.5))
    drawn = []
    for _ in range(2):
        graph.replay()
        drawn.append(y.clone())
    assert not torch.equal(*drawn)


def test_a_cuda_graph_holds_fuse_attention_and_trees():
    u, states = tensors(3, 2, 4, count=1)[0], tensors(3, 3, 4, count=1)[0]
    roles = Roles.gather(3)
    tree = torch.randn(2, roles.count, 5, device=GPU, requires_grad=True)

    def run():
        mixed, kept = fuse_attention(u, states)
        moved = cons(roles, [cdr(roles, tree), car(roles, tree)], root(roles, tree))
        loss = (mixed ** 2).sum() + kept.sum() + (moved ** 3).sum()
        return [loss, *torch.autograd.grad(loss, (u, states, tree))]

    graph, result = recorded(run)
    for _ in range(2):
        new_numbers((u, states, tree))
        graph.replay()
        assert_alike(result, run(), 1e-6)


def test_a_layer_trains_as_a_graphed_callable():
    layer = EdgeTransformerLayer(16, 2).to(GPU)
    other = copy.deepcopy(layer)
    x = torch.randn(4, 6, 6, 16, device=GPU, requires_grad=True)
    graphed = torch.cuda.make_graphed_callables(layer, (x,))
    for _ in range(3):
        new_numbers([x])
        assert_alike(*[[y := module(x), *torch.autograd.grad(y.square().sum(), [x, *module.parameters()])]
                       for module in (graphed, other)], 5e-5)


def test_it_compiles_into_cuda_graphs(monkeypatch):
    replays = []
    replay = torch.cuda.CUDAGraph.replay
    monkeypatch.setattr(torch.cuda.CUDAGraph, "replay", lambda graph: (replays.append(graph), replay(graph))[1])
    x = nodes(2, 6, 2, 4, dtype=torch.float32)
    f = lambda *t: triangular_attention(*t) * 2
    torch._dynamo.reset()
    compiled = torch.compile(f, mode="reduce-overhead", fullgraph=True)
    for _ in range(4):
        torch.compiler.cudagraph_mark_step_begin()
        new_numbers(x)
        replays.clear()
        assert_alike([t.clone() for t in gradients(compiled, x)], gradients(f, x), 1e-5)
    assert len(replays) >= 2  # forward and backward


def test_large_graphs_store_no_triangle():
    """For n = 256, one number for each triangle and channel would take 4 GB."""
    x = nodes(1, 256, 4, 16, dtype=torch.float32)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    y = triangular_attention(*x)
    y.sum().backward()
    assert torch.cuda.max_memory_allocated() - before < 400 * 2 ** 20
    q, k, v1, v2 = (t[0, :, :, 0].detach().double() for t in x)
    i, j = 17, 201
    p = ((q[i] * k[:, j]).sum(-1) / 4).softmax(0)
    assert_alike([y[0, i, j, 0]], [(p[:, None] * v1[i] * v2[:, j]).sum(0)], 2e-5)
