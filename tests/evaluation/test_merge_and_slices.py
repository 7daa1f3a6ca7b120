"""Slices of the queries are evaluations of their own, and parts add up to the whole, to the last bit."""

import pickle
import random
from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from generated import scored_run
from retrieval_metrics.types import Judgments, Ranking

QRELS: dict[str, Judgments] = {"q1": ["a"], "q2": ["a"], "q3": {"a": 0}, "q4": ["a"]}
RUN: dict[str, Ranking] = {"q1": ["a", "a"], "q2": ["x", "a"], "q3": ["a"], "q4": {"a": 1.0, "b": 1.0}, "q9": ["a"]}
LABELS = {"q1": "short", "q2": "long", "q3": "short", "q4": "long", "q9": "long"}


@pytest.fixture
def result() -> rm.Evaluation:
    return rm.evaluate(QRELS, RUN, ["mrr", "rbp"])


def test_a_slice_is_the_evaluation_of_its_queries(result: rm.Evaluation) -> None:
    slices = result.group_by(LABELS)
    assert list(slices) == ["short", "long"]
    for label, part in slices.items():
        queries = [query for query in QRELS if LABELS[query] == label]
        alone = rm.evaluate({q: QRELS[q] for q in queries}, {q: RUN[q] for q in queries}, ["mrr", "rbp"])
        assert str(part) == str(alone)
        assert dict(part.counts) == dict(alone.counts)
        assert dict(part.residuals) == dict(alone.residuals)


def test_a_slice_explains_its_queries_and_no_others(result: rm.Evaluation) -> None:
    long = result.group_by(LABELS)["long"]
    assert [one.query for one in long.worst("mrr")] == ["q2", "q4"]
    with pytest.raises(KeyError, match="query 'q1' was not evaluated; the evaluated queries begin with 'q2', 'q4'"):
        long.explain("q1")


def test_labels_may_be_computed_and_queries_without_one_are_counted(result: rm.Evaluation) -> None:
    slices = result.group_by(lambda query: None if query == "q2" else int(query[1]) > 2)
    assert {label: part.queries for label, part in slices.items()} == {False: ("q1",), True: ("q3", "q4")}
    assert slices.unlabelled == 1
    assert "1 query without a label, in no slice" in str(slices)


def test_one_table_holds_all_slices(result: rm.Evaluation) -> None:
    lines = str(result.group_by(LABELS)).splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["slice", "metric", "mean"],
        ["short", "mrr", "1.000"],
        ["short", "rbp", "0.200"],
        ["long", "mrr", "0.500"],
        ["long", "rbp", "0.160"],
    ]
    frame = result.group_by(LABELS).to_pandas()
    assert frame["mean"].tolist() == pytest.approx([1, 0.2, 0.5, 0.16])
    assert frame["n"].tolist() == [1, 1, 2, 2]


def test_slices_can_be_cut_again(result: rm.Evaluation) -> None:
    assert list(result.group_by(LABELS)["long"].group_by({"q4": "tied"})["tied"].queries) == ["q4"]


def test_what_is_no_label_is_an_error(result: rm.Evaluation) -> None:
    with pytest.raises(TypeError, match="labels must map query ids to labels, or be a function"):
        result.group_by(["short", "long"])  # type: ignore[arg-type]  # the point of the line
    with pytest.raises(ValueError, match=r"no query has a label; .* such as 'q1', 'q2', 'q3'"):
        result.group_by({1: "short"})
    with pytest.raises(KeyError, match="no slice has the label 'middle'; the labels are 'short', 'long'"):
        result.group_by(LABELS)["middle"]


QUERIES = [f"q{at}" for at in range(24)]
GOOD = {query: 0.5 + at % 5 / 10 for at, query in enumerate(QUERIES)}
FAST = {query: 100.0 + at % 7 for at, query in enumerate(QUERIES)}
SLOW = {query: value + 27 for query, value in FAST.items()}
FACTS: dict[str, Any] = {"bounds": {"faithfulness": (0, 1), "latency": (0, None)}, "lower_is_better": ["latency"]}


