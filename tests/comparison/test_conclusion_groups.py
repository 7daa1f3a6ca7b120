"""Conclusions about one system are grouped by outcome, significant ones first."""

import retrieval_metrics as rm
from ranked_systems import systems
from retrieval_metrics.comparison.conclusion_groups import ConclusionGroup, group_by_outcome

RANKS = {
    "base": [3] * 60,
    "best": [1] * 60,
    "good": [2] * 60,
    "same": [3] * 60,
    "bad": [6] * 60,
}


def compare_systems(*names: str, baseline: str | None = "base") -> rm.Comparison:
    qrels, runs = systems({name: RANKS[name] for name in names})
    return rm.compare(qrels, runs, "mrr", baseline=baseline)


def test_conclusions_with_the_same_outcome_are_in_one_group() -> None:
    comparison = compare_systems("base", "bad", "good", "same", "best")
    groups = group_by_outcome("base", comparison.conclusions, system_first=False)
    assert [group.subject_kind for group in groups] == ["better", "worse", "identical"]
    assert [group.other_systems for group in groups] == [["good", "best"], ["bad"], ["same"]]


def test_the_kind_is_that_of_the_subject_of_the_sentence() -> None:
    (conclusion,) = compare_systems("base", "good").conclusions
    assert (conclusion.system, conclusion.baseline, conclusion.kind) == ("good", "base", "better")
    kinds = {}
    for system in ("good", "base"):
        for system_first in (True, False):
            kinds[system, system_first] = ConclusionGroup(system, (conclusion,), system_first).subject_kind
    assert kinds == {
        ("good", True): "better",
        ("good", False): "worse",
        ("base", True): "worse",
        ("base", False): "better",
    }


def test_a_group_names_its_metric_and_the_other_systems() -> None:
    comparison = compare_systems("base", "good", "best")
    (group,) = group_by_outcome("base", comparison.conclusions, system_first=False)
    assert group.metric == "mrr"
    assert group.first is comparison.conclusions[0]
    reordered = group.with_order(["best", "good"])
    assert reordered.other_systems == ["best", "good"]
    assert group.other_systems == ["good", "best"]


def test_too_few_queries_are_a_group_of_their_own() -> None:
    nan = float("nan")
    values = {
        "base": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
        "few": [0.2, 0.1, 0.3, nan, nan, nan, nan],
        "many": [0.2, 0.1, 0.4, 0.3, 0.6, 0.5, 0.7],
    }
    evaluations = {}
    for name, scores in values.items():
        by_query = {f"q{number}": score for number, score in enumerate(scores)}
        evaluations[name] = rm.Evaluation.from_scores({"gain": by_query}, bounds=(0, 1))
    conclusions = rm.compare(evaluations, baseline="base").conclusions
    assert [conclusion.kind for conclusion in conclusions] == ["not_significant", "not_significant"]
    groups = group_by_outcome("base", conclusions, system_first=False)
    assert [group.other_systems for group in groups] == [["many"], ["few"]]
    assert [group.first.has_too_few_units for group in groups] == [False, True]
