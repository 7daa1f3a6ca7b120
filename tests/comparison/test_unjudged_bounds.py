"""What is not judged: how much of it, what it could change, and what to judge next."""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from partly_judged_systems import pooled, quietly
from retrieval_metrics.comparison import unjudged_bounds

METRICS = ["ndcg@4", "mrr@4", "recall@4", "map"]


@pytest.mark.parametrize("metric", ["coverage@50chars", "density@1"])
def test_systems_are_compared_in_how_much_of_the_text_they_find(metric: str) -> None:
    halves = [rm.Retrieved(number, "x" * 50, "page", number) for number in (0, 50)]
    truth = {f"q{number}": [rm.Span("page", 0, 80)] for number in range(12)}
    runs = {"first half": dict.fromkeys(truth, halves[:1]), "second half": dict.fromkeys(truth, halves[1:])}
    difference = rm.compare(truth, runs, metric).difference(metric)
    assert difference.mean == pytest.approx(-20 / 80 if "coverage" in metric else -20 / 50)
    assert difference.significant


def test_systems_are_compared_in_a_metric_that_needs_nothing_relevant() -> None:
    rm.define_metric("silence", lambda grades: 0.0 if len(grades) else 1.0, needs_relevant=False)
    truth, runs = pooled(3)
    assert quietly(truth, runs, "silence").difference("silence").mean == 0


@pytest.mark.parametrize("grades", [1, 2])
def test_the_bounds_are_those_of_every_completion(grades: int) -> None:
    truth, runs = pooled(2, queries=8, grades=grades)
    comparison = quietly(truth, runs, METRICS, unjudged="bounds")
    bounds = comparison.unjudged
    assert bounds is not None
    assert bounds.exact
    highest_grade = max(max(judgments.values()) for judgments in truth.values())
    values_by_query = [complete_and_score(query, truth[query], runs, highest_grade) for query in truth]
    for number, metric in enumerate(METRICS):
        values_of_a = [values[:, 0, number] for values in values_by_query]
        values_of_b = [values[:, 1, number] for values in values_by_query]
        differences = [b - a for a, b in zip(values_of_a, values_of_b, strict=True)]
        assert bounds.means[metric]["A"] == pytest.approx(mean_ends(values_of_a))
        assert bounds.means[metric]["B"] == pytest.approx(mean_ends(values_of_b))
        assert bounds.differences[metric, "B", "A"] == pytest.approx(mean_ends(differences))


def complete_and_score(query: str, judged: dict[str, int], runs: dict[str, Any], highest_grade: int) -> np.ndarray:
    """Return the values under every choice of grades for what is not judged, shape (choices, systems, metrics)."""
    retrieved = {*runs["A"][query], *runs["B"][query]}
    unjudged = sorted(retrieved - judged.keys())
    values = []
    for grades in itertools.product(range(highest_grade + 1), repeat=len(unjudged)):
        qrels = {query: {**judged, **dict(zip(unjudged, grades, strict=True))}}
        values.append([list(quiet(qrels, {query: run[query]}).values()) for run in runs.values()])
    return np.array(values)


def mean_ends(values_by_query: list[np.ndarray]) -> tuple[float, float]:
    """Return the means over queries of the smallest and of the largest value of each."""
    lowest = np.mean([values.min() for values in values_by_query])
    highest = np.mean([values.max() for values in values_by_query])
    return float(lowest), float(highest)


def quiet(qrels: Any, run: Any) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        return dict(rm.evaluate(qrels, run, METRICS).means)


def test_equal_systems_judged_from_one_depend_on_the_unjudged_and_the_verdict_says_so() -> None:
    comparison = quietly(*pooled(3), ["ndcg@4"], unjudged="bounds")
    (conclusion,) = comparison.conclusions
    assert conclusion.kind == "depends_on_unjudged"
    assert conclusion.sentence.startswith(
        "B is worse than A in ndcg@4 as judged, but this depends on unjudged documents: "
    )
    assert "over the possible grades of the unjudged documents in the top 4" in conclusion.sentence
    assert standing_of(comparison) == "undetermined"
    assert "(exact bounds)" in str(comparison)


def test_the_printed_grades_are_those_that_count_for_the_metric() -> None:
    qrels = {f"q{number}": {"d": 1, "bad": -1} for number in range(4)}
    runs = {"a": dict.fromkeys(qrels, ("d",)), "b": dict.fromkeys(qrels, ("d", "u"))}
    comparison = quietly(qrels, runs, ["leak@2", "mrr@2"], unjudged="bounds")
    assert comparison.unjudged is not None
    assert comparison.unjudged.grades_of("leak@2") == (-1, 0, 1)
    assert comparison.unjudged.grades_of("mrr@2") == (0, 1)
    assert comparison.unjudged.means["leak@2"]["b"] == (0, 1)
    assert "leak@2 over all possible grades (-1, 0, 1)" in str(comparison)
    assert "mrr@2 over all possible grades (0, 1)" in str(comparison)


