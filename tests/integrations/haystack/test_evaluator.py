"""The evaluator beside Haystack's own evaluators: the same inputs, and their numbers under their rules."""

import math
import random
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.evaluators import (
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
)

import retrieval_metrics as rm
from haystack_integrations.components.evaluators.retrieval_metrics import RetrievalEvaluator

SIBLINGS: dict[str, Any] = {
    "ndcg": DocumentNDCGEvaluator(),
    "map": DocumentMAPEvaluator(),
    "mrr": DocumentMRREvaluator(),
    "recall": DocumentRecallEvaluator(mode="multi_hit"),
    "hit_rate": DocumentRecallEvaluator(mode="single_hit"),
}


PARIS = Document(content="Paris")


ROME = Document(content="Rome")


BONN = Document(content="Bonn")


def make_rows() -> dict[str, Any]:
    """Questions of every length, some without an expected document."""
    rng = random.Random(5)
    contents = [f"text {number}" for number in range(12)]
    expected = [rng.sample(contents, rng.randint(0, 5)) for _ in range(60)]
    retrieved = [rng.sample(contents, rng.randint(1, 12)) for _ in range(60)]
    has_grades = [rng.random() < 0.5 for _ in range(60)]
    rows: dict[str, Any] = {"ground_truth_documents": [], "retrieved_documents": []}
    for contents_of_query, grades in zip(expected, has_grades, strict=True):
        documents = [Document(content=content) for content in contents_of_query]
        if grades:
            documents = [Document(content=content, score=rng.choice([1.0, 2.0, 3.0])) for content in contents_of_query]
        rows["ground_truth_documents"].append(documents)
    for contents_of_query in retrieved:
        rows["retrieved_documents"].append([Document(content=content) for content in contents_of_query])
    return rows


