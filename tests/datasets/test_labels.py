"""Grades of several people: what they agree on, what they do not, and what becomes of it."""

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from two_graders import ADA, ADA_GRADES, BEN, PAIRS


def test_conflicts_are_never_averaged_silently() -> None:
    merged = ADA.merge(BEN)
    assert len(merged.conflicts) == sum(ada_grade != ben_grade for ada_grade, ben_grade in PAIRS)
    with pytest.raises(ValueError, match=r"got different grades, for example .* Choose between them with"):
        _ = merged.qrels
    with pytest.raises(ValueError, match="different grades"):
        rm.evaluate_with_labels({"q0": ["d1"]}, "mrr", human=merged, model=ADA_GRADES, sample={"q0": 0.5})
    for rule, choose in (("lowest", min), ("highest", max)):
        qrels = merged.resolved(rule).qrels
        resolved = chain.from_iterable(qrels[query].values() for query in ADA_GRADES)
        assert list(resolved) == [choose(pair) for pair in PAIRS]
    assert merged.resolved("Ben").qrels == BEN.qrels
    assert f"{len(merged.conflicts)} disagreements, in .conflicts" in str(merged)
    assert "Ada vs Ben: quadratic-weighted kappa" in str(merged)
    assert str(merged).count("kappa") == 1  # the others are in the table of the agreement
    with pytest.raises(ValueError, match="'lowest', 'highest', 'majority' or one of Ada, Ben, got 'mean'"):
        merged.resolved("mean")


def test_words_stand_at_the_left_of_the_table_and_numbers_at_the_right() -> None:
    _, header, ada, *_ = str(ADA.merge(BEN)).splitlines()
    assert header.index("kind") == ada.index("human")
    assert header.index("queries") + len("queries") == ada.index("12") + len("12")


def test_the_majority_of_three_holds_and_of_a_tie_the_lowest() -> None:
    grades = {"Ada": {"a": 3, "b": 2}, "Ben": {"a": 3, "b": 1}, "Cid": {"a": 0, "b": 3}}
    ada, *further = (rm.Labels.from_qrels({"q": qrels}, name) for name, qrels in grades.items())
    assert ada.merge(*further).resolved("majority").qrels == {"q": {"a": 3.0, "b": 1.0}}


def test_where_the_one_whose_grade_holds_gave_none_the_others_must_agree() -> None:
    ada = rm.Labels([rm.Label(query="q", document="d", grade=None, grader="Ada")])
    ben, cid = (rm.Labels.from_qrels({"q": {"d": grade}}, name) for grade, name in ((1, "Ben"), (2, "Cid")))
    assert ada.merge(ben).resolved("Ada").qrels == {"q": {"d": 1.0}}
    with pytest.raises(ValueError, match="Ada did not grade document 'd' for query 'q', and the others differ"):
        ada.merge(ben, cid).resolved("Ada")


def test_who_cannot_tell_gives_no_grade() -> None:
    labels = rm.Labels(
        [
            rm.Label(query="q1", document="a", grade=None, grader="Ada"),
            rm.Label(query="q2", document="b", grade=2, grader="Ada", quotes=("the words",)),
        ]
    )
    assert labels.qrels == {"q1": {}, "q2": {"b": 2.0}}
    assert labels.quotes == {"q2": {rm.Quote("the words"): 2.0}}


def test_labels_are_loaded_as_they_were_saved(tmp_path: Path) -> None:
    labels = rm.Labels(
        [
            rm.Label(
                query=7, document="a", grade=2, grader="Ada", date="2026-05-31", quotes=("x y",), reason="because"
            ),
            rm.Label(query=8, document="b", grade=None, grader="a model", kind="model", prompt="v1", reason="not JSON"),
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
        (
            {"labels": [{"query": "q", "document": "d", "grade": 1, "grader": "A", "rank": 1}]},
            r"labels\[0\].*got 'rank'",
        ),
        ({"labels": [{"query": "q", "document": "d", "grader": "A"}]}, r"labels\[0\].*grade"),
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
    with pytest.raises(ValueError, match="labels grade documents by ID"):
        rm.Labels.from_qrels({"q": [rm.Quote("words")]}, "Ada")
    with pytest.raises(ValueError, match="but never the same document"):
        ADA.agreement({"elsewhere": {"d": 1}})


def test_labels_without_a_scale_take_none_from_others() -> None:
    ruled = rm.Labels.from_qrels({"q": {"a": 3, "b": 1}}, grader="Ada", relevant_from=2)
    bare = rm.Labels.from_qrels({"q": {"c": 1}}, grader="old")
    assert ruled.scale is not None
    assert ruled.scale.relevant_from == 2
    for first, second in ((ruled, bare), (bare, ruled)):
        with pytest.raises(ValueError, match=r"the labels of old do not say .* others say grade 2.*relevant_from=2\)"):
            first.merge(second)
    merged = ruled.merge(rm.Labels.from_qrels({"q": {"c": 1}}, grader="old", relevant_from=2), rm.Labels([]))
    assert merged.scale == ruled.scale
    assert bare.merge(rm.Labels.from_qrels({"q": {"d": 5}}, grader="older")).scale is None
    with pytest.raises(
        ValueError, match="gave document 'c' for query 'q' the grade 5, but the grades of the rubric are"
    ):
        rm.Labels.from_qrels({"q": {"c": 5}}, grader="old", relevant_from=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file["labels"][0].update(quotes="one text"), "must have a list of texts as its quotes"),
        (lambda file: file["labels"][0].update(grade="2"), "must have a number as its grade"),
        (lambda file: file["labels"].append({**file["labels"][0], "grade": 1}), "Ada gave document 'd' .* 3.0 and 1"),
        (lambda file: file.update(scale={"grades": [3, 2, 1, 0], "relevant_from": 0}), "must increase"),
        (lambda file: file.update(scale={"grades": [0, "1"], "relevant_from": 1}), "must be numbers"),
        (lambda file: file.update(scale={"grades": [0, 1], "relevant_from": 1}), "grades of the rubric are 0, 1"),
    ],
)
def test_a_file_that_somebody_edited_wrongly_is_refused_with_the_place(
    change: Any, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "labels.json"
    rm.Labels.from_qrels({"q": {"d": 3}}, grader="Ada", relevant_from=2).save(path)
    content = json.loads(path.read_text())
    del content["digest"]  # as the message of a changed file advises
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=f"labels.json is damaged at .*{message}"):
        rm.load(path)


def test_labels_without_a_grade_are_no_judgments() -> None:
    labels = rm.Labels([rm.Label(query="q", document=document, grade=None, grader="Ada") for document in "abc"])
    with pytest.raises(ValueError, match="none of the 3 labels of Ada has a grade"):
        labels.qrels  # noqa: B018  (it is computed)
    assert rm.Labels([]).qrels == {}
    assert "Ada" in str(labels)
