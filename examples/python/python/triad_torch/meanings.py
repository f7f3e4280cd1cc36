"""A PyTorch module that maps a sentence to a labelled graph of its tokens and of slots.  The program `meanings` trains
such models.

A node of the graph is a queried token, or a slot, which stands for what no word names.  Nodes are numbered in the order
of the sentence: token i has the number i, and slot k of a sentence of n tokens has the number n + k."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from . import _arrays, _checks
from ._graph_heads import PENALTY_OFFSET, EdgeHead, GraphBatch, GraphScores, PredicateHead
from ._graph_models import without
from ._pretrained import Pretrained
from ._sentences import clipped_offsets, expect_numbers, expect_sentences, on_diagonal
from ._torch_attention import numbers_are_at_hand, outside
from .baselines import _RelationAttention
from .modules import EdgeTransformerLayer

__all__ = ["GraphScores", "SentenceGraph", "SentenceToGraph"]
TRUNKS, HEADS = ("edge-transformer", "transformer"), ("predicates", "edges")


class SentenceGraph(NamedTuple):
    """A predicted graph, with the probability of each of its parts."""
    edges: list[tuple[int, int, int, float]]   # from, label, to, probability
    labels: list[tuple[int, int, float]]       # node, label, probability
    graph: tuple[int, float] | None            # the label of the graph, and its probability; None: graphs have none


class _EdgeTrunk(nn.Module):
    """Edge Transformer layers over all pairs of tokens and slots.  The first state of the pair (i, j) has a vector of
    its relation, one of node i, one of node j, and one more of the node where i = j."""

    def __init__(self, tokens: int, relations: int, width: int, heads: int, layers: int, hidden: int, dropout: float,
                 inner_dropout: float | None, tied: bool, form: str) -> None:
        super().__init__()
        self.tokens, self.left_tokens, self.right_tokens = (nn.Embedding(tokens, width) for _ in range(3))
        self.relations = nn.Embedding(relations, width)
        self.layers = nn.ModuleList(
            EdgeTransformerLayer(width, heads, hidden, dropout, True, form, pre_norm=True, inner_dropout=inner_dropout)
            for _ in range(1 if tied else layers))
        self.times, self.dropout = layers if tied else 1, nn.Dropout(dropout)
        for table in (self.tokens, self.left_tokens, self.right_tokens, self.relations):
            nn.init.normal_(table.weight, std=0.5)

    def forward(self, nodes: torch.Tensor, relations: torch.Tensor, pad: torch.Tensor | None,
                inner: int) -> tuple[torch.Tensor, torch.Tensor | None]:
        """nodes (b, N), relations (N, N), pad (b, N).  Returns the states (b, N, N, width) of all pairs, and those
        after layer `inner`, or None for 0."""
        ends = self.left_tokens(nodes)[:, :, None] + self.right_tokens(nodes)[:, None]
        own = on_diagonal(self.tokens(nodes))
        x = self.dropout(self.relations(relations) + ends + own)
        mask, inside, count = None if pad is None else without(pad), None, 0
        for _ in range(self.times):
            for layer in self.layers:
                x = layer(x, mask)
                count += 1
                inside = x if count == inner else inside
        return x, inside


class _TokenLayer(nn.Module):
    """A layer of a Transformer with norms before its branches, whose attention has vectors of the pairs' relations."""

    def __init__(self, relations: int, width: int, heads: int, hidden: int, dropout: float, inside: float) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = _RelationAttention(width, heads, inside, False)
        self.relations = nn.Embedding(relations, 2 * width)
        self.linear1, self.linear2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.dropout, self.inner_dropout = nn.Dropout(dropout), nn.Dropout(inside)
        nn.init.normal_(self.relations.weight, std=0.1)

    def forward(self, x: torch.Tensor, relations: torch.Tensor, masked: torch.Tensor | None) -> torch.Tensor:
        key, value = self.relations(relations).expand(len(x), -1, -1, -1).chunk(2, -1)
        context = self.attention(self.norm1(x), key, value, masked)
        x = x + self.dropout(self.attention.linears[3](context))
        return x + self.dropout(self.linear2(self.inner_dropout(F.relu(self.linear1(self.norm2(x))))))


