"""Runs of the program `cogs`: graphs and logical forms of sentences."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ._checkpoint_names import both, fill, flag, form_of, of_edge_layer, of_transformer_layer, renamed, setting, stacked
from ._sentences import as_lists, padded_batches, parsed
from .semantic_parsers import EdgeSemanticParser, TransformerSemanticParser

MODELS = ("edge-transformer", "transformer", "universal-transformer")
KINDS = ("role", "category", "noun_type", "verb")  # of labels, in the order of SemanticParse
VERB_ROLES = ("agent", "theme", "recipient", "xcomp", "ccomp")


def logical_form(parse: Mapping[str, Any]) -> str | None:
    """Returns the logical form of a graph in the notation of COGS, or None if it has none.

    parse is a dict of SemanticRun.parse(), or a line of COGS as tags: tokens, parent (-1: a root), role, category,
    noun_type and verb_name, each with one entry for each token.  A graph has no form if the label of an edge has no
    edge, a verb's argument has no verb, or a modifier has no noun."""
    tokens, parent, role, verb = (parse[name] for name in ("tokens", "parent", "role", "verb_name"))

    def word(i: int) -> str:
        return "tv" if tokens[i] == "TV" else tokens[i]

    def term(i: int) -> str:
        return tokens[i] if parse["category"][i] == "PNOUN" else f"x _ {i}"

    definite: list[str] = []
    others: list[tuple[int, int, str]] = []
    for i, kind in enumerate(parse["noun_type"]):
        if kind == "DEF":
            definite.append(f"* {word(i)} ( x _ {i} )")
        if kind == "INDEF":
            others.append((i, -1, f"{word(i)} ( x _ {i} )"))
        if role[i] in ("", "PREP"):
            continue
        of = parent[i]
        if not 0 <= of < len(tokens):
            return None
        if role[i] == "PP_NOUN":
            noun = parent[of]
            if not 0 <= noun < len(tokens):
                return None
            others.append((noun, i, f"{word(noun)} . nmod . {tokens[of]} ( x _ {noun} , {term(i)} )"))
            continue
        if role[i] not in VERB_ROLES or not verb[of]:
            return None
        others.append((of, i, f"{verb[of]} . {role[i]} ( x _ {of} , {term(i)} )"))
        if role[i] == "xcomp":  # the agent of the controlling verb is also that of the controlled one
            agents = [a for a in range(len(tokens)) if role[a] == "agent" and parent[a] == of]
            if not agents or not verb[i]:
                return None
            others.append((i, agents[-1], f"{verb[i]} . agent ( x _ {i} , {term(agents[-1])} )"))
    clauses = " AND ".join(text for *_, text in sorted(others, key=lambda each: each[:2]))
    return " ; ".join([*definite, clauses] if clauses else definite)