def as_dicts(rows: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every document of both lists as a dictionary."""
    documents = []
    for lists in rows.values():
        for documents_of_query in lists:
            documents += [document.to_dict() for document in documents_of_query]
    return documents


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("metric", SIBLINGS)
def test_the_rules_of_haystack_give_its_own_numbers(metric: str) -> None:
    rows = make_rows()
    ours = RetrievalEvaluator(metric, rules="haystack").run(**rows)
    theirs = SIBLINGS[metric].run(**rows)
    assert ours["individual_scores"] == pytest.approx(theirs["individual_scores"], abs=1e-12)
    assert ours["score"] == pytest.approx(theirs["score"], abs=1e-12)


GRADES = [-1.0, 0.0, 0.5, 1.0, 2.0]


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("metric", SIBLINGS)
def test_the_rules_of_haystack_give_its_own_numbers_for_grades_of_0_too(metric: str) -> None:
    rng = random.Random(7)
    contents = [f"text {number}" for number in range(8)]
    for _ in range(1500):
        expected = rng.sample(contents, rng.randint(1, 5))
        rows: Any = {
            "ground_truth_documents": [
                [Document(content=content, score=rng.choice(GRADES[1:])) for content in expected]
            ],
            "retrieved_documents": [[Document(content=content) for content in rng.sample(contents, rng.randint(1, 8))]],
        }
        ours = RetrievalEvaluator(metric, rules="haystack").run(**rows)["individual_scores"]
        assert ours == pytest.approx(SIBLINGS[metric].run(**rows)["individual_scores"], abs=1e-12), rows


def test_one_component_gives_the_numbers_of_all_for_grades_of_0() -> None:
    rng = random.Random(8)
    contents = [f"text {number}" for number in range(8)]
    rows: Any = {"ground_truth_documents": [], "retrieved_documents": []}
    for _ in range(300):
        expected_contents = rng.sample(contents, rng.randint(1, 5))
        rows["ground_truth_documents"].append(
            [Document(content=content, score=rng.choice(GRADES)) for content in expected_contents]
        )
        rows["retrieved_documents"].append(
            [Document(content=content) for content in rng.sample(contents, rng.randint(1, 8))]
        )
    metrics = [metric for metric in SIBLINGS if metric != "ndcg"]  # with grades below 0, Haystack's exceeds 1
    results = RetrievalEvaluator([*metrics, "ndcg"], rules="haystack").run(**rows)["results"]
    for metric in metrics:
        expected = SIBLINGS[metric].run(**rows)
        assert results[metric]["individual_scores"] == pytest.approx(expected["individual_scores"], abs=1e-12)
        assert results[metric]["score"] == pytest.approx(expected["score"], abs=1e-12)
    alone = RetrievalEvaluator("ndcg", rules="haystack").run(**rows)
    assert results["ndcg"]["individual_scores"] == alone["individual_scores"]


def test_a_perfect_first_page_is_perfect_and_a_question_without_judgments_is_left_out() -> None:
    five = [Document(content=str(number)) for number in range(5)]
    rows: Any = {"ground_truth_documents": [five, []], "retrieved_documents": [five[:3], five]}
    ours = RetrievalEvaluator("ndcg@3").run(**rows)
    assert ours["evaluation"].counts["no_relevant"] == 1
    assert ours["score"] == 1.0
    assert ours["individual_scores"][0] == 1.0
    assert math.isnan(ours["individual_scores"][1])
    # Without a cutoff the ideal ranking holds all five, and the question that nothing can answer counts as 0.
    assert SIBLINGS["ndcg"].run(**rows)["score"] == pytest.approx(0.7227 / 2, abs=1e-4)


@pytest.mark.parametrize("field", ["content", "id", "quote"])
def test_a_budget_counts_the_characters_of_what_was_retrieved(field: str) -> None:
    long = Document(content="a text of 20 letters")
    needed = Document(content="the needed text")
    rows: Any = {"ground_truth_documents": [[needed]], "retrieved_documents": [[long, needed]]}
    assert RetrievalEvaluator("recall@35chars", document_comparison_field=field).run(**rows)["score"] == 1.0
    assert RetrievalEvaluator("recall@34chars", document_comparison_field=field).run(**rows)["score"] == 0.0


def test_a_question_whose_retriever_failed_scores_0_and_is_warned_of() -> None:
    rows: Any = {"ground_truth_documents": [[PARIS], [PARIS]], "retrieved_documents": [[PARIS], None]}
    with pytest.warns(rm.RetrievalWarning, match="1 of 2 judged queries"):
        outputs = RetrievalEvaluator("mrr").run(**rows)
    assert (outputs["individual_scores"], outputs["score"]) == ([1.0, 0.0], 0.5)
    assert outputs["evaluation"].counts["failed"] == 1


@pytest.mark.parametrize("field", ["content", "quote"])
@pytest.mark.parametrize("rules", ["standard", "trec_eval", "haystack"])
def test_where_every_retriever_failed_there_is_no_number(field: str, rules: str) -> None:
    rows: Any = {"ground_truth_documents": [[Document(content="with wraps a block")]], "retrieved_documents": [None]}
    with pytest.raises(ValueError, match="nothing to evaluate: the retriever failed for every query, 1 of 1"):
        RetrievalEvaluator("mrr", document_comparison_field=field, rules=rules).run(**rows)


def test_the_evaluation_behind_the_numbers_has_intervals_and_can_be_compared() -> None:
    rows: Any = {"ground_truth_documents": [[PARIS]] * 8, "retrieved_documents": [[PARIS, ROME], [ROME, PARIS]] * 4}
    better = RetrievalEvaluator("mrr").run(**rows)
    worse = RetrievalEvaluator("mrr").run(
        ground_truth_documents=[[PARIS]] * 8, retrieved_documents=[[ROME, BONN, PARIS]] * 8
    )
    interval = better["evaluation"].intervals()["mrr"]
    assert interval.low < better["score"] == 0.75 < interval.high
    comparison = rm.compare({"a": worse["evaluation"], "b": better["evaluation"]})
    assert comparison.difference("mrr", "b", "a").mean == pytest.approx(0.75 - 1 / 3)


def test_a_saved_pipeline_computes_the_same() -> None:
    pipeline = Pipeline()
    settings: Any = {"document_comparison_field": "id", "group_field": "meta.fact", "rules": "trec_eval"}
    pipeline.add_component("ndcg", RetrievalEvaluator("ndcg(gain=exponential)@5", **settings))
    loaded = Pipeline.loads(pipeline.dumps())
    rows = {"ndcg": {"ground_truth_documents": [[PARIS]], "retrieved_documents": [[ROME, PARIS]]}}
    assert loaded.run(rows)["ndcg"]["score"] == pipeline.run(rows)["ndcg"]["score"] == 1 / math.log2(3)
    assert loaded.to_dict() == pipeline.to_dict()


def test_what_was_handed_over_stays_as_it_was() -> None:
    rows = make_rows()
    before = as_dicts(make_rows())
    RetrievalEvaluator().run(**rows)
    assert as_dicts(rows) == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "ndgc@10"}, "ndgc"),
        ({"document_comparison_field": "contents"}, "one of 'content', 'id', 'quote', 'span', 'meta.<key>', got"),
        ({"document_comparison_field": "meta."}, "must be one of"),
        ({"group_field": "fact"}, "group_field must be one of 'meta.<key>', got 'fact'"),
        ({"rules": "haystacks"}, "haystacks"),
    ],
)
def test_a_wrong_setting_is_refused_when_it_is_made(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RetrievalEvaluator(**settings)


@pytest.mark.parametrize(
    ("expected", "retrieved", "field", "message"),
    [
        ([], [], "content", "a list for each question, got 0 and 0"),
        ([[PARIS]], [[PARIS], []], "content", "got 1 and 2"),
        ([[PARIS, Document(content="Lyon", score=1.0)]], [[PARIS]], "content", "must have a score.*Paris has none"),
        ([[PARIS]], [[PARIS]], "meta.file", "Paris, is expected but has no meta.file, .*; choose another"),
        ([[Document(content="")]], [[PARIS]], "content", "is expected but has no content, .*; choose another"),
        ([[PARIS]], [[Document(content="")]], "content", "1 of 1 retrieved documents have no content"),
        ([[Document(content="Paris", meta={"file": "a"})]], [[PARIS, ROME]], "meta.file", "2 of 2 retrieved documents"),
    ],
)
def test_wrong_rows_are_refused_by_name(expected: Any, retrieved: Any, field: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RetrievalEvaluator("mrr", document_comparison_field=field).run(expected, retrieved)


def test_a_document_without_the_field_keeps_its_rank_and_is_warned_of_once() -> None:
    named = Document(content="Paris", meta={"file": 7})
    evaluator = RetrievalEvaluator("mrr", document_comparison_field="meta.file")
    with pytest.warns(rm.RetrievalWarning) as caught:
        outputs = evaluator.run([[named]] * 8, [[ROME, named]] * 8)
    assert outputs["score"] == 0.5
    assert outputs["evaluation"].counts["without_match_value"] == 8
    (warning,) = caught
    assert "8 of 16 results have no meta.file, so document_comparison_field='meta.file'" in str(warning.message)
    assert "match=" not in str(warning.message)
    # It is compared with an evaluation in which every document has the field.
    complete = evaluator.run([[named]] * 8, [[named]] * 8)["evaluation"]
    comparison = rm.compare({"incomplete": outputs["evaluation"], "complete": complete})
    assert comparison.conclusions.get("mrr").kind == "better"


def test_what_cannot_be_an_id_is_refused() -> None:
    strange = Document(content="Paris", meta={"file": ["a", "b"]})
    with pytest.raises(TypeError, match=r"compared by a str or an int; meta.file of document .* is \['a', 'b'\]"):
        RetrievalEvaluator("mrr", document_comparison_field="meta.file").run([[strange]], [[strange]])


@pytest.mark.parametrize(
    ("expected", "retrieved", "message"),
    [
        ([["d7"]], [[]], "ground_truth_documents must hold a list of Documents for each question; it holds 'd7'"),
        ([None], [[]], "ground_truth_documents must hold a list of Documents for each question, got None"),
        (
            [[Document(id="d7")]],
            [[None]],
            "retrieved_documents must hold .*, for each question; it holds None",
        ),
        ([[Document(id="d7")]], [Document(id="d7")], "retrieved_documents must hold a list of Documents, or None"),
    ],
)
def test_what_is_no_list_of_documents_is_refused_by_name(expected: Any, retrieved: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        RetrievalEvaluator("mrr", document_comparison_field="id").run(expected, retrieved)


def test_a_content_may_end_with_a_line_break_and_an_id_may_not() -> None:
    expected = Document(id="d1 ", content="Paris is\nthe capital\n")
    other = Document(id="d2", content="Rome")
    found = RetrievalEvaluator("mrr").run(ground_truth_documents=[[expected]], retrieved_documents=[[other, expected]])
    assert found["score"] == 0.5
    by_id = RetrievalEvaluator("mrr", document_comparison_field="id")
    with pytest.raises(ValueError, match="document 'd1 ' judged for query 0 begins or ends with whitespace"):
        by_id.run(ground_truth_documents=[[expected]], retrieved_documents=[[other, expected]])
