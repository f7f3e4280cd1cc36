"""PyTorch modules of the parsers of COGS, which the Edge Transformer's paper trains (its section 4.2).

A parser maps each token of a sentence to its parent and to four labels: the role of the edge from the parent, the
category, the type of noun, and the name of the verb.  Number 0 of words and of labels is that of padding.  A label 0
of a real token counts like any other; the released program leaves it out of the loss.

    parents(i, j)   score of token j as the parent of token i; j = i: token i is the root
    loss            sum of five mean cross entropies: of parents and of the four labels"""
from __future__ import annotations

import re
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from . import _checks
from ._graph_models import initialize, without
from ._pretrained import Pretrained
from ._sentences import (clipped_offsets, expect_numbers, expect_sentences, layers_times, on_diagonal, own_states,
                         waves)
from ._torch_attention import numbers_are_at_hand
from .modules import EdgeTransformerLayer
from .parsers import maximum_arborescence

FIXED_WORD = 1  # the word whose vector the released program keeps at 0, as if it were padding


# Of the released program, which stores them: vectors of positions, and relation numbers.
_BUFFERS = ("encoder.pe.pe", "encoder.spatial_relations_builder.relations")


class SemanticScores(NamedTuple):
    """What a parser computes for a batch of sentences of up to n tokens."""
    parents: torch.Tensor      # (b, n, n): [b, i, j] is the score of j as the parent of i; -inf where j is padding
    roles: torch.Tensor        # (b, n, roles): logits
    categories: torch.Tensor   # (b, n, categories)
    noun_types: torch.Tensor   # (b, n, noun types)
    verbs: torch.Tensor        # (b, n, verbs)


class SemanticParse(NamedTuple):
    """Parents and labels of all tokens, int64 (b, n) each.  A root is its own parent."""
    parents: torch.Tensor
    roles: torch.Tensor
    categories: torch.Tensor
    noun_types: torch.Tensor
    verbs: torch.Tensor