def test_bounds_of_no_common_query_are_not_printed() -> None:
    qrels = {f"q{number}": [f"d{number}"] for number in range(4)}
    runs = {"a": {"q0": ["d0"], "q1": ["u"]}, "b": {"q2": ["d2"], "q3": ["u"]}}
    comparison = quietly(qrels, runs, "mrr@2", unjudged="bounds", rules="trec_eval")
    assert comparison.unjudged is not None
    assert np.isnan(comparison.unjudged.means["mrr@2"]["a"]).all()
    assert "over all possible grades" not in str(comparison)


def standing_of(comparison: rm.Comparison) -> str:
    (places,) = comparison.ranking.by_metric.values()
    return next(place.status for place in places if place.status != "best")


def test_a_difference_that_no_grade_can_turn_is_said_to_hold_whatever_they_are() -> None:
    qrels = {f"q{number}": {"d": 1, "x": 0, "y": 0} for number in range(20)}
    runs = {"good": {query: ["d", "x", "u"] for query in qrels}, "bad": {query: ["x", "y", "u"] for query in qrels}}
    comparison = quietly(qrels, runs, "mrr@2", unjudged="bounds")
    assert comparison.conclusions.get("mrr@2").sentence.endswith("; all of the top 2 are judged.")
    deeper = quietly(qrels, runs, "ndcg@3", unjudged="bounds").conclusions.get("ndcg@3")
    assert deeper.kind == "worse"
    assert deeper.sentence.endswith("; grading the unjudged documents in the top 3 would not change this.")


def test_every_metric_is_bounded_at_its_own_depth() -> None:
    qrels = {f"q{number}": {"a": 1, "b": 1, "z": 0, "y": 0, "x": 0} for number in range(20)}
    old = {query: ["a", "z", "y", "x", "b", *(f"o{number}" for number in range(5))] for query in qrels}
    new = {query: ["z", "a", "y", "x", "b", *(f"n{number}" for number in range(5))] for query in qrels}
    both_bounds = quietly(qrels, {"old": old, "new": new}, ["map", "ndcg@5"], unjudged="bounds")
    alone = quietly(qrels, {"old": old, "new": new}, "map", unjudged="bounds")
    assert both_bounds.unjudged is not None
    assert alone.unjudged is not None
    assert both_bounds.unjudged.depths == {"map": None, "ndcg@5": 5}
    assert both_bounds.unjudged.differences["map", "new", "old"] == alone.unjudged.differences["map", "new", "old"]
    assert both_bounds.unjudged.differences["map", "new", "old"] == pytest.approx((-0.509, 0.366), abs=0.001)
    assert [conclusion.kind for conclusion in both_bounds.conclusions] == ["depends_on_unjudged", "worse"]


def test_relevant_documents_that_nobody_retrieved_can_be_assumed() -> None:
    qrels = {f"q{number}": {"a": 1, "z": 0} for number in range(20)}
    new = {query: ["a", "z"] if number < 14 else ["z"] for number, query in enumerate(qrels)}
    old = {query: ["z", "a"] if number >= 14 or number < 6 else ["z"] for number, query in enumerate(qrels)}
    comparison = quietly(qrels, {"old": old, "new": new}, "recall@5", unjudged="bounds")
    assert comparison.unjudged is not None
    assert comparison.unjudged.differences["recall@5", "new", "old"] == pytest.approx(((8 - 6) / 20, (8 - 6) / 20))
    four = quietly(qrels, {"old": old, "new": new}, "recall@5", unjudged="bounds", unretrieved_relevant=4)
    assert four.unjudged is not None
    ends = ((8 / 5 - 6) / 20, (8 - 6 / 5) / 20)  # of five relevant documents, one is found
    assert four.unjudged.differences["recall@5", "new", "old"] == pytest.approx(ends)
    assert (
        "the unjudged documents in the top 5 and up to 4 unretrieved relevant documents per query" in four.summary[-1]
    )
    with_assumed = quietly(
        qrels, {"old": old, "new": new}, "recall@5", unjudged="bounds", unretrieved_relevant={"q7": 1}
    )
    assert with_assumed.unjudged is not None
    assert with_assumed.unjudged.differences["recall@5", "new", "old"] == pytest.approx(((7.5 - 6) / 20, (8 - 6) / 20))
    numbered = {number: {1: 1, 2: 0} for number in range(8)}
    runs = {"a": {query: [1] for query in numbered}, "b": {query: [2, 1] for query in numbered}}
    quietly(numbered, runs, "recall@1", unjudged="bounds", unretrieved_relevant=2)


