"""Heads that label the edges and nodes of a sentence's graph, and the graph.  SentenceToGraph has one of them.

The graph has M `columns`: the queried tokens of a sentence, and then the slots.  Sentences of a batch are padded.  A
column without a node, and a token that is padding, has no part in any sum.

y and x (b, N, N, d) are states of all pairs of the N = n + K tokens and slots.  Probabilities are computed in float32
at least, also under autocast: in half types, 1 - kappa is 0, and log(1 - P) is not finite."""
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from ._sentences import own_states

KAPPA = 1 - 1e-6           # the largest probability that one token is the cause of an edge or of a label
PENALTY_OFFSET = 1e-4      # keeps the penalty of a list's members finite
IMPLIED_FACTOR = 16        # of the parameters `implied` in their logits, so that Adam moves them fast enough
WORDS_BEFORE = 3           # the words before a node that _WordPointers reads
SQUARINGS = 3              # chains of up to 2**SQUARINGS links are followed


class GraphBatch(NamedTuple):
    """The nodes of a padded batch of b sentences of up to n tokens, with K slots and up to m queried tokens."""
    tokens: torch.Tensor    # (b, n) int64
    real: torch.Tensor      # (b, n) bool: False for padding
    columns: torch.Tensor   # (b, m + K) int64: the number of each column's node among the N tokens and slots
    filled: torch.Tensor    # (b, m + K) bool: False for a column without a node
    members: torch.Tensor   # (b, m + K) bool: True for queried tokens

    def at_columns(self, y: torch.Tensor) -> torch.Tensor:
        """Returns the states (b, M, M, d) of the pairs of columns."""
        sentence = torch.arange(len(y), device=y.device)[:, None, None]
        return y[sentence, self.columns[:, :, None], self.columns[:, None, :]]

    def own(self, y: torch.Tensor) -> torch.Tensor:
        """Returns the states (b, M, d) of the columns' nodes."""
        return y[torch.arange(len(y), device=y.device)[:, None], self.columns, self.columns]


class GraphScores(NamedTuple):
    """What a head computes for a batch.  It has M columns: as many as a sentence has queried tokens at most, and then
    one for each slot.  Columns without a node have no meaning."""
    edges: torch.Tensor            # (b, M, M, edge labels): [b, i, j, r] is the score of an edge r from i to j
    labels: torch.Tensor           # (b, M, node labels)
    graph: torch.Tensor            # (b, graph labels): logits, of which a softmax is taken
    bag: torch.Tensor | None       # (b, edge labels): scores that any pair has the label; None: the head has none
    pointers: torch.Tensor | None  # (b, M, M): the probability that column i takes over the roles of j; None: no lists
    columns: torch.Tensor          # (b, M) int64: the node of each column, as the module numbers nodes; -1: none


def _map(width: int, count: int) -> nn.Linear:
    """Returns a linear map to `count` values, which may be 0.  PyTorch warns when it sets initial values of such a map.
    """
    made = nn.Linear(width, max(count, 1))
    if not count:
        made.out_features, made.weight, made.bias = 0, nn.Parameter(made.weight[:0]), nn.Parameter(made.bias[:0])
    return made


def _wide(x: torch.Tensor) -> torch.Tensor:
    """Returns x in float32, or in float64 if it has this type."""
    return x if x.dtype == torch.float64 else x.float()


def graph_state(y: torch.Tensor, n: int) -> torch.Tensor:
    """Returns the state (b, d) of the first slot, or of the first token without slots."""
    k = n if y.shape[1] > n else 0
    return y[:, k, k]


