"""Encode judgments and questions for saved files, one entry per question, and decode them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.files.saved_format import Lines, SavedFile, write_saved_file
from retrieval_metrics.inputs.documents import SourceDocuments
from retrieval_metrics.inputs.json_codec import decode_judgments, encode_id, encode_judgments, to_json_value
from retrieval_metrics.inputs.provenance import Provenance
from retrieval_metrics.inputs.qrels import Qrels, judgments_by_query
from retrieval_metrics.inputs.question_rows import CONVERSATION_KEY
from retrieval_metrics.inputs.questions import Questions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.files.saved_format import LabelMapping


def save_questions(
    questions: Questions, path: str | PathLike[str], labels: LabelMapping | None = None, *, sources: bool = False
) -> None:
    """Write an evaluation set; see `EvaluationSet.save`."""
    documents = questions.sources
    if sources and (documents is None or not documents.texts):
        raise ValueError("the set has no source texts to save; add them with questions.with_sources(documents)")
    if not isinstance(questions.qrels, Qrels):
        Qrels(questions.qrels)  # errors in the judgments are raised before anything is written
    qrels = judgments_by_query(questions.qrels)
    entries = []
    for query, text in questions.queries.items():
        entry = _encode_question(query, text, qrels[query], questions.provenance.get(query))
        entries.append(entry | encode_answer_and_conversation(questions, query))
    sections: dict[str, Any] = {"questions": Lines(entries)}
    if documents is not None:
        sections["digests"] = dict(documents.digests)
        if sources:
            sections["sources"] = dict(documents.texts)
    write_saved_file(path, "questions", sections, labels)


def decode_sources(content: Mapping[str, Any], saved_file: SavedFile) -> SourceDocuments | None:
    """Return the sources of a saved set; None if neither their texts nor their digests were saved."""
    if "digests" not in content:
        return None
    with saved_file.name_place_in_errors("sources"):
        documents = SourceDocuments(dict(content.get("sources", {})), dict(content["digests"]))
        changed = documents.find_changed(documents.texts)
        if changed:
            raise ValueError(f"the text of {changed[0]!r} is not the one that was saved")
        return documents


def encode_qrels(qrels: Qrels) -> Lines:
    """Return judgments as JSON holds them, with the texts of the questions if they are known."""
    return Lines(
        _encode_question(query, qrels.texts.get(query), judgments, qrels.provenance.get(query))
        for query, judgments in qrels.as_dict().items()
    )


def _encode_question(query: QueryId, text: str | None, judgments: Any, provenance: Provenance | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"query": encode_id(query)}
    if text is not None:
        entry["text"] = text
    entry["relevant"] = encode_judgments(judgments, f"query {query!r}")
    if provenance is not None:
        entry["provenance"] = to_json_value(provenance.as_dict(), f"the provenance of query {query!r}")
    return entry


def encode_answer_and_conversation(questions: Questions, query: QueryId) -> dict[str, Any]:
    """Return the answer to a question and the conversation before it as JSON values, as far as they are known."""
    entry: dict[str, Any] = {}
    answer = questions.answers.get(query)
    if answer is not None:
        entry["answer"] = answer
    conversation = questions.conversation.get(query)
    if conversation is not None:
        entry[CONVERSATION_KEY] = [dict(message) for message in conversation]
    return entry


def decode_questions(entries: list[Any], saved_file: SavedFile) -> Questions:
    """Return the questions of a file; a question without a text is in `qrels` but not in `queries`."""
    queries: dict[Any, str] = {}
    qrels: dict[Any, Any] = {}
    provenance: dict[Any, Provenance] = {}
    answers: dict[Any, str] = {}
    conversations: dict[Any, Any] = {}
    for number, entry in enumerate(entries):
        with saved_file.name_place_in_errors(f"questions[{number}]"):
            query = entry["query"]
            if query in qrels:
                raise ValueError(f"query {query!r} appears twice")
            if "text" in entry:
                queries[query] = entry["text"]
            qrels[query] = decode_judgments(entry["relevant"], f"query {query!r}")
            if "provenance" in entry:
                provenance[query] = Provenance(**entry["provenance"])
            if "answer" in entry:
                answers[query] = entry["answer"]
            if CONVERSATION_KEY in entry:
                conversations[query] = entry[CONVERSATION_KEY]
    with saved_file.name_place_in_errors("questions"):
        return Questions(queries, qrels, provenance, answers=answers, conversation=conversations)
