"""Input that is nearly right gives the same answer at every door of the core; the hosts inherit it.

| kind | what comes of it |
| --- | --- |
| ids that nearly match, in twelve ways | counted, warned of with an example in which the difference is visible |
| ids that never match | warned of; nothing is decided |
| query ids that never match; ids that are int here and str there | an error |

Doors of this file: dict, lists of items, DataFrame, JSONL, CSV, Parquet and the command line. Those of the hosts
(LangChain, LlamaIndex, Haystack, Ragas, MLflow, Pydantic Evals, Ray, pytest) are the subclasses of
`EvaluationConformance`. Where single rows are scored (Ragas, MLflow, Pydantic Evals), it is said once in a run.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import retrieval_metrics as rm
from conformance import call_with_warnings
from near_right_ids import NEAR_RIGHT_IDS, NearRightId, make_near_right_run
from retrieval_metrics.cli.main import main
from run_shapes import list_rows, with_items, with_scores

Run = dict[str, list[str]]
KINDS = tuple(dict.fromkeys(pair.kind for pair in NEAR_RIGHT_IDS))


def as_frame(run: Run, _: Path) -> Any:
    return rm.Run.from_frame(pl.DataFrame(list_rows(run)))


def as_jsonl(run: Run, path: Path) -> Any:
    path.write_text("".join(json.dumps(row) + "\n" for row in list_rows(run)), encoding="utf-8")
    return rm.read_run(path, format="jsonl")


def as_csv(run: Run, path: Path) -> Any:
    pl.DataFrame(list_rows(run)).write_csv(path)
    return rm.read_run(path, format="csv")


def as_parquet(run: Run, path: Path) -> Any:
    pl.DataFrame(list_rows(run)).write_parquet(path)
    return rm.read_run(path, format="parquet")


DOORS: dict[str, Callable[[Run, Path], Any]] = {
    "list": lambda run, _: run,
    "dict": lambda run, _: with_scores(run),
    "items": lambda run, _: with_items(run),
    "DataFrame": as_frame,
    "JSONL": as_jsonl,
    "CSV": as_csv,
    "Parquet": as_parquet,
}


def select_kind(kind: str) -> tuple[dict[str, Any], Run, list[NearRightId]]:
    """Return the judgments and the run of one kind, beside a query that is right."""
    qrels, run = make_near_right_run()
    pairs = []
    chosen = {"found": 0}
    for number, pair in enumerate(NEAR_RIGHT_IDS):
        if pair.kind == kind:
            pairs.append(pair)
            chosen[f"q{number}"] = number
    return {query: qrels[query] for query in chosen}, {query: run[query] for query in chosen}, pairs


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_counted_and_shown_at_every_door(kind: str, door: str, tmp_path: Path) -> None:
    qrels, run, pairs = select_kind(kind)
    given = DOORS[door](run, tmp_path / "run")
    evaluation, warning_text = call_with_warnings(lambda: rm.evaluate(qrels, given, "mrr"))
    assert evaluation.counts["near_misses"] == len(pairs)
    near_misses = evaluation.scores.require_origin("read").judged.near_misses
    assert near_misses is not None
    assert [(entry.kind, entry.judged_id, entry.retrieved_id) for entry in near_misses.entries] == pairs
    assert warning_text.isascii() or kind not in {"unicode_form", "invisible_characters", "blanks", "several"}
    assert warning_text.count("\n") == 0
    assert f"{len(pairs)} of {len(pairs)} missing relevant document" in warning_text


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_said_on_the_command_line(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, run, pairs = select_kind(kind)
    rows = [{"query_id": query, "doc_id": documents[0], "relevance": 1} for query, documents in qrels.items()]
    pl.DataFrame(rows).write_csv(tmp_path / "qrels.csv")
    pl.DataFrame(list_rows(run)).write_csv(tmp_path / "run.csv")
    assert main(["evaluate", str(tmp_path / "qrels.csv"), str(tmp_path / "run.csv"), "-m", "mrr"]) == 0
    output = capsys.readouterr()
    assert f"{len(pairs)} of {len(pairs)} missing relevant document" in output.err
    assert re.search(rf"^{len(pairs)} relevant documents? retrieved under another ID", output.out, re.MULTILINE)
    python_words = ["id.", "unicodedata", "urllib", "dtype", "join"]
    assert [word for word in python_words if word in output.err] == []


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("change_query", "change_document", "error"),
    [
        (lambda query: query.upper(), lambda document: document, "no query in common"),
        (lambda query: f"{query}.0", lambda document: document, "no query in common"),
        (lambda query: query, lambda document: f"uuid-of-{document.encode().hex()}", ""),
    ],
    ids=["queries in capitals", "queries as floats", "foreign documents"],
)
def test_what_never_matches(change_query: Any, change_document: Any, error: str, door: str, tmp_path: Path) -> None:
    qrels, run = make_near_right_run()
    changed = {change_query(query): list(map(change_document, documents)) for query, documents in run.items()}
    given = DOORS[door](changed, tmp_path / "run")
    if error:
        with pytest.raises(ValueError, match=error):
            rm.evaluate(qrels, given, "mrr")
        return
    _, warning_text = call_with_warnings(lambda: rm.evaluate(qrels, given, "mrr"))
    assert "no retrieved document is judged for its query" in warning_text
    right = DOORS[door]({query: list(documents) for query, documents in qrels.items()}, tmp_path / "right")
    comparison, _ = call_with_warnings(lambda: rm.compare(qrels, {"right": right, "foreign": given}, "mrr"))
    assert [conclusion.kind for conclusion in comparison.conclusions] == ["not_comparable"]
