"""No two sentences of a comparison contradict each other, whatever was compared and with which options."""

import random
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.selection_bias import estimate_selection_bias
from retrieval_metrics.types import Conclusion

COMPARISONS, PARTS = 5_000, 20
EVERY_TIME = range(4)
"""The parts that run every time, a thousand comparisons; the others are slow tests."""
METRICS = ["mrr@3", "hit_rate@2", "recall@5", "ndcg@3", "map", "precision@2", "r_precision"]

HEADLINES = {
    "better": r"^(?P<system>\S+) is better than (?P<baseline>\S+) in (?P<metric>[^\s,]+)( on these queries)?, by ",
    "worse": r"^(?P<system>\S+) is worse than (?P<baseline>\S+) in (?P<metric>[^\s,]+)( on these queries)?, by ",
    "not_significant": r"^No clear difference between (?P<system>\S+) and (?P<baseline>\S+) "
    r"in (?P<metric>[^\s:;,]+)",
    "identical": r"^(?P<system>\S+) and (?P<baseline>\S+) have the same value for every query "
    r"in (?P<metric>[^\s:;,.]+)",
    "depends_on_unjudged": r"^Whether (?P<system>\S+) is (better|worse) than (?P<baseline>\S+) "
    r"in (?P<metric>\S+) depends on what is unjudged: as judged",
    "not_comparable": r"^(?P<system>\S+) and (?P<baseline>\S+) are not comparable in (?P<metric>[^\s:]+): ",
    "no_common_queries": r"^(?P<system>\S+) and (?P<baseline>\S+) have no query in common for which (?P<metric>\S+) is",
}
SAID_OF_SEVERAL = {
    "better": " (is|are) (better|worse) than ",
    "worse": " (is|are) (better|worse) than ",
    "not_significant": "^No clear difference (between|of) ",
    "identical": " have the same value ",
    "depends_on_unjudged": "^Whether ",
    "not_comparable": " are not comparable ",
    "no_common_queries": " have no query in common ",
}
CLAUSES = {
    "grades change nothing": r", and no grades of .* would (change that|show one|show a clear difference)",
    "nothing unjudged": r", and nothing is unjudged",
    "other grades": r"with other grades of .* (it|the difference) could be",
    "no worse": r"; (one-sided, )?\S+ is no worse by more than",
    "not shown": r"; that (\S+ is no worse by more than \S+ is not shown|rare losses make it worse)",
    "worse by more": r", by more than",
    "not by more": r", but not by more than",
    "open by more": r"; whether by more than \S+ is open",
}
GRADES = {"grades change nothing", "nothing unjudged"}
BESIDE = {
    "better": GRADES | {"not shown"},
    "worse": GRADES | {"worse by more", "not by more", "open by more"},
    "not_significant": GRADES | {"other grades", "no worse", "not shown"},
    "identical": GRADES | {"other grades", "no worse", "not shown"},
    "depends_on_unjudged": {"other grades", "no worse", "not shown"},
    "not_comparable": set(),
    "no_common_queries": set(),
}
"""Which clauses may stand beside which headline in one sentence."""

OPPOSITE = {"better": "worse", "worse": "better"}
SHOWN = {"better": "better", "worse": "worse", "not_significant": "not_significant"}
SHOWN["identical"] = "not_significant"


