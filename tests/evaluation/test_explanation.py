"""Explanations of single queries, and the failures summed over all."""

import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm

if TYPE_CHECKING:
    from retrieval_metrics.types import QrelsMapping, Ranking


def test_alternatives_of_a_group_that_is_satisfied_are_not_needed() -> None:
    evaluation = rm.evaluate({"q": [["a", "b"], ["c", "d"]]}, {"q": ["a", "x", "d"]}, "full_recall@2")
    explanation = evaluation.explain("q", "full_recall@2")
    assert {finding.document: finding.kind for finding in explanation.findings} == {
        "a": "found", "b": "alternative_found", "c": "not_retrieved", "d": "below_cutoff",
    }  # fmt: skip
    assert [finding.document for finding in explanation.failures] == ["d"]  # the nearest miss stands for its group
    assert explanation.n_relevant == 2
    assert "group" in str(explanation).splitlines()[1]


@pytest.mark.parametrize(
    ("truth", "groups"),
    [
        (["a", "b"], None),  # everything is needed by itself
        ([["a"], ["b"]], None),
        ([["a", "b"], ["c"]], [(1,), (1,), (2,)]),
        ([["a"], ["a"]], [(1, 2)]),
    ],
)
def test_the_number_of_a_group_is_counted_within_its_query_and_shown_where_it_says_something(
    truth: Any, groups: list[tuple[int, ...]] | None
) -> None:
    evaluation = rm.evaluate({"before": ["x", "y"], "q": truth}, {"before": ["x"], "q": ["a"]}, "recall")
    explanation = evaluation.explain("q", "recall")
    assert ("group" in str(explanation).splitlines()[1]) is (groups is not None)
    assert [finding.groups for finding in explanation.findings] == (groups or [(1,), (2,)])


def test_the_worst_come_first_and_all_failures_are_summed() -> None:
    qrels = {"a": ["d1", "d2"], "b": ["d1"], "c": ["d1"], "none": {"d1": 0}}
    run = {"a": ["d1", "x"], "b": ["x", "y"], "c": ["x", "y", "d1"], "none": ["d1"]}
    worst = rm.evaluate(qrels, run, ["recall@2"]).worst("recall@2", n=2)
    assert [explanation.query for explanation in worst] == ["b", "c"]
    assert worst[0].failures[0].kind == "not_retrieved"
    assert [explanation.query for explanation in worst[1:]] == ["c"]
    assert (worst.queries, worst.n, worst.n_relevant, worst.n_found) == (("b", "c"), 3, 4, 1)
    assert worst.failures == {"not_retrieved": 2, "below_cutoff": 1}
    assert worst.summary == "3 of 4 relevant documents missing across 3 queries: 2 not retrieved, 1 below cutoff"
    assert str(worst).splitlines() == [
        "query  recall@2  found  missing          example  top result",
        "b         0.000    0/1  1 not retrieved  d1       x",
        "c         0.000    0/1  1 below cutoff   d1       x",
        "3 of 4 relevant documents missing across 3 queries: 2 not retrieved, 1 below cutoff",
    ]


@pytest.mark.parametrize(
    ("judgments", "unit"),
    [
        (["d1", "d2"], "documents"),
        ([["d1"], ["d2", "d3"]], "facts"),
        ([rm.Quote("the first words"), rm.Quote("other words")], "passages"),
        ([[rm.Quote("the first words"), rm.Span("a.md", 0, 9)], [rm.Quote("other words")]], "passages"),
    ],
)
def test_what_is_missing_has_its_name(judgments: Any, unit: str) -> None:
    item = rm.Retrieved("d1", "These are the first words.", "b.md", 20)
    worst = rm.evaluate({"q": judgments}, {"q": [item]}, "recall").worst("recall")
    assert str(worst).splitlines()[-1] == f"1 of 2 relevant {unit} missing across 1 query: 1 not retrieved"


def test_queries_without_a_failure_are_not_listed_however_few_there_are() -> None:
    qrels = {"good": ["d"], "late": ["d"], "bad": ["d"]}
    evaluation = rm.evaluate(qrels, {"good": ["d"], "late": ["x", "d"], "bad": ["x", "y"]}, "mrr@2")
    worst = evaluation.worst("mrr@2")
    assert worst.queries == ("bad", "late")
    assert "all found, ranked low" in str(worst).splitlines()[2]
    perfect = rm.evaluate(qrels, {query: ["d"] for query in qrels}, "mrr")
    assert "mrr has its best possible value on every query" in str(perfect.worst("mrr"))


