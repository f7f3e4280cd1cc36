"""Compares modules whose projections and triangles are one call of oneDNN's kernels with the modules by PyTorch's
products."""
import copy
import os
import subprocess
import sys
from unittest import mock

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations

import triad_torch
from triad_torch import EdgeTransformerLayer, TriangularAttention, _operators, _products, products

needs_onednn = pytest.mark.skipif(bool(_products.refused), reason=f"no oneDNN here: {_products.refused}")
FORMS = ["full", "value_ablation", "attention_ablation", "both_ablations", "flat"]


@pytest.fixture(autouse=True)
def _default_products():
    products("auto")
    yield
    products("auto")


def results(by, module, x, dy, **how):
    """Returns the result and all gradients of a module by these products."""
    products(by)
    torch.manual_seed(3)
    module.zero_grad()
    x = x.detach().requires_grad_()
    y = module(x, **how)
    y.backward(dy.to(y.dtype))
    return [y.detach(), x.grad, *(parameter.grad for parameter in module.parameters())]


def assert_near(found, expected, tolerance):
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert a.shape == b.shape
        least = 1 if b.dim() == 1 else 1e-3  # the terms of a bias's gradient may cancel out
        assert float((a.double() - b.double()).abs().max()) <= tolerance * max(float(b.abs().max()), least)


def operators_called(f):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU]) as found:
        f()
    return {event.key for event in found.key_averages()}


def is_one_call(module, x):
    called = operators_called(lambda: module(x))
    assert ("triad::attention" in called) != ("triad::triangle_stacked" in called)
    return "triad::attention" in called


def inputs(batch=2, n=7, width=48):
    return torch.randn(batch, n, n, width), torch.randn(batch, n, n, width)


def mask_of(batch=2, n=7):
    return torch.rand(batch, n, n, n) > 0.3


CASES = {
    "plain": (dict(), dict()),
    "bias": (dict(bias=True), dict()),
    "dropout": (dict(dropout=0.4), dict()),
    "mask": (dict(bias=True), dict(mask=True)),
    "causal": (dict(), dict(causal_sources=3)),
    **{form: (dict(form=form, bias=True), dict()) for form in FORMS[1:]},
}


@needs_onednn
@pytest.mark.parametrize("case", CASES)
def test_one_call_gives_what_the_operators_give(case):
    of_module, how = CASES[case]
    if how.get("mask"):
        how = dict(mask=mask_of())
    module, (x, dy) = TriangularAttention(48, 4, **of_module), inputs()
    exact = results("pytorch", copy.deepcopy(module).double(), x.double(), dy.double(), **how)
    found = results("onednn", module, x, dy, **how)
    assert is_one_call(module, x)
    assert_near(found, exact, 1e-6)
    assert_near(found, results("pytorch", module, x, dy, **how), 2e-6)


@needs_onednn
@pytest.mark.parametrize("shape", [(1, 1, 48), (3, 2, 8), (400, 5, 40), (1, 50, 64)], ids=str)
def test_every_size_gives_what_the_operators_give(shape):
    batch, n, width = shape
    module, (x, dy) = TriangularAttention(width, 4, bias=True), inputs(*shape)
    exact = results("pytorch", copy.deepcopy(module).double(), x.double(), dy.double())
    # Without other nodes, the scores have no gradient.
    assert_near(results("onednn", module, x, dy), exact, 2e-6 if n > 1 else 1e-4)


@needs_onednn
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", ["bfloat16", "autocast", "autocast of bfloat16"])
def test_bfloat16_is_as_exact_as_pytorchs(kind, bias):
    module, (x, dy) = TriangularAttention(64, 4, bias=bias), inputs(3, 12, 64)
    if kind != "autocast":
        x, dy = x.bfloat16(), dy.bfloat16()
    if kind == "bfloat16":
        module = module.bfloat16()
    dy = dy.bfloat16()
    exact = results("pytorch", copy.deepcopy(module).double(), x.double(), dy.double())
    both = []
    for by in ("onednn", "pytorch"):
        with torch.autocast("cpu", torch.bfloat16, enabled=kind != "bfloat16"):
            both.append(results(by, module, x, dy))
            assert is_one_call(module, x) == (by == "onednn")
    for found, theirs in zip(*both):
        assert found.dtype == theirs.dtype and found.shape == theirs.shape
    error = [[float((a.double() - b).abs().max() / b.abs().max()) for a, b in zip(found, exact)] for found in both]
    assert max(error[0]) < 2 ** -6 and sum(error[0]) <= 1.1 * sum(error[1])


