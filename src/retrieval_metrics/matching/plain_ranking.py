"""Read distinct ids and ungrouped judgments of one query without arrays, which would take longer than the metric."""

from __future__ import annotations

from typing import Any, NamedTuple

from retrieval_metrics.inputs.id_checks import may_hold_invalid_id

# A larger grade takes the general path, which refuses what a float cannot hold.
MAX_PLAIN_GRADE = 2.0**52

# A longer ranking is scored as fast by the general path.
MAX_PLAIN_LENGTH = 1_000

_STRINGS = {str}
_NUMBERS = {int, float}


class PlainRanking(NamedTuple):
    """What most metrics need of a ranking in which nothing is tied, repeated or grouped: numbers.

    Attributes:
        ranks: The ranks of the relevant documents that were retrieved, ascending.
        grades: Their grades.
        ideal: The grades of all relevant documents, descending.
        n_retrieved: How many documents were retrieved.
    """

    ranks: list[int]
    grades: list[float]
    ideal: list[float]
    n_retrieved: int

    def n_within(self, k: int | None) -> int:
        """Return how many relevant documents are among the first `k`."""
        if k is None or not self.ranks or self.ranks[-1] <= k:
            return len(self.ranks)
        return sum(rank <= k for rank in self.ranks)


def read_plain_judgments(relevant: Any) -> dict[str, float] | None:
    """Return the grades of the relevant documents; None unless they are strings, or a dict of strings to grades.

    None also if an id may be invalid: the general path refuses it.
    """
    if type(relevant) is dict:
        return _read_grades(relevant)
    if type(relevant) not in (list, tuple, set, frozenset):
        return None
    if not set(map(type, relevant)) <= _STRINGS or len(relevant) > MAX_PLAIN_LENGTH:
        return None
    if may_hold_invalid_id(relevant):
        return None
    return dict.fromkeys(relevant, 1.0)


def rank_plainly(grade_by_document: dict[str, float], retrieved: Any) -> PlainRanking | None:
    """Return the ranks of the relevant documents; None unless what was retrieved is a list of distinct strings.

    None also if something is missing and a retrieved id may be invalid.
    """
    if type(retrieved) not in (list, tuple) or len(retrieved) > MAX_PLAIN_LENGTH:
        return None
    if not set(map(type, retrieved)) <= _STRINGS or len(set(retrieved)) < len(retrieved):
        return None
    ranks = []
    grades = []
    for rank, document in enumerate(retrieved, start=1):
        if document in grade_by_document:
            ranks.append(rank)
            grades.append(grade_by_document[document])
    if len(ranks) < len(grade_by_document) and retrieved and may_hold_invalid_id(retrieved):
        return None  # the general path says which is invalid
    return PlainRanking(ranks, grades, sorted(grade_by_document.values(), reverse=True), len(retrieved))


def _read_grades(judgments: dict[str, Any]) -> dict[str, float] | None:
    """Return the grades of the relevant documents; None if an id is not a string, or a grade is not a plain number."""
    if not set(map(type, judgments)) <= _STRINGS or not set(map(type, judgments.values())) <= _NUMBERS:
        return None
    if len(judgments) > MAX_PLAIN_LENGTH or may_hold_invalid_id(judgments):
        return None
    grade_by_document = {}
    for document, grade in judgments.items():
        if not -MAX_PLAIN_GRADE < grade < MAX_PLAIN_GRADE:
            return None
        if grade > 0:
            grade_by_document[document] = float(grade)
    return grade_by_document


def read_plain_gains(gains: Any) -> PlainRanking | None:
    """Return the ranks of the relevant documents in a list of gains, all of which it holds; None if it is not plain."""
    if type(gains) not in (list, tuple) or len(gains) > MAX_PLAIN_LENGTH:
        return None
    ranks = []
    grades = []
    for rank, grade in enumerate(gains, start=1):
        if grade is None:
            continue
        if type(grade) not in _NUMBERS or not -MAX_PLAIN_GRADE < grade < MAX_PLAIN_GRADE:
            return None
        if grade > 0:
            ranks.append(rank)
            grades.append(float(grade))
    return PlainRanking(ranks, grades, sorted(grades, reverse=True), len(gains))
