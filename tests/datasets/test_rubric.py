"""A rubric says which grades there are, and from which one a document is relevant."""

import json
from pathlib import Path

import pytest

import retrieval_metrics as rm
from two_graders import label_by_rubric


def test_a_rubric_says_from_which_grade_a_document_is_relevant(tmp_path: Path) -> None:
    labels = label_by_rubric({"q": {"d1": 1, "d2": 1, "d3": 3}, "r": {"d1": 2, "d2": 0}})
    run = {"q": ["d1", "d2", "d3"], "r": ["d2", "d1"]}
    labels.save(tmp_path / "labels.json")
    for variant in (
        labels,
        rm.load(tmp_path / "labels.json"),
        labels.from_grader("Ada"),
        labels.for_queries("qr"),
        labels.merge(),
    ):
        evaluation = rm.evaluate(variant.qrels, run, ["mrr", "hit_rate@1", "precision(rel=1)@2", "ndcg@3"])
        assert list(evaluation.means) == ["mrr(rel=2)", "hit_rate(rel=2)@1", "precision(rel=1)@2", "ndcg@3"]
        assert evaluation.means["mrr"] == evaluation.means["mrr(rel=2)"] == pytest.approx((1 / 3 + 1 / 2) / 2)
        assert evaluation.means["hit_rate@1"] == 0
        assert evaluation.means["precision(rel=1)@2"] == 0.75
    assert rm.evaluate(dict(labels.qrels), run, "mrr").means["mrr"] == 0.75  # as judgments of unknown origin
    questions = rm.EvaluationSet({"q": "a?", "r": "b?"}, labels.qrels)
    assert rm.evaluate(questions, run, "mrr").means["mrr"] == pytest.approx(5 / 12)
    comparison = rm.compare(labels.qrels, {"one": run, "other": {"q": ["d3"], "r": ["d1"]}}, "mrr")
    assert comparison.difference("mrr", "other", "one").mean == pytest.approx(7 / 12)
    assert "relevant: grade ≥ 2" in str(labels)


def test_grades_that_are_not_on_the_scale_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"Ada gave document 'd1' for query 'q' the grade 4, but the grades .* 0, 1, 2, 3"
    ):
        label_by_rubric({"q": {"d1": 4}})
    label_by_rubric({"q": {"d1": 3}}).save(tmp_path / "labels.json")
    content = json.loads((tmp_path / "labels.json").read_text())
    del content["digest"]
    content["labels"][0]["grade"] = 30
    (tmp_path / "labels.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="gave document 'd1' for query 'q' the grade 30"):
        rm.load(tmp_path / "labels.json")
    content["scale"]["relevant_from"] = 0
    (tmp_path / "labels.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="relevant_from must be one of the grades 1, 2, 3, got 0"):
        rm.load(tmp_path / "labels.json")
    with pytest.raises(ValueError, match="different rubrics"):
        label_by_rubric({"q": {"d1": 1}}).merge(label_by_rubric({"q": {"d1": 1}}, "Ben", 1))
