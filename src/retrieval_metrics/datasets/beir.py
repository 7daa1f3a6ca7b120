"""Write evaluation sets as BEIR folders."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.atomic_write import save_text
from retrieval_metrics.datasets.export import require_ids
from retrieval_metrics.files.question_files import QUERIES_FILE
from retrieval_metrics.files.saved_questions import encode_answer_and_conversation
from retrieval_metrics.files.writing import write_qrels
from retrieval_metrics.inputs.qrels import as_qrels

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.questions import Questions

# The file of the documents in a BEIR folder.
CORPUS_FILE = "corpus.jsonl"


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
