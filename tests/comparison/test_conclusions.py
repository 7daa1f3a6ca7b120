"""No two conclusions of a comparison contradict each other, whatever was compared and with which options."""

import json
import re
from collections.abc import Mapping

import numpy as np
import pytest

import retrieval_metrics as rm
from generated_comparisons import generate_comparison, generate_task
from ranked_systems import systems
from retrieval_metrics.types import Conclusion

N_COMPARISONS = 5_000
N_PARTS = 20
# The parts that run every time, a thousand comparisons; the others are slow tests.
N_FAST_PARTS = 4

HEADLINES = {
    "better": r"^(?P<system>\S+) is better than (?P<baseline>\S+) in (?P<metric>[^\s,]+)( in this sample)? by ",
    "worse": r"^(?P<system>\S+) is worse than (?P<baseline>\S+) in (?P<metric>[^\s,]+)( in this sample)? by ",
    "not_significant": r"^No significant difference between (?P<system>\S+) and (?P<baseline>\S+) "
    r"in (?P<metric>[^\s:;,]+)",
    "identical": r"^(?P<system>\S+) and (?P<baseline>\S+) have identical values "
    r"in (?P<metric>[^\s:;,.]+) on every query",
    "depends_on_unjudged": r"^(?P<system>\S+) is (better|worse) than (?P<baseline>\S+) "
    r"in (?P<metric>\S+) as judged, but this depends on unjudged documents: the difference is ",
    "not_comparable": r"^(?P<system>\S+) and (?P<baseline>\S+) are not comparable in (?P<metric>[^\s:]+): ",
    "no_common_queries": r"^(?P<system>\S+) and (?P<baseline>\S+) share no query on which (?P<metric>\S+) is defined",
}
# The headlines of sentences about several systems.
GROUP_HEADLINES = {
    "better": "^(?!.* as judged, but).* (is|are) (better|worse) than ",
    "worse": "^(?!.* as judged, but).* (is|are) (better|worse) than ",
    "not_significant": "(^No significant difference between | (does|do) not differ significantly from )",
    "identical": " have (identical|the same) values ",
    "depends_on_unjudged": " as judged, but this depends on unjudged documents",
    "not_comparable": " are not comparable ",
    "no_common_queries": " share no query ",
}
CLAUSES = {
    "grades change nothing": r"; no grades of .* would change this",
    "nothing unjudged": r"; (all|every) .* judged",
    "other grades": r"(; other grades of .* could change this|over the possible grades of )",
    "no worse": r"; (by the one-sided test, )?\S+ is non-inferior ",
    "not shown": (
        r"; (non-inferiority of \S+ not shown|non-inferiority \(margin \S+\) is not shown either"
        r"|rare losses that would leave \S+ worse by more than the margin of \S+ are not)"
    ),
    "worse by more": r", exceeding the margin",
    "not by more": r", within the margin",
    "open by more": r"; whether the loss exceeds the margin of \S+ is inconclusive",
}
ABOUT_GRADES = {"grades change nothing", "nothing unjudged", "other grades"}
ABOUT_MARGIN = {"no worse", "not shown", "worse by more", "not by more", "open by more"}
NO_CHANGE = {"grades change nothing", "nothing unjudged"}
# Which clauses may stand beside which headline in one sentence.
ALLOWED_CLAUSES = {
    "better": NO_CHANGE | {"not shown"},
    "worse": NO_CHANGE | {"worse by more", "not by more", "open by more"},
    "not_significant": NO_CHANGE | {"other grades", "no worse", "not shown"},
    "identical": NO_CHANGE | {"other grades", "no worse", "not shown"},
    "depends_on_unjudged": {"other grades", "no worse", "not shown"},
    "not_comparable": set(),
    "no_common_queries": set(),
}

REVERSED_STATUS = {"better": "worse", "worse": "better"}
STATUS_BY_KIND = {
    "better": "better",
    "worse": "worse",
    "not_significant": "not_significant",
    "identical": "not_significant",
}
STATUS_BY_SIGN = {"▲": "better", "▼": "worse", "?": "undetermined"}


THOROUGH_PARTS = [pytest.param(part, marks=pytest.mark.thorough) for part in range(1, N_FAST_PARTS)]
SLOW_PARTS = [pytest.param(part, marks=pytest.mark.slow) for part in range(N_FAST_PARTS, N_PARTS)]


