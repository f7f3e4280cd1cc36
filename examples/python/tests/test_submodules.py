"""Tests projections that do more than multiply by a weight: adapters, hooks, pruning, weight norms, quantised layers.

The modules read the weights of plain nn.Linear projections, and call all other projections."""
import copy
import warnings
from unittest import mock

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations, prune

from adapter import Adapter
from triad_torch import EdgeTransformerLayer, FuseAttention, TriangularAttention

WIDTH, HEADS = 8, 2


class Case:
    """A module, its inputs, and the names of the projections whose weights it reads."""

    def __init__(self, module, inputs, names):
        self.module, self.inputs, self.names = module, inputs, names

    def parts(self):
        return [self.module.get_submodule(name) for name in self.names]

    def replace(self, make):
        """Replaces every part by make(part)."""
        for name in self.names:
            parent, _, last = name.rpartition(".")
            holder = self.module.get_submodule(parent)
            setattr(holder, last, make(getattr(holder, last)))
        return self

    def __call__(self):
        return self.module(*self.inputs)


def triangular(**how):
    names = ["linears.0", "linears.1", "linears.2", "linears.3"]
    return Case(TriangularAttention(WIDTH, HEADS, **how), [torch.randn(2, 4, 4, WIDTH)], names)


def value_ablation():
    names = ["linears.0", "linears.1", "linears.2"]
    return Case(TriangularAttention(WIDTH, HEADS, bias=True, form="value_ablation"), [torch.randn(1, 3, 3, WIDTH)],
                names)


def flat():
    return Case(TriangularAttention(WIDTH, HEADS, form="flat"), [torch.randn(1, 3, 3, WIDTH)],
                ["linears.0", "linears.1", "linears.2"])


def layer():
    names = [f"edge_attention.linears.{k}" for k in range(4)]
    return Case(EdgeTransformerLayer(WIDTH, HEADS), [torch.randn(2, 4, 4, WIDTH)], names)


def fuse():
    return Case(FuseAttention(WIDTH, HEADS), [torch.randn(5, 2, WIDTH), torch.randn(3, 5, 2, WIDTH)],
                ["k_proj", "v_proj"])


every_module = pytest.mark.parametrize("make", [triangular, value_ablation, flat, layer, fuse],
                                       ids=lambda make: make.__name__)


class Called(nn.Module):
    """Computes the same as the base layer, but is not an nn.Linear, so the module must call it."""

    def __init__(self, base):
        super().__init__()
        self.base = base

    def forward(self, x):
        return self.base(x)


def gradients(case):
    case.module.zero_grad()
    case().square().sum().backward()
    return [parameter.grad for parameter in case.module.parameters()]


@every_module
def test_called_projections_are_those_of_the_weights(make):
    torch.set_default_dtype(torch.float64)
    try:
        case = make()
    finally:
        torch.set_default_dtype(torch.float32)
    by_weights, of_weights = case(), gradients(case)
    case.replace(Called)
    assert torch.allclose(case(), by_weights, rtol=1e-10, atol=1e-12)
    for ours, theirs in zip(gradients(case), of_weights):
        assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-11)


@every_module
def test_an_adapter_takes_part_and_learns(make):
    case = make()
    before = case()
    case.replace(Adapter)
    assert not torch.allclose(case(), before)
    case().square().sum().backward()
    for part in case.parts():
        assert part.base.weight.grad is None
        assert part.up.weight.grad.abs().max() > 0 and part.down.weight.grad.abs().max() > 0
    merged = copy.deepcopy(case)
    with torch.no_grad():
        merged.replace(lambda part: part.base)
        for part, adapter in zip(merged.parts(), case.parts()):
            part.weight += adapter.up.weight @ adapter.down.weight
    assert torch.allclose(case(), merged(), atol=1e-5)


@every_module
@pytest.mark.parametrize("kind", ["forward_hook", "forward_pre_hook", "full_backward_hook", "full_backward_pre_hook"])
def test_hooks_of_a_projection_run(make, kind):
    case, seen = make(), []
    handles = [getattr(part, f"register_{kind}")(lambda part, *_: seen.append(part)) for part in case.parts()]
    case.inputs[0].requires_grad_()
    case().sum().backward()
    assert {id(part) for part in seen} == {id(part) for part in case.parts()}
    seen.clear()
    for handle in handles:
        handle.remove()
    case().sum().backward()
    assert not seen