def of_others(latency: dict[str, float], **changes: Any) -> rm.Evaluation:
    return rm.Evaluation.from_scores({"faithfulness": GOOD | changes, "latency": latency}, **FACTS)


def compared(**options: Any) -> rm.Comparison:
    return rm.compare({"A": of_others(FAST), "B": of_others(SLOW)}, **options)


def test_a_slower_system_is_worse_everywhere() -> None:
    comparison = compared()
    one = comparison.conclusions.get("latency")
    assert (one.kind, one.difference, one.gain) == ("worse", 27, -27)
    assert one.sentence.startswith("B is worse than A in latency, by 27.0")
    assert (one.details.paired.wins, one.details.paired.losses) == (0, 24)
    assert [place.system for place in comparison.ranking.by_metric["latency"]] == ["A", "B"]
    assert comparison.ranking.best["latency"] == ("A",)
    assert "lower is better in latency" in str(comparison)
    assert comparison.conclusions.get("faithfulness").kind == "identical"


def test_the_best_of_three_is_the_fastest() -> None:
    three = {
        "slow": of_others(SLOW),
        "fast": of_others(FAST),
        "slowest": of_others({q: v + 60 for q, v in FAST.items()}),
    }
    places = rm.compare(three, metrics="latency").ranking.by_metric["latency"]
    assert [(place.system, place.status) for place in places] == [
        ("fast", "best"),
        ("slow", "worse"),
        ("slowest", "worse"),
    ]


def test_a_margin_is_a_loss_in_the_direction_of_the_metric() -> None:
    slower = {query: value + (2.0 if at % 2 else 1.0) for at, (query, value) in enumerate(FAST.items())}
    evaluations = {
        name: rm.Evaluation.from_scores({"latency": values}, bounds=(0, 200), lower_is_better="latency")
        for name, values in (("A", FAST), ("B", slower))
    }
    outcomes = {
        (system, margin): rm.compare(evaluations, baseline=base, margin=margin).conclusions[0].noninferiority
        for system, base in (("A", "B"), ("B", "A"))
        for margin in (1.0, 150.0)
    }
    assert outcomes["B", 1.0] == "inferior"
    assert outcomes["B", 150.0] == "noninferior"
    assert outcomes["A", 150.0] == "noninferior"
    assert outcomes["A", 1.0] != "inferior"


@pytest.mark.parametrize("missing", [None, nan, np.float64("nan"), pd.NA])
def test_none_and_nan_are_undefined(missing: Any) -> None:
    evaluation = of_others(FAST, q0=missing)
    assert evaluation.n == {"faithfulness": 23, "latency": 24}
    assert evaluation.means["faithfulness"] == pytest.approx(np.mean([GOOD[q] for q in QUERIES[1:]]))


def test_bounds_are_those_of_the_interval_and_of_the_largest_difference() -> None:
    scores = {"rating": dict(zip(QUERIES, [1.0, 5.0] * 12, strict=True))}
    low, high = rm.Evaluation.from_scores(scores, bounds=(1, 5)).intervals()["rating"]
    wide_low, wide_high = rm.Evaluation.from_scores(scores).intervals()["rating"]
    assert 1 <= low < 3 < high <= 5
    assert high - low < wide_high - wide_low
    unit = {"rating": {query: (value - 1) / 4 for query, value in scores["rating"].items()}}
    ends = rm.Evaluation.from_scores(unit, bounds=(0, 1)).intervals()["rating"]
    assert [1 + 4 * end for end in ends] == pytest.approx([low, high])
    other = {"rating": dict.fromkeys(QUERIES, 3.0)}
    pair = {name: rm.Evaluation.from_scores(each, bounds=(1, 5)) for name, each in (("a", scores), ("b", other))}
    assert rm.compare(pair).differences[0].max_difference == 4
    free = {name: rm.Evaluation.from_scores(each) for name, each in (("a", scores), ("b", other))}
    assert rm.compare(free).differences[0].max_difference == 4  # what was seen
    assert "without bounds: rating" in str(rm.compare(free))


