"""How far two graders agree, beyond chance, by grade and by kind of passage."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

import retrieval_metrics as rm
from two_graders import ADA, ADA_GRADES, BEN, PAIRS, label_by_rubric


def test_kappa_is_that_of_scikit_learn() -> None:
    agreement = ADA.agreement(BEN)
    ada_grades, ben_grades = zip(*PAIRS, strict=True)
    for kappa, weights in (
        (agreement.kappa, None),
        (agreement.linear_kappa, "linear"),
        (agreement.quadratic_kappa, "quadratic"),
    ):
        assert kappa.value == pytest.approx(cohen_kappa_score(ada_grades, ben_grades, weights=weights), abs=1e-12)
        assert kappa.interval.low < kappa.value < kappa.interval.high
    ada_relevant = [grade > 0 for grade in ada_grades]
    ben_relevant = [grade > 0 for grade in ben_grades]
    assert agreement.binary_kappa.value == pytest.approx(cohen_kappa_score(ada_relevant, ben_relevant), abs=1e-12)
    assert agreement.raw_agreement.value == pytest.approx(np.mean(np.array(ada_grades) == np.array(ben_grades)))


SEVERAL: dict[str, list[int | None]] = {
    "Ada": [0, 1, 2, 3, 3, 2, 1, 3, 1, 2, None, None],
    "Ben": [0, 1, 2, 3, 3, 2, 2, 3, 1, 2, 3, None],
    "Cem": [None, 3, 2, 3, 3, 2, 2, 3, 2, 2, 3, 1],
    "Dot": [0, 1, 2, 3, 0, 2, 1, 3, 1, 2, 3, 1],
}


def label_several(names: str = "Ada Ben Cem Dot", queries: int = 4) -> rm.Labels:
    """Return the grades of several people for twelve documents, spread over queries."""
    labels = []
    for name in names.split():
        qrels: dict[str, dict[str, int]] = {}
        for number, grade in enumerate(SEVERAL[name]):
            if grade is not None:
                qrels.setdefault(f"q{number % queries}", {})[f"d{number}"] = grade
        labels.append(rm.Labels.from_qrels(qrels, grader=name))
    return labels[0].merge(*labels[1:])


def test_alpha_of_several_is_that_of_the_package_krippendorff() -> None:
    """The values are those of krippendorff 0.9.0, with the levels of measurement `nominal` and `interval`."""
    labels = label_several()
    assert labels.alpha(None).value == pytest.approx(0.7279805352798053, abs=1e-12)
    assert labels.alpha().value == pytest.approx(0.6326833797585887, abs=1e-12)
    alone = label_several(queries=1).alpha()
    assert alone.value == labels.alpha().value
    assert math.isnan(alone.interval.low)
    low, high = labels.alpha().interval
    assert -1 <= low < labels.alpha().value < high <= 1
    assert "all 4 graders: Krippendorff's alpha 0.633" in str(labels)


def test_alpha_leaves_out_what_one_alone_graded() -> None:
    labels = label_several("Ada Ben")
    without = rm.Labels([label for label in labels if label.document != "d10"])  # which Ben alone graded
    assert labels.alpha() == without.alpha()
    assert "alpha" not in str(labels)  # two have kappa
    with pytest.raises(ValueError, match=r"no document has grades from several graders \(Ada alone\); merge"):
        labels.from_grader("Ada").alpha()
    with pytest.raises(ValueError, match=r"4 graders, not two.*labels.alpha\(\)"):
        label_several().agreement()


def test_a_grade_that_nobody_gave_still_counts_as_a_step() -> None:
    ada_grades = [0, 1, 3, 3, 0, 1]
    ben_grades = [0, 3, 3, 1, 0, 1]
    first = rm.Labels.from_qrels({"q": {f"d{number}": grade for number, grade in enumerate(ada_grades)}}, "Ada")
    second = rm.Labels.from_qrels({"q": {f"d{number}": grade for number, grade in enumerate(ben_grades)}}, "Ben")
    expected = cohen_kappa_score(ada_grades, ben_grades, labels=[0, 1, 2, 3], weights="quadratic")
    assert first.agreement(second).quadratic_kappa.value == pytest.approx(expected)


def test_without_a_disagreement_the_share_has_an_interval_and_kappa_none() -> None:
    grades_of_query = {"d0": 3} | {f"d{number}": 0 for number in range(1, 12)}
    grades = {f"q{number}": grades_of_query for number in range(25)}
    agreement = rm.Labels.from_qrels(grades, "Ada").agreement(rm.Labels.from_qrels(grades, "Ben"))

    assert agreement.raw_agreement.interval.low == pytest.approx(0.850, abs=1e-3)
    assert agreement.quadratic_kappa.value == 1
    assert math.isnan(agreement.quadratic_kappa.interval.low)
    assert not agreement.near_chance


def test_what_cannot_be_measured_is_nan() -> None:
    labels = rm.Labels.from_qrels({"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, "Ada")
    agreement = labels.agreement(rm.Labels.from_qrels({"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, "Ben"))
    assert agreement.raw_agreement.value == 1
    assert math.isnan(agreement.kappa.value)
    assert agreement.near_chance


def test_the_confusion_and_the_kinds_of_passages_say_where_they_disagree() -> None:
    kinds = {}
    for query, grades in ADA_GRADES.items():
        for document in grades:
            kinds[query, document] = {"length": "long" if document in {"d6", "d7"} else "short"}
    agreement = ADA.agreement(BEN, kinds=kinds)
    assert agreement.confusion.sum() == 96
    for first in range(4):
        for second in range(4):
            assert agreement.confusion[first, second] == PAIRS.count((first, second))
    long = [pair for (_, document), pair in agreement.pairs.items() if document in {"d6", "d7"}]
    raw_agreement = np.mean([first == second for first, second in long])
    by_kind = agreement.by_kind[0]
    assert (by_kind.respect, by_kind.kind, by_kind.n) == ("length", "long", 24)
    assert by_kind.raw_agreement == raw_agreement
    assert len(agreement.disagreements) == sum(first != second for first, second in PAIRS)


def test_one_grader_cannot_contradict_himself() -> None:
    with pytest.raises(ValueError, match=r"Ada gave document 'd0' for query 'q0' .* remove one of them"):
        ADA.merge(rm.Labels.from_qrels({"q0": {"d0": (ADA_GRADES["q0"]["d0"] + 1) % 4}}, "Ada"))
    assert len(ADA.merge(ADA)) == len(ADA)


def test_kappa_takes_what_the_rubric_calls_relevant() -> None:
    ada = label_by_rubric({"q": {f"d{number}": grade for number, grade in enumerate([0, 1, 1, 2, 3, 0])}})
    ben = label_by_rubric({"q": {f"d{number}": grade for number, grade in enumerate([1, 0, 1, 3, 2, 1])}}, "Ben")
    agreed = ada.agreement(ben)
    assert agreed.binary_kappa.value == 1
    assert "relevant: grade ≥ 2" in str(agreed)
    plain = rm.Labels(ada).agreement(rm.Labels(ben))
    assert plain.binary_kappa.value < 0
    assert rm.Labels(ada).agreement(ben).binary_kappa.value == 1  # one that does not say takes that of the other


def test_the_calibration_says_what_a_grade_of_the_model_means() -> None:
    people = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 0, "b": 1, "c": 0}}
    model = {"q1": {"a": 2, "b": 0, "c": 2}, "q2": {"a": 2, "b": 0, "c": 0}}
    agreement = rm.Labels.from_qrels(people, "people").agreement(rm.Labels.from_qrels(model, "model", kind="model"))
    assert {grade: share.value for grade, share in agreement.calibration.items()} == {0: 1 / 3, 2: 2 / 3}
    (axes,) = agreement.plot().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["model: 2", "model: 0"]
    assert {"0.67 of 3 documents", "0.33 of 3 documents"} <= {text.get_text() for text in axes.texts}


@pytest.mark.parametrize(
    ("grades", "second_grades", "note"),
    [
        (
            {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}},
            {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}},
            "not assessable: both",
        ),
        (
            {"q1": {"a": 1, "b": 0, "c": 3}},
            {"q1": {"a": 1, "b": 0, "c": 3}},
            "indistinguishable from chance",
        ),
    ],
)
def test_an_agreement_that_cannot_be_told_from_chance_is_not_called_chance(
    grades: Any, second_grades: Any, note: str
) -> None:
    agreement = rm.Labels.from_qrels(grades, grader="Ada").agreement(second_grades)
    assert agreement.near_chance
    assert agreement.chance_note.startswith(note)


@pytest.mark.parametrize(("n_equal", "near_chance"), [(27, True), (28, False)])
def test_an_agreement_of_a_tenth_beyond_chance_is_hardly_better(n_equal: int, near_chance: bool) -> None:
    # Both call half of 100 passages relevant, so kappa is 2 * the share of equal grades - 1: 0.08 and 0.12.
    pairs = [(0, 0), (1, 1)] * n_equal + [(0, 1), (1, 0)] * (50 - n_equal)
    first = {f"d{number}": pair[0] for number, pair in enumerate(pairs)}
    second = {f"d{number}": pair[1] for number, pair in enumerate(pairs)}
    queries = [f"q{number}" for number in range(4)]
    agreement = rm.Labels.from_qrels(dict.fromkeys(queries, first), "Ada").agreement(
        rm.Labels.from_qrels(dict.fromkeys(queries, second), "Ben")
    )
    assert agreement.quadratic_kappa.value == pytest.approx(2 * n_equal / 50 - 1)
    assert agreement.near_chance is near_chance


def test_an_agreement_little_above_chance_in_every_query_is_called_so() -> None:
    pairs = [(0, 0), (1, 1)] * 27 + [(0, 1), (1, 0)] * 23
    first = {f"d{number}": pair[0] for number, pair in enumerate(pairs)}
    second = {f"d{number}": pair[1] for number, pair in enumerate(pairs)}
    queries = [f"q{number}" for number in range(10)]
    labels = rm.Labels.from_qrels(dict.fromkeys(queries, first), grader="Ada")
    agreement = labels.agreement(dict.fromkeys(queries, second))
    assert agreement.quadratic_kappa.interval.low > 0
    assert agreement.chance_note == "barely above chance"


def test_up_to_twelve_grades_are_compared() -> None:
    def compared(highest: int) -> rm.types.Agreement:
        grades = {"q": {"a": 0, "b": highest}}
        return rm.Labels.from_qrels(grades, "Ada").agreement(rm.Labels.from_qrels(grades, "Ben"))

    assert len(compared(11).grades) == 12  # those in between count
    with pytest.raises(ValueError, match="13 different grades"):
        compared(12)


def test_the_largest_disagreements_come_first() -> None:
    first = {"q": {"a": 1, "b": 3, "c": 0, "d": 2}}
    second = {"q": {"a": 2, "b": 0, "c": 2, "d": 2}}
    agreement = rm.Labels.from_qrels(first, "Ada").agreement(rm.Labels.from_qrels(second, "Ben"))
    assert list(agreement.disagreements.items()) == [(("q", "b"), (3, 0)), (("q", "c"), (0, 2)), (("q", "a"), (1, 2))]