@every_module
@pytest.mark.parametrize("kind", ["forward_hook", "forward_pre_hook", "full_backward_hook", "full_backward_pre_hook"])
def test_hooks_of_all_modules_see_every_projection(make, kind):
    case, seen = make(), []
    case.inputs[0].requires_grad_()
    handle = getattr(nn.modules.module, f"register_module_{kind}")(lambda part, *_: seen.append(part))
    try:
        case().sum().backward()
    finally:
        handle.remove()
    assert {id(part) for part in case.parts()} <= {id(part) for part in seen}


@every_module
def test_a_hook_that_changes_what_a_projection_gives_is_obeyed(make):
    case = make()
    before = case()
    case.parts()[-1].register_forward_hook(lambda part, inputs, y: y * 0)
    assert not torch.allclose(case(), before)


@every_module
def test_a_mask_of_pruning_is_applied_to_new_weights(make):
    case = make()
    for part in case.parts():
        prune.l1_unstructured(part, "weight", 0.5)
    optimiser = torch.optim.SGD(case.module.parameters(), 0.1)
    for _ in range(2):
        gradients(case)
        optimiser.step()
    with torch.no_grad():
        now = case()
        for part in case.parts():
            assert (part.weight_orig.grad[part.weight_mask == 0] == 0).all()
            prune.remove(part, "weight")  # now weight is a parameter that has the mask applied
        assert torch.allclose(case(), now, atol=1e-6)


@every_module
@pytest.mark.parametrize("norm", [nn.utils.weight_norm, nn.utils.spectral_norm, parametrizations.weight_norm,
                                  parametrizations.spectral_norm],
                         ids=["weight_norm", "spectral_norm", "parametrized_weight_norm", "parametrized_spectral_norm"])
def test_norms_of_weights_learn(make, norm):
    case = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the two older functions are deprecated
        case.replace(norm)
    parameters = [p for part in case.parts() for name, p in part.named_parameters() if "bias" not in name]
    optimiser, values = torch.optim.SGD(case.module.parameters(), 1e-3), []
    for _ in range(3):
        optimiser.zero_grad()
        loss = case().square().mean()
        loss.backward()  # a second step, which must not reuse results of the first
        assert all(p.grad is not None and p.grad.abs().max() > 0 for p in parameters)
        optimiser.step()
        values.append(float(loss.detach()))
    assert values[2] < values[0]


