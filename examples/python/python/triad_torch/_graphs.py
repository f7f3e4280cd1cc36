"""Reads a graph that is given as a line of the data of the program `graphs`, as a dict."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _checks


def members(graph: Mapping[str, Any]) -> dict[str, Any]:
    """Returns nodes, edges and query of a graph, without types of NumPy.  Other members are ignored."""
    if not isinstance(graph, Mapping):
        raise TypeError(f"graphs: {graph!r}, expected a dict with nodes, edges and query for each graph; pass a list "
                        "of them")
    missing = {"nodes", "edges", "query"} - graph.keys()
    if missing:
        raise ValueError(f"graphs: a graph without {' and '.join(sorted(missing))}, expected nodes, edges and query; "
                         "write it as a line of the program's data")
    return {name: plain(graph[name]) for name in ("nodes", "edges", "query")}


def edge(given: Any) -> tuple[int, str, int]:
    """Returns an edge (from, label, to), whose ends are whole numbers."""
    parts = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else []
    if len(parts) != 3 or not isinstance(parts[1], str):
        raise TypeError(f"edges: {given!r}, expected (from, label, to) with a text as label; number the nodes from 0")
    return _checks.whole(parts[0], "edges: from"), parts[1], _checks.whole(parts[2], "edges: to")


def plain(value: Any) -> Any:
    """Returns numbers of NumPy as those of Python, and other sequences as lists."""
    if isinstance(value, (np.ndarray, np.generic)) and np.ndim(value) == 0:
        return value.item()
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str):
        return [plain(each) for each in value]
    return value