class _TokenTrunk(nn.Module):
    """Transformer layers over tokens and slots.  The state of a pair is computed from those of both nodes:
    relu(a_i + b_j + p_i * q_j + t(relation) + [i = j] e_i)."""

    def __init__(self, tokens: int, relations: int, width: int, heads: int, layers: int, hidden: int, dropout: float,
                 inner_dropout: float | None, tied: bool, form: str) -> None:
        super().__init__()
        self.tokens, self.relations = nn.Embedding(tokens, width), nn.Embedding(relations, width)
        inside = dropout if inner_dropout is None else inner_dropout
        self.layers = nn.ModuleList(_TokenLayer(relations, width, heads, hidden, dropout, inside)
                                    for _ in range(1 if tied else layers))
        self.node_norm, self.times, self.dropout = nn.LayerNorm(width), layers if tied else 1, nn.Dropout(dropout)
        self.pairs = nn.ModuleDict({name: nn.Linear(width, width) for name in
                                    ("left", "right", "left_factor", "right_factor", "self")})
        for table in (self.tokens, self.relations):
            nn.init.normal_(table.weight, std=0.5)

    def forward(self, nodes: torch.Tensor, relations: torch.Tensor, pad: torch.Tensor | None,
                inner: int) -> tuple[torch.Tensor, torch.Tensor | None]:
        """As _EdgeTrunk.forward().  The layers have no states of pairs, so `inner` > 0 takes those after all layers."""
        u = self.dropout(self.tokens(nodes))
        masked = None if pad is None else pad[:, None].expand(-1, pad.shape[1], -1)
        for _ in range(self.times):
            for layer in self.layers:
                u = layer(u, relations, masked)
        u = self.node_norm(u)
        left, right, left_factor, right_factor, own = (part(u) for part in self.pairs.values())
        y = (left[:, :, None] + right[:, None] + left_factor[:, :, None] * right_factor[:, None]
             + self.relations(relations) + on_diagonal(own))
        y = F.relu(y)
        return y, y if inner else None