class _SemanticParser(Pretrained):
    """What both parsers share: the words, the labels, forward(), loss() and parse()."""

    def __init__(self, tokens: int, roles: int, categories: int, noun_types: int, verbs: int, width: int,
                 positional_dropout: float, verb_from_word: bool, learn_all: bool) -> None:
        super().__init__()
        tokens, roles, categories, noun_types, verbs = _checks.counts(tokens=tokens, roles=roles, categories=categories,
                                                                      noun_types=noun_types, verbs=verbs)
        verb_from_word, learn_all = (_checks.flag(verb_from_word, "verb_from_word"),
                                     _checks.flag(learn_all, "learn_all"))
        fixed = None if learn_all or tokens <= FIXED_WORD else FIXED_WORD
        self.word_emb, self.verb_from_word = nn.Embedding(tokens, width, padding_idx=fixed), verb_from_word
        self.positional_dropout = nn.Dropout(_checks.rate(positional_dropout, "positional_dropout"))
        self.decode_role, self.decode_category = nn.Linear(width, roles), nn.Linear(width, categories)
        self.decode_noun_type, self.decode_verb_name = nn.Linear(width, noun_types), nn.Linear(width, verbs)

    def states(self, tokens: torch.Tensor, pad: torch.Tensor | None) -> torch.Tensor:
        """Returns the states that parents() and own() read."""
        raise NotImplementedError

    def parents(self, states: torch.Tensor) -> torch.Tensor:
        """Returns the scores (b, n, n) of all parents, from the result of states()."""
        raise NotImplementedError

    def own(self, states: torch.Tensor) -> torch.Tensor:
        """Returns the states (b, n, width) of tokens."""
        raise NotImplementedError

    def scores(self, tokens: torch.Tensor, states: torch.Tensor, pad: torch.Tensor | None) -> SemanticScores:
        """Returns the scores, from the result of states()."""
        parents, own = self.parents(states), self.own(states)
        verbs = self.decode_verb_name(self.word_emb(tokens) if self.verb_from_word else own)
        return SemanticScores(parents if pad is None else parents.masked_fill(pad[:, None, :], -torch.inf),
                              self.decode_role(own), self.decode_category(own), self.decode_noun_type(own), verbs)

    def forward(self, tokens: torch.Tensor, pad: torch.Tensor | None = None) -> SemanticScores:
        """tokens int64 (b, n).  pad bool (b, n), True for padding, which follows the tokens of a sentence.  Rows of
        padding have no meaning."""
        expect_sentences(tokens, pad)
        expect_numbers(tokens, "tokens", self.word_emb.num_embeddings, pad)
        tokens = tokens if pad is None else tokens.masked_fill(pad, 0)
        return self.scores(tokens, self.states(tokens, pad), pad)

    def loss(self, tokens: torch.Tensor, targets: SemanticParse, pad: torch.Tensor | None = None) -> torch.Tensor:
        """Returns the sum of the mean cross entropies of parents and of the four labels, over all tokens that are no
        padding.  A batch without tokens has the loss NaN."""
        targets = SemanticParse(*targets)
        expect_sentences(tokens, pad, None, **targets._asdict())
        scores = self(tokens, pad)
        for name, logits in scores._asdict().items():
            expect_numbers(getattr(targets, name), name, logits.shape[-1], pad)
        real = torch.ones_like(tokens, dtype=torch.bool) if pad is None else ~pad
        if pad is not None and numbers_are_at_hand(pad):
            wrong = pad.gather(1, targets.parents.masked_fill(pad, 0)) & real
            if bool(wrong.any()):
                raise ValueError(f"parents: {int(targets.parents[wrong][0])}, which is padding, expected a token of "
                                 "the sentence; number tokens from 0")
        total = F.cross_entropy(scores.parents[real], targets.parents[real])
        for logits, target in zip(scores[1:], targets[1:]):
            total = total + F.cross_entropy(logits[real], target[real])
        return total

    @torch.no_grad()
    def parse(self, tokens: torch.Tensor, pad: torch.Tensor | None = None,
              tree: bool = True) -> tuple[SemanticParse, torch.Tensor]:
        """Returns the likeliest parents and labels, and the probability (b, n) of each parent.

        tree  True: parents have no cycle, and their scores have the largest sum of all such parents; finding them takes
              time O(n^3).  There may be several roots.  False: each token has its likeliest parent, as in the paper's
              tables.
        Padding tokens have zeros.  Call eval() first, because dropout is that of the module's mode."""
        scores = self(tokens, pad)
        if tokens.numel() == 0:
            return SemanticParse(*(tokens for _ in range(5))), scores.parents.sum(-1).float()
        parents, labels = scores.parents.float(), [x.argmax(-1) for x in scores[1:]]
        best = parents.argmax(-1)
        if tree:
            on_host = parents.cpu()
            counts = [tokens.shape[1]] * len(tokens) if pad is None else (~pad).sum(1).tolist()
            for row, n in enumerate(counts):
                best[row, :n] = torch.from_numpy(maximum_arborescence(on_host[row, :n, :n], "any")).to(best.device)
        p = parents.softmax(-1).gather(2, best[..., None])[..., 0]
        if pad is not None:
            best, p, *labels = (x.masked_fill(pad, 0) for x in (best, p, *labels))
        return SemanticParse(best, *labels), p


class _EdgeEncoder(nn.Module):
    def __init__(self, width: int, layers: int, reach: int, encoding: str, of_layer: dict[str, Any]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EdgeTransformerLayer(width, **of_layer) for _ in range(layers))
        if encoding == "relational":
            self.spatial_relations_builder = nn.ModuleDict({"rel_embeddings": nn.Embedding(2 * reach + 1, width)})
        else:
            self.left_linear, self.right_linear = nn.Linear(width, width), nn.Linear(width, width)
        initialize(self)