@needs_onednn
def test_strides_do_not_matter():
    module = TriangularAttention(16, 2, bias=True)
    x, dy = inputs(2, 5, 16)
    expected = results("onednn", module, x, dy)
    turned = x.transpose(1, 2).contiguous().transpose(1, 2)
    assert all(torch.equal(a, b) for a, b in zip(results("onednn", module, turned, dy), expected))
    turned = dy.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
    assert all(torch.equal(a, b) for a, b in zip(results("onednn", module, x, turned), expected))
    with torch.no_grad():
        for part in module.linears.values():
            part.weight = nn.Parameter(part.weight.t().contiguous().t())
    assert all(torch.equal(a, b) for a, b in zip(results("onednn", module, x, dy), expected))
    x = x.requires_grad_()
    expanded = torch.autograd.grad(module(x).sum(), x)[0]
    assert torch.equal(expanded, torch.autograd.grad(module(x), x, torch.ones(2, 5, 5, 16))[0])


@needs_onednn
def test_threads_do_not_change_a_bit():
    module, (x, dy) = TriangularAttention(40, 4, bias=True), inputs(90, 5, 40)
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append(results("onednn", module, x, dy))
        for other in found[1:]:
            assert all(torch.equal(a, b) for a, b in zip(found[0], other))
    finally:
        torch.set_num_threads(before)


@needs_onednn
def test_gradients_that_nobody_needs_are_left_out():
    module, (x, _) = TriangularAttention(16, 2), inputs(1, 4, 16)
    module(x).sum().backward()
    expected = [parameter.grad for parameter in module.parameters()]
    module.zero_grad()
    x.requires_grad_()
    module(x).sum().backward()
    assert all(torch.equal(a, b.grad) for a, b in zip(expected, module.parameters()))
    gradient, x.grad = x.grad, None
    module.requires_grad_(False)
    module(x).sum().backward()
    assert torch.equal(x.grad, gradient)
    with torch.no_grad():
        assert not module(x).requires_grad


@needs_onednn
def test_what_one_call_would_ignore_goes_another_way():
    x, _ = inputs(1, 4, 16)

    def module_with(change):
        module = TriangularAttention(16, 2, bias=True)
        change(module.linears["5"])
        return module
    assert is_one_call(module_with(lambda part: None), x)
    for change in (lambda part: part.register_forward_hook(lambda *_: None),
                   lambda part: part.register_forward_pre_hook(lambda *_: None),
                   lambda part: part.register_full_backward_hook(lambda *_: None),
                   parametrizations.weight_norm,
                   lambda part: part.register_parameter("bias", None),
                   lambda part: setattr(part, "forward", lambda t: nn.Linear.forward(part, t)),
                   lambda part: setattr(part, "weight", nn.Parameter(part.weight.data.as_subclass(Named)))):
        assert not is_one_call(module_with(change), x)
    replaced = TriangularAttention(16, 2)
    replaced.linears["5"] = nn.Sequential(replaced.linears["5"])
    assert not is_one_call(replaced, x)
    module = TriangularAttention(16, 2)
    handle = nn.modules.module.register_module_forward_hook(lambda *_: None)
    try:
        assert not is_one_call(module, x)
    finally:
        handle.remove()
    with mock.patch.object(nn.Linear, "forward", lambda part, t: F.linear(t, part.weight, part.bias)):
        assert not is_one_call(module, x)
    assert not is_one_call(module.double(), x.double())
    assert not is_one_call(module.half(), x.half())
    with torch.autocast("cpu", torch.float16):
        assert not is_one_call(module.float(), x)


class Named(torch.Tensor):
    """A class of tensors that may have a product of its own."""


