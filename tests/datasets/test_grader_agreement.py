"""How far two graders agree, beyond chance, by grade and by kind of passage."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

import retrieval_metrics as rm
from two_graders import ADA, ADA_GRADES, BEN, PAIRS, label_by_rubric


def test_kappa_is_that_of_scikit_learn() -> None:
    found = ADA.agreement(BEN)
    one, other = zip(*PAIRS, strict=True)
    for ours, weights in ((found.kappa, None), (found.linear_kappa, "linear"), (found.quadratic_kappa, "quadratic")):
        assert ours.value == pytest.approx(cohen_kappa_score(one, other, weights=weights), abs=1e-12)
        assert ours.interval.low < ours.value < ours.interval.high
    relevant = [[grade > 0 for grade in column] for column in (one, other)]
    assert found.binary_kappa.value == pytest.approx(cohen_kappa_score(*relevant), abs=1e-12)
    assert found.raw_agreement.value == pytest.approx(np.mean(np.array(one) == np.array(other)))


SEVERAL: dict[str, list[int | None]] = {
    "Ada": [0, 1, 2, 3, 3, 2, 1, 3, 1, 2, None, None],
    "Ben": [0, 1, 2, 3, 3, 2, 2, 3, 1, 2, 3, None],
    "Cem": [None, 3, 2, 3, 3, 2, 2, 3, 2, 2, 3, 1],
    "Dot": [0, 1, 2, 3, 0, 2, 1, 3, 1, 2, 3, 1],
}


def of_several(names: str = "Ada Ben Cem Dot", queries: int = 4) -> rm.Labels:
    """Return the grades of several people for twelve documents, spread over queries."""
    found = []
    for name in names.split():
        qrels: dict[str, dict[str, int]] = {}
        for at, grade in enumerate(SEVERAL[name]):
            if grade is not None:
                qrels.setdefault(f"q{at % queries}", {})[f"d{at}"] = grade
        found.append(rm.Labels.from_qrels(qrels, grader=name))
    return found[0].merge(*found[1:])


def test_alpha_of_several_is_that_of_the_package_krippendorff() -> None:
    """The values are those of krippendorff 0.9.0, with the levels of measurement `nominal` and `interval`."""
    labels = of_several()
    assert labels.alpha(None).value == pytest.approx(0.7279805352798053, abs=1e-12)
    assert labels.alpha().value == pytest.approx(0.6326833797585887, abs=1e-12)
    alone = of_several(queries=1).alpha()
    assert alone.value == labels.alpha().value
    assert math.isnan(alone.interval.low)
    low, high = labels.alpha().interval
    assert -1 <= low < labels.alpha().value < high <= 1
    assert "all 4: alpha 0.633" in str(labels)


def test_alpha_leaves_out_what_one_alone_graded() -> None:
    labels = of_several("Ada Ben")
    without = rm.Labels([label for label in labels if label.document != "d10"])  # which Ben alone graded
    assert labels.alpha() == without.alpha()
    assert "alpha" not in str(labels)  # two have kappa
    with pytest.raises(ValueError, match="no document has the grades of several graders, of Ada; merge theirs first"):
        labels.from_grader("Ada").alpha()
    with pytest.raises(ValueError, match=r"4 graders, not two.*labels.alpha\(\)"):
        of_several().agreement()


def test_a_grade_that_nobody_gave_still_counts_as_a_step() -> None:
    one, other = [0, 1, 3, 3, 0, 1], [0, 3, 3, 1, 0, 1]
    first = rm.Labels.from_qrels({"q": {f"d{at}": grade for at, grade in enumerate(one)}}, "Ada")
    second = rm.Labels.from_qrels({"q": {f"d{at}": grade for at, grade in enumerate(other)}}, "Ben")
    expected = cohen_kappa_score(one, other, labels=[0, 1, 2, 3], weights="quadratic")
    assert first.agreement(second).quadratic_kappa.value == pytest.approx(expected)


def test_without_a_disagreement_the_share_has_an_interval_and_kappa_none() -> None:
    grades = {f"q{q}": {f"d{d}": 3 * (d == 0) for d in range(12)} for q in range(25)}
    found = rm.Labels.from_qrels(grades, "Ada").agreement(rm.Labels.from_qrels(grades, "Ben"))

    assert found.raw_agreement.interval.low == pytest.approx(0.850, abs=1e-3)
    assert found.quadratic_kappa.value == 1
    assert math.isnan(found.quadratic_kappa.interval.low)
    assert not found.near_chance
    assert "-: a kappa has no interval if they disagree in fewer than 3 queries" in str(found)


def test_what_cannot_be_measured_is_nan() -> None:
    alike = rm.Labels.from_qrels({"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, "Ada")
    found = alike.agreement(rm.Labels.from_qrels({"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, "Ben"))
    assert found.raw_agreement.value == 1
    assert math.isnan(found.kappa.value)
    assert found.near_chance


def test_the_confusion_and_the_kinds_of_passages_say_where_they_disagree() -> None:
    kinds = {(q, d): {"length": "long" if d in {"d6", "d7"} else "short"} for q in ADA_GRADES for d in ADA_GRADES[q]}
    found = ADA.agreement(BEN, kinds=kinds)
    assert found.confusion.sum() == 96
    for one in range(4):
        for other in range(4):
            assert found.confusion[one, other] == PAIRS.count((one, other))
    long = [pair for (_, document), pair in found.pairs.items() if document in {"d6", "d7"}]
    same = np.mean([one == other for one, other in long])
    assert f"length           long   24       {same:.3f}" in str(found)
    assert len(found.disagreements) == sum(one != other for one, other in PAIRS)


def test_one_grader_cannot_contradict_himself() -> None:
    with pytest.raises(ValueError, match=r"Ada graded document 'd0' for query 'q0' .* remove one of them"):
        ADA.merge(rm.Labels.from_qrels({"q0": {"d0": (ADA_GRADES["q0"]["d0"] + 1) % 4}}, "Ada"))
    assert len(ADA.merge(ADA)) == len(ADA)


def test_kappa_takes_what_the_rubric_calls_relevant() -> None:
    ada = label_by_rubric({"q": {f"d{at}": grade for at, grade in enumerate([0, 1, 1, 2, 3, 0])}})
    ben = label_by_rubric({"q": {f"d{at}": grade for at, grade in enumerate([1, 0, 1, 3, 2, 1])}}, "Ben")
    agreed = ada.agreement(ben)
    assert agreed.binary_kappa.value == 1
    assert "relevant (from 2) or not" in str(agreed)
    plain = rm.Labels(ada).agreement(rm.Labels(ben))
    assert plain.binary_kappa.value < 0
    assert rm.Labels(ada).agreement(ben).binary_kappa.value == 1  # one that does not say takes that of the other


def test_the_calibration_says_what_a_grade_of_the_model_means() -> None:
    people = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 0, "b": 1, "c": 0}}
    model = {"q1": {"a": 2, "b": 0, "c": 2}, "q2": {"a": 2, "b": 0, "c": 0}}
    agreed = rm.Labels.from_qrels(people, "people").agreement(rm.Labels.from_qrels(model, "model", kind="model"))
    assert {grade: found.value for grade, found in agreed.calibration.items()} == {0: 1 / 3, 2: 2 / 3}
    (axes,) = agreed.plot().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["model: 2", "model: 0"]
    assert {"0.67 of 3 documents", "0.33 of 3 documents"} <= {text.get_text() for text in axes.texts}


@pytest.mark.parametrize(
    ("grades", "others", "said"),
    [
        ({"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, "no evidence: both gave"),
        ({"q1": {"a": 1, "b": 0, "c": 3}}, {"q1": {"a": 1, "b": 0, "c": 3}}, "not to be told from chance, from so few"),
    ],
)
def test_an_agreement_that_cannot_be_told_from_chance_is_not_called_chance(grades: Any, others: Any, said: str) -> None:
    found = rm.Labels.from_qrels(grades, grader="Ada").agreement(others)
    assert found.near_chance
    assert f"this agreement is {said}" in str(found)
    assert "hardly better" not in str(found)


@pytest.mark.parametrize(("same", "near_chance"), [(27, True), (28, False)])
def test_an_agreement_of_a_tenth_beyond_chance_is_hardly_better(same: int, near_chance: bool) -> None:  # noqa: FBT001
    # Both call half of 100 passages relevant, so kappa is 2 * the share of equal grades - 1: 0.08 and 0.12.
    pairs = [(0, 0), (1, 1)] * same + [(0, 1), (1, 0)] * (50 - same)
    one, other = ({f"q{q}": {f"d{d}": pair[at] for d, pair in enumerate(pairs)} for q in range(4)} for at in (0, 1))
    found = rm.Labels.from_qrels(one, "Ada").agreement(rm.Labels.from_qrels(other, "Ben"))
    assert found.quadratic_kappa.value == pytest.approx(2 * same / 50 - 1)
    assert found.near_chance is near_chance


def test_up_to_twelve_grades_are_compared() -> None:
    def compared(most: int) -> rm.types.Agreement:
        grades = {"q": {"a": 0, "b": most}}
        return rm.Labels.from_qrels(grades, "Ada").agreement(rm.Labels.from_qrels(grades, "Ben"))

    assert len(compared(11).grades) == 12  # those in between count
    with pytest.raises(ValueError, match="13 different grades"):
        compared(12)


def test_the_largest_disagreements_come_first() -> None:
    one, other = {"q": {"a": 1, "b": 3, "c": 0, "d": 2}}, {"q": {"a": 2, "b": 0, "c": 2, "d": 2}}
    found = rm.Labels.from_qrels(one, "Ada").agreement(rm.Labels.from_qrels(other, "Ben"))
    assert list(found.disagreements.items()) == [(("q", "b"), (3, 0)), (("q", "c"), (0, 2)), (("q", "a"), (1, 2))]