class EdgeSemanticParser(_SemanticParser):
    """The Edge Transformer as a parser of COGS.  Parameters have the names of the released program, so its checkpoints
    load.

    tokens          words, with number 0.  roles, categories, noun_types and verbs are those of labels, with number 0.
    hidden          width of the feed-forward block; None: 4 * width.
    tied            one layer, applied `layers` times, as in the paper's text.  The released program has no tied layers.
    max_offset      longest distance of two tokens with a vector of its own.
    encoding        "relational": the first state of a pair has a vector of its relative position, and that of the token
                    where both are the same.  "positional": it is the sum of maps of both tokens' vectors and positions.
    from_parent     parents are read from pairs (parent, child), as in the paper's text, instead of (child, parent).
    verb_from_word  the verb's name is read from the word's vector alone.
    learn_all       also learns the vector of word 1, which the released program keeps at 0.
    released, form  those of EdgeTransformerLayer and TriangularAttention.
    positional_dropout  rate for tokens' vectors with positions.  In the released program, it is 0.1, whatever dropout
                    is.

    The defaults of sizes and rates are the paper's.  config is a dict of the arguments with which the model was made.
    """

    def __init__(self, tokens: int, roles: int, categories: int, noun_types: int, verbs: int, width: int = 64,
                 heads: int = 4, layers: int = 3, hidden: int | None = None, dropout: float = 0.1, tied: bool = False,
                 max_offset: int = 16, encoding: str = "relational", from_parent: bool = False,
                 verb_from_word: bool = False, learn_all: bool = False, released: bool = True, form: str = "full",
                 positional_dropout: float = 0.1) -> None:
        width, heads = _checks.width_and_heads(width, heads)
        super().__init__(tokens, roles, categories, noun_types, verbs, width, positional_dropout, verb_from_word,
                         learn_all)
        from_parent, released = _checks.flag(from_parent, "from_parent"), _checks.flag(released, "released")
        if encoding not in ("relational", "positional"):
            raise ValueError(f"encoding: {encoding!r}, expected 'relational' or 'positional'; pass one of the two")
        self.config = {"tokens": tokens, "roles": roles, "categories": categories, "noun_types": noun_types,
                       "verbs": verbs, "width": width, "heads": heads, "layers": layers, "hidden": hidden,
                       "dropout": dropout, "tied": tied, "max_offset": max_offset, "encoding": encoding,
                       "from_parent": from_parent, "verb_from_word": verb_from_word, "learn_all": learn_all,
                       "released": released, "form": form, "positional_dropout": positional_dropout}
        self.times, self.reach = layers_times(layers, tied), _checks.one_or_more(max_offset, "max_offset")
        of_layer = {"heads": heads, "hidden": hidden, "dropout": _checks.rate(dropout, "dropout"), "bias": True,
                    "form": form, "released": released}
        self.encoder = _EdgeEncoder(width, 1 if tied else layers, self.reach, encoding, of_layer)
        self.decode_parent = nn.Linear(width, 1)
        self.register_load_state_dict_pre_hook(self._without_unused)

    @staticmethod
    def _without_unused(self, state: dict[str, torch.Tensor], prefix: str, *_: Any) -> None:
        """Drops what the released program keeps and does not use: the other encoding, two rows of relations, and
        buffers.  Its flat form has no biases of projections, which are zeros here."""
        relations = f"{prefix}encoder.spatial_relations_builder.rel_embeddings.weight"
        unused = [f"{prefix}{name}" for name in _BUFFERS]
        if self.config["encoding"] == "relational":
            if relations in state and len(state[relations]) == 2 * self.reach + 3:
                state[relations] = state[relations][:2 * self.reach + 1]
            unused += [f"{prefix}encoder.{side}_linear.{kind}" for side in ("left", "right")
                       for kind in ("weight", "bias")]
        else:
            unused.append(relations)
        for name in unused:
            state.pop(name, None)
        for name, x in self.named_parameters() if self.config["form"] == "flat" else ():
            if re.search(r"\.linears\.[0-3]\.bias$", name):
                state.setdefault(prefix + name, torch.zeros(x.shape, dtype=x.dtype))

    def states(self, tokens: torch.Tensor, pad: torch.Tensor | None) -> torch.Tensor:
        """Returns the states (b, n, n, width) of all pairs of tokens."""
        words, encoder, n = self.word_emb(tokens), self.encoder, tokens.shape[1]
        if self.config["encoding"] == "relational":
            offsets = clipped_offsets(n, self.reach, tokens.device)
            x = encoder.spatial_relations_builder["rel_embeddings"](offsets) + on_diagonal(words)
        else:
            u = self.positional_dropout(words + waves(n, words.shape[2], words.device).to(words))
            x = encoder.left_linear(u)[:, :, None] + encoder.right_linear(u)[:, None]
        mask = None if pad is None else without(pad)
        for _ in range(self.times):
            for layer in encoder.layers:
                x = layer(x, mask)
        return x

    def parents(self, states: torch.Tensor) -> torch.Tensor:
        scores = self.decode_parent(states)[..., 0]
        return scores.transpose(1, 2) if self.config["from_parent"] else scores

    def own(self, states: torch.Tensor) -> torch.Tensor:
        return own_states(states)


