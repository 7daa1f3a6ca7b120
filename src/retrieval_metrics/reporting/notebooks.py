"""The display of evaluations and comparisons in notebooks, without a server, a script or a plot."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from retrieval_metrics.explaining.explanation import FirstOf, texts_of, worst
from retrieval_metrics.presentation import numbers, page
from retrieval_metrics.reporting.verdict import means_table
from retrieval_metrics.results.standings import main_pair, ranking_of
from retrieval_metrics.results.summary import summary_in_words
from retrieval_metrics.scoring.metric import Metric, first_telling

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from retrieval_metrics.results.scores import Scores, Totals
    from retrieval_metrics.results.standings import Compared

LOWEST = 5
"""The number of queries with the lowest values that are shown."""
MOST = 2_000
"""The largest number of queries for which a notebook shows the worst unasked; for more it takes a moment."""
SENTENCES = 12
PAIRS = 12
"""The number of pairs of systems whose differences are shown; `comparison.differences` shows all."""


def evaluation_html(record: Scores | Totals) -> str:
    """Return the means in plain words, and the worst queries with their results, if these are kept."""
    worst = _worst(record.of_queries, first_telling(record.metrics), {}) if record.origin else ""
    return summary_in_words(record).html() + worst


def comparison_html(comparison: Compared) -> str:
    """Return the verdict, the ranking, the folded differences, and the worst queries of the two best systems."""
    main = first_telling(comparison.metrics)
    sentences = comparison.conclusions.sentences
    ranking = ranking_of(comparison)
    if len(sentences) > SENTENCES:
        sentences = [*comparison.conclusions.caveats, *ranking.sentences, *comparison.conclusions.flattery]
    pairs = list(comparison.differences.by_pair.values())[:PAIRS]
    shown = [means_table(comparison), *(those.table() for those in pairs)]
    parts = [
        f"<ul>{''.join(f'<li>{escape(sentence.strip())}</li>' for sentence in sentences)}</ul>",
        *(table.html() for table in ranking.tables),
        page.folded("means and differences", *(table.html() for table in shown)),
    ]
    known = all(scores.origin is not None for scores in comparison.scores.values())
    corpus = FirstOf(*map(texts_of, comparison.scores.values())) if known else {}
    best = main_pair(comparison, main) if known else ()
    return "".join([*parts, *(_worst(comparison.scores[system], main, corpus, f", {system}") for system in best)])


def _worst(scores: Scores, metric: Metric, corpus: Mapping[Any, str], of_system: str = "") -> str:
    if scores.origin is None or len(scores.queries) > MOST:
        return ""
    lowest = worst(scores, metric, LOWEST, None, corpus)
    folded = (
        page.folded(
            f"{numbers.value(each.values[lowest.metric])}  {each.query} {each.text}".rstrip(),
            *(table._replace(title="").html() for table in each.tables),
        )
        for each in lowest
    )
    title = f"the lowest {metric}{of_system}: {lowest.summary}"
    return page.folded(title, *folded)
