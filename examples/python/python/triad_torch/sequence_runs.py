"""Runs of the programs `cognition`, `pairs` and `cfq` as sequences: translations of sentences."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from ._checkpoint_names import both, expect_texts, fill, flag, no_place, setting
from ._sentences import FIRST_WORD, UNKNOWN, as_lists, numbered, padded_batches
from .fused import EOS, PAD, FusedTransformer

MODELS = ("lrf", "transformer", "universal-transformer", "dlcl")
BEGIN = 0  # the number of <s>, which no sentence has


@dataclass
class SequenceRun:
    """A trained translator: `module` in evaluation mode, its vocabularies, and the settings of the model."""
    module: FusedTransformer
    sources: list[str]  # words of the source; the k-th word has number k + 4
    targets: list[str]  # those of the target
    longest: int        # tokens of a translation at most: three times the longest target of training, and ten more
    settings: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers = {word: k for k, word in enumerate(self.sources, FIRST_WORD)}

    def numbers(self, sentence: Sequence[str], unknown: bool = False) -> list[int]:
        """Returns the numbers of the words of a sentence, and the end of the sentence.

        unknown  a word that the run does not know gets the number of unknown words.  Otherwise it raises a ValueError.
        """
        return [*numbered(sentence, lambda word: self._numbers.get(word, UNKNOWN), len(self.sources), unknown), EOS]

    def translate(self, sentences: Iterable[Sequence[str]], batch: int = 64, unknown: bool = False,
                  most: int | None = None) -> list[list[str]]:
        """Returns the words of the likeliest translation, one token after another, like `predict --beam 1`, of each
        sentence, a list of words.  The answer to a sentence without words has none.

        `batch` sentences are computed at a time, 1 or more; unknown is that of numbers().
        most  tokens of a translation at most, with the end of the sentence; None: self.longest.  A run that was trained
              with --max-length or --max-length-factor does not tell load() so."""
        numbers = [self.numbers(sentence, unknown) for sentence in as_lists(sentences)]
        device, names = next(self.module.parameters()).device, ["<s>", "<pad>", "</s>", "<unk>", *self.targets]
        found: list[list[str]] = []
        for place, source, _ in padded_batches(numbers, batch, PAD, device):
            tokens = self.module.greedy(source, self.longest if most is None else most, (BEGIN, PAD), 1).tolist()
            found += [[names[token] for token in row[1:] if token not in (PAD, EOS)] if len(words) > 1 else []
                      for row, words in zip(tokens, numbers[place])]
        return found


def sequence_run(path: Path, weights: dict[str, torch.Tensor], settings: dict, words: dict) -> SequenceRun:
    for side in ("source", "target"):
        # The dictionary of a user may have a token twice if it says so; the later number counts.
        expect_texts(words[side]["tokens"], f"tokens of the {side}", path, not words[side].get("overwriting"))
        for kind in ("merges", "plain", "published"):
            if words[side].get(kind):
                raise ValueError(f"{path}: a {side} with {kind!r}, expected words alone, which is what load() reads; "
                                 "`predict` of the program that trained it answers")
    sizes = {"width": settings["width"], "heads": settings["heads"], "layers": settings["encoder_layers"],
             "hidden": settings["hidden"], "decoder_layers": settings["decoder_layers"]}
    looks_back = {side: setting(settings, "fuse", ("source", "target", "both", "none"), path) in (side, "both")
                  for side in ("source", "target")}
    accumulates, only_top = flag(settings, "accumulate", path), flag(settings, "only_top", path)
    longest = words["longest_target"]
    if type(longest) is not int or longest < 1:
        raise ValueError(f"{path}: longest_target {longest!r}, expected 1 or more; the file is damaged, so train again")
    fuse = {side: [] if accumulates or not looks_back[side] else [settings[f"{half}_layers"]] if only_top else True
            for side, half in (("source", "encoder"), ("target", "decoder"))}
    link = {side: "sum" if accumulates and looks_back[side] else "previous" for side in ("source", "target")}
    if settings["model"] == "dlcl":
        link["source"] = "weighted"
    # Relative positions have a vector for each offset from -reach to reach.
    offsets = [x.shape[0] for name, x in weights.items() if name.endswith(".relative_key")]
    reach = (offsets[0] - 1) // 2 if flag(settings, "relative", path) and offsets else 0
    shares = flag(settings, "share_embedding", path, False)
    scale = setting(settings, "embedding_scale", ("tokens-up", "unscaled", "positions-down"), path, "tokens-up")
    module = FusedTransformer(
        FIRST_WORD + len(words["source"]["tokens"]), FIRST_WORD + len(words["target"]["tokens"]), **sizes,
        fuse_encoder=fuse["source"], fuse_decoder=fuse["target"], tied_output=flag(settings, "tie_output", path),
        dropout=0.0, norm=settings["norm"], reach=reach,
        tied=settings["model"] == "universal-transformer", encoder_link=link["source"], decoder_link=link["target"],
        embedding_scale=scale.replace("-", "_"), shared_embedding=shares)
    state = {_module_name(name, path): x for name, x in weights.items()}
    if shares and "encoder.embed_tokens.weight" in state:
        state["decoder.embed_tokens.weight"] = state["encoder.embed_tokens.weight"]
    fill(module, state, path)
    return SequenceRun(module.eval(), words["source"]["tokens"], words["target"]["tokens"], 3 * longest + 10, settings)


_outside = {"source.table": "encoder.embed_tokens.weight", "target.table": "decoder.embed_tokens.weight",
            "output": "decoder.output_projection.weight"}
_of_layer = {"attention.relative_key": "self_attn.relative_key.weight",
             "attention.relative_value": "self_attn.relative_value.weight", **both("feed_forward.inner", "fc1"),
             **both("feed_forward.outer", "fc2")}
for _ours, _theirs in (("attention", "self_attn"), ("cross", "encoder_attn"), ("fuse", "fuse_attn.attn")):
    for _part, _map in (("query", "q_proj"), ("key", "k_proj"), ("value", "v_proj"), ("output", "out_proj")):
        _of_layer |= both(f"{_ours}.{_part}", f"{_theirs}.{_map}")
for _ours, _theirs in (("attention", "self_attn"), ("cross", "encoder_attn"), ("fuse", "fuse_attn")):
    _of_layer |= {f"{_ours}.norm.gain": f"{_theirs}_layer_norm.weight",
                  f"{_ours}.norm.bias": f"{_theirs}_layer_norm.bias"}
_of_layer |= {"feed_forward.norm.gain": "final_layer_norm.weight", "feed_forward.norm.bias": "final_layer_norm.bias"}
_of_norm = {"gain": "weight", "bias": "bias"}


def _module_name(name: str, path: Path) -> str:
    """Returns the module's name of a parameter of a checkpoint, such as encoder.0.attention.query.weight."""
    if name in _outside:
        return _outside[name]
    half, _, rest = name.partition(".")
    first, _, rest = rest.partition(".")
    if half in ("encoder", "decoder"):
        if first == "norm" and rest in _of_norm:
            return f"{half}.layer_norm.{_of_norm[rest]}"
        number, _, kind = rest.partition(".")
        if first == "norms" and kind in _of_norm:
            return f"{half}.link_norms.{number}.{_of_norm[kind]}"
        if first == "links" and kind in ("combination", "shares"):  # version 0.1 has the second name
            return f"{half}.links.{int(number) - 1}"
        if first.isdigit() and rest in _of_layer:
            return f"{half}.layers.{first}.{_of_layer[rest]}"
    raise no_place(name, path)
