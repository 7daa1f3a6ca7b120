"""Grades of several people: what they agree on, what they do not, and what becomes of it."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

import retrieval_metrics as rm
from retrieval_metrics.labelling.labels import Scale
from retrieval_metrics.statistics import cohens_kappa, kappa_by_cluster, share_by_cluster

RANDOM = np.random.default_rng(4)
ADA_SAYS: dict[Any, Any] = {f"q{q}": {f"d{d}": int(RANDOM.integers(0, 4)) for d in range(8)} for q in range(12)}
BEN_SAYS: dict[Any, Any] = {
    query: {document: int(np.clip(grade + RANDOM.choice([0, 0, 0, 1, -1]), 0, 3)) for document, grade in held.items()}
    for query, held in ADA_SAYS.items()
}
PLAIN: dict[str, Any] = {"query": "q", "document": "d", "grade": 1, "by": "Ada"}
ADA, BEN = rm.Labels.of(ADA_SAYS, "Ada"), rm.Labels.of(BEN_SAYS, "Ben")
PAIRS = [(ADA_SAYS[query][document], BEN_SAYS[query][document]) for query in ADA_SAYS for document in ADA_SAYS[query]]


def test_kappa_is_that_of_scikit_learn() -> None:
    found = ADA.agreement(BEN)
    one, other = zip(*PAIRS, strict=True)
    for ours, weights in ((found.kappa, None), (found.linear_kappa, "linear"), (found.weighted_kappa, "quadratic")):
        assert ours.value == pytest.approx(cohen_kappa_score(one, other, weights=weights), abs=1e-12)
        assert ours.interval.low < ours.value < ours.interval.high
    relevant = [[grade > 0 for grade in column] for column in (one, other)]
    assert found.relevance_kappa.value == pytest.approx(cohen_kappa_score(*relevant), abs=1e-12)
    assert found.same.value == pytest.approx(np.mean(np.array(one) == np.array(other)))


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_of_random_tables_is_that_of_scikit_learn(weights: Any) -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        one, other = random.integers(0, 4, 40), random.integers(0, 4, 40)
        table = np.zeros((4, 4))
        np.add.at(table, (one, other), 1)
        expected = cohen_kappa_score(one, other, labels=range(4), weights=weights)
        assert cohens_kappa(table, weights) == pytest.approx(expected, abs=1e-12)


def test_a_grade_that_nobody_gave_still_counts_as_a_step() -> None:
    one, other = [0, 1, 3, 3, 0, 1], [0, 3, 3, 1, 0, 1]
    first = rm.Labels.of({"q": {f"d{at}": grade for at, grade in enumerate(one)}}, "Ada")
    second = rm.Labels.of({"q": {f"d{at}": grade for at, grade in enumerate(other)}}, "Ben")
    expected = cohen_kappa_score(one, other, labels=[0, 1, 2, 3], weights="quadratic")
    assert first.agreement(second).weighted_kappa.value == pytest.approx(expected)


def test_kappa_has_an_interval_that_covers() -> None:
    """Two who copy the truth, each with errors, on queries of 8 documents; the interval is by query."""
    random = np.random.default_rng(6)

    def tables(queries: int) -> Any:
        truth = random.integers(0, 4, (queries, 8))
        seen = [np.where(random.random(truth.shape) < 0.3, random.integers(0, 4, truth.shape), truth) for _ in range(2)]
        found = np.zeros((queries, 4, 4))
        np.add.at(found, (np.arange(queries)[:, None], *seen), 1)
        return found

    true = cohens_kappa(tables(20_000).sum(axis=0))
    ends = [kappa_by_cluster(tables(30)).interval for _ in range(300)]
    assert 0.91 <= np.mean([low <= true <= high for low, high in ends]) <= 0.985


def test_agreement_covers_where_a_grader_errs_query_by_query() -> None:
    """Disagreements are 5 % of the passages, nearly all of them in a few queries; with 25 queries few or none show."""
    random = np.random.default_rng(8)

    def tables(queries: int) -> Any:
        wrong = random.random((queries, 12)) < random.beta(0.1, 1.9, (queries, 1))
        truth = random.choice(4, (queries, 12), p=[0.7, 0.12, 0.1, 0.08])
        seen = np.where(wrong, np.abs(truth - 1), truth)
        found = np.zeros((queries, 4, 4))
        np.add.at(found, (np.arange(queries)[:, None], truth, seen), 1)
        return found

    large = tables(60_000).sum(axis=0)
    samples = [tables(25) for _ in range(300)]
    same = [share_by_cluster(np.einsum("qii->q", one), one.sum(axis=(1, 2))).interval for one in samples]
    kappas = [kappa_by_cluster(one, "quadratic").interval for one in samples]
    shown = [(low, high) for low, high in kappas if not math.isnan(low)]

    assert np.mean([low <= np.trace(large) / large.sum() <= high for low, high in same]) >= 0.92
    assert np.mean([low <= cohens_kappa(large, "quadratic") <= high for low, high in shown]) >= 0.92  # 87 % with t(G-1)
    assert 0.1 < 1 - len(shown) / len(samples) < 0.9


def test_without_a_disagreement_the_share_has_an_interval_and_kappa_none() -> None:
    grades = {f"q{q}": {f"d{d}": 3 * (d == 0) for d in range(12)} for q in range(25)}
    found = rm.Labels.of(grades, "Ada").agreement(rm.Labels.of(grades, "Ben"))

    assert found.same.interval.low == pytest.approx(0.850, abs=1e-3)
    assert found.weighted_kappa.value == 1
    assert math.isnan(found.weighted_kappa.interval.low)
    assert not found.near_chance
    assert "-: a kappa has no interval if they disagree in fewer than 3 queries" in str(found)


def test_what_cannot_be_measured_is_nan() -> None:
    alike = rm.Labels.of({"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, "Ada")
    found = alike.agreement(rm.Labels.of({"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, "Ben"))
    assert found.same.value == 1
    assert math.isnan(found.kappa.value)
    assert found.near_chance
    with pytest.raises(ValueError, match="weights must be"):
        cohens_kappa([[1, 0], [0, 1]], "cubic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="as many rows as columns"):
        cohens_kappa([[1, 0]])


def test_the_confusion_and_the_kinds_of_passages_say_where_they_disagree() -> None:
    kinds = {(q, d): {"length": "long" if d in {"d6", "d7"} else "short"} for q in ADA_SAYS for d in ADA_SAYS[q]}
    found = ADA.agreement(BEN, kinds=kinds)
    assert found.confusion.sum() == 96
    for one in range(4):
        for other in range(4):
            assert found.confusion[one, other] == PAIRS.count((one, other))
    long = [pair for (_, document), pair in found.pairs.items() if document in {"d6", "d7"}]
    same = np.mean([one == other for one, other in long])
    assert f"length           long   24       {same:.3f}" in str(found)
    assert len(found.disagreements) == sum(one != other for one, other in PAIRS)


def test_conflicts_are_never_averaged_silently() -> None:
    both = ADA.merge(BEN)
    assert len(both.conflicts) == sum(one != other for one, other in PAIRS)
    with pytest.raises(ValueError, match=r"got different grades, for example .* Choose between them with"):
        _ = both.qrels
    with pytest.raises(ValueError, match="different grades"):
        rm.evaluate_with_labels({"q0": ["d1"]}, "mrr", people=both, model=ADA_SAYS, sample={"q0": 0.5})
    for rule, choose in (("lowest", min), ("highest", max)):
        qrels = both.resolved(rule).qrels
        assert [qrels[q][d] for q in ADA_SAYS for d in ADA_SAYS[q]] == [choose(pair) for pair in PAIRS]
    assert both.resolved("Ben").qrels == BEN.qrels
    assert f"{len(both.conflicts)} documents with different grades: .conflicts" in str(both)
    assert "Ada and Ben: weighted kappa" in str(both)
    assert str(both).count("kappa") == 1  # the others are in the table of the agreement
    with pytest.raises(ValueError, match="'lowest', 'highest', 'majority' or one of Ada, Ben, got 'mean'"):
        both.resolved("mean")


def test_the_majority_of_three_holds_and_of_a_tie_the_lowest() -> None:
    grades = {"Ada": {"a": 3, "b": 2}, "Ben": {"a": 3, "b": 1}, "Cid": {"a": 0, "b": 3}}
    first, *others = (rm.Labels.of({"q": held}, name) for name, held in grades.items())
    assert first.merge(*others).resolved("majority").qrels == {"q": {"a": 3.0, "b": 1.0}}


def test_where_the_one_whose_grade_holds_gave_none_the_others_must_agree() -> None:
    ada = rm.Labels([rm.Label(query="q", document="d", grade=None, by="Ada")])
    ben, cid = (rm.Labels.of({"q": {"d": grade}}, name) for grade, name in ((1, "Ben"), (2, "Cid")))
    assert ada.merge(ben).resolved("Ada").qrels == {"q": {"d": 1.0}}
    with pytest.raises(ValueError, match="Ada did not grade document 'd' for query 'q', and the others differ"):
        ada.merge(ben, cid).resolved("Ada")


def test_who_cannot_tell_gives_no_grade() -> None:
    labels = rm.Labels(
        [
            rm.Label(query="q1", document="a", grade=None, by="Ada"),
            rm.Label(query="q2", document="b", grade=2, by="Ada", quotes=("the words",)),
        ]
    )
    assert labels.qrels == {"q1": {}, "q2": {"b": 2.0}}
    assert labels.quotes == {"q2": {rm.Quote("the words"): 2.0}}


def test_one_grader_cannot_contradict_himself() -> None:
    with pytest.raises(ValueError, match=r"Ada graded document 'd0' for query 'q0' .* remove one of them"):
        ADA.merge(rm.Labels.of({"q0": {"d0": (ADA_SAYS["q0"]["d0"] + 1) % 4}}, "Ada"))
    assert len(ADA.merge(ADA)) == len(ADA)


@pytest.mark.parametrize(
    ("entries", "error"),
    [
        ({"grade": math.nan}, "not finite"),
        ({"grade": "2"}, "must have a number"),
        ({"grade": True}, "must have a number"),
        ({"by": " "}, "must have the name of its grader"),
        ({"kind": "robot"}, "'person' or 'model'"),
        ({"query": 1.5}, "must be str or int"),
        ({"reason": 3}, "text as its reason"),
        ({"quotes": "words"}, "a list of texts"),
        ({"date": "yesterday"}, "written as 2026-05-31"),
    ],
)
def test_labels_are_checked(entries: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        rm.Label(**{**PLAIN, **entries})


def test_labels_are_loaded_as_they_were_saved(tmp_path: Path) -> None:
    labels = rm.Labels(
        [
            rm.Label(query=7, document="a", grade=2, by="Ada", date="2026-05-31", quotes=("x y",), reason="because"),
            rm.Label(query=8, document="b", grade=None, by="a model", kind="model", prompt="v1", reason="not JSON"),
        ],
        notes=["3 calls"],
    )
    labels.save(tmp_path / "labels.json.gz")
    loaded = rm.load(tmp_path / "labels.json.gz")
    assert (loaded.labels, loaded.notes) == (labels.labels, labels.notes)
    assert "not graded: 1 document, not JSON" in str(loaded)
    assert list(loaded.to_pandas()["query"]) == [7, 8]


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        ({"labels": [7]}, r"labels\[0\]: a label must be an object"),
        ({"labels": [{"query": "q", "document": "d", "grade": 1, "by": "A", "rank": 1}]}, r"labels\[0\].*got 'rank'"),
        ({"labels": [{"query": "q", "document": "d", "by": "A"}]}, r"labels\[0\].*grade"),
    ],
)
def test_a_damaged_file_says_where(damage: dict[str, Any], error: str, tmp_path: Path) -> None:
    ADA.save(tmp_path / "labels.json")
    content = json.loads((tmp_path / "labels.json").read_text())
    del content["digest"]
    (tmp_path / "labels.json").write_text(json.dumps(content | damage))
    with pytest.raises(ValueError, match=error):
        rm.load(tmp_path / "labels.json")


def test_judgments_of_pieces_are_no_labels() -> None:
    with pytest.raises(ValueError, match="labels grade documents by id"):
        rm.Labels.of({"q": [rm.Quote("words")]}, "Ada")
    with pytest.raises(ValueError, match="none of them is the same document"):
        ADA.agreement({"elsewhere": {"d": 1}})


def by_rubric(qrels: dict[str, dict[str, int]], by: str = "Ada", relevant_from: int = 2) -> rm.Labels:
    return rm.Labels(rm.Labels.of(qrels, by), scale=Scale.of(relevant_from))


def test_a_rubric_says_from_which_grade_a_document_is_relevant(tmp_path: Path) -> None:
    labels = by_rubric({"q": {"d1": 1, "d2": 1, "d3": 3}, "r": {"d1": 2, "d2": 0}})
    run = {"q": ["d1", "d2", "d3"], "r": ["d2", "d1"]}
    labels.save(tmp_path / "labels.json")
    for each in (labels, rm.load(tmp_path / "labels.json"), labels.by("Ada"), labels.of_queries("qr"), labels.merge()):
        found = rm.evaluate(each.qrels, run, ["mrr", "hit_rate@1", "precision(rel=1)@2", "ndcg@3"])
        assert list(found.means) == ["mrr(rel=2)", "hit_rate(rel=2)@1", "precision(rel=1)@2", "ndcg@3"]
        assert found.means["mrr"] == found.means["mrr(rel=2)"] == pytest.approx((1 / 3 + 1 / 2) / 2)
        assert found.means["hit_rate@1"] == 0
        assert found.means["precision(rel=1)@2"] == 0.75
    assert rm.evaluate(dict(labels.qrels), run, "mrr").means["mrr"] == 0.75  # as judgments of unknown origin
    questions = rm.EvaluationSet({"q": "a?", "r": "b?"}, labels.qrels)
    assert rm.evaluate(questions, run, "mrr").means["mrr"] == pytest.approx(5 / 12)
    both = rm.compare(labels.qrels, {"one": run, "other": {"q": ["d3"], "r": ["d1"]}}, "mrr")
    assert both.difference("mrr", "other", "one").mean == pytest.approx(7 / 12)
    assert "relevant: from grade 2" in str(labels)


def test_kappa_takes_what_the_rubric_calls_relevant() -> None:
    ada = by_rubric({"q": {f"d{at}": grade for at, grade in enumerate([0, 1, 1, 2, 3, 0])}})
    ben = by_rubric({"q": {f"d{at}": grade for at, grade in enumerate([1, 0, 1, 3, 2, 1])}}, "Ben")
    agreed = ada.agreement(ben)
    assert agreed.relevance_kappa.value == 1
    assert "relevant (from 2) or not" in str(agreed)
    plain = rm.Labels(ada).agreement(rm.Labels(ben))
    assert plain.relevance_kappa.value < 0
    assert rm.Labels(ada).agreement(ben).relevance_kappa.value == 1  # one that does not say takes that of the other


def test_grades_that_are_not_on_the_scale_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"Ada graded document 'd1' for query 'q' 4, but the grades .* 0, 1, 2, 3"):
        by_rubric({"q": {"d1": 4}})
    by_rubric({"q": {"d1": 3}}).save(tmp_path / "labels.json")
    content = json.loads((tmp_path / "labels.json").read_text())
    del content["digest"]
    content["labels"][0]["grade"] = 30
    (tmp_path / "labels.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="graded document 'd1' for query 'q' 30"):
        rm.load(tmp_path / "labels.json")
    content["scale"]["relevant_from"] = 0
    (tmp_path / "labels.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="relevant_from must be one of the grades 1, 2, 3, got 0"):
        rm.load(tmp_path / "labels.json")
    with pytest.raises(ValueError, match="different rubrics"):
        by_rubric({"q": {"d1": 1}}).merge(by_rubric({"q": {"d1": 1}}, "Ben", 1))


def test_labels_without_a_scale_take_none_from_others() -> None:
    ruled = rm.Labels.of({"q": {"a": 3, "b": 1}}, by="Ada", relevant_from=2)
    bare = rm.Labels.of({"q": {"c": 1}}, by="old")
    assert ruled.scale is not None
    assert ruled.scale.relevant_from == 2
    for first, second in ((ruled, bare), (bare, ruled)):
        with pytest.raises(ValueError, match=r"the labels of old do not say .* others say from 2.*relevant_from=2\)"):
            first.merge(second)
    both = ruled.merge(rm.Labels.of({"q": {"c": 1}}, by="old", relevant_from=2), rm.Labels([]))
    assert both.scale == ruled.scale
    assert bare.merge(rm.Labels.of({"q": {"d": 5}}, by="older")).scale is None
    with pytest.raises(ValueError, match="graded document 'c' for query 'q' 5, but the grades of the rubric are"):
        rm.Labels.of({"q": {"c": 5}}, by="old", relevant_from=2)


def test_the_calibration_says_what_a_grade_of_the_model_means() -> None:
    people = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 0, "b": 1, "c": 0}}
    model = {"q1": {"a": 2, "b": 0, "c": 2}, "q2": {"a": 2, "b": 0, "c": 0}}
    agreed = rm.Labels.of(people, "people").agreement(rm.Labels.of(model, "model", kind="model"))
    assert {grade: found.value for grade, found in agreed.calibration.items()} == {0: 1 / 3, 2: 2 / 3}
    (axes,) = agreed.plot().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["model: 2", "model: 0"]
    assert {"0.67 of 3 documents", "0.33 of 3 documents"} <= {text.get_text() for text in axes.texts}


def test_one_person_stays_one_whatever_spaces_stand_around_the_name() -> None:
    labels = rm.Labels([rm.Label(query="q", document="d", grade=2, by=name) for name in ("Ada", " Ada ")])
    assert labels.graders == ("Ada",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file["labels"][0].update(quotes="one text"), "must have a list of texts as its quotes"),
        (lambda file: file["labels"][0].update(grade="2"), "must have a number as its grade"),
        (lambda file: file["labels"].append({**file["labels"][0], "grade": 1}), "Ada graded document 'd' .* 3.0 and 1"),
        (lambda file: file.update(scale={"grades": [3, 2, 1, 0], "relevant_from": 0}), "must rise"),
        (lambda file: file.update(scale={"grades": [0, "1"], "relevant_from": 1}), "must be numbers"),
        (lambda file: file.update(scale={"grades": [0, 1], "relevant_from": 1}), "grades of the rubric are 0, 1"),
    ],
)
def test_a_file_that_somebody_edited_wrongly_is_refused_with_the_place(
    change: Any, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "labels.json"
    rm.Labels.of({"q": {"d": 3}}, by="Ada", relevant_from=2).save(path)
    content = json.loads(path.read_text())
    del content["digest"]  # as the message of a changed file advises
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=f"labels.json is damaged at .*{message}"):
        rm.load(path)


def test_labels_without_a_grade_are_no_judgments() -> None:
    labels = rm.Labels([rm.Label(query="q", document=document, grade=None, by="Ada") for document in "abc"])
    with pytest.raises(ValueError, match="none of the 3 labels of Ada has a grade"):
        labels.qrels  # noqa: B018  (it is computed)
    assert rm.Labels([]).qrels == {}
    assert "Ada" in str(labels)


@pytest.mark.parametrize(
    ("grades", "others", "said"),
    [
        ({"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, "no evidence: both gave"),
        ({"q1": {"a": 1, "b": 0, "c": 3}}, {"q1": {"a": 1, "b": 0, "c": 3}}, "not to be told from chance, from so few"),
    ],
)
def test_an_agreement_that_cannot_be_told_from_chance_is_not_called_chance(grades: Any, others: Any, said: str) -> None:
    found = rm.Labels.of(grades, by="Ada").agreement(others)
    assert found.near_chance
    assert f"this agreement is {said}" in str(found)
    assert "hardly better" not in str(found)


@pytest.mark.parametrize(("same", "near_chance"), [(27, True), (28, False)])
def test_an_agreement_of_a_tenth_beyond_chance_is_hardly_better(same: int, near_chance: bool) -> None:  # noqa: FBT001
    # Both call half of 100 passages relevant, so kappa is 2 * the share of equal grades - 1: 0.08 and 0.12.
    pairs = [(0, 0), (1, 1)] * same + [(0, 1), (1, 0)] * (50 - same)
    one, other = ({f"q{q}": {f"d{d}": pair[at] for d, pair in enumerate(pairs)} for q in range(4)} for at in (0, 1))
    found = rm.Labels.of(one, "Ada").agreement(rm.Labels.of(other, "Ben"))
    assert found.weighted_kappa.value == pytest.approx(2 * same / 50 - 1)
    assert found.near_chance is near_chance


def test_up_to_twelve_grades_are_compared() -> None:
    def compared(most: int) -> rm.types.Agreement:
        grades = {"q": {"a": 0, "b": most}}
        return rm.Labels.of(grades, "Ada").agreement(rm.Labels.of(grades, "Ben"))

    assert len(compared(11).grades) == 12  # those in between count
    with pytest.raises(ValueError, match="13 different grades"):
        compared(12)


def test_the_largest_disagreements_come_first() -> None:
    one, other = {"q": {"a": 1, "b": 3, "c": 0, "d": 2}}, {"q": {"a": 2, "b": 0, "c": 2, "d": 2}}
    found = rm.Labels.of(one, "Ada").agreement(rm.Labels.of(other, "Ben"))
    assert list(found.disagreements.items()) == [(("q", "b"), (3, 0)), (("q", "c"), (0, 2)), (("q", "a"), (1, 2))]
