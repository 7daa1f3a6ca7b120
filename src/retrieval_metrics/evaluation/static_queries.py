"""Format the queries of a report as HTML for readers without JavaScript, from the data of the script."""

from __future__ import annotations

from collections import Counter
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from retrieval_metrics.evaluation.evaluation_wording import format_system_value
from retrieval_metrics.evaluation.query_details import UNJUDGED
from retrieval_metrics.reports import page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


# The signs of results that are relevant, not relevant, duplicate, unjudged or forbidden, as in the script.
STATE_SIGNS = ("✓", "✗", "↻", "○", "⛔")

# The largest number of letters of texts that all queries together show.
MAX_LETTERS = 1_500_000

# The largest number of letters of a text.
MAX_TEXT_LETTERS = 300

# If only this number of letters of a text could be shown, none are, because they would tell nothing about it.
MIN_TEXT_LETTERS = 40


def format_static_queries(data: Mapping[str, Any], order: Sequence[int]) -> str:
    """Return every query of a page: its values, and folded in it the relevant documents and the results."""
    formatter = _StaticQueries(data)
    return "".join([formatter.format_query(place) for place in order])


class _StaticQueries:
    """Formats the queries of a page as HTML."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._details: Mapping[int, Mapping[str, Any]] = data["shown"]
        self._n_letters = _count_letters_per_text(self._details)
        # Many queries have the same value or miss the same, so each is worded once.
        self._format_value = cache(format_system_value)
        self._format_missing = cache(self._missing_of_system)
        self._escape = cache(escape)

    def format_query(self, place: int) -> str:
        """Return a query; its details are folded if they are on the page."""
        texts = self._data["texts"]
        text = texts[place] if texts else None
        title = f"{self._values(place)}  {self._data['ids'][place]}  {text or ''}".rstrip()
        missing = self._missing(place)
        if place not in self._details:
            return f"<p>{escape(title)}<br>{self._escape(missing)}</p>"
        details = self._details[place]
        needed = [f"<p>{escape(line)}</p>" for line in self._needed_lines(details)]
        return page.folded(title, f"<p>{escape(missing)}</p>", *needed, *self._result_lists(details))

    def _values(self, place: int) -> str:
        """Return the value of a query in the main metric, system by system."""
        main = self._data["main"]
        system_values = []
        for system, columns in zip(self._data["systems"], self._data["values"], strict=True):
            system_values.append(self._format_value(system, columns[main][place]))
        return ", ".join(system_values)

    def _missing(self, place: int) -> str:
        """Return how much of what a query needs was found, and why the rest was not, system by system."""
        texts = []
        columns = zip(self._data["systems"], self._data["wanted"], self._data["missing"], strict=True)
        for system, n_needed_by_place, missed_by_place in columns:
            text = self._format_missing(system, n_needed_by_place[place], missed_by_place[place])
            if text:
                texts.append(text)
        return "; ".join(texts)

    def _missing_of_system(self, system: str, n_needed: int | None, missed: int) -> str:
        if n_needed is None:
            return ""
        prefix = f"{system}: " if system else ""
        if not n_needed:
            return f"{prefix}no relevant document"
        counts = Counter(self._data["missed"][missed])
        found = f"{n_needed - counts.total()} of {n_needed} found"
        if not counts:
            return f"{prefix}{found}"
        reasons = ", ".join(f"{count} {self._data['kinds'][kind]}" for kind, count in counts.items())
        return f"{prefix}{found}: {reasons}"

    def _needed_lines(self, details: Mapping[str, Any]) -> list[str]:
        lines = []
        for text_number, grade, _, outcomes in details["needed"]:
            outcome_texts = []
            for system, outcome in zip(self._data["systems"], outcomes, strict=True):
                if outcome is not None:
                    outcome_texts.append(self._format_outcome(system, outcome))
            lines.append(f"Relevant, grade {grade}: {self._label(text_number)}. {'; '.join(outcome_texts)}")
        return lines

    def _format_outcome(self, system: str, outcome: Sequence[Any]) -> str:
        _, rank, detail = outcome
        text: str = self._data["details"][detail]
        if system:
            text = f"{system}: {text}"
        return f"{text} (rank {rank})" if rank else text

    def _result_lists(self, details: Mapping[str, Any]) -> list[str]:
        lists = []
        for system, results in zip(self._data["systems"], details["results"], strict=True):
            title = escape(f"Results of {system}" if system else "Results")
            if not results:
                lists.append(f"<p>{title}: none.</p>")
                continue
            entries = "\n".join([self._format_result(result) for result in results])
            lists.append(f"<p>{title}:</p><ol>{entries}</ol>")
        return lists

    def _format_result(self, result: int | Sequence[Any]) -> str:
        if isinstance(result, int):  # a result with only a text is held as the number of the text
            text_number = result
            state = UNJUDGED
        else:
            text_number, state = result[:2]
        return f"<li>{STATE_SIGNS[state]} {escape(self._label(text_number))}</li>"

    def _label(self, text_number: int) -> str:
        """Return name, source and the beginning of a text, as far as they are known."""
        name, source, text = _pad_row(self._data["documents"][text_number])
        words = " ".join((text or "")[: 2 * self._n_letters].split())
        if len(words) > self._n_letters:
            words = f"{words[: self._n_letters]}…"
        known = [str(value) for value in (name, source, words) if value not in {None, ""}]
        return ": ".join(known) or "-"


def _pad_row(row: Sequence[Any]) -> list[Any]:
    """Return name, source and text of a row of documents, which leaves out missing values at its end."""
    return [*row, None, None][:3]


def _count_letters_per_text(details: Mapping[int, Mapping[str, Any]]) -> int:
    """Return how many letters of each text are shown, so that all together are not too many."""
    n_texts = 0
    for row in details.values():
        n_texts += len(row["needed"])
        for results in row["results"]:
            n_texts += len(results or ())
    n_letters = min(MAX_TEXT_LETTERS, MAX_LETTERS // max(n_texts, 1))
    return n_letters if n_letters > MIN_TEXT_LETTERS else 0
