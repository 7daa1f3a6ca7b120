"""On how many queries retrievers failed, and what is left of a difference without them."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.failed_queries import DifferenceWithoutFailures, FailedQueries, group_by_failures

QRELS = {f"q{number}": ["d"] for number in range(24)}


def make_run(failed: list[int], ranking: list[str]) -> rm.RetrievedRun:
    errors: Any = {f"q{number}": TimeoutError("slow") for number in failed}
    return rm.RetrievedRun({query: [] if query in errors else ranking for query in QRELS}, errors)


def compare_runs(runs: dict[str, rm.RetrievedRun], **options: Any) -> rm.Comparison:
    with pytest.warns(rm.RetrievalWarning, match="failed on"):
        return rm.compare(QRELS, runs, "mrr@2", **options)


def test_a_difference_is_also_measured_where_neither_failed() -> None:
    comparison = compare_runs({"flaky": make_run([0, 1, 2, 3, 4, 5, 6, 7], ["d"]), "slow": make_run([8], ["x", "d"])})
    conclusion = comparison.conclusions.get("mrr@2")
    assert (conclusion.kind, conclusion.without_failures) == ("not_significant", None)
    assert len(comparison.conclusions.caveats) == 2

    comparison = compare_runs({"flaky": make_run(list(range(21)), ["d"]), "good": make_run([], ["x", "d"])})
    conclusion = comparison.conclusions.get("mrr@2")
    assert conclusion.kind == "better"
    assert conclusion.n == 24
    assert conclusion.difference == pytest.approx(0.375)
    assert conclusion.without_failures == DifferenceWithoutFailures(n=3, mean=-0.5)
    assert comparison.summary[0] == comparison.conclusions.caveats[0] == conclusion.as_dict()["caveats"][0]
    assert conclusion.as_dict()["caveats"][1] == comparison.conclusions.failure_notes[0] == comparison.summary[2]


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_which_queries_failed_is_known_without_the_rankings_and_of_merged_parts(tmp_path: Path) -> None:
    runs = {"flaky": make_run(list(range(21)), ["d"]), "good": make_run([], ["x", "d"])}
    comparison = compare_runs(runs)
    expected = comparison.conclusions.get("mrr@2").without_failures
    comparison.save(tmp_path / "comparison.json", rankings=False)
    assert "slow" not in (tmp_path / "comparison.json").read_text(encoding="utf-8")
    loaded = rm.load(tmp_path / "comparison.json")
    assert loaded.conclusions.get("mrr@2").without_failures == expected
    assert loaded.summary == comparison.summary
    merged = {}
    for name, run in runs.items():
        parts = []
        for queries in (list(QRELS)[::2], list(QRELS)[1::2]):
            errors: Any = {query: error for query, error in run.errors.items() if query in queries}
            part = rm.RetrievedRun({query: run[query] for query in queries}, errors)
            parts.append(rm.evaluate({query: QRELS[query] for query in queries}, part, "mrr@2"))
        merged[name] = rm.merge(parts)
    assert rm.compare(merged).conclusions.get("mrr@2").without_failures == expected
    some = rm.compare(dict(loaded.evaluations.items())).conclusions.get("mrr@2")
    assert some.without_failures == expected


def test_systems_that_failed_alike_are_grouped() -> None:
    runs = {"a": make_run([0, 1], ["d"]), "b": make_run([2, 3], ["x", "d"]), "c": make_run([4], ["d"])}
    comparison = compare_runs({**runs, "d": make_run([], ["d"])})
    assert group_by_failures(comparison.scores) == {
        FailedQueries(2, 24, treatment="zero"): ["a", "b"],
        FailedQueries(1, 24, treatment="zero"): ["c"],
    }
    assert group_by_failures({"d": comparison.scores["d"]}) == {}


def test_failures_of_other_queries_do_not_count() -> None:
    runs = {"a": make_run(list(range(21)), ["d"]), "b": make_run([], ["x", "d"])}
    with pytest.warns(rm.RetrievalWarning, match="failed on"):
        evaluations = {name: rm.evaluate(QRELS, run, "mrr@2") for name, run in runs.items()}
    later = {}
    for name, evaluation in evaluations.items():
        later[name] = evaluation.group_by(lambda query: int(query[1:]) >= 18)[True]
    failures = group_by_failures(rm.compare(later).scores)
    assert failures == {FailedQueries(3, 6, treatment="zero"): ["a"]}


def test_losses_of_stages_have_their_own_values_for_a_failed_query() -> None:
    run = rm.RetrievedRun({"q0": [], "q1": ["d"]}, {"q0": TimeoutError("slow")}, stages={"bm25": {"q1": ["d"]}})
    with pytest.warns(rm.RetrievalWarning, match="failed on"):
        evaluation = rm.evaluate({"q0": ["d"], "q1": ["d"]}, run, "recall@2")
    losses = evaluation.stages.losses("recall@2")
    assert group_by_failures({"losses": losses.scores}) == {FailedQueries(1, 2, treatment=None): ["losses"]}