@pytest.mark.parametrize("part", [0, *THOROUGH_PARTS, *SLOW_PARTS])
def test_no_two_sentences_contradict_each_other(part: int) -> None:
    kinds = set()
    for seed in range(part, N_COMPARISONS, N_PARTS):
        if not generate_task(seed).retrieves_judged_documents():
            continue
        comparison = generate_comparison(seed)
        kinds |= {conclusion.kind for conclusion in comparison.conclusions}
        check_comparison(comparison)
    assert kinds >= {*HEADLINES} - {"no_common_queries", "depends_on_unjudged"}


def check_comparison(comparison: rm.Comparison) -> None:
    keys = [(conclusion.metric, *conclusion.details.pair) for conclusion in comparison.conclusions]
    assert sorted(keys) == sorted((difference.metric, *difference.pair) for difference in comparison.differences)
    assert len(set(keys)) == len(keys)
    for conclusion in comparison.conclusions:
        check_numbers(conclusion, 1 - comparison.level + 1e-9)
        check_margin(conclusion)
        check_bounds(conclusion)
        check_sentence(conclusion)
    check_ranking(comparison)
    check_texts(comparison)
    if len(comparison.pairs) == 1:
        kinds = [conclusion.kind for conclusion in comparison.conclusions]
        assert list(comparison.to_pandas()["conclusion"]) == kinds


def check_texts(comparison: rm.Comparison) -> None:
    """Every conclusion has one sentence alone, and one in the summary."""
    text = str(comparison)
    lines = str(comparison.conclusions).splitlines()
    for conclusion in comparison.conclusions:
        assert lines.count(conclusion.sentence) == 1
        headline = conclusion.sentence.partition(conclusion.metric)[0]
        metric = rf"(?<![\w@]){re.escape(conclusion.metric)}(?![\w@(])"
        sentences = [line for line in comparison.summary if line.startswith(headline) and re.search(metric, line)]
        assert len(sentences) == 1
        assert sentences[0] in text or len(comparison.pairs) > 2
    if comparison.evaluations["base"].rules.unjudged == "condensed":
        assert "count as not relevant" not in text
        assert (comparison.judged_coverage is None) or "Condensed lists (unjudged documents removed) favour" in text


def check_numbers(conclusion: Conclusion, alpha: float) -> None:
    low, high = conclusion.interval
    contains_zero = np.isnan(low) or low <= 0 <= high
    if conclusion.kind in {"better", "worse", "depends_on_unjudged"}:
        assert conclusion.p_corrected <= alpha
        assert not contains_zero
        assert conclusion.difference != 0
    if conclusion.kind in {"better", "worse"}:
        assert (conclusion.difference > 0) == (conclusion.kind == "better")
    if conclusion.kind == "not_significant":
        assert conclusion.p_corrected > alpha
        assert contains_zero
    if conclusion.kind == "identical":
        assert (conclusion.difference, conclusion.p_corrected) == (0, 1)
        assert conclusion.details.identical
    is_incomparable = not conclusion.details.comparable and conclusion.n > 0
    assert (conclusion.kind == "not_comparable") == is_incomparable


def check_margin(conclusion: Conclusion) -> None:
    margin = conclusion.margin or 0
    if conclusion.noninferiority == "inferior":
        assert conclusion.kind == "worse"
        assert conclusion.interval.high < -margin
    if conclusion.noninferiority == "noninferior":
        assert conclusion.difference > -margin
        assert conclusion.kind != "worse" or conclusion.interval.low > -margin
        assert ("by the one-sided test" in conclusion.sentence) == (conclusion.interval.low <= -margin)


def check_bounds(conclusion: Conclusion) -> None:
    bounds = conclusion.unjudged_bounds
    is_lower_with_other_grades = False
    if bounds is not None:
        low, high = bounds.interval
        is_lower_with_other_grades = low < conclusion.difference - 1e-9
        if conclusion.details.margin is not None and conclusion.details.margin.low <= -1:
            is_lower_with_other_grades = False  # no loss is larger
        assert conclusion.lowest_gain >= -1 or conclusion.margin is None
        assert low - 1e-9 <= conclusion.difference <= high + 1e-9
        if conclusion.kind not in {"not_significant", "identical"}:
            assert bounds.changes_conclusion == conclusion.depends_on_unjudged
        if conclusion.kind == "better":
            assert low > 0
        if conclusion.kind == "worse":
            assert high < 0
        if conclusion.noninferiority == "noninferior":
            assert low > -(conclusion.margin or 0)
    if "one-sided bound on the loss" in conclusion.sentence:
        assert ("with the least favourable grades" in conclusion.sentence) == is_lower_with_other_grades


