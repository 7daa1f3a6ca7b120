"""Add the texts of judged sources to the matching options, from `documents=` or from those kept with the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.matching_options import Matching


def sources_of_spans(qrels: Qrels) -> set[str]:
    """Return the names of the documents in which spans are judged."""
    if not qrels.has_pieces:
        return set()
    # Imported here because evaluating ids never needs it.
    from retrieval_metrics.inputs.pieces import Span

    return {piece.source for piece in qrels.documents if isinstance(piece, Span)}


def with_source_texts(
    match: str | Key | Matching, documents: Any, qrels: Qrels, questions: Any = None
) -> str | Key | Matching:
    """Return matching options, with the texts of the sources if spans are judged.

    Args:
        match: The options, or what ids are compared with.
        documents: The documents that the caller passed, or None.
        qrels: The judgments.
        questions: An evaluation set, whose kept texts are used if there are no documents.

    Raises:
        ValueError: If texts are passed twice, or something judged is not among the documents; see
            `require_judged_names`.

    Warns:
        RetrievalWarning: If the text of a judged source has changed since it was judged.
    """
    if documents is None and not qrels.has_pieces:
        return match
    judged_sources = sources_of_spans(qrels)
    if documents is None and not judged_sources:
        return match
    # Imported here because evaluating ids never needs it.
    from dataclasses import replace

    from retrieval_metrics._internal.warn import warn
    from retrieval_metrics.inputs.documents import keep_for_rereading, source_text_by_name
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.matching.judged_names import require_judged_names
    from retrieval_metrics.matching.matching_options import Matching, as_matching

    has_texts = isinstance(match, Matching) and match.sources is not None
    kept_sources = questions.sources if isinstance(questions, Questions) else None
    if documents is None:
        if kept_sources is None or not kept_sources.texts or has_texts:
            return match
        return replace(as_matching(match), sources=kept_sources.texts)
    if has_texts:
        raise ValueError("pass the source texts as documents= or as Matching(sources=...), not as both")
    documents = keep_for_rereading(documents)
    texts = source_text_by_name(documents, judged_sources)
    require_judged_names(qrels, documents, match)
    if kept_sources is not None:
        changed = [name for name in kept_sources.find_changed(texts) if name in judged_sources]
        if changed:
            sources = "source has" if len(changed) == 1 else "sources have"
            example = repr(changed[0])
            if len(changed) > 1:
                example = f"e.g. {example}"
            warn(
                f"{len(changed)} judged {sources} changed ({example}), so spans may cover other words; "
                "questions.lint(documents) lists them",
            )
    if not judged_sources:
        return match
    return replace(as_matching(match), sources=texts)