def test_scores_below_zero_are_kept() -> None:
    evaluation = rm.Evaluation.from_scores({"log_probability": {"a": -3.0, "b": -1.0, "c": -2.0}}, bounds=(None, 0))
    low, high = evaluation.intervals()["log_probability"]
    assert low < evaluation.means["log_probability"] == -2 < high <= 0
    evaluation.plot()


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({"f": {"q": 1.5}}, {"bounds": (0, 1)}, r"f of query 'q' is 1.5, which is not in \[0, 1\]"),
        ({"f": {"q": inf}}, {}, "f of query 'q' is inf"),
        ({"ndcg@10": {"q": 55}}, {}, r"ndcg@10 of query 'q' is 55, which is not in \[0, 1\]"),
        ({"ndcg@10": {"q": 5}}, {"bounds": (0, 10)}, "is the name of a metric of this package"),
        ({"err": {"q": 0.5}}, {"lower_is_better": "err"}, "is the name of a metric of this package"),
        ({"f": {"q": 0.5}}, {"bounds": (1, 0)}, "the lower bound must be below the upper"),
        ({"f": {"q": 0.5}}, {"bounds": {"g": (0, 1)}}, "bounds has 'g', which has no scores"),
        ({"f": {"q": 0.5}}, {"lower_is_better": ["g"]}, "lower_is_better has 'g'"),
        ({"f": {}}, {}, "there are no scores"),
        ({" ": {"q": 0.5}}, {}, "must be printable and not blank"),
        ({"ndcg@10": {"q": 0.5}, "nDCG@10": {"q": 0.5}}, {}, "mean the same metric"),
    ],
)
def test_wrong_scores_are_refused(scores: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.Evaluation.from_scores(scores, **options)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({"f": {"q": "0.5"}}, {}, "f of query 'q' must be a number, or None if undefined, got '0.5'"),
        ({"f": {"q": 0.5, 1: 0.5}}, {}, "partly str and partly int"),
        ({"f": [0.5]}, {}, r"scores\['f'\] must be a score of each query"),
        ({}, {}, "must map the name of each metric"),
        ({"f": {"q": 0.5}}, {"bounds": 1}, "bounds must be the smallest and the largest value"),
        (pd.DataFrame({"f": [0.5]}), {}, "from_frame"),
    ],
)
def test_scores_of_a_wrong_type_are_refused(scores: Any, options: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        rm.Evaluation.from_scores(scores, **options)


def test_other_facts_are_refused_where_two_meet() -> None:
    other = rm.Evaluation.from_scores({"faithfulness": GOOD}, bounds=(0, 5))
    with pytest.raises(ValueError, match="faithfulness is not the same in all: given, from 0 to 1 in one"):
        rm.compare({"A": of_others(FAST), "B": other})
    renamed = rm.Evaluation.from_scores({"faithfulness": {"z": 1.0}, "latency": {"z": 1.0}})
    with pytest.raises(ValueError, match="faithfulness is not the same in all"):
        rm.merge([of_others(FAST), renamed])


def test_what_is_given_cannot_be_computed() -> None:
    of_others(FAST)
    with pytest.raises(ValueError, match="latency cannot be computed, its values are given"):
        rm.evaluate({"q": ["d"]}, {"q": ["d"]}, ["mrr", "latency"])
    with pytest.raises(ValueError, match="holds only values"):
        of_others(FAST).explain("q0")
    with pytest.raises(ValueError, match="pass a pilot"):
        rm.plan(0.1, "faithfulness")
    assert rm.plan(0.1, "faithfulness", pilot=of_others(FAST)).scenarios


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, lambda columns: pl.DataFrame(columns).to_arrow()])
def test_tables(make: Any) -> None:
    long = {"qid": ["1", "1", "2"], "measure": ["nDCG@10", "mrt", "nDCG@10"], "value": [0.5, 12.0, 1.0]}
    found = rm.Evaluation.from_frame(make(long), query="qid", metric="measure")
    assert found.per_query["ndcg@10"] == {"1": 0.5, "2": 1.0}
    assert found.n == {"ndcg@10": 2, "mrt": 1}
    wide = {"id": [1, 2], "faithfulness": [0.5, None], "relevancy": [1.0, 0.0]}
    both = rm.Evaluation.from_frame(make(wide), query="id", value=["faithfulness", "relevancy"], bounds=(0, 1))
    assert both.means == {"faithfulness": 0.5, "relevancy": 0.5}
    assert both.queries == (1, 2)
    with pytest.raises(ValueError, match="has no column 'query'; it has 'qid', 'measure', 'value'"):
        rm.Evaluation.from_frame(make(long), query="query", metric="measure")
    twice = {"qid": ["1", "1"], "measure": ["P@5", "P@5"], "value": [0.5, 0.6]}
    with pytest.raises(ValueError, match="query '1' has two scores of 'P@5'"):
        rm.Evaluation.from_frame(make(twice), query="qid", metric="measure")


