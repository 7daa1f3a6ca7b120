"""Evaluation sets in the shapes of other tools: BEIR, Ragas, LangSmith, MLflow, LlamaIndex."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.atomic_write import save_text
from retrieval_metrics.files.questions_file import encode_answer_and_conversation
from retrieval_metrics.files.reading import read_qrels
from retrieval_metrics.files.text_files import read_queries
from retrieval_metrics.files.writing import write_qrels
from retrieval_metrics.inputs.foreign_datasets import QUERY_ID_KEY
from retrieval_metrics.inputs.items import Piece, Quote, Text
from retrieval_metrics.inputs.json_codec import encode_id, encode_judgments, to_json_value
from retrieval_metrics.inputs.provenance import PROVENANCE_FIELDS, Provenance
from retrieval_metrics.inputs.qrels import as_qrels, judgments_by_query
from retrieval_metrics.inputs.question_rows import CONVERSATION_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from retrieval_metrics._internal.validation import QueryId
    from retrieval_metrics.inputs.questions import Questions, QuestionsT


QUERIES, CORPUS = "queries.jsonl", "corpus.jsonl"


def read_json(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is neither a BEIR folder nor a JSON file: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(  # noqa: TRY004  (what a file holds is a value)
            f"{path} must hold an object, such as one with queries and relevant_docs"
        )
    return content


def read_beir(kind: type[QuestionsT], folder: Path, split: str) -> QuestionsT:
    """Read a BEIR folder: the queries that a split judges, and its judgments."""
    judged = folder / "qrels" / f"{split}.tsv"
    if not judged.is_file():
        known = sorted(path.stem for path in folder.glob("qrels/*.tsv"))
        raise ValueError(
            f"{folder} has no qrels/{split}.tsv; it has the splits {', '.join(known)}"
            if known
            else f"{folder} is not a BEIR folder: there are no judgments in qrels/*.tsv"
        )
    texts: Mapping[Any, str] = read_queries(folder / QUERIES)
    truth = read_qrels(judged)
    if bare := [query for query in truth.queries if query not in texts]:
        raise ValueError(f"{len(bare)} judged queries have no text in {folder / QUERIES}, for example {bare[0]!r}")
    qrels = judgments_by_query(truth)
    metadata = {query: known for query, known in _metadata(folder / QUERIES) if query in qrels}
    made = {query: {name: known[name] for name in PROVENANCE_FIELDS if known.get(name) is not None} for query, known in
            metadata.items()}  # fmt: skip
    return kind(
        {query: texts[query] for query in qrels},
        qrels,
        {query: Provenance(**known) for query, known in made.items() if known},
        answers={query: known["answer"] for query, known in metadata.items() if "answer" in known},
        conversation={query: known[CONVERSATION_KEY] for query, known in metadata.items() if CONVERSATION_KEY in known},
    )


def _metadata(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the metadata of the queries that have some."""
    with path.open(encoding="utf-8") as file:
        for line in filter(str.strip, file):
            row = json.loads(line)
            if isinstance(metadata := row.get("metadata"), Mapping):
                yield str(row["_id"]), metadata


def write_beir(questions: Questions, folder: Path, corpus: Mapping[str, str] | None, split: str) -> None:
    """Write a BEIR folder; what it cannot hold is refused before anything is written."""
    truth = as_qrels(questions)
    _require_ids(questions, "BEIR")
    if not truth.is_flat:
        for query, groups in truth.groups().items():
            if members := next((list(group) for group in groups if len(group) > 1), None):
                raise ValueError(f"BEIR cannot hold alternatives, and query {query!r} has {members}")
        truth = truth.flattened()
    truth.require_integer_grades("BEIR")
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    texts: Mapping[Any, str] = questions.queries
    rows = (
        {
            "_id": str(query),
            "text": text,
            "metadata": (made.as_dict() if (made := questions.provenance.get(query)) is not None else {})
            | encode_answer_and_conversation(questions, query),
        }
        for query, text in texts.items()
    )
    _write_lines(folder / QUERIES, rows)
    write_qrels(truth, folder / "qrels" / f"{split}.tsv")
    if corpus is not None:
        _write_lines(folder / CORPUS, ({"_id": str(name), "title": "", "text": text} for name, text in corpus.items()))


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    save_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def ragas_rows(questions: Questions, *, lossy: bool) -> list[dict[str, Any]]:
    """Return rows for Ragas."""
    _require_held(questions, "Ragas", lossy=lossy)
    rows = []
    for query, text, judged in _relevant(questions):
        row: dict[str, Any] = {"user_input": text}
        texts = _texts(judged)
        ids = [one for one in judged if not isinstance(one, Piece)]
        if ids or not texts:
            row["reference_context_ids"] = ids
        if texts:
            row["reference_contexts"] = texts
        if (answer := questions.answers.get(query)) is not None:
            row["reference"] = answer
        rows.append(row)
    return rows


def langsmith_examples(questions: Questions) -> list[dict[str, Any]]:
    """Return examples for LangSmith, with judgments as `save` writes them."""
    return [
        {
            "inputs": {"query": row["text"], **_if_known(row, CONVERSATION_KEY, CONVERSATION_KEY)},
            "outputs": {"relevant": row["relevant"], **_if_known(row, "answer", "answer")},
            "metadata": {**row["provenance"], QUERY_ID_KEY: row["id"]},
        }
        for row in _json_rows(questions)
    ]


def mlflow_rows(questions: Questions) -> list[dict[str, Any]]:
    """Return rows for MLflow, with judgments as `save` writes them."""
    return [
        {
            "inputs": {"question": row["text"], **_if_known(row, CONVERSATION_KEY, CONVERSATION_KEY)},
            "expectations": {"relevant_ids": row["relevant"], **_if_known(row, "answer", "expected_response")},
            "tags": {QUERY_ID_KEY: str(row["id"])},
        }
        for row in _json_rows(questions)
    ]


