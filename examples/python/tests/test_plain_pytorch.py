"""Compares modules whose projections were changed with the same equations in plain PyTorch.

The plain modules call every projection.  Most tests make some steps of training, and compare values and
gradients of each step."""
import copy
import warnings
from unittest import mock

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations, parametrize, prune

import triad_torch
from adapter import Adapter
from triad_torch import EdgeTransformerLayer, FuseAttention, TriangularAttention
from triad_torch._formulas import EinsumAttention

WIDTH, HEADS = 8, 2


@pytest.fixture(autouse=True, params=["onednn", "pytorch"])
def _products(request):
    """Runs each test with both libraries of products."""
    before = triad_torch.products()
    try:
        triad_torch.products(request.param)
    except ValueError as error:
        pytest.skip(str(error))
    yield
    triad_torch.products(before)


class PlainFuseAttention(nn.Module):
    """Replaces a FuseAttention.  Computes equations 9 and 10 of LRF with a key and a value for each state."""

    def __init__(self, ours):
        super().__init__()
        self.heads = ours.heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = ours.q_proj, ours.k_proj, ours.v_proj, ours.out_proj

    def forward(self, x, states):
        q, k, v = (y.unflatten(-1, (self.heads, -1)) for y in (self.q_proj(x), self.k_proj(states),
                                                               self.v_proj(states)))
        p = torch.einsum("...hk,l...hk->l...h", q, k).mul(q.shape[-1] ** -0.5).softmax(0)
        return self.out_proj(torch.einsum("l...h,l...hk->...hk", p, v).reshape(x.shape))


def triangular():
    x, mask = torch.randn(2, 5, 5, WIDTH), torch.rand(2, 5, 5, 5) > 0.2
    return TriangularAttention(WIDTH, HEADS, bias=True), EinsumAttention, "linears.{}", (0, 1, 2, 3, 5), [x, mask]


def layer():
    def plain(module):
        module.edge_attention = EinsumAttention(module.edge_attention)
        return module
    return (EdgeTransformerLayer(WIDTH, HEADS), plain, "edge_attention.linears.{}", (0, 1, 2, 3, 5),
            [torch.randn(2, 5, 5, WIDTH)])


def fuse():
    return (FuseAttention(WIDTH, HEADS), PlainFuseAttention, "{}_proj", ("q", "k", "v", "out"),
            [torch.randn(5, 2, WIDTH), torch.randn(3, 5, 2, WIDTH)])


every_module = pytest.mark.parametrize("make", [triangular, layer, fuse], ids=lambda make: make.__name__)


class Scaled(nn.Linear):
    """A subclass of nn.Linear that multiplies its result by a parameter."""

    def __init__(self, base):
        super().__init__(WIDTH, WIDTH, base.bias is not None)
        self.scale = nn.Parameter(torch.randn(WIDTH))

    def forward(self, x):
        return super().forward(x) * self.scale


class Halved(nn.Module):
    """A parametrization by half of the weight."""

    def forward(self, weight):
        return weight / 2


def changed(change):
    """Returns a function that changes a layer in place by `change` and returns it."""
    def make(part):
        change(part)
        return part
    return make


def replace_forward(part):
    original = part.forward
    part.forward = lambda x: original(x).tanh()


KINDS = {
    "plain": lambda part: part,
    "adapter": Adapter,
    "subclass": Scaled,
    "sequence": lambda part: nn.Sequential(part, nn.Tanh()),
    "forward hook": changed(lambda part: part.register_forward_hook(lambda part, inputs, y: y.tanh())),
    "forward pre-hook": changed(lambda part: part.register_forward_pre_hook(lambda part, inputs: inputs[0].tanh())),
    "hook with keywords": changed(lambda part: part.register_forward_hook(lambda part, inputs, keywords, y: y.tanh(),
                                                                          with_kwargs=True)),
    "backward hook": changed(lambda part: part.register_full_backward_hook(lambda part, dx, dy: tuple(
        None if d is None else d * 2 for d in dx))),
    "backward pre-hook": changed(lambda part: part.register_full_backward_pre_hook(lambda part, dy: tuple(
        None if d is None else d * 2 for d in dy))),
    "replaced forward": changed(replace_forward),
    "pruning": lambda part: prune.l1_unstructured(part, "weight", 0.5),
    "structured pruning": lambda part: prune.ln_structured(part, "weight", 0.5, n=2, dim=0),
    "parametrization": changed(lambda part: parametrize.register_parametrization(part, "weight", Halved())),
    "orthogonal": parametrizations.orthogonal,
    "weight norm": parametrizations.weight_norm,
    "spectral norm": parametrizations.spectral_norm,
    "older weight norm": nn.utils.weight_norm,
    "older spectral norm": nn.utils.spectral_norm}


