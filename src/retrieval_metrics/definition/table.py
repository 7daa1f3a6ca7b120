"""The metrics there are: one line each, and the names they answer to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.metrics import (
    alpha_ndcg,
    average_precision,
    bpref,
    coverage,
    dcg,
    density,
    err,
    f1,
    full_recall,
    hit_rate,
    judged,
    ndcg,
    precision,
    r_precision,
    rbp,
    recall,
    reciprocal_rank,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.definition.definition import Definition

DEFINITIONS: Mapping[str, Definition] = {
    module.DEFINITION.name: module.DEFINITION
    for module in (
        hit_rate,
        full_recall,
        recall,
        precision,
        f1,
        reciprocal_rank,
        average_precision,
        ndcg,
        dcg,
        alpha_ndcg,
        r_precision,
        rbp,
        err,
        bpref,
        judged,
        coverage,
        density,
    )
}

ALIASES: Mapping[str, str] = {
    spelling: name for name, definition in DEFINITIONS.items() for spelling in (name, *definition.aliases)
}
