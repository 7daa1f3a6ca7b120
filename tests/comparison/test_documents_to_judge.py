"""How much is judged, and what to judge next."""

import numpy as np
import pytest

import retrieval_metrics as rm
from partly_judged_systems import Run, pooled, quietly
from retrieval_metrics.reports.numbers import format_value

METRICS = ["ndcg@4", "mrr@4", "recall@4", "map"]


def test_a_system_that_is_judged_less_is_named_first_and_warned_of() -> None:
    truth, runs = pooled(0)
    with pytest.warns(rm.RetrievalWarning, match=r"Judgment coverage differs \(judged@4: A 100%, B \d+%\)"):
        comparison = rm.compare(truth, runs, "ndcg@4")
    assert comparison.summary[0].startswith("Judgment coverage differs (judged@4: A 100%")
    share = rm.evaluate(truth, runs["B"], "judged@4").means["judged@4"]
    assert f"judged@4: A 100%, B {100 * share:.0f}%" in str(comparison)
    assert comparison.difference("ndcg@4").significant


def test_judgments_of_relevant_documents_alone_warn_of_nothing() -> None:
    qrels = {f"q{number}": ["d"] for number in range(20)}
    runs = {"good": {query: ["d", "x"] for query in qrels}, "bad": {query: ["x", "y"] for query in qrels}}
    with pytest.warns(rm.RetrievalWarning, match="bad: no retrieved document is judged") as caught:
        comparison = rm.compare(qrels, runs, "mrr")
    assert len(caught) == 1
    assert "coverage differs" not in str(comparison)


def test_judged_is_shown_and_never_ranked() -> None:
    truth, runs = pooled(1)
    comparison = quietly(truth, runs, ["ndcg@4", "judged@4"])
    assert comparison.means["judged@4"]["A"] == 1
    assert {difference.metric for difference in comparison.differences} == {"ndcg@4"}
    assert not any("in judged@4" in message for message in comparison.summary)
    with pytest.raises(ValueError, match="judged measures the judgments"):
        quietly(truth, runs, "judged@4")


def test_what_to_judge_is_what_would_move_the_difference_most() -> None:
    truth, runs = pooled(5)
    comparison = quietly(truth, runs, "ndcg@4")
    chosen = comparison.to_judge(5)
    assert len(chosen) == 5
    first = chosen[0]
    ranks = ", ".join(f"{system} {rank}" for system, rank in first.ranks.items())
    effect = format_value(first.effect)
    assert chosen.tables[0].rows[0] == [first.query, first.document, effect, ranks]
    assert str(first) == f"{first.query}: {first.document} (effect {effect}; {ranks})"
    base = comparison.difference("ndcg@4").mean
    assert "B" in first.ranks
    query = str(first.query)
    graded = {**truth, query: {**truth[query], str(first.document): 1}}
    moved = quietly(graded, runs, "ndcg@4").difference("ndcg@4").mean
    assert abs(moved - base) == pytest.approx(first.effect)
    assert [suggestion.effect for suggestion in chosen] == sorted(
        (suggestion.effect for suggestion in chosen), reverse=True
    )
    for query, document in (("q0", "d0"), ("q1", "d1")):
        if document in {*runs["A"][query], *runs["B"][query]} and document not in truth[query]:
            other: dict[str, dict[str, int]] = {**truth, query: {**truth[query], document: 1}}
            assert abs(quietly(other, runs, "ndcg@4").difference("ndcg@4").mean - base) <= first.effect + 1e-12


def effects(runs: dict[str, Run], metrics: str | list[str], grade: int = 1) -> dict[object, float]:
    qrels = {"p": {"a": 1, "z": 0}, "q": {"a": grade, "z": 0}}
    return {suggestion.document: suggestion.effect for suggestion in quietly(qrels, runs, metrics).to_judge()}


def test_an_effect_is_how_much_the_mean_difference_of_two_systems_moves() -> None:
    old = {"p": ["a", "z"], "q": ["u", "z"]}
    new = {"p": ["a", "v"], "q": ["u", "a"]}
    # "v" would raise new by 1/2 in one of two queries; "u" would raise both systems, which moves no difference.
    assert effects({"old": old, "new": new}, "precision@2") == {"v": 1 / 2 / 2, "u": 0}
    third = {"p": ["a", "v"], "q": ["z", "a"]}  # without "u"
    assert effects({"old": old, "new": new, "third": third}, "precision@2") == {"v": 1 / 4, "u": 1 / 4}
    # The metric that moves most counts: here the reciprocal rank, by 1/2, then precision@5, by 1/5.
    for metrics in (["mrr@2", "precision@5"], ["precision@5", "mrr@2"]):
        first, last = ({"p": ranking, "q": ["a"]} for ranking in (["w", "a"], ["a", "z", "w"]))
        assert effects({"old": {"p": ["a"], "q": ["a"]}, "new": first}, metrics)["w"] == pytest.approx(1 / 2 / 2)
        assert effects({"old": {"p": ["a"], "q": ["a"]}, "new": last}, metrics)["w"] == pytest.approx(1 / 5 / 2)


@pytest.mark.parametrize(("n_relevant", "n_irrelevant"), [(4, 4), (4, 0), (1, 7), (0, 3)])
@pytest.mark.parametrize("metric", ["precision@2", "recall@2", "false_answer"])
def test_an_effect_is_that_on_the_mean_over_the_queries_with_a_value(
    n_relevant: int, n_irrelevant: int, metric: str
) -> None:
    # The metric is undefined either for the queries with a relevant document, or for those without.
    qrels = {f"r{number}": {"a": 1, "z": 0} for number in range(n_relevant)}
    qrels |= {f"i{number}": {"a": 0, "z": 0} for number in range(n_irrelevant)}
    runs: dict[str, Run] = {
        "old": {query: ["z", "a"] for query in qrels},
        "new": {query: ["z", "v"] for query in qrels},
    }
    for query in list(qrels)[-2:]:
        runs["old"][query] = []
    comparison = quietly(qrels, runs, metric)
    mean = comparison.difference(metric).mean
    for suggestion in comparison.to_judge():
        query = str(suggestion.query)
        completed = {**qrels, query: {**qrels[query], str(suggestion.document): 1}}
        change = quietly(completed, runs, metric).difference(metric).mean - np.nan_to_num(mean)
        assert suggestion.effect >= abs(np.nan_to_num(change)) - 1e-12
        if metric != "false_answer":  # for which forbidding the document is tried too
            assert suggestion.effect == pytest.approx(abs(change))


def test_how_much_is_judged_is_not_said_of_judgments_of_text() -> None:
    halves = [rm.Retrieved(number, "x" * 50, "page", number) for number in (0, 50)]
    truth = {f"q{number}": [rm.Span("page", 0, 80)] for number in range(12)}
    comparison = rm.compare(
        truth, {"one": dict.fromkeys(truth, halves[:1]), "two": dict.fromkeys(truth, halves)}, "recall"
    )
    assert comparison.judged_coverage is None
    assert "judged of" not in str(comparison)


def test_a_document_to_judge_is_given_the_highest_grade() -> None:
    runs: dict[str, Run] = {"old": {"p": ["a"], "q": ["a"]}, "new": {"p": ["a", "u"], "q": ["a"]}}
    ideal = 3 + 1 / np.log2(3)  # "u" has grade 3 then, and stands below "a", which has 1
    assert effects(runs, "ndcg@2", grade=3)["u"] == pytest.approx((3 / np.log2(3)) / ideal / 2)
