"""PyTorch modules of the baselines of the Edge Transformer: relation-aware Transformers and a graph attention network.
They have no kernels of their own."""
from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from . import _checks
from ._graph_models import at_padding, edges_asked, expect_graphs, initialize, readout
from ._pretrained import Pretrained


class _RelationAttention(nn.Module):
    """Attention of nodes x (b, n, d) with keys and values of edges, gk and gv (b, n, n, d).  Returns the context before
    the output projection."""

    def __init__(self, width: int, heads: int, dropout: float, update_relations: bool) -> None:
        super().__init__()
        self.heads = heads
        self.linears = nn.ModuleList(nn.Linear(width, width) for _ in range(4))  # query, key, value, output
        self.dropout = nn.Dropout(dropout)
        if update_relations:
            self.relation_key_map, self.relation_value_map = nn.Linear(width, width), nn.Linear(width, width)
            self.left_linear, self.right_linear = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor, gk: torch.Tensor, gv: torch.Tensor, masked: torch.Tensor | None) -> torch.Tensor:
        q, k, v, gk, gv = (y.unflatten(-1, (self.heads, -1)) for y in (*(f(x) for f in self.linears[:3]), gk, gv))
        scores = torch.einsum("bxhd,byhd->bhxy", q, k) + torch.einsum("bxhd,bxyhd->bhxy", q, gk)
        scores = scores * q.shape[-1] ** -0.5
        if masked is not None:
            scores = scores.masked_fill(masked[:, None], max(-1e9, torch.finfo(scores.dtype).min))
        p = self.dropout(scores.softmax(-1))
        return (torch.einsum("bhxy,byhd->bxhd", p, v) + torch.einsum("bhxy,bxyhd->bxhd", p, gv)).flatten(-2)


class _RelationLayer(nn.Module):
    """A layer with the states x (b, n, d) of nodes and, in RRAT, g (b, n, n, d) of edges.  With the context c of the
    attention and its output projection o:

        x = norm1(x + o(c)),  x = norm2(x + block(x))
        g_ij = norm_graph1(g_ij + left(c_i) + right(c_j)),  g = norm_graph2(g + block_graph(g))

    `fixed` are the keys and values of edges of RAT, which all layers share; None: the layer computes them from g."""

    def __init__(self, width: int, heads: int, hidden: int, dropout: float, update_relations: bool) -> None:
        super().__init__()
        self.rel_attention = _RelationAttention(width, heads, dropout, update_relations)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.linear1, self.linear2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        if update_relations:
            self.norm_graph1, self.norm_graph2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.linear_graph1, self.linear_graph2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.dropout, self.update_relations = nn.Dropout(dropout), update_relations

    def forward(self, x: torch.Tensor, g: torch.Tensor, fixed: tuple | None, masked: torch.Tensor | None):
        attention, drop = self.rel_attention, self.dropout
        gk, gv = fixed or (attention.relation_key_map(g), attention.relation_value_map(g))
        context = attention(x, gk, gv, masked)
        x = self.norm1(x + drop(attention.linears[3](context)))
        x = self.norm2(x + drop(self.linear2(drop(F.relu(self.linear1(x))))))
        if self.update_relations:
            g = self.norm_graph1(g + drop(attention.left_linear(context)[:, :, None]
                                          + attention.right_linear(context)[:, None]))
            g = self.norm_graph2(g + drop(self.linear_graph2(drop(F.relu(self.linear_graph1(g))))))
        return x, g


class _RelationEncoder(nn.Module):
    """The embedding g (b, n, n, d) of labels, and the layers.  Returns the last x (b, n, d) and g."""

    def __init__(self, labels: int, layers: int, tied: bool, width: int, update_relations: bool, **of_layer) -> None:
        super().__init__()
        self.embedding = nn.Embedding(labels, width)
        if not update_relations:
            self.relation_key_map, self.relation_value_map = nn.Linear(width, width), nn.Linear(width, width)
        self.layers = nn.ModuleList(_RelationLayer(width, update_relations=update_relations, **of_layer)
                                    for _ in range(1 if tied else layers))
        self.times, self.update_relations = layers if tied else 1, update_relations

    def forward(self, labels: torch.Tensor, x: torch.Tensor | None, masked: torch.Tensor | None):
        g = self.embedding(labels)
        fixed = None if self.update_relations else (self.relation_key_map(g), self.relation_value_map(g))
        x = g.new_zeros(*g.shape[:2], g.shape[-1]) if x is None else x
        for _ in range(self.times):
            for layer in self.layers:
                x, g = layer(x, g, fixed, masked)
        return x, g


