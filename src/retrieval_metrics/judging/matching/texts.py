"""Match whole reference texts by the runs of words that items share with them."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from retrieval_metrics.inputs.items import Text
from retrieval_metrics.inputs.sources import UNSPACED
from retrieval_metrics.judging.matching.normalised import spaced, words_with_places
from retrieval_metrics.judging.matching.piece_hits import pieces_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import BoolArray
    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.matching.matching import Matching
    from retrieval_metrics.judging.matching.piece_hits import PieceHits

    WordRun: TypeAlias = tuple[str, ...]

# Scripts without spaces between words are split into letters.
_LETTERS = rf"[^\W\d_{UNSPACED}]"
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_COMPOUND = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:(?<={_LETTERS})-(?={_LETTERS})[^\W_{UNSPACED}]+)*")
"""Words with the hyphens between their letters, which may be those of a broken line."""


def words(text: str) -> list[str]:
    r"""Return the words of a text as `spaced` reads it; punctuation, hyphens and white space separate words.

    Example:
        >>> words("The \ufb01rst: don't; \u4e2d\u6587 well-known of-\nfice")
        ['the', 'first', 'don', 't', '中', '文', 'well', 'known', 'office']
    """
    return _WORD.findall(spaced(text))


def whole_words(text: str) -> list[str]:
    r"""Return the words of a text as quotes are compared: whether a word has hyphens does not matter.

    Example:
        >>> whole_words("A well-known of-\nfice"), whole_words("a well-\nknown office")
        (['a', 'wellknown', 'office'], ['a', 'wellknown', 'office'])
    """
    return [word.replace("-", "") for word in _COMPOUND.findall(spaced(text))]


class _Reference:
    """A reference text, split into words."""

    def __init__(self, at: int, text: str, longest_run: int) -> None:
        tokens = whole_words(text)
        self.at = at
        self.run = min(longest_run, len(tokens))
        self.weight = np.array([len(token) for token in tokens], dtype=np.int64)
        self.size = int(self.weight.sum())
        self.places: dict[WordRun, list[int]] = {}
        for place, run in enumerate(runs_of(tokens, self.run)):
            self.places.setdefault(run, []).append(place)

    def characters(self, held: BoolArray) -> int:
        """Return how many characters the selected words have."""
        return int(self.weight[held].sum())

    def held(self, runs: set[WordRun]) -> BoolArray | None:
        """Return which words are in a run that also occurs in `runs`; None if none is."""
        common = self.places.keys() & runs
        if not common:
            return None
        starts = np.array([place for run in common for place in self.places[run]])
        edges = np.bincount(starts, minlength=len(self.weight) + 1)
        edges = edges - np.bincount(starts + self.run, minlength=len(self.weight) + 1)
        return np.cumsum(edges)[:-1] > 0


class TextRule:
    """Finds reference texts by shared runs of words, in time linear in the texts."""

    def __init__(self, qrels: Qrels, matching: Matching, hits: PieceHits) -> None:
        self._matching = matching
        self._references: dict[int, list[_Reference]] = {}
        self._words_of = cache(whole_words)
        for query, pieces in pieces_of(qrels, Text).items():
            for at, piece in pieces.items():
                reference = _Reference(at, piece.text, matching.text_run)
                if not reference.size:
                    raise ValueError(
                        f"the reference text {piece.text!r} for query {qrels.queries[query]!r} has no words to match"
                    )
                hits.size[at] = reference.size
                self._references.setdefault(query, []).append(reference)

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the reference texts of a query in the items of its ranking."""
        references = self._references.get(query)
        if not references:
            return
        lengths = {reference.run for reference in references}
        covered = {reference.at: np.zeros(len(reference.weight), dtype=np.bool_) for reference in references}
        for rank, item in ranking:
            if item.text is None:
                continue
            tokens = self._words_of(item.text)
            runs = {length: set(runs_of(tokens, length)) for length in lengths}
            for reference in references:
                held = reference.held(runs[reference.run])
                if held is None:
                    continue
                shorter = min(reference.size, sum(map(len, tokens)))
                if reference.characters(held) / shorter >= self._matching.overlap:
                    hits.overlapping(reference.at, rank)
                so_far = covered[reference.at]
                before = reference.characters(so_far)
                so_far |= held
                hits.cover(reference.at, rank, (before, reference.characters(so_far)), self._matching.share)


def runs_of(tokens: Sequence[str], length: int) -> zip[WordRun]:
    """Return all runs of `length` words.

    Example:
        >>> list(runs_of(["a", "b", "c"], 2))
        [('a', 'b'), ('b', 'c')]
    """
    return zip(*(tokens[start:] for start in range(length)), strict=False)


def shared(reference: str, text: str, longest_run: int) -> list[tuple[int, int]]:
    """Return start and end of the stretches of a text whose runs of words are also in the reference.

    Example:
        >>> shared("wraps a block of code", "It wraps a block, I think", 3)
        [(3, 16)]
    """
    sought = _Reference(0, reference, longest_run)
    found = [(word.replace("-", ""), start, end) for word, start, end in words_with_places(text, _COMPOUND)]
    starts = [at for at, run in enumerate(runs_of([word for word, _, _ in found], sought.run)) if run in sought.places]
    stretches: list[tuple[int, int]] = []
    last = -1
    for at in starts if sought.run else ():
        start, end = found[at][1], found[at + sought.run - 1][2]
        if stretches and at <= last:  # runs that share a word or follow each other are one stretch
            stretches[-1] = stretches[-1][0], end
        else:
            stretches.append((start, end))
        last = at + sought.run
    return stretches