@needs_onednn
def test_a_hook_of_the_output_projection_changes_the_result():
    module, (x, _) = TriangularAttention(16, 2), inputs(1, 4, 16)
    y = module(x)
    module.linears["5"].register_forward_hook(lambda part, given, result: result * 2)
    assert torch.allclose(module(x), 2 * y, atol=1e-5)


@needs_onednn
def test_types_that_do_not_fit_are_refused_as_by_pytorch():
    module, (x, _) = TriangularAttention(16, 2), inputs(1, 4, 16)
    for by in ("onednn", "pytorch"):
        products(by)
        with pytest.raises(RuntimeError, match="dtype"):
            module(x.bfloat16())


@needs_onednn
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_it_compiles_into_one_graph(dtype):
    torch.compiler.reset()
    module, (x, dy) = TriangularAttention(48, 4, bias=True).to(dtype), inputs()
    x, dy = x.to(dtype), dy.to(dtype)
    compiled = torch.compile(module, fullgraph=True)
    assert_near(results("onednn", compiled, x, dy), results("onednn", module, x, dy), 0)
    assert is_one_call(compiled, x)
    with torch.autocast("cpu", torch.bfloat16):
        assert_near(results("onednn", compiled, x, dy), results("onednn", module, x, dy), 0)
    products("pytorch")
    assert not is_one_call(compiled, x)


@needs_onednn
def test_one_compiled_graph_takes_every_number_of_nodes():
    torch.compiler.reset()
    layer = EdgeTransformerLayer(16, 2).eval()
    compiled = torch.compile(layer, fullgraph=True, dynamic=True)
    for n in (4, 7, 9):
        x = torch.randn(2, n, n, 16)
        assert torch.allclose(compiled(x), layer(x), atol=1e-5)


@needs_onednn
def test_an_exported_program_needs_no_onednn():
    module, (x, _) = TriangularAttention(16, 2).eval(), inputs(2, 4, 16)
    program = torch.export.export(module, (x,))
    names = {str(node.target) for node in program.graph.nodes}
    assert "triad.triangle_stacked.default" in names and "triad.attention.default" not in names
    assert torch.allclose(program.module()(x), module(x), atol=1e-6)


def operands(dtype=torch.float32, biased=True, right=True, grad=True):
    def of(*shape):
        return torch.randn(shape, dtype=dtype, requires_grad=grad)
    nothing = torch.empty(0, dtype=torch.int64)
    weights = [of(8, 8), of(8, 8), of(8, 8), of(8 if right else 0, 8), of(8, 8)]
    how = (nothing, torch.empty(0, dtype=torch.bool), nothing, nothing, 4, 0 if right else 1, -1e9, 0.0)
    return [of(32, 8), *weights, of(5 if right else 4, 8) if biased else torch.empty(0, dtype=dtype), *how, 2]


@needs_onednn
@pytest.mark.parametrize("biased, right", [(True, True), (False, True), (True, False)])
def test_the_operator_keeps_pytorchs_rules(biased, right):
    for dtype, rounds in ((torch.float32, 0), (torch.float32, 1), (torch.bfloat16, 1)):
        given = [*operands(dtype, biased, right), rounds]
        torch.library.opcheck(torch.ops.triad.attention.default, given, rtol=2e-2, atol=2e-2)
        with torch.no_grad():
            y, saved = _operators.attention(*given)
            for with_x in (0, 1):
                torch.library.opcheck(torch.ops.triad.attention_grad.default,
                                      [torch.ones_like(y), saved, *[t.detach() if isinstance(t, torch.Tensor) else t
                                                                    for t in given], with_x])


@needs_onednn
@pytest.mark.skipif(torch.__version__ < "2.11", reason="PyTorch 2.10 takes no memory of others")
def test_what_is_saved_has_the_memory_of_the_step_before():
    def saved_by(rows):
        with torch.no_grad():
            _, saved = _operators.attention(torch.randn(rows, 64), *torch.randn(5, 64, 64), torch.empty(0),
                                            *operands()[7:11], 1, 0, -1e9, 0.0, 4, 0)
        return saved
    first, second = saved_by(2000), saved_by(2000)
    addresses = {first.data_ptr(), second.data_ptr()}
    assert len(addresses) == 2
    del first, second
    again = [saved_by(2000), saved_by(1990)]
    assert {saved.data_ptr() for saved in again} == addresses
    again[0].zero_()
    assert again[1].abs().max() > 0


