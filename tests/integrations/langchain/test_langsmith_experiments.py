"""Datasets of LangSmith by name, experiments compared, spans with their documents, and outputs left out."""

import uuid
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.documents import Document
from langsmith import schemas
from langsmith.evaluation.evaluator import DynamicComparisonRunEvaluator

import retrieval_metrics as rm
from langchain_retrieval_metrics import (
    evaluate_retriever,
    langsmith_comparative_evaluators,
    langsmith_dataset,
    langsmith_evaluators,
    langsmith_summary_evaluators,
)

TEXT = "The with statement wraps a block. The yield expression makes a generator."


def example(query: str, relevant: Any, source: str | None = None) -> Any:
    metadata = None if source is None else {"source": source}
    return schemas.Example(
        id=uuid.uuid4(),
        dataset_id=uuid.uuid4(),
        inputs={"query": query},
        outputs=None if relevant is None else {"relevant": relevant},
        metadata=metadata,
    )


def run_of(documents: Any, error: str | None = None) -> Any:
    outputs = None if error else documents if isinstance(documents, dict) else {"documents": documents}
    return SimpleNamespace(id=uuid.uuid4(), outputs=outputs, error=error, session_id=None)


class Client:
    """Answers as `langsmith.Client.list_examples` does, and keeps what it was asked."""

    def __init__(self, *examples: Any) -> None:
        self.examples = examples
        self.asked: dict[str, Any] = {}

    def list_examples(self, **asked: Any) -> Any:
        self.asked = asked
        return iter(self.examples)


@pytest.mark.parametrize("by", ["capitals", uuid.uuid4()])
def test_a_dataset_is_taken_by_its_name_or_id(by: Any) -> None:
    held = [example("why?", ["d7"], "a.md"), example("how?", {"d1": 2}, "b.md")]
    client: Any = Client(*held)
    questions = langsmith_dataset(by, client=client, splits=["test"])
    assert client.asked == {"dataset_name" if isinstance(by, str) else "dataset_id": by, "splits": ["test"]}
    assert dict(questions.queries) == {str(one.id): one.inputs["query"] for one in held}
    answers = {"why?": ["d3", "d7"], "how?": ["d1"]}
    found = evaluate_retriever(lambda query: [Document("", id=one) for one in answers[query]], questions, "mrr")
    assert found.means == {"mrr": 0.75}
    with pytest.raises(ValueError, match="has no examples"):
        langsmith_dataset(by, client=Client())  # type: ignore[arg-type]  # as above


def test_two_experiments_are_compared_by_langsmith_itself() -> None:
    ndcg, mrr = (DynamicComparisonRunEvaluator(one) for one in langsmith_comparative_evaluators(["ndcg@10", "mrr"]))
    better, worse, failed = run_of(["d7"]), run_of(["x", "d7"]), run_of(None, "KeyError")
    found = mrr.compare_runs([better, worse, failed], example("why?", ["d7"]))
    assert (found.key, found.scores) == ("mrr", {better.id: 1.0, worse.id: 0.5, failed.id: 0.0})
    assert found.comment == {
        better.id: "1 relevant, 1 retrieved; ranks of the relevant: 1",
        worse.id: "1 relevant, 2 retrieved; ranks of the relevant: 2",
        failed.id: "1 relevant, 0 retrieved; ranks of the relevant: none; the target failed: KeyError",
    }
    assert ndcg.compare_runs([better, worse], example("why?", ["d7"])).key == "ndcg@10"
    with pytest.warns(rm.RetrievalWarning, match="reference_outputs has no 'relevant'"):
        unjudged = mrr.compare_runs([better, worse], example("why?", None))
    assert unjudged.scores == {}
    assert "reference_outputs has no 'relevant'" in str(unjudged.comment)
    with pytest.warns(rm.RetrievalWarning, match="cannot be judged"):
        half = mrr.compare_runs([better, run_of({"docs": []})], example("why?", ["d7"]))
    assert half.scores == {better.id: 1.0}
    names = [
        one([better], example("why?", ["d7"]))["key"] for one in langsmith_comparative_evaluators("mrr", prefix="a ")
    ]
    assert names == ["a mrr"]