class SentenceToGraph(Pretrained):
    """Maps sentences to labelled graphs: labels of every ordered pair of nodes, of nodes, and of the graph.  A pair and
    a node may have any number of labels, and the graph has one.

    tokens          number of words.
    edge_labels     number of labels of edges; node_labels and graph_labels are those of nodes and of graphs, or 0.
    slots           number of slots.
    hidden          width of the feed-forward block; None: 4 * width.
    dropout         rate for the first states, for both branches of a layer, and inside of them.
    inner_dropout   another rate for attention weights and hidden values; None: dropout.
    tied            one layer, applied `layers` times.
    max_offset      longest distance of two tokens with a vector of its own.
    trunk           "edge-transformer", or "transformer", a baseline.
    head            "predicates": tokens are predicates with roles; one word can make many edges, and many words can
                    make one.  "edges": labels straight from the states of pairs.
    lists           of the head "predicates": whether a queried token may take over the roles of an earlier one, as the
                    members of "a, b and c" do.  None: no; 0: by the three words before it; k: by states after layer k.
                    This is prior knowledge about coordination.
    anchored_slots  of the head "predicates": a slot has the roles of a token, instead of roles of its own.
    implied_labels  of the head "predicates": an edge may remove labels of its first node.
    form            of the Edge Transformer, as in triangular_attention().

    config is a dict of the arguments with which the model was made.
    """

    def __init__(self, tokens: int, edge_labels: int, node_labels: int = 0, graph_labels: int = 0, slots: int = 0,
                 width: int = 64, heads: int = 4, layers: int = 4, hidden: int | None = None, dropout: float = 0.1,
                 inner_dropout: float | None = None, tied: bool = False, max_offset: int = 2,
                 trunk: str = "edge-transformer", head: str = "predicates", lists: int | None = None,
                 anchored_slots: bool = False, implied_labels: bool = False, form: str = "full") -> None:
        super().__init__()
        width, heads = _checks.width_and_heads(width, heads)
        tokens, edge_labels, reach = _checks.counts(tokens=tokens, edge_labels=edge_labels, max_offset=max_offset)
        layers, tied = _checks.layer_count(layers, "layers"), _checks.flag(tied, "tied")
        anchored_slots = _checks.flag(anchored_slots, "anchored_slots")
        implied_labels = _checks.flag(implied_labels, "implied_labels")
        node_labels, graph_labels, slots = (
            _checks.none_or_more(value, name) for value, name in
            ((node_labels, "node_labels"), (graph_labels, "graph_labels"), (slots, "slots")))
        if inner_dropout is not None:
            inner_dropout = _checks.rate(inner_dropout, "inner_dropout")
        for value, known, name in ((trunk, TRUNKS, "trunk"), (head, HEADS, "head")):
            if value not in known:
                raise ValueError(f"{name}: {value!r}, expected {known[0]!r} or {known[1]!r}; pass one of the two")
        if head == "edges" and (lists is not None or anchored_slots or implied_labels):
            raise ValueError("head: 'edges', expected 'predicates' with lists, anchored_slots or implied_labels; leave "
                             "these out, or pass head=\"predicates\"")
        if anchored_slots and not slots:
            raise ValueError("slots: 0, expected 1 or more with anchored_slots; pass slots=")
        if implied_labels and not node_labels:
            raise ValueError("node_labels: 0, expected 1 or more with implied_labels; pass node_labels=")
        if lists is not None and not 0 <= _checks.whole(lists, "lists") < (layers if trunk == TRUNKS[0] else 2**31):
            raise ValueError(f"lists: {lists}, expected None, 0, or a layer before the last of {layers}; pass a "
                             "smaller number")
        self.config = {"tokens": tokens, "edge_labels": edge_labels, "node_labels": node_labels,
                       "graph_labels": graph_labels, "slots": slots, "width": width, "heads": heads, "layers": layers,
                       "hidden": hidden, "dropout": dropout, "inner_dropout": inner_dropout, "tied": tied,
                       "max_offset": reach, "trunk": trunk, "head": head, "lists": lists,
                       "anchored_slots": anchored_slots, "implied_labels": implied_labels, "form": form}
        self.words, self.slots, self.reach = tokens, slots, reach
        self.trunk = (_EdgeTrunk if trunk == TRUNKS[0] else _TokenTrunk)(
            tokens + slots, 2 * reach + 4, width, heads, layers, _checks.hidden_width(hidden, width),
            _checks.rate(dropout, "dropout"), inner_dropout, tied, form)
        self.norm = nn.LayerNorm(width)
        self.head: EdgeHead | PredicateHead
        if head == "edges":
            self.head = EdgeHead(width, edge_labels, node_labels, graph_labels)
        else:
            self.head = PredicateHead(width, edge_labels, node_labels, graph_labels, tokens, lists, anchored_slots,
                                      implied_labels)

    def _batch(self, tokens: torch.Tensor, queried: torch.Tensor | None, pad: torch.Tensor | None) -> GraphBatch:
        real = torch.ones_like(tokens, dtype=torch.bool) if pad is None else ~pad
        asked = real if queried is None else queried
        n, count = tokens.shape[1], asked.sum(1)
        most = n if queried is None else int(count.max())
        first = asked.logical_not().to(torch.int8).argsort(dim=1, stable=True)[:, :most]
        slots = torch.arange(n, n + self.slots, device=tokens.device).expand(len(tokens), -1)
        member = torch.arange(most, device=tokens.device) < count[:, None]
        return GraphBatch(tokens, real, torch.cat([first, slots], 1),
                          torch.cat([member, torch.ones_like(slots, dtype=torch.bool)], 1),
                          torch.cat([member, torch.zeros_like(slots, dtype=torch.bool)], 1))

    def _relations(self, n: int, device: torch.device) -> torch.Tensor:
        """Returns the relation numbers of all pairs of tokens and slots: clipped offsets of tokens, and then one number
        each for token to slot, slot to token, and slot to slot."""
        top = F.pad(clipped_offsets(n, self.reach, device), (0, self.slots), value=2 * self.reach + 1)
        below = torch.full((self.slots, n + self.slots), 2 * self.reach + 3, device=device)
        below[:, :n] = 2 * self.reach + 2
        return torch.cat([top, below])

    def forward(self, tokens: torch.Tensor, queried: torch.Tensor | None = None,
                pad: torch.Tensor | None = None) -> GraphScores:
        """tokens int64 (b, n).  queried bool (b, n): the tokens that may be nodes; None: all.  pad bool (b, n), True
        for padding, which follows the tokens of a sentence.

        Returns scores, in float32 at least.  probabilities() maps scores of edges and labels to probabilities."""
        expect_sentences(tokens, pad, queried)
        if tokens.numel() == 0 or (pad is not None and numbers_are_at_hand(pad) and bool(pad.all(1).any())):
            raise ValueError(f"tokens: {tuple(tokens.shape)} with a sentence of no tokens, expected one token or more "
                             "in each; leave such sentences out")
        expect_numbers(tokens, "tokens", self.words, pad)
        if queried is not None and pad is not None:
            queried = queried & ~pad
        batch = self._batch(tokens, queried, pad)
        n = tokens.shape[1]
        slots = torch.arange(self.words, self.words + self.slots, device=tokens.device).expand(len(tokens), -1)
        absent = None if pad is None else F.pad(pad, (0, self.slots), value=False)
        numbers = tokens if pad is None else tokens.masked_fill(pad, 0)
        x, inside = self.trunk(torch.cat([numbers, slots], 1), self._relations(n, tokens.device), absent,
                               self.head.inner)
        scores = self.head(self.norm(x), inside, batch)
        # In the answer, the slots follow the real tokens of a sentence.
        of_slots = batch.columns >= n
        columns = batch.columns - of_slots * (~batch.real).sum(1, keepdim=True)
        return scores._replace(columns=columns.where(batch.filled, -1))

    def probabilities(self, scores: torch.Tensor) -> torch.Tensor:
        """Returns the probabilities of scores of edges, of labels or of the bag."""
        return self.head.probabilities(scores)

    def loss(self, tokens: torch.Tensor, edges: Sequence[Iterable[tuple[int, int, int]]],
             labels: Sequence[Iterable[tuple[int, int]]] | None = None, graph: torch.Tensor | None = None,
             queried: torch.Tensor | None = None, pad: torch.Tensor | None = None, bag: float = 0.0,
             pointers: float = 0.0) -> torch.Tensor:
        """Returns the mean over sentences of the cross entropies of all labels of pairs and nodes, plus the mean cross
        entropy of the graphs' labels.

        edges   for each sentence, its edges (from, label, to).  Nodes are numbered as this module's docstring says.
        labels  for each sentence, the labels (node, label) of its nodes; None: no node has a label.
        graph   int64 (b), the label of each graph; negative: not counted.  None: none is counted.
        bag     weight of the cross entropy of the labels that any pair of a graph has.
        pointers  weight of the penalty of members of lists that keep their own roles.

        The program's preset `cfq-queries` has bag=0.5, and pointers=1.2 from when 60 % of the training sentences are
        right."""
        bag, pointers = _checks.weight(bag, "bag"), _checks.weight(pointers, "pointers")
        scores = self(tokens, queried, pad)
        if bag and scores.bag is None:
            raise ValueError(f"bag: {bag}, expected 0 with the head \"edges\"; leave it out")
        if pointers and scores.pointers is None:
            raise ValueError(f"pointers: {pointers}, expected 0 without lists; leave it out, or make the model with "
                             "lists=")
        b = len(tokens)
        if len(edges) != b or (labels is not None and len(labels) != b):
            given = len(edges) if len(edges) != b else len(labels or ())
            raise ValueError(f"{'edges' if len(edges) != b else 'labels'}: {given} sentences, expected {b}; pass one "
                             "list for each row of tokens")
        real = scores.columns >= 0
        at = self._places(scores.columns)
        of_pairs = _marked(scores.edges, [
            (s, _column(at[s], source, "edges", s), _column(at[s], target, "edges", s),
             _label(label, self.config["edge_labels"], "edges", s))
            for s, triples in enumerate(edges) for source, label, target in _rows(triples, 3, "edges", s)])
        of_nodes = _marked(scores.labels, [
            (s, _column(at[s], node, "labels", s), _label(label, self.config["node_labels"], "labels", s))
            for s, pairs in enumerate(labels or ()) for node, label in _rows(pairs, 2, "labels", s)])
        both = real[:, :, None] & real[:, None]
        total = (self.head.misses(scores.edges, of_pairs)[both].sum()
                 + self.head.misses(scores.labels, of_nodes)[real].sum())
        if bag and scores.bag is not None:
            any_pair = of_pairs.flatten(1, 2).any(1).to(scores.bag)
            total = total + bag * self.head.misses(scores.bag, any_pair).sum()
        if pointers and scores.pointers is not None:
            own = scores.pointers.diagonal(dim1=1, dim2=2)
            late = torch.arange(real.shape[1], device=real.device) < real.shape[1] - self.slots
            late = real & late & (late.cumsum(0) > 1)  # the first member points to itself
            total = total - pointers * torch.log(1 - own[late] + PENALTY_OFFSET).sum()
        total = total / b
        return total if graph is None else total + self._graph_loss(scores.graph, graph)

    def _graph_loss(self, logits: torch.Tensor, graph: torch.Tensor) -> torch.Tensor:
        if not _arrays.is_torch(graph) or graph.dtype != torch.int64 or graph.shape != logits.shape[:1]:
            raise ValueError(f"graph: {getattr(graph, 'dtype', type(graph).__name__)} "
                             f"{tuple(getattr(graph, 'shape', ()))}, expected int64 ({len(logits)},); pass a label "
                             "for each sentence")
        if (wrong := outside(graph, logits.shape[1], graph < 0)) is not None:
            raise ValueError(f"graph: {wrong}, expected a label below {logits.shape[1]}; make the model with "
                             "graph_labels=")
        if not logits.shape[1]:
            return logits.sum()
        total = F.cross_entropy(logits, graph.where(graph >= 0, -100), reduction="sum")
        return total / (graph >= 0).sum().clamp(min=1)

    @staticmethod
    def _places(columns: torch.Tensor) -> list[dict[int, int]]:
        """Returns for each sentence: the column of each node."""
        return [{node: column for column, node in enumerate(row) if node >= 0} for row in columns.tolist()]

    @torch.no_grad()
    def predict(self, tokens: torch.Tensor, queried: torch.Tensor | None = None, pad: torch.Tensor | None = None,
                threshold: float = 0.5) -> list[SentenceGraph]:
        """Returns the graph of each sentence: the edges and labels whose probability is `threshold` or more, and the
        likeliest label of the graph.  Call eval() first, because dropout is that of the module's mode."""
        _checks.expect_number(threshold, "threshold")
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold: {threshold}, expected 0 to 1; 0.5 is the default")
        scores = self(tokens, queried, pad)
        edges, labels = (self.probabilities(x).float().cpu() for x in (scores.edges, scores.labels))
        best = scores.graph.float().softmax(-1).max(-1) if scores.graph.shape[1] else None
        found = []
        for s, at in enumerate(self._places(scores.columns)):
            node = {column: number for number, column in at.items()}
            there = sorted(node)
            of_edges, of_labels = edges[s][there][:, there], labels[s][there]
            triples = [(node[there[i]], r, node[there[j]], float(of_edges[i, j, r]))
                       for i, j, r in (of_edges >= threshold).nonzero().tolist()]
            pairs = [(node[there[i]], u, float(of_labels[i, u]))
                     for i, u in (of_labels >= threshold).nonzero().tolist()]
            found.append(SentenceGraph(triples, pairs,
                                       None if best is None else (int(best.indices[s]), float(best.values[s]))))
        return found


