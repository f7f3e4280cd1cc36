"""A PyTorch module of the Transformer with fuse-attention (LRF), for sequences to sequences."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from . import _checks
from ._pretrained import Pretrained
from ._sentences import clipped_offsets, expect_numbers
from ._torch_attention import expect_dense
from .modules import FuseAttention

PAD, EOS = 1, 2  # numbers of the padding and of the end of a sentence, as in fairseq
LINKS = ("previous", "sum", "weighted")


def positions(tokens: torch.Tensor, width: int, dtype: torch.dtype) -> torch.Tensor:
    """Returns sinusoidal vectors (b, n, width) for the positions of tokens (b, n).  The k-th token of a sentence that
    is no padding has the position k + 1, and padding has a vector of zeros."""
    real = tokens != PAD
    half = width // 2
    rates = torch.exp(torch.arange(half, dtype=torch.float64, device=tokens.device) * -(math.log(1e4) / (half - 1)))
    angles = ((real.cumsum(1) + 1) * real)[..., None] * rates
    vectors = F.pad(torch.cat([angles.sin(), angles.cos()], -1), (0, width - 2 * half))
    return (vectors * real[..., None]).to(dtype)


class _Attention(nn.Module):
    """Attention.  With `reach`, a vector of the clipped offset of a key is added to the key, and another one to the
    value; all heads share them (Shaw et al. 2018)."""

    def __init__(self, width: int, heads: int, dropout: float, reach: int = 0) -> None:
        super().__init__()
        self.heads, self.dropout, self.reach = heads, dropout, reach
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(width, width) for _ in range(4))
        if reach:
            self.relative_key, self.relative_value = (nn.Embedding(2 * reach + 1, width // heads) for _ in range(2))

    def forward(self, x: torch.Tensor, memory: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for y in (self.q_proj(x), self.k_proj(memory), self.v_proj(memory)))
        if not self.reach:
            y = F.scaled_dot_product_attention(q, k, v, allowed, self.dropout if self.training else 0.0)
            return self.out_proj(y.transpose(1, 2).flatten(-2))
        offsets = clipped_offsets(x.shape[1], self.reach, x.device)
        of_keys = torch.einsum("bhik,ijk->bhij", q, self.relative_key(offsets))
        scores = (q @ k.transpose(2, 3) + of_keys) * q.shape[-1] ** -0.5
        # A query without a key, as in a sentence of padding alone, has weights of 0 and not NaN.
        lowest = torch.finfo(scores.dtype).min
        p = scores.masked_fill(~allowed, lowest).softmax(-1).masked_fill(~allowed, 0)
        p = F.dropout(p, self.dropout, self.training)
        y = p @ v + torch.einsum("bhij,ijk->bhik", p, self.relative_value(offsets))
        return self.out_proj(y.transpose(1, 2).flatten(-2))


class _Fuse(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attn = FuseAttention(width, heads, dropout)

    def forward(self, x: torch.Tensor, states: list[torch.Tensor]) -> torch.Tensor:
        return self.attn(x, torch.stack(states))


class _Layer(nn.Module):
    def __init__(self, width: int, heads: int, hidden: int, fuses: bool, crosses: bool, dropout: float,
                 attention_dropout: float, activation_dropout: float, norm_before: bool, reach: int) -> None:
        super().__init__()
        self.self_attn = _Attention(width, heads, attention_dropout, reach)
        self.self_attn_layer_norm, self.norm_before = nn.LayerNorm(width), norm_before
        if crosses:
            self.encoder_attn = _Attention(width, heads, attention_dropout)
            self.encoder_attn_layer_norm = nn.LayerNorm(width)
        if fuses:
            self.fuse_attn, self.fuse_attn_layer_norm = _Fuse(width, heads, attention_dropout), nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.final_layer_norm = nn.LayerNorm(width)
        self.fuses, self.crosses = fuses, crosses
        self.dropout, self.activation_dropout = nn.Dropout(dropout), nn.Dropout(activation_dropout)

    def _sublayer(self, x: torch.Tensor, branch: Callable[[torch.Tensor], torch.Tensor],
                  norm: nn.Module) -> torch.Tensor:
        return x + self.dropout(branch(norm(x))) if self.norm_before else norm(x + self.dropout(branch(x)))

    def forward(self, x: torch.Tensor, states: list[torch.Tensor], allowed: torch.Tensor,
                memory: torch.Tensor | None = None, of_memory: torch.Tensor | None = None) -> torch.Tensor:
        x = self._sublayer(x, lambda u: self.self_attn(u, u, allowed), self.self_attn_layer_norm)
        if self.crosses:
            x = self._sublayer(x, lambda u: self.encoder_attn(u, memory, of_memory), self.encoder_attn_layer_norm)
        if self.fuses:
            x = self._sublayer(x, lambda u: self.fuse_attn(u, states), self.fuse_attn_layer_norm)
        return self._sublayer(x, lambda u: self.fc2(self.activation_dropout(F.relu(self.fc1(u)))),
                              self.final_layer_norm)


class _Half(nn.Module):
    """The encoder or the decoder: an embedding and layers."""

    def __init__(self, tokens: int, width: int, layers: int, fuse: set[int], crosses: bool, output: bool,
                 dropout: float, tied: bool, link: str, scale: str, **of_layer: Any) -> None:
        super().__init__()
        self.token_scale = math.sqrt(width) if scale == "tokens_up" else 1.0
        self.position_scale = 1 / math.sqrt(width) if scale == "positions_down" else 1.0
        self.embed_tokens = nn.Embedding(tokens, width, padding_idx=PAD)
        self.layers = nn.ModuleList(_Layer(width, fuses=k + 1 in fuse, crosses=crosses, dropout=dropout, **of_layer)
                                    for k in range(1 if tied else layers))
        self.times, self.link, self.relative = layers if tied else 1, link, of_layer["reach"] > 0
        if link == "weighted":
            # At first, an input is the mean of all states below.
            self.links = nn.ParameterList(torch.full((k + 1,), 1 / (k + 1)) for k in range(layers + 1))
            self.link_norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers + 1))
        elif of_layer["norm_before"]:
            self.layer_norm = nn.LayerNorm(width)
        if output:
            self.output_projection = nn.Linear(width, tokens, bias=False)
        self.dropout = nn.Dropout(dropout)

    def first_state(self, tokens: torch.Tensor) -> torch.Tensor:
        weight = self.embed_tokens.weight
        x = self.token_scale * self.embed_tokens(tokens)
        if not self.relative:
            x = x + self.position_scale * positions(tokens, weight.shape[1], weight.dtype)
        return self.dropout(x)

    def _joined(self, states: list[torch.Tensor]) -> torch.Tensor:
        """Returns the input of the next layer, from all states below."""
        if self.link == "previous":
            return states[-1]
        if self.link == "sum":
            return torch.stack(states).sum(0)
        normed = torch.stack([norm(x) for norm, x in zip(self.link_norms, states)])
        return torch.einsum("l,lbtd->btd", self.links[len(states) - 1], normed)

    def forward(self, x: torch.Tensor, *more: torch.Tensor) -> torch.Tensor:
        """Returns the state after all layers, from the first state."""
        states = [x]
        for _ in range(self.times):
            for layer in self.layers:
                states.append(layer(self._joined(states), states, *more))
        if self.link == "weighted":
            return self._joined(states)
        return self.layer_norm(states[-1]) if hasattr(self, "layer_norm") else states[-1]


def _numbers(fuse: bool | Sequence[int], layers: int, name: str) -> list[int]:
    """Returns the numbers of the layers with fuse-attention, from 1."""
    if not isinstance(fuse, (bool, Sequence)) or isinstance(fuse, str):
        raise TypeError(f"{name}: {fuse!r}, expected True, False or a list of numbers of layers; pass one of them")
    numbers = list(range(1, layers + 1)) if fuse is True else [] if fuse is False else [
        _checks.whole(k, name) for k in fuse]
    if any(not 1 <= k <= layers for k in numbers):
        raise ValueError(f"{name}: {numbers}, expected numbers of layers from 1 to {layers}; pass True for all")
    return numbers


class FusedTransformer(Pretrained):
    """A Transformer whose layers let a token attend to its own states after all layers below (LRF, equations 1 to 12).
    Parameters have the names of fairseq's Transformer, and fuse_attn.attn those of FuseAttention.

    sources, targets      tokens of the two vocabularies.  Token 1 is padding, and token 2 ends a sentence.
    hidden                width of the feed-forward blocks; None: 4 * width.
    layers                layers of the encoder, and of the decoder if decoder_layers is None.
    fuse_encoder          True: all layers of the encoder have fuse-attention; or the numbers of those that have it,
    fuse_decoder          from 1.  The same for the decoder.
    tied_output           the decoder's embedding is also the output projection.
    dropout               rate for embeddings and the results of sublayers; attention_dropout for attention weights, and
                          activation_dropout for the hidden values of feed-forward blocks.
    norm                  "after": each norm follows a residual sum.  "before": each norm precedes a branch, and, unless
                          links are "weighted", another norm follows the last layer.
    reach                 the longest distance of two tokens with vectors of its own for keys and values (Shaw et al.
                          2018).  0: the first states have sinusoids of positions instead.
    tied                  all layers of the encoder are one layer, and those of the decoder are another one: the
                          universal Transformer with a fixed number of layers.
    encoder_link,         the input of a layer.  "previous": the state below.  "sum": the sum of all states below.
    decoder_link          "weighted": their weighted sum, each with a norm of its own: DLCL (Wang et al. 2019), whose
                          weighted sum of all states is also the result.
    embedding_scale       "tokens_up": word vectors are multiplied by sqrt(width).  "positions_down": sinusoids are
                          divided by it.  "unscaled": neither, and word vectors begin with standard deviation 1.
    shared_embedding      both sides have one embedding; sources and targets must be equal.

    config is a dict of the arguments with which the model was made.
    """

    def __init__(self, sources: int, targets: int, width: int = 512, heads: int = 8, layers: int = 6,
                 hidden: int | None = None, decoder_layers: int | None = None,
                 fuse_encoder: bool | Sequence[int] = True, fuse_decoder: bool | Sequence[int] = True,
                 tied_output: bool = True, dropout: float = 0.1, attention_dropout: float = 0.0,
                 activation_dropout: float = 0.0, norm: str = "after", reach: int = 0, tied: bool = False,
                 encoder_link: str = "previous", decoder_link: str = "previous", embedding_scale: str = "tokens_up",
                 shared_embedding: bool = False) -> None:
        super().__init__()
        width, heads = _checks.width_and_heads(width, heads)
        layers, tied = _checks.layer_count(layers, "layers"), _checks.flag(tied, "tied")
        above = layers if decoder_layers is None else _checks.layer_count(decoder_layers, "decoder_layers")
        tied_output = _checks.flag(tied_output, "tied_output")
        sources, targets = _checks.counts(sources=sources, targets=targets)
        if min(sources, targets) <= EOS:
            raise ValueError(f"sources and targets are {sources} and {targets}, expected {EOS + 1} or more, with the "
                             "tokens for padding and for the end of a sentence; count them in")
        reach = _checks.none_or_more(reach, "reach")
        if width < 4 and not reach:
            raise ValueError(f"width is {width}, expected 4 or more for the vectors of positions; pass a larger one")
        fuse = _numbers(fuse_encoder, layers, "fuse_encoder"), _numbers(fuse_decoder, above, "fuse_decoder")
        for name, value, known in (("norm", norm, ("after", "before")), ("encoder_link", encoder_link, LINKS),
                                   ("decoder_link", decoder_link, LINKS),
                                   ("embedding_scale", embedding_scale, ("tokens_up", "unscaled", "positions_down"))):
            if value not in known:
                raise ValueError(f"{name}: {value!r}, expected {' or '.join(map(repr, known))}; pass one of them")
        for name, numbers, count in (("fuse_encoder", fuse[0], layers), ("fuse_decoder", fuse[1], above)):
            if tied and len(numbers) not in (0, count):
                raise ValueError(f"{name}: {numbers}, expected all layers or none with tied layers; pass True or False")
        shared_embedding = _checks.flag(shared_embedding, "shared_embedding")
        if shared_embedding and sources != targets:
            raise ValueError(f"sources and targets are {sources} and {targets}, expected equal numbers with a shared "
                             "embedding; pass one vocabulary")
        rates = {"dropout": dropout, "attention_dropout": attention_dropout, "activation_dropout": activation_dropout}
        rates = {name: _checks.rate(rate, name) for name, rate in rates.items()}
        self.config = {"sources": sources, "targets": targets, "width": width, "heads": heads, "layers": layers,
                       "hidden": hidden, "decoder_layers": decoder_layers, "fuse_encoder": fuse[0],
                       "fuse_decoder": fuse[1], "tied_output": tied_output, **rates, "norm": norm, "reach": reach,
                       "tied": tied, "encoder_link": encoder_link, "decoder_link": decoder_link,
                       "embedding_scale": embedding_scale, "shared_embedding": shared_embedding}
        sizes: dict[str, Any] = {"heads": heads, "hidden": _checks.hidden_width(hidden, width), **rates,
                                 "tied": tied, "norm_before": norm == "before", "reach": reach,
                                 "scale": embedding_scale}
        self.encoder = _Half(sources, width, layers, set(fuse[0]), False, False, link=encoder_link, **sizes)
        self.decoder = _Half(targets, width, above, set(fuse[1]), True, not tied_output, link=decoder_link, **sizes)
        if shared_embedding:
            self.decoder.embed_tokens = self.encoder.embed_tokens
        for name, parameter in self.named_parameters():
            if "embed_tokens" in name:
                nn.init.normal_(parameter, std=1.0 if embedding_scale == "unscaled" else width ** -0.5)
                with torch.no_grad():
                    parameter[PAD] = 0
            elif parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        self.register_load_state_dict_pre_hook(self._read_fairseq)

    @staticmethod
    def _read_fairseq(self, state, prefix, *_) -> None:
        """Drops what a checkpoint of fairseq has beside parameters, and a tied output projection."""
        for half in ("encoder", "decoder"):
            for name in ("version", "embed_positions._float_tensor"):
                state.pop(f"{prefix}{half}.{name}", None)
        if self.config["tied_output"]:
            state.pop(f"{prefix}decoder.output_projection.weight", None)

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        """source int64 (b, s).  Returns the states after the last layer of the encoder, (b, s, width)."""
        _expect_tokens(source, "source", self.config["sources"])
        real = source != PAD
        return self.encoder(self.encoder.first_state(source) * real[..., None], real[:, None, None, :])

    def decode(self, previous: torch.Tensor, memory: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        """previous int64 (b, t): the end of a sentence, then the target without its last token.  memory is the result
        of encode(source).  Returns logits (b, t, targets)."""
        _expect_tokens(previous, "previous", self.config["targets"])
        if len(previous) != len(source) or len(memory) != len(source):
            raise ValueError(f"previous: {len(previous)} sentences, expected {len(source)}, those of source; pass both "
                             "of one batch")
        n = previous.shape[1]
        before = torch.ones(n, n, dtype=torch.bool, device=previous.device).tril()
        allowed = before & (previous != PAD)[:, None, None, :]
        # The row of a padding token has no key that it may attend to if padding comes first.  No result depends on it.
        allowed = allowed | torch.eye(n, dtype=torch.bool, device=previous.device)
        last = self.decoder(self.decoder.first_state(previous), allowed, memory, (source != PAD)[:, None, None, :])
        if self.config["tied_output"]:
            return F.linear(last, self.decoder.embed_tokens.weight)
        return self.decoder.output_projection(last)

    def forward(self, source: torch.Tensor, previous: torch.Tensor) -> torch.Tensor:
        """source int64 (b, s), previous int64 (b, t): the end of a sentence, then the target without its last token.
        Returns logits (b, t, targets) of the target's tokens."""
        return self.decode(previous, self.encode(source), source)

    @torch.no_grad()
    def greedy(self, source: torch.Tensor, most: int = 100, forbidden: Sequence[int] = (PAD,),
               least: int = 0) -> torch.Tensor:
        """Returns the targets that take the likeliest token at each step, int64 (b, up to most + 1).  They begin with
        the end of a sentence.  A finished sentence is followed by padding.  Tokens in `forbidden` are never
        taken.  A target has `least` tokens or more before its end.
        Each step computes all steps before it again; the programs in C++ keep their states."""
        if _checks.whole(most, "most") < 0:
            raise ValueError(f"most is {most}, expected 0 or more, the largest number of tokens after the first; pass "
                             "a larger number")
        least, count = _checks.none_or_more(least, "least"), self.config["targets"]
        for token in forbidden:
            if not 0 <= _checks.whole(token, "a forbidden token") < count or token == EOS:
                raise ValueError(f"forbidden: {token}, expected a token from 0 to {count - 1} other than {EOS}; leave "
                                 "it out")
        _expect_tokens(source, "source", self.config["sources"])
        memory = self.encode(source)
        tokens = source.new_full((source.shape[0], 1), EOS)
        finished = torch.zeros_like(tokens[:, 0], dtype=torch.bool)
        while tokens.shape[1] <= most and not bool(finished.all()):
            logits = self.decode(tokens, memory, source)[:, -1]
            logits[:, list(forbidden)] = -torch.inf
            if tokens.shape[1] <= least:
                logits[:, EOS] = -torch.inf
            best = logits.argmax(-1).masked_fill(finished, PAD)
            tokens, finished = torch.cat([tokens, best[:, None]], 1), finished | (best == EOS)
        return tokens


def _expect_tokens(tokens: torch.Tensor, name: str, count: int) -> None:
    expect_dense(tokens, name)
    if tokens.dim() != 2 or tokens.is_floating_point() or tokens.dtype == torch.bool:
        raise ValueError(f"{name} is {tokens.dtype} of shape {tuple(tokens.shape)}, expected whole numbers (batch, "
                         "tokens); pad sentences by token 1")
    if tokens.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} is {tokens.dtype}, expected int64; convert it by .to(torch.int64)")
    expect_numbers(tokens, name, count)
