"""Tests batches of graphs of PyTorch Geometric, of DGL, and of plain lists."""
import pytest
import torch

from triad_torch import EdgeTransformer, dense_batch, triangular_attention

# Three graphs: of 3 nodes, of 2 nodes without edges, and of 4 nodes with a loop.  The last one is not in row order.
GRAPHS = [([[0, 1], [1, 2]], [3, 1], 3), ([[], []], [], 2), ([[3, 0, 2, 0], [1, 2, 2, 3]], [2, 4, 1, 3], 4)]
LABELS = torch.zeros(3, 4, 4, dtype=torch.int64)
LABELS[0, 0, 1], LABELS[0, 1, 2] = 3, 1
LABELS[2, 3, 1], LABELS[2, 0, 2], LABELS[2, 2, 2], LABELS[2, 0, 3] = 2, 4, 1, 3
PAD = torch.tensor([[0, 0, 0, 1], [0, 0, 1, 1], [0, 0, 0, 0]], dtype=torch.bool)
EDGES = [[0, 0, 2, 2, 2, 2], [0, 1, 3, 0, 2, 0], [1, 2, 1, 2, 2, 3]]
PAIRS = torch.tensor([[0, 4, 8, 5], [2, 3, 5, 6]])  # (0, 2) of the first graph, (1, 0) of the second, (3, 0), (0, 1)
QUERY = [[0, 0, 2], [1, 1, 0], [2, 3, 0], [2, 0, 1]]


def tensors():
    return [(torch.tensor(ends, dtype=torch.int64), torch.tensor(labels, dtype=torch.int64), nodes)
            for ends, labels, nodes in GRAPHS]


def geometric(key="edge_type", minus=0):
    """Returns the graphs as those of PyTorch Geometric."""
    data = pytest.importorskip("torch_geometric.data", reason="PyTorch Geometric is not installed")
    return data, [data.Data(edge_index=ends, num_nodes=nodes, **{key: labels - minus})
                  for ends, labels, nodes in tensors()]


class Graph:
    """A stand-in with the attributes of DGLGraph that DGL documents and dense_batch uses."""
    is_homogeneous = True

    def __init__(self, graphs, key="edge_type", number=torch.int64):
        sizes = torch.tensor([nodes for _, _, nodes in graphs])
        before = [int(sizes[:k].sum()) for k in range(len(graphs))]
        self._ends = torch.cat([ends + k for (ends, _, _), k in zip(graphs, before)], 1).to(number)
        self._sizes, self.edata = sizes.to(number), {key: torch.cat([labels for _, labels, _ in graphs])}

    def edges(self):
        return tuple(self._ends)

    def batch_num_nodes(self):
        return self._sizes


def real_dgl():
    try:
        import dgl
    except Exception as error:  # DGL's wheels are made for certain versions of PyTorch, and fail in many ways elsewhere
        pytest.skip(f"DGL cannot be imported: {type(error).__name__}: {error}")
    return dgl


def expect_the_batch(batch):
    assert torch.equal(batch.labels, LABELS) and torch.equal(batch.pad, PAD)
    assert batch.edges.tolist() == EDGES and batch.first.tolist() == [0, 3, 5, 9]
    for (ends, labels, nodes), (back, of_edges, size) in zip(tensors(), batch.graphs(), strict=True):
        assert torch.equal(back, ends) and torch.equal(of_edges, labels - batch.add) and size == nodes
    assert batch.query(PAIRS).tolist() == QUERY


def test_a_list_of_edges_becomes_a_batch():
    expect_the_batch(dense_batch(tensors()))
    expect_the_batch(dense_batch([(ends, [label - 1 for label in labels], nodes) if labels else tensors()[1]
                                  for ends, labels, nodes in GRAPHS], add=1))
    pair = dense_batch([tensors()[0][:2]])
    assert torch.equal(pair.labels, LABELS[:1, :3, :3]) and not pair.pad.any()


def test_a_batch_of_pytorch_geometric():
    data, graphs = geometric()
    expect_the_batch(dense_batch(data.Batch.from_data_list(graphs)))
    expect_the_batch(dense_batch(graphs))
    from torch_geometric.loader import DataLoader
    (batch,) = DataLoader(graphs, batch_size=3)
    expect_the_batch(dense_batch(batch))
    _, graphs = geometric("edge_attr", minus=1)
    expect_the_batch(dense_batch(data.Batch.from_data_list(graphs), add=1))
    _, graphs = geometric("relation")
    expect_the_batch(dense_batch(graphs, "relation"))
    whole = data.Batch.from_data_list(geometric()[1])
    expect_the_batch(dense_batch(data.Data(edge_index=whole.edge_index, edge_type=whole.edge_type, batch=whole.batch)))
    only = dense_batch(geometric()[1][2])
    assert torch.equal(only.labels, LABELS[2:]) and not only.pad.any()
    with pytest.raises(TypeError, match="^graphs: torch_geometric.data.hetero_data.HeteroData, expected .*; make"):
        dense_batch(data.HeteroData())
    with pytest.raises(ValueError, match="^graphs: edges without edge_type and edge_attr, expected .*; pass its name"):
        dense_batch(geometric("relation")[1][0])