def drawn(rng: random.Random) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return random judgments, runs, and options of `compare`."""
    unjudged = rng.choice([None, None, "bounds", "bounds", "condensed"])
    n = rng.choice([1, 6, 8, 9] if unjudged == "bounds" else [1, 3, 6, 8, 12, 25])  # bounds try every grade
    names = ["base", "one", "two", "three"][: rng.choice([2, 2, 2, 3, 4])]
    documents = [f"d{at}" for at in range(4 if unjudged == "bounds" else 6)]
    qrels, runs = {}, {name: {} for name in names}  # type: ignore[var-annotated]  # filled below
    quality = {name: rng.choice([0.0, 0.0, 0.4, 3.0]) for name in names}
    kept = rng.choice([1.0, 1.0, 0.8, 0.5])
    for at in range(n):
        grades = {document: rng.choice([0, 0, 1, 2]) for document in documents}
        for name in names:
            order = sorted(documents, key=lambda one: -quality[name] * grades[one] - rng.gauss(0, 1))
            runs[name][f"q{at}"] = order[: rng.choice([2, 4, 6])]
        if rng.random() < 0.3:
            runs[names[-1]][f"q{at}"] = runs[names[0]][f"q{at}"]
        judged = {one: grade for one, grade in grades.items() if rng.random() < kept}
        qrels[f"q{at}"] = judged or {"d0": 1}
    if rng.random() < 0.1:
        runs[names[-1]] = runs[names[0]]
    options: dict[str, Any] = {"metrics": rng.sample(METRICS, rng.choice([1, 2, 3])), "resamples": 500}
    options["baseline"] = rng.choice([None, "base"])
    options["margin"] = rng.choice([None, None, 0.02, 0.1, 0.5])
    options["unjudged"] = unjudged
    options["level"] = rng.choice([0.95, 0.95, 0.8, 0.99])
    if options["unjudged"] == "bounds":
        options["unretrieved_relevant"] = rng.choice([None, None, 1, 2])
    if n >= 6 and rng.random() < 0.3:
        options["clusters"] = {query: at // rng.choice([1, 2, 3]) for at, query in enumerate(qrels)}
    return qrels, runs, options


def chunked(rng: random.Random) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return systems of chunks under a budget, which some of them may not fill."""
    n = rng.choice([6, 12])
    qrels = {f"q{at}": [rm.Span("d", 60 * at, 60 * at + 30)] for at in range(n)}
    runs = {}
    for name in ("base", "one", "two")[: rng.choice([2, 3])]:
        size, number, first = rng.choice([100, 200, 500]), rng.choice([2, 4, 9]), rng.choice([0, 0, 3])
        chunks = [rm.Retrieved(f"{size}-{at}", None, "d", at, at + size) for at in range(0, 9 * size, size)]
        runs[name] = {query: chunks[first if rng.random() < 0.5 else 0 :][:number] for query in qrels}
    metrics = rng.choice([["recall@800chars"], ["recall@800chars", "recall@2"], ["full_recall@300chars"]])
    return qrels, runs, {"metrics": metrics, "margin": rng.choice([None, 0.1]), "baseline": rng.choice([None, "base"])}


@pytest.mark.parametrize(
    "part", [part if part in EVERY_TIME else pytest.param(part, marks=pytest.mark.slow) for part in range(PARTS)]
)
def test_nothing_that_is_said_contradicts_anything_else(part: int) -> None:
    kinds = set()
    for number in range(part, COMPARISONS, PARTS):
        rng = random.Random(number)
        qrels, runs, options = (chunked if rng.random() < 0.1 else drawn)(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rm.RetrievalWarning)
            comparison = rm.compare(qrels, runs, **options)
        kinds |= {each.kind for each in comparison.conclusions}
        check(comparison)
    assert kinds >= {*HEADLINES} - {"no_common_queries", "depends_on_unjudged"}


def test_a_verdict_that_rare_changes_could_undo_speaks_of_these_queries() -> None:
    """Of the 5 % of queries that gain .8 these 25 hold none, so that the mean of all is not -.042, but 0."""
    old = rm.Evaluation.from_scores({"recall": {f"q{at}": 0.5 for at in range(25)}})
    new = rm.Evaluation.from_scores({"recall": {f"q{at}": 0.458 + at / 1e4 for at in range(25)}})
    (said,) = rm.compare({"old": old, "new": new}, baseline="old").conclusions
    far = rm.Evaluation.from_scores({"recall": {f"q{at}": 0.2 + at / 1e4 for at in range(25)}})

    assert said.sentence.startswith("new is worse than old in recall on these queries, by 0.0408")
    assert "and the mean higher by 0.11" in said.rare_effect_note
    (other,) = rm.compare({"old": old, "far": far}, baseline="old").conclusions
    assert other.sentence.startswith("far is worse than old in recall, by 0.299")


