"""The last section of a report: metrics and columns in words, rules, date and versions."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from retrieval_metrics.evaluation.counts import describe_counts
from retrieval_metrics.reports import page
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.scores import Scores
COLUMNS = {
    "mean": "the mean of the metric over all queries for which it is defined.",
    "n": "how many queries that is.",
    "found": "how much of what a query needs is among its first results.",
}


def format_about_section(systems: Mapping[str, Scores], glossary: Mapping[str, str], length: int | None) -> list[str]:
    """Return the folded last section of a report."""
    first = next(iter(systems.values()))
    metrics = Table(["metric", "what it says"], [[str(one), one.in_words] for one in first.metrics], words=(0, 1))
    columns = Table(["column", "meaning"], [list(item) for item in (COLUMNS | dict(glossary)).items()], words=(0, 1))
    facts = [
        f"Written on {_today()} by retrieval-metrics {_version()}, Python {'.'.join(map(str, sys.version_info[:3]))}.",
        f"Rules: {first.rules.name}.",
        *(
            f"{name}{': ' * bool(name)}{'; '.join(describe_counts(one.counts, one.rules, one.metrics))}."
            for name, one in systems.items()
        ),
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