@dataclass
class SemanticRun:
    """A trained parser of COGS: `module` in evaluation mode, its vocabulary, and the settings of the model."""
    module: EdgeSemanticParser | TransformerSemanticParser
    words: list[str]              # the k-th word has number k + 1
    labels: dict[str, list[str]]  # role, category, noun_type and verb; the k-th label has number k + 1
    settings: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers = {word: k for k, word in enumerate(self.words, 1)}

    def numbers(self, sentence: Sequence[str]) -> list[int]:
        """Returns the numbers of the words of a sentence.  A word that the run does not know raises a ValueError."""
        if isinstance(sentence, str):
            raise TypeError(f"sentences: {sentence!r}, expected lists of words; pass [sentence.split()]")
        for word in sentence:
            if word not in self._numbers:
                raise ValueError(f"sentences: {word!r} is not one of the {len(self.words)} words that the model knows, "
                                 "expected those of run.words; leave the sentence out, or train with this word")
        return [self._numbers[word] for word in sentence]

    def parse(self, sentences: Iterable[Sequence[str]], batch: int = 64, tree: bool = True) -> list[dict[str, Any]]:
        """Returns the graph of each sentence, a list of words: a dict with tokens, parent (-1: a root), role, category,
        noun_type, verb_name, the probability of each parent, and logical_form, which is None if the graph has none.

        `batch` sentences are computed at a time, 1 or more.  tree is that of the module's parse(): False takes the
        likeliest parent of each token, like `predict --argmax`."""
        given, found = as_lists(sentences), []
        numbers = [self.numbers(sentence) for sentence in given]
        device = next(self.module.parameters()).device

        def parse(tokens: torch.Tensor, pad: torch.Tensor) -> tuple[torch.Tensor, ...]:
            graphs, p = self.module.parse(tokens, pad, tree)
            return *graphs, p

        for place, tokens, pad in padded_batches(numbers, batch, 0, device):
            for words, graph in zip(given[place], parsed(parse, tokens, pad)):
                parents, *labels, p_of_parent = graph or ([],) * 6
                names = {kind: [["", *self.labels[kind]][label] for label in of]
                         for kind, of in zip(KINDS, labels)}
                told = {"tokens": words,
                        "parent": [-1 if parent == i else parent for i, parent in enumerate(parents)],
                        "role": names["role"], "category": names["category"], "noun_type": names["noun_type"],
                        "verb_name": names["verb"], "probability": p_of_parent}
                found.append({**told, "logical_form": logical_form(told) if words else None})
        return found


def semantic_run(path: Path, weights: dict[str, torch.Tensor], settings: dict, words: dict) -> SemanticRun:
    model = settings["model"]
    form = form_of(settings, path)
    names = zip(("tokens", "roles", "categories", "noun_types", "verbs"), ("tokens", *KINDS))
    sizes: dict[str, Any] = {ours: 1 + len(words[theirs]) for ours, theirs in names}
    sizes |= {"width": settings["width"], "heads": settings["heads"], "layers": settings["layers"],
              "hidden": settings["hidden_factor"] * settings["width"], "tied": flag(settings, "tied", path),
              "dropout": 0.0,
              "positional_dropout": 0.0,
              "verb_from_word": flag(settings, "verb_from_word", path, False),
              "learn_all": flag(settings, "learn_all", path)}
    outside = {"encoder.tokens": "word_emb.weight", **both("labels.verb", "decode_verb_name")}
    for name in KINDS[:3]:
        outside |= both(f"labels.{name}", f"decode_{name}")
    module: EdgeSemanticParser | TransformerSemanticParser
    if model == "edge-transformer":
        arcs = setting(settings, "arcs", ("from child", "from parent"), path)
        of_layer = setting(settings, "form", ("released", "paper"), path)
        module = EdgeSemanticParser(max_offset=settings.get("max_offset", 16), encoding=settings["encoding"],
                                    from_parent=arcs == "from parent", released=of_layer == "released", form=form,
                                    **sizes)
        outside |= {"encoder.relations": "encoder.spatial_relations_builder.rel_embeddings.weight",
                    **both("encoder.left", "encoder.left_linear"), **both("encoder.right", "encoder.right_linear"),
                    **both("parent", "decode_parent")}
        layer, layers = of_edge_layer(form), "encoder.layers"
    else:
        module = TransformerSemanticParser(**sizes)
        weights = stacked(weights)
        stack = "encoder.transformer_encoder"
        outside |= {"norm.gain": f"{stack}.norm.weight", "norm.bias": f"{stack}.norm.bias",
                    **both("parent.query", "encoder.decoder_q"), **both("parent.key", "encoder.decoder_k")}
        layer, layers = of_transformer_layer, f"{stack}.layers"
    state = {renamed(name, (outside, layer), path, layers): x for name, x in weights.items()}
    if model == "universal-transformer":
        state = {name.replace(".layers.0.", ".layer."): x for name, x in state.items()}
    fill(module, state, path)
    return SemanticRun(module.eval(), words["tokens"], {name: words[name] for name in KINDS}, settings)