def beside() -> rm.Evaluation:
    qrels = {query: ["d"] for query in QUERIES}
    run = {query: ["d"] if at % 3 else ["x", "d"] for at, query in enumerate(QUERIES)}
    return rm.evaluate(qrels, run, ["mrr", "ndcg@10"])


def test_beside_retrieval_metrics() -> None:
    own = beside()
    both = own.with_scores({"faithfulness": GOOD, "latency": FAST}, **FACTS)
    assert list(both.means) == ["mrr", "ndcg@10", "faithfulness", "latency"]
    assert both.means["mrr"] == own.means["mrr"]
    assert both.intervals()["ndcg@10"] == own.intervals()["ndcg@10"]
    assert both.explain("q0").n_relevant == 1
    assert set(both.worst("latency", 3).queries) == {"q6", "q13", "q20"}  # the slowest
    assert set(both.group_by(lambda query: int(query[1:]) % 2)) == {0, 1}
    with pytest.raises(ValueError, match="mrr is already there"):
        own.with_scores({"rr": GOOD})
    with pytest.raises(ValueError, match="'q99', which is not among the queries"):
        own.with_scores({"faithfulness": {"q99": 0.5}})
    with pytest.raises(ValueError, match="has nothing to grade"):
        rm.compare({"A": both, "B": both}, unjudged="bounds")
    assert rm.compare({"A": both, "B": both}).to_judge(1)[0].document == "x"


def test_files_hold_the_facts(tmp_path: Path) -> None:
    for held in (of_others(FAST, q1=None), beside().with_scores({"latency": FAST}, **LATENCY), compared()):
        held.save(tmp_path / "saved.json")
        found = rm.load(tmp_path / "saved.json")
        assert str(found) == str(held)
        assert [one.definition.bounds for one in found.metrics] == [one.definition.bounds for one in held.metrics]
    again = pickle.loads(pickle.dumps(of_others(FAST)))  # noqa: S301  (what was just pickled)
    assert not again.metrics[1].definition.higher_is_better


LATENCY: dict[str, Any] = {"bounds": (0, None), "lower_is_better": "latency"}


def test_a_saved_value_out_of_bounds_is_refused(tmp_path: Path) -> None:
    of_others(FAST).save(tmp_path / "saved.json")
    text = (tmp_path / "saved.json").read_text().replace("106.0", "-106.0")
    (tmp_path / "saved.json").write_text(text)
    with pytest.raises(ValueError):  # noqa: PT011  (the digest is the first to say so)
        rm.load(tmp_path / "saved.json")


