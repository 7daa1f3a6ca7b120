r"""Read the offsets of spans in a source whose lines end otherwise than those of the text they were written against.

Python's `open` makes one character of "\r\n"; a file that is read as bytes, or by some frameworks, keeps both. Each
line then moves the offsets of what follows by one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from retrieval_metrics.judging.matching.normalised import normalised

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.inputs.items import Span
    from retrieval_metrics.inputs.sources import SourceText


MANY_MORE = 4
"""By how many times; spans that cut words fit either way by chance."""


def read_across_newlines(
    spans: Mapping[int, Span], sources: Mapping[str, SourceText], beside: Mapping[int, Sequence[str]]
) -> tuple[dict[int, Span], list[int]]:
    r"""Return spans as they are meant in the texts of their sources, and the numbers of those in doubt.

    A span is read as it stands, or as if "\r\n" were one character (in a source without it: as if each end of a line
    were two). The quote beside it decides. Without one it stays where it is, because it may well cut words; but if many
    more spans begin and end with whole words only when read otherwise than only as they stand, these are in doubt.

    Args:
        spans: The spans by number.
        sources: The texts that are known.
        beside: By number, the normalised quotes that are alternatives to a span.

    Example:
        >>> from retrieval_metrics import Span
        >>> from retrieval_metrics.inputs.sources import SourceText
        >>> sources = {"terms": SourceText("Terms\r\n\r\nRefunds take\r\nfive days.")}
        >>> read_across_newlines({0: Span("terms", 7, 30)}, sources, {0: ["refundstakefivedays."]})
        ({0: Span(source='terms', start=9, end=33)}, [])
        >>> read_across_newlines({0: Span("terms", 7, 30)}, sources, {})
        ({0: Span(source='terms', start=7, end=30)}, [0])
    """
    read, doubtful, certain = dict(spans), [], 0
    for number, span in spans.items():
        source = sources.get(span.source)
        if source is None or (other := _other(span, source)) is None:
            continue
        quotes = beside.get(number, ())
        fits, other_fits = (_fit(one, source, quotes) for one in (span, other))
        if quotes:
            read[number] = other if other_fits > fits else span
        elif other_fits > fits:
            doubtful.append(number)
        else:
            certain += fits > other_fits
    return read, doubtful if len(doubtful) > MANY_MORE * certain else []


def same_place(quote: str, held: str) -> bool:
    """Return whether a normalised quote equals the normalised text of a span, or one contains the other."""
    return bool(held) and (quote in held or held in quote)


def _other(span: Span, source: SourceText) -> Span | None:
    start, end = source.across_newlines(span.start), source.across_newlines(span.end)
    if (start, end) == (span.start, span.end) or end > len(source.text) or start >= end:
        return None
    return replace(span, start=start, end=end)


def _fit(span: Span, source: SourceText, quotes: Sequence[str]) -> int:
    """Return how well a span fits: 2 if it holds a quote and nothing else, 1 if it may, 0 if not."""
    text = source.text
    if span.end > len(text):
        return 0
    if quotes:
        held = normalised(text[span.start : span.end])
        return 2 if held in quotes else int(any(same_place(quote, held) for quote in quotes))
    begins = not text[span.start].isspace() and not (span.start and _is_word(text[span.start - 1 : span.start + 1]))
    return int(begins and not text[span.end - 1].isspace() and not _is_word(text[span.end - 1 : span.end + 1]))


def _is_word(pair: str) -> bool:
    """Return whether two characters are next to each other in one word."""
    return len(pair) == 2 and pair.isalnum()  # noqa: PLR2004  (a pair is two)
