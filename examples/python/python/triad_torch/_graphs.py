"""Reads a graph that is given as a line of the data of the program `graphs`, as a dict."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def members(graph: Mapping[str, Any]) -> dict[str, Any]:
    """Returns nodes, edges and query of a graph, without types of NumPy.  Other members are ignored."""
    missing = {"nodes", "edges", "query"} - graph.keys()
    if missing:
        raise ValueError(f"graphs: a graph without {' and '.join(sorted(missing))}, expected nodes, edges and query; "
                         "write it as a line of the program's data")
    return {name: plain(graph[name]) for name in ("nodes", "edges", "query")}


def plain(value: Any) -> Any:
    """Returns numbers of NumPy as those of Python, and other sequences as lists."""
    if isinstance(value, (np.ndarray, np.generic)) and np.ndim(value) == 0:
        return value.item()
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str):
        return [plain(each) for each in value]
    return value
