"""triad in Python: triangular attention, fuse-attention and the tree algebra, for PyTorch, NumPy and JAX.

    from triad_torch import TriangularAttention            # a module, like nn.MultiheadAttention
    from triad_torch import triangular_attention           # the function
    from triad_torch import Roles, car, cdr, cons          # trees as tensors
    from triad_torch import load                           # loads a run of triad's own programs
    from triad_torch import dense_batch                    # graphs of PyTorch Geometric and DGL

`python -m triad_torch` prints which kernels and libraries were found, and compares triad with PyTorch's own operations.
"""
from __future__ import annotations

from importlib import import_module as _import
from importlib.util import find_spec as _find

from .attention import triangular_attention
from .trees import Roles, bind, car, cdr, child, cons, graft, plant, root, unbind

_of_torch = {  # imported on first use: NumPy users need no PyTorch
    "TriangularAttention": "modules", "EdgeTransformerLayer": "modules", "EdgeTransformer": "modules",
    "FuseAttention": "modules", "fuse_attention": "modules", "products": "_products",
    "Run": "graph_runs", "load": "runs", "DenseBatch": "batches", "dense_batch": "batches",
    "GraphClassifier": "classifier", "RelationTransformer": "baselines", "GraphAttentionNetwork": "baselines",
    "FusedTransformer": "fused", "EdgeDependencyParser": "parsers", "BiaffineDependencyParser": "parsers",
    "ParserRun": "parser_runs", "maximum_arborescence": "parsers", "TreeMachine": "tree_machine",
    "TreeRun": "tree_runs", "SentenceToGraph": "meanings", "SentenceGraph": "meanings", "GraphScores": "meanings",
    "MeaningRun": "meaning_runs", "EdgeSemanticParser": "semantic_parsers",
    "TransformerSemanticParser": "semantic_parsers", "SemanticParse": "semantic_parsers",
    "SemanticScores": "semantic_parsers", "SemanticRun": "semantic_runs", "logical_form": "semantic_runs",
    "SequenceRun": "sequence_runs"}
__all__ = ["triangular_attention", "Roles", "bind", "car", "cdr", "child", "cons", "graft", "plant", "root", "unbind"]
if _find("torch"):
    __all__ += _of_torch


def __getattr__(name: str):
    if name == "__version__":  # that of the C++ library, which the build reads from its header
        return _import("importlib.metadata").version("triad_torch")
    if name not in _of_torch:
        raise AttributeError(f"module 'triad_torch' has no attribute {name!r}")
    _import("._operators", __name__)  # raises an error with the requirement if there is no PyTorch
    return getattr(_import(f".{_of_torch[name]}", __name__), name)


def __dir__():
    return sorted([*globals(), *_of_torch, "__version__"])