def test_a_batch_of_pytorch_geometric_numbers_its_questions():
    data, graphs = geometric()
    for k, graph in enumerate(graphs):
        graph.query_index = torch.tensor([[0], [k]])
    batch = data.Batch.from_data_list(graphs[::2])
    assert dense_batch(batch).query(batch.query_index).tolist() == [[0, 0, 0], [1, 0, 2]]


@pytest.mark.parametrize("number", [torch.int64, torch.int32])
def test_a_graph_with_the_attributes_of_dgl(number):
    expect_the_batch(dense_batch(Graph(tensors(), number=number)))
    expect_the_batch(dense_batch([Graph([graph], "relation") for graph in tensors()], "relation"))
    several = Graph(tensors())
    several.is_homogeneous = False
    with pytest.raises(TypeError, match="^graphs: a heterogeneous DGLGraph, expected .*; call dgl.to_homogeneous"):
        dense_batch(several)


def test_a_batch_of_dgl():
    dgl = real_dgl()
    graphs = []
    for ends, labels, nodes in tensors():
        graphs.append(dgl.graph(tuple(ends), num_nodes=nodes))
        graphs[-1].edata["edge_type"] = labels
    expect_the_batch(dense_batch(dgl.batch(graphs)))
    expect_the_batch(dense_batch(graphs))
    expect_the_batch(dense_batch([graphs[0], tensors()[1], graphs[2]]))
    with pytest.raises(TypeError, match="^graphs: a heterogeneous DGLGraph, expected .*; call dgl.to_homogeneous"):
        dense_batch(dgl.heterograph({("a", "to", "b"): ([0], [0]), ("b", "of", "a"): ([0], [0])}))


def test_a_graph_in_a_batch_has_the_logits_of_the_graph_alone():
    model = EdgeTransformer(5, 3, 8, 2, 2).eval()
    batch = dense_batch(tensors(), nodes=6)
    assert batch.labels.shape == (3, 6, 6)
    logits = model(batch.labels, batch.query(PAIRS), batch.pad)
    for row, (graph, i, j) in zip(logits, QUERY):
        alone = dense_batch(tensors()[graph:graph + 1])
        assert torch.allclose(model(alone.labels, torch.tensor([[i, j]]))[0], row, atol=1e-6)


def test_states_come_back_in_the_order_of_edges_and_nodes():
    batch = dense_batch(tensors())
    states = torch.arange(3 * 4 * 4 * 2.0).reshape(3, 4, 4, 2).requires_grad_()
    rows = batch.at_edges(states)
    for row, (graph, i, j) in zip(rows, zip(*EDGES), strict=True):
        assert torch.equal(row, states[graph, i, j])
    rows.sum().backward()
    assert torch.equal(states.grad[..., 0], (LABELS > 0).float())
    diagonal = states.diagonal(dim1=1, dim2=2).movedim(-1, 1)
    nodes = [(graph, k) for graph, (_, _, size) in enumerate(GRAPHS) for k in range(size)]
    for row, (graph, k) in zip(batch.at_nodes(diagonal), nodes, strict=True):
        assert torch.equal(row, states[graph, k, k])
    with pytest.raises(ValueError, match=r"^y has shape \(3, 4, 5\), expected \(3, 4, 4\) and further axes; "):
        batch.at_edges(torch.zeros(3, 4, 5))
    with pytest.raises(ValueError, match=r"^y has shape \(3, 5\), expected \(3, 4\) and further axes; "):
        batch.at_nodes(torch.zeros(3, 5))