def test_what_came_back_stands_beside_what_was_needed() -> None:
    items = [rm.Retrieved("a", "Nothing of\nthe kind."), rm.Retrieved("b", "It wraps a block."), rm.Retrieved("a", "x")]
    evaluation = rm.evaluate({"q": {"b": 2, "c": 1, "a": 0}}, {"q": items, "p": []}, "recall@10")
    explanation = evaluation.explain("q", queries={"q": "what wraps?"}, corpus={"c": "The missing one."})
    assert [(result.rank, result.id, result.judgment, result.satisfies) for result in explanation.results] == [
        (1, "a", "not relevant", ()),
        (2, "b", "relevant", ("b",)),
        (3, "a", "duplicate", ()),
    ]
    assert [finding.text for finding in explanation.findings] == ["It wraps a block.", "The missing one."]
    lines = str(explanation).splitlines()
    assert lines[0] == "what wraps?"
    assert "The missing one." in lines[4]
    assert "Nothing of the kind." in lines[7]
    assert "The missing one." in str(evaluation.worst("recall@10", corpus={"c": "The missing one."}))


def test_the_texts_of_an_evaluation_set_are_known() -> None:
    questions = rm.EvaluationSet({"q1": "who opens the vault?", "same": "same"}, {"q1": ["a"], "same": ["b"]})
    result = rm.evaluate(questions, {"q1": ["x", "a"], "same": ["x"]}, "recall@1")
    assert result.explain("q1").text == "who opens the vault?"
    assert str(result.explain("q1")).startswith("who opens the vault?\nq1: recall@1 0.000")
    assert str(result.explain("same")).startswith("same: recall@1 0.000")  # not twice
    assert "q1 who opens the vault?" in str(result.worst("recall@1", 2))
    assert result.explain("q1", queries={"q1": "another"}).text == "another"


def test_text_that_steers_a_terminal_is_not_printed_as_it_is() -> None:
    items = [rm.Retrieved("\x1b[31mid", "\x1b[2Jgone \u202edesrever"), rm.Retrieved("d")]
    printed = str(rm.evaluate({"q\x1b": ["d"]}, {"q\x1b": items}, "mrr").explain("q\x1b"))
    assert "\x1b" not in printed
    assert "\u202e" not in printed


def test_without_failures_the_summary_says_so() -> None:
    evaluation = rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "recall")
    assert evaluation.worst("recall").summary == "the only relevant document was found"


@pytest.mark.parametrize("metric", ["hit_rate@2", "mrr@2"])
def test_where_one_relevant_document_suffices_the_summary_counts_queries(metric: str) -> None:
    qrels = {"a": ["d1", "d2", "d3"], "b": ["d1", "d2"], "c": ["d1"]}
    worst = rm.evaluate(qrels, {"a": ["d1"], "b": ["x", "y", "d2"], "c": ["x"]}, metric).worst(metric)
    assert worst.one_suffices
    assert worst.summary == "no relevant document found for 2 of 3 queries: 1 below cutoff, 1 not retrieved"
    perfect = rm.evaluate(qrels, {"a": ["d1"], "b": ["d2"], "c": ["d1"]}, metric).worst(metric)
    assert perfect.summary == "a relevant document was found for each of 3 queries"
    assert (
        rm.evaluate({"a": ["d1", "d2"]}, {"a": ["d2"]}, metric).worst(metric).summary == "a relevant document was found"
    )


def test_a_query_without_relevant_documents_says_so() -> None:
    explanation = rm.evaluate({"q": {"d": 0}, "p": ["d"]}, {"q": ["d"], "p": ["d"]}, "mrr").explain("q")
    assert str(explanation).splitlines()[:2] == ["q: mrr undefined", "no document is relevant to this query"]
    assert [result.judgment for result in explanation.results] == ["not relevant"]


