"""What became of each relevant document, with the numbers that explain it."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.types import Finding, Judgments, Ranking


def explained(truth: Judgments, ranking: Ranking, metric: str = "ndcg@2") -> dict[Any, Finding]:
    qrels: dict[str, Judgments] = {"q": truth, "other": ["o"]}
    run: dict[str, Ranking] = {"q": ranking, "other": ["o"]}
    evaluation = rm.evaluate(qrels, run, metric)
    return {finding.document: finding for finding in evaluation.explain("q", metric).findings}


def test_found_has_its_rank() -> None:
    finding = explained({"d": 2}, ["x", "d"])["d"]
    assert (finding.kind, finding.rank, finding.grade, finding.is_failure) == ("found", 2, 2, False)


def test_beyond_the_cut_off() -> None:
    finding = explained(["d"], ["x", "y", "d"])["d"]
    assert (finding.kind, finding.rank, finding.detail) == ("below_cutoff", 3, "beyond the cut-off 2")


def test_never_retrieved_says_how_much_was() -> None:
    finding = explained(["d"], ["x", "y", "z"])["d"]
    assert (finding.kind, finding.rank) == ("not_retrieved", None)
    assert finding.detail == "never retrieved; the ranking has 3 documents"


def test_a_tie_is_lost_only_if_another_order_of_equals_would_have_won_it() -> None:
    lost = explained(["b"], {"x": 3, "e": 1, "d": 1, "c": 1, "b": 1})["b"]
    assert (lost.kind, lost.rank) == ("lost_tie", 5)
    assert lost.detail == "lost a tie: 4 documents have its score, from rank 2 on"
    too_low = explained(["b"], {"x": 3, "y": 2, "c": 1, "b": 1})["b"]
    assert too_low.kind == "below_cutoff"


def test_behind_repeats_only_if_without_them_it_would_be_found() -> None:
    assert explained(["d"], ["x", "x", "x", "d"])["d"].detail == "behind 2 repeated documents"
    assert explained(["d"], ["x", "x", "y", "z", "d"])["d"].kind == "below_cutoff"


def test_behind_chunks_only_if_one_of_each_document_would_let_it_in() -> None:
    behind = explained(["d1"], ["d3#1", "d3#2", "d3#9", "d1"])["d1"]
    assert (behind.kind, behind.detail) == ("behind_same_document", "behind 2 further chunks of d3")
    assert explained(["d1"], ["d3#1", "d3#2", "d4#1", "d5", "d1"])["d1"].kind == "below_cutoff"
    two = explained(["d1"], ["d3#1", "d4#1", "d3#2", "d4#2", "d3#3", "d1"], "ndcg@3")["d1"]
    assert two.detail == "behind 2 further chunks of d3 and 1 of other documents"
    itself = explained(["d3#4"], ["d3#1", "d3#2", "d3#9", "d3#4"])["d3#4"]
    assert itself.detail == "behind 2 further chunks of d3"


@pytest.mark.parametrize(("relevant", "retrieved"), [("d7", "d7#3"), ("d7", "d7_chunk_3"), ("d7::p2", "d7")])
def test_another_granularity(relevant: str, retrieved: str) -> None:
    finding = explained([relevant], ["x", retrieved])[relevant]
    assert finding.kind == "id_granularity"
    assert finding.detail == f"its id occurs nowhere in the run, but {retrieved!r} does, at rank 2"


def test_an_id_that_occurs_elsewhere_in_the_run_is_at_the_right_granularity() -> None:
    for other in (["d7"], {"d7": 1.0}):
        run: dict[str, Ranking] = {"q": ["d7#3"], "other": other}
        finding = rm.evaluate({"q": ["d7"], "other": ["d7"]}, run, "mrr").explain("q").findings[0]
        assert finding.kind == "not_retrieved"


def test_nothing_retrieved_and_a_retriever_that_failed() -> None:
    with pytest.warns(rm.RetrievalWarning):
        evaluation = rm.evaluate(
            {"empty": ["d"], "failed": ["d"], "fine": ["d"]},
            rm.RetrievedRun({"empty": [], "failed": [], "fine": ["d"]}, {"failed": TimeoutError("too slow")}),
            "mrr",
        )
    assert evaluation.explain("empty").findings[0].kind == "empty_ranking"
    assert evaluation.explain("failed").findings[0].detail == "the retriever failed: TimeoutError: too slow"
    assert evaluation.worst("mrr").failures == {"empty_ranking": 1, "retriever_error": 1}


def test_what_could_not_fit_is_no_failure_unless_it_is_worth_more() -> None:
    assert explained(["a", "b", "c"], ["a", "b", "c"])["c"].kind == "cutoff_full"
    assert explained({"a": 1, "b": 1, "c": 2}, ["a", "b", "c"])["c"].kind == "below_cutoff"


def test_the_threshold_of_the_metric_says_what_is_relevant() -> None:
    assert set(explained({"a": 1, "b": 2}, ["x"], "recall(rel=2)@2")) == {"b"}


def test_r_precision_cuts_at_the_number_of_relevant_documents() -> None:
    findings = explained(["a", "b"], ["a", "x", "b"], "r_precision")
    assert (findings["a"].kind, findings["b"].kind) == ("found", "below_cutoff")


def test_behind_repeats_of_a_budget_only_if_it_would_fit_without_them() -> None:
    chunks = [rm.Retrieved(name, name * size) for name, size in (("a", 100), ("a", 100), ("x", 10), ("d", 60))]
    for size, detail in (
        (180, "behind 1 repeated document"),  # 100 + 10 + 60 characters without the repeat
        (160, "does not fit into the first 160 characters: it ends at 270"),
    ):
        finding = rm.evaluate({"q": ["d"]}, {"q": chunks}, f"recall@{size}chars").explain("q").findings[0]
        assert finding.detail == detail


def test_items_matched_by_source_repeat_it() -> None:
    chunks = [rm.Retrieved(f"c{number}", source=source) for number, source in enumerate(["s1", "s1", "s1", "s2"])]
    result = rm.evaluate({"q": ["s2"]}, {"q": chunks}, "recall@2", match="source")
    assert result.explain("q").findings[0].detail == "behind 2 repeated documents"
    once = rm.evaluate({"q": ["s2"]}, {"q": chunks}, "recall@2", match=rm.Matching(by="source", deduplicate=True))
    assert once.explain("q").findings[0].rank == 2


def test_chunks_of_one_source_stand_in_the_way() -> None:
    chunks = [
        rm.Retrieved(name, source=source) for name, source in (("a", "s1"), ("b", "s1"), ("c", "s1"), ("d", "s2"))
    ]
    finding = rm.evaluate({"q": ["d"]}, {"q": chunks}, "recall@2").explain("q").findings[0]
    assert finding.detail == "behind 2 further chunks of s1"


def test_a_call_has_room_for_all_that_it_finds() -> None:
    calls = [rm.SearchCall("a", ["x"]), rm.SearchCall("b", ["y"], turn=2)]
    view = rm.Trajectories({"q": rm.Trajectory(calls)}).union()
    (_, late) = rm.evaluate({"q": ["x", "y"]}, view, "recall@1calls").explain("q").findings
    assert (late.kind, late.detail) == ("over_budget", "beyond the first 1 call: call 2 found it")
