"""Means with their errors, rows of tables and lists of seeds, as scripts/results and --collect write them."""

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


def spans_text(numbers, between_two):
    """Rising numbers as text: 1 to 4, 7; two neighbours have `between_two` between them."""
    parts, at = [], 0
    while at < len(numbers):
        end = at
        while end + 1 < len(numbers) and numbers[end + 1] == numbers[end] + 1:
            end += 1
        middle = " to " if end > at + 1 else between_two
        parts.append(str(numbers[at]) if end == at else f"{numbers[at]}{middle}{numbers[end]}")
        at = end + 1
    return ", ".join(parts)
