"""Documents to leave out take no rank, whatever form the run has, and are counted."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from conformance import call_with_warnings
from retrieval_metrics.inputs.exclusion import Exclusion, as_exclusion

QUERIES = [f"a{number}" for number in range(6)]
QRELS: Any = {query: {f"b{query}": 1} for query in QUERIES}
SCORED: Any = {query: {query: 0.9, f"b{query}": 0.8, f"c{query}": 0.7} for query in QUERIES}
WITHOUT: Any = {query: {f"b{query}": 0.8, f"c{query}": 0.7} for query in QUERIES}
EXCLUDES: Any = ["query_id", {query: [query] for query in QUERIES}]
METRICS = ["mrr", "ndcg@10", "precision@1"]


def as_items(run: Any) -> Any:
    return {query: [rm.Retrieved(document) for document in ranking] for query, ranking in run.items()}


def as_file(run: Any, tmp_path: Path, memory: int | None = None) -> Any:
    rm.write_run(run, tmp_path / "run.trec")
    return rm.read_run(tmp_path / "run.trec", memory=memory)


FORMS: Any = {
    "scores": lambda run, _: run,
    "lists": lambda run, _: {query: list(ranking) for query, ranking in run.items()},
    "items": lambda run, _: as_items(run),
    "retrieved": lambda run, _: rm.RetrievedRun(as_items(run)),
    "columns": as_file,
    "stream": lambda run, tmp_path: as_file(run, tmp_path, memory=1),
}


@pytest.mark.parametrize("exclude", EXCLUDES, ids=["query_id", "mapping"])
@pytest.mark.parametrize("form", FORMS)
def test_excluded_documents_take_no_rank_and_are_counted(form: str, exclude: Any, tmp_path: Path) -> None:
    run = FORMS[form](SCORED, tmp_path)
    evaluation = rm.evaluate(QRELS, run, METRICS, exclude=exclude)
    assert evaluation.means == rm.evaluate(QRELS, WITHOUT, METRICS).means == dict.fromkeys(METRICS, 1.0)
    assert evaluation.counts["excluded"] == len(QUERIES)
    assert next(iter(run["a0"])) in ("a0", rm.Retrieved("a0"))
    evaluation.save(tmp_path / "evaluation.json")
    loaded = rm.load(tmp_path / "evaluation.json")
    assert (loaded.counts, loaded.means) == (evaluation.counts, evaluation.means)
    part = loaded.group_by({query: query for query in QUERIES[:2]})
    assert [part[query].counts["excluded"] for query in QUERIES[:2]] == [1, 1]


def test_a_comparison_and_its_retrievers_take_it() -> None:
    comparison = rm.compare(QRELS, {"first": SCORED, "second": WITHOUT}, "mrr", exclude="query_id")
    assert comparison.means["mrr"] == {"first": 1.0, "second": 1.0}
    texts = dict.fromkeys(QUERIES, "why?")
    questions = rm.EvaluationSet({query: f"{query}?" for query in texts}, QRELS)
    retrievers = {
        "itself first": lambda text: [text[:-1], f"b{text[:-1]}"],
        "without": lambda text: [f"b{text[:-1]}"],
    }
    asked = rm.compare_retrievers(retrievers, questions, "mrr", exclude="query_id")
    assert asked.means["mrr"] == {"itself first": 1.0, "without": 1.0}
    evaluations = {name: rm.evaluate(QRELS, SCORED, "mrr", exclude="query_id") for name in ("first", "second")}
    with pytest.raises(ValueError, match="exclude cannot be changed for evaluations"):
        rm.compare(evaluations, exclude="query_id")


@pytest.mark.parametrize("exclude", EXCLUDES, ids=["query_id", "mapping"])
@pytest.mark.parametrize("form", ["scores", "items", "columns"])
def test_an_audit_leaves_them_out(form: str, exclude: Any, tmp_path: Path) -> None:
    audit = rm.audit(QRELS, FORMS[form](SCORED, tmp_path), "mrr", exclude=exclude)
    assert {means["mrr"] for means in audit.means.values() if means} == {1.0}
    assert audit.n_excluded == len(QUERIES)
    assert "6 documents excluded from the rankings" in str(audit)


def test_a_threshold_leaves_them_out(tmp_path: Path) -> None:
    unanswerable = [f"n{number}" for number in range(40)]
    qrels: Any = QRELS | {query: [] for query in unanswerable}
    run: Any = SCORED | {query: {query: 1.0, "x": 0.1} for query in unanswerable}
    assert rm.threshold(qrels, run).score == 1.0
    threshold = rm.threshold(qrels, run, exclude="query_id")
    assert (threshold.score, threshold.mean_after, threshold.n_excluded) == (0.1, 1.0, 46)
    assert "46 documents excluded from the rankings" in str(threshold)
    threshold.save(tmp_path / "threshold.json")
    assert rm.load(tmp_path / "threshold.json").n_excluded == 46


def test_a_lint_leaves_them_out() -> None:
    questions = rm.EvaluationSet({query: f"What is {query} made of?" for query in QUERIES}, QRELS)
    assert "easy" not in questions.lint(runs=SCORED).counts
    lint = questions.lint(runs={"one": SCORED, "two": as_items(SCORED)}, exclude="query_id")
    assert (lint.counts["easy"], lint.n_excluded) == (6, 12)
    assert "12 documents excluded from the rankings" in str(lint)


def test_relevant_documents_that_are_left_out_are_said() -> None:
    qrels: Any = {"a": ["a", "b"], "c": {"c": 0, "d": 1}}
    run: Any = {"a": ["a", "b"], "c": ["c", "d"]}
    _, warning_text = call_with_warnings(lambda: rm.evaluate(qrels, run, "mrr", exclude="query_id"))
    assert "1 relevant document is excluded by exclude= ('a' of query 'a')" in warning_text
    _, warning_text = call_with_warnings(lambda: rm.evaluate(qrels, run, "mrr", exclude={"c": ["c"]}))
    assert warning_text == ""


def test_tuning_leaves_them_out() -> None:
    tuning = rm.tune({"a": SCORED, "b": WITHOUT}, QRELS, "mrr", default="a", exclude="query_id")
    assert [setting.means["mrr"] for setting in tuning.settings] == [1.0, 1.0]


def test_one_ranking_leaves_out_the_ids_that_are_passed() -> None:
    for ranking in (["a0", "b0"], {"a0": 0.9, "b0": 0.8}, [rm.Retrieved("a0"), rm.Retrieved("b0")]):
        assert rm.evaluate_ranking(["b0"], ranking, "mrr", exclude=["a0"]) == {"mrr": 1.0}
        assert rm.evaluate_ranking(["b0"], ranking, "mrr") == {"mrr": 0.5}
    with pytest.raises(ValueError, match=r"one ranking has no query ID; pass .* exclude=\[query_id\]"):
        rm.evaluate_ranking(["b0"], ["a0", "b0"], "mrr", exclude="query_id")
    with pytest.raises(TypeError, match="the IDs to leave out are int"):
        rm.evaluate_ranking(["b0"], ["a0", "b0"], "mrr", exclude=[1])


def test_calls_and_stages_of_a_run_lose_the_same_documents() -> None:
    rankings = {"q1": ["q1", "x", "d1"], "q2": ["d2"]}
    first_stage = {"q1": ["x", "q1", "d1"], "q2": ["d2"]}
    run = rm.RetrievedRun(
        rankings, {"q3": ValueError("down")}, {"q1": 0.5}, stages={"bm25": first_stage, "reranked": rankings}
    )
    qrels: Any = {"q1": ["d1"], "q2": ["d2"], "q3": ["d3"]}
    excluded = Exclusion("query_id").remove(run, rm.Qrels(qrels), lambda item: item.id)
    assert isinstance(excluded.run, rm.RetrievedRun)
    assert dict(excluded.run) == {"q1": ["x", "d1"], "q2": ["d2"]}
    assert excluded.run.stages == {"bm25": {"q1": ["x", "d1"], "q2": ["d2"]}, "reranked": excluded.run}
    assert excluded.run.stages["reranked"] is excluded.run
    assert (list(excluded.run.errors), excluded.run.seconds) == (["q3"], {"q1": 0.5})
    assert excluded.n_excluded is not None
    assert excluded.n_excluded.tolist() == [1, 0, 0]
    by_call = rm.RetrievedRun({"q1": as_items(rankings)["q1"]}, calls={"q1": [1, 1, 2]})
    excluded = Exclusion({"q1": {"x"}}).remove(by_call, rm.Qrels(qrels), lambda item: item.id)
    assert isinstance(excluded.run, rm.RetrievedRun)
    assert excluded.run.calls == {"q1": [1, 2]}


def test_items_are_left_out_by_what_is_matched() -> None:
    items = {"q": [rm.Retrieved("1", source="q"), rm.Retrieved("2", source="a.md")]}
    evaluation = rm.evaluate({"q": ["a.md"]}, items, "mrr", match="source", exclude="query_id")
    assert evaluation.means["mrr"] == 1.0


@pytest.mark.parametrize(
    ("exclude", "error", "message"),
    [
        ("queryid", ValueError, "exclude must be 'query_id' or a mapping"),
        (["a0"], TypeError, "exclude must be 'query_id' or a mapping .* got list"),
        ({}, ValueError, "exclude is empty"),
        ({"a0": "a0"}, TypeError, "exclude must map query 'a0' to a list or set of IDs, got 'a0'"),
        ({"a0": [1]}, TypeError, "the IDs to leave out are int and document IDs in the qrels are str"),
        ({"a0": ["a0 "]}, ValueError, "the ID 'a0 ' to leave out for query 'a0' begins or ends with whitespace"),
        ({"a0": ["['a0']"]}, ValueError, "the ID .* is a list that was written as text"),
        ({"a0": [1.5]}, TypeError, "the IDs to leave out for query 'a0' must be str or int, got float"),
        (
            {"z": ["a0"]},
            ValueError,
            "exclude has none of the judged queries: it has, for example, 'z', and the qrels have 'a0'",
        ),
    ],
)
def test_what_cannot_be_left_out_is_refused(exclude: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.evaluate(QRELS, SCORED, "mrr", exclude=exclude)


def test_an_own_id_of_another_type_can_be_no_document() -> None:
    with pytest.raises(TypeError, match="query IDs in the qrels are int and document IDs are str"):
        rm.evaluate({1: ["d"]}, {1: ["d"]}, "mrr", exclude="query_id")
    assert as_exclusion(None) is None