def test_slices_clusters_histories_reports_and_plots(tmp_path: Path) -> None:
    evaluation = rm.Evaluation.from_scores({"faithfulness": GOOD, "latency": FAST}, **FACTS, clusters=lambda q: q[:2])
    assert evaluation.scores.clusters is not None
    assert "intervals by cluster" in str(evaluation)
    halves = of_others(FAST).group_by(lambda query: int(query[1:]) % 2)
    assert halves[0].counts["queries"] == halves[1].counts["queries"] == 12
    history = rm.History(tmp_path / "history.jsonl")
    history.add(of_others(FAST), label="before")
    history.add(of_others(SLOW), label="after")
    assert [entry.mean("latency") for entry in history.entries()] == [
        of_others(FAST).means["latency"],
        of_others(SLOW).means["latency"],
    ]
    history.plot("latency")
    of_others(FAST).report(tmp_path / "one.html")
    page = (tmp_path / "one.html").read_text()
    assert "The worst queries in faithfulness" in page
    assert "given, from 0 to inf; lower is better" in page
    comparison = compared()
    comparison.report(tmp_path / "two.html")
    assert "B is worse than A in latency" in (tmp_path / "two.html").read_text()
    comparison.plot()
    beside().with_scores({"latency": FAST}, **LATENCY).report(tmp_path / "three.html")
    assert "latency" in (tmp_path / "three.html").read_text()


def test_few_false_findings() -> None:
    """Three equal systems in four correlated, skewed scores of 60 queries: a finding in at most one of eleven runs."""
    rng = np.random.default_rng(7)
    names, found, runs = ["faithfulness", "relevancy", "seconds", "cost"], 0, 40
    for _ in range(runs):
        systems = {}
        for name in "ABC":
            common = rng.beta(2, 1, 60)
            columns = [0.5 * (common + rng.beta(2, 1, 60)), common, rng.lognormal(0, 1, 60), rng.gamma(2, 1, 60)]
            scores = {of: dict(enumerate(column.tolist())) for of, column in zip(names, columns, strict=True)}
            systems[name] = rm.Evaluation.from_scores(scores, lower_is_better=["seconds", "cost"])
        found += any(each.significant for each in rm.compare(systems, resamples=1000).differences)
    assert found <= 6  # at a rate of .055 more than 6 of 40 have a probability of .01


def test_few_values_are_counted_one_by_one_in_the_report(tmp_path: Path) -> None:
    calls = {f"q{at}": float(1 + at % 3) for at in range(30)}
    seconds = {f"q{at}": at / 10 for at in range(30)}
    given = rm.Evaluation.from_scores({"calls": calls, "seconds": seconds}, bounds=(0, float("inf")))
    given.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert [number in page for number in ("<span>1</span>", "<span>2</span>", "<span>3</span>")] == [True] * 3
    assert page.count('aria-label="10 of 30"') == 3
    assert "<span>0 to 0.58</span>" in page


def test_a_misspelt_name_is_first_taken_for_a_computed_metric() -> None:
    assert rm.Evaluation.from_scores({"mrt": {"q": 3.0}}, bounds={"mrt": (0, None)}).means == {"mrt": 3.0}
    with pytest.raises(ValueError, match=r"unknown metric 'mmr'; did you mean mrr or mrt"):
        rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mmr")


unwarned = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
METRICS = (
    *("ndcg@10", "hit_rate@3", "precision@5", "map", "rbp(max_grade=4,p=0.5)"),
    *("err(max_grade=4)@10", "alpha_ndcg", "judged@10"),
)
RULES: list[dict[str, Any]] = [
    {},
    {"rules": "trec_eval"},
    {"rules": "autorag"},
    {"rules": "mlflow"},
    {"ties": "expected"},
]


def case(seed: int, queries: int = 40) -> tuple[dict[Any, Any], dict[Any, Any]]:
    rng = random.Random(seed)
    qrels, run = scored_run(rng, queries, depth=12, ties=0.5, judged=0.4)
    names = sorted(qrels)
    run.pop(names[0])  # missing
    qrels[names[1]] = dict.fromkeys(qrels[names[1]], 0)  # without a relevant document
    run["of nobody"] = {"d1": 1.0}  # not judged
    return qrels, run