SPAN = [{"type": "span", "source": "page.md", "start": 34, "end": 73}]
RIGHT = Document(TEXT[34:], metadata={"source": "page.md", "start_index": 34})
MOVED = Document(TEXT[:33], metadata={"source": "page.md", "start_index": 34})  # the offset of another chunk


def test_spans_are_checked_against_their_documents() -> None:
    pages = {"page.md": TEXT}
    (plain,) = langsmith_evaluators("mrr")
    (checked,) = langsmith_evaluators("mrr", documents=pages)
    reference = {"relevant": SPAN}
    assert checked({"documents": [RIGHT]}, reference)["results"][0]["score"] == 1.0
    assert checked({"documents": [MOVED, RIGHT]}, reference)["results"][0]["score"] == 0.5
    assert (
        checked({"documents": [Document(TEXT[34:], metadata={"source": "page.md"})]}, reference)["results"][0]["score"]
        == 1.0
    )
    assert plain({"documents": ["d7"]}, {"relevant": ["d7"]}) == checked({"documents": ["d7"]}, {"relevant": ["d7"]})
    (summary,) = langsmith_summary_evaluators("mrr", documents=pages)
    (result,) = summary([run_of([MOVED, RIGHT])], [example("what?", SPAN)])["results"]
    assert result["score"] == 0.5
    (pair,) = langsmith_comparative_evaluators("mrr", documents=pages)
    assert list(pair([run_of([MOVED, RIGHT])], example("what?", SPAN))["scores"].values()) == [0.5]


@pytest.mark.filterwarnings("ignore:nothing was retrieved")
def test_an_output_that_cannot_be_judged_is_left_out_of_the_summary_and_counted() -> None:
    (summary,) = langsmith_summary_evaluators("mrr")
    judged = [example(query, ["d7"]) for query in ("a", "b", "c")]
    with pytest.warns(rm.RetrievalWarning, match="cannot be judged"):
        (result,) = summary([run_of(["d7"]), run_of({"docs": []}), run_of(None, "KeyError")], judged)["results"]
    assert result["score"] == 0.5
    assert "1 failed and count as 0; 1 output left out, which cannot be judged" in result["comment"]
    with pytest.warns(rm.RetrievalWarning, match="cannot be judged"):
        (none,) = summary([run_of({"docs": []})], judged[:1])["results"]
    assert (none["score"], none["comment"][:26]) == (None, "no output can be judged: t")


def test_the_largest_grade_is_that_of_all_judgments() -> None:
    grades = [{"d1": 1}, {"d1": 3}]
    examples = [example("why?", grades[0]), example("how?", grades[1])]
    runs = [run_of(["x", "d1"]), run_of(["d1"])]
    found = {"why": ["x", "d1"], "how": ["d1"]}
    qrels = dict(zip(found, grades, strict=True))
    for make in (langsmith_evaluators, langsmith_comparative_evaluators):
        with pytest.raises(ValueError, match=r"err divides by the largest grade of all judgments.*max_grade="):
            make(["mrr", "err"])
    expected = rm.evaluate(qrels, found, "err")
    (single,) = langsmith_evaluators("err", max_grade=3, prefix="")
    (compared,) = langsmith_comparative_evaluators("err", max_grade=3, prefix="")
    for one, run, value in zip(examples, runs, expected.per_query["err"].values(), strict=True):
        assert single(run.outputs, one.outputs)["results"][0]["score"] == value
        assert compared([run], one)["scores"] == {run.id: value}
    for max_grade, name in [(None, "err"), (4, "err(max_grade=4)")]:
        (summary,) = langsmith_summary_evaluators("err", max_grade=max_grade, prefix="")
        assert summary(runs, examples)["results"][0]["score"] == rm.evaluate(qrels, found, name).means[name]
