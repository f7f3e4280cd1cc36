"""What the models of sentences share: checks of padded batches, and vectors of positions."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import torch

from . import _arrays, _checks
from ._torch_attention import expect_dense, numbers_are_at_hand, outside

# Numbers of padding, of an unknown word, and of the first word, in the vocabularies of triad's programs.
PAD, UNKNOWN, FIRST_WORD = 1, 3, 4


def expect_sentences(tokens: torch.Tensor, pad: torch.Tensor | None = None, queried: torch.Tensor | None = None,
                     **numbers: torch.Tensor) -> None:
    """Checks the kinds and shapes of the tensors, all (b, n), and that padding follows tokens.  pad and queried are
    bool, tokens and the others int64."""
    masks = {name: x for name, x in (("queried", queried), ("pad", pad)) if x is not None}
    for name, x in {"tokens": tokens, **numbers, **masks}.items():
        if not _arrays.is_torch(x):
            raise TypeError(f"{name}: {type(x).__name__}, expected a tensor; pass torch.tensor(...)")
        expect_dense(x, name)
        if x.dim() != 2 or x.shape != tokens.shape:
            raise ValueError(f"{name}: shape {tuple(x.shape)}, expected (sentences, tokens), that of tokens; pad "
                             "sentences to the length of the longest")
        if x.dtype != (torch.bool if name in masks else torch.int64):
            wanted = "bool" if name in masks else "int64"
            raise TypeError(f"{name}: {x.dtype}, expected {wanted}; convert it by .to(torch.{wanted})")
    if pad is not None and numbers_are_at_hand(pad) and bool((pad[:, :-1] & ~pad[:, 1:]).any()):
        raise ValueError("pad: padding before a token, expected it after all tokens of a sentence; move it to the end")


def numbered(sentence: Sequence[str], number_of: Callable[[str], int], known: int, unknown: bool) -> list[int]:
    """Returns the numbers of the words of a sentence.  Raises a ValueError if a word has the number UNKNOWN, unless
    `unknown`.  The model knows `known` words."""
    if isinstance(sentence, str):
        raise TypeError(f"sentences: {sentence!r}, expected lists of words; pass [sentence.split()]")
    found = [number_of(word) for word in sentence]
    if UNKNOWN in found and not unknown:
        raise ValueError(f"sentences: {sentence[found.index(UNKNOWN)]!r} is not one of the {known} words that the "
                         "model knows, expected those; pass unknown=True to read unknown words all alike")
    return found


def as_lists(sentences: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    """Returns the sentences as lists of words.  A text stays as it is, so that a check can refuse it."""
    return [sentence if isinstance(sentence, str) else list(sentence) for sentence in sentences]


def padded_batches(numbers: list[list[int]], batch: int, padding: int,
                   device: torch.device) -> Iterator[tuple[slice, torch.Tensor, torch.Tensor]]:
    """Yields batches of up to `batch` sentences, whose words have these numbers: the place of the batch among the
    sentences, its tokens, int64 (b, n), and bool (b, n), which is True for padding."""
    batch = _checks.batch_size(batch, "sentences")
    for begin in range(0, len(numbers), batch):
        place = slice(begin, begin + batch)
        part = numbers[place]
        n = max(map(len, part))
        tokens = torch.tensor([row + [padding] * (n - len(row)) for row in part], device=device, dtype=torch.int64)
        lengths = torch.tensor([[len(row)] for row in part], device=device)
        yield place, tokens.reshape(len(part), n), torch.arange(n, device=device) >= lengths


def parsed(parse: Callable[..., Sequence[torch.Tensor]], tokens: torch.Tensor,
           pad: torch.Tensor) -> list[list[list]]:
    """Returns for each sentence of a batch: the tensors (b, n) of parse(tokens, pad), without padding, as lists.
    Sentences without words are not given to parse(), because a softmax over their tokens has no value."""
    lengths = (~pad).sum(1)
    real = lengths > 0
    if not bool(real.any()):
        return [[] for _ in lengths]
    found = iter(zip(*(x.tolist() for x in parse(tokens[real], pad[real]))))
    return [[x[:n] for x in next(found)] if n else [] for n in lengths.tolist()]


def expect_numbers(x: torch.Tensor, name: str, count: int, pad: torch.Tensor | None = None) -> None:
    """Refuses numbers that are not from 0 to count - 1, but for padding."""
    if (wrong := outside(x, count, pad)) is not None:
        raise ValueError(f"{name}: {wrong}, expected numbers from 0 to {count - 1}; number them from 0")


def layers_times(layers: int, tied: bool) -> int:
    """Returns how often all layers of the module are applied."""
    layers = _checks.layer_count(layers, "layers")
    return layers if _checks.flag(tied, "tied") else 1


def waves(n: int, width: int, device: torch.device) -> torch.Tensor:
    """Returns sines and cosines of n positions, (n, width), computed in float32 as in the released program of the Edge
    Transformer."""
    column = torch.arange(width, device=device)
    rates = torch.exp(column // 2 * 2 * torch.tensor(-math.log(1e4) / width, device=device))
    angles = torch.arange(n, device=device)[:, None] * rates
    return torch.where(column % 2 == 0, angles.sin(), angles.cos())


def clipped_offsets(n: int, reach: int, device: torch.device) -> torch.Tensor:
    """Returns the numbers of relative positions, int64 (n, n): reach + (j - i), with j - i clipped to the reach."""
    place = torch.arange(n, device=device)
    return (place - place[:, None]).clamp(-reach, reach) + reach


def on_diagonal(x: torch.Tensor) -> torch.Tensor:
    """Returns states (b, n, n, width) of pairs, which are those of x (b, n, width) where i = j, and zeros elsewhere."""
    return torch.diag_embed(x.transpose(1, 2)).permute(0, 2, 3, 1)


def own_states(x: torch.Tensor) -> torch.Tensor:
    """Returns the states (b, n, width) of the pairs with i = j, from those of all pairs (b, n, n, width)."""
    return x.diagonal(dim1=1, dim2=2).transpose(1, 2)
