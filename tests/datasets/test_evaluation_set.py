"""Sets are read from and written to other tools, split without leaks and merged without losses."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pandas as pd
import polars as pl
import pytest
from langsmith.schemas import Example

import datasets
import retrieval_metrics as rm
from two_questions import QRELS, QUERIES, ROWS


class TestReading:
    @pytest.mark.parametrize(
        "dataset",
        [
            pd.DataFrame(ROWS),
            pl.DataFrame(ROWS),
            pl.DataFrame(ROWS).to_arrow(),
            datasets.Dataset.from_list(ROWS),
        ],
        ids=["pandas", "polars", "Arrow", "Hugging Face"],
    )
    def test_tables_with_a_row_per_question(self, dataset: Any) -> None:
        read = rm.EvaluationSet.from_dataset(dataset)
        assert (read.queries, read.qrels) == (QUERIES, QRELS)
        assert read.provenance_values("source") == {"q1": "account.md", "q2": "prices.md"}

    def test_what_pandas_calls_nan_is_not_known(self) -> None:
        read = rm.EvaluationSet.from_dataset(
            pd.DataFrame([ROWS[0], {**ROWS[1], "source": None}]).replace({None: float("nan")})
        )
        assert read.provenance_values("source") == {"q1": "account.md"}

    def test_one_split_of_a_hugging_face_dataset_is_chosen(self) -> None:
        splits = datasets.DatasetDict(
            {"train": datasets.Dataset.from_list(ROWS), "test": datasets.Dataset.from_list(ROWS)}
        )
        with pytest.raises(ValueError, match="splits 'train', 'test'; choose one"):
            rm.EvaluationSet.from_dataset(splits)
        assert len(rm.EvaluationSet.from_dataset(splits["test"])) == 2

    def test_a_labelled_rag_dataset_and_its_json_hold_texts(self, tmp_path: Path) -> None:
        example = {
            "query": "why?",
            "query_by": {"model_name": "a model", "type": "ai"},
            "reference_contexts": ["Because it is so."],
            "reference_answer": "so",
        }
        content = {"examples": [example]}
        as_object = SimpleNamespace(
            examples=[SimpleNamespace(**{**example, "query_by": SimpleNamespace(model_name="a model")})]
        )
        (tmp_path / "rag_dataset.json").write_text(json.dumps(content))
        for dataset in (content, as_object, tmp_path / "rag_dataset.json", str(tmp_path / "rag_dataset.json")):
            read = rm.EvaluationSet.from_dataset(dataset)
            assert read.qrels == {"why?": [rm.Text("Because it is so.")]}
            assert read.provenance_values("model") == {"why?": "a model"}
        with pytest.raises(ValueError, match="example 1 has no reference_contexts"):
            rm.EvaluationSet.from_dataset({"examples": [{"query": "why?", "reference_contexts": None}]})

    def test_examples_of_langsmith(self) -> None:
        name = UUID(int=7)
        example = Example(
            id=name,
            dataset_id=UUID(int=1),
            inputs={"input": "How do I reset my password?"},
            outputs={"relevant": ["d7", "d8"]},
            metadata={"source": "account.md", "dataset_split": ["base"]},
        )
        for dataset in ([example], [example.model_dump()], iter([example])):
            read = rm.EvaluationSet.from_dataset(dataset)
            assert read.queries == {str(name): "How do I reset my password?"}
            assert read.qrels == {str(name): ["d7", "d8"]}
            assert read.provenance_values("source") == {str(name): "account.md"}
        with pytest.raises(ValueError, match="row 1 has no 'relevant'"):
            rm.EvaluationSet.from_dataset([{"inputs": {"question": "why?"}, "outputs": {"answer": "so"}}])

    def test_datasets_of_ragas(self) -> None:
        ragas = pytest.importorskip("ragas")
        samples = [
            ragas.SingleTurnSample(user_input="why?", reference_context_ids=["d1", "d2"]),
            ragas.SingleTurnSample(user_input="how?", reference_contexts=["By doing it this way."]),
        ]
        expected = {"why?": ["d1", "d2"], "how?": [rm.Text("By doing it this way.")]}
        assert rm.EvaluationSet.from_dataset(ragas.EvaluationDataset(samples=samples)).qrels == expected
        testset = [SimpleNamespace(eval_sample=sample, synthesizer_name="single_hop") for sample in samples]
        read = rm.EvaluationSet.from_dataset(testset)
        assert read.qrels == expected
        assert read.provenance_values("kind") == {"why?": "single_hop", "how?": "single_hop"}

    def test_the_record_becomes_a_set_and_a_set_stays_itself(self) -> None:
        questions = rm.EvaluationSet.from_dataset(ROWS)
        assert rm.EvaluationSet.from_dataset(questions) is questions


class TestOthers:
    def test_rows_for_ragas_are_read_by_ragas_and_by_us(self) -> None:
        ragas = pytest.importorskip("ragas")
        qrels: dict[str, Any] = {"q1": {"d7": 2, "d8": 0}, "q2": [[rm.Text("By doing it this way.")]]}
        questions = rm.EvaluationSet({"q1": "why?", "q2": "how?"}, qrels)
        rows = questions.to_ragas()
        assert rows == [
            {"user_input": "why?", "reference_context_ids": ["d7"]},
            {"user_input": "how?", "reference_contexts": ["By doing it this way."]},
        ]
        read = rm.EvaluationSet.from_dataset(ragas.EvaluationDataset.from_list(rows))
        assert read.qrels == {"why?": ["d7"], "how?": [rm.Text("By doing it this way.")]}
        with pytest.raises(ValueError, match="cannot hold Span"):
            rm.EvaluationSet({"q1": "why?"}, {"q1": [rm.Span("a.md", 0, 5)]}).to_ragas()
        groups: Any = [[rm.Quote("a quote")], [rm.Span("a.md", 0, 5)]]
        with pytest.raises(ValueError, match="cannot hold Span"):
            rm.EvaluationSet({"q1": "why?"}, {"q1": groups}).to_ragas()

    def test_a_span_is_left_out_where_a_quote_says_the_same(self) -> None:
        groups: Any = [[rm.Quote("one quote"), rm.Span("a.md", 0, 9)], [rm.Quote("another"), rm.Span("b.md", 3, 10)]]
        (row,) = rm.EvaluationSet({"q1": "why?"}, {"q1": groups}).to_ragas()
        assert row == {"user_input": "why?", "reference_contexts": ["one quote", "another"]}

    def test_the_json_of_llama_index_is_read_again(self, tmp_path: Path) -> None:
        content = rm.EvaluationSet(QUERIES, QRELS).to_llama_index({"d1": "one"})
        assert content["corpus"] == {"d1": "one"}
        (tmp_path / "set.json").write_text(json.dumps(content))
        read = rm.EvaluationSet.from_dataset(tmp_path / "set.json")
        assert (read.queries, read.qrels) == (QUERIES, QRELS)
        with pytest.raises(ValueError, match="only IDs, quotes and texts"):
            rm.EvaluationSet({"q1": "why?"}, {"q1": [rm.Metadata(page=3)]}).to_llama_index()


def test_a_set_serves_where_query_texts_are_asked_for() -> None:
    questions = rm.EvaluationSet({"q1": "Why is the sky blue?"}, {"q1": ["d1"]})
    result = rm.evaluate(questions, {"q1": ["d2", "d1"]}, "mrr")
    assert str(result.worst("mrr", 1, queries=questions)) == str(result.worst("mrr", 1, queries=questions.queries))
    assert "Why is the sky blue?" in str(result.explain("q1", queries=questions))
    assert rm.audit(questions, {"q1": ["d1"]}, "mrr", queries=questions).lints == ()
    with pytest.raises(TypeError, match="must map query IDs to texts, or be an EvaluationSet, got list"):
        result.worst("mrr", 1, queries=["Why?"])  # type: ignore[arg-type]


def test_a_set_is_printed_in_a_line() -> None:
    questions = rm.EvaluationSet({f"q{number}": "Why? " * 50 for number in range(60)}, {})
    assert str(questions).startswith("<EvaluationSet: 60 questions, e.g. 'q0': 'Why? Why?")
    assert len(str(questions)) < 120
    assert str(rm.EvaluationSet({}, {})) == "<EvaluationSet: 0 questions>"


@pytest.mark.parametrize("text", [None, 7, ["why?"], b"why?"])
def test_a_question_that_is_no_text_is_refused_where_it_enters(text: Any) -> None:
    with pytest.raises(TypeError, match="the text of query 'q2' must be a str, got"):
        rm.EvaluationSet({"q1": "why?", "q2": text}, {"q1": ["d"], "q2": ["d"]})


def test_a_notebook_and_a_frame_show_the_questions() -> None:
    rows = [{"id": f"q{number}", "query": f"why {number}?", "relevant": ["a", "b"]} for number in range(12)]
    rows[0] |= {"source": "a.md", "answer": "because"}
    questions = rm.EvaluationSet.from_dataset(rows)
    frame = questions.to_pandas()
    assert list(frame.columns) == ["text", "n_relevant", "source", "answer"]
    assert list(frame.loc["q0"]) == ["why 0?", 2, "a.md", "because"]
    assert len(frame) == 12
    shown = questions._repr_html_()
    assert "why 9?" in shown
    assert "why 10?" not in shown
    assert "12 questions" in shown
