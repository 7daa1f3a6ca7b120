"""Export evaluation sets in the formats of Ragas, LangSmith, MLflow, Pydantic Evals and LlamaIndex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from retrieval_metrics.datasets.label_wording import format_grades
from retrieval_metrics.files.saved_questions import encode_answer_and_conversation
from retrieval_metrics.inputs.foreign_datasets import QUERY_ID_KEY
from retrieval_metrics.inputs.items import Piece
from retrieval_metrics.inputs.json_codec import encode_id, encode_judgments, to_json_value
from retrieval_metrics.inputs.pieces import Quote, Span, Text
from retrieval_metrics.inputs.qrels import as_qrels, judgments_by_query
from retrieval_metrics.inputs.question_rows import CONVERSATION_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from retrieval_metrics.inputs.questions import Questions


class _QuestionJson(TypedDict):
    """A question with everything known about it, as plain values for JSON."""

    id: str | int
    text: str
    relevant: Any
    provenance: dict[str, Any]
    answer: NotRequired[str]
    conversation: NotRequired[list[dict[str, str]]]


def ragas_rows(questions: Questions, *, lossy: bool) -> list[dict[str, Any]]:
    """Return rows for Ragas."""
    _require_representable(questions, "Ragas", lossy=lossy)
    rows = []
    for question in _iterate_relevant(questions):
        row: dict[str, Any] = {"user_input": question.text}
        texts = _select_texts(question.relevant)
        ids = _select_ids(question.relevant)
        if ids or not texts:
            row["reference_context_ids"] = ids
        if texts:
            row["reference_contexts"] = texts
        answer = questions.answers.get(question.query)
        if answer is not None:
            row["reference"] = answer
        rows.append(row)
    return rows


def langsmith_examples(questions: Questions) -> list[dict[str, Any]]:
    """Return examples for LangSmith, with judgments as `save` writes them."""
    examples = []
    for row in _json_rows(questions):
        inputs: dict[str, Any] = {"query": row["text"]}
        outputs = {"relevant": row["relevant"]}
        if "conversation" in row:
            inputs[CONVERSATION_KEY] = row["conversation"]
        if "answer" in row:
            outputs["answer"] = row["answer"]
        metadata = {**row["provenance"], QUERY_ID_KEY: row["id"]}
        examples.append({"inputs": inputs, "outputs": outputs, "metadata": metadata})
    return examples


def mlflow_rows(questions: Questions) -> list[dict[str, Any]]:
    """Return rows for MLflow, with judgments as `save` writes them."""
    rows = []
    for row in _json_rows(questions):
        inputs: dict[str, Any] = {"question": row["text"]}
        expectations = {"relevant_ids": row["relevant"]}
        if "conversation" in row:
            inputs[CONVERSATION_KEY] = row["conversation"]
        if "answer" in row:
            expectations["expected_response"] = row["answer"]
        rows.append({"inputs": inputs, "expectations": expectations, "tags": {QUERY_ID_KEY: str(row["id"])}})
    return rows


def pydantic_evals_cases(questions: Questions) -> list[dict[str, Any]]:
    """Return the arguments of cases of Pydantic Evals, with judgments as `save` writes them."""
    _require_no_conversation(questions, "a case of Pydantic Evals")
    cases = []
    for row in _json_rows(questions):
        cases.append(
            {
                "name": str(row["id"]),
                "inputs": row["text"],
                "expected_output": row.get("answer"),
                "metadata": {**row["provenance"], "relevant": row["relevant"]},
            }
        )
    return cases


def _json_rows(questions: Questions) -> Iterable[_QuestionJson]:
    """Yield a row for each question, with everything known about it as plain values for JSON."""
    as_qrels(questions.qrels)  # errors in the judgments are raised before any row is made
    qrels = judgments_by_query(questions.qrels)
    for query, text in questions.queries.items():
        row: _QuestionJson = {
            "id": encode_id(query),
            "text": text,
            "relevant": encode_judgments(qrels[query], f"query {query!r}"),
            "provenance": {},
        }
        provenance = questions.provenance.get(query)
        if provenance is not None:
            row["provenance"] = to_json_value(provenance.as_dict(), f"the provenance of query {query!r}")
        answer_and_conversation = encode_answer_and_conversation(questions, query)
        if "answer" in answer_and_conversation:
            row["answer"] = answer_and_conversation["answer"]
        if CONVERSATION_KEY in answer_and_conversation:
            row["conversation"] = answer_and_conversation[CONVERSATION_KEY]
        yield row


def llama_index_dataset(questions: Questions, corpus: Mapping[str, str] | None, *, lossy: bool) -> dict[str, Any]:
    """Return the content of a JSON file of LlamaIndex: a dataset of ids or, if quotes or texts are judged, of texts."""
    _require_representable(questions, "LlamaIndex's datasets", lossy=lossy)
    relevant = list(_iterate_relevant(questions))
    if any(_select_texts(question.relevant) for question in relevant):
        return {"examples": [_labelled_rag_example(questions, question) for question in relevant]}
    if not lossy:
        require_ids(questions, "LlamaIndex's dataset")
    queries: Mapping[Any, str] = questions.queries
    relevant_docs = {}
    for question in relevant:
        relevant_docs[str(question.query)] = list(map(str, _select_ids(question.relevant)))
    return {
        "queries": {str(query): text for query, text in queries.items()},
        "corpus": {str(name): text for name, text in (corpus or {}).items()},
        "relevant_docs": relevant_docs,
        "mode": "text",
    }


def _labelled_rag_example(questions: Questions, question: _QuestionWithRelevant) -> dict[str, Any]:
    """Return a question as an example of LlamaIndex's LabelledRagDataset."""
    query = question.query
    ids = _select_ids(question.relevant)
    if ids:
        raise ValueError(f"LlamaIndex's dataset of texts cannot hold IDs, and query {query!r} has {ids[0]!r}")
    provenance = questions.provenance.get(query)
    model = None if provenance is None else provenance.model
    author = {"model_name": model or "", "type": "human" if model is None else "ai"}
    answer = questions.answers.get(query)
    return {
        "query": question.text,
        "query_by": author,
        "reference_contexts": _select_texts(question.relevant),
        "reference_answer": answer or "",
        "reference_answer_by": None if answer is None else author,
    }