def _if_known(row: Mapping[str, Any], name: str, called: str) -> dict[str, Any]:
    return {called: row[name]} if name in row else {}


def pydantic_evals_cases(questions: Questions) -> list[dict[str, Any]]:
    """Return the arguments of cases of Pydantic Evals, with judgments as `save` writes them."""
    _require_no_history(questions, "a case of Pydantic Evals")
    return [
        {
            "name": str(row["id"]),
            "inputs": row["text"],
            "expected_output": row.get("answer"),
            "metadata": {**row["provenance"], "relevant": row["relevant"]},
        }
        for row in _json_rows(questions)
    ]


def _json_rows(questions: Questions) -> Iterable[dict[str, Any]]:
    """Yield everything that is known of each question, as JSON holds it."""
    qrels = judgments_by_query(questions.qrels)
    for query, text in questions.queries.items():
        made = questions.provenance.get(query)
        yield {
            "id": encode_id(query),
            "text": text,
            "relevant": encode_judgments(qrels[query], f"query {query!r}"),
            "provenance": {} if made is None else to_json_value(made.as_dict(), f"the provenance of query {query!r}"),
            **encode_answer_and_conversation(questions, query),
        }


def llama_index_dataset(questions: Questions, corpus: Mapping[str, str] | None, *, lossy: bool) -> dict[str, Any]:
    """Return the content of the JSON of LlamaIndex's dataset of ids or, if texts are judged, of texts."""
    _require_held(questions, "LlamaIndex's datasets", lossy=lossy)
    relevant = list(_relevant(questions))
    if any(isinstance(one, (Quote, Text)) for _, _, judged in relevant for one in judged):
        return {"examples": [_labelled(questions, *each) for each in relevant]}
    _require_ids(questions, "LlamaIndex's dataset")
    texts: Mapping[Any, str] = questions.queries
    return {
        "queries": {str(query): text for query, text in texts.items()},
        "corpus": {str(name): text for name, text in (corpus or {}).items()},
        "relevant_docs": {str(query): [str(one) for one in judged] for query, _, judged in relevant},
        "mode": "text",
    }


def _labelled(questions: Questions, query: QueryId, text: str, judged: list[Any]) -> dict[str, Any]:
    """Return a question as an example of LlamaIndex's LabelledRagDataset."""
    if ids := [one for one in judged if not isinstance(one, Piece)]:
        raise ValueError(f"LlamaIndex's dataset of texts cannot hold ids, and query {query!r} has {ids[0]!r}")
    made = questions.provenance.get(query)
    model = None if made is None else made.model
    maker = {"model_name": model or "", "type": "human" if model is None else "ai"}
    answer = questions.answers.get(query)
    return {
        "query": text,
        "query_by": maker,
        "reference_contexts": _texts(judged),
        "reference_answer": answer or "",
        "reference_answer_by": None if answer is None else maker,
    }


def _require_no_history(questions: Questions, what: str) -> None:
    if questions.conversation:
        query = next(iter(questions.conversation))
        raise ValueError(
            f"{what} cannot hold what was said before query {query!r}; questions.with_conversation() puts it into the "
            "question"
        )


def _require_held(questions: Questions, what: str, *, lossy: bool) -> None:
    """Refuse what a tool without grades, groups and conversations would change."""
    _require_no_history(questions, what)
    truth = as_qrels(questions)
    for query, groups in truth.groups().items():
        forbidden = [one for group in groups for one, grade in group.items() if grade < 0]
        if forbidden and not lossy:
            raise ValueError(
                f"{what} cannot hold what must not come back, such as {forbidden[0]!r} of query {query!r}; with "
                "lossy=True it is left out"
            )
        for group in groups:
            relevant = [one for one, grade in group.items() if grade > 0]
            held = [one for one in relevant if not isinstance(one, Piece) or isinstance(one, (Quote, Text))]
            if relevant and not held:
                raise ValueError(f"{what} cannot hold {relevant[0]!r} of query {query!r}, only ids, quotes and texts")
            if len(held) > 1 and not lossy:
                raise ValueError(
                    f"{what} cannot hold alternatives, and query {query!r} has {held}; with lossy=True all of them are "
                    "listed, as if each were needed"
                )
        grades = {grade for group in groups for grade in group.values() if grade > 0}
        if len(grades) > 1 and not lossy:
            named = ", ".join(f"{one:g}" for one in sorted(grades))
            raise ValueError(
                f"{what} cannot hold grades, and query {query!r} has {named}; with lossy=True "
                "everything relevant is listed alike"
            )


def _texts(judged: Iterable[Any]) -> list[str]:
    return [one.text for one in judged if isinstance(one, (Quote, Text))]


def _relevant(questions: Questions) -> Iterable[tuple[Any, str, list[Any]]]:
    truth, texts = as_qrels(questions), questions.queries
    known: Mapping[Any, str] = texts
    for query, graded in truth.graded().items():
        yield query, known[query], [one for one, grade in graded.items() if grade > 0]


def _require_ids(questions: Questions, what: str) -> None:
    truth = as_qrels(questions)
    for at, judged in zip(truth.document_query.tolist(), truth.documents, strict=True):
        if isinstance(judged, Piece):
            raise ValueError(  # noqa: TRY004  (it is a judgment, but not one that can be written there)
                f"{what} can hold only ids, and query {truth.queries[at]!r} has {judged!r}; rm.match finds the chunks "
                "that satisfy it"
            )
