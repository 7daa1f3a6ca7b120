"""What cannot be right is said alike at every door of the core; the hosts inherit it from the conformance class.

| rule | dict | table, CSV, JSONL, TREC, command line | lists: hosts, retrievers |
| --- | --- | --- | --- |
| distances taken for scores | warned of | also, with ranks already when read | in rank order, whatever the scores |
| ids that never meet | warned of; refused where something is decided | also | also, with the option to pass |
| judgments and run exchanged | warned of | also | where the judgments have fractions |
| unequal depth | a sentence of the comparison | also | also |
| silence that is right | not counted | also | also |

Each stands once, in `evaluation/data_warnings.py`; depth in `budget_coverage.py` and silence in `counts.py` beside it,
ranks beside scores in `inputs/column_detection.py`.

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
RULES: dict[str, tuple[Any, str]] = {
    "distances": ({query: {"a": 0.1, "b": 0.2, "c": 0.4} for query in QRELS}, "if they are distances, "),
    "no_common_ids": ({query: {"x": 2.0, "y": 1.0} for query in QRELS}, "the judgments have 'a', the run 'x' and 'y'"),
    "nothing wrong": ({query: {"a": 2.0, "y": 1.0} for query in QRELS}, ""),
}


def rows(run: Any) -> list[dict[str, Any]]:
    return [
        {"query": query, "document": doc, "score": score}
        for query, ranking in run.items()
        for doc, score in ranking.items()
    ]


def as_dict(run: Any, _: Path) -> Any:
    return run


def as_frame(run: Any, _: Path) -> Any:
    return rm.Run.from_frame({name: [row[name] for row in rows(run)] for name in ("query", "document", "score")})


def as_csv(run: Any, path: Path) -> Any:
    path.write_text("\n".join(["query,document,score", *(",".join(map(str, row.values())) for row in rows(run))]))
    return rm.read_run(path, format="csv")


def as_jsonl(run: Any, path: Path) -> Any:
    path.write_text("\n".join(map(json.dumps, rows(run))))
    return rm.read_run(path, format="jsonl")


def as_trec(run: Any, path: Path) -> Any:
    path.write_text("".join(f"{row['query']} Q0 {row['document']} 0 {row['score']} tag\n" for row in rows(run)))
    return rm.read_run(path, format="trec")


def as_streamed(run: Any, path: Path) -> Any:
    as_trec(run, path)
    return rm.read_run(path, format="trec", memory=1)


@pytest.mark.parametrize("door", [as_dict, as_frame, as_csv, as_jsonl, as_trec, as_streamed])
@pytest.mark.parametrize("rule", RULES)
def test_every_door_of_the_core_says_the_same(rule: str, door: Any, tmp_path: Path) -> None:
    run, sentence = RULES[rule]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rm.evaluate(QRELS, door(run, tmp_path / "run"), "mrr")
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == bool(sentence), messages
    assert sentence in "".join(messages)


@pytest.mark.parametrize("rule", RULES)
def test_the_command_line_says_it_in_its_words(rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, sentence = RULES[rule]
    as_trec(run, tmp_path / "run.trec")
    rm.write_qrels(QRELS, tmp_path / "qrels.trec")
    files = [str(tmp_path / "qrels.trec"), str(tmp_path / "run.trec")]
    assert main(["evaluate", *files, "-m", "mrr"]) == 0
    printed = capsys.readouterr().err
    assert sentence in printed
    assert bool(printed) is bool(sentence)
    assert ("write -distance as the score" in printed) is (rule == "distances")
    decided = main(["compare", files[0], f"one={files[1]}", f"other={files[1]}", "-m", "mrr"])
    assert ("nothing can be decided on this data" in capsys.readouterr().err) is (rule == "no_common_ids")
    assert (decided == 0) is (rule != "no_common_ids")


def test_unequal_depth_is_a_sentence_of_the_comparison() -> None:
    qrels: Any = {query: [f"d{index}" for index in range(30)] for query in QRELS}
    deep: Any = {query: [f"d{index}" for index in range(100)] for query in QRELS}
    runs = {"deep": deep, "cut": {query: ranking[:20] for query, ranking in deep.items()}}
    sentence = (
        "cut is 20 deep and deep 100, so recall@50 compares unequal depths; retrieve 50 results with each, or compare "
        "at @20."
    )
    assert rm.compare(qrels, runs, ["recall@50", "ndcg@10"]).summary[0] == sentence
    assert sentence not in rm.compare(qrels, runs, ["recall@20", "map"]).summary
    of_their_own: Any = {query: ranking[: 5 + index] for index, (query, ranking) in enumerate(deep.items())}
    assert "deep and" not in rm.compare(qrels, {"deep": deep, "some": of_their_own}, "recall@50").summary[0]