def check(comparison: rm.Comparison) -> None:
    entries = list(comparison.conclusions)
    keys = [(each.metric, each.system, each.baseline) for each in entries]
    assert sorted(keys) == sorted((each.metric, *each.pair) for each in comparison.differences)
    assert len(set(keys)) == len(keys)
    for each in entries:
        agrees_with_its_numbers(each, 1 - comparison.level + 1e-9)
        agrees_with_its_sentence(each)
    agrees_with_the_ranking(comparison)
    text, verdict = str(comparison), comparison.summary
    printed = str(comparison.conclusions).splitlines()
    for each in entries:
        assert printed.count(each.sentence) == 1
        lead, metric = each.sentence.partition(each.metric)[0], rf"(?<![\w@]){re.escape(each.metric)}(?![\w@(])"
        (said,) = (said for said in verdict if said.startswith(lead) and re.search(metric, said))
        assert said in text or len(comparison.pairs) > 2
    if comparison.evaluations["base"].rules.unjudged == "condensed":
        assert "count as not relevant" not in text
        assert (comparison.judged_coverage is None) or "which favours the system that is judged less" in text
    if len(comparison.pairs) == 1:
        assert list(comparison.to_pandas()["conclusion"]) == [each.kind for each in entries]


def agrees_with_its_numbers(one: Conclusion, alpha: float) -> None:
    low, high = one.interval
    contains = np.isnan(low) or low <= 0 <= high
    if one.kind in {"better", "worse", "depends_on_unjudged"}:
        assert one.p_corrected <= alpha
        assert not contains
        assert one.difference != 0
    if one.kind in {"better", "worse"}:
        assert (one.difference > 0) == (one.kind == "better")
    if one.kind == "not_significant":
        assert one.p_corrected > alpha
        assert contains
    if one.kind == "identical":
        assert (one.difference, one.p_corrected) == (0, 1)
        assert one.details.identical
    assert (one.kind == "not_comparable") == (not one.details.comparable and one.n > 0)
    agrees_with_the_margin_and_the_unjudged(one)


def agrees_with_the_margin_and_the_unjudged(one: Conclusion) -> None:
    if one.noninferiority == "inferior":
        assert one.kind == "worse"
        assert one.interval.high < -(one.margin or 0)
    if one.noninferiority == "noninferior":
        assert one.difference > -(one.margin or 0)
        assert one.kind != "worse" or one.interval.low > -(one.margin or 0)
        assert ("one-sided" in one.sentence) == (one.interval.low <= -(one.margin or 0))
    if (grades := one.unjudged_bounds) is not None:
        least, most = grades.interval
        assert least - 1e-9 <= one.difference <= most + 1e-9
        assert grades.changes_conclusion == (one.kind == "depends_on_unjudged") or one.kind in {
            "not_significant",
            "identical",
        }
        if one.kind == "better":
            assert least > 0
        if one.kind == "worse":
            assert most < 0
        if one.noninferiority == "noninferior":
            assert least > -(one.margin or 0)
    if "it may be worse by up to" in one.sentence:
        worse = grades is not None and grades.interval.low < one.difference - 1e-9
        assert ("and with other grades, it may be" in one.sentence) == worse


def agrees_with_its_sentence(one: Conclusion) -> None:
    headlines = {kind: found for kind, said in HEADLINES.items() if (found := re.search(said, one.sentence))}
    assert list(headlines) == [one.kind], one.sentence
    said = headlines[one.kind]
    assert (said["system"], said["baseline"], said["metric"].rstrip(",.")) == (one.system, one.baseline, one.metric)
    clauses = {name for name, clause in CLAUSES.items() if re.search(clause, one.sentence)}
    assert clauses <= BESIDE[one.kind], one.sentence
    assert len(clauses & {"grades change nothing", "nothing unjudged", "other grades"}) <= 1
    assert len(clauses & {"no worse", "not shown", "worse by more", "not by more", "open by more"}) <= 1
    assert one.sentence.endswith(".")
    if one.noninferiority == "noninferior" and one.kind != "better":
        assert clauses & {"no worse", "not by more"}
    if one.noninferiority == "inconclusive":
        assert clauses & {"not shown", "open by more"}


def agrees_with_the_ranking(comparison: rm.Comparison) -> None:
    text = str(comparison.ranking)
    for metric, places in comparison.ranking.by_metric.items():
        if metric not in {each.metric for each in comparison.conclusions}:
            continue
        standing = {place.system: place.status for place in places}
        (other,) = (system for system, found in standing.items() if found in {"baseline", "best"})
        for each in comparison.conclusions:
            if each.metric != metric or other not in {each.system, each.baseline}:
                continue
            shown = SHOWN.get(each.kind, "undetermined")
            beside = each.system if each.baseline == other else each.baseline
            named = [
                said for said in comparison.ranking.sentences_by_metric[metric] if beside in said or " more " in said
            ]
            assert any(re.search(SAID_OF_SEVERAL[each.kind], said) for said in named), (named, each.sentence)
            if each.baseline == other:
                assert standing[each.system] == shown
            else:
                assert standing[each.baseline] == OPPOSITE.get(shown, shown)
    for sign, standing_of in (("▲", "better"), ("▼", "worse"), ("?", "undetermined")):
        there = any(place.status == standing_of for places in comparison.ranking.by_metric.values() for place in places)
        assert (sign in text) == there


