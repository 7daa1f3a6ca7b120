"""Choose between the grades that several graders gave one document."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.labelling.label import Label

RULES = ("lowest", "highest", "majority")


def one_of(held: Sequence[Label], rule: str) -> Label:
    """Return the label that holds by a rule, or by the name of a grader; see `Labels.resolved`.

    Raises:
        ValueError: If that grader gave no grade, and the others differ.
    """
    graded = [label for label in held if label.grade is not None]
    if not graded:
        return held[0]
    if named := [label for label in graded if label.by == rule]:
        return named[0]
    grades = [float(label.grade or 0) for label in graded]
    if len(set(grades)) == 1:
        return graded[0]
    most = Counter(grades)
    chosen = {
        "lowest": min(grades),
        "highest": max(grades),
        "majority": min(grades, key=lambda grade: (-most[grade], grade)),
    }.get(rule)
    if chosen is None:  # the chosen grader gave none, and the others differ
        (query, document) = held[0].query, held[0].document
        raise ValueError(f"{rule} did not grade document {document!r} for query {query!r}, and the others differ")
    return next(label for label in graded if label.grade == chosen)
