"""What cannot be right is said alike at every door of the core; the hosts inherit it from the conformance class.

| rule | dict | table, CSV, JSONL, TREC, command line | lists: hosts, retrievers |
| --- | --- | --- | --- |
| distances taken for scores | warned of | also, with ranks already when read | in rank order, whatever the scores |
| ids that never meet | warned of; refused where something is decided | also | also, with the option to pass |
| judgments and run exchanged | warned of | also | where the judgments have fractions |
| unequal depth | a sentence of the comparison | also | also |
| silence that is right | not counted | also | also |

Each stands once, in `evaluation/data_warnings.py` and what it uses; depth in `unequal_cutoffs.py` and silence in
`counts.py` beside it, ranks beside scores in `inputs/score_checks.py`.

Scorers of single rows (MLflow, LangSmith, Pydantic Evals, Ragas) see no whole run and say nothing of one; Ray sees no
ids in its results. The drop-in for pytrec_eval is as silent as that is.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main

QRELS: Any = {f"q{number}": {"a": 1} for number in range(12)}
# The run that breaks each rule.
RUNS: dict[str, Any] = {
    "distances": {query: {"a": 0.1, "b": 0.2, "c": 0.4} for query in QRELS},
    "no_common_ids": {query: {"x": 2.0, "y": 1.0} for query in QRELS},
    "nothing wrong": {query: {"a": 2.0, "y": 1.0} for query in QRELS},
}
# What is said of it, in part.
FRAGMENTS = {"distances": "If they are distances", "no_common_ids": "Judged IDs: 'a'; run IDs: 'x' and 'y'"}


def list_rows(run: Any) -> list[dict[str, Any]]:
    rows = []
    for query, ranking in run.items():
        for document, score in ranking.items():
            rows.append({"query": query, "document": document, "score": score})
    return rows


def as_dict(run: Any, _: Path) -> Any:
    return run


def as_frame(run: Any, _: Path) -> Any:
    return rm.Run.from_frame(
        {column: [row[column] for row in list_rows(run)] for column in ("query", "document", "score")}
    )


def as_csv(run: Any, path: Path) -> Any:
    lines = ["query,document,score"]
    for row in list_rows(run):
        lines.append(",".join(map(str, row.values())))
    path.write_text("\n".join(lines))
    return rm.read_run(path, format="csv")


def as_jsonl(run: Any, path: Path) -> Any:
    path.write_text("\n".join(map(json.dumps, list_rows(run))))
    return rm.read_run(path, format="jsonl")


def as_trec(run: Any, path: Path) -> Any:
    path.write_text("".join(f"{row['query']} Q0 {row['document']} 0 {row['score']} tag\n" for row in list_rows(run)))
    return rm.read_run(path, format="trec")


def as_streamed(run: Any, path: Path) -> Any:
    as_trec(run, path)
    return rm.read_run(path, format="trec", memory=1)


@pytest.mark.parametrize("door", [as_dict, as_frame, as_csv, as_jsonl, as_trec, as_streamed])
@pytest.mark.parametrize("rule", RUNS)
def test_every_door_of_the_core_says_the_same(rule: str, door: Any, tmp_path: Path) -> None:
    run = RUNS[rule]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rm.evaluate(QRELS, door(run, tmp_path / "run"), "mrr")
    messages = [str(warning.message) for warning in caught]
    if rule not in FRAGMENTS:
        assert messages == []
        return
    (message,) = messages
    assert FRAGMENTS[rule] in message


@pytest.mark.parametrize("rule", RUNS)
def test_the_command_line_says_it_in_its_words(rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    as_trec(RUNS[rule], tmp_path / "run.trec")
    rm.write_qrels(QRELS, tmp_path / "qrels.trec")
    files = [str(tmp_path / "qrels.trec"), str(tmp_path / "run.trec")]
    assert main(["evaluate", *files, "-m", "mrr"]) == 0
    errors = capsys.readouterr().err
    assert FRAGMENTS.get(rule, "") in errors
    assert bool(errors) is (rule in FRAGMENTS)
    assert ("write -distance as the score" in errors) is (rule == "distances")
    exit_code = main(["compare", files[0], f"first={files[1]}", f"second={files[1]}", "-m", "mrr"])
    assert ("no system retrieved a judged document" in capsys.readouterr().err) is (rule == "no_common_ids")
    assert (exit_code == 0) is (rule != "no_common_ids")


def test_unequal_depth_is_a_sentence_of_the_comparison() -> None:
    qrels: Any = {query: [f"d{number}" for number in range(30)] for query in QRELS}
    deep: Any = {query: [f"d{number}" for number in range(100)] for query in QRELS}
    cut = {query: ranking[:20] for query, ranking in deep.items()}
    comparison = rm.compare(qrels, {"deep": deep, "cut": cut}, ["recall@50", "ndcg@10"])
    assert comparison.summary[0].startswith("cut returns at most 20 results and deep 100, so recall@50")
    shallow_metrics = rm.compare(qrels, {"deep": deep, "cut": cut}, ["recall@20", "map"])
    assert "deep and" not in " ".join(shallow_metrics.summary)
    of_many_lengths = {query: ranking[: 5 + number] for number, (query, ranking) in enumerate(deep.items())}
    uncut = rm.compare(qrels, {"deep": deep, "uncut": of_many_lengths}, "recall@50")
    assert "deep and" not in " ".join(uncut.summary)
