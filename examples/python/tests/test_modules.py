"""Compares modules with golden vectors of the released programs. Also tests the released layer with its attention
replaced."""
import copy
import io
import json

import pytest
import torch
from torch import nn

from conftest import close, losses_of
from triad_torch import EdgeTransformer, EdgeTransformerLayer, FuseAttention, TriangularAttention, fuse_attention
from triad_torch._formulas import EinsumAttention
from triad_torch.runs import read_safetensors


def test_the_released_model_of_clutrr_loads_and_agrees(golden_files):
    for path in golden_files("et_clutrr"):
        tensors, texts = read_safetensors(path)
        c = json.loads(texts["config"])
        form = ("flat" if c["flat"] else "value_ablation" if c["value_ablation"]
                else "attention_ablation" if c["attention_ablation"] else "full")
        labels, width = tensors["param/encoder.embedding.weight"].shape
        targets, _ = tensors["param/decoder2vocab.3.weight"].shape
        hidden, _ = tensors["param/encoder.layers.0.linear1.weight"].shape
        model = EdgeTransformer(labels, targets, width, c["heads"], c["layers"], hidden, 0.0, c["tied"],
                                form=form).double()
        model.load_state_dict({n.removeprefix("param/"): t for n, t in tensors.items() if n.startswith("param/")})
        logits = model(tensors["in/batched_graphs"], tensors["in/query_edges"], tensors["in/pad_mask"].bool())
        close(logits, tensors["out/logits"])
        loss = nn.functional.cross_entropy(logits, tensors["in/query_labels"])
        loss.backward()
        of = {name: t for name, t in tensors.items() if name.startswith("grad/param/")}
        scale = max(float(t.abs().max()) for t in of.values())
        for name, parameter in model.named_parameters():
            close(parameter.grad, of[f"grad/param/{name}"], scale=scale)


def test_a_layer_of_the_released_programs_agrees(golden_files):
    for path in golden_files("et_layer"):
        tensors, texts = read_safetensors(path)
        c = json.loads(texts["config"])
        if c.get("flat") or "in/pad_mask" in tensors and c.get("fill", -1e9) != -1e9:
            continue
        weights = {n.removeprefix("param/"): t for n, t in tensors.items() if n.startswith("param/")}
        bias = any(".bias" in n and "linears" in n for n in weights)
        width = weights["norm1.weight"].shape[0]
        form = ("value_ablation" if c.get("value_ablation") else "attention_ablation" if c.get("attention_ablation")
                else "full")
        layer = EdgeTransformerLayer(width, c["heads"], weights["linear1.weight"].shape[0], 0.0, bias, form).double()
        layer.load_state_dict(weights, strict=False)
        mask = None
        if "in/pad_mask" in tensors:
            here = ~tensors["in/pad_mask"].bool()
            mask = here[:, :, None, None] & here[:, None, :, None] & here[:, None, None, :]
        if "in/mask4" in tensors:
            mask = ~tensors["in/mask4"].bool()
        x = tensors["in/x"].clone().requires_grad_()
        y = layer(x, mask)
        close(y, tensors["out/y"])
        if "cotangent/y" in tensors and "grad/in/x" in tensors and not [n for n in tensors if n.startswith("cotangent/")
                                                                       and n != "cotangent/y"]:
            y.backward(tensors["cotangent/y"])
            close(x.grad, tensors["grad/in/x"])
            for name, parameter in layer.named_parameters():
                close(parameter.grad, tensors[f"grad/param/{name}"],
                      scale=max(float(t.abs().max()) for n, t in tensors.items() if n.startswith("grad/")))


@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_a_layer_whose_attention_is_replaced_has_the_same_values_and_gradients(dtype, tolerance):
    layer = EdgeTransformerLayer(40, 4).to(dtype)
    theirs = EdgeTransformerLayer(40, 4).to(dtype)
    theirs.edge_attention = EinsumAttention(theirs.edge_attention)
    theirs.load_state_dict(layer.state_dict())
    x = torch.randn(2, 9, 9, 40, dtype=dtype, requires_grad=True)
    cotangent = torch.randn(2, 9, 9, 40, dtype=dtype)
    results = []
    for module in (layer, theirs):
        y = module(x)
        results.append([y, *torch.autograd.grad(y, [x, *module.parameters()], cotangent)])
    for a, b in zip(*results):
        close(a, b, tolerance=tolerance)


def test_names_are_those_of_the_released_program():
    names = set(EdgeTransformer(5, 3, 8, 2, 2).state_dict())
    assert "encoder.layers.0.edge_attention.linears.5.weight" in names
    assert not [n for n in names if n.startswith("encoder.layers.1.")]  # the layers are tied
    assert [n for n in EdgeTransformer(5, 3, 8, 2, 2, tied=False).state_dict() if n.startswith("encoder.layers.1.")]


def test_a_checkpoint_with_what_the_released_program_never_uses_loads():
    ours = TriangularAttention(8, 2)
    state = {**ours.state_dict(), "linears.4.weight": torch.randn(8, 8)}
    other = TriangularAttention(8, 2)
    other.load_state_dict(state)
    assert torch.equal(other.linears["5"].weight, ours.linears["5"].weight)
    of_cfq = {k.replace("5", "4"): v for k, v in ours.state_dict().items()}  # in CFQ, the output is linears.4
    other.load_state_dict(of_cfq)
    assert torch.equal(other.linears["5"].weight, ours.linears["5"].weight)
    with pytest.raises(RuntimeError, match="size mismatch"):
        other.load_state_dict({k: torch.randn(4, 4) for k in ours.state_dict()})


