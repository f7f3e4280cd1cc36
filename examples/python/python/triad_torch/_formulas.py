"""Triangular attention in PyTorch's own operations.  Tests and timings compare the kernels with these functions."""
from __future__ import annotations

import torch
from torch import nn


def by_einsum(q, k, v1, v2, mask=None, fill=-1e9):
    """Computes the paper's equations.  Stores a vector for each triangle.  All tensors are (b, n, n, heads, width)."""
    scores = torch.einsum("bilhc,bljhc->bhilj", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not()[:, None], fill)
    weights = scores.softmax(3)
    values = torch.einsum("bilhc,bljhc->bhiljc", v1, v2)
    return torch.einsum("bhilj,bhiljc->bijhc", weights, values)


def by_broadcast(q, k, v1, v2):
    """Computes the paper's equations with elementwise products. torch.compile fuses them with the sum, so no product is
    stored."""
    # (b, l, h, i, j), then (b, i, j, l, h, 1)
    scores = torch.matmul(q.permute(0, 2, 3, 1, 4), k.permute(0, 1, 3, 4, 2)) * q.shape[-1] ** -0.5
    weights = scores.softmax(1).permute(0, 3, 4, 1, 2).unsqueeze(-1)
    return (weights * v1.unsqueeze(2) * v2.transpose(1, 2).unsqueeze(1)).sum(3)


class Formulas(nn.Module):
    """A module like TriangularAttention, whose attention is one of these functions."""

    def __init__(self, width: int, heads: int, attention):
        super().__init__()
        self.heads, self.attention = heads, attention
        self.stacked, self.output = nn.Linear(width, 4 * width, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, x):
        b, n, _, d = x.shape
        q, k, v1, v2 = self.stacked(x).view(b, n, n, 4, self.heads, d // self.heads).unbind(3)
        return self.output(self.attention(q, k, v1, v2).reshape(b, n, n, d))


class EinsumAttention(nn.Module):
    """Replaces a TriangularAttention.  Has the same weights, and computes its attention by by_einsum()."""

    def __init__(self, ours):
        super().__init__()
        self.linears, self.heads = ours.linears, ours.heads

    def forward(self, x, mask=None, causal_sources=None):
        q, k, v1, v2 = (self.linears[str(i)](x).view(*x.shape[:3], self.heads, -1) for i in range(4))
        return self.linears["5"](by_einsum(q, k, v1, v2, mask).reshape(x.shape))
