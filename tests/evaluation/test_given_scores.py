"""Scores that were computed elsewhere are compared, saved, reported and checked like others."""

import pickle
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import retrieval_metrics as rm

QUERIES = [f"q{number}" for number in range(24)]
GOOD = {query: 0.5 + number % 5 / 10 for number, query in enumerate(QUERIES)}
FAST = {query: 100.0 + number % 7 for number, query in enumerate(QUERIES)}
SLOW = {query: value + 27 for query, value in FAST.items()}
OPTIONS: dict[str, Any] = {"bounds": {"faithfulness": (0, 1), "latency": (0, None)}, "lower_is_better": ["latency"]}


def make_evaluation(latency: dict[str, float], **changes: Any) -> rm.Evaluation:
    return rm.Evaluation.from_scores({"faithfulness": GOOD | changes, "latency": latency}, **OPTIONS)


def compare_fast_and_slow() -> rm.Comparison:
    return rm.compare({"A": make_evaluation(FAST), "B": make_evaluation(SLOW)})


def test_a_slower_system_is_worse_everywhere() -> None:
    comparison = compare_fast_and_slow()
    conclusion = comparison.conclusions.get("latency")
    assert (conclusion.system, conclusion.baseline) == ("B", "A")
    assert (conclusion.kind, conclusion.difference, conclusion.gain) == ("worse", 27, -27)
    assert (conclusion.details.paired.wins, conclusion.details.paired.losses) == (0, 24)
    assert [place.system for place in comparison.ranking.by_metric["latency"]] == ["A", "B"]
    assert comparison.ranking.best["latency"] == ("A",)
    assert "lower is better for latency" in str(comparison)
    assert comparison.conclusions.get("faithfulness").kind == "identical"


def test_the_best_of_three_is_the_fastest() -> None:
    three = {
        "slow": make_evaluation(SLOW),
        "fast": make_evaluation(FAST),
        "slowest": make_evaluation({query: latency + 60 for query, latency in FAST.items()}),
    }
    places = rm.compare(three, metrics="latency").ranking.by_metric["latency"]
    assert [(place.system, place.status) for place in places] == [
        ("fast", "best"),
        ("slow", "worse"),
        ("slowest", "worse"),
    ]


def test_a_margin_is_a_loss_in_the_direction_of_the_metric() -> None:
    slower = {query: latency + 1.0 + number % 2 for number, (query, latency) in enumerate(FAST.items())}
    evaluations = {
        name: rm.Evaluation.from_scores({"latency": values}, bounds=(0, 200), lower_is_better="latency")
        for name, values in (("A", FAST), ("B", slower))
    }

    def find_noninferiority(baseline: str, margin: float) -> str | None:
        return rm.compare(evaluations, baseline=baseline, margin=margin).conclusions[0].noninferiority

    assert find_noninferiority("A", 1.0) == "inferior"
    assert find_noninferiority("A", 150.0) == "noninferior"
    assert find_noninferiority("B", 150.0) == "noninferior"
    assert find_noninferiority("B", 1.0) != "inferior"


@pytest.mark.parametrize("missing", [None, nan, np.float64("nan"), pd.NA])
def test_none_and_nan_are_undefined(missing: Any) -> None:
    evaluation = make_evaluation(FAST, q0=missing)
    assert evaluation.n == {"faithfulness": 23, "latency": 24}
    assert evaluation.means["faithfulness"] == pytest.approx(np.mean([GOOD[query] for query in QUERIES[1:]]))


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
    bounded = {
        "a": rm.Evaluation.from_scores(scores, bounds=(1, 5)),
        "b": rm.Evaluation.from_scores(other, bounds=(1, 5)),
    }
    assert rm.compare(bounded).differences[0].max_difference == 4
    unbounded = {"a": rm.Evaluation.from_scores(scores), "b": rm.Evaluation.from_scores(other)}
    assert rm.compare(unbounded).differences[0].max_difference == 4  # what was seen
    assert "no bounds given for rating" in str(rm.compare(unbounded))


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
        ({"f": {}}, {}, "no query has a score"),
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
        rm.compare({"A": make_evaluation(FAST), "B": other})
    renamed = rm.Evaluation.from_scores({"faithfulness": {"z": 1.0}, "latency": {"z": 1.0}})
    with pytest.raises(ValueError, match="faithfulness is not the same in all"):
        rm.merge([make_evaluation(FAST), renamed])


def test_what_is_given_cannot_be_computed() -> None:
    make_evaluation(FAST)
    with pytest.raises(ValueError, match="latency cannot be computed, its values are given"):
        rm.evaluate({"q": ["d"]}, {"q": ["d"]}, ["mrr", "latency"])
    with pytest.raises(ValueError, match="holds values only"):
        make_evaluation(FAST).explain("q0")
    with pytest.raises(ValueError, match="Pass pilot="):
        rm.plan(0.1, "faithfulness")
    assert rm.plan(0.1, "faithfulness", pilot=make_evaluation(FAST)).scenarios


def evaluate_retrieval() -> rm.Evaluation:
    qrels = {query: ["d"] for query in QUERIES}
    run = {query: ["x", "d"] if number % 3 == 0 else ["d"] for number, query in enumerate(QUERIES)}
    return rm.evaluate(qrels, run, ["mrr", "ndcg@10"])