@pytest.mark.parametrize("document", ["d1", 1])
def test_a_query_that_nothing_is_known_of_can_have_unretrieved_relevant_documents(document: str | int) -> None:
    runs = {"full": {"q1": [document], "q2": []}, "empty": {"q1": [], "q2": []}}
    judged: dict[str, list[str | int]] = {"q1": [document], "q2": []}
    bounds = quietly(judged, runs, "recall@5", unjudged="bounds", unretrieved_relevant={"q2": 1}).unjudged
    assert bounds is not None
    assert bounds.queries == {"recall@5": 1}
    assert bounds.differences["recall@5", "empty", "full"] == (-1, -1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"unretrieved_relevant": 1}, ValueError, "requires unjudged='bounds', got unjudged=None"),
        (
            {"unjudged": "bounds", "unretrieved_relevant": -1},
            ValueError,
            "0 or more relevant documents; got -1 for 'q'",
        ),
        ({"unjudged": "bounds", "unretrieved_relevant": 0.5}, TypeError, "unretrieved_relevant must be an integer"),
        (
            {"unjudged": "bounds", "unretrieved_relevant": {"p": 1}},
            ValueError,
            "'p', which was not evaluated",
        ),
    ],
)
def test_an_assumption_that_means_nothing_is_refused(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        rm.compare({"q": ["d"]}, {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}}, "mrr", **options)


def test_sampling_and_ignorance_are_one_sentence() -> None:
    qrels = {f"q{number}": {"a": 1, "b": 0, "c": 0} for number in range(12)}
    old = {query: ["b", "a", "c"] for query in qrels}
    new = old | {query: ["a", "b", "c"] for query in list(qrels)[:3]}
    (conclusion,) = quietly(qrels, {"old": old, "new": new}, "mrr@3", unjudged="bounds").conclusions
    assert conclusion.kind == "not_significant"
    assert "better" not in conclusion.sentence
    assert conclusion.sentence.endswith("; all of the top 3 are judged.")
    (identical,) = quietly(qrels, {"old": old, "new": old}, "recall@5", unjudged="bounds").conclusions
    assert identical.sentence == (
        "new and old have identical values in recall@5 on every query; all of the top 5 are judged."
    )


def test_condensed_rankings_say_whom_they_favour() -> None:
    qrels = {f"q{number}": {"a": 1, "z": 0} for number in range(12)}
    runs = {
        "old": {query: ["z", "a"] for query in qrels},
        "new": {query: ["u1", "u2", "u3", "u4", "u5", "a"] for query in qrels},
    }
    with pytest.warns(rm.RetrievalWarning, match="favour the system with the lower judged@k"):
        comparison = rm.compare(qrels, runs, "ndcg@10", unjudged="condensed")
    assert comparison.summary[0].endswith(", here new (Sakai and Kando 2008; judged@10: old 100%, new 17%).")
    assert "count as not relevant" not in str(comparison)
    saved = dict(comparison.evaluations)
    with pytest.raises(ValueError, match="grades the documents that unjudged='condensed' removes"):
        rm.compare(saved, unjudged="bounds")


def test_too_many_to_try_give_an_outer_bound_that_says_so() -> None:
    truth = {"q": {"d": 1, "x": 0}}
    run = {"q": [*(f"u{number}" for number in range(14)), "d"]}
    comparison = quietly(truth, {"a": run, "b": {"q": ["d", "x"]}}, "map@20", unjudged="bounds")
    bounds = comparison.unjudged
    assert bounds is not None
    assert not bounds.exact
    assert bounds.means["map@20"]["a"] == (0, 1)
    assert bounds.differences["map@20", "b", "a"] == (-1, 1)
    assert "outer bounds: for 1 query, there are too many combinations of grades" in str(comparison)


