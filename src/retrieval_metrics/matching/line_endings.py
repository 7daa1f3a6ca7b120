r"""Correct the offsets of spans that were written against a text with other line endings than their source has.

Python's `open` makes one character of "\r\n"; a file that is read as bytes, or by some frameworks, keeps both. Each
line then moves the offsets of what follows by one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from retrieval_metrics.matching.text_normalisation import normalise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.inputs.pieces import Span
    from retrieval_metrics.inputs.source_text import SourceText

# Spans are reported as doubtful only if those that fit the words of their source only with other line endings outnumber
# those that fit only as written more than this many times: spans that cut words fit either way by chance.
MIN_DOUBTFUL_RATIO = 4

# How well a span fits the text of its source.
_NO_FIT = 0
_POSSIBLE_FIT = 1
_EXACT_FIT = 2


def repair_line_endings(
    spans: Mapping[int, Span], sources: Mapping[str, SourceText], quotes_by_span: Mapping[int, Sequence[str]]
) -> tuple[dict[int, Span], list[int]]:
    r"""Correct the offsets of spans whose quotes show that they count line endings otherwise than their sources do.

    Args:
        spans: The spans by their positions.
        sources: The texts by the name of the source.
        quotes_by_span: The normalised quotes that are alternatives to a span, by the position of the span.

    Returns:
        All spans by their positions, some of them corrected; and the positions of the spans without quotes that
        probably have wrong offsets and were left as they are.

    Example:
        >>> from retrieval_metrics import Span
        >>> from retrieval_metrics.inputs.source_text import SourceText
        >>> sources = {"terms": SourceText("Terms\r\n\r\nRefunds take\r\nfive days.")}
        >>> repair_line_endings({0: Span("terms", 7, 30)}, sources, {0: ["refundstakefivedays."]})
        ({0: Span(source='terms', start=9, end=33)}, [])
        >>> repair_line_endings({0: Span("terms", 7, 30)}, sources, {})
        ({0: Span(source='terms', start=7, end=30)}, [0])
    """
    repaired = dict(spans)
    doubtful = []
    n_certain = 0
    for position, span in spans.items():
        source = sources.get(span.source)
        if source is None:
            continue
        moved = _translate_span(span, source)
        if moved is None:
            continue
        quotes = quotes_by_span.get(position, ())
        fit = _measure_fit(span, source, quotes)
        moved_fit = _measure_fit(moved, source, quotes)
        if quotes:
            if moved_fit > fit:
                repaired[position] = moved
        elif moved_fit > fit:
            doubtful.append(position)
        elif fit > moved_fit:
            n_certain += 1
    if len(doubtful) <= MIN_DOUBTFUL_RATIO * n_certain:
        return repaired, []
    return repaired, doubtful


def has_same_text(quote: str, span_text: str) -> bool:
    """Return whether a normalised quote equals the normalised text of a span, or one contains the other."""
    return bool(span_text) and (quote in span_text or span_text in quote)


def _translate_span(span: Span, source: SourceText) -> Span | None:
    """Return the span with offsets that count both characters of a line ending; None if that changes nothing."""
    start = source.translate_offset(span.start)
    end = source.translate_offset(span.end)
    if (start, end) == (span.start, span.end) or end > len(source.text) or start >= end:
        return None
    return replace(span, start=start, end=end)


def _measure_fit(span: Span, source: SourceText, quotes: Sequence[str]) -> int:
    """Return how well a span fits the text of its source.

    With quotes it fits exactly if it holds one of them and nothing else, and possibly if one contains the other.
    Without quotes it possibly fits if it begins and ends with whole words.
    """
    text = source.text
    if span.end > len(text):
        return _NO_FIT
    if quotes:
        return _measure_fit_of_quotes(normalise(text[span.start : span.end]), quotes)
    begins_in_word = span.start > 0 and _is_inside_word(text[span.start - 1 : span.start + 1])
    if text[span.start].isspace() or begins_in_word:
        return _NO_FIT
    if text[span.end - 1].isspace() or _is_inside_word(text[span.end - 1 : span.end + 1]):
        return _NO_FIT
    return _POSSIBLE_FIT


def _measure_fit_of_quotes(span_text: str, quotes: Sequence[str]) -> int:
    if span_text in quotes:
        return _EXACT_FIT
    for quote in quotes:
        if has_same_text(quote, span_text):
            return _POSSIBLE_FIT
    return _NO_FIT


def _is_inside_word(pair: str) -> bool:
    """Return whether two characters are next to each other in one word."""
    return len(pair) == 2 and pair.isalnum()
