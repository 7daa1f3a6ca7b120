"""How much text the systems of a comparison put among the first k: chunks of different sizes are unequal there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.judging.matching.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.results.scores import Scores

UNEQUAL = 1.5
"""From this ratio on it is said; retrievers of the same chunks seldom differ by more."""


class Room(NamedTuple):
    """Unequal amounts of text among the first k.

    Attributes:
        metric: The first metric that counts documents.
        characters: The mean number of characters among its first k, by system.
    """

    metric: Metric
    characters: Mapping[str, float]


def unequal_room(scores: Mapping[str, Scores], metrics: Sequence[Metric]) -> Room | None:
    """Return how much text the systems have among the first k, if that is unequal and no metric has a budget.

    None also where the rankings hold only ids.
    """
    metric = next((metric for metric in metrics if isinstance(metric.k, int)), None)
    if metric is None or not isinstance(metric.k, int) or any(isinstance(each.k, Budget) for each in metrics):
        return None
    characters = {}
    for system, each in scores.items():
        lengths = None if each.origin is None else each.origin.judged.lengths
        held = None if lengths is None else lengths.of_first(metric.k, each.queries)
        if not held:
            return None
        characters[system] = float(np.mean(held))
    return Room(metric, characters) if max(characters.values()) > UNEQUAL * min(characters.values()) else None
