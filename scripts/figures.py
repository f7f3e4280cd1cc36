"""Means with their standard errors, and rows of tables, as scripts/results and scripts/reproduce --collect write them."""

import math

PLUS_MINUS = "\u00b1"


def row_of(cells):
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def mean_of(values):
    return sum(values) / len(values)


def error_of(values):
    """The standard error of the mean of two or more numbers."""
    mean = mean_of(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))


def with_error(value, error, sign=""):
    value = round(value, 1) + 0.0  # no negative zero
    return f"{value:{sign}.1f} {PLUS_MINUS} {error:.1f}"


def mean_text(values):
    """The mean of two or more numbers with its error."""
    return with_error(mean_of(values), error_of(values))
