"""Runs of the program `meanings`: labelled graphs of sentences."""
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ._checkpoint_names import both, expect_texts, fill, flag, form_of, of_edge_layer, renamed, rest_of_layer, setting
from ._sentences import FIRST_WORD, PAD, UNKNOWN, as_lists, numbered, padded_batches
from .meanings import TRUNKS as MODELS, SentenceGraph, SentenceToGraph


@dataclass
class MeaningRun:
    """A trained model of sentences' graphs: `module` in evaluation mode, its vocabulary, and the settings of the model.
    """
    module: SentenceToGraph
    words: list[str]         # the k-th word has number k + 4
    relations: list[str]     # labels of edges, in the order of the scores
    labels: list[str]        # labels of nodes, in the order of the scores, after those of _spans and of _isolated
    graph_labels: list[str]  # labels of graphs, in the order of the scores; []: graphs have none
    patterns: list[str]      # tokens of these forms are one word to the model; # stands for digits: M# is M0 or M12
    threshold: float         # an edge or a label is in the graph from this probability on; `train` may choose it
    settings: dict = field(default_factory=dict)
    _spans: list[int] = field(default_factory=list)           # lengths of spans; each is a label of its last token
    _isolated: bool = False                                   # the first label says that a node has nothing else
    _queried: frozenset[int] | None = None                    # the words that are queried; None: every token is
    _of_word: dict[int, list[str]] = field(default_factory=dict)  # labels that words decide

    def __post_init__(self) -> None:
        self._numbers = {word: k for k, word in enumerate(self.words, FIRST_WORD)}
        self._forms = [(pattern, re.compile(r"[0-9]+".join(map(re.escape, pattern.split("#", 1)))))
                       for pattern in self.patterns]
        known = len(self._numbers) + FIRST_WORD - UNKNOWN
        self._every_word = self._queried is not None and len(self._queried) == known

    def _number(self, token: str) -> int:
        spelt = next((pattern for pattern, form in self._forms if form.fullmatch(token)), token)
        return self._numbers.get(spelt, UNKNOWN)

    def numbers(self, sentence: Sequence[str], unknown: bool = False) -> list[int]:
        """Returns the numbers of the words of a sentence.

        unknown  a word that the run does not know gets the number of unknown words.  Otherwise it raises a ValueError.
        """
        found = numbered(sentence, self._number, len(self.words), unknown)
        if not found:
            raise ValueError("sentences: one without words, expected one word or more in each; leave it out")
        return found

    def predict(self, sentences: Iterable[Sequence[str]], batch: int = 64, unknown: bool = False,
                threshold: float | None = None) -> list[dict[str, Any]]:
        """Returns the graph of each sentence, a list of words, as the program's `predict` prints it: a dict with
        tokens, nodes and edges, with node_labels if a node has labels, and with label if the graph has one.

        `batch` sentences are computed at a time, 1 or more; unknown is that of numbers().  threshold takes the place of
        the run's own."""
        given, found = as_lists(sentences), []
        numbers = [self.numbers(sentence, unknown) for sentence in given]
        device = next(self.module.parameters()).device
        least = self.threshold if threshold is None else threshold
        for place, tokens, pad in padded_batches(numbers, batch, PAD, device):
            queried = ~pad
            if self._queried is not None:
                queried &= torch.isin(tokens, torch.tensor(sorted(self._queried), device=device))
            graphs = self.module.predict(tokens, queried, pad, least)
            found += [self._told(*each) for each in zip(given[place], numbers[place], graphs)]
        return found

    def _always_node(self, word: int) -> bool:
        """Returns whether every token of this word is a node.  An unknown word is one only if all words are."""
        return self._queried is not None and word in self._queried and (word != UNKNOWN or self._every_word)

    def _told(self, tokens: Sequence[str], numbers: list[int], found: SentenceGraph) -> dict[str, Any]:
        """Returns the graph as the program writes it."""
        n, internal = len(tokens), self._isolated + len(self._spans)
        there = {i for i, word in enumerate(numbers) if self._always_node(word)}
        there |= {end for source, _, target, _ in found.edges for end in (source, target)}
        names: dict[int, list[str]] = {}
        length = dict.fromkeys(range(n), 1)
        for node, label, _ in found.labels:
            spanned = self._spans[label - self._isolated] if self._isolated <= label < internal else 0
            if spanned and node >= n:
                continue  # a slot is no span
            there.add(node)
            if spanned and length[node] == 1 and spanned <= node + 1:
                length[node] = spanned
            if label >= internal:
                names.setdefault(node, []).append(self.labels[label - internal])
        def first(node: int) -> tuple[int, int]:
            return (node, node) if node >= n else (node - length[node] + 1, node)
        order = sorted(there, key=first)
        place = {node: k for k, node in enumerate(order)}
        of_words = {node: self._of_word.get(numbers[node], []) for node in order if node < n}
        labels = [sorted(names.get(node, []) + of_words.get(node, []), key=str.encode) for node in order]
        edges = [(place[source], place[target], self.relations[label]) for source, label, target, _ in found.edges]
        told: dict[str, Any] = {
            "tokens": list(tokens),
            "nodes": [f"slot {node - n}" if node >= n else node if length[node] == 1 else list(first(node))
                      for node in order],
            "edges": [[source, label, target] for source, target, label in
                      sorted(edges, key=lambda e: (e[0], e[1], e[2].encode()))]}
        if any(labels):
            told["node_labels"] = labels
        if found.graph is not None and self.graph_labels[found.graph[0]]:
            told["label"] = self.graph_labels[found.graph[0]]
        return told


