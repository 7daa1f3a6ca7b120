"""Show comparisons in notebooks as HTML, without a server, a script or a plot."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from retrieval_metrics.comparison.comparison_tables import means_table
from retrieval_metrics.comparison.system_ranking import choose_main_pair
from retrieval_metrics.evaluation.evaluation_html import worst_queries_html
from retrieval_metrics.evaluation.explainer import FallbackTexts, retrieved_texts
from retrieval_metrics.metrics.base.metric import choose_leading_metric
from retrieval_metrics.reports import page

if TYPE_CHECKING:
    from retrieval_metrics.comparison.comparison_record import ComparisonRecord


# The largest number of sentences that are shown; instead of more, the ranking is shown.
MAX_SENTENCES_SHOWN = 12

# The number of pairs of systems whose differences are shown; `comparison.differences` shows all.
MAX_PAIRS = 12


def comparison_html(comparison: ComparisonRecord) -> str:
    """Return the sentences, the ranking, the folded differences, and the worst queries of the two best systems."""
    conclusions = comparison.conclusions
    ranking = comparison.ranking
    sentences: list[str] = []
    # Every pair has a sentence, so those of many pairs need not be written to be counted.
    has_many_pairs = len(comparison.pairs) > MAX_SENTENCES_SHOWN
    if not has_many_pairs:
        sentences = conclusions.sentences
    if has_many_pairs or len(sentences) > MAX_SENTENCES_SHOWN:
        sentences = [*conclusions.caveats, *ranking.sentences, *conclusions.selection_bias_notes]
    list_items = "".join(f"<li>{escape(sentence.strip())}</li>" for sentence in sentences)
    tables = [means_table(comparison)]
    for differences in list(comparison.differences.by_pair.values())[:MAX_PAIRS]:
        tables.append(differences.table())
    parts = [f"<ul>{list_items}</ul>"]
    parts += [table.html() for table in ranking.tables]
    parts.append(page.folded("means and differences", *[table.html() for table in tables]))
    parts += _worst_queries(comparison)
    return "".join(parts)


def _worst_queries(comparison: ComparisonRecord) -> list[str]:
    """Return the worst queries of both systems of the main pair; nothing if a run is unknown."""
    if any(scores.origin is None for scores in comparison.scores.values()):
        return []
    main_metric = choose_leading_metric(comparison.metrics)
    # The text of a document that one system missed may be known from another.
    corpus = FallbackTexts(*map(retrieved_texts, comparison.scores.values()))
    parts = []
    for system in choose_main_pair(comparison, main_metric):
        parts.append(worst_queries_html(comparison.scores[system], main_metric, corpus, f", {system}"))
    return parts
