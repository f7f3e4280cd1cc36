"""Tests torch.compile and torch.export with unknown sizes: one graph works for all sizes."""
import pytest
import torch

from triad_torch import FuseAttention, TriangularAttention, triangular_attention


@pytest.fixture(autouse=True)
def _forgotten():
    """Resets the compiler, so that the graphs of one test are not counted in the next."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class Graphs:
    """A backend of torch.compile that counts graphs."""

    def __init__(self):
        self.count = 0

    def __call__(self, graph, _inputs):
        self.count += 1
        return graph.forward


def edges(batch, n, width=8):
    return torch.randn(batch, n, n, width)


def test_ten_numbers_of_nodes_are_one_graph():
    graphs, attention = Graphs(), TriangularAttention(8, 2)
    compiled = torch.compile(attention, dynamic=True, fullgraph=True, backend=graphs)
    for n in range(2, 12):
        x = edges(3, n)  # batch 3: torch.compile would treat two equal sizes of the first call as one
        assert torch.allclose(compiled(x), attention(x), atol=1e-6)
    assert graphs.count == 1


def test_masks_and_sources_are_one_graph_too():
    graphs = Graphs()
    f = lambda q, mask, sources: triangular_attention(q, q, q, q, mask=mask, causal_sources=sources)
    compiled = torch.compile(f, dynamic=True, fullgraph=True, backend=graphs)
    for n in range(3, 9):
        q, mask = torch.randn(2, n, n, 1, 4), torch.rand(2, n, n, n) > 0.2
        sources = torch.tensor([1, 2])
        assert torch.allclose(compiled(q, mask, sources), f(q, mask, sources), atol=1e-6)
    assert graphs.count == 1


def test_gradients_of_every_size_come_from_one_graph():
    attention = TriangularAttention(8, 2)
    compiled = torch.compile(attention, dynamic=True, fullgraph=True)
    with torch._dynamo.config.patch(recompile_limit=1):  # a second graph would be refused
        for n in range(2, 8):
            x = edges(1, n).requires_grad_()
            (ours,), (theirs,) = (torch.autograd.grad(f(x).square().sum(), x) for f in (compiled, attention))
            assert torch.allclose(ours, theirs, atol=1e-5)


def test_a_dimension_that_is_marked_dynamic_stays_so():
    graphs, attention = Graphs(), TriangularAttention(8, 2)
    compiled = torch.compile(attention, fullgraph=True, backend=graphs)
    for n in range(3, 8):
        x = edges(1, n)
        torch._dynamo.mark_dynamic(x, 1)
        torch._dynamo.mark_dynamic(x, 2)
        assert torch.allclose(compiled(x), attention(x), atol=1e-6)
    assert graphs.count == 1


@pytest.mark.parametrize("strict", [False, True])
def test_an_exported_program_takes_any_number_of_nodes(strict):
    nodes, attention = torch.export.Dim("nodes", min=2, max=100), TriangularAttention(8, 2)
    program = torch.export.export(attention, (edges(1, 5),), dynamic_shapes=({1: nodes, 2: nodes},), strict=strict)
    for n in (2, 7, 11):
        x = edges(1, n)
        assert torch.allclose(program.module()(x), attention(x), atol=1e-6)


def test_layers_below_are_one_graph_for_any_number_of_tokens():
    graphs, fuse = Graphs(), FuseAttention(8, 2)
    compiled = torch.compile(fuse, dynamic=True, fullgraph=True, backend=graphs)
    for tokens in range(2, 12):
        x, states = torch.randn(tokens, 8), torch.randn(3, tokens, 8)
        assert torch.allclose(compiled(x, states), fuse(x, states), atol=1e-6)
    assert graphs.count == 1


BATCHES_AND_NODES = [(3, 2), (2, 5), (4, 16), (1, 7), (3, 33), (2, 64)]


def test_compiled_batches_of_2_to_64_nodes_are_one_graph():
    torch._dynamo.utils.counters.clear()
    attention = TriangularAttention(8, 2)
    compiled = torch.compile(attention, dynamic=True, fullgraph=True, backend="aot_eager")
    for batch, n in BATCHES_AND_NODES:
        if batch == 1:  # PyTorch makes another graph for an axis of size 1
            continue
        x = edges(batch, n)
        assert torch.allclose(compiled(x), attention(x), atol=1e-6)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


@pytest.mark.parametrize("strict", [False, True])
def test_an_exported_program_takes_batches_of_2_to_64_nodes(strict):
    batch, nodes = torch.export.Dim("batch", min=1, max=8), torch.export.Dim("nodes", min=2, max=64)
    attention = TriangularAttention(8, 2)
    program = torch.export.export(attention, (edges(3, 5),), dynamic_shapes=({0: batch, 1: nodes, 2: nodes},),
                                  strict=strict)
    for sizes in BATCHES_AND_NODES:
        x = edges(*sizes)
        assert torch.allclose(program.module()(x), attention(x), atol=1e-6)
