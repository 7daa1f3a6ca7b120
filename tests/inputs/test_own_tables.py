"""Tables that this package writes for people are read right, or refused with what to read instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import retrieval_metrics as rm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

QUESTIONS = rm.EvaluationSet({"q1": "why?", "q2": "who?"}, {"q1": {"d7": 2, "d8": 1, "d9": -1}, "q2": {"d3": 1}})
RUN = {"q1": ["d9", "d7"], "q2": ["d1", "d2"]}


def make_worst(metric: str) -> pd.DataFrame:
    return rm.evaluate(QUESTIONS, RUN, metric).worst(metric).to_pandas()


def make_pool() -> pd.DataFrame:
    return rm.pool(QUESTIONS, {"a": {"q1": ["d4"], "q2": ["d5"]}}).to_pandas()


def make_labels() -> pd.DataFrame:
    return rm.Labels.from_qrels(QUESTIONS, "ann").to_pandas()


@pytest.mark.parametrize(
    ("make_table", "advice"),
    [
        (QUESTIONS.to_pandas, r"rm\.load\('questions.json'\)"),
        (make_pool, "read it with read_qrels"),
        (make_labels, "read them with read_qrels"),
        (lambda: make_worst("recall@1"), "read the file or object that was evaluated"),
        (lambda: make_worst("leak@1"), "read the file or object that was evaluated"),
    ],
)
def test_what_holds_no_questions_is_not_read_as_questions(
    make_table: Callable[[], pd.DataFrame], advice: str, tmp_path: Path
) -> None:
    table = make_table()
    path = tmp_path / "table.csv"
    table.reset_index().to_csv(path, index=False)
    sources: list[Any] = [path, table, table.reset_index(), table.reset_index().to_dict("records")]
    for source in sources:
        with pytest.raises(ValueError, match=advice):
            rm.read_questions(source)


def test_a_count_of_relevant_documents_is_not_read_as_a_document(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    QUESTIONS.to_pandas().to_csv(path)
    with pytest.raises(ValueError, match="'n_relevant' counts the relevant documents"):
        rm.read_questions(path, columns={"query": "text", "relevant": "n_relevant"})
    QUESTIONS.to_pandas().assign(relevant=["d7;d8", "d3"]).to_csv(path)
    assert dict(rm.read_questions(path, separator=";").qrels) == {"q1": ["d7", "d8"], "q2": ["d3"]}


@pytest.mark.parametrize("metric", ["recall@1", "leak@1"])
def test_failures_are_neither_a_run_nor_judgments(metric: str, tmp_path: Path) -> None:
    table = make_worst(metric)
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    readers: list[Callable[[], Any]] = [
        lambda: rm.read_qrels(path),
        lambda: rm.read_run(path),
        lambda: rm.Qrels.from_frame(table),
        lambda: rm.Run.from_frame(table),
    ]
    for read in readers:
        with pytest.raises(ValueError, match="holds the failures of the worst queries"):
            read()


def test_grades_are_read_as_judgments(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    make_labels().to_csv(path, index=False)
    assert rm.read_qrels(path).as_dict() == {"q1": {"d7": 2, "d8": 1, "d9": -1}, "q2": {"d3": 1}}
    make_pool().assign(grade=[0, 2]).to_csv(path, index=False)
    assert rm.read_qrels(path).as_dict() == {"q1": {"d4": 0}, "q2": {"d5": 2}}
