from ._products import products as products
from .attention import triangular_attention as triangular_attention
from .baselines import GraphAttentionNetwork as GraphAttentionNetwork, RelationTransformer as RelationTransformer
from .batches import DenseBatch as DenseBatch, dense_batch as dense_batch
from .classifier import GraphClassifier as GraphClassifier
from .fused import FusedTransformer as FusedTransformer
from .modules import (
    EdgeTransformer as EdgeTransformer,
    EdgeTransformerLayer as EdgeTransformerLayer,
    FuseAttention as FuseAttention,
    TriangularAttention as TriangularAttention,
    fuse_attention as fuse_attention,
)
from .graph_runs import Run as Run
from .meaning_runs import MeaningRun as MeaningRun
from .meanings import GraphScores as GraphScores, SentenceGraph as SentenceGraph, SentenceToGraph as SentenceToGraph
from .parser_runs import ParserRun as ParserRun
from .parsers import (
    BiaffineDependencyParser as BiaffineDependencyParser,
    EdgeDependencyParser as EdgeDependencyParser,
    maximum_arborescence as maximum_arborescence,
)
from .runs import load as load
from .semantic_parsers import (
    EdgeSemanticParser as EdgeSemanticParser,
    SemanticParse as SemanticParse,
    SemanticScores as SemanticScores,
    TransformerSemanticParser as TransformerSemanticParser,
)
from .semantic_runs import SemanticRun as SemanticRun, logical_form as logical_form
from .sequence_runs import SequenceRun as SequenceRun
from .tree_machine import TreeMachine as TreeMachine
from .tree_runs import TreeRun as TreeRun
from .trees import (
    Roles as Roles,
    bind as bind,
    car as car,
    cdr as cdr,
    child as child,
    cons as cons,
    graft as graft,
    plant as plant,
    root as root,
    unbind as unbind,
)

__version__: str
