"""What is wrong with the data: shown where numbers are shown, refused where something is decided."""

import random
import warnings
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from data_warning_kinds import evaluate_silently, find_kinds
from retrieval_metrics.evaluation.data_warnings import (
    SYSTEM_WIDE,
    find_data_warnings,
    require_judged_documents,
    system_wide_warnings,
)

QRELS: Any = {f"q{number}": ["a"] for number in range(20)}


class TestWhereSomethingIsDecided:
    def test_nothing_is_decided_where_no_system_meets_a_judgment(self) -> None:
        runs: Any = {"first": {query: ["x"] for query in QRELS}, "second": {query: ["y"] for query in QRELS}}
        evaluations = {name: evaluate_silently(QRELS, run) for name, run in runs.items()}
        decisions: list[Any] = [
            lambda: rm.compare(QRELS, runs, "mrr"),
            lambda: rm.compare(evaluations),
            lambda: rm.compare_retrievers({"first": lambda _: ["x"], "second": lambda _: ["y"]}, QRELS, "mrr"),
            lambda: rm.tune(runs, QRELS, "mrr", default="first"),
        ]
        for decide in decisions:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with pytest.raises(ValueError, match=r"'first': no retrieved"):
                    decide()

    def test_where_one_meets_none_the_conclusions_and_the_report_begin_with_it(self, tmp_path: Path) -> None:
        runs: Any = {"old": {query: ["x"] for query in QRELS}, "new": {query: ["a"] for query in QRELS}}
        with pytest.warns(rm.RetrievalWarning, match="old"):
            comparison = rm.compare(QRELS, runs, "mrr")
        old = comparison.evaluations["old"]
        (warning,) = find_data_warnings(old.scores)
        assert (warning.kind, warning.is_blocking) == ("no_common_ids", True)
        assert comparison.summary[0] == f"old: {warning.message}."
        comparison.report(tmp_path / "comparison.html")
        old.report(tmp_path / "evaluation.html")
        for name in ("comparison.html", "evaluation.html"):
            page = (tmp_path / name).read_text(encoding="utf-8").partition("<body")[2]
            assert 0 < page.index("no retrieved document is judged") < page.index("mrr")
        assert "no retrieved document is judged" in old._repr_html_()

    def test_a_system_that_retrieved_nothing_is_said_first_and_decides_nothing_alone(self) -> None:
        runs: Any = {"old": {query: [] for query in QRELS}, "new": {query: ["a"] for query in QRELS}}
        with pytest.warns(rm.RetrievalWarning, match="old"):
            comparison = rm.compare(QRELS, runs, "mrr")
        assert comparison.summary[0].startswith("old: 20 of 20 judged queries")
        with pytest.raises(ValueError, match="'old': 20 of 20 judged queries"):
            require_judged_documents({"old": comparison.scores["old"]})
        require_judged_documents(comparison.scores)

    def test_given_scores_have_no_ids_and_are_compared(self) -> None:
        evaluations = {name: rm.Evaluation.from_scores({"mrr": dict.fromkeys(QRELS, 0.0)}) for name in ("old", "new")}
        assert {conclusion.kind for conclusion in rm.compare(evaluations).conclusions} == {"identical"}
        assert system_wide_warnings({name: evaluation.scores for name, evaluation in evaluations.items()}) == []


class TestLocations:
    def test_items_without_a_place_are_counted_by_reason_and_block_if_nothing_else_is_judged(self) -> None:
        qrels = {"q": [rm.Span("book", 0, 5)]}
        run = {"q": [rm.Retrieved("c1", "some text", source="book")]}
        evaluation = evaluate_silently(qrels, run)
        (warning,) = find_data_warnings(evaluation.scores)
        assert (warning.kind, warning.is_blocking) == ("unlocated", True)
        assert evaluation.counts["unlocated"] == 1


SHAPES = ["best first", "any order", "upwards", "tied", "whole", "list", "items", "columns", "ranks"]
GRADES: list[list[float]] = [[1], [0, 1], [0, 1, 2, 3], [0, 0.5, 1], [0.25, 0.5, 0.75]]


def make_ordinary_data(seed: int) -> tuple[Any, Any]:
    """Return judgments and a run of any ordinary shape: what is relevant comes rather early, ids are shared."""
    rng = random.Random(seed)
    depth = rng.choice([1, 2, 3, 5, 10, 40])
    n_queries = rng.choice([1, 2, 5, 20, 60])
    shape = rng.choice(SHAPES)
    grades = rng.choice(GRADES)
    qrels: dict[str, Any] = {}
    run: dict[str, Any] = {}
    for number in range(n_queries):
        documents = [f"d{number}-{index}" for index in range(max(depth, 4))]
        judgments = {document: rng.choice(grades) for document in rng.sample(documents, 3)}
        scores = {document: rng.gauss(2 * judgments.get(document, 0), 1) for document in rng.sample(documents, depth)}
        qrels[f"q{number}"] = judgments
        run[f"q{number}"] = shape_ranking(scores, shape)
    if shape == "columns":
        rows = [(query, document, score) for query, ranking in run.items() for document, score in ranking.items()]
        queries, retrieved, score_column = zip(*rows, strict=True)
        return qrels, rm.Run.from_frame({"query": queries, "document": retrieved, "score": score_column})
    return qrels, run


def shape_ranking(scores: dict[str, float], shape: str) -> Any:
    if shape == "any order":
        return scores
    ranked = sorted(scores, key=lambda document: -scores[document])
    shaped: dict[str, Any] = {
        "upwards": {document: scores[document] for document in reversed(ranked)},
        "tied": dict.fromkeys(ranked, 1.0),
        "whole": {document: float(round(scores[document])) for document in ranked},
        "ranks": {document: float(len(ranked) - index) for index, document in enumerate(ranked)},
        "list": ranked,
        "items": [rm.Retrieved(document) for document in ranked],
    }
    return shaped.get(shape, {document: scores[document] for document in ranked})


def share_documents(qrels: Any, run: Any) -> bool:
    """Return whether a judged document of a query was retrieved for it."""
    for query, judgments in qrels.items():
        for document in run[query]:
            if getattr(document, "id", document) in judgments:
                return True
    return False


def test_ordinary_runs_of_all_shapes_raise_no_alarm() -> None:
    alarms = {}
    for seed in range(500):
        qrels, run = make_ordinary_data(seed)
        alarming = set(find_kinds(qrels, run, "ndcg@10")) & set(SYSTEM_WIDE)
        if not share_documents(qrels, run):
            alarming.discard("no_common_ids")
        if alarming:
            alarms[seed] = alarming
    assert not alarms


@pytest.mark.parametrize("run_name", ["bm25", "minilm_int8", "tfidf_nosat"])
@pytest.mark.parametrize("qrels_name", ["graded", "binary"])
def test_cranfield_raises_no_alarm(shared_data: Path, qrels_name: str, run_name: str) -> None:
    qrels = rm.read_qrels(shared_data / f"cranfield/qrels.{qrels_name}.trec")
    run = rm.read_run(shared_data / f"cranfield/run.{run_name}.trec")
    run_of_dicts: Any = {query: dict(ranking) for query, ranking in run.items()}
    for form in (run, run_of_dicts):
        assert not set(find_kinds(qrels, form)) & set(SYSTEM_WIDE)
