"""Answers and what was said before a question stay with it, and reach every tool that has a place for them."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd
import pytest
from langsmith.schemas import Example

import retrieval_metrics as rm

CONVERSATION = (
    {"role": "user", "content": "Who may open the vault?"},
    {"role": "assistant", "content": "The duty officer."},
)
RELEVANT: Any = {"q1": [[rm.Quote("at night by the duty officer"), rm.Span("vault", 24, 52)]], "q2": ["d7"]}
WITH_BOTH = rm.EvaluationSet(
    {"q1": "And at night?", "q2": "What does a seat cost?"},
    RELEVANT,
    answers={"q1": "The duty officer may."},
    conversation={"q1": CONVERSATION},
)


def test_a_file_holds_both(tmp_path: Path) -> None:
    WITH_BOTH.save(tmp_path / "set.json")
    read = rm.load(tmp_path / "set.json")
    assert (read.answers, read.conversation) == (WITH_BOTH.answers, WITH_BOTH.conversation)
    entries = json.loads((tmp_path / "set.json").read_text())["questions"]
    assert [sorted({"answer", "conversation"} & entry.keys()) for entry in entries] == [["answer", "conversation"], []]


def test_parts_merges_samples_and_repairs_keep_them() -> None:
    first, second = WITH_BOTH.split(0.5, 0.5)
    assert {**first.answers, **second.answers} == WITH_BOTH.answers
    assert first.merge(second).conversation == WITH_BOTH.conversation
    duplicates = rm.EvaluationSet(
        {"q1": "Who opens the vault at night?", "q2": "who opens the vault at night"},
        {"q1": ["d7"], "q2": ["d7"]},
        answers={"q1": "she", "q2": "she"},
    )
    assert duplicates.lint().fixed().answers == {"q1": "she"}


def test_what_differs_between_two_sets_is_an_error() -> None:
    def make_set(**fields: Any) -> rm.EvaluationSet:
        return rm.EvaluationSet({"q1": "And at night?"}, {"q1": ["d7"]}, **fields)

    with pytest.raises(ValueError, match="the answer to query 'q1' is 'she' in one set and 'he' in another"):
        make_set(answers={"q1": "she"}).merge(make_set(answers={"q1": "he"}))
    with pytest.raises(ValueError, match="the conversation differs before query 'q1'"):
        make_set(conversation={"q1": CONVERSATION}).merge(make_set())
    assert make_set(answers={"q1": "she"}).merge(make_set()).answers == {"q1": "she"}


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"answers": {"q9": "so"}}, ValueError, "an answer for a query without a text, 'q9'"),
        ({"answers": {"q1": 7}}, TypeError, "the answer to query 'q1' must be a str, got 7"),
        ({"conversation": {"q1": "Who?"}}, TypeError, "must be a list of messages, got 'Who\\?'"),
        ({"conversation": {"q1": ["Who?"]}}, TypeError, "messages such as"),
        (
            {"conversation": {"q1": [{"role": "user"}]}},
            ValueError,
            "a role, 'user' or 'assistant', and a content",
        ),
        ({"conversation": {"q1": [{"role": "system", "content": "Be brief."}]}}, ValueError, "'system'"),
    ],
)
def test_other_things_are_refused(fields: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.EvaluationSet({"q1": "why?"}, {"q1": ["d7"]}, **fields)


def test_rows_hold_them_under_the_names_of_other_tools() -> None:
    for key in ("answer", "reference", "reference_answer", "expected_response"):
        rows = [{"id": "q1", "query": "why?", "relevant": ["d7"], key: "so", "conversation": list(CONVERSATION)}]
        read = rm.EvaluationSet.from_dataset(rows)
        assert (read.answers, read.conversation) == ({"q1": "so"}, {"q1": CONVERSATION})
    frame = pd.DataFrame([{"query": "why?", "relevant": ["d7"], "answer": None}])
    assert rm.EvaluationSet.from_dataset(frame).answers == {}


def test_the_question_in_its_context_is_one_text() -> None:
    questions = WITH_BOTH.with_conversation()
    assert [*questions.queries.values()] == [
        "Who may open the vault?\nThe duty officer.\nAnd at night?",
        "What does a seat cost?",
    ]
    assert (questions.conversation, questions.answers, questions.qrels) == ({}, WITH_BOTH.answers, WITH_BOTH.qrels)


def test_a_lint_reads_a_follow_up_in_its_context() -> None:
    texts = {"q1": "And does it cost more?", "q2": "And does it cost more?"}
    conversation = {query: [{"role": "user", "content": f"What is a {seat} seat?"}] for query, seat in
              (("q1", "window"), ("q2", "middle"))}  # fmt: skip
    qrels = {"q1": ["d1"], "q2": ["d2"]}
    alone = rm.EvaluationSet(texts, qrels).lint()
    assert {"duplicate_question", "conflicting_judgments", "dependent_question"} <= {*alone.counts}
    assert {*rm.EvaluationSet(texts, qrels, conversation=conversation).lint().counts} <= {"too_few_questions"}


class TestOtherTools:
    def test_langsmith_gets_and_gives_back_both(self) -> None:
        rows = WITH_BOTH.to_langsmith()
        assert rows[0]["outputs"]["answer"] == "The duty officer may."
        assert rows[0]["inputs"]["conversation"] == list(CONVERSATION)
        assert rows[1]["outputs"] == {"relevant": ["d7"]}
        examples = [Example(id=UUID(int=number), dataset_id=UUID(int=9), **row) for number, row in enumerate(rows)]
        for dataset in (rows, examples):
            read = rm.EvaluationSet.from_dataset(dataset)
            assert (read.queries, read.answers, read.conversation) == (
                WITH_BOTH.queries,
                WITH_BOTH.answers,
                WITH_BOTH.conversation,
            )

    def test_a_beir_folder_holds_both(self, tmp_path: Path) -> None:
        ids = rm.EvaluationSet(WITH_BOTH.queries, {"q1": {"d1": 1}, "q2": {"d7": 1}}, answers=WITH_BOTH.answers,
                               conversation=WITH_BOTH.conversation)  # fmt: skip
        ids.to_beir(tmp_path)
        assert rm.EvaluationSet.from_dataset(tmp_path) == ids

    def test_ragas_gets_the_reference_and_no_conversation(self) -> None:
        ragas = pytest.importorskip("ragas")
        with pytest.raises(ValueError, match=r"the conversation before query 'q1'; questions\.with_conversation"):
            WITH_BOTH.to_ragas()
        (first, second) = WITH_BOTH.with_conversation().to_ragas()
        assert first["reference"] == "The duty officer may."
        assert first["reference_contexts"] == ["at night by the duty officer"]
        assert "reference" not in second
        read = rm.EvaluationSet.from_dataset(ragas.EvaluationDataset.from_list([first]))
        assert list(read.answers.values()) == ["The duty officer may."]

    def test_llama_index_gets_texts_with_their_answers(self, tmp_path: Path) -> None:
        only = rm.EvaluationSet({"q1": "Who?"}, {"q1": RELEVANT["q1"]}, {"q1": rm.Provenance(model="m")},
                                answers={"q1": "she"})  # fmt: skip
        content = only.to_llama_index()
        maker = {"model_name": "m", "type": "ai"}
        assert content == {
            "examples": [
                {
                    "query": "Who?",
                    "query_by": maker,
                    "reference_contexts": ["at night by the duty officer"],
                    "reference_answer": "she",
                    "reference_answer_by": maker,
                }
            ]
        }
        (tmp_path / "rag_dataset.json").write_text(json.dumps(content))
        read = rm.EvaluationSet.from_dataset(tmp_path / "rag_dataset.json")
        assert read.answers == {"Who?": "she"}
        assert read.qrels == {"Who?": [rm.Text("at night by the duty officer")]}
        with pytest.raises(ValueError, match="dataset of texts cannot hold IDs, and query 'q2' has 'd7'"):
            WITH_BOTH.with_conversation().to_llama_index()

    def test_mlflow_scores_the_rows_it_gets(self) -> None:
        pytest.importorskip("mlflow")
        from mlflow_retrieval_metrics import retrieval_scorers

        rows = WITH_BOTH.to_mlflow()
        assert rows[0]["expectations"]["expected_response"] == "The duty officer may."
        assert rows[0]["inputs"] == {"question": "And at night?", "conversation": list(CONVERSATION)}
        (scorer,) = retrieval_scorers("mrr", retrieved="outputs")
        documents = [{"id": "a", "page_content": "no"}, {"id": "b", "page_content": "at night by the duty officer"}]
        feedback: Any = scorer(inputs=rows[0]["inputs"], outputs=documents, expectations=rows[0]["expectations"])
        assert feedback.value == 0.5

    def test_pydantic_evals_scores_the_cases_it_gets(self) -> None:
        evals = pytest.importorskip("pydantic_evals")
        from pydantic_evals_retrieval_metrics import RetrievalMetrics

        cases = [evals.Case(**row) for row in WITH_BOTH.with_conversation().to_pydantic_evals()]
        assert cases[0].expected_output == "The duty officer may."
        evaluators = [RetrievalMetrics(["mrr"], relevant="metadata.relevant")]
        dataset = evals.Dataset(name="vault", cases=cases, evaluators=evaluators)

        def retrieve(question: str) -> list[Any]:
            return [rm.Retrieved("a", "no"), rm.Retrieved("b", "at night by the duty officer" * ("vault" in question))]

        report = dataset.evaluate_sync(retrieve, progress=False)
        assert [score.value for case in report.cases for score in case.scores.values()] == [0.5, 0.0]
        with pytest.raises(ValueError, match="a case of Pydantic Evals cannot hold the conversation before query 'q1'"):
            WITH_BOTH.to_pydantic_evals()


@pytest.mark.parametrize("convert", [rm.EvaluationSet.to_ragas, rm.EvaluationSet.to_llama_index])
class TestWhatIsRefused:
    def test_alternatives(self, convert: Any) -> None:
        questions = rm.EvaluationSet({"q1": "why?"}, {"q1": [["d1", "d2"], ["d9"]]})
        with pytest.raises(ValueError, match=r"alternatives, and query 'q1' has \['d1', 'd2'\]; with lossy"):
            convert(questions)
        assert "d2" in str(convert(questions, lossy=True))

    @pytest.mark.parametrize(
        "alternatives",
        [
            ["d1", rm.Span("a.md", 0, 5)],
            ["d1", rm.Metadata(page=3)],
            [rm.Quote("because it is so"), rm.Metadata(page=3)],
            [rm.Quote("because it is so"), rm.Span("a.md", 0, 16), rm.Metadata(page=3)],
        ],
    )
    def test_alternatives_that_would_be_dropped(self, convert: Any, alternatives: list[Any]) -> None:
        questions = rm.EvaluationSet({"q1": "why?"}, {"q1": [alternatives]})
        with pytest.raises(ValueError, match=r"cannot hold alternatives, and query 'q1' has .*; with lossy"):
            convert(questions)
        only = rm.EvaluationSet({"q1": "why?"}, {"q1": [alternatives[:1]]})
        assert convert(questions, lossy=True) == convert(only)

    def test_places_of_a_quote_are_no_alternatives(self, convert: Any) -> None:
        quote = rm.Quote("because it is so")
        places = [rm.Span("a.md", 0, 16), rm.Span("b.md", 7, 23)]
        with_places = rm.EvaluationSet({"q1": "why?"}, {"q1": [[quote, *places]]})
        assert convert(with_places) == convert(rm.EvaluationSet({"q1": "why?"}, {"q1": [quote]}))

    def test_grades(self, convert: Any) -> None:
        with pytest.raises(ValueError, match="cannot hold grades, and query 'q1' has 1, 3; with lossy=True"):
            convert(rm.EvaluationSet({"q1": "why?"}, {"q1": {"d1": 3, "d2": 1}}))
        assert convert(rm.EvaluationSet({"q1": "why?"}, {"q1": {"d1": 3, "d2": 0}}))

    def test_what_must_not_come_back(self, convert: Any) -> None:
        questions = rm.EvaluationSet({"q1": "why?"}, {"q1": {"d1": 1, "d7": -1}})
        with pytest.raises(ValueError, match=r"forbidden documents, such as 'd7' of query 'q1'; with lossy=True"):
            convert(questions)
        assert convert(questions, lossy=True) == convert(rm.EvaluationSet({"q1": "why?"}, {"q1": ["d1"]}))

    def test_spans_alone(self, convert: Any) -> None:
        with pytest.raises(ValueError, match=r"cannot hold Span.* of query 'q1', only IDs, quotes and texts"):
            convert(rm.EvaluationSet({"q1": "why?"}, {"q1": [rm.Span("a.md", 0, 5)]}), lossy=True)
