"""The law of every adapter: the same judgments and rankings give the numbers of the core, to the last bit.

An adapter's tests inherit one of two classes and say in one method how the host is driven:

    class TestOurMetricsInTheHost(Conformance):
        def scores(self, qrels, run, metrics):
            return {metric: {query: host_score(metric, qrels[query], run.get(query, [])) for query in qrels} ...}

    class TestOurEvaluatorInTheHost(EvaluationConformance):  # where the adapter returns an rm.Evaluation
        def evaluation(self, qrels, run, metrics):
            return evaluate_in_the_host(...)

An asynchronous or a concurrent way through the adapter is a second subclass.
"""

import copy
import math
import random
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import pytest

import retrieval_metrics as rm
from near_right_ids import NEAR_RIGHT_IDS, make_near_right_run

T = TypeVar("T")

Truth: TypeAlias = Mapping[str, Any]
"""Per query its judgments, in a shape that `rm.evaluate` takes."""

Rankings: TypeAlias = Mapping[str, Sequence[str]]
"""Per query the IDs that were retrieved, best first; a query may be missing."""

Scores: TypeAlias = Mapping[str, Mapping[Any, float]]
"""Per metric, named as it was asked for, the value of every judged query; NaN where it is undefined."""


class Case(NamedTuple):
    """One situation that hosts treat differently, as judgments and rankings."""

    name: str
    qrels: dict[str, Any]
    run: dict[str, list[str]]


def _many(seed: int = 11, queries: int = 60) -> Case:
    """Flat, graded and grouped queries of every length, so that no number comes out right by luck."""
    rng = random.Random(seed)
    documents = [f"d{number}" for number in range(15)]
    qrels: dict[str, Any] = {}
    run: dict[str, list[str]] = {}
    for number in range(queries):
        judged = rng.sample(documents, rng.randint(2, 7))
        grades = {document: rng.choice([0, 1, 1, 2, 3]) for document in judged}
        split = rng.randint(1, len(judged) - 1)
        shapes = [
            judged,
            grades,
            [judged[:split], judged[split:]],
            [{judged[0]: 2, judged[-1]: 1}, dict.fromkeys(judged, 1)],
        ]
        qrels[f"q{number}"] = shapes[number % len(shapes)]
        run[f"q{number}"] = rng.sample(documents, rng.randint(0, len(documents)))
    return Case("many", qrels, run)


