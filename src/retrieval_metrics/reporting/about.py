"""The last section of a report: metrics and columns in words, rules, date and versions."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.presentation import numbers, page
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.counts import describe
from retrieval_metrics.results.cutoffs import over_cutoffs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.results.scores import Scores

LOOKED_AT = 10
"""The number of results whose judgments are counted if no metric has a cut-off."""
NEARLY_ALL = 0.9995
COLUMNS = {
    "mean": "the mean of the metric over all queries for which it is defined.",
    "n": "how many queries that is.",
    "found": "how much of what a query needs is among its first results.",
}


def about(systems: Mapping[str, Scores], glossary: Mapping[str, str], length: int | None) -> list[str]:
    """Return the folded last section of a report.

    Args:
        systems: The scores of each system.
        glossary: What its columns mean, besides those of every report.
        length: The length to which texts were cut.
    """
    first = next(iter(systems.values()))
    metrics = Table(["metric", "what it says"], [[str(one), one.in_words] for one in first.metrics], words=(0, 1))
    columns = Table(["column", "meaning"], [list(item) for item in (COLUMNS | dict(glossary)).items()], words=(0, 1))
    facts = [
        f"Written on {_today()} by retrieval-metrics {_version()}, Python {'.'.join(map(str, sys.version_info[:3]))}.",
        f"Rules: {first.rules.name}.",
        *(f"{name}{': ' * bool(name)}{'; '.join(describe(one.counts, one.rules))}." for name, one in systems.items()),
    ]
    if length is not None:
        facts.append(
            f"Texts of more than {length:,} characters are shortened, around the needed words if there are any."
        )
    return [
        page.folded("What the metrics say", page.table(metrics)),
        page.folded("What the columns mean", page.table(columns)),
        page.folded("About this report", page.sentences(facts)),
    ]


def not_judged(systems: Mapping[str, Scores]) -> list[str]:
    """Return one sentence per system on how many of its results are unjudged, if ids are judged."""
    said = []
    for name, scores in systems.items():
        if scores.origin is None or scores.origin.judged.qrels.has_pieces:
            continue
        k = max((metric.k for metric in scores.metrics if isinstance(metric.k, int)), default=LOOKED_AT)
        (share,) = over_cutoffs(scores, Metric.of("judged"), [k]).values()
        if share < NEARLY_ALL:
            of_system = f" of {name}" if name else ""
            said.append(
                f"{100 * (1 - share):.0f} % of the first {numbers.count(k, 'result')}{of_system} are unjudged; they "
                "count as not relevant."
            )
    return said


def _today() -> str:
    """Return the date, or that of SOURCE_DATE_EPOCH, which reproducible builds set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.now(UTC) if epoch is None else datetime.fromtimestamp(int(epoch), UTC)
    return now.date().isoformat()


def _version() -> str:
    try:
        return version("retrieval-metrics")
    except PackageNotFoundError:  # used without being installed
        return "of unknown version"
