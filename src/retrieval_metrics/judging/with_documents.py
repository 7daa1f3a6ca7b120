"""Spans are looked for in the texts of their sources, which are passed as documents or kept with the questions."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import RetrievalWarning
from retrieval_metrics.inputs.documents import source_texts
from retrieval_metrics.inputs.items import Span
from retrieval_metrics.inputs.questions import Questions

if TYPE_CHECKING:
    from retrieval_metrics.inputs.items import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.matching.matching import Matching


def judged_sources(truth: Qrels) -> set[str]:
    """Return the names of the documents in which spans are judged."""
    return {piece.source for piece in truth.documents if isinstance(piece, Span)} if truth.has_pieces else set()


def with_documents(
    match: str | Key | Matching, documents: Any, truth: Qrels, questions: Any = None, stacklevel: int = 3
) -> str | Key | Matching:
    """Return how items are matched, with the texts of the sources if spans are judged.

    Args:
        match: How items are matched.
        documents: The documents, as in `evaluate`; None takes the sources that the questions keep, if they do.
        truth: The judgments.
        questions: What the judgments came from.
        stacklevel: Which caller a warning names, as in `warnings.warn`.

    Raises:
        TypeError: If the documents have another type.
        ValueError: If two of them could be the source of a judged span, if none is, or if `match` has texts too.
    """
    if documents is None and not truth.has_pieces:
        return match
    judged = judged_sources(truth)
    if documents is None and not judged:
        return match
    # Imported here because evaluating ids never needs it.
    from retrieval_metrics.judging.matching.matching import Matching, as_matching  # noqa: PLC0415

    has_texts = isinstance(match, Matching) and match.sources is not None
    kept = questions.sources if isinstance(questions, Questions) else None
    if documents is None:
        if kept is None or not kept.texts or has_texts:
            return match
        return replace(as_matching(match), sources=kept.texts)
    if has_texts:
        raise ValueError("pass the source texts as documents= or as Matching(sources=...), not as both")
    texts = source_texts(documents, judged)
    if kept is not None and (changed := [name for name in kept.changed(texts) if name in judged]):
        warnings.warn(
            f"the text of {len(changed)} sources is not the one that was judged, for example of {changed[0]!r}, so "
            "spans in it may mean other words; questions.lint(documents) says which",
            RetrievalWarning,
            stacklevel=stacklevel,
        )
    return replace(as_matching(match), sources=texts) if judged else match