class RelationTransformer(Pretrained):
    """The relation-aware Transformer for labelled graphs (RAT), or the one that updates its relations (RRAT).  They are
    baselines of the Edge Transformer, and parameters have the names of its released program.

    labels            rows of the embedding: labels of edges; 0 means no edge.
    targets           classes of the answer.
    hidden            width of the feed-forward blocks; None: 4 * width.
    tied              one layer, applied `layers` times.
    update_relations  False: RAT, whose readout takes the states of both nodes.  True: RRAT, whose readout takes the
                      state of the edge.

    Parameters that a model does not use are dropped when a checkpoint of the released program is loaded.  config is a
    dict of the arguments with which the model was made.
    """

    def __init__(self, labels: int, targets: int, width: int = 200, heads: int = 4, layers: int = 8,
                 hidden: int | None = None, dropout: float = 0.2, tied: bool = True,
                 update_relations: bool = False) -> None:
        super().__init__()
        width, heads = _checks.width_and_heads(width, heads)
        layers, labels, targets = _checks.counts(layers=layers, labels=labels, targets=targets)
        self.config = {"labels": labels, "targets": targets, "width": width, "heads": heads, "layers": layers,
                       "hidden": hidden, "dropout": dropout, "tied": tied, "update_relations": update_relations}
        self.encoder = _RelationEncoder(labels, layers, tied, width, update_relations, heads=heads,
                                        hidden=_checks.hidden_width(hidden, width),
                                        dropout=_checks.rate(dropout, "dropout"))
        self.decoder2vocab = readout(width if update_relations else 2 * width, targets)
        initialize(self.encoder)
        self.register_load_state_dict_pre_hook(self._read_released)

    @staticmethod
    def _read_released(self, state, prefix, *_) -> None:
        own = {prefix + key for key in self.state_dict()}
        for key in [key for key in state if key.startswith(f"{prefix}encoder.") and key not in own]:
            parts = key.removeprefix(prefix).split(".")
            of_the_other = parts[1].startswith("relation_") or parts[-2].startswith(
                ("relation_", "left_linear", "right_linear", "norm_graph", "linear_graph"))
            if of_the_other or (self.config["tied"] and parts[1] == "layers" and parts[2] != "0"):
                del state[key]

    def forward(self, labels: torch.Tensor, query: torch.Tensor, pad: torch.Tensor | None = None,
                x0: torch.Tensor | None = None) -> torch.Tensor:
        """labels int64 (b, n, n), query int64 (b, 2) or (any number, 3), pad bool (b, n), True for padding nodes.  x0
        (b, n, width) are the initial states of nodes; None: zeros.  Returns logits with a row for each row of query."""
        expect_graphs(labels, query, pad)
        graph, source, target = edges_asked(query, *labels.shape[:2])
        x, g = self.encoder(labels, x0, None if pad is None else at_padding(pad))
        if self.config["update_relations"]:
            return self.decoder2vocab(g[graph, source, target])
        return self.decoder2vocab(torch.cat([x[graph, source], x[graph, target]], -1))