def test_modules_are_copied_pickled_and_saved():
    first = EdgeTransformer(5, 3, 8, 2, 2, dropout=0.0).eval()
    file = io.BytesIO()
    torch.save(first, file)
    file.seek(0)
    labels, query = torch.randint(5, (2, 4, 4)), torch.tensor([[0, 1], [2, 3]])
    for other in (copy.deepcopy(first), torch.load(file, weights_only=False)):
        assert torch.equal(other(labels, query), first(labels, query))
        with torch.no_grad():
            other.decoder2vocab[0].bias += 1
        unused = {"encoder.layers.0.edge_attention.linears.4.weight": torch.zeros(8, 8)}
        other.load_state_dict({**first.state_dict(), **unused})
        assert torch.equal(other(labels, query), first(labels, query))


def test_the_papers_form_is_equation_3():
    layer = EdgeTransformerLayer(8, 2, released=False).double()
    x = torch.randn(1, 4, 4, 8, dtype=torch.float64)
    u = x + layer.edge_attention(layer.norm1(x))
    assert torch.allclose(layer(x), layer.linear2(torch.relu(layer.linear1(layer.norm2(u)))))


def test_a_stack_compiles_and_trains():
    model = EdgeTransformer(5, 3, 16, 2, 2, dropout=0.1)
    compiled = torch.compile(model, fullgraph=True)
    labels, query = torch.randint(5, (4, 6, 6)), torch.tensor([[0, 1]] * 4)
    losses = losses_of(model, lambda: compiled(labels, query), 30)
    assert losses[-1] < 0.5 * losses[0]


def test_wrong_sizes_are_said():
    with pytest.raises(ValueError, match="not a multiple"):
        TriangularAttention(10, 4)
    with pytest.raises(ValueError, match=r"expected \(batch, n, n, 8\)"):
        TriangularAttention(8, 2)(torch.zeros(1, 3, 4, 8))
    with pytest.raises(ValueError, match="dropout is 1"):
        TriangularAttention(8, 2, dropout=1)
    with pytest.raises(ValueError, match="states"):
        fuse_attention(torch.zeros(3, 2, 4), torch.zeros(2, 3, 5))


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_computes_again_with_the_mask_that_it_drew(reentrant):
    from torch.utils.checkpoint import checkpoint
    attention = TriangularAttention(8, 2, dropout=0.5)
    results = []
    for through in (attention, lambda t: checkpoint(attention, t, use_reentrant=reentrant)):
        torch.manual_seed(3)
        attention.zero_grad()
        x = torch.arange(128.0).sin().reshape(1, 4, 4, 8).requires_grad_()
        y = through(x)
        y.square().sum().backward()
        results.append([y, x.grad, *(parameter.grad for parameter in attention.parameters())])
    for a, b in zip(*results):
        assert torch.equal(a, b)


def by_keys_and_values(module, x, states):
    """Computes fuse-attention by the paper's equations, with a key and a value for every state."""
    heads, k = module.heads, module.width // module.heads
    split = lambda t: t.view(*t.shape[:-1], heads, k)
    q, keys, values = split(module.q_proj(x)) * k ** -0.5, split(module.k_proj(states)), split(module.v_proj(states))
    p = torch.einsum("rhk,lrhk->rhl", q, keys).softmax(-1)
    return module.out_proj(torch.einsum("rhl,lrhk->rhk", p, values).reshape(x.shape))


def test_fuse_attention_is_the_papers():
    module = FuseAttention(12, 3).double()
    x = torch.randn(7, 12, dtype=torch.float64, requires_grad=True)
    states = torch.randn(4, 7, 12, dtype=torch.float64, requires_grad=True)
    cotangent = torch.randn(7, 12, dtype=torch.float64)
    results = []
    for y in (module(x, states), by_keys_and_values(module, x, states)):
        results.append([y, *torch.autograd.grad(y, [x, states, *module.parameters()], cotangent, allow_unused=True)])
    for a, b in zip(*results):
        if a is None or b is None:  # the bias of the keys affects no weight, so one gradient is missing
            assert (b if a is None else a) is None or float((b if a is None else a).abs().max()) < 1e-12
        else:
            close(a, b, max(float(b.abs().max()), 1e-3), 1e-11)


def test_fuse_attention_has_right_gradients_also_with_dropout():
    u, states = torch.randn(3, 2, 4, dtype=torch.float64, requires_grad=True), torch.randn(3, 3, 4, dtype=torch.float64,
                                                                                           requires_grad=True)
    assert torch.autograd.gradcheck(fuse_attention, (u, states))
    draw = lambda *t: fuse_attention(*t, dropout_p=0.4, generator=torch.Generator().manual_seed(1))
    assert torch.autograd.gradcheck(draw, (u, states))
    seed = torch.empty(0, dtype=torch.int64)
    torch.library.opcheck(torch.ops.triad.fuse.default,
                          (u.detach().requires_grad_(), states.detach().requires_grad_(), seed, 0.0))
