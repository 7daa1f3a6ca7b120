"""What became of each relevant document, with the numbers that explain it."""

from typing import Any

import pytest

import retrieval_metrics as rm
from data_warning_kinds import evaluate_silently
from explained_facts import find_facts
from retrieval_metrics.evaluation.outcome_facts import OutcomeFacts
from retrieval_metrics.types import Judgments, Ranking


def explain(judgments: Judgments, ranking: Ranking, metric: str = "ndcg@2") -> dict[Any, OutcomeFacts]:
    qrels: dict[str, Judgments] = {"q": judgments, "other": ["o"]}
    run: dict[str, Ranking] = {"q": ranking, "other": ["o"]}
    return find_facts(evaluate_silently(qrels, run, metric), metric)


def test_what_is_found_has_its_rank_and_grade() -> None:
    (finding,) = rm.evaluate({"q": {"d": 2}}, {"q": ["x", "d"]}, "ndcg@2").explain("q").findings
    assert (finding.kind, finding.rank, finding.grade, finding.is_failure) == ("found", 2, 2, False)


def test_what_is_not_retrieved_has_no_rank() -> None:
    (_, finding) = rm.evaluate({"q": {"a": 2, "d": 1}}, {"q": ["a"]}, "ndcg@2").explain("q").findings
    assert (finding.kind, finding.rank, finding.is_failure) == ("not_retrieved", None, True)


def test_beyond_the_cut_off() -> None:
    assert explain(["d"], ["x", "y", "d"])["d"] == OutcomeFacts(kind="below_cutoff", k=2)


def test_never_retrieved_says_how_much_was() -> None:
    assert explain(["d"], ["x", "y", "z"])["d"] == OutcomeFacts(kind="not_retrieved", n_retrieved=3)


def test_a_tie_is_lost_only_if_another_order_of_equals_would_have_won_it() -> None:
    lost = explain(["b"], {"x": 3, "e": 1, "d": 1, "c": 1, "b": 1})["b"]
    assert lost == OutcomeFacts(kind="lost_tie", n_tied=4, first_tied_rank=2)
    assert explain(["b"], {"x": 3, "y": 2, "c": 1, "b": 1})["b"].kind == "below_cutoff"


def test_behind_repeats_only_if_without_them_it_would_be_found() -> None:
    behind = explain(["d"], ["x", "x", "x", "d"])["d"]
    assert behind == OutcomeFacts(kind="behind_duplicates", n_duplicates_above=2)
    assert explain(["d"], ["x", "x", "y", "z", "d"])["d"].kind == "below_cutoff"


def behind_chunks(document: str, n_chunks: int, n_others: int = 0) -> OutcomeFacts:
    return OutcomeFacts(
        kind="behind_same_document",
        sibling_document=document,
        n_sibling_chunks=n_chunks,
        n_other_sibling_chunks=n_others,
    )


def test_behind_chunks_only_if_one_of_each_document_would_let_it_in() -> None:
    assert explain(["d1"], ["d3#1", "d3#2", "d3#9", "d1"])["d1"] == behind_chunks("d3", 2)
    assert explain(["d1"], ["d3#1", "d3#2", "d4#1", "d5", "d1"])["d1"].kind == "below_cutoff"
    behind_two = explain(["d1"], ["d3#1", "d4#1", "d3#2", "d4#2", "d3#3", "d1"], "ndcg@3")["d1"]
    assert behind_two == behind_chunks("d3", 2, n_others=1)
    assert explain(["d3#4"], ["d3#1", "d3#2", "d3#9", "d3#4"])["d3#4"] == behind_chunks("d3", 2)


def test_chunks_of_one_source_stand_in_the_way() -> None:
    sources = {"a": "s1", "b": "s1", "c": "s1", "d": "s2"}
    chunks = [rm.Retrieved(name, source=source) for name, source in sources.items()]
    evaluation = rm.evaluate({"q": ["d"]}, {"q": chunks}, "recall@2")
    assert find_facts(evaluation)["d"] == behind_chunks("s1", 2)


@pytest.mark.parametrize(("relevant", "retrieved"), [("d7", "d7#3"), ("d7", "d7_chunk_3"), ("d7::p2", "d7")])
def test_another_granularity(relevant: str, retrieved: str) -> None:
    facts = explain([relevant], ["x", retrieved])[relevant]
    assert facts == OutcomeFacts(kind="id_granularity", related_id=retrieved, related_id_rank=2)


def test_an_id_that_occurs_elsewhere_in_the_run_is_at_the_right_granularity() -> None:
    for other in (["d7"], {"d7": 1.0}):
        run: dict[str, Ranking] = {"q": ["d7#3"], "other": other}
        evaluation = rm.evaluate({"q": ["d7"], "other": ["d7"]}, run, "mrr")
        assert find_facts(evaluation)["d7"].kind == "not_retrieved"


def test_nothing_retrieved_and_a_retriever_that_failed() -> None:
    error = TimeoutError("too slow")
    run = rm.RetrievedRun({"empty": [], "failed": [], "fine": ["d"]}, {"failed": error})
    with pytest.warns(rm.RetrievalWarning):
        evaluation = rm.evaluate({"empty": ["d"], "failed": ["d"], "fine": ["d"]}, run, "mrr")
    assert find_facts(evaluation, query="empty") == {"d": OutcomeFacts(kind="empty_ranking")}
    assert find_facts(evaluation, query="failed") == {"d": OutcomeFacts(kind="retriever_error", error=error)}
    assert evaluation.worst("mrr").failures == {"empty_ranking": 1, "retriever_error": 1}


def test_what_could_not_fit_is_no_failure_unless_it_is_worth_more() -> None:
    assert explain(["a", "b", "c"], ["a", "b", "c"])["c"] == OutcomeFacts(kind="cutoff_full", k=2)
    assert explain({"a": 1, "b": 1, "c": 2}, ["a", "b", "c"])["c"].kind == "below_cutoff"


def test_the_threshold_of_the_metric_says_what_is_relevant() -> None:
    assert set(explain({"a": 1, "b": 2}, ["x"], "recall(rel=2)@2")) == {"b"}


def test_r_precision_cuts_at_the_number_of_relevant_documents() -> None:
    facts = explain(["a", "b"], ["a", "x", "b"], "r_precision")
    assert (facts["a"].kind, facts["b"].kind) == ("found", "below_cutoff")


def test_items_matched_by_source_repeat_it() -> None:
    chunks = [rm.Retrieved(f"c{number}", source=source) for number, source in enumerate(["s1", "s1", "s1", "s2"])]
    evaluation = rm.evaluate({"q": ["s2"]}, {"q": chunks}, "recall@2", match="source")
    assert find_facts(evaluation)["s2"] == OutcomeFacts(kind="behind_duplicates", n_duplicates_above=2)
    once = rm.evaluate({"q": ["s2"]}, {"q": chunks}, "recall@2", match=rm.Matching(by="source", deduplicate=True))
    assert find_facts(once)["s2"].kind == "found"


def test_an_outcome_is_told_in_words_with_its_numbers() -> None:
    (_, finding) = rm.evaluate({"q": {"a": 2, "d": 1}}, {"q": ["a", "x", "y"]}, "map").explain("q").findings
    assert finding.detail == "not among the 3 retrieved"
