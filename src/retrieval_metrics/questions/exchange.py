"""Evaluation sets in the shapes of other tools: BEIR folders, rows for Ragas, LangSmith, LlamaIndex's JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics.files.reading import read_qrels
from retrieval_metrics.files.text_files import read_queries
from retrieval_metrics.files.writing import write_qrels
from retrieval_metrics.inputs.datasets import KEPT_ID
from retrieval_metrics.inputs.entries import plain
from retrieval_metrics.inputs.pieces import Piece, Quote, Text
from retrieval_metrics.inputs.provenance import ENTRIES, Provenance
from retrieval_metrics.inputs.qrels import as_qrels, judgments_by_query
from retrieval_metrics.inputs.ranking_entries import of_id
from retrieval_metrics.keeping.question_sets import judgments_as_json
from retrieval_metrics.saving import save_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from retrieval_metrics.inputs.questions import Questions, QuestionsT


QUERIES, CORPUS = "queries.jsonl", "corpus.jsonl"


def read_json(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file.

    Raises:
        ValueError: If it is not JSON, or not an object.
    """
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
    """Read a BEIR folder: the queries that a split judges, and its judgments.

    Raises:
        ValueError: If the folder has no such split, or a judged query has no text.
    """
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
    provenance = {query: made for query, made in _provenance(folder / QUERIES).items() if query in qrels}
    return kind({query: texts[query] for query in qrels}, qrels, provenance)


def _provenance(path: Path) -> dict[Any, Provenance]:
    """Return the provenance of questions, as far as it is in the metadata of the queries."""
    found = {}
    with path.open(encoding="utf-8") as file:
        for line in filter(str.strip, file):
            row = json.loads(line)
            metadata = row.get("metadata")
            if isinstance(metadata, Mapping):
                known = {name: metadata[name] for name in ENTRIES if metadata.get(name) is not None}
                if known:
                    found[str(row["_id"])] = Provenance(**known)
    return found


def write_beir(questions: Questions, folder: Path, corpus: Mapping[str, str] | None, split: str) -> None:
    """Write a BEIR folder; what it cannot hold is refused before anything is written."""
    truth = as_qrels(questions)
    _require_ids(questions, "BEIR")
    if not truth.is_flat:
        groups: dict[int, list[Any]] = {}
        for member, group in zip(truth.member_document.tolist(), truth.member_group.tolist(), strict=True):
            groups.setdefault(group, []).append(truth.documents[member])
        for group, members in groups.items():
            if len(members) > 1:
                query = truth.queries[int(truth.group_query[group])]
                raise ValueError(f"BEIR cannot hold alternatives, and query {query!r} has {members}")
        truth = truth.flattened()
    truth.require_integer_grades("BEIR")
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    texts: Mapping[Any, str] = questions.queries
    rows = (
        {
            "_id": str(query),
            "text": text,
            "metadata": made.as_dict() if (made := questions.provenance.get(query)) is not None else {},
        }
        for query, text in texts.items()
    )
    _write_lines(folder / QUERIES, rows)
    write_qrels(truth, folder / "qrels" / f"{split}.tsv")
    if corpus is not None:
        _write_lines(folder / CORPUS, ({"_id": str(name), "title": "", "text": text} for name, text in corpus.items()))


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    save_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def ragas_rows(questions: Questions) -> list[dict[str, Any]]:
    """Return rows for Ragas."""
    rows = []
    truth = as_qrels(questions)
    for at, (query, text, judged) in enumerate(_relevant(questions)):
        row: dict[str, Any] = {"user_input": text}
        texts = [one.text for one in judged if isinstance(one, (Quote, Text))]
        ids = [one for one in judged if not isinstance(one, Piece)]
        groups: Any = [[one] for one in judged] if truth.is_flat else truth.judgments(at)
        for group in groups:
            held = [one for one in group if not isinstance(one, Piece) or isinstance(one, (Quote, Text))]
            if not held and (other := next((one for one in group if one in judged), None)) is not None:
                raise ValueError(f"Ragas cannot hold {other!r} of query {query!r}, only ids, quotes and texts")
        if ids or not texts:
            row["reference_context_ids"] = ids
        if texts:
            row["reference_contexts"] = texts
        rows.append(row)
    return rows


def langsmith_examples(questions: Questions) -> list[dict[str, Any]]:
    """Return examples for LangSmith, with judgments as `save` writes them."""
    qrels = judgments_by_query(questions.qrels)
    examples = []
    for query, text in questions.queries.items():
        made = questions.provenance.get(query)
        metadata = {} if made is None else plain(made.as_dict(), f"the provenance of query {query!r}")
        relevant = judgments_as_json(qrels[query], f"query {query!r}")
        examples.append(
            {
                "inputs": {"query": text},
                "outputs": {"relevant": relevant},
                "metadata": {**metadata, KEPT_ID: of_id(query)},
            }
        )
    return examples


def llama_index_content(questions: Questions, corpus: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the content of LlamaIndex's JSON."""
    _require_ids(questions, "LlamaIndex's dataset")
    relevant = {str(query): [str(one) for one in judged] for query, _, judged in _relevant(questions)}
    texts: Mapping[Any, str] = questions.queries
    return {
        "queries": {str(query): text for query, text in texts.items()},
        "corpus": {str(name): text for name, text in (corpus or {}).items()},
        "relevant_docs": relevant,
        "mode": "text",
    }


def _relevant(questions: Questions) -> Iterable[tuple[Any, str, list[Any]]]:
    truth, texts = as_qrels(questions), questions.queries
    known: Mapping[Any, str] = texts
    grades = truth.document_grade
    for query, start, end in zip(truth.queries, truth.bounds, truth.bounds[1:], strict=False):
        yield query, known[query], [truth.documents[at] for at in range(start, end) if grades[at] > 0]


def _require_ids(questions: Questions, what: str) -> None:
    truth = as_qrels(questions)
    for at, judged in zip(truth.document_query.tolist(), truth.documents, strict=True):
        if isinstance(judged, Piece):
            raise ValueError(  # noqa: TRY004  (it is a judgment, but not one that can be written there)
                f"{what} can hold only ids, and query {truth.queries[at]!r} has {judged!r}; rm.match finds the chunks "
                "that satisfy it"
            )