@needs_onednn
def test_memory_of_many_sizes_goes_back_to_the_system():
    from triad_torch._memory import forget_peak, peak_mib
    module = TriangularAttention(64, 4)
    forget_peak()
    before = peak_mib()
    with torch.no_grad():
        for n in range(20, 260, 4):  # these save 1.8 GiB together
            module(torch.zeros(1, n, n, 64))
    assert peak_mib() - before < 1000


@needs_onednn
def test_wrong_operands_are_refused_in_a_sentence():
    def refused(says, k, value):
        given = [*operands(grad=False), 0]
        given[k] = value
        with pytest.raises(RuntimeError, match=says):
            torch.ops.triad.attention(*given)
    refused(r"weight 0 is \(8, 8\), expected the width of x, \(32, 10\)", 0, torch.randn(32, 10))
    refused("weight 2 is", 3, torch.randn(8, 9))
    refused("a weight has another element type", 2, torch.randn(8, 8, dtype=torch.bfloat16))
    refused("another element type, expected float32 or bfloat16", 0, torch.randn(32, 8).half())
    refused("the bias is", 6, torch.randn(4, 8))
    refused("3 heads, expected a divisor", -2, 3)
    refused("expected .rows, width. with rows", 0, torch.randn(0, 8))
    refused("have 32 edges, and there are 33 rows", 0, torch.randn(33, 8))


@needs_onednn
def test_second_derivatives_are_refused_by_name():
    module, (x, _) = TriangularAttention(8, 2), inputs(1, 3, 8)
    x.requires_grad_()
    (dx,) = torch.autograd.grad(module(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="attention has no second derivative"):
        dx.sum().backward()


@needs_onednn
@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_computes_again_with_the_mask_that_it_drew(reentrant):
    from torch.utils.checkpoint import checkpoint
    module, (x, dy) = TriangularAttention(16, 2, dropout=0.5), inputs(1, 4, 16)
    through = nn.Module()
    through.inner, through.forward = module, lambda t: checkpoint(module, t, use_reentrant=reentrant)
    for a, b in zip(results("onednn", through, x, dy), results("onednn", module, x, dy)):
        assert torch.equal(a, b)


@needs_onednn
def test_a_layer_trains_as_by_pytorchs_products():
    first = EdgeTransformerLayer(32, 4, dropout=0.1)
    x, target = inputs(2, 6, 32)
    losses = {}
    for by in ("onednn", "pytorch"):
        products(by)
        torch.manual_seed(1)
        layer = copy.deepcopy(first)
        optimiser = torch.optim.SGD(layer.parameters(), 0.1)
        losses[by] = []
        for _ in range(8):
            optimiser.zero_grad()
            loss = nn.functional.mse_loss(layer(x), target)
            loss.backward()
            optimiser.step()
            losses[by].append(float(loss.detach()))
    assert losses["onednn"][-1] < losses["onednn"][0]
    assert all(abs(a - b) < 1e-4 * b for a, b in zip(*losses.values()))


def test_who_computes_can_be_asked_and_chosen():
    assert products() == products("auto") == ("pytorch" if _products.refused else "onednn")
    assert products("pytorch") == products() == "pytorch"
    with pytest.raises(ValueError, match="by is 'mkl', expected 'auto', 'onednn' or 'pytorch'"):
        products("mkl")
    if _products.refused:
        with pytest.raises(ValueError, match="oneDNN cannot compute here"):
            products("onednn")
    else:
        assert products("onednn") == "onednn"


def test_kernels_for_older_processors_leave_products_to_pytorch():
    if "x86-64-v3" not in triad_torch._kernels.built():
        pytest.skip("no kernels for x86-64-v3")
    text = "import triad_torch as t; print(t.products(), t._products.refused)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                          env={**os.environ, "TRIAD_TORCH_INSTRUCTIONS": "x86-64-v3"})
    assert done.returncode == 0 and done.stdout.startswith("pytorch "), done.stderr
