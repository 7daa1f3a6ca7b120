"""Format the last section of a report: metrics and columns in words, rules, date and versions."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from retrieval_metrics.evaluation.evaluation_wording import COLUMN_MEANINGS, format_shortened_texts
from retrieval_metrics.evaluation.summary_wording import describe_counts
from retrieval_metrics.reports import page
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.scores import Scores


def format_about_section(
    systems: Mapping[str, Scores], column_meanings: Mapping[str, str], text_length: int | None
) -> list[str]:
    """Return the folded last section of a report.

    Args:
        systems: The scores by system.
        column_meanings: The meanings of the columns that this report has besides those of every report.
        text_length: The length to which texts were cut; None if the report shows no texts.
    """
    first_scores = next(iter(systems.values()))
    metric_rows = [[str(metric), metric.in_words] for metric in first_scores.metrics]
    column_rows = [[column, meaning] for column, meaning in {**COLUMN_MEANINGS, **column_meanings}.items()]
    versions = f"retrieval-metrics {_get_package_version()}, Python {_format_python_version()}"
    facts = [
        f"Written on {_format_date()} by {versions}.",
        f"Rules: {first_scores.rules.name}.",
    ]
    for name, scores in systems.items():
        counts = "; ".join(describe_counts(scores.counts, scores.rules, scores.metrics))
        facts.append(f"{name}: {counts}." if name else f"{counts}.")
    if text_length is not None:
        facts.append(format_shortened_texts(text_length))
    metrics_table = Table(["metric", "meaning"], metric_rows, words=(0, 1))
    columns_table = Table(["column", "meaning"], column_rows, words=(0, 1))
    return [
        page.folded("Metric definitions", page.table(metrics_table)),
        page.folded("Column definitions", page.table(columns_table)),
        page.folded("About this report", page.sentences(facts)),
    ]


def _format_date() -> str:
    """Return the date, or that of SOURCE_DATE_EPOCH, which reproducible builds set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.now(UTC) if epoch is None else datetime.fromtimestamp(int(epoch), UTC)
    return now.date().isoformat()


def _get_package_version() -> str:
    try:
        return version("retrieval-metrics")
    except PackageNotFoundError:  # the package is used without being installed
        return "of unknown version"


def _format_python_version() -> str:
    return ".".join(map(str, sys.version_info[:3]))