CASES = (
    Case(
        "flat",
        {"q1": ["d7"], "q2": ["d1", "d2", "d3"], "q3": ["d4", "d5"], "q4": ["d9"]},
        {"q1": ["d3", "d7"], "q2": ["d2", "x", "d1", "y"], "q3": ["d5", "d4"], "q4": ["x", "y", "z"]},
    ),
    Case(
        "graded",
        {"q1": {"d1": 3, "d2": 2, "d3": 1, "d4": 0}, "q2": {"d1": 1, "d2": 0.5}, "q3": {"d1": 2, "d2": -1}},
        {"q1": ["d3", "d4", "d2", "d1"], "q2": ["x", "d2", "d1"], "q3": ["d2", "d1"]},
    ),
    Case(
        "grouped",
        {
            "q1": [["d1", "d2"], ["d3"]],
            "q2": [["d1", "d2"], ["d2", "d3"]],
            "q3": [{"d1": 2, "d2": 1}, {"d9": 3}],
            "q4": ["d1", "d2"],
        },
        {
            "q1": ["d1", "x", "d2", "y"],
            "q2": ["x", "d2", "d1"],
            "q3": ["d2", "x", "d9", "d1"],
            "q4": ["d2", "x", "d1"],
        },
    ),
    Case(
        "repeats",
        {"q1": ["d1"], "q2": ["d1", "d2"], "q3": ["d1", "d2"]},
        {"q1": ["d1", "d1", "d1"], "q2": ["d1", "d1", "x", "x", "d2"], "q3": ["x", "d2", "x", "d2"]},
    ),
    Case("repeated truth", {"q1": ["d1", "d1"], "q2": ["d2", "d1", "d2"]}, {"q1": ["d1"], "q2": ["x", "d1", "d2"]}),
    Case(
        "ids of every script, and that differ little",
        {"q1": ["caf\u00e9"], "q2": ["D1"], "q3": ["01", "1"], "q4": ["\u4e2d\u6587", "a'b\"c", "a b"]},
        {"q1": ["cafe\u0301", "caf\u00e9"], "q2": ["d1", "D1"], "q3": ["1", "1.0", "01"], "q4": ["a b", "a'b\"c"]},
    ),
    Case(
        "grades that are no relevance",
        {"q1": {"d1": -2, "d2": 0, "d3": 0.25}, "q2": {"d1": -1}, "q3": [{"d1": 2, "d2": 0}, {"d3": -1, "d4": 1}]},
        {"q1": ["d1", "d2", "d3"], "q2": ["d1"], "q3": ["d2", "d3", "d4", "d1"]},
    ),
    Case("nothing retrieved", {"q1": ["d1"], "q2": ["d1", "d2"]}, {"q1": [], "q2": ["d2"]}),
    Case("missing", {"q1": ["d1"], "q2": ["d1", "d2"]}, {"q2": ["d2", "x"]}),
    Case("nothing relevant", {"q1": [], "q2": ["d1"]}, {"q1": ["d1", "d2"], "q2": ["x", "d1"]}),
    Case("nothing relevant by grade", {"q1": {"d1": 0, "d2": 0}, "q2": {"d1": 1}}, {"q1": ["d1"], "q2": ["x", "d1"]}),
    Case("nothing at all", {"q1": [], "q2": ["d1"]}, {"q1": [], "q2": ["d1"]}),
    Case(
        "what must not come back",
        {
            "q1": {"d1": 1, "d7": -1},
            "q2": {"d1": 2, "d7": -2, "d8": -1},
            "q3": [{"d1": 1, "d2": 1}, {"d7": -1}],
            "q4": {"d7": -1},
            "q5": [],
            "q6": [],
        },
        {"q1": ["d7", "d1"], "q2": ["d1", "x", "d7"], "q3": ["x", "d2"], "q4": ["x"], "q5": [], "q6": ["d1", "d1"]},
    ),
    _many(),
)

METRICS = (
    "hit_rate@1",
    "hit_rate@3",
    "full_recall@3",
    "recall@2",
    "recall",
    "precision@3",
    "precision",
    "f1@3",
    "mrr@2",
    "mrr",
    "map@3",
    "map",
    "ndcg@3",
    "ndcg",
    "leak@2",
    "leak(grade=-2)@3",
    "inverted@3",
    "false_answer",
)


# What looks like judgments and is not; `tests/test_doors.py` holds more of them, with the errors.
NO_JUDGMENTS: dict[str, Any] = {
    "pairs": [["d1", 1], ["d2", 0]],
    "pairs of text": [["d1", "1"], ["d2", "0"]],
    "triples": [["d1", 1, "why"]],
    "dicts": [{"id": "d1", "grade": 1}],
    "printed list": ["['d1', 'd2']"],
    "nested deeper": [[["d1"]]],
    "empty id": ["d1", ""],
    "blank at an end": ["d1", " d2"],
    "float": [1.0],
    "missing": [None],
}


# The kinds that are ordinary judgments where an expected document is an object or a text, and not an id in a list.
NO_IDS_IN_LISTS = frozenset({"pairs of text", "printed list", "empty id", "blank at an end"})