def both(make, change, which=slice(None)):
    """Returns our module, the plain one, and the inputs of both.  Both have the same weights and the same changes."""
    modules = []
    for is_plain in (False, True):
        torch.manual_seed(1)
        module, plain, path, names, inputs = make()
        for name in names[which]:
            holder, _, last = path.format(name).rpartition(".")
            holder = module.get_submodule(holder)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the older norms are deprecated
                setattr(holder, last, change(getattr(holder, last)))
        modules.append(plain(module) if is_plain else module)
    return *modules, inputs


def close(ours, theirs, tolerance, scale=None):
    scale = float(theirs.detach().abs().max()) if scale is None else scale
    assert float((ours - theirs).detach().abs().max()) <= tolerance * max(scale, 1e-3)


def steps(ours, theirs, inputs, dtype, tolerance):
    """Makes three steps with both modules, and compares them."""
    cast = lambda t: t.to(dtype) if t.is_floating_point() else t
    results = []
    for module in (ours.to(dtype), theirs.to(dtype)):
        torch.manual_seed(2)
        values, optimiser = [], torch.optim.SGD([p for p in module.parameters() if p.requires_grad], 0.1)
        x, *others = [cast(t) for t in inputs]
        for _ in range(3):
            x = x.detach().requires_grad_()
            y = module(x, *others)
            optimiser.zero_grad()
            y.square().mean().backward()
            gradients = {name: p.grad for name, p in module.named_parameters() if p.requires_grad}
            values.append((y.detach(), {"x": x.grad, **{n: None if g is None else g.clone() for n, g in
                                                        gradients.items()}}))
            optimiser.step()
        with torch.no_grad():
            values.append((module.eval()(x, *others), {}))
        results.append(values)
    for (y, gradients), (of_y, of_gradients) in zip(*results):
        close(y, of_y, tolerance)
        assert gradients.keys() == of_gradients.keys()
        scale = max([float(g.abs().max()) for g in of_gradients.values() if g is not None], default=0)
        for name, of_plain in of_gradients.items():
            if of_plain is None:
                assert gradients[name] is None or not gradients[name].any(), name
            else:
                assert gradients[name] is not None, name
                close(gradients[name], of_plain, tolerance, scale)


@every_module
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 1e-6)], ids=["f64", "f32"])
def test_changed_projections_train_as_in_plain_pytorch(make, kind, dtype, tolerance):
    steps(*both(make, KINDS[kind]), dtype, tolerance)


@pytest.mark.parametrize("make, which", [(make, k) for make, count in ((triangular, 5), (fuse, 4))
                                         for k in range(count)])
@pytest.mark.parametrize("kind", ["adapter", "pruning", "forward hook"])
def test_one_changed_projection_is_enough(make, which, kind):
    steps(*both(make, KINDS[kind], slice(which, which + 1)), torch.float32, 1e-6)


@pytest.mark.parametrize("holder, name", [(nn.Linear, "forward"), (F, "linear")], ids=["nn.Linear.forward", "F.linear"])
@every_module
def test_a_product_that_a_program_replaced_computes_every_projection(make, holder, name):
    original = getattr(holder, name)
    ours, theirs, inputs = both(make, KINDS["plain"])
    before = ours(*inputs)
    with mock.patch.object(holder, name, lambda *arguments: original(*arguments).tanh()):
        assert float((ours(*inputs) - before).detach().abs().max()) > 1e-2
        steps(ours, theirs, inputs, torch.float32, 1e-6)
    assert torch.equal(both(make, KINDS["plain"])[0](*inputs), before)  # and no longer


@every_module
@pytest.mark.parametrize("kind", [torch.qint8, torch.float16], ids=["qint8", "float16"])
def test_dynamic_quantisation_is_that_of_plain_pytorch(make, kind):
    *modules, inputs = both(make, KINDS["plain"])
    results = []
    for module in modules:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                quantised = torch.ao.quantization.quantize_dynamic(copy.deepcopy(module), {nn.Linear}, kind)
            # This PyTorch has no such layer, or no engine for this processor.
            except (AttributeError, RuntimeError) as error:
                pytest.skip(f"no dynamic quantisation: {error}")
        with torch.no_grad():
            results.append(quantised(*inputs))
            assert not torch.equal(results[-1], module(*inputs))
    close(*results, 1e-6)
