"""Datasets of other tools are recognised by their shape."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pytest

import retrieval_metrics as rm

TEXT = rm.Text("Keys are hashed once.")


@pytest.mark.parametrize(
    "dataset",
    [
        {"examples": [{"query": "how?", "reference_contexts": [TEXT.text], "reference_answer": "once"}]},
        [{"user_input": "how?", "reference_contexts": [TEXT.text], "reference": "once"}],
        [SimpleNamespace(user_input="how?", reference_contexts=[TEXT.text], reference="once")],
        [SimpleNamespace(eval_sample={"user_input": "how?", "relevant": [TEXT], "reference": "once"})],
        [{"inputs": {"question": "how?"}, "outputs": {"relevant": [TEXT], "answer": "once"}}],
    ],
    ids=["LlamaIndex", "rows of Ragas", "samples of Ragas", "a test set of Ragas", "LangSmith"],
)
def test_every_tool_gives_the_same_question(dataset: Any) -> None:
    questions = rm.EvaluationSet.from_dataset(dataset)
    assert questions.queries == {"how?": "how?"}
    assert questions.qrels == {"how?": [TEXT]}
    assert questions.answers == {"how?": "once"}


def test_an_example_of_langsmith_has_an_id_of_its_own_or_the_one_in_its_metadata() -> None:
    example = {"id": "uuid", "inputs": {"question": "how?"}, "outputs": {"documents": ["d1"]}}
    assert rm.EvaluationSet.from_dataset([example]).qrels == {"uuid": ["d1"]}
    example["metadata"] = {"query_id": "q1", "source": "a.md"}
    questions = rm.EvaluationSet.from_dataset([example])
    assert questions.qrels == {"q1": ["d1"]}
    assert questions.provenance["q1"].source == "a.md"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, lambda rows: pl.DataFrame(rows).to_arrow()])
def test_a_table_has_lists_and_no_missing_values(frame: Any) -> None:
    rows = [{"id": "q1", "query": "how?", "relevant": ["d1"], "source": None}]
    questions = rm.EvaluationSet.from_dataset(frame(rows))
    assert questions.qrels == {"q1": ["d1"]}
    assert questions.provenance == {}


def test_a_dataset_with_splits_asks_for_one() -> None:
    table = pl.DataFrame({"query": ["how?"]}).to_arrow()
    with pytest.raises(ValueError, match="the dataset has the splits 'train', 'test'; choose one of them"):
        rm.EvaluationSet.from_dataset({"train": table, "test": table})


def test_an_example_without_texts_is_refused() -> None:
    with pytest.raises(ValueError, match="example 1 has no reference_contexts, so nothing is known to be relevant"):
        rm.EvaluationSet.from_dataset({"examples": [{"query": "how?"}]})


@pytest.mark.parametrize("column", ["reference_context_ids", "relevant_ids", "gold_ids"])
def test_ids_count_beside_the_texts_of_the_same_documents(column: str) -> None:
    row = {"user_input": "how?", column: ["d1"], "reference_contexts": [TEXT.text]}
    assert rm.EvaluationSet.from_dataset([row]).qrels == {"how?": ["d1"]}