def test_ids_may_be_numbers_and_rules_may_leave_queries_out() -> None:
    with pytest.warns(rm.RetrievalWarning):
        evaluation = rm.evaluate({1: {10: 1}, 2: {20: 1}, 3: {30: 2, 31: -1}}, {2: [20], 3: [1]}, rules="trec_eval")
    assert evaluation.queries == (2, 3)
    assert evaluation.explain(3).findings[0].kind == "not_retrieved"
    assert [explanation.query for explanation in evaluation.worst("ndcg@10")] == [3]
    with pytest.raises(KeyError, match="query 1 was not evaluated; the evaluated queries include 2, 3"):
        evaluation.explain(1)
    longer = rm.evaluate({f"q{number}": ["d"] for number in range(5)}, {f"q{number}": ["d"] for number in range(5)})
    with pytest.raises(KeyError, match=r"include 'q0', 'q1', 'q2'\W*$"):
        longer.explain("q9")


def test_what_cannot_be_explained_is_an_error() -> None:
    evaluation = rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr")
    with pytest.raises(KeyError, match="map was not computed"):
        evaluation.explain("q", "map")
    with pytest.raises(ValueError, match="n must be a positive integer, got 0"):
        evaluation.worst("mrr", 0)
    bare = rm.Evaluation(replace(evaluation.scores, origin=None))
    with pytest.raises(ValueError, match="cannot be explained: that needs the rankings"):
        bare.explain("q")


def test_an_evaluation_can_be_pickled_and_explained_afterwards() -> None:
    evaluation = rm.evaluate({"q": ["d"]}, {"q": ["x", "d"]}, "mrr@1")
    again: rm.Evaluation = pickle.loads(pickle.dumps(evaluation))
    assert str(again) == str(evaluation)
    assert str(again.explain("q")) == str(evaluation.explain("q"))


def test_pieces_of_text_and_budgets_are_explained_too() -> None:
    qrels = {"q": {rm.Quote("wraps a block"): 2, rm.Quote("told of the exception"): 1, rm.Quote("never said"): 1}}
    chunks = [
        rm.Retrieved("a", "x" * 90),
        rm.Retrieved("b", "It wraps a block."),
        rm.Retrieved("c", "told of the exception"),
    ]
    result = rm.evaluate(qrels, {"q": chunks}, ["recall@110chars", "recall@2"])
    for metric, beyond in (("recall@110chars", "over_budget"), ("recall@2", "below_cutoff")):
        explanation = result.explain("q", metric)
        assert [finding.kind for finding in explanation.findings] == ["found", beyond, "not_retrieved"]
    assert "Quote(" not in str(explanation)
    assert "\u201ctold of the exception\u201d" in str(explanation)
    assert "a       unjudged  xxx" in str(explanation)
    assert result.worst("recall@2").failures == {"below_cutoff": 1, "not_retrieved": 1}


def test_a_run_in_columns_is_explained_like_the_dict_it_stands_for() -> None:
    qrels = {"q1": ["d1"], "q2": ["d7"], "q3": ["d9"], "q4": ["d4"]}
    run = {
        "q1": {"x": 3.0, "y": 2.0, "d1": 1.0},
        "q2": {"d7#1": 1.0},
        "q3": {"d9#2": 1.0, "d4": 0.5},
        "q5": {"d9": 1.0},
    }
    columns: dict[str, list[Any]] = {"query": [], "document": [], "score": []}
    for query, scores in run.items():
        columns["query"] += [query] * len(scores)
        columns["document"] += scores.keys()
        columns["score"] += scores.values()
    with pytest.warns(rm.RetrievalWarning):
        of_dicts = rm.evaluate(qrels, run, "recall@2")
    with pytest.warns(rm.RetrievalWarning):
        of_columns = rm.evaluate(qrels, rm.Run.from_frame(columns), "recall@2")
    assert str(of_dicts.worst("recall@2")) == str(of_columns.worst("recall@2"))
    assert of_dicts.worst("recall@2").failures == {
        "below_cutoff": 1, "id_granularity": 1, "not_retrieved": 1, "empty_ranking": 1,
    }  # fmt: skip
    assert str(of_dicts.explain("q3")) == str(of_columns.explain("q3"))


GRADES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 2), min_size=1, max_size=6)
RANKINGS = st.lists(st.sampled_from("abcdefghxyz"), max_size=9)