def _marked(scores: torch.Tensor, at: list[tuple[int, ...]]) -> torch.Tensor:
    """Returns zeros of the scores' shape, with ones at these places."""
    marked = torch.zeros_like(scores)
    if at:
        marked[torch.tensor(at, device=scores.device).unbind(1)] = 1
    return marked


def _rows(rows: Iterable[Sequence[int]], size: int, name: str, sentence: int) -> list[Sequence[int]]:
    """Returns the rows as lists of `size` numbers.  A tensor or an array is a matrix of rows."""
    found = list(rows.tolist() if hasattr(rows, "tolist") else rows)
    for row in found:
        if not isinstance(row, Sequence) or len(row) != size:
            wanted = "(from, label, to)" if size == 3 else "(node, label)"
            raise ValueError(f"{name}: {row!r} in sentence {sentence}, expected {wanted}; pass a list of them for each "
                             "sentence")
    return found


def _column(at: dict[int, int], node: int, name: str, sentence: int) -> int:
    if (number := _checks.whole(node, "a node")) not in at:
        raise ValueError(f"{name}: node {number} of sentence {sentence}, expected one of its queried tokens or slots; "
                         "mark it in queried, or make the model with more slots")
    return at[number]


def _label(label: int, count: int, name: str, sentence: int) -> int:
    if not 0 <= _checks.whole(label, "a label") < count:
        raise ValueError(f"{name}: label {label} in sentence {sentence}, expected 0 to {count - 1}; make the model "
                         "with more labels")
    return label
