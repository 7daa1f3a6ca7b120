"""The last section of a report: metrics and columns in words, rules, date and versions."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from retrieval_metrics.presentation import numbers, page
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.counts import describe
from retrieval_metrics.results.summary import over_cutoffs
from retrieval_metrics.scoring.metric import Metric

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
    """Return in a sentence how many results of each system are unjudged, if ids are judged and some are not."""
    known = {name: one for name, one in systems.items() if one.origin is not None}
    known = {name: one for name, one in known.items() if not one.needed_origin("read").judged.qrels.has_pieces}
    cutoffs = [metric.k for one in known.values() for metric in one.metrics if isinstance(metric.k, int)]
    k = max(cutoffs, default=LOOKED_AT)
    judged = {name: over_cutoffs(one, Metric.of("judged"), [k])[k] for name, one in known.items()}
    unjudged = {name: f"{100 * (1 - share):.0f} %" for name, share in judged.items() if share < NEARLY_ALL}
    if not unjudged:
        return []
    results = f"the first {numbers.count(k, 'result')}"
    if list(unjudged) == [""]:
        said = f"{unjudged['']} of {results}"
    else:
        said = f"Of {results}, {numbers.listed([f'{share} of {name}' for name, share in unjudged.items()])}"
    condensed = any(one.rules.unjudged == "condensed" for one in known.values())
    return [f"{said} are unjudged; they {'were taken out of the rankings' if condensed else 'count as not relevant'}."]


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