def test_rows_without_padding_are_those_of_offsets():
    batch = dense_batch(tensors(), nodes=5)
    assert batch.offsets.tolist() == [0, 9, 13, 29]
    q, k, v1, v2 = torch.randn(4, 3, 5, 5, 2, 4, requires_grad=True).unbind()
    dense = triangular_attention(q, k, v1, v2, mask=~batch.pad[:, None, :, None])
    rows = triangular_attention(*map(batch.to_rows, (q, k, v1, v2)), offsets=batch.offsets)
    assert torch.allclose(batch.to_rows(dense), rows, atol=1e-6)
    back = batch.from_rows(rows)
    assert back.shape == dense.shape and torch.equal(batch.to_rows(back), rows)
    pairs = batch._pairs()
    assert not back[~pairs].any() and int(pairs.sum()) == 29
    (gradient,) = torch.autograd.grad(back.sum(), rows)
    assert torch.equal(gradient, torch.ones_like(rows))
    assert torch.equal(batch.from_rows(batch.to_rows(batch.labels)), batch.labels)
    with pytest.raises(ValueError, match=r"^rows have shape \(28, 2\), expected 29 rows; "):
        batch.from_rows(torch.zeros(28, 2))
    with pytest.raises(ValueError, match=r"^y has shape \(3, 5\), expected \(3, 5, 5\) and further axes; "):
        batch.to_rows(torch.zeros(3, 5))


@pytest.mark.parametrize("graphs, options, kind, message", [
    ([], {}, ValueError, "graphs: 0 of them, expected 1 or more; "),
    ([([[0], [1]], [0])], {}, ValueError, r"labels: 0 at edge \(0, 1\) of graph 0, expected 1 or more, .*; pass add=1"),
    ([([[0], [1]], [-2])], {"add": 1}, ValueError, r"labels: -1 at edge \(0, 1\) of graph 0, expected 1 or more"),
    ([([[0, 0], [1, 1]], [1, 2])], {}, ValueError, r"edge_index: edge \(0, 1\) of graph 0 is given 2 times, expected"),
    ([([[0], [1]], [1]), ([[0], [3]], [1], 3)], {}, ValueError,
     r"graphs\[1\]: edge_index: edge \(0, 3\), expected nodes from 0 to 2; "),
    ([([[0], [-1]], [1], 3)], {}, ValueError, r"graphs\[0\]: edge_index: edge \(0, -1\), expected nodes from 0 to 2; "),
    ([([[0, 1], [1, 2], [2, 0]], [1, 1, 1])], {}, ValueError,
     r"graphs\[0\]: edge_index: shape \(3, 2\), expected \(2, edges\).*; transpose"),
    ([([[0.0], [1.0]], [1])], {}, TypeError, r"graphs\[0\]: edge_index: torch.float32, expected whole numbers; "),
    ([([[0], [1]], [1.5])], {}, TypeError, r"graphs\[0\]: labels: torch.float32, expected whole numbers; "),
    ([([[0], [1]], [1, 2])], {}, ValueError, r"graphs\[0\]: labels: shape \(2,\), expected \(1,\), a label for each"),
    ([([[0], [1]], [1]), ([[], []], [], -1)], {}, ValueError,
     r"graphs\[1\]: nodes: -1, expected 0 or more; pass the number of nodes of the graph"),
    ([([[], []], [])], {}, ValueError, r"graphs\[0\]: no edges and no number of nodes, expected one of them; "),
    ([([[0], [1]], [1])], {"nodes": 1}, ValueError, "nodes: 1, expected 2 or more, .*; leave nodes out"),
    ([([[0], [1]], [1])], {"nodes": 2.0}, TypeError, "nodes is 2.0, expected a whole number"),
    ([([[0], [10**10]], [1])], {}, ValueError, "edge_index: 1 graphs of up to 10000000001 nodes, expected fewer nodes"),
    ([([[0], [1]],)], {}, ValueError, r"graphs\[0\]: 1 entries, expected \(edge_index, labels\) or .*; "),
    ("text", {}, TypeError, "graphs: builtins.str, expected a Data or Batch of PyTorch Geometric, .*; "),
])
def test_what_is_no_batch_is_refused(graphs, options, kind, message):
    with pytest.raises(kind, match="^" + message):
        dense_batch(graphs, **options)


def test_an_edge_between_two_graphs_is_refused():
    across = Graph(tensors())
    across._ends[1, 0] = 4
    with pytest.raises(ValueError, match=r"^edge_index: edge \(0, 4\) from graph 0 to graph 1, expected both nodes in"):
        dense_batch(across)
    batch = dense_batch(tensors())
    with pytest.raises(ValueError, match=r"^pairs: edge \(0, 9\), expected nodes from 0 to 8; "):
        batch.query(torch.tensor([[0], [9]]))
    with pytest.raises(ValueError, match=r"^pairs: shape \(1, 3\), expected \(2, edges\)"):
        batch.query(torch.tensor([[0, 0, 1]]))