Part: TypeAlias = tuple[dict[Any, Any], dict[Any, Any]]


def cut(qrels: dict[Any, Any], run: dict[Any, Any], parts: int, rng: random.Random) -> list[Part]:
    """Deal the queries out to parts at random; what is in the run alone goes with the first."""
    of = {query: rng.randrange(parts) for query in qrels}
    dealt = []
    for part in range(parts):
        truth = {query: judgments for query, judgments in qrels.items() if of[query] == part}
        dealt.append((truth, {query: run[query] for query in truth if query in run}))
    dealt[0][1].update({query: ranking for query, ranking in run.items() if query not in of})
    # evaluate refuses a part in which no judged query was run
    return dealt if all(truth.keys() & found.keys() for truth, found in dealt) else [(qrels, run)]


def same(one: rm.Evaluation, other: rm.Evaluation) -> None:
    assert str(one) == str(other)
    for name in one.means:
        assert np.array_equal(one.means[name], other.means[name], equal_nan=True)
        assert one.n[name] == other.n[name]
        assert one.intervals(0.9)[name] == other.intervals(0.9)[name]
    assert dict(one.residuals) == dict(other.residuals)
    assert one.counts == other.counts
    if other.tie_range is not None:
        assert one.tie_range is not None
        assert one.tie_range.means == other.tie_range.means
        assert one.tie_range.n_queries == other.tie_range.n_queries


@unwarned
@pytest.mark.parametrize("options", RULES, ids=str)
@pytest.mark.parametrize("parts", [2, 5])
def test_parts_give_the_whole_to_the_last_bit(options: dict[str, Any], parts: int) -> None:
    metrics = METRICS[:6] if "ties" in options else METRICS
    qrels, run = case(7)
    whole = rm.evaluate(qrels, run, metrics, **options)
    dealt = cut(qrels, run, parts, random.Random(parts))
    assert len(dealt) == parts
    evaluations = [rm.evaluate(*part, metrics, **options) for part in dealt]
    for order in (evaluations, evaluations[::-1]):
        same(rm.merge(order), whole)
        same(rm.merge(each.totals() for each in order), whole)
        nested = [rm.merge(each.totals() for each in order[:1]), rm.merge(each.totals() for each in order[1:])]
        same(rm.merge(nested), whole)


@unwarned
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_any_cut_gives_the_same(seed: int, parts: int) -> None:
    qrels, run = case(seed, 12)
    dealt = cut(qrels, run, parts, random.Random(seed))
    merged = rm.merge(rm.evaluate(*part, METRICS).totals() for part in dealt)
    same(merged, rm.evaluate(qrels, run, METRICS))


@unwarned
def test_merged_evaluations_keep_every_query() -> None:
    qrels, run = case(3)
    first, second = cut(qrels, run, 2, random.Random(1))
    metrics = ["mrr", "rbp(max_grade=4)"]
    parts = [rm.evaluate(*part, metrics, ties="expected") for part in (first, second)]
    merged = rm.merge(parts)
    whole = rm.evaluate(qrels, run, metrics, ties="expected")
    assert merged.queries == (*first[0], *second[0])
    for name in whole.per_query:
        merged_values, values = merged.per_query[name], whole.per_query[name]
        assert merged_values.keys() == values.keys()
        for query, value in values.items():
            assert np.array_equal(merged_values[query], value, equal_nan=True)
    assert merged.to_pandas().shape == (len(qrels), 2)
    assert repr(merged) == repr(whole)


@unwarned
def test_evaluations_of_groups_and_pieces_add_up_too() -> None:
    flat = ({"q1": ["a", "b"]}, {"q1": ["a"]})
    grouped: Any = ({"q2": [["a", "b"], ["c"]]}, {"q2": ["c", "x"]})
    metrics = ["precision@5", "f1@5", "recall"]
    whole = rm.evaluate({**flat[0], **grouped[0]}, {**flat[1], **grouped[1]}, metrics)
    same(rm.merge(rm.evaluate(truth, found, metrics).totals() for truth, found in (flat, grouped)), whole)