class EdgeHead(nn.Module):
    """Labels straight from the states y of pairs: a sigmoid of a linear map for each label of an edge and of a node."""
    inner = 0

    def __init__(self, width: int, edges: int, nodes: int, graphs: int) -> None:
        super().__init__()
        self.edge, self.node, self.graph = (_map(width, count) for count in (edges, nodes, graphs))
        nn.init.constant_(self.edge.bias, -4)
        nn.init.constant_(self.node.bias, -4)

    def forward(self, y: torch.Tensor, inside: torch.Tensor | None, batch: GraphBatch) -> GraphScores:
        return GraphScores(_wide(self.edge(batch.at_columns(y))), _wide(self.node(batch.own(y))),
                           _wide(self.graph(graph_state(y, batch.tokens.shape[1]))), None, None, batch.columns)

    @staticmethod
    def probabilities(scores: torch.Tensor) -> torch.Tensor:
        return scores.sigmoid()

    @staticmethod
    def misses(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Returns the binary cross entropy of each label."""
        return F.binary_cross_entropy_with_logits(scores, targets, reduction="none")


def _links(score: torch.Tensor, own: torch.Tensor, members: torch.Tensor, distance: float) -> torch.Tensor:
    """Returns L (b, M, M).  score (b, M, M) is that of member i to continue a list after member j, own (b, M) that of
    member i to continue none.  Columns that are no members point to themselves."""
    place = members.cumsum(1) - 1
    between = place[:, :, None] - place[:, None, :] - 1  # the members between i and j
    before = members[:, :, None] & members[:, None, :] & (between >= 0)
    itself = torch.eye(score.shape[1], dtype=torch.bool, device=score.device)
    scores = torch.where(itself, torch.diag_embed(own), score - distance * between.to(score))
    links = scores.masked_fill(~(before | itself), -torch.inf).softmax(-1)
    return torch.where(members[:, :, None], links, itself.to(links))


class _WordPointers(nn.Module):
    """Pointers of coordinated nodes that read the three words before a node."""
    distance = 10.0  # a member points, in effect, only to itself and to the member before it

    def __init__(self, width: int, words: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words + 1, width)  # the last row stands for a place before the first word
        self.self_hidden, self.self_score = nn.Linear(WORDS_BEFORE * width, width), nn.Linear(width, 1)
        nn.init.normal_(self.words.weight, std=0.5)
        nn.init.constant_(self.self_score.bias, 4)

    def forward(self, x: torch.Tensor | None, batch: GraphBatch) -> torch.Tensor:
        padded = F.pad(batch.tokens, (WORDS_BEFORE, 0), value=self.words.num_embeddings - 1)
        at = batch.columns.where(batch.members, 0)[:, :, None] + torch.arange(WORDS_BEFORE, device=padded.device)
        near = self.words(padded.gather(1, at.flatten(1))).unflatten(1, at.shape[1:]).flatten(2)
        own = _wide(self.self_score(F.relu(self.self_hidden(near)))[..., 0])
        return _links(own.new_zeros(*own.shape, own.shape[1]), own, batch.members, self.distance)


class _StatePointers(nn.Module):
    """Pointers of coordinated nodes that read states of pairs."""
    distance = 2.0

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.hidden, self.score = nn.Linear(width, width), nn.Linear(width, 1)
        self.self_hidden, self.self_score = nn.Linear(width, width), nn.Linear(width, 1)
        nn.init.constant_(self.self_score.bias, 4)

    def forward(self, x: torch.Tensor, batch: GraphBatch) -> torch.Tensor:
        score = _wide(self.score(F.relu(self.hidden(self.norm(batch.at_columns(x)))))[..., 0])
        own = _wide(self.self_score(F.relu(self.self_hidden(self.norm(batch.own(x)))))[..., 0])
        return _links(score, own, batch.members, self.distance)


class _SlotAnchors(nn.Module):
    """The probability that a slot has the roles of a token, or is not in the graph."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.from_slot, self.to_slot = nn.Linear(width, 1, bias=False), nn.Linear(width, 1, bias=False)
        self.none = nn.Linear(width, 1)

    def forward(self, y: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """Returns the probabilities (b, K, n) of the tokens.  real (b, n) is False for padding."""
        n = real.shape[1]
        scores = self.from_slot(y[:, n:, :n])[..., 0] + self.to_slot(y[:, :n, n:])[..., 0].transpose(1, 2)
        itself = own_states(y[:, n:, n:])
        scores = scores.masked_fill(~real[:, None], -torch.inf)
        return _wide(torch.cat([scores, self.none(itself)], -1)).softmax(-1)[..., :-1]


class PredicateHead(nn.Module):
    """Labels through predicates: every token may be one, with three roles (triad's layers/heads/predicate_head.hpp).

    With the states y of pairs, tokens t and columns a and c:

        p_t = sigmoid(predicate(y_tt)),  q_t = sigmoid(label(y_tt)),  rho_ta = sigmoid(role(y_ta))
        P(a, r, c) = 1 - prod_t (1 - p_t[r] rho_ta[0] rho_tc[1]);    P(a, u) = 1 - prod_t (1 - q_t[u] rho_ta[2])

    Scores of edges and labels are log(1 - P).  The backward pass keeps b n M^2 numbers for each label of edges, where
    the C++ library keeps none."""

    def __init__(self, width: int, edges: int, nodes: int, graphs: int, words: int, lists: int | None, anchors: bool,
                 implied: bool) -> None:
        super().__init__()
        self.predicate, self.label, self.role, self.graph = (_map(width, count) for count in (edges, nodes, 3, graphs))
        nn.init.constant_(self.predicate.bias, -3)
        nn.init.constant_(self.label.bias, -3)
        nn.init.constant_(self.role.bias, -1)
        self.inner = lists or 0
        self.pointers = None if lists is None else _StatePointers(width) if lists else _WordPointers(width, words)
        self.anchors = _SlotAnchors(width) if anchors else None
        self.implied = nn.Parameter(torch.full((edges, nodes), -0.25)) if implied else None

    def _own_roles(self, y: torch.Tensor, batch: GraphBatch) -> torch.Tensor:
        """Returns rho before lists and anchors: (b, n, M, 3) of the columns, or (b, n, n, 3) of all tokens if slots are
        anchored."""
        n = batch.tokens.shape[1]
        if self.anchors is not None:
            return _wide(self.role(y[:, :n, :n])).sigmoid()
        sentence, token = (torch.arange(size, device=y.device) for size in (len(y), n))
        return _wide(self.role(y[sentence[:, None, None], token[:, None], batch.columns[:, None]])).sigmoid()

    @staticmethod
    def _roles(role: torch.Tensor, anchors: torch.Tensor | None, links: torch.Tensor | None,
               batch: GraphBatch) -> torch.Tensor:
        """Returns the roles (b, n, M, 3) of all columns at all tokens, from the result of _own_roles(), the anchors
        (b, K, n) and the links (b, M, M)."""
        heads = None if links is None else torch.linalg.matrix_power(links, 2**SQUARINGS)
        if anchors is None:
            return role if heads is None else torch.einsum("bac,btcr->btar", heads, role)
        n, m = batch.tokens.shape[1], batch.columns.shape[1] - anchors.shape[1]
        at = batch.columns[:, :m].where(batch.filled[:, :m], 0)  # the tokens of the members
        picked = F.one_hot(at, n).to(role) * batch.filled[:, :m, None]
        if heads is not None:
            # Tokens that are no members keep their roles, and members have those of the heads of their lists.
            mixed = picked.transpose(1, 2) @ heads[:, :m, :m] @ picked
            others = 1 - picked.sum(1)
            role = torch.einsum("bac,btcr->btar", mixed + torch.diag_embed(others), role)
        return torch.einsum("bac,btcr->btar", torch.cat([picked, anchors], 1), role)

    def _without_implied(self, edges: torch.Tensor, labels: torch.Tensor, filled: torch.Tensor) -> torch.Tensor:
        """Removes labels that edges of the node imply: x' = log(1 - P exp(y)), with P = 1 - exp(x)."""
        assert self.implied is not None
        leaving = -torch.expm1(edges.detach().masked_fill(~filled[:, None, :, None], 0).sum(2))  # (b, M, edges)
        implied = (IMPLIED_FACTOR * _wide(self.implied)).sigmoid()
        y = torch.log1p(-KAPPA * leaving[..., None] * implied).sum(2)
        y = y.clamp(max=-torch.finfo(y.dtype).tiny)  # the logarithm below is finite
        return torch.logaddexp(torch.log(-torch.expm1(y)), labels + y)

    def forward(self, y: torch.Tensor, inside: torch.Tensor | None, batch: GraphBatch) -> GraphScores:
        n = batch.tokens.shape[1]
        links = None if self.pointers is None else self.pointers(inside, batch)
        own = own_states(y[:, :n, :n])
        predicate, label = (_wide(part(own)).sigmoid() * batch.real[..., None] for part in (self.predicate, self.label))
        graph, role = _wide(self.graph(graph_state(y, n))), self._own_roles(y, batch)
        anchors = None if self.anchors is None else self.anchors(y, batch.real)
        with torch.autocast(y.device.type, enabled=False):
            return self._answers(predicate, label, self._roles(role, anchors, links, batch), links, graph, batch)

    def _answers(self, predicate: torch.Tensor, label: torch.Tensor, roles: torch.Tensor, links: torch.Tensor | None,
                 graph: torch.Tensor, batch: GraphBatch) -> GraphScores:
        """predicate (b, n, edge labels), label (b, n, node labels), roles (b, n, M, 3), links (b, M, M)."""
        first, second, third = roles.unbind(-1)
        pairs = (first[..., :, None] * second[..., None, :]).clamp(max=1)  # a mixture can round to more than 1
        if torch.is_grad_enabled():
            edges = _noisy_or(torch.einsum("btr,btac->btacr", predicate, pairs))
        else:  # one token after another, in the memory of the result
            edges = predicate.new_zeros(*pairs.shape[::2], pairs.shape[3], predicate.shape[2])
            for p, q in zip(predicate.unbind(1), pairs.unbind(1)):
                edges += torch.log1p(-KAPPA * p[:, None, None] * q[..., None])
        labels = _noisy_or(torch.einsum("btu,bta->btau", label, third.clamp(max=1)))
        if self.implied is not None:
            labels = self._without_implied(edges, labels, batch.filled)
        return GraphScores(edges, labels, graph, _noisy_or(predicate), links, batch.columns)

    @staticmethod
    def probabilities(scores: torch.Tensor) -> torch.Tensor:
        return -torch.expm1(scores)

    @staticmethod
    def misses(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Returns the binary cross entropy of each label.  1e-7 keeps it and its gradient finite where P = 0."""
        s = scores - 1e-7
        return -(targets * torch.log(-torch.expm1(s)) + (1 - targets) * s)


def _noisy_or(causes: torch.Tensor) -> torch.Tensor:
    """Returns log(1 - P), where P is the probability that a token is a cause.  causes (b, n, ...)"""
    return torch.log1p(-KAPPA * causes).sum(1)
