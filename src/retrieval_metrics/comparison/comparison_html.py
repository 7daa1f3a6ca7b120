"""The display of comparisons in notebooks, without a server, a script or a plot."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from retrieval_metrics.comparison.comparison_tables import (
    means_table,
)
from retrieval_metrics.comparison.system_ranking import choose_main_pair, rank_systems
from retrieval_metrics.evaluation.evaluation_html import worst_queries_html
from retrieval_metrics.evaluation.explanation import FallbackTexts, retrieved_texts
from retrieval_metrics.metrics.base.metric import choose_leading_metric
from retrieval_metrics.reports import page

if TYPE_CHECKING:
    from retrieval_metrics.comparison.system_ranking import ComparisonRecord
SENTENCES_NOTEBOOKS = 12
PAIRS = 12
"""The number of pairs of systems whose differences are shown; `comparison.differences` shows all."""


def comparison_html(comparison: ComparisonRecord) -> str:
    """Return the verdict, the ranking, the folded differences, and the worst queries of the two best systems."""
    main = choose_leading_metric(comparison.metrics)
    sentences = comparison.conclusions.sentences
    ranking = rank_systems(comparison)
    if len(sentences) > SENTENCES_NOTEBOOKS:
        sentences = [*comparison.conclusions.caveats, *ranking.sentences, *comparison.conclusions.selection_bias_notes]
    pairs = list(comparison.differences.by_pair.values())[:PAIRS]
    shown = [means_table(comparison), *(those.table() for those in pairs)]
    parts = [
        f"<ul>{''.join(f'<li>{escape(sentence.strip())}</li>' for sentence in sentences)}</ul>",
        *(table.html() for table in ranking.tables),
        page.folded("means and differences", *(table.html() for table in shown)),
    ]
    known = all(scores.origin is not None for scores in comparison.scores.values())
    corpus = FallbackTexts(*map(retrieved_texts, comparison.scores.values())) if known else {}
    best = choose_main_pair(comparison, main) if known else ()
    return "".join(
        [*parts, *(worst_queries_html(comparison.scores[system], main, corpus, f", {system}") for system in best)]
    )