@settings(max_examples=60)
@given(st.lists(st.tuples(GRADES, RANKINGS), min_size=1, max_size=5), st.integers(1, 5))
def test_failures_account_for_all_that_recall_misses(queries: list[tuple[dict[str, int], list[str]]], k: int) -> None:
    qrels: QrelsMapping = {f"q{number}": grades for number, (grades, _) in enumerate(queries)}
    run: dict[str, Ranking] = {f"q{number}": ranking for number, (_, ranking) in enumerate(queries)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        evaluation = rm.evaluate(qrels, run, f"recall@{k}")
    for query, (grades, ranking) in zip(evaluation.queries, queries, strict=True):
        explanation = evaluation.explain(query, f"recall@{k}")
        relevant = {document for document, grade in grades.items() if grade > 0}
        assert {finding.document for finding in explanation.findings if finding.kind == "found"} == relevant & set(
            ranking[:k]
        )
        no_room = sum(finding.kind == "cutoff_full" for finding in explanation.findings)
        assert len(explanation.failures) + no_room == len(relevant - set(ranking[:k]))
        assert explanation.n_relevant == len(relevant)


def test_what_a_full_cutoff_has_no_room_for_is_neither_found_nor_missing() -> None:
    qrels = {"q1": ["a", "b"], "q2": ["a"]}
    worst = rm.evaluate(qrels, {"q1": ["a", "b"], "q2": ["a"]}, "recall@1").worst("recall@1")
    assert (worst.n_relevant, worst.n_found, worst.failures) == (3, 2, {})
    assert (worst[0].n_relevant, worst[0].n_found, worst[0].n_cutoff_full, worst[0].failures) == (2, 1, 1, ())
    assert str(worst).splitlines() == [
        "query  recall@1                 found  missing  example  top result",
        "q1        0.500  1/2 (cutoff full: 1)  none     b        a",
        "2 of 3 relevant documents found, 1 not credited (cutoff full)",
    ]


QUESTIONS = rm.EvaluationSet.from_dataset(
    [{"id": "q1", "query": "What is a slot?", "relevant": ["a"]}, {"id": "q2", "query": "Why with?", "relevant": ["b"]}]
)


def test_texts_that_came_with_the_judgments_are_shown_unless_others_are_given(tmp_path: Path) -> None:
    runs = {"one": {"q1": ["x", "a"], "q2": ["y"]}, "two": {"q1": ["a"], "q2": ["b"]}}
    evaluation = rm.evaluate(QUESTIONS, runs["one"], "mrr")
    comparison = rm.compare(QUESTIONS, runs, "mrr")
    evaluation.save(tmp_path / "kept.json")
    for result in (evaluation, rm.load(tmp_path / "kept.json"), comparison.evaluations["one"]):
        assert str(result.explain("q1")).startswith("What is a slot?\n")
        assert "q2 Why with?" in str(result.worst("mrr"))
    assert str(evaluation.explain("q1", queries={"q1": "Slots?"})).startswith("Slots?\n")
    for shown in (evaluation, comparison):
        shown.report(tmp_path / "page.html")
        assert "What is a slot?" in (tmp_path / "page.html").read_text()


def test_an_audit_finds_repeated_texts_of_an_evaluation_set() -> None:
    twice = rm.EvaluationSet.from_dataset([("What is a slot?", ["a"]), ("what is a slot?", ["a", "c"])])
    run: dict[Any, list[str]] = {query: ["a"] for query in twice.qrels}
    assert "1 of 2 queries repeat another" in str(rm.audit(twice, run, "mrr"))


@pytest.mark.filterwarnings("ignore:.*judged queries:retrieval_metrics.RetrievalWarning")
class TestWhatMustNotComeBack:
    QRELS: ClassVar[Any] = {"q1": {"d1": 1, "old": -1}, "q2": {"d2": 1, "spy": -2}, "q3": {"d3": 1, "spy": -1}}

    def test_an_explanation_says_what_leaked_from_where_and_above_what(self) -> None:
        items = [rm.Retrieved("old", "it was nine", source="2019.md"), rm.Retrieved("d1", "it is twelve")]
        explanation = rm.evaluate(self.QRELS, {"q1": items}, "leak@5").explain("q1")
        assert [(result.judgment, result.grade) for result in explanation.results] == [
            ("forbidden", -1),
            ("relevant", 1),
        ]
        note = "forbidden document retrieved: old at rank 1, from 2019.md, above d1 at rank 2"
        assert str(explanation).splitlines()[-1] == note

    def test_the_worst_are_those_that_leak_with_what_they_stand_above(self) -> None:
        run = {"q1": ["x", "d1"], "q2": ["d2", "spy"], "q3": ["spy", "d3"]}
        worst = rm.evaluate(self.QRELS, run, ["leak@5", "recall@5"]).worst("leak@5")
        assert (worst.queries, worst.n_imperfect) == (("q2", "q3"), 2)
        assert [line.split()[:4] for line in str(worst).splitlines()[1:3]] == [
            ["q2", "1.000", "spy", "2"],
            ["q3", "1.000", "spy", "1"],
        ]
        assert "with no relevant result below it" in str(worst)
        assert str(worst).endswith("leak@5 is above its best possible value on 2 of 3 queries")

    def test_answers_where_there_is_none_are_the_worst(self) -> None:
        result = rm.evaluate({"n": [], "m": [], "q": ["d"]}, {"n": ["x"], "m": [], "q": ["d"]}, "false_answer")
        worst = result.worst("false_answer")
        assert worst.queries == ("n",)
        assert "x" in str(worst)

    def test_what_is_both_is_forbidden(self) -> None:
        item = rm.Retrieved("c", "the price was nine euros until May and is twelve euros now")
        judged = {rm.Quote("twelve euros now"): 1, rm.Quote("was nine euros until"): -1}
        (result,) = rm.evaluate({"q": judged}, {"q": [item]}, "leak@5").explain("q").results
        assert (result.judgment, result.satisfies) == ("forbidden", (rm.Quote("twelve euros now"),))


def test_failures_as_a_frame_and_as_a_figure() -> None:
    result = rm.evaluate(QUESTIONS, {"q1": ["x", "a"], "q2": ["y"]}, ["hit_rate@1", "recall@1"])
    worst = result.worst("recall@1")
    frame = worst.to_pandas()
    assert list(frame.columns) == ["query", "text", "recall@1", "document", "grade", "rank", "outcome", "detail"]
    assert frame[["query", "document", "outcome"]].to_numpy().tolist() == [
        ["q1", "a", "below_cutoff"],
        ["q2", "b", "not_retrieved"],
    ]
    assert result.explain("q2").to_pandas()["detail"].to_list() == ["not retrieved (only 1 result)"]
    drawn = [text.get_text() for text in worst.plot().axes[0].texts if text.get_text()]
    assert drawn == ["1", "1"]
    with pytest.raises(ValueError, match="no failures to draw: all 2 relevant documents found"):
        rm.evaluate(QUESTIONS, {"q1": ["a"], "q2": ["b"]}, "recall@1").worst("recall@1").plot()


def test_the_worst_queries_are_those_of_the_first_metric() -> None:
    result = rm.evaluate(QUESTIONS, {"q1": ["x", "a"], "q2": ["y"]}, ["hit_rate@1", "mrr"])
    assert result.worst() == result.worst("hit_rate@1")
    assert result.worst(n=1) == result.worst("hit_rate@1", 1)
    assert result.worst("mrr") != result.worst()


def test_forbidden_results_as_a_frame() -> None:
    worst = rm.evaluate({"q1": {"a": 1, "b": -1}}, {"q1": ["b", "a"]}, "leak@2").worst("leak@2")
    assert worst.to_pandas().to_numpy().tolist() == [["q1", "", 1.0, "b", -1.0, 1, "forbidden", "above a at rank 2"]]


def test_no_query_is_perfect_where_none_has_a_value() -> None:
    evaluation = rm.evaluate({"q1": {"d": 0}, "q2": {"d": 0}}, {"q1": ["d"], "q2": ["d"]}, ["mrr", "leak@3"])
    for metric in ("mrr", "leak@3"):
        worst = evaluation.worst(metric)
        assert (worst.n, worst.n_relevant, len(worst)) == (0, 0, 0)
        assert str(worst).splitlines()[-1] == f"{metric} is undefined for every query"
        assert "best possible" not in str(worst)
