"""Format the queries of a report as HTML for readers without JavaScript, from the data of the script."""

from __future__ import annotations

from collections import Counter
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from retrieval_metrics.evaluation.evaluation_wording import (
    format_missed,
    format_needed,
    format_no_results,
    format_results_heading,
    format_system_outcome,
    format_system_value,
)
from retrieval_metrics.reports import page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.evaluation.page_data import DetailsRow, NeededRow, PageData, ResultRow


# The signs of results by the position of their judgment in `JUDGMENT_STATES`, as in the script.
STATE_SIGNS = ("✓", "✗", "↻", "○", "⛔")

# The largest number of letters of texts that all queries together show.
MAX_LETTERS = 1_500_000

# The largest number of letters of a text.
MAX_TEXT_LETTERS = 300

# If only this number of letters of a text could be shown, none are, because they would tell nothing about it.
MIN_TEXT_LETTERS = 40


def format_static_queries(data: PageData, order: Sequence[int]) -> str:
    """Return every query of a page: its values, and folded in it the relevant documents and the results."""
    formatter = _StaticQueries(data)
    return "".join([formatter.format_query(place) for place in order])


class _StaticQueries:
    """Formats the queries of a page as HTML."""

    def __init__(self, data: PageData) -> None:
        self._data = data
        self._n_letters = _count_letters_per_text(data.details)
        # Many queries have the same value or miss the same, so each is worded once.
        self._format_value = cache(format_system_value)
        self._format_missed = cache(self._missed_by_system)
        self._escape = cache(escape)

    def format_query(self, place: int) -> str:
        """Return a query; its details are folded if they are on the page."""
        texts = self._data.query_texts
        text = texts[place] if texts else None
        title = f"{self._format_values(place)}  {self._data.query_ids[place]}  {text or ''}".rstrip()
        missed = self._missed(place)
        if place not in self._data.details:
            return f"<p>{escape(title)}<br>{self._escape(missed)}</p>"
        details = self._data.details[place]
        needed = [f"<p>{escape(self._format_needed(row))}</p>" for row in details.needed]
        return page.folded(title, f"<p>{escape(missed)}</p>", *needed, *self._result_lists(details))

    def _format_values(self, place: int) -> str:
        """Return the value of a query in the main metric, system by system."""
        system_values = []
        for system, columns in zip(self._data.systems, self._data.values, strict=True):
            system_values.append(self._format_value(system, columns[self._data.main][place]))
        return ", ".join(system_values)

    def _missed(self, place: int) -> str:
        """Return how much of what a query needs was found, and why the rest was not, system by system."""
        texts = []
        columns = zip(self._data.systems, self._data.n_needed, self._data.missed_numbers, strict=True)
        for system, n_needed_by_place, missed_numbers in columns:
            n_needed = n_needed_by_place[place]
            if n_needed is not None:
                texts.append(self._format_missed(system, n_needed, missed_numbers[place]))
        return "; ".join(texts)

    def _missed_by_system(self, system: str, n_needed: int, missed_number: int) -> str:
        counts = Counter([self._data.outcome_labels[kind] for kind in self._data.missed[missed_number]])
        return format_missed(system, n_needed, counts)

    def _format_needed(self, needed: NeededRow) -> str:
        outcomes = []
        for system, outcome in zip(self._data.systems, needed.outcomes, strict=True):
            if outcome is not None:
                sentence = self._data.outcome_sentences[outcome.sentence]
                outcomes.append(format_system_outcome(system, sentence, outcome.rank))
        return format_needed(needed.grade, self._label(needed.text_number), outcomes)

    def _result_lists(self, details: DetailsRow) -> list[str]:
        lists = []
        for system, results in zip(self._data.systems, details.results, strict=True):
            if not results:
                lists.append(f"<p>{escape(format_no_results(system))}</p>")
                continue
            entries = "\n".join([self._format_result(result) for result in results])
            lists.append(f"<p>{escape(format_results_heading(system))}</p><ol>{entries}</ol>")
        return lists

    def _format_result(self, result: ResultRow) -> str:
        return f"<li>{STATE_SIGNS[result.judgment]} {escape(self._label(result.text_number))}</li>"

    def _label(self, text_number: int) -> str:
        """Return name, source and the beginning of a text, as far as they are known."""
        row = self._data.texts[text_number]
        words = " ".join((row.text or "")[: 2 * self._n_letters].split())
        if len(words) > self._n_letters:
            words = f"{words[: self._n_letters]}…"
        return ": ".join([part for part in (row.name, row.source, words) if part]) or "-"


def _count_letters_per_text(details: Mapping[int, DetailsRow]) -> int:
    """Return how many letters of each text are shown, so that all together are not too many."""
    n_texts = 0
    for row in details.values():
        n_texts += len(row.needed)
        for results in row.results:
            n_texts += len(results or ())
    n_letters = min(MAX_TEXT_LETTERS, MAX_LETTERS // max(n_texts, 1))
    return n_letters if n_letters > MIN_TEXT_LETTERS else 0