def test_condensed_rankings_are_those_without_what_is_unjudged() -> None:
    truth, runs = pooled(4, grades=2)
    without = {}
    for query, ranking in runs["B"].items():
        without[query] = [document for document in ranking if document in truth[query]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        condensed = rm.evaluate(truth, runs["B"], [*METRICS, "precision@4", "bpref"], unjudged="condensed")
        expected = rm.evaluate(truth, without, [*METRICS, "precision@4", "bpref"])
    assert condensed.per_query == expected.per_query
    assert condensed.rules.unjudged == "condensed"


def test_condensed_ties_are_between_judged_documents_alone() -> None:
    truth = {"q": {"a": 1, "b": 0}}
    run = {"q": {"u": 2.0, "a": 1.0, "b": 1.0, "v": 1.0}}
    condensed = rm.evaluate(truth, run, "mrr", unjudged="condensed", ties="expected")
    assert condensed.means["mrr"] == pytest.approx((1 + 1 / 2) / 2)
    assert rm.evaluate(truth, run, "judged@4", unjudged="condensed").means["judged@4"] == 0.5


def test_repeats_of_judged_documents_keep_their_place_in_a_condensed_ranking() -> None:
    truth = {"q": {"a": 0, "b": 1}}
    run = {"q": ["a", "u", "a", "b"]}
    assert rm.evaluate(truth, run, "mrr", unjudged="condensed").means["mrr"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("documents", "unseen", "exact"), [(12, 0, True), (13, 0, False), (11, 1, True), (12, 1, False), (10, 3, True)]
)
def test_up_to_4096_ways_to_grade_a_query_are_tried(documents: int, unseen: int, *, exact: bool) -> None:
    # 2^12 = 2^11 (1 + 1) = 2^10 (1 + 3): how many unseen ones are relevant is one more choice
    runs = {"a": {"q": [*(f"u{number}" for number in range(documents)), "d"]}, "b": {"q": ["d", "x"]}}
    bounds = quietly({"q": {"d": 1, "x": 0}}, runs, "mrr@20", unjudged="bounds", unretrieved_relevant=unseen).unjudged
    assert bounds is not None
    assert (bounds.exact, bounds.queries, bounds.unretrieved_relevant) == (exact, {"mrr@20": 1}, unseen)
    assert bounds.means["mrr@20"]["a"] == ((1 / (documents + 1), 1) if exact else (0, 1))
    assert bounds.means["mrr@20"]["b"] == ((1, 1) if exact else (0, 1))


@pytest.mark.parametrize(("documents", "unseen", "exact"), [(7, 0, True), (7, 1, False), (6, 2, True), (6, 3, False)])
def test_an_unseen_document_has_every_grade_above_0(documents: int, unseen: int, *, exact: bool) -> None:
    # 3^7 = 2187 and 3^7 (1 + 2) = 6561; 3^6 (1 + 2 * 2) = 3645 and 3^6 (1 + 3 * 2) = 5103
    runs = {"a": {"q": [*(f"u{number}" for number in range(documents)), "d"]}, "b": {"q": ["d", "x"]}}
    bounds = quietly(
        {"q": {"d": 1, "e": 2, "x": 0}}, runs, "mrr@20", unjudged="bounds", unretrieved_relevant=unseen
    ).unjudged
    assert bounds is not None
    assert bounds.exact == exact


def test_unseen_documents_of_numbered_ones_have_numbers_of_their_own() -> None:
    for judged, ranking in (({5: 1}, [5]), ({5: 1}, [6, 5]), ({5: 1, 6: 1}, [6, 5]), ({6: 1, 5: 0}, [6, 5])):
        numbered = bound_with_ids(int, judged, ranking)
        named = bound_with_ids(str, judged, ranking)
        assert (numbered.means, numbered.differences) == (named.means, named.differences)
    # one of 1 to 1 + 3 relevant documents
    assert numbered.means["recall@3"]["b"] == (1 / 4, 1)


def bound_with_ids(id_type: type, judged: dict[int, int], ranking: list[int]) -> Any:
    """Return the bounds of a system with one document and one with a ranking, their ids of a type."""
    judgments = {id_type(document): grade for document, grade in judged.items()}
    qrels: Any = {f"q{number}": judgments for number in range(6)}
    rankings = {"a": (id_type(5),), "b": tuple(map(id_type, ranking))}
    runs: Any = {name: dict.fromkeys(qrels, documents) for name, documents in rankings.items()}
    bounds = quietly(qrels, runs, ["recall@3", "ndcg@3"], unjudged="bounds", unretrieved_relevant=3).unjudged
    assert bounds is not None
    return bounds


def test_unseen_documents_are_relevant_or_are_not() -> None:
    # bpref counts the judged documents that are not relevant: one, above both relevant ones.
    runs = {"one": {"q": ["z", "d", "e"]}, "two": {"q": ["d", "e", "z"]}}
    bounds = quietly({"q": {"d": 1, "e": 1, "z": 0}}, runs, "bpref", unjudged="bounds", unretrieved_relevant=1).unjudged
    assert bounds is not None
    assert bounds.means["bpref"] == {"one": (0, 0), "two": (2 / 3, 1)}


def test_what_can_be_tried_in_all_goes_to_the_queries_with_the_fewest_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels = {query: {"d": 1, "x": 0} for query in "pqrs"}
    open_run = {"p": ["u", "v", "w", "d"], "q": ["u", "d"], "r": ["u", "v", "d"], "s": ["d"]}  # 8, 2, 4 and 1 ways
    judged_run = {query: ["d"] for query in qrels}

    def outer(max_completions: int, *metrics: str) -> dict[str, int]:
        monkeypatch.setattr(unjudged_bounds, "MAX_COMPLETIONS", max_completions)
        runs = {"open": open_run, "judged": judged_run}
        bounds = quietly(qrels, runs, list(metrics), unjudged="bounds").unjudged
        assert bounds is not None
        assert bounds.queries == dict.fromkeys(metrics, 3)
        return dict(bounds.outer)

    assert [outer(n, "mrr@5")["mrr@5"] for n in (14, 13, 6, 5, 2, 1)] == [0, 1, 1, 2, 2, 3]
    assert outer(28, "mrr@5", "mrr@6") == {"mrr@5": 0, "mrr@6": 0}  # half for each depth
    assert outer(27, "mrr@5", "mrr@6") == {"mrr@5": 1, "mrr@6": 1}
    assert outer(14, "mrr@5", "map@5") == {"mrr@5": 0, "map@5": 0}  # one depth


@pytest.mark.parametrize("clusters", [None, {f"q{number}": number // 2 for number in range(14)}])
def test_the_p_values_are_those_of_the_judgments_at_either_end(clusters: dict[str, int] | None) -> None:
    qrels = {f"q{number}": {"a": 1, "z": 0} for number in range(14)}
    old = {query: ["z", "a"] if number % 3 else ["a", "z"] for number, query in enumerate(qrels)}
    new = {query: ["u", "a"] if number % 2 else ["a", "z"] for number, query in enumerate(qrels)}

    def compared(judged: dict[str, dict[str, int]], **options: Any) -> rm.Comparison:
        return quietly(judged, {"old": old, "new": new}, ["mrr@2", "mrr@1"], clusters=clusters, **options)

    bounds = compared(qrels, unjudged="bounds").unjudged
    assert bounds is not None
    low_end = compared({query: {**judgments, "u": 0} for query, judgments in qrels.items()})
    high_end = compared({query: {**judgments, "u": 1} for query, judgments in qrels.items()})
    for metric in ("mrr@2", "mrr@1"):
        low = low_end.difference(metric, "new", "old")
        high = high_end.difference(metric, "new", "old")
        assert bounds.p_values[metric, "new", "old"] == pytest.approx((low.p_corrected, high.p_corrected))
        assert bounds.differences[metric, "new", "old"] == pytest.approx((low.mean, high.mean))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr", unjudged="bounds"), "is an option of compare"),
        (lambda: rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr", unjudged="no"), "unjudged must be one of nonrelevant"),
        (
            lambda: rm.compare({"q": [["d"]]}, {"a": {"q": ["d"]}, "b": {"q": ["d", "x"]}}, "mrr", unjudged="bounds"),
            "only if single documents are judged by ID",
        ),
        (
            lambda: rm.evaluate(
                {"q": [rm.Span("s", 0, 9)]},
                {"q": [rm.Retrieved("c", source="s", start=0, end=9)]},
                unjudged="condensed",
            ),
            "only if documents are judged by ID",
        ),
    ],
)
def test_what_cannot_be_completed_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("rules", ["standard", "llama_index", "haystack", "ragas", "mlflow"])
def test_bounds_follow_the_order_of_ties_under_the_rules(rules: str) -> None:
    qrels = {f"q{number}": {"z": 1} for number in range(8)}
    tied = {query: {"b": 1.0, "z": 1.0} for query in qrels}
    clear = {query: {"z": 2.0, "b": 1.0} for query in qrels}
    ranked = {query: ["z", "b"] if rules == "standard" else ["b", "z"] for query in qrels}

    def bounds(run: Any) -> Any:
        compared = rm.compare(qrels, {"run": run, "clear": clear}, ["precision@1"], unjudged="bounds", rules=rules)
        assert compared.unjudged is not None
        to_judge = [(unjudged.query, unjudged.document) for unjudged in compared.to_judge()]
        return compared.unjudged.differences, to_judge

    assert bounds(tied) == bounds(ranked)
    if rules != "standard":
        assert len(bounds(tied)[1]) == 8