def test_beside_retrieval_metrics() -> None:
    own = evaluate_retrieval()
    extended = own.with_scores({"faithfulness": GOOD, "latency": FAST}, **OPTIONS)
    assert list(extended.means) == ["mrr", "ndcg@10", "faithfulness", "latency"]
    assert extended.means["mrr"] == own.means["mrr"]
    assert extended.intervals()["ndcg@10"] == own.intervals()["ndcg@10"]
    assert extended.explain("q0").n_relevant == 1
    assert set(extended.worst("latency", 3).queries) == {"q6", "q13", "q20"}  # the slowest
    assert set(extended.group_by(lambda query: int(query[1:]) % 2)) == {0, 1}
    with pytest.raises(ValueError, match="mrr is already in this evaluation"):
        own.with_scores({"rr": GOOD})
    with pytest.raises(ValueError, match="'q99', which is not among the queries"):
        own.with_scores({"faithfulness": {"q99": 0.5}})
    with pytest.raises(ValueError, match="has nothing to grade"):
        rm.compare({"A": extended, "B": extended}, unjudged="bounds")
    assert rm.compare({"A": extended, "B": extended}).to_judge(1)[0].document == "x"


def test_files_hold_the_facts(tmp_path: Path) -> None:
    results: list[Any] = [
        make_evaluation(FAST, q1=None),
        evaluate_retrieval().with_scores({"latency": FAST}, **LATENCY),
        compare_fast_and_slow(),
    ]
    for result in results:
        result.save(tmp_path / "saved.json")
        loaded = rm.load(tmp_path / "saved.json")
        assert str(loaded) == str(result)
        bounds = [metric.definition.bounds for metric in result.metrics]
        assert [metric.definition.bounds for metric in loaded.metrics] == bounds
    unpickled = pickle.loads(pickle.dumps(make_evaluation(FAST)))
    assert not unpickled.metrics[1].definition.higher_is_better


LATENCY: dict[str, Any] = {"bounds": (0, None), "lower_is_better": "latency"}


def test_a_saved_value_out_of_bounds_is_refused(tmp_path: Path) -> None:
    make_evaluation(FAST).save(tmp_path / "saved.json")
    text = (tmp_path / "saved.json").read_text().replace("106.0", "-106.0")
    (tmp_path / "saved.json").write_text(text)
    with pytest.raises(ValueError):  # noqa: PT011  (the digest is the first to say so)
        rm.load(tmp_path / "saved.json")


def test_slices_clusters_histories_reports_and_plots(tmp_path: Path) -> None:
    evaluation = rm.Evaluation.from_scores(
        {"faithfulness": GOOD, "latency": FAST}, **OPTIONS, clusters=lambda query: query[:2]
    )
    assert evaluation.scores.clusters is not None
    assert "clustered CIs" in str(evaluation)
    halves = make_evaluation(FAST).group_by(lambda query: int(query[1:]) % 2)
    assert halves[0].counts["queries"] == halves[1].counts["queries"] == 12
    history = rm.History(tmp_path / "history.jsonl")
    history.add(make_evaluation(FAST), label="before")
    history.add(make_evaluation(SLOW), label="after")
    assert [entry.mean("latency") for entry in history.entries()] == [
        make_evaluation(FAST).means["latency"],
        make_evaluation(SLOW).means["latency"],
    ]
    history.plot("latency")
    make_evaluation(FAST).report(tmp_path / "one.html")
    page = (tmp_path / "one.html").read_text()
    assert "The worst queries in faithfulness" in page
    assert "given, from 0 to inf; lower is better" in page
    comparison = compare_fast_and_slow()
    comparison.report(tmp_path / "two.html")
    assert "B is worse than A in latency" in (tmp_path / "two.html").read_text()
    comparison.plot()
    evaluate_retrieval().with_scores({"latency": FAST}, **LATENCY).report(tmp_path / "three.html")
    assert "latency" in (tmp_path / "three.html").read_text()


def test_few_false_findings() -> None:
    """Three equal systems in four correlated, skewed scores of 60 queries: a finding in at most one of eleven runs."""
    rng = np.random.default_rng(7)
    names = ["faithfulness", "relevancy", "seconds", "cost"]
    n_findings = 0
    for _ in range(40):
        systems = {}
        for system in "ABC":
            common = rng.beta(2, 1, 60)
            columns = [0.5 * (common + rng.beta(2, 1, 60)), common, rng.lognormal(0, 1, 60), rng.gamma(2, 1, 60)]
            scores = {name: dict(enumerate(column.tolist())) for name, column in zip(names, columns, strict=True)}
            systems[system] = rm.Evaluation.from_scores(scores, lower_is_better=["seconds", "cost"])
        n_findings += any(difference.significant for difference in rm.compare(systems, resamples=1000).differences)
    assert n_findings <= 6  # at a rate of .055 more than 6 of 40 have a probability of .01


def test_few_values_are_counted_one_by_one_in_the_report(tmp_path: Path) -> None:
    calls = {f"q{number}": float(1 + number % 3) for number in range(30)}
    seconds = {f"q{number}": number / 10 for number in range(30)}
    evaluation = rm.Evaluation.from_scores({"calls": calls, "seconds": seconds}, bounds=(0, float("inf")))
    evaluation.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for value in (1, 2, 3):
        assert f"<span>{value}</span>" in page
    assert page.count('aria-label="10 of 30"') == 3
    assert "<span>0 to 0.58</span>" in page


def test_a_misspelt_name_is_first_taken_for_a_computed_metric() -> None:
    assert rm.Evaluation.from_scores({"mrt": {"q": 3.0}}, bounds={"mrt": (0, None)}).means == {"mrt": 3.0}
    with pytest.raises(ValueError, match=r"unknown metric 'mmr'; did you mean mrr or mrt"):
        rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mmr")