def compared(systems: int, metrics: str | list[str] = "mrr", count: int = 40) -> rm.Comparison:
    rng = random.Random(1)
    qrels = {f"q{at}": ["d"] for at in range(count)}
    runs = {
        f"s{number}": {query: [f"x{at}" for at in range(rng.randrange(6))] + ["d"] for query in qrels}
        for number in range(systems)
    }
    return rm.compare(qrels, runs, metrics)


def test_equal_systems_are_worth_less_than_the_mean_of_the_luckiest() -> None:
    draws = np.random.default_rng(0)
    own, worth = [], []
    for _ in range(60):
        best = estimate_selection_bias("ndcg", list("abcdefgh"), draws.normal(0.5, 0.25, (8, 40)), 1, None)
        assert best is not None
        own.append(best.observed - 0.5)
        worth.append(best.expected - 0.5)

    assert np.mean(own) > 0.04
    assert abs(np.mean(worth)) < 0.015


def test_where_lower_is_better_the_best_is_worth_more() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.25, (8, 40))
    best, lowest = (
        estimate_selection_bias("ndcg", list("abcdefgh"), each, sign, None)
        for each, sign in ((values, 1), (-values, -1))
    )
    assert best is not None
    assert lowest is not None
    assert (lowest.system, lowest.observed, lowest.expected) == (best.system, -best.observed, -best.expected)


def test_a_clear_winner_is_not_flattered_and_nothing_is_said() -> None:
    values = np.full((6, 30), 0.3)
    values[2] = 0.8
    best = estimate_selection_bias("ndcg", list("abcdef"), values, 1, None)
    assert best is not None
    assert best.system == "c"
    assert best.observed == pytest.approx(0.8)
    assert best.expected == pytest.approx(0.8)


def test_from_five_systems_on_the_ranking_and_the_conclusions_say_so() -> None:
    several = compared(6, ["mrr", "ndcg@10"])
    one = next(each for each in several.conclusions.selection_bias if each.metric == "mrr")

    assert one.observed == several.means["mrr"][one.system] == max(several.means["mrr"].values())
    assert one.expected < one.observed
    (said,) = several.conclusions.selection_bias_notes
    assert said.startswith(
        f"The best of 6 systems is flattered by the choice: on new questions, expect about {one.expected:.3f}"
    )
    assert said in str(several)
    assert said in str(several.conclusions)
    assert said.split(":")[0] in several._repr_html_()
    assert not compared(4).conclusions.selection_bias
    assert compared(4).conclusions.selection_bias_notes == []


def test_what_other_grades_could_change_is_corrected_for_the_choice_too(tmp_path: Path) -> None:
    """If all the unjudged were relevant, 6 queries would be left that differ, too few for the best of three."""
    qrels = {f"q{at}": {"d": 1, "x": 0} if at < 6 else {"d": 1} for at in range(14)}
    history = rm.History(tmp_path / "history.jsonl")
    for name, ranking in {"new": ["d"], "between": ["x", "d"], "old": ["x"]}.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rm.RetrievalWarning)
            result = rm.evaluate(qrels, dict.fromkeys(qrels, ranking), "mrr")
        history.add(result, name, save=tmp_path / f"{name}.json")
    (planned,) = history.compare("old", "new", planned=True, unjudged="bounds").conclusions
    (chosen,) = history.compare("old", "new", unjudged="bounds").conclusions
    assert (planned.kind, chosen.kind) == ("better", "depends_on_unjudged")


def test_clusters_are_left_out_whole() -> None:
    values = np.random.default_rng(2).normal(0.5, 0.25, (6, 10)).repeat(4, axis=1)
    labels = np.arange(10).repeat(4)
    together = estimate_selection_bias("ndcg", list("abcdef"), values, 1, labels)
    alone = estimate_selection_bias("ndcg", list("abcdef"), values[:, ::4], 1, None)
    assert together is not None
    assert alone is not None
    assert together.expected == pytest.approx(alone.expected)
