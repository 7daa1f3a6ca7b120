"""Read and write evaluation sets as BEIR folders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.atomic_write import save_text
from retrieval_metrics.datasets.export import require_ids
from retrieval_metrics.files.questions_file import encode_answer_and_conversation
from retrieval_metrics.files.reading import read_qrels
from retrieval_metrics.files.text_files import read_queries
from retrieval_metrics.files.writing import write_qrels
from retrieval_metrics.inputs.provenance import PROVENANCE_FIELDS, Provenance
from retrieval_metrics.inputs.qrels import as_qrels, judgments_by_query
from retrieval_metrics.inputs.question_rows import CONVERSATION_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.questions import Questions, QuestionsT

# The names of files in a BEIR folder.
QUERIES_FILE = "queries.jsonl"
CORPUS_FILE = "corpus.jsonl"


def read_json_dataset(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file that stands in place of a BEIR folder."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is neither a BEIR folder nor a JSON file: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold an object, such as one with queries and relevant_docs")
    return content


def read_beir(set_class: type[QuestionsT], folder: Path, split: str) -> QuestionsT:
    """Read a BEIR folder: the queries that a split judges, and its judgments."""
    qrels_path = folder / "qrels" / f"{split}.tsv"
    if not qrels_path.is_file():
        splits = sorted(path.stem for path in folder.glob("qrels/*.tsv"))
        if not splits:
            raise ValueError(f"{folder} is not a BEIR folder: there are no judgments in qrels/*.tsv")
        raise ValueError(f"{folder} has no qrels/{split}.tsv; it has the splits {', '.join(splits)}")
    texts: Mapping[Any, str] = read_queries(folder / QUERIES_FILE)
    qrels = read_qrels(qrels_path)
    without_text = [query for query in qrels.queries if query not in texts]
    if without_text:
        raise ValueError(
            f"{len(without_text)} judged queries have no text in {folder / QUERIES_FILE}, for example "
            f"{without_text[0]!r}"
        )
    judgments = judgments_by_query(qrels)
    provenance: dict[Any, Provenance] = {}
    answers: dict[Any, Any] = {}
    conversation: dict[Any, Any] = {}
    for query, metadata in _read_metadata(folder / QUERIES_FILE).items():
        if query not in judgments:
            continue
        provenance_fields = {name: metadata[name] for name in PROVENANCE_FIELDS if metadata.get(name) is not None}
        if provenance_fields:
            provenance[query] = Provenance(**provenance_fields)
        if "answer" in metadata:
            answers[query] = metadata["answer"]
        if CONVERSATION_KEY in metadata:
            conversation[query] = metadata[CONVERSATION_KEY]
    return set_class(
        {query: texts[query] for query in judgments},
        judgments,
        provenance,
        answers=answers,
        conversation=conversation,
    )


def _read_metadata(path: Path) -> dict[str, Mapping[str, Any]]:
    """Return the metadata of the queries that have some."""
    metadata_by_query: dict[str, Mapping[str, Any]] = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            if not line.strip():
                continue
            row = json.loads(line)
            metadata = row.get("metadata")
            if isinstance(metadata, Mapping):
                metadata_by_query[str(row["_id"])] = metadata
    return metadata_by_query


def write_beir(questions: Questions, folder: Path, corpus: Mapping[str, str] | None, split: str) -> None:
    """Write a BEIR folder.

    Raises:
        ValueError: If BEIR cannot hold the judgments; nothing is written then.
    """
    require_ids(questions, "BEIR")
    qrels = _flatten(as_qrels(questions))
    qrels.require_integer_grades("BEIR")
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    texts: Mapping[Any, str] = questions.queries
    rows = []
    for query, text in texts.items():
        provenance = questions.provenance.get(query)
        metadata = {} if provenance is None else provenance.as_dict()
        metadata = metadata | encode_answer_and_conversation(questions, query)
        rows.append({"_id": str(query), "text": text, "metadata": metadata})
    _write_lines(folder / QUERIES_FILE, rows)
    write_qrels(qrels, folder / "qrels" / f"{split}.tsv")
    if corpus is not None:
        documents = ({"_id": str(name), "title": "", "text": text} for name, text in corpus.items())
        _write_lines(folder / CORPUS_FILE, documents)


def _flatten(qrels: Qrels) -> Qrels:
    """Return judgments without groups; refuse groups of alternatives, which BEIR cannot hold."""
    if qrels.is_flat:
        return qrels
    for query, groups in qrels.groups().items():
        for group in groups:
            if len(group) > 1:
                raise ValueError(f"BEIR cannot hold alternatives, and query {query!r} has {list(group)}")
    return qrels.flattened()


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    save_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
