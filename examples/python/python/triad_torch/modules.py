"""PyTorch modules for the functions of this package.  The parameters of the Edge Transformer have their names in the
released program, so that checkpoints of that program can be loaded."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from . import _checks, _operators, _projections, _weights
from ._graph_models import edges_asked, expect_graphs, initialize, readout, without
from ._pretrained import Pretrained
from ._torch_attention import (asked_weights, batch_arguments, bias_argument, edges_on, expect_dense, expect_type,
                               no_bias, numbers_are_at_hand)
from .attention import form_number, has_right

__all__ = ["TriangularAttention", "EdgeTransformerLayer", "EdgeTransformer", "FuseAttention", "fuse_attention"]


class TriangularAttention(nn.Module):
    """Triangular attention with its projections (Edge Transformer, equations 4 to 9); x and the result are
    (b, n, n, width).

    width, heads   width is a multiple of heads.
    dropout        rate for the attention's weights, in training.
    bias           whether projections have biases.  In the released program, those for COGS and CFQ have biases, and
                   those for CLUTRR do not.
    form           as in triangular_attention().  On a host, float64 and the form "flat" are computed by plain loops on
                   one thread.  They are slow: use them for checks and not for training.

    Parameters have the names of the released program: linears.0 is the query, 1 the key, 2 the left value, 3 the right
    value, and 5 the output.  In the flat form, 0 is the key, 1 the value, 2 the query, and 3 the output.  If a
    checkpoint has linears.4 and linears.5, linears.4 is dropped, because the released program does not use it.  If it
    has no linears.5, linears.4 is the output, as in the released program for CFQ.

    The projections are computed as one product with their concatenated weights.  If a projection is not a plain
    nn.Linear, such as an adapter or a quantised layer, or if it has hooks, as for pruning, weight norm and spectral
    norm, each projection is called instead.  If products() is "onednn", one operator computes plain projections, the
    triangles and the output projection.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.0, bias: bool = False, form: str = "full") -> None:
        super().__init__()
        width, heads = _checks.width_and_heads(width, heads)
        self.width, self.heads, self.dropout, self.form = width, heads, _checks.rate(dropout, "dropout"), form
        self._form = form_number(form)
        self._stacked: tuple[str, ...]
        if form == "flat":
            self._stacked, self._output = ("2", "0", "1"), "3"
        else:
            self._stacked = ("0", "1", "2", "3") if has_right(self._form) else ("0", "1", "2")
            self._output = "5"
        self.linears = nn.ModuleDict({name: nn.Linear(width, width, bias) for name in
                                      sorted((*self._stacked, self._output))})
        self.register_load_state_dict_pre_hook(self._read_released)

    def extra_repr(self) -> str:
        """Returns what print() shows of the module."""
        return f"{self.width}, heads={self.heads}, dropout={self.dropout}, form={self.form!r}"

    @staticmethod
    def _read_released(self, state, prefix, *_):
        for kind in ("weight", "bias"):
            fourth, fifth = (state.get(f"{prefix}linears.{k}.{kind}") for k in (4, 5))
            if fourth is None:
                continue
            del state[f"{prefix}linears.4.{kind}"]
            if fifth is None:
                state[f"{prefix}linears.5.{kind}"] = fourth
        third = f"{prefix}linears.3."
        if "3" not in self.linears:  # without v2, the released program keeps the unused projection
            for key in [key for key in state if key.startswith(third)]:
                del state[key]

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None, causal_sources: Any = None,
                generator: torch.Generator | None = None, fill: float = -1e9,
                return_weights: Iterable[tuple[int, int]] | None = None, bias: torch.Tensor | None = None
                ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """x (b, n, n, width): the state of edge (i, j) at [b, i, j].  Returns a tensor of the same shape, or a pair
        with the attention weights of the edges in return_weights.

        mask, causal_sources, generator, fill, return_weights and bias are those of triangular_attention().  bias is
        added to the scores; the biases of projections are another argument, of the constructor.  True in mask
        means that a triangle takes part; 1 in the released program's mask means that it does not.  If pad (b, n) is
        True for padding nodes, pass mask=~pad[:, None, :, None]."""
        expect_dense(x, "x")
        if x.dim() != 4 or x.shape[1] != x.shape[2] or x.shape[3] != self.width:
            raise ValueError(f"x has shape {tuple(x.shape)}, expected (batch, n, n, {self.width}); it has a state for "
                             "each pair of nodes")
        b, n, _, d = x.shape
        rate = self.dropout if self.training else 0.0
        parts = [self.linears[name] for name in (*self._stacked, self._output)]
        edges = None if return_weights is None else edges_on(x.device, return_weights, n)
        one_call = _projections.type_in_one_call(parts, x) if x.numel() and bias is None else None
        if one_call is not None:
            how = batch_arguments(x.device, b, n, None, mask, causal_sources, rate, generator, fill, self._form)
            y = self._in_one_call(parts, x, one_call, how)
            if edges is None:
                return y
            # The operator keeps its projections to itself, so those of the edges are computed again.
            query = parts[0](_weights.query_rows(x, *edges, self._form))
            key = parts[1](_weights.key_rows(torch, x, *edges, self._form))
            return y, self._weights_of(query, key, edges, None, how, n)
        projected = _projections.side_by_side({f"linears.{name}": self.linears[name] for name in self._stacked}, x)
        computed = expect_type(projected, "x")
        of_scores = bias_argument(bias, projected.new_empty(0, dtype=computed), b, self.heads, n, None, self._form)
        if x.numel() == 0:
            nothing = projected[..., :d] * 0 + of_scores.sum()  # connects the result with its operands for autograd
            y = self.linears[self._output](nothing.to(projected.dtype))
            terms = 2 * n if self.form == "flat" else n
            return y if edges is None else (y, projected.new_zeros(b, len(edges[0]), self.heads, terms))
        how = batch_arguments(x.device, b, n, None, mask, causal_sources, rate, generator, fill, self._form)
        o, _, _ = _operators.triangle_stacked(
            projected.to(computed).view(b * n * n, len(self._stacked), self.heads, d // self.heads), of_scores, *how)
        y = self.linears[self._output](o.view(b, n, n, d).to(projected.dtype))
        if edges is None:
            return y
        query = _weights.query_rows(projected[..., :d], *edges, self._form)
        key = _weights.key_rows(torch, projected[..., d:2 * d], *edges, self._form)
        return y, self._weights_of(query, key, edges, of_scores, how, n)

    def _weights_of(self, query, key, edges, bias, how, n: int) -> torch.Tensor:
        """Returns the attention weights of edges, in the type for computing.  The query and the key are projected rows
        (b, edges, terms, width)."""
        computed = expect_type(query, "x")
        query, key = (t.to(computed).unflatten(-1, (self.heads, -1)) for t in (query, key))
        return asked_weights(query, key, edges, no_bias(query) if bias is None else bias, how, None, n)

    def _in_one_call(self, parts: list, x: torch.Tensor, result: torch.dtype, how: tuple) -> torch.Tensor:
        """Computes the projections, the triangles and the output projection by one operator."""
        weights = [part.weight for part in parts]
        if not has_right(self._form):
            weights.insert(3, weights[0].new_empty(0, self.width))
        bias = weights[0].new_empty(0) if parts[0].bias is None else torch.stack([part.bias for part in parts])
        y, _ = _operators.attention(x.reshape(-1, self.width), *weights, bias, *how, self.heads,
                                    int(result == torch.bfloat16))
        return y.view(x.shape)


class EdgeTransformerLayer(nn.Module):
    """One layer of the Edge Transformer on (b, n, n, width): norm, triangular attention, norm, feed-forward block.

    hidden          width of the feed-forward block; None: 4 * width.
    dropout         rate for the attention's weights, the attention's output, and the hidden and output values of the
                    feed-forward block, in training.
    inner_dropout   another rate for the attention's weights and the hidden values; None: dropout.
    heads, bias and form are those of TriangularAttention.

    released=True: each branch is added to the output of the norm before it, as in the released program, with which the
    paper's tables were made.
    released=False: equation 3 of the paper, x + attention(norm(x)), then the block without a residual.
    pre_norm=True: each branch is added to the input of the norm before it, whatever released is.  So do most
    Transformers, and SentenceToGraph.
    Use the defaults, released=True and pre_norm=False, in a new model of labelled graphs.
    """

    def __init__(self, width: int, heads: int, hidden: int | None = None, dropout: float = 0.0, bias: bool = False,
                 form: str = "full", released: bool = True, pre_norm: bool = False,
                 inner_dropout: float | None = None) -> None:
        super().__init__()
        hidden = _checks.hidden_width(hidden, width)
        dropout = _checks.rate(dropout, "dropout")
        inside = dropout if inner_dropout is None else _checks.rate(inner_dropout, "inner_dropout")
        self.released, self.pre_norm = released, pre_norm
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.edge_attention = TriangularAttention(width, heads, inside, bias, form)
        self.linear1, self.linear2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.dropout, self.inner_dropout = nn.Dropout(dropout), nn.Dropout(inside)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None,
                causal_sources: Any = None) -> torch.Tensor:
        """x (b, n, n, width): the state of edge (i, j) at [b, i, j].  Returns the new states, a tensor of the same
        shape.

        mask and causal_sources are those of TriangularAttention.forward()."""
        u = self.norm1(x)
        t = (u if self.released and not self.pre_norm else x) + self.dropout(
            self.edge_attention(u, mask, causal_sources))
        u = self.norm2(t)
        f = self.dropout(self.linear2(self.inner_dropout(F.relu(self.linear1(u)))))
        if self.pre_norm:
            return t + f
        return u + f if self.released else f


class _Encoder(nn.Module):
    def __init__(self, labels: int, layers: int, tied: bool, width: int, **of_layer):
        super().__init__()
        self.embedding = nn.Embedding(labels, width)
        self.layers = nn.ModuleList(EdgeTransformerLayer(width, **of_layer) for _ in range(1 if tied else layers))
        self.times = layers if tied else 1

    def forward(self, labels, mask):
        x = self.embedding(labels)
        for _ in range(self.times):
            for layer in self.layers:
                x = layer(x, mask)
        return x


class EdgeTransformer(Pretrained):
    """The Edge Transformer for labelled graphs, with a readout at one edge of each graph.  This is the model for
    CLUTRR.

    labels    rows of the embedding: labels of edges; 0 means no edge.
    targets   classes of the answer.
    tied      one layer, applied `layers` times.  When a checkpoint is loaded, all other layers are dropped.  The
              released program stores them but never uses them.

    forward(labels, query, pad=None) returns logits (b, targets):
    labels    int64 (b, n, n), the label of edge (i, j).
    query     int64 (b, 2), source and target of the edge in question; or (b, 3) with the graph's number first.
    pad       bool (b, n), True for padding nodes.

    config is a dict of the arguments with which the model was made.
    """

    def __init__(self, labels: int, targets: int, width: int = 200, heads: int = 4, layers: int = 8,
                 hidden: int | None = None, dropout: float = 0.2, tied: bool = True, bias: bool = False,
                 form: str = "full", released: bool = True) -> None:
        super().__init__()
        layers, labels, targets = _checks.counts(layers=layers, labels=labels, targets=targets)
        self.tied = tied
        self.config = {"labels": labels, "targets": targets, "width": width, "heads": heads, "layers": layers,
                       "hidden": hidden, "dropout": dropout, "tied": tied, "bias": bias, "form": form,
                       "released": released}
        self.encoder = _Encoder(labels, layers, tied, width, heads=heads, hidden=hidden, dropout=dropout, bias=bias,
                                form=form, released=released)
        self.decoder2vocab = readout(width, targets)
        initialize(self.encoder)
        self.register_load_state_dict_pre_hook(self._read_released)

    @staticmethod
    def _read_released(self, state, prefix, *_):
        if self.tied:
            layers = f"{prefix}encoder.layers."
            for key in [key for key in state if key.startswith(layers) and not key.startswith(f"{layers}0.")]:
                del state[key]

    def forward(self, labels: torch.Tensor, query: torch.Tensor, pad: torch.Tensor | None = None) -> torch.Tensor:
        """labels int64 (b, n, n), query int64 (b, 2) or (any number, 3), pad bool (b, n), True for padding nodes.
        Returns logits with a row for each row of query: (b, targets) or (any number, targets)."""
        expect_graphs(labels, query, pad)
        graph, source, target = edges_asked(query, *labels.shape[:2])
        x = self.encoder(labels, None if pad is None else without(pad))
        return self.decoder2vocab(x[graph, source, target])


def fuse_attention(u: torch.Tensor, states: torch.Tensor, dropout_p: float = 0.0,
                   generator: torch.Generator | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """A token attends to its own states after each layer below (LRF, equations 9 and 10).  The function has no
    projections:

        p[j] = softmax over j of  u . x[j];   mixed = sum over j of  p[j] x[j];   kept = sum over j of  p[j]

    u       (rows, heads, d): for each head, the query times the transposed key projection, scaled.
    states  (layers, rows, d): x[0] to x[layers - 1] of every token.
    Returns mixed (rows, heads, d) and kept (rows, heads). kept is 1 without dropout.  Accepts float32, float64,
    bfloat16 and float16.  Half types are computed in float32.
    """
    for name, x in (("u", u), ("states", states)):
        expect_type(x, name)
        if x.dim() != 3:
            raise ValueError(f"{name} has shape {tuple(x.shape)}, expected three axes: u (rows, heads, d), "
                             "states (layers, rows, d); flatten the others")
    if states.dtype != u.dtype and not torch.is_autocast_enabled(u.device.type):
        raise TypeError(f"states are {states.dtype}, and u is {u.dtype}; convert one of the two")
    if states.device != u.device:
        raise ValueError(f"states lie on {states.device}, and u on {u.device}; move them by .to(u.device)")
    if states.shape[0] < 1 or states.shape[1] != u.shape[0] or states.shape[2] != u.shape[2]:
        raise ValueError(f"states have shape {tuple(states.shape)}, expected (1 or more layers, {u.shape[0]}, "
                         f"{u.shape[2]}); stack the states of all layers")
    rate = _checks.rate(dropout_p, "dropout_p")
    computed = expect_type(u, "u")
    seed = _operators.draw_seed(generator, u.device, rate)
    mixed, kept, _ = _operators.fuse(u.to(computed), states.to(computed), seed, rate)
    return mixed.to(u.dtype), kept.to(u.dtype)


class FuseAttention(nn.Module):
    """Fuse-attention with its projections: forward(x, states), x (..., width), states (layers, ..., width).

    The states are not projected, so each token takes matrix products of 4 width^2 multiply-adds, whatever the number of
    layers.  If k_proj or v_proj is not a plain nn.Linear, or has hooks, both are called with every state.  Parameters
    have the names of fairseq's attention: q_proj, k_proj, v_proj, out_proj.  The bias of the keys does not affect the
    weights, so its gradient is zero.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        width, heads = _checks.width_and_heads(width, heads)
        self.width, self.heads, self.dropout = width, heads, _checks.rate(dropout, "dropout")
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: torch.Tensor, states: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
        """x (..., width): the tokens.  states (layers, ..., width): the states of each token after each layer.  Returns
        a tensor of the shape of x.

        generator is the torch.Generator from which the seed of dropout is drawn; None: PyTorch's own."""
        expect_dense(x, "x")
        expect_dense(states, "states")
        if x.shape[-1] != self.width or states.shape[1:] != x.shape or states.shape[0] < 1:
            raise ValueError(f"x has shape {tuple(x.shape)} and states {tuple(states.shape)}, expected "
                             f"(..., {self.width}) and (1 or more layers, ..., the same); stack the states")
        heads, k = self.heads, self.width // self.heads
        q = self.q_proj(x).reshape(-1, heads, k) * k ** -0.5
        dropout = self.dropout if self.training else 0.0, generator
        inner = (self.k_proj, self.v_proj)
        if all(_projections.is_plain(part, self.width) and part.bias is not None for part in inner):
            context = self._by_weights(q, states.reshape(states.shape[0], -1, self.width), *dropout)
            return self.out_proj(context.reshape(x.shape)) + 0 * self.k_proj.bias.sum()  # gives the bias a gradient
        return self.out_proj(self._by_calls(q, states, *dropout).reshape(x.shape))

    def _by_weights(self, q: torch.Tensor, states: torch.Tensor, *dropout) -> torch.Tensor:
        """Returns the attention (rows, heads, k) of q (rows, heads, k) to unprojected states (layers, rows, width)."""
        _, heads, k = q.shape
        u = torch.einsum("rhk,hkd->rhd", q, self.k_proj.weight.view(heads, k, self.width))
        mixed, kept = fuse_attention(u, states, *dropout)
        context = torch.einsum("rhd,hkd->rhk", mixed, self.v_proj.weight.view(heads, k, self.width))
        return context + kept.unsqueeze(-1) * self.v_proj.bias.view(heads, k)

    def _by_calls(self, q: torch.Tensor, states: torch.Tensor, *dropout) -> torch.Tensor:
        """Returns this attention to projected states: calls k_proj and v_proj for each state. fuse_attention has no
        separate values, so key and value are concatenated to one state, and the query is zero where the value is."""
        rows, heads, k = q.shape
        projected = (_projections.call(getattr(self, name), name, states) for name in ("k_proj", "v_proj"))
        both = torch.cat([y.reshape(states.shape[0], rows * heads, k) for y in projected], -1)
        mixed, _ = fuse_attention(F.pad(q.reshape(rows * heads, 1, k), (0, k)), both, *dropout)
        return mixed[..., k:].reshape(rows, heads, k)
