"""Evaluation sets as JSON: one entry per question, with its judgments and provenance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.documents import Sources
from retrieval_metrics.inputs.entries import judgments_of, of_id, of_judgments, plain
from retrieval_metrics.inputs.qrels import Qrels, judgments_by_query
from retrieval_metrics.inputs.questions import HISTORY_KEY, Provenance, Questions
from retrieval_metrics.keeping.document import Document, Lines, write_document

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.keeping.document import Labels


def save_questions(
    questions: Questions, path: str | PathLike[str], labels: Labels | None = None, *, sources: bool = False
) -> None:
    """Write an evaluation set; see `EvaluationSet.save`."""
    kept = questions.sources
    if sources and (kept is None or not kept.texts):
        raise ValueError("the set has no source texts to save; add them with questions.with_sources(documents)")
    if not isinstance(questions.qrels, Qrels):
        Qrels(questions.qrels)  # errors in the judgments are raised before anything is written
    qrels = judgments_by_query(questions.qrels)
    entries = Lines(
        _entry(query, text, qrels[query], questions.provenance.get(query)) | kept_beside(questions, query)
        for query, text in questions.queries.items()
    )
    sections: dict[str, Any] = {"questions": entries}
    if kept is not None:
        sections["digests"] = dict(kept.digests)
    if kept is not None and sources:
        sections["sources"] = dict(kept.texts)
    write_document(path, "questions", sections, labels)


def sources_of(content: Mapping[str, Any], document: Document) -> Sources | None:
    """Return the sources of a saved set; None if neither their texts nor their digests were saved.

    Raises:
        ValueError: If a text has another digest than the one that was saved.
    """
    if "digests" not in content:
        return None
    with document.place("sources"):
        kept = Sources(dict(content.get("sources", {})), dict(content["digests"]))
        if changed := kept.changed(kept.texts):
            raise ValueError(f"the text of {changed[0]!r} is not the one that was saved")
        return kept


def of_qrels(qrels: Qrels) -> Lines:
    """Return judgments as JSON holds them, with the texts of the questions if they are known.

    Raises:
        ValueError: If JSON cannot hold something, such as the properties of a `Metadata`.
    """
    return Lines(
        _entry(query, qrels.texts.get(query), judgments, qrels.provenance.get(query))
        for query, judgments in qrels.as_dict().items()
    )


def _entry(query: QueryId, text: str | None, judgments: Any, provenance: Provenance | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"query": of_id(query)}
    if text is not None:
        entry["text"] = text
    entry["relevant"] = of_judgments(judgments, f"query {query!r}")
    if provenance is not None:
        entry["provenance"] = plain(provenance.as_dict(), f"the provenance of query {query!r}")
    return entry


def kept_beside(questions: Questions, query: QueryId) -> dict[str, Any]:
    """Return the answer to a question and what was said before it, as JSON holds them, as far as there is either."""
    answer, said = questions.answers.get(query), questions.history.get(query)
    entry: dict[str, Any] = {} if answer is None else {"answer": answer}
    return entry if said is None else entry | {HISTORY_KEY: [dict(message) for message in said]}


def questions_of(entries: list[Any], document: Document) -> Questions:
    """Return the questions of a file; those without a text have none in `queries`.

    Raises:
        ValueError: If an entry is not understood, naming it.
    """
    queries: dict[Any, str] = {}
    qrels: dict[Any, Any] = {}
    provenance: dict[Any, Provenance] = {}
    answers: dict[Any, str] = {}
    history: dict[Any, Any] = {}
    for number, entry in enumerate(entries):
        with document.place(f"questions[{number}]"):
            query = entry["query"]
            if query in qrels:
                raise ValueError(f"query {query!r} appears twice")
            if "text" in entry:
                queries[query] = entry["text"]
            qrels[query] = judgments_of(entry["relevant"], f"query {query!r}")
            if "provenance" in entry:
                provenance[query] = Provenance(**entry["provenance"])
            if "answer" in entry:
                answers[query] = entry["answer"]
            if HISTORY_KEY in entry:
                history[query] = entry[HISTORY_KEY]
    with document.place("questions"):
        return Questions(queries, qrels, provenance, answers=answers, history=history)