class _GraphAttentionLayer(nn.Module):
    """A layer on x (b, n, d), with the scores es (b, n, n, h) and the values ev (b, n, n, h, d / h) of edges, and with
    v = value(x).  apart (b, n, n) is True for nodes that are no neighbours:

        z_ij = leaky_relu(<query, v_i> + <key, v_j> + es_ij),  p = softmax of z over the neighbours j
        x_i = norm(x_i + elu(sum over j of  p_ij (v_j + ev_ij)))"""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.value, self.norm = heads, nn.Linear(width, width, bias=False), nn.LayerNorm(width)
        self.query = nn.Parameter(torch.empty(heads, width // heads))
        self.key = nn.Parameter(torch.empty(heads, width // heads))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, es: torch.Tensor, ev: torch.Tensor, apart: torch.Tensor) -> torch.Tensor:
        v = self.value(x).unflatten(-1, (self.heads, -1))
        z = (v * self.query).sum(-1)[:, :, None] + (v * self.key).sum(-1)[:, None] + es          # (b, x, y, h)
        p = self.dropout(F.leaky_relu(z, 0.2).masked_fill(apart[..., None], -torch.inf).softmax(2))
        c = torch.einsum("bxyh,byhd->bxhd", p, v) + torch.einsum("bxyh,bxyhd->bxhd", p, ev)
        return self.norm(x + self.dropout(F.elu(c.flatten(-2))))


class _GraphAttentionEncoder(nn.Module):
    """The embedding of labels, from which all layers take scores and values, and the layers.  Returns x (b, n, d),
    which begins with zeros."""

    def __init__(self, labels: int, layers: int, tied: bool, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(labels, width)
        self.edge_score, self.edge_value = nn.Linear(width, heads, bias=False), nn.Linear(width, width, bias=False)
        self.layers = nn.ModuleList(_GraphAttentionLayer(width, heads, dropout) for _ in range(1 if tied else layers))
        self.times, self.heads = layers if tied else 1, heads

    def forward(self, labels: torch.Tensor) -> torch.Tensor:
        table = self.embedding.weight
        es, ev = F.embedding(labels, self.edge_score(table)), F.embedding(labels, self.edge_value(table))
        itself = torch.eye(labels.shape[1], dtype=torch.bool, device=labels.device)
        apart = ~((labels != 0) | (labels != 0).mT | itself)
        x = ev.new_zeros(*labels.shape[:2], ev.shape[-1])
        for _ in range(self.times):
            for layer in self.layers:
                x = layer(x, es, ev.unflatten(-1, (self.heads, -1)), apart)
        return x


class GraphAttentionNetwork(Pretrained):
    """A graph attention network for labelled graphs (GAT), a baseline of the Edge Transformer: the model `gat` of the
    programs clutrr and graphs.  A node attends to itself and to all nodes with an edge from or to it, whose labels
    contribute to the score and to the value.

    labels    rows of the embedding: labels of edges; 0 means no edge.
    targets   classes of the answer.
    tied      one layer, applied `layers` times.

    config is a dict of the arguments with which the model was made.
    """

    def __init__(self, labels: int, targets: int, width: int = 200, heads: int = 4, layers: int = 8,
                 dropout: float = 0.2, tied: bool = True) -> None:
        super().__init__()
        width, heads = _checks.width_and_heads(width, heads)
        layers, labels, targets = _checks.counts(layers=layers, labels=labels, targets=targets)
        self.config: dict[str, Any] = {"labels": labels, "targets": targets, "width": width, "heads": heads,
                                       "layers": layers, "dropout": dropout, "tied": tied}
        self.encoder = _GraphAttentionEncoder(labels, layers, tied, width, heads,
                                              _checks.rate(dropout, "dropout"))
        self.decoder2vocab = readout(2 * width, targets)
        initialize(self.encoder)

    def forward(self, labels: torch.Tensor, query: torch.Tensor, pad: torch.Tensor | None = None) -> torch.Tensor:
        """labels int64 (b, n, n), query int64 (b, 2) or (any number, 3), pad bool (b, n), True for padding nodes.
        Labels at padding nodes are not read.  Returns logits with a row for each row of query."""
        expect_graphs(labels, query, pad)
        graph, source, target = edges_asked(query, *labels.shape[:2])
        if pad is not None:
            labels = labels.masked_fill(at_padding(pad), 0)
        x = self.encoder(labels)
        return self.decoder2vocab(torch.cat([x[graph, source], x[graph, target]], -1))
