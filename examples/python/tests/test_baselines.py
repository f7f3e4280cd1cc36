"""Tests the baselines of the Edge Transformer: golden files of the released program, and the paper's equations."""
import json

import pytest
import torch
from torch import nn

from conftest import close, losses_of
from triad_torch import GraphAttentionNetwork, RelationTransformer
from triad_torch.runs import read_safetensors


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("kind", ["rat", "rrat"])
def test_the_released_models_load_and_agree(kind, golden_files):
    for path in golden_files(kind):
        tensors, texts = read_safetensors(path)
        c = json.loads(texts["config"])
        model = RelationTransformer(tensors["param/encoder.embedding.weight"].shape[0], c["target_size"], c["d"],
                                    c["heads"], c["layers"], c["ff_factor"] * c["d"], 0.0, c["tied"],
                                    update_relations=c["update_relations"]).double()
        model.load_state_dict({n.removeprefix("param/"): t for n, t in tensors.items() if n.startswith("param/")})
        logits = model(tensors["in/batched_graphs"], tensors["in/query_edges"], tensors["in/pad_mask"].bool(),
                       tensors.get("in/x0"))
        close(logits, tensors["out/logits"])
        nn.functional.cross_entropy(logits, tensors["in/query_labels"]).backward()
        of = {name: t for name, t in tensors.items() if name.startswith("grad/param/")}
        scale = max(float(t.abs().max()) for t in of.values())
        compared = 0
        for name, parameter in model.named_parameters():
            if name in c["params_with_no_gradient"]:
                assert parameter.grad is None or not parameter.grad.any()
            else:
                close(parameter.grad, of[f"grad/param/{name}"], scale)
                compared += 1
        assert compared > 20


def by_loops(model, labels):
    """Returns the node states after all layers of a graph attention network without dropout, node by node."""
    encoder, n = model.encoder, labels.shape[0]
    table, x = encoder.embedding.weight, torch.zeros(labels.shape[0], encoder.embedding.weight.shape[1]).double()
    for _ in range(encoder.times):
        for layer in encoder.layers:
            v, rows = layer.value(x).unflatten(-1, (layer.heads, -1)), []
            for i in range(n):
                near = [j for j in range(n) if i == j or labels[i, j] != 0 or labels[j, i] != 0]
                heads = []
                for h in range(layer.heads):
                    edges = torch.stack([table[labels[i, j]] for j in near])
                    z = v[i, h] @ layer.query[h] + v[near, h] @ layer.key[h] + edges @ encoder.edge_score.weight[h]
                    p = torch.where(z > 0, z, 0.2 * z).softmax(0)
                    heads.append(p @ (v[near, h] + encoder.edge_value(edges).unflatten(-1, (layer.heads, -1))[:, h]))
                rows.append(torch.cat(heads))
            x = layer.norm(x + nn.functional.elu(torch.stack(rows)))
    return x


@pytest.mark.parametrize("tied", [True, False])
def test_a_graph_attention_network_is_its_equations(tied):
    model = GraphAttentionNetwork(5, 3, 8, 2, 3, dropout=0.0, tied=tied).double()
    labels = torch.tensor([[0, 2, 0, 0], [0, 0, 4, 0], [1, 0, 3, 0], [0, 0, 0, 0]])
    x = by_loops(model, labels)
    close(model(labels[None], torch.tensor([[0, 2]]))[0], model.decoder2vocab(torch.cat([x[0], x[2]])))


MODELS = {"rat": lambda **more: RelationTransformer(5, 3, 8, 2, 2, **more), "gat":
          lambda **more: GraphAttentionNetwork(5, 3, 8, 2, 2, **more),
          "rrat": lambda **more: RelationTransformer(5, 3, 8, 2, 2, update_relations=True, **more)}


@pytest.mark.parametrize("kind", MODELS)
def test_padding_and_folders_change_no_logits(kind, tmp_path):
    model = MODELS[kind](tied=False).eval()
    labels = torch.randint(5, (2, 4, 4))
    query = torch.tensor([[0, 1], [2, 3]])
    larger, pad = torch.zeros(2, 6, 6, dtype=torch.int64), torch.zeros(2, 6, dtype=torch.bool)
    larger[:, :4, :4], pad[:, 4:] = labels, True
    assert torch.allclose(model(labels, query), model(larger, query, pad), atol=1e-6)
    model.save_pretrained(tmp_path)
    back = type(model).from_pretrained(tmp_path)
    assert type(back) is type(model) and torch.equal(back(labels, query), model(labels, query))
    with pytest.raises(ValueError, match=r"pad has shape \(2, 5\), expected \(2, 4\)"):
        model(labels, query, pad[:, :5])
    with pytest.raises(ValueError, match=r"labels have shape \(2, 4, 3\), expected \(batch, n, n\)"):
        model(labels[..., :3], query)


@pytest.mark.parametrize("kind", MODELS)
def test_it_learns(kind):
    model = MODELS[kind](dropout=0.1)
    labels, query = torch.randint(5, (4, 5, 5)), torch.tensor([[0, 1]] * 4)
    losses = losses_of(model, lambda: model(labels, query), 60)
    assert losses[-1] < 0.5 * losses[0]


def test_labels_at_padding_nodes_do_not_change_a_graph_attention_network():
    torch.manual_seed(3)
    model = GraphAttentionNetwork(labels=5, targets=3, width=8, heads=2, layers=2).eval()
    labels, query = torch.randint(0, 5, (2, 4, 4)), torch.tensor([[0, 1], [1, 0]])
    pad = torch.tensor([[False, False, False, True], [False, False, True, True]])
    other = torch.where(pad[:, :, None] | pad[:, None], 3, labels)
    assert torch.equal(model(labels, query, pad), model(other, query, pad))
    assert not torch.equal(model(labels, query), model(other, query))