def check_sentence(conclusion: Conclusion) -> None:
    matches = {kind: re.search(headline, conclusion.sentence) for kind, headline in HEADLINES.items()}
    assert [kind for kind in matches if matches[kind]] == [conclusion.kind], conclusion.sentence
    match = matches[conclusion.kind]
    assert match is not None
    assert (match["system"], match["baseline"]) == conclusion.details.pair
    assert match["metric"].rstrip(",.") == conclusion.metric
    clauses = {name for name, clause in CLAUSES.items() if re.search(clause, conclusion.sentence)}
    assert clauses <= ALLOWED_CLAUSES[conclusion.kind], conclusion.sentence
    assert len(clauses & ABOUT_GRADES) <= 1
    assert len(clauses & ABOUT_MARGIN) <= 1
    assert conclusion.sentence.endswith(".")
    if conclusion.noninferiority == "noninferior" and conclusion.kind != "better":
        assert clauses & {"no worse", "not by more"}
    if conclusion.noninferiority == "inconclusive":
        assert clauses & {"not shown", "open by more"}


def check_ranking(comparison: rm.Comparison) -> None:
    statuses: set[str] = set()
    for metric, places in comparison.ranking.by_metric.items():
        status_by_system = {place.system: place.status for place in places}
        statuses.update(status_by_system.values())
        reference = next(system for system, status in status_by_system.items() if status in {"baseline", "best"})
        for conclusion in comparison.conclusions:
            if conclusion.metric == metric and reference in conclusion.details.pair:
                check_status(conclusion, reference, status_by_system)
                check_ranking_sentence(conclusion, reference, comparison.ranking.sentences_by_metric[metric])
    text = str(comparison.ranking)
    for sign, status in STATUS_BY_SIGN.items():
        assert (sign in text) == (status in statuses)


def check_status(conclusion: Conclusion, reference: str, status_by_system: Mapping[str, str]) -> None:
    status = STATUS_BY_KIND.get(conclusion.kind, "undetermined")
    if conclusion.baseline == reference:
        assert status_by_system[conclusion.system] == status
    else:
        assert status_by_system[conclusion.baseline] == REVERSED_STATUS.get(status, status)


def check_ranking_sentence(conclusion: Conclusion, reference: str, sentences: list[str]) -> None:
    other = conclusion.system if conclusion.baseline == reference else conclusion.baseline
    about_other = [sentence for sentence in sentences if other in sentence or " more " in sentence]
    headline = GROUP_HEADLINES[conclusion.kind]
    assert any(re.search(headline, sentence) for sentence in about_other), (about_other, conclusion.sentence)


def test_a_difference_that_rare_changes_could_undo_holds_for_these_queries_only() -> None:
    """Of the 5% of queries that gain .8 these 25 hold none, so that the mean of all is not -.042, but 0."""
    values = {"old": 0.5, "new": 0.458, "far": 0.2}
    evaluations = {}
    for name, value in values.items():
        drift = 0 if name == "old" else 1e-4
        scores = {f"q{number}": value + drift * number for number in range(25)}
        evaluations[name] = rm.Evaluation.from_scores({"recall": scores})

    new = rm.compare({name: evaluations[name] for name in ("old", "new")}, baseline="old").conclusions[0]
    assert (new.kind, new.sample_only, new.rare_effect_matters) == ("worse", True, True)
    far = rm.compare({name: evaluations[name] for name in ("old", "far")}, baseline="old").conclusions[0]
    assert (far.kind, far.sample_only) == ("worse", False)


def test_rare_effects_matter_with_a_margin_that_is_not_exceeded() -> None:
    ranks = [1, 2, 3, 4, 5] * 40
    qrels, runs = systems({"a": ranks, "b": [*ranks[1:], 2]})
    without_margin = rm.compare(qrels, runs, "mrr").conclusions.get("mrr")
    assert not without_margin.rare_effect_matters
    with_margin = rm.compare(qrels, runs, "mrr", margin=0.1).conclusions.get("mrr")
    assert with_margin.may_be_within_margin
    assert with_margin.rare_effect_matters
    beaten = rm.compare(*systems({"a": [1] * 200, "b": [2, 3, 4, 5] * 50}), "mrr", margin=0.1).conclusions.get("mrr")
    assert (beaten.noninferiority, beaten.rare_effect_matters) == ("inferior", False)


def test_with_too_few_queries_rare_effects_do_not_matter() -> None:
    conclusion = rm.compare(*systems({"a": [1, 1], "b": [2, 3]}), "mrr").conclusions.get("mrr")
    assert conclusion.has_too_few_units
    assert not conclusion.rare_effect_matters
    assert conclusion.rare_effect_note == ""