def bits(scores: Scores) -> dict[str, dict[str, str]]:
    """Values as text that differs when the last bit does, and is readable when a test fails."""
    return {metric: {q: f"{v} {float(v).hex()}" for q, v in values.items()} for metric, values in scores.items()}


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")  # the cases are full of what it warns of
class Conformance:
    """Inherit and give `scores`: every test below then runs through the host.

    Attributes:
        metrics: The metrics that are compared; narrow it to what the adapter offers.
        alone: Those that are also asked for one by one, if not all.
        refuses: Cases the host cannot express, with a pattern of the error it must raise: a number that is not the
            core's must not come out.
        holds_silence: Whether the host can say that nothing was retrieved; if not, such a query is absent from its run.
        cannot_express: Kinds of `NO_JUDGMENTS` that the host's objects cannot express, as they are no lists of ids.
    """

    metrics: ClassVar[tuple[str, ...]] = METRICS
    alone: ClassVar[tuple[str, ...] | None] = None
    refuses: ClassVar[Mapping[str, str]] = {}
    holds_silence: ClassVar[bool] = True
    cannot_express: ClassVar[frozenset[str]] = frozenset()

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        """Score the rankings through the host.

        Args:
            qrels: The judgments per query.
            run: The ranking per query; a query may be missing: let the retriever fail or return nothing for it.
            metrics: The names of the core, such as `ndcg@3`.
        """
        raise NotImplementedError

    def results(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> tuple[Scores, rm.Evaluation | None]:
        """Score the rankings through the host once, and return the evaluation too where there is one."""
        return self.scores(qrels, run, metrics), None

    @pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
    def test_the_numbers_are_the_cores_and_what_was_given_stays(self, case: Case) -> None:
        qrels, run = copy.deepcopy((case.qrels, case.run))
        if case.name in self.refuses:
            with pytest.raises(Exception, match=self.refuses[case.name]):
                self.results(qrels, run, self.metrics)
        else:
            scores, evaluation = self.results(qrels, run, self.metrics)
            expected_run = {query: ranking for query, ranking in case.run.items() if ranking or self.holds_silence}
            expected = rm.evaluate(case.qrels, expected_run, self.metrics)
            assert bits(scores) == bits({metric: expected.per_query[metric] for metric in self.metrics})
            if evaluation is not None:
                assert_same_evaluation(evaluation, expected)
        assert (qrels, run) == (case.qrels, case.run), "what was handed over has changed"

    def test_one_metric_alone_scores_as_it_does_among_others(self) -> None:
        case = next(case for case in CASES if case.name == "flat")
        together = self.scores(case.qrels, case.run, self.metrics)
        for metric in self.metrics if self.alone is None else self.alone:
            assert bits(self.scores(case.qrels, case.run, [metric])) == bits({metric: together[metric]})

    @pytest.mark.parametrize("kind", NO_JUDGMENTS)
    def test_what_is_no_judgment_gives_no_number(self, kind: str) -> None:
        if kind in self.cannot_express:
            return
        judgments = NO_JUDGMENTS[kind]
        qrels: dict[str, Any] = {"q1": judgments, "q2": judgments}
        # Hosts raise errors of their own, or leave out the rows that have one.
        try:
            scores = self.scores(qrels, {"q1": ["d2", "d1"], "q2": ["d1"]}, ["mrr"])
        except Exception:
            return
        values = list(scores["mrr"].values())
        assert not [value for value in values if not math.isnan(value)]


def assert_same_evaluation(evaluation: rm.Evaluation, expected: rm.Evaluation) -> None:
    """Compare means and counts."""
    assert dict(evaluation.n) == dict(expected.n)
    assert bits({"means": evaluation.means}) == bits({"means": expected.means})
    failed = evaluation.counts["failed"]  # the run of the core knows no retriever that could fail
    assert {**evaluation.counts, "failed": 0} == expected.counts
    assert failed <= evaluation.counts["missing"]


def call_with_warnings(call: Callable[[], T]) -> tuple[T, str]:
    """Return what a call returns, and all that it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        returned = call()
    return returned, "\n".join(str(warning.message) for warning in caught)


class EvaluationConformance(Conformance):
    """Inherit and give `evaluation`, where the adapter returns the core's own result.

    Attributes:
        keeps_its_run: Whether the evaluation knows the run, so that ids can be shown and decisions refused.
        only_values: Whether the host hands back values alone, of which nothing can be said.
    """

    keeps_its_run: ClassVar[bool] = True
    only_values: ClassVar[bool] = False

    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        """Evaluate the rankings through the host; the arguments are those of `scores`."""
        raise NotImplementedError

    def results(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> tuple[Scores, rm.Evaluation | None]:
        evaluation = self.evaluation(qrels, run, metrics)
        return {metric: evaluation.per_query[metric] for metric in metrics}, evaluation

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        return self.results(qrels, run, metrics)[0]

    def test_silence_is_right_where_nothing_is_relevant(self) -> None:
        qrels: dict[str, Any] = {"answerable": ["d1"], "silent": [], "missed": ["d2"]}
        run = {"answerable": ["d1"], "silent": [], "missed": []}
        (_, evaluation), warning_text = call_with_warnings(lambda: self.results(qrels, run, ["mrr"]))
        assert evaluation is not None
        assert (evaluation.counts["missing"], evaluation.counts["no_relevant"]) == (1, 1)
        assert "'silent'" not in warning_text

    def test_ids_that_never_meet_are_said_and_decide_nothing(self) -> None:
        if self.only_values:
            pytest.skip("the host hands back values alone")
        qrels = {"q1": ["d1"], "q2": ["d2"]}
        run = {"q1": ["x", "y"], "q2": ["y"]}
        (_, evaluation), warning_text = call_with_warnings(lambda: self.results(qrels, run, ["mrr"]))
        assert evaluation is not None
        assert "no retrieved document is judged for its query" in warning_text
        if self.keeps_its_run:
            assert all(warning_text.count(f"'{name}'") == 1 for name in ("d1", "d2", "x", "y"))
            with pytest.raises(ValueError, match="no system retrieved a judged document"):
                rm.compare({"one": evaluation, "other": evaluation})

    def test_ids_that_nearly_match_are_counted_and_said(self) -> None:
        if self.only_values:
            pytest.skip("the host hands back values alone")
        qrels, run = make_near_right_run()
        (_, evaluation), warning_text = call_with_warnings(lambda: self.results(qrels, run, ["mrr"]))
        assert evaluation is not None
        assert evaluation.means["mrr"] == 1 / (len(NEAR_RIGHT_IDS) + 1)
        assert evaluation.counts["near_misses"] == len(NEAR_RIGHT_IDS)
        assert f"{len(NEAR_RIGHT_IDS)} of {len(NEAR_RIGHT_IDS)} missing relevant documents" in warning_text


Items: TypeAlias = Mapping[str, Sequence[rm.Retrieved]]
"""Per query what was retrieved, best first, as the core holds it."""


class Matched(NamedTuple):
    """Judgments of one kind, and what they are compared with."""

    name: str
    match: Any
    qrels: dict[str, Any]


SHOP = (
    "Refunds take five working days to arrive. They go to the card you paid with and to no other. "
    "Shipping back is free for a month from the day of delivery. After that you pay for it yourself."
)
HOURS = "We are open on Sundays from ten to four. On holidays we are closed all day long."


def _cut(source: str, text: str, start: int, end: int, **metadata: Any) -> rm.Retrieved:
    named = {"source": source, "start_index": start, **metadata}
    return rm.Retrieved(f"{source}@{start}", text[start:end], source, start, end, metadata=named)


REFUND = _cut("shop.md", SHOP, 0, 41, page=1)
CARD = _cut("shop.md", SHOP, 42, 92, page=1)
SHIPPING = _cut("shop.md", SHOP, 93, 152)
LATER = _cut("shop.md", SHOP, 153, len(SHOP), page=2)
SUNDAYS = _cut("hours.md", HOURS, 0, 40, page=1)
HOLIDAYS = _cut("hours.md", HOURS, 41, len(HOURS))
ITEMS: Items = {
    "q1": [SUNDAYS, REFUND, CARD, SHIPPING],
    "q2": [LATER, SHIPPING, HOLIDAYS],
    "q3": [CARD, REFUND],
    "q4": [SUNDAYS],
}
"""Chunks of two sources; some have no page."""

MATCHED = (
    Matched("ids", "id", {"q1": ["shop.md@0"], "q2": {"shop.md@93": 2, "x": 1}, "q3": ["shop.md@0"], "q4": ["x"]}),
    Matched("metadata, partly missing", "metadata:page", {"q1": [1], "q2": [2, 3], "q3": {1: 2}, "q4": [2]}),
    Matched("source", "source", {query: ["shop.md", "other.md"] for query in ITEMS}),
    Matched("source, each once", rm.Matching(by="source", deduplicate=True), {query: ["shop.md"] for query in ITEMS}),
    Matched("a function", lambda item: item.text, {"q1": [CARD.text], "q2": [LATER.text], "q3": ["x"], "q4": ["x"]}),
    Matched(
        "quotes",
        "id",
        {
            "q1": [rm.Quote("take five working days")],
            "q2": [[rm.Quote("free for a month"), rm.Quote("pay for it yourself")], [rm.Quote("closed all day")]],
            "q3": [rm.Quote("open on Sundays")],
            "q4": [rm.Quote("open on Sundays")],
        },
    ),
    Matched("texts", "id", {query: [rm.Text(str(SHIPPING.text)), rm.Text(str(REFUND.text))] for query in ITEMS}),
    Matched(
        "spans",
        rm.Matching(sources={"shop.md": SHOP, "hours.md": HOURS}),
        {query: [rm.Span("shop.md", 42, 120), rm.Span("hours.md", 0, 40)] for query in ITEMS},
    ),
    Matched(
        "what must not come back",
        "id",
        {
            "q1": {rm.Quote("take five working days"): 1, ~rm.Metadata(page=1): -1},
            "q2": {rm.Quote("free for a month"): 1, rm.Quote("pay for it yourself"): -1},
            "q3": [[rm.Text(str(CARD.text))], {rm.Text(str(REFUND.text)): -1}],
            "q4": {rm.Metadata(page=1): -1},
        },
    ),
    Matched("metadata as a judgment", "id", {query: [rm.Metadata(page=1), rm.Metadata(page=2)] for query in ITEMS}),
)

OF_ITEMS = (
    "mrr",
    "map",
    "recall@2",
    "ndcg@3",
    "precision",
    "recall@60chars",
    "full_recall@100chars",
    "leak@2",
    "inverted@3",
    "false_answer",
)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class MatchConformance:
    """Inherit and give `matched`: every kind of judgment then runs through the host.

    Attributes:
        metrics: The metrics that are compared.
        leaves_out: Kinds of judgments that the host has no place for.
        sees_whole_runs: Whether a warning of a whole run is possible: a row of its own says nothing of the others.
    """

    sees_whole_runs: ClassVar[bool] = True

    metrics: ClassVar[tuple[str, ...]] = OF_ITEMS
    leaves_out: ClassVar[frozenset[str]] = frozenset()

    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        """Score items through the host, converted to its documents; `match` is that of `rm.evaluate`."""
        raise NotImplementedError

    @pytest.mark.parametrize("case", MATCHED, ids=lambda case: case.name)
    def test_whatever_is_judged_the_numbers_are_the_cores(self, case: Matched) -> None:
        if case.name in self.leaves_out:
            pytest.skip("the host has no place for it")
        expected = rm.evaluate(case.qrels, ITEMS, self.metrics, match=case.match).per_query
        scores = self.matched(case.qrels, ITEMS, self.metrics, case.match)
        assert bits(scores) == bits({metric: dict(expected[metric]) for metric in self.metrics})

    def test_a_query_for_which_nothing_was_retrieved_is_0_under_a_budget_too(self) -> None:
        qrels: dict[str, Any] = {"found": ["shop.md@0"], "nothing": ["shop.md@0"]}
        scores = self.matched(qrels, {"found": [REFUND], "nothing": []}, ["recall@60chars"], "id")
        assert bits(scores) == bits({"recall@60chars": {"found": 1.0, "nothing": 0.0}})

    def test_scores_of_items_do_not_order_them(self) -> None:
        """Distances, which rise, do no harm in a list."""
        run = {"q": [replace(item, score=score) for score, item in enumerate((REFUND, CARD, SHIPPING))]}
        assert bits(self.matched({"q": ["shop.md@0"]}, run, ["mrr"], "id")) == bits({"mrr": {"q": 1.0}})

    def test_where_a_source_is_a_judged_id_the_option_is_named(self) -> None:
        def call() -> str:
            try:
                self.matched({query: ["shop.md"] for query in ITEMS}, ITEMS, ["mrr"], "id")
            except ValueError as refused:  # where something is decided
                return str(refused)
            return ""

        warning_text = "\n".join(call_with_warnings(call))
        assert bool(re.search("match='(source|metadata:source)'", warning_text)) is self.sees_whole_runs

    def test_a_document_without_the_property_keeps_its_rank(self) -> None:
        run = {"one": [REFUND], "two": [LATER, SHIPPING]}
        qrels = {"one": [1], "two": [2]}
        scores = self.matched(qrels, run, ["mrr"], "metadata:page")
        assert bits(scores) == bits({"mrr": {"one": 1.0, "two": 1.0}})
