"""A tuning as JSON: the evaluation of each setting, and how to choose; the choice follows from both."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from retrieval_metrics.keeping.document import of_record, write_document
from retrieval_metrics.keeping.saved import of_systems
from retrieval_metrics.tuning.choice import SECONDS

if TYPE_CHECKING:
    from os import PathLike

    from retrieval_metrics.keeping.document import Labels
    from retrieval_metrics.tuning.choice import Choice


def save_tuning(tuning: Choice, path: str | PathLike[str], labels: Labels | None, *, rankings: bool) -> None:
    """Write a tuning; see `Tuning.save`."""
    if not rankings and SECONDS in {**tuning.rule.at_least, **tuning.rule.at_most}:
        raise ValueError("seconds are bounded, and they are saved only with the rankings; leave out rankings=False")
    scores = {name: each.scores for name, each in tuning.evaluations.items()}
    rule = {name: of_record(value, name) for name, value in asdict(tuning.rule).items()}
    write_document(path, "tuning", {**of_systems(scores, rankings=rankings), "rule": rule}, labels)
