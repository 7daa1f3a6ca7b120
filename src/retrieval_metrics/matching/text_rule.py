"""Match whole reference texts by the runs of words that items share with them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.inputs.pieces import Text
from retrieval_metrics.matching.piece_hits import pieces_by_query
from retrieval_metrics.matching.text_normalisation import locate_words
from retrieval_metrics.matching.words import COMPOUND_WORD, unhyphenated_words, word_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import BoolArray
    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.matching.piece_hits import PieceHits
    from retrieval_metrics.matching.words import WordRun


class _ReferenceText:
    """A reference text, split into words.

    Attributes:
        piece_position: Its position in `Qrels.documents`.
        run_length: How many consecutive words must match: all of them if the text is short.
        starts_by_run: The numbers of the words at which each run of this length begins.
        word_lengths: How many characters each word has.
        size: How many characters all words have.
    """

    def __init__(self, piece_position: int, text: str, max_run_length: int) -> None:
        tokens = unhyphenated_words(text)
        self.piece_position = piece_position
        self.run_length = min(max_run_length, len(tokens))
        self.word_lengths = np.array([len(token) for token in tokens], dtype=np.int64)
        self.size = int(self.word_lengths.sum())
        self.starts_by_run: dict[WordRun, list[int]] = {}
        for start, run in enumerate(word_runs(tokens, self.run_length)):
            self.starts_by_run.setdefault(run, []).append(start)

    def count_characters(self, is_covered: BoolArray) -> int:
        """Return how many characters the selected words have."""
        return int(self.word_lengths[is_covered].sum())

    def find_covered_words(self, runs: set[WordRun]) -> BoolArray | None:
        """Return which words of the reference lie in one of these runs; None if no word does."""
        common_runs = self.starts_by_run.keys() & runs
        if not common_runs:
            return None
        starts: list[int] = []
        for run in common_runs:
            starts += self.starts_by_run[run]
        run_starts = np.array(starts)
        n_words = len(self.word_lengths)
        n_starting = np.bincount(run_starts, minlength=n_words + 1)
        n_ending = np.bincount(run_starts + self.run_length, minlength=n_words + 1)
        return np.cumsum(n_starting - n_ending)[:-1] > 0


class TextRule:
    """Finds reference texts by shared runs of words, in time linear in the texts."""

    def __init__(self, qrels: Qrels, matching: Matching, hits: PieceHits) -> None:
        self._matching = matching
        self._references_by_query: dict[int, list[_ReferenceText]] = {}
        self._unhyphenated_words = cache(unhyphenated_words)
        for query, pieces in pieces_by_query(qrels, Text).items():
            for piece_position, judged_text in pieces.items():
                reference = _ReferenceText(piece_position, judged_text.text, matching.min_common_words)
                if not reference.size:
                    raise ValueError(
                        f"the reference text {judged_text.text!r} for query {qrels.queries[query]!r} has no words to "
                        "match"
                    )
                hits.size[piece_position] = reference.size
                self._references_by_query.setdefault(query, []).append(reference)

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the reference texts of a query in the items of its ranking."""
        references = self._references_by_query.get(query)
        if not references:
            return
        run_lengths = {reference.run_length for reference in references}
        is_covered_by_piece: dict[int, BoolArray] = {}
        for reference in references:
            is_covered_by_piece[reference.piece_position] = np.zeros(len(reference.word_lengths), dtype=np.bool_)
        for rank, item in ranking:
            if item.text is None:
                continue
            tokens = self._unhyphenated_words(item.text)
            item_size = sum(map(len, tokens))
            runs_by_length = {length: set(word_runs(tokens, length)) for length in run_lengths}
            for reference in references:
                is_in_item = reference.find_covered_words(runs_by_length[reference.run_length])
                if is_in_item is not None:
                    self._note_overlap(reference, is_in_item, item_size, rank, hits)
                    is_covered = is_covered_by_piece[reference.piece_position]
                    self._note_coverage(reference, is_in_item, is_covered, rank, hits)

    def _note_overlap(
        self, reference: _ReferenceText, is_in_item: BoolArray, item_size: int, rank: int, hits: PieceHits
    ) -> None:
        """Note an item that shares enough with a reference: of the shorter of the two, measured in characters."""
        shorter_size = min(reference.size, item_size)
        if reference.count_characters(is_in_item) / shorter_size >= self._matching.min_overlap:
            hits.add_overlapping(reference.piece_position, rank)

    def _note_coverage(
        self, reference: _ReferenceText, is_in_item: BoolArray, is_covered: BoolArray, rank: int, hits: PieceHits
    ) -> None:
        """Add the words of an item to those that the items above it cover, and note how much they add."""
        n_before = reference.count_characters(is_covered)
        is_covered |= is_in_item
        n_after = reference.count_characters(is_covered)
        hits.add_coverage(reference.piece_position, rank, n_before, n_after, self._matching.min_coverage)


def find_shared_words(reference: str, text: str, max_run_length: int) -> list[tuple[int, int]]:
    """Return start and end of the ranges of a text whose runs of words are also in the reference.

    Example:
        >>> find_shared_words("wraps a block of code", "It wraps a block, I think", 3)
        [(3, 16)]
    """
    reference_text = _ReferenceText(0, reference, max_run_length)  # its position does not matter here
    run_length = reference_text.run_length
    if not run_length:
        return []
    located_words = list(locate_words(text, COMPOUND_WORD))
    tokens = [word.replace("-", "") for word, _, _ in located_words]
    shared: list[tuple[int, int]] = []
    next_word = -1  # the number of the word after the last shared run
    for first_word, run in enumerate(word_runs(tokens, run_length)):
        if run not in reference_text.starts_by_run:
            continue
        _, start, _ = located_words[first_word]
        _, _, end = located_words[first_word + run_length - 1]
        if shared and first_word <= next_word:  # runs that share a word or follow each other are one range
            range_start, _ = shared[-1]
            shared[-1] = range_start, end
        else:
            shared.append((start, end))
        next_word = first_word + run_length
    return shared