def _require_no_conversation(questions: Questions, target: str) -> None:
    for query in questions.conversation:
        raise ValueError(
            f"{target} cannot hold the conversation before query {query!r}; questions.with_conversation() puts it into "
            "the question"
        )


def _require_representable(questions: Questions, target: str, *, lossy: bool) -> None:
    """Refuse questions that a tool without grades, groups and conversations cannot represent."""
    _require_no_conversation(questions, target)
    for query, groups in as_qrels(questions).groups().items():
        if not lossy:
            _require_nothing_forbidden(query, groups, target)
        for group in groups:
            _require_representable_group(query, group, target, lossy=lossy)
        if not lossy:
            _require_one_grade(query, groups, target)


def _require_nothing_forbidden(query: Any, groups: Iterable[Mapping[Any, float]], target: str) -> None:
    for group in groups:
        for judged, grade in group.items():
            if grade < 0:
                raise ValueError(
                    f"{target} cannot hold forbidden documents, such as {judged!r} of query {query!r}; with "
                    "lossy=True it is left out"
                )


def _require_representable_group(query: Any, group: Mapping[Any, float], target: str, *, lossy: bool) -> None:
    relevant = _select_relevant(group)
    writable = [judged for judged in relevant if not isinstance(judged, Piece) or isinstance(judged, (Quote, Text))]
    if relevant and not writable:
        raise ValueError(f"{target} cannot hold {relevant[0]!r} of query {query!r}, only IDs, quotes and texts")
    if lossy or len(relevant) == 1 or not writable:
        return
    unwritable = [judged for judged in relevant if judged not in writable]
    if len(writable) > 1 or not _are_places(unwritable, writable[0]):
        raise ValueError(
            f"{target} cannot hold alternatives, and query {query!r} has {relevant}; with lossy=True all IDs, quotes "
            "and texts are listed, as if each were needed"
        )


def _are_places(pieces: Iterable[Any], judged: Any) -> bool:
    """Return whether pieces say only where a quote or a text is, so that nothing is lost without them."""
    # A generated question has each quote with the spans where it is.
    return isinstance(judged, (Quote, Text)) and all(isinstance(piece, Span) for piece in pieces)


def _require_one_grade(query: Any, groups: Iterable[Mapping[Any, float]], target: str) -> None:
    grades: set[float] = set()
    for group in groups:
        grades.update(group.values())
    positive_grades = sorted(grade for grade in grades if grade > 0)
    if len(positive_grades) > 1:
        names = format_grades(positive_grades)
        raise ValueError(
            f"{target} cannot hold grades, and query {query!r} has {names}; with lossy=True "
            "everything relevant is listed alike"
        )


def _select_relevant(grades: Mapping[Any, float]) -> list[Any]:
    return [judged for judged, grade in grades.items() if grade > 0]


def _select_texts(relevant: Iterable[Any]) -> list[str]:
    return [judged.text for judged in relevant if isinstance(judged, (Quote, Text))]


def _select_ids(relevant: Iterable[Any]) -> list[Any]:
    return [judged for judged in relevant if not isinstance(judged, Piece)]


@dataclass(frozen=True, slots=True)
class _QuestionWithRelevant:
    """A question with the ids and pieces that are relevant to it."""

    query: Any
    text: str
    relevant: list[Any]


def _iterate_relevant(questions: Questions) -> Iterator[_QuestionWithRelevant]:
    texts: Mapping[Any, str] = questions.queries
    for query, grades in as_qrels(questions).graded().items():
        relevant = _select_relevant(grades)
        yield _QuestionWithRelevant(query, texts[query], relevant)


def require_ids(questions: Questions, target: str) -> None:
    """Refuse judgments of quotes, texts and spans, where a format can hold only ids."""
    qrels = as_qrels(questions)
    for query_index, judged in zip(qrels.document_query.tolist(), qrels.documents, strict=True):
        if isinstance(judged, Piece):
            raise ValueError(
                f"{target} can hold only IDs, and query {qrels.queries[query_index]!r} has {judged!r}; rm.match finds "
                "the chunks that satisfy it"
            )