def quantised(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return torch.ao.quantization.quantize_dynamic(module, {nn.Linear}, torch.qint8)
        # This PyTorch has no such layer, or no engine for this processor.
        except (AttributeError, RuntimeError) as error:
            pytest.skip(f"no dynamic quantisation: {error}")


@every_module
def test_a_quantised_module_answers(make):
    case = make()
    with torch.no_grad():
        expected = case()
        case.module = quantised(case.module)
        assert all(type(part) is not nn.Linear for part in case.parts())
        found = case()
    assert not torch.equal(found, expected)
    assert float((found - expected).abs().max()) < 0.1 * float(expected.abs().max())


@every_module
def test_a_forward_that_was_replaced_is_called(make):
    case, seen = make(), []
    for part in case.parts():
        original = part.forward
        part.forward = lambda x, original=original: seen.append(1) or original(x)
    case()
    assert len(seen) == len(case.parts())


@every_module
def test_plain_projections_are_not_called(make):
    case, called = make(), []
    call = nn.Linear.__call__
    with mock.patch.object(nn.Linear, "__call__", lambda self, *of: called.append(self) or call(self, *of)):
        case()
        assert not {id(part) for part in called} & {id(part) for part in case.parts()}
        case.parts()[0].register_forward_hook(lambda *_: None)
        case()
        assert {id(part) for part in case.parts()} <= {id(part) for part in called}


def test_projections_with_and_without_a_bias_stand_side_by_side():
    case = triangular()
    case.module.linears["1"] = nn.Linear(WIDTH, WIDTH)
    case().sum().backward()
    assert case.module.linears["1"].bias.grad is not None
    fused = fuse()
    fused.replace(lambda part: nn.Linear(WIDTH, WIDTH, bias=False))
    expected = copy.deepcopy(fused).replace(Called)
    assert torch.allclose(fused(), expected())


@every_module
def test_other_weights_for_one_call_are_read(make):
    case = make()
    others = {name: parameter * 2 for name, parameter in case.module.named_parameters()}
    found = torch.func.functional_call(case.module, others, tuple(case.inputs))
    with torch.no_grad():
        for parameter in case.module.parameters():
            parameter *= 2
    assert torch.equal(found, case())


def test_an_adapter_compiles_and_stays_in_one_graph():
    for make in (triangular, fuse):
        case = make().replace(Adapter)
        compiled = torch.compile(case.module, fullgraph=True)
        assert torch.allclose(compiled(*case.inputs), case(), atol=1e-5)


class Packed(torch.Tensor):
    """A weight that is stored as whole numbers with a scale, as in quantised layers.  Its only operator is the
    product."""

    @staticmethod
    def __new__(cls, numbers, scale):
        return torch.Tensor._make_wrapper_subclass(cls, numbers.shape, dtype=scale.dtype, device=scale.device)

    def __init__(self, numbers, scale):
        self.numbers, self.scale = numbers, scale

    def __repr__(self):  # used by PyTorch's log of compilations
        return f"Packed({tuple(self.shape)})"

    def __tensor_flatten__(self):
        return ["numbers", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, inner, context, size, stride):
        return cls(inner["numbers"], inner["scale"])

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is F.linear:
            x, weight, bias = [*args, *(kwargs or {}).values(), None][:3]
            return F.linear(x, weight.numbers.to(x.dtype) * weight.scale, bias)
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        if function is torch.ops.aten.detach.default:
            return cls(args[0].numbers, args[0].scale)
        raise NotImplementedError(f"Packed has no {function}")


def packed(part):
    """Returns the layer with its weight stored as whole numbers."""
    scale = part.weight.detach().abs().max() / 127
    numbers = (part.weight.detach() / scale).round().to(torch.int8)
    part.weight = nn.Parameter(Packed(numbers, scale), requires_grad=False)
    return part


@every_module
def test_weights_with_a_product_of_their_own_compile(make):
    torch.compiler.reset()
    case = make()
    expected = copy.deepcopy(case)
    with torch.no_grad():
        case.replace(packed)
        for part, ours in zip(expected.parts(), case.parts()):
            part.weight.copy_(ours.weight.numbers * ours.weight.scale)
        assert all(type(part) is nn.Linear and type(part.weight) is Packed for part in case.parts())
        assert torch.allclose(case(), expected(), atol=1e-5)
        compiled = torch.compile(case.module, fullgraph=True, backend="aot_eager")
        assert torch.allclose(compiled(*case.inputs), expected(), atol=1e-5)


def test_dropout_of_called_projections_has_the_gradient_of_its_mask():
    module = FuseAttention(4, 2, dropout=0.4).double()
    module.k_proj = Called(module.k_proj)
    x, states = (torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((3, 4), (3, 3, 4)))
    draw = lambda *t: module(*t, generator=torch.Generator().manual_seed(1))
    assert torch.equal(draw(x, states), draw(x, states))
    assert torch.autograd.gradcheck(draw, (x, states))


def test_a_projection_of_another_width_is_refused_by_name():
    case = triangular()
    for part in (nn.Linear(WIDTH, 5), Called(nn.Linear(WIDTH, 5))):
        case.module.linears["2"] = part
        with pytest.raises(ValueError, match=r"linears.2 gives shape \(2, 4, 4, 5\), expected .* \(2, 4, 4, 8\)"):
            case()
    case = fuse()
    case.module.v_proj = nn.Sequential(nn.Linear(WIDTH, 3))
    with pytest.raises(ValueError, match=r"v_proj gives shape \(3, 5, 2, 3\)"):
        case()
