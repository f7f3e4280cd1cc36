"""Runs of the program `dependencies`: trees of sentences."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ._checkpoint_names import both, fill, form_of, of_edge_layer, of_transformer_layer, renamed, stacked
from ._sentences import FIRST_WORD, PAD, UNKNOWN, as_lists, numbered, padded_batches, parsed
from .parsers import BiaffineDependencyParser, EdgeDependencyParser

MODELS = ("edge-transformer", "transformer", "universal-transformer")


@dataclass
class ParserRun:
    """A trained parser: `module` in evaluation mode, its vocabulary, and the settings of the model."""
    module: EdgeDependencyParser | BiaffineDependencyParser
    words: list[str]      # the k-th word has number k + 4
    relations: list[str]  # in the order of the logits
    settings: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers = {word: k for k, word in enumerate(self.words, FIRST_WORD)}

    def numbers(self, sentence: Sequence[str], unknown: bool = False) -> list[int]:
        """Returns the numbers of the words of a sentence.

        unknown  a word that the run does not know gets the number of unknown words.  Otherwise it raises a ValueError.
        """
        return numbered(sentence, lambda word: self._numbers.get(word, UNKNOWN), len(self.words), unknown)

    def parse(self, sentences: Iterable[Sequence[str]], batch: int = 64, unknown: bool = False) -> list[dict[str, Any]]:
        """Returns the tree of each sentence, a list of words, as the program's `predict --probabilities` prints it: a
        dict with tokens, heads (from 1; 0 is the root), labels, head_probabilities and label_probabilities.

        `batch` sentences are computed at a time, 1 or more; unknown is that of numbers()."""
        given, found = as_lists(sentences), []
        numbers = [self.numbers(sentence, unknown) for sentence in given]
        device = next(self.module.parameters()).device
        for place, tokens, pad in padded_batches(numbers, batch, PAD, device):
            for words, tree in zip(given[place], parsed(self.module.parse, tokens, pad)):
                heads, labels, of_head, of_label = tree or ([],) * 4
                found.append({"tokens": words,
                              "heads": [0 if head == i else head + 1 for i, head in enumerate(heads)],
                              "labels": [self.relations[label] for label in labels],
                              "head_probabilities": of_head, "label_probabilities": of_label})
        return found


def parser_run(path: Path, weights: dict[str, torch.Tensor], settings: dict, words: dict) -> ParserRun:
    model, form = settings["model"], form_of(settings, path)
    sizes = {"width": settings["width"], "heads": settings["heads"], "layers": settings["layers"],
             "hidden": settings["hidden_factor"] * settings["width"], "tied": settings["tied"], "dropout": 0.0}
    counts = FIRST_WORD + len(words["tokens"]), len(words["relations"])
    module: EdgeDependencyParser | BiaffineDependencyParser
    if model == "edge-transformer":
        reach = (weights["encoder.relations"].shape[0] - 1) // 2
        module = EdgeDependencyParser(*counts, max_offset=reach, form=form, **sizes)
        outside = {"encoder.tokens": "tokens.weight", "encoder.relations": "offsets.weight",
                   **both("arc", "arc"), **both("relation", "relation")}
        layer = of_edge_layer(form)
    else:
        module = BiaffineDependencyParser(*counts, **sizes)
        weights = stacked(weights)
        outside = {"encoder.tokens": "tokens.weight", "norm.gain": "norm.weight", "norm.bias": "norm.bias"}
        for name in ("arc", "root", "child", "parent", "relation", *(f"ends.{end}" for end in module.ends)):
            outside |= both(name, name)
        layer = of_transformer_layer
    fill(module, {renamed(name, (outside, layer), path, "layers"): x for name, x in weights.items()}, path)
    return ParserRun(module.eval(), words["tokens"], words["relations"], settings)