@unwarned
@pytest.mark.parametrize("options", RULES, ids=str)
def test_slices_add_up_to_the_whole(options: dict[str, Any]) -> None:
    qrels, run = case(9)
    del run["of nobody"]  # it is in no slice
    qrels = {query: judgments for query, judgments in qrels.items() if query in run}  # some rules leave others out
    whole = rm.evaluate(qrels, run, METRICS[:6], **options)
    slices = whole.group_by(lambda query: int(query[1:]) % 3)
    same(rm.merge(slices.values()), whole)
    same(rm.merge(each.totals() for each in slices.values()), whole)


@unwarned
def test_a_slice_has_the_tie_range_of_its_queries() -> None:
    qrels, run = {"q1": ["a"], "q2": ["a"]}, {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0}}
    slices = rm.evaluate(qrels, run, "mrr", ties="expected").group_by({"q1": "tied", "q2": "alone"})
    ranges = {label: each.tie_range.means["mrr"] for label, each in slices.items() if each.tie_range is not None}
    assert ranges == {"tied": (0.5, 1.0), "alone": (1.0, 1.0)}


@unwarned
def test_totals_survive_pickling() -> None:
    totals = rm.evaluate(*case(5), METRICS).totals()
    again = pickle.loads(pickle.dumps(totals))  # noqa: S301  (written in the line before)
    same(rm.merge([again]), rm.merge([totals]))


@unwarned
@pytest.mark.parametrize(
    "ask",
    [
        lambda one: one.queries,
        lambda one: one.values,
        lambda one: one.per_query,
        lambda one: one.to_pandas(),
        lambda one: one.explain("q1"),
        lambda one: one.worst("mrr"),
        lambda one: one.group_by({"q1": "x"}),
    ],
)
def test_sums_alone_say_that_they_know_no_query(ask: Callable[[rm.Evaluation], Any]) -> None:
    merged = rm.merge([rm.evaluate({"q1": ["a"]}, {"q1": ["a"]}, "mrr").totals()])
    with pytest.raises(ValueError, match=r"totals, which hold no single queries|it holds sums only"):
        ask(merged)
    assert repr(merged) == "<Evaluation of 1 queries: mrr 1.000>"


def evaluated(qrels: Any = None, metrics: Any = "mrr", **options: Any) -> rm.Evaluation:
    return rm.evaluate(qrels or {"q1": ["a"]}, {"q1": ["a"], "q2": ["a"]}, metrics, **options)


@unwarned
@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ([], ValueError, "nothing to merge: parts is empty"),
        ([{"mrr": 0.5}], TypeError, "parts must be evaluations or their totals, got dict"),
        ([evaluated(), evaluated()], ValueError, "query 'q1' is in two parts"),
        ([evaluated(), evaluated(metrics="map")], ValueError, "the same metrics, got mrr and map"),
        ([evaluated(), evaluated(rules="trec_eval")], ValueError, "same rules, got standard and trec_eval"),
        (
            [evaluated(), evaluated({"q2": ["a"]}, ties="expected")],
            ValueError,
            "got standard with ties='docid' and with ties='expected'",
        ),
        ([evaluated(), rm.evaluate({1: ["a"]}, {1: ["a"]}, "mrr")], TypeError, "query ids in the parts are partly str"),
        (evaluated(), TypeError, "several evaluations or totals, got one Evaluation; write a list"),
        (evaluated().group_by({"q1": "x"}), TypeError, r"got one Slices; pass its values\(\)"),
        (
            [evaluated({"q1": {"a": 1}}, "err"), evaluated({"q2": {"a": 3}}, "err")],
            ValueError,
            r"largest grade, which is 1 in one part and 3 in another; set it: err\(max_grade=3\)",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(parts: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.merge(parts)
