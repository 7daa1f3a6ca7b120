"""The grades that people and models give, what each means, and from which one a document is relevant."""

from __future__ import annotations

from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.datasets.label_wording import format_grades

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


# The grades that people and models can give.
GRADES = (0, 1, 2, 3)
# The meaning of each grade, for people and models.
RUBRIC = (
    "does not help to answer the question",
    "is about the subject of the question, but does not answer it",
    "answers a part of the question, or answers it among much else",
    "answers the question",
)
# The lowest grade of a document that answers at least a part of the question.
RELEVANT_FROM = 2


class Scale(NamedTuple):
    """The grades that a rubric has.

    Attributes:
        grades: All of them.
        relevant_from: The lowest grade with which a document is relevant.
    """

    grades: tuple[float, ...] = GRADES
    relevant_from: float = RELEVANT_FROM

    @classmethod
    def from_grades(cls, relevant_from: float, grades: Iterable[float] = GRADES) -> Scale:
        """Return the scale of a rubric."""
        all_grades = tuple(grades)
        if any(isinstance(grade, bool) or not isinstance(grade, Real) for grade in all_grades):
            raise TypeError(f"the grades of a rubric must be numbers, got {list(all_grades)}")
        if any(higher <= lower for lower, higher in pairwise(all_grades)):
            raise ValueError(f"the grades of a rubric must increase, got {list(all_grades)}")
        if isinstance(relevant_from, bool) or relevant_from not in all_grades[1:]:
            options = format_grades(all_grades[1:])
            raise ValueError(f"relevant_from must be one of the grades {options}, got {relevant_from!r}")
        return cls(all_grades, relevant_from)

    @classmethod
    def merge(cls, scales: Iterable[Scale | None]) -> Scale | None:
        """Return the scale of several labels; those that have none have the scale of the others."""
        distinct = list(dict.fromkeys(scale for scale in scales if scale is not None))
        if len(distinct) > 1:
            first, second = distinct[:2]
            raise ValueError(
                f"these labels were given by different rubrics: a document is relevant from grade "
                f"{first.relevant_from:g} of {len(first.grades)} and from {second.relevant_from:g} of "
                f"{len(second.grades)}"
            )
        return distinct[0] if distinct else None


def resolve_rubric(rubric: Collection[str] | None) -> tuple[str, ...]:
    """Return the meaning of each grade; None stands for the rubric of this package.

    Raises:
        ValueError: If there is not one text for each grade.
    """
    if rubric is None:
        return RUBRIC
    meanings = () if isinstance(rubric, str) else tuple(rubric)
    are_texts = all(isinstance(meaning, str) and meaning.strip() for meaning in meanings)
    if len(meanings) != len(GRADES) or not are_texts:
        raise ValueError(f"a rubric must have {len(GRADES)} texts, for the grades 0 to {GRADES[-1]}, got {rubric!r}")
    return meanings
