"""PyTorch modules of dependency parsers.

A parser maps the tokens of a sentence to the head of each token, and to the relation of the token to its head:

    arcs(i, j)          score of token j as the head of token i; j = i: token i is the root
    relations(i, :)     logits of the relation of token i to its head
    loss = mean over tokens of  -log softmax(arcs(i, :))(head of i)  +  the same of its relation
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from . import _arrays, _checks, _kernels
from ._graph_models import initialize, without
from ._pretrained import Pretrained
from ._sentences import clipped_offsets, expect_numbers, expect_sentences, layers_times, on_diagonal, waves
from ._torch_attention import numbers_are_at_hand
from .modules import EdgeTransformerLayer


def maximum_arborescence(scores: Any, roots: str = "one") -> np.ndarray:
    """Returns the heads of the tree whose scores have the largest sum, int64 (n).

    scores (n, n): that of token j as the head of token i, and of token i as a root at j = i.  A root is its own head.
    roots  "one": the tree has exactly one root.  "any": it may have several, so that it is a forest.
    The algorithm is that of Chu and Liu 1965 and Edmonds 1967, and takes O(n^3).  Raises a ValueError if a score is not
    finite, or if the scores have another shape."""
    if roots not in ("one", "any"):
        raise ValueError(f"roots: {roots!r}, expected 'one' or 'any'; leave it out for one root")
    if _arrays.is_torch(scores):
        if scores.is_complex() or scores.dtype == torch.bool:
            raise TypeError(f"scores are {scores.dtype}, expected real numbers; convert them by float()")
        scores = scores.detach().cpu().double().numpy()
    values = np.asarray(scores)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise ValueError(f"scores have shape {tuple(values.shape)}, expected (n, n); pass a row of heads for each "
                         "token")
    if values.dtype.kind not in "fiu":
        raise TypeError(f"scores are {values.dtype}, expected real numbers; convert them by float()")
    values = np.ascontiguousarray(values, dtype=np.float64)
    heads = np.empty(len(values), dtype=np.int64)
    _kernels.run("triad_arborescence", len(values), _arrays.address(values), int(roots == "one"),
                 _arrays.address(heads))
    return heads


class DependencyScores(NamedTuple):
    """What a parser computes for a batch of sentences of up to n tokens."""
    arcs: torch.Tensor              # (b, n, n): [b, i, j] is the score of j as the head of i; -inf where j is padding
    relations: torch.Tensor | None  # (b, n, relations): logits for the given heads; None without heads


class _DependencyParser(Pretrained):
    """What both parsers share: forward(), loss() and parse()."""

    def states(self, tokens: torch.Tensor, pad: torch.Tensor | None) -> torch.Tensor:
        raise NotImplementedError

    def arcs(self, states: torch.Tensor) -> torch.Tensor:
        """Returns the scores (b, n, n) of all heads, from the result of states()."""
        raise NotImplementedError

    def relations(self, states: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        """Returns the logits (b, n, relations) of each token's relation to its head, heads int64 (b, n)."""
        raise NotImplementedError

    def _scored(self, tokens: torch.Tensor, pad: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the states, and the scores (b, n, n) of all heads, -inf where the head is padding."""
        expect_numbers(tokens, "tokens", self.config["tokens"])
        states = self.states(tokens, pad)
        arcs = self.arcs(states)
        return states, arcs if pad is None else arcs.masked_fill(pad[:, None, :], -torch.inf)

    def forward(self, tokens: torch.Tensor, heads: torch.Tensor | None = None,
                pad: torch.Tensor | None = None) -> DependencyScores:
        """tokens int64 (b, n).  heads int64 (b, n): the head of each token, counted from 0; the root is its own head.
        pad bool (b, n), True for padding, which follows the tokens of a sentence.  Rows of padding have no meaning."""
        expect_sentences(tokens, pad, **({} if heads is None else {"heads": heads}))
        if heads is not None:
            _expect_heads(heads, pad)
        states, arcs = self._scored(tokens, pad)
        return DependencyScores(arcs, None if heads is None else self.relations(states, heads))

    def loss(self, tokens: torch.Tensor, heads: torch.Tensor, relations: torch.Tensor,
             pad: torch.Tensor | None = None) -> torch.Tensor:
        """Returns the mean cross entropy of heads plus that of relations, over all tokens that are no padding.

        tokens, heads and pad are those of forward(); relations int64 (b, n) are the numbers of the relations.  A batch
        without tokens has the loss NaN."""
        expect_sentences(tokens, pad, heads=heads, relations=relations)
        expect_numbers(relations, "relations", self.config["relations"], pad)
        scores = self(tokens, heads, pad)
        assert scores.relations is not None
        real = torch.ones_like(tokens, dtype=torch.bool) if pad is None else ~pad
        return (F.cross_entropy(scores.arcs[real], heads[real])
                + F.cross_entropy(scores.relations[real], relations[real]))

    @torch.no_grad()
    def parse(self, tokens: torch.Tensor,
              pad: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns the best tree of each sentence: heads and relations, int64 (b, n), and the probabilities of both.

        The heads are those of the tree with one root whose log-probabilities have the largest sum; finding it takes
        time O(n^3).  The first probability is that of the head, before the tree was chosen; the second that of the
        relation, given the head.  The rows of padding tokens are zeros.  Call eval() first, because dropout is that of
        the module's mode."""
        expect_sentences(tokens, pad)
        states, arcs = self._scored(tokens, pad)
        scores = arcs.float().log_softmax(-1)
        found, on_host = torch.zeros(tokens.shape, dtype=torch.int64), scores.cpu()
        counts = [tokens.shape[1]] * len(tokens) if pad is None else (~pad).sum(1).tolist()
        for row, n in enumerate(counts):
            found[row, :n] = torch.from_numpy(maximum_arborescence(on_host[row, :n, :n]))
        heads = found.to(tokens.device)
        sure, relations = self.relations(states, heads).float().softmax(-1).max(-1)
        of_head = scores.gather(2, heads[..., None])[..., 0].exp()
        if pad is not None:
            relations, sure, of_head = (x.masked_fill(pad, 0) for x in (relations, sure, of_head))
        return heads, relations, of_head, sure


class EdgeDependencyParser(_DependencyParser):
    """Edge Transformer layers over all ordered pairs of tokens, with two linear heads that read the state of the pair
    (token, head).  The first state of the pair (i, j) is a vector of its relative position j - i, plus the vector of
    the token where i = j (Edge Transformer, equation 10).

    tokens        rows of the table of words, with the padding and the word for unknown words.
    relations     number of relations.
    hidden        width of the feed-forward block; None: 4 * width.
    tied          one layer, applied `layers` times.
    max_offset    longest distance of two tokens with a vector of its own.
    form          as in triangular_attention().

    config is a dict of the arguments with which the model was made.
    """

    def __init__(self, tokens: int, relations: int, width: int = 128, heads: int = 4, layers: int = 4,
                 hidden: int | None = None, dropout: float = 0.1, tied: bool = False, max_offset: int = 16,
                 form: str = "full") -> None:
        super().__init__()
        width, heads = _checks.width_and_heads(width, heads)
        tokens, relations = _checks.counts(tokens=tokens, relations=relations)
        self.config = {"tokens": tokens, "relations": relations, "width": width, "heads": heads, "layers": layers,
                       "hidden": hidden, "dropout": dropout, "tied": tied, "max_offset": max_offset, "form": form}
        self.times, self.reach = layers_times(layers, tied), _checks.one_or_more(max_offset, "max_offset")
        self.tokens, self.offsets = nn.Embedding(tokens, width), nn.Embedding(2 * self.reach + 1, width)
        self.layers = nn.ModuleList(EdgeTransformerLayer(width, heads, hidden, dropout, True, form)
                                    for _ in range(1 if tied else layers))
        self.arc, self.relation = nn.Linear(width, 1), nn.Linear(width, relations)
        for part in (self.offsets, self.layers, self.arc, self.relation):
            initialize(part)

    def states(self, tokens: torch.Tensor, pad: torch.Tensor | None) -> torch.Tensor:
        """Returns the states (b, n, n, width) of all pairs."""
        offsets = clipped_offsets(tokens.shape[1], self.reach, tokens.device)
        x = self.offsets(offsets) + on_diagonal(self.tokens(tokens))
        mask = None if pad is None else without(pad)
        for _ in range(self.times):
            for layer in self.layers:
                x = layer(x, mask)
        return x

    def arcs(self, states: torch.Tensor) -> torch.Tensor:
        return self.arc(states)[..., 0]

    def relations(self, states: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        at = heads[..., None, None].expand(-1, -1, 1, states.shape[-1])
        return self.relation(states.gather(2, at)[:, :, 0])


class BiaffineDependencyParser(_DependencyParser):
    """Transformer layers over tokens, with biaffine heads (Dozat and Manning 2017).  All relations share `width`
    matrices of rank one, as in triad's layers/heads/biaffine_heads.hpp:

        [u v p q] = drop(relu(linear maps of the token's state))
        arcs(i, j) = (W u_i + w) . v_j  +  [i = j] (r . u_i + c);    relations(i, :) = C ((A p_i + e) * (B q_j + f)) + g

    tokens, relations, hidden, dropout   as for EdgeDependencyParser.
    tied                                 one layer, applied `layers` times: a universal Transformer.
    """

    def __init__(self, tokens: int, relations: int, width: int = 128, heads: int = 4, layers: int = 4,
                 hidden: int | None = None, dropout: float = 0.1, tied: bool = False) -> None:
        super().__init__()
        width, heads = _checks.width_and_heads(width, heads)
        tokens, relations = _checks.counts(tokens=tokens, relations=relations)
        self.config = {"tokens": tokens, "relations": relations, "width": width, "heads": heads, "layers": layers,
                       "hidden": hidden, "dropout": dropout, "tied": tied}
        self.times = layers_times(layers, tied)
        self.tokens, self.dropout = nn.Embedding(tokens, width), nn.Dropout(_checks.rate(dropout, "dropout"))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, _checks.hidden_width(hidden, width), dropout, batch_first=True)
            for _ in range(1 if tied else layers))
        self.norm = nn.LayerNorm(width)
        self.ends = nn.ModuleDict({name: nn.Linear(width, width) for name in
                                   ("arc_child", "arc_parent", "relation_child", "relation_parent")})
        self.arc, self.root = nn.Linear(width, width), nn.Linear(width, 1)
        self.child, self.parent = nn.Linear(width, width), nn.Linear(width, width)
        self.relation = nn.Linear(width, relations)
        for name, part in self.named_children():
            if name != "tokens":
                initialize(part)

    def states(self, tokens: torch.Tensor, pad: torch.Tensor | None) -> torch.Tensor:
        """Returns the states (b, n, width) of all tokens."""
        words = self.tokens(tokens)
        x = self.dropout(words + waves(words.shape[1], words.shape[2], words.device).to(words))
        for _ in range(self.times):
            for layer in self.layers:
                x = layer(x, src_key_padding_mask=pad if tokens.numel() else None)  # a mask of nothing is refused
        return self.norm(x)

    def _end(self, name: str, states: torch.Tensor) -> torch.Tensor:
        return self.dropout(F.relu(self.ends[name](states)))

    def arcs(self, states: torch.Tensor) -> torch.Tensor:
        child = self._end("arc_child", states)
        scores = self.arc(child) @ self._end("arc_parent", states).transpose(1, 2)
        return scores + torch.diag_embed(self.root(child)[..., 0])

    def relations(self, states: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        child = self.child(self._end("relation_child", states))
        parent = self.parent(self._end("relation_parent", states))
        return self.relation(child * parent.gather(1, heads[..., None].expand_as(child)))


def _expect_heads(heads: torch.Tensor, pad: torch.Tensor | None) -> None:
    """Refuses heads that are no tokens of the sentence, but for those of padding, which must be tokens of the batch."""
    expect_numbers(heads, "heads", heads.shape[1])
    if pad is not None and numbers_are_at_hand(heads):
        wrong = pad.gather(1, heads) & ~pad
        if bool(wrong.any()):
            raise ValueError(f"heads: {int(heads[wrong][0])}, which is padding, expected a token of the sentence; "
                             "count from 0")