def meaning_run(path: Path, weights: dict[str, torch.Tensor], settings: dict, words: dict) -> MeaningRun:
    model, form = settings.get("model", "edge-transformer"), form_of(settings, path)
    predicates = setting(settings, "head", ("predicates", "edges"), path) == "predicates"
    if type(words["isolated"]) is not bool:
        raise ValueError(f"{path}: isolated {words['isolated']!r}, expected true or false; the file is damaged, so "
                         "train again")
    count = FIRST_WORD + len(words["tokens"])
    for name, least, end in (("spans", 2, 2**31), ("queried", UNKNOWN, count)):
        numbers = words.get(name, [])
        if not isinstance(numbers, list) or any(type(x) is not int or not least <= x < end for x in numbers):
            raise ValueError(f"{path}: {name} of the vocabulary, expected whole numbers from {least} to {end - 1}; the "
                             "file is damaged, so train again")
    internal = int(words["isolated"]) + len(words["spans"])
    threshold = settings.get("threshold", 0.5)
    if not 0 <= threshold <= 1:
        raise ValueError(f"{path}: threshold {threshold}, expected 0 to 1; the file is damaged, so train again")
    for name, texts in (("patterns", words["patterns"]), *(("word_labels", each["labels"])
                                                           for each in words.get("word_labels", []))):
        expect_texts(texts, name, path)
    module = SentenceToGraph(
        FIRST_WORD + len(words["tokens"]), max(1, len(words["relations"])), internal + len(words["labels"]),
        len(words["graph_labels"]), settings["slots"], settings["width"], settings["heads"], settings["layers"],
        settings["hidden_factor"] * settings["width"], 0.0, tied=flag(settings, "tied", path),
        max_offset=settings["max_offset"], trunk=model, head=settings["head"],
        lists=settings["lists_after"] if predicates and flag(settings, "lists", path) else None,
        anchored_slots=predicates and setting(settings, "slot_form", ("nodes", "anchors"), path, "nodes") == "anchors",
        implied_labels=predicates and flag(settings, "implied_labels", path, False), form=form)
    outside = {f"encoder.{table}": f"trunk.{table}.weight" for table in
               ("tokens", "left_tokens", "right_tokens", "relations")}
    outside |= {"pairs.relations": "trunk.relations.weight", "head.pointers.words": "head.pointers.words.weight"}
    for norm, of in (("norm", ""), ("node_norm", "trunk."), ("head.pointers.norm", "")):
        outside |= {f"{norm}.gain": f"{of}{norm}.weight", f"{norm}.bias": f"{of}{norm}.bias"}
    for part in ("left", "right", "left_factor", "right_factor", "self"):
        outside |= both(f"pairs.{part}", f"trunk.pairs.{part}")
    outside |= {name: name for name in module.state_dict() if name.startswith("head.")}
    layer = of_edge_layer(form)
    if model == "transformer":
        layer = {**rest_of_layer, "attention.relations": "relations.weight"}
        for number, part in enumerate(("query", "key", "value", "output")):
            layer |= both(f"attention.{part}", f"attention.linears.{number}")
    state = {renamed(name, (outside, layer), path, "trunk.layers"): x for name, x in weights.items()}
    fill(module, state, path)
    queried = frozenset(words["queried"]) if "queried" in words else None
    of_word = {each["word"]: each["labels"] for each in words.get("word_labels", [])}
    return MeaningRun(module.eval(), words["tokens"], words["relations"], words["labels"], words["graph_labels"],
                      words["patterns"], threshold, settings, words["spans"], words["isolated"], queried, of_word)