def test_the_dictionary_of_a_conclusion_has_its_numbers() -> None:
    conclusion = rm.compare(*systems({"old": [2] * 60, "new": [1] * 60}), "mrr", margin=0.1).conclusions.get("mrr")
    entry = conclusion.as_dict()
    assert (entry["metric"], entry["system"], entry["baseline"]) == ("mrr", "new", "old")
    assert (entry["conclusion"], entry["difference"], entry["n"]) == ("better", 0.5, 60)
    assert entry["margin"] == {"size": 0.1, "outcome": conclusion.noninferiority}
    assert entry["unjudged_bounds"] is None
    assert entry["caveats"] == [conclusion.rare_effect_note]


@pytest.mark.parametrize("relevant", [[], ["d"]])
def test_the_dictionary_of_a_conclusion_is_json_and_the_table_has_nan(relevant: list[str]) -> None:
    qrels: Mapping[str, list[str]] = dict.fromkeys(["q1", "q2"], relevant)
    runs = {"old": {query: ["x", "d"] for query in qrels}, "new": {query: ["d"] for query in qrels}}
    comparison = rm.compare(qrels, runs, "mrr", margin=0.1)
    entry = comparison.conclusions[0].as_dict()
    assert json.loads(json.dumps(entry, allow_nan=False)) == entry
    row = comparison.to_pandas().iloc[0]
    assert entry["interval"] is None
    assert np.isnan([row.ci_low, row.ci_high]).all()
    for name in ("difference", "p_corrected", "p_uncorrected"):
        assert entry[name] == row[name] or (entry[name] is None and np.isnan(row[name]))


def test_where_lower_is_better_the_interval_of_the_gain_is_reversed() -> None:
    values = {"slow": 3.0, "quick": 1.0}
    evaluations = {}
    for name, value in values.items():
        scores = {f"q{number}": value + number % 4 / 10 for number in range(15)}
        evaluations[name] = rm.Evaluation.from_scores(
            {"seconds": scores}, bounds=(0, None), lower_is_better=["seconds"]
        )
    conclusion = rm.compare(evaluations, baseline="slow").conclusions.get("seconds")
    assert conclusion.kind == "better"
    assert conclusion.gain == -conclusion.difference == pytest.approx(2)
    assert conclusion.gain_interval == (-conclusion.interval.high, -conclusion.interval.low)


def test_no_bound_of_a_loss_exceeds_the_largest_possible_difference() -> None:
    qrels = {f"q{number}": ["d"] for number in range(10)}
    old = {query: ["d", "unjudged"] for query in qrels}
    new = {query: ["d"] if number < 5 else ["other"] for number, query in enumerate(qrels)}
    (conclusion,) = rm.compare(qrels, {"old": old, "new": new}, "recall@2", margin=0.1, unjudged="bounds").conclusions
    margin_test = conclusion.details.margin
    assert margin_test is not None
    assert conclusion.unjudged_bounds is not None
    shift = conclusion.difference - conclusion.unjudged_bounds.interval.low
    assert margin_test.low - shift < -1
    assert conclusion.lowest_gain == -1


@pytest.mark.filterwarnings("ignore:Judgment coverage differs")
def test_where_lower_is_better_the_least_favourable_grades_are_those_of_the_greatest_difference() -> None:
    qrels = {f"q{number}": {"d": 1, "forbidden": -1} for number in range(40)}
    clean = {query: ["d", "unjudged" if number < 10 else "d2"] for number, query in enumerate(qrels)}
    leaking = {query: ["forbidden" if number % 8 == 0 else "d"] for number, query in enumerate(qrels)}
    runs = {"leaking": leaking, "clean": clean}
    judged = rm.compare(qrels, runs, "leak@2", margin=0.1).conclusions.get("leak@2")
    bounded = rm.compare(qrels, runs, "leak@2", margin=0.1, unjudged="bounds").conclusions.get("leak@2")
    assert bounded.unjudged_bounds is not None
    assert bounded.gain == 0.125
    assert judged.noninferiority == "noninferior"
    # If every unjudged document were forbidden, the clean system would leak on every query.
    assert bounded.unjudged_bounds.interval.high == 0.875
    assert bounded.lowest_gain == pytest.approx(judged.lowest_gain - 1)
    assert bounded.highest_gain == judged.highest_gain
    assert bounded.noninferiority == "inconclusive"