class _TokenStack(nn.Module):
    """Layers and the norm after them, with the names of the released program, which depend on whether they are tied."""

    def __init__(self, width: int, layers: list[nn.Module], tied: bool) -> None:
        super().__init__()
        if tied:
            self.layer = layers[0]
        else:
            self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(width)


class _TokenEncoder(nn.Module):
    def __init__(self, width: int, layers: list[nn.Module], tied: bool) -> None:
        super().__init__()
        self.transformer_encoder = _TokenStack(width, layers, tied)
        self.decoder_q, self.decoder_k = nn.Linear(width, width), nn.Linear(width, width)


class TransformerSemanticParser(_SemanticParser):
    """The Transformer as a parser of COGS, a baseline: `--model transformer`, or `universal-transformer` with
    tied=True.  Parameters have the names of the released program, so its checkpoints load.

    Unlike in the released program, no token attends to padding.  The arguments are those of EdgeSemanticParser with the
    same names."""

    def __init__(self, tokens: int, roles: int, categories: int, noun_types: int, verbs: int, width: int = 64,
                 heads: int = 4, layers: int = 3, hidden: int | None = None, dropout: float = 0.1, tied: bool = False,
                 verb_from_word: bool = False, learn_all: bool = False, positional_dropout: float = 0.1) -> None:
        width, heads = _checks.width_and_heads(width, heads)
        super().__init__(tokens, roles, categories, noun_types, verbs, width, positional_dropout, verb_from_word,
                         learn_all)
        self.config = {"tokens": tokens, "roles": roles, "categories": categories, "noun_types": noun_types,
                       "verbs": verbs, "width": width, "heads": heads, "layers": layers, "hidden": hidden,
                       "dropout": dropout, "tied": tied, "verb_from_word": verb_from_word, "learn_all": learn_all,
                       "positional_dropout": positional_dropout}
        self.times = layers_times(layers, tied)

        def made() -> nn.Module:
            return nn.TransformerEncoderLayer(width, heads, _checks.hidden_width(hidden, width),
                                              _checks.rate(dropout, "dropout"), batch_first=True)
        self.encoder = _TokenEncoder(width, [made() for _ in range(1 if tied else layers)], tied)
        initialize(self.encoder)
        self.register_load_state_dict_pre_hook(self._without_unused)

    @staticmethod
    def _without_unused(self, state: dict[str, torch.Tensor], prefix: str, *_: Any) -> None:
        """Drops buffers of the released program, and the map to parents' scores that it does not use here."""
        for name in (*_BUFFERS, "decode_parent.weight", "decode_parent.bias"):
            state.pop(f"{prefix}{name}", None)

    def states(self, tokens: torch.Tensor, pad: torch.Tensor | None) -> torch.Tensor:
        """Returns the states (b, n, width) of all tokens."""
        words, stack = self.word_emb(tokens), self.encoder.transformer_encoder
        x = self.positional_dropout(words + waves(words.shape[1], words.shape[2], words.device).to(words))
        for _ in range(self.times):
            for layer in [stack.layer] if self.config["tied"] else stack.layers:
                x = layer(x, src_key_padding_mask=pad if tokens.numel() else None)  # a mask of nothing is refused
        return stack.norm(x)

    def parents(self, states: torch.Tensor) -> torch.Tensor:
        return self.encoder.decoder_q(states) @ self.encoder.decoder_k(states).transpose(1, 2)

    def own(self, states: torch.Tensor) -> torch.Tensor:
        return states
