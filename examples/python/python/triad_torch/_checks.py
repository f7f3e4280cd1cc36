"""Checks of arguments that are not tensors: whole numbers, rates and numbers of sources."""
from __future__ import annotations

import operator

import numpy as np

from . import _arrays


def whole(value, name: str) -> int:
    """Returns the value as an int.  Refuses a float, such as 2.0, and a bool, although True equals 1 in Python."""
    if type(value) is int:
        return value
    if not isinstance(value, (bool, np.bool_)):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise TypeError(f"{name} is {value!r}, expected a whole number; pass an int")


def one_or_more(value, name: str) -> int:
    """Returns the value as an int, which must be 1 or more."""
    if (count := whole(value, name)) < 1:
        raise ValueError(f"{name} is {count}, expected 1 or more; pass a larger number")
    return count


def none_or_more(value, name: str) -> int:
    """Returns the value as an int, which must be 0 or more."""
    if (count := whole(value, name)) < 0:
        raise ValueError(f"{name} is {count}, expected 0 or more; pass 0 for none")
    return count


def layer_count(value, name: str) -> int:
    """Returns a number of layers as an int of 1 to 1000, so that a damaged file does not make endless layers."""
    if (count := one_or_more(value, name)) > 1000:
        raise ValueError(f"{name} is {count}, expected 1 to 1000; pass a smaller number")
    return count


def flag(value, name: str) -> bool:
    """Returns the value, which must be a bool."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{name} is {value!r}, expected True or False; pass one of the two")


def weight(value, name: str) -> float:
    """Returns the weight of a part of a loss, which must be 0 or more, and finite."""
    expect_number(value, name)
    if not 0 <= value < float("inf"):
        raise ValueError(f"{name} is {value}, expected 0 or more, and finite; 0 leaves the part out")
    return float(value)


def counts(**values) -> tuple[int, ...]:
    """Returns the values as ints, which must be 1 or more.  Names are those of the arguments."""
    return tuple(one_or_more(value, name) for name, value in values.items())


def hidden_width(hidden, width: int) -> int:
    """Returns the width of a feed-forward block: `hidden` as an int of 1 or more, or 4 * width for None."""
    return 4 * width if hidden is None else one_or_more(hidden, "hidden")


def width_and_heads(width, heads) -> tuple[int, int]:
    """Returns both as ints.  The width must be a multiple of the number of heads."""
    width, heads = whole(width, "width"), whole(heads, "heads")
    if heads < 1 or width < 1 or width % heads:
        raise ValueError(f"width {width} is not a multiple of {heads} heads; pass another width or number of heads")
    return width, heads


def batch_size(value, what: str) -> int:
    """Returns the value as an int, which must be 1 or more: how many of `what` are computed at a time."""
    if (count := whole(value, "batch")) < 1:
        raise ValueError(f"batch: {count}, expected 1 or more; pass the number of {what} to compute at a time")
    return count


def expect_number(value, name: str) -> None:
    """Refuses what is no number, such as a text."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} is {value!r}, expected a number; pass an int or a float")


def rate(value: float, name: str) -> float:
    """Returns a dropout rate.  The rate must be in [0, 1)."""
    expect_number(value, name)
    if not 0 <= value < 1:
        raise ValueError(f"{name} is {value}, expected 0 or more, below 1; 0 drops nothing")
    return float(value)


def mask_error(given: tuple, expected: tuple) -> ValueError:
    """Returns the error for a mask whose shape does not broadcast to the expected one."""
    remedy = ""
    if len(expected) == 4 and given == expected[:2]:
        remedy = "; for padding nodes, pass ~pad[:, None, :, None], where pad is True for padding nodes"
    return ValueError(f"mask has shape {given}, expected {expected} or what broadcasts to it{remedy}")


def bias_shape(given: tuple, batch, heads, n, triangles) -> tuple:
    """Returns the shape of a bias with all five axes, which are of size 1 where the given shape lacks them.

    `n` is None for graphs of different sizes, whose bias has one axis."""
    if n is None:
        if len(given) == 1 and (given[0] == heads * triangles or given[0] == triangles):
            return given
        raise ValueError(f"bias has shape {given}, expected ({heads * triangles},) with offsets, which is (heads, n, "
                         f"n, n) of one graph after another, or ({triangles},) for all heads alike; join the graphs "
                         "in their order")
    expected = (batch, heads, n, n, n)
    shape = (1,) * (5 - len(given)) + given
    if len(shape) != 5 or any(size != 1 and size != wanted for size, wanted in zip(shape, expected)):
        remedy = ("; for one bias of all heads, pass bias[:, None]" if given == (batch, n, n, n) else
                  "; its axes are batch, heads, i, l and j")
        raise ValueError(f"bias has shape {given}, expected {expected} or what broadcasts to it{remedy}")
    return shape


def source_count(value) -> int:
    """Returns the number of sources, which is the same for all graphs."""
    count = whole(value, "causal_sources")
    if not 0 <= count < 2**63:
        raise ValueError(f"causal_sources is {count}, expected 0 or more, below 2^63; it counts the first nodes that "
                         "are sources")
    return count


def source_counts(given, graphs: int) -> np.ndarray:
    """Returns the number of sources of each graph, int64 (graphs).  `given` is one number for all graphs, or one for
    each."""
    if np.ndim(given) == 0 and not hasattr(given, "dtype"):
        return np.full(graphs, source_count(given), dtype=np.int64)
    counts = np.asarray(_arrays.expect_plain(given, "causal_sources"))
    if counts.dtype.kind not in "iu":
        raise TypeError(f"causal_sources is {counts.dtype}, expected whole numbers of 64 bits; convert them by "
                        "astype(numpy.int64)")
    expect_source_shape(counts.shape, graphs)
    if counts.size and not 0 <= (worst := counts.min() if counts.min() < 0 else counts.max()) < 2**63:
        raise ValueError(f"causal_sources has {worst}, expected 0 or more, below 2^63; it counts the first nodes that "
                         "are sources")
    return np.ascontiguousarray(np.broadcast_to(counts.astype(np.int64), graphs))


def expect_source_shape(shape: tuple, graphs: int) -> None:
    if tuple(shape) not in ((), (graphs,)):
        raise ValueError(f"causal_sources has shape {tuple(shape)}, expected a number, or ({graphs},); pass one for "
                         "each graph")
