"""Read the datasets of other tools; they are recognised by their shape, and none of the tools is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.column_detection import RELEVANT_COLUMNS
from retrieval_metrics.inputs.id_checks import is_in_brackets
from retrieval_metrics.inputs.judgment_cells import read_literal
from retrieval_metrics.inputs.pieces import Text
from retrieval_metrics.inputs.provenance import PROVENANCE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


# The name of the relevant texts in datasets of Ragas and LlamaIndex.
REFERENCE_TEXTS_KEY = "reference_contexts"
# The name of the id of a question in the metadata of an example of LangSmith, whose own ids must be UUIDs.
QUERY_ID_KEY = "query_id"
# The attributes of a sample of Ragas that are read.
# The keys that every golden of DeepEval has; its `retrieval_context` is what a retriever found.
GOLDEN_KEYS = frozenset({"input", "expected_output", "context"})
RAGAS_FIELDS = ("user_input", "reference_context_ids", REFERENCE_TEXTS_KEY, "reference")


def find_rows(dataset: Any) -> Iterable[Any] | None:
    """Return the rows of a table or of a dataset that holds a list of examples; None if it is neither."""
    if isinstance(dataset, Mapping) and dataset and all(hasattr(split, "column_names") for split in dataset.values()):
        raise ValueError(f"the dataset has the splits {', '.join(map(repr, dataset))}; choose one of them")
    if isinstance(dataset, Mapping) and _is_squad(dataset.get("data")):
        return list(_read_squad(dataset["data"]))
    examples = _get_value(dataset, "examples")
    if isinstance(examples, (list, tuple)) and not any(map(_has_judgments, examples)):
        # LlamaIndex's LabelledRagDataset, or its JSON
        return [_read_llama_index(example, number) for number, example in enumerate(examples, start=1)]
    if hasattr(dataset, "to_dicts") and hasattr(dataset, "columns"):  # polars
        return map(drop_missing, dataset.to_dicts())
    if hasattr(dataset, "to_pylist") and hasattr(dataset, "column_names"):  # Arrow
        return map(drop_missing, dataset.to_pylist())
    if hasattr(dataset, "to_dict") and hasattr(dataset, "columns") and hasattr(dataset, "iloc"):  # pandas
        return map(drop_missing, dataset.to_dict("records"))
    return None


def _has_judgments(row: Any) -> bool:
    """Return whether a row has a column with all judgments of a question."""
    return isinstance(row, Mapping) and any(column in row for column in RELEVANT_COLUMNS)


def translate_row(row: Any) -> Any:
    """Return a row of another tool with the names used here; other rows are returned unchanged."""
    if hasattr(row, "eval_sample"):  # a row of Ragas's Testset
        sample = translate_row(row.eval_sample)
        kind = getattr(row, "synthesizer_name", None)
        if isinstance(kind, str) and isinstance(sample, Mapping):
            return {**sample, "kind": kind}
        return sample
    inputs = _get_value(row, "inputs")
    outputs = _get_value(row, "outputs")
    if isinstance(inputs, Mapping) and isinstance(outputs, Mapping):  # an example of LangSmith
        return _read_langsmith(row, inputs, outputs)
    if not isinstance(row, (Mapping, list, tuple, str)) and hasattr(row, "user_input"):  # Ragas's SingleTurnSample
        sample = {name: getattr(row, name, None) for name in RAGAS_FIELDS}
        return _judge_by_texts(drop_missing(sample))
    if isinstance(row, Mapping) and row.keys() >= GOLDEN_KEYS:
        return _read_golden(row)
    if isinstance(row, Mapping):
        return _judge_by_texts(row)
    return row


def _read_golden(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a golden of DeepEval as a row; its judgments are the texts of its context."""
    texts = row["context"]
    if not texts:
        raise ValueError(
            f"the golden {row['input']!r:.80} has no context, so nothing is known to be relevant to its question; "
            "leave it out"
        )
    golden = {name: value for name, value in row.items() if name != "context"}
    return _judge_by_texts({**golden, REFERENCE_TEXTS_KEY: texts})


def _judge_by_texts(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with its reference texts as judgments, if it has no other judgments; else return it unchanged."""
    texts = row.get(REFERENCE_TEXTS_KEY)
    if isinstance(texts, str) and is_in_brackets(texts.strip()):  # from a table
        texts = read_literal(texts.strip(), REFERENCE_TEXTS_KEY)
    has_ids = "relevant" in row or any(row.get(name) is not None for name in RELEVANT_COLUMNS)
    if has_ids or not isinstance(texts, (list, tuple)):
        return row
    judged_row = {name: value for name, value in row.items() if name != REFERENCE_TEXTS_KEY}
    judged_row["relevant"] = [Text(text) for text in texts]
    return judged_row


def _is_squad(articles: Any) -> bool:
    """Return whether something is the list of articles in the JSON of SQuAD."""
    if not isinstance(articles, list) or not articles:
        return False
    return all(isinstance(article, Mapping) and isinstance(article.get("paragraphs"), list) for article in articles)


def _read_squad(articles: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the questions of SQuAD as rows; the paragraph that answers a question is its judgment."""
    for article in articles:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                is_answered = not question.get("is_impossible")
                row: dict[str, Any] = {"id": question["id"], "query": question["question"], "relevant": []}
                if is_answered:
                    row["relevant"] = [Text(paragraph["context"])]
                    row["answer"] = next((answer["text"] for answer in question.get("answers", ())), None)
                yield row


def _read_llama_index(example: Any, number: int) -> dict[str, Any]:
    """Return a LlamaIndex example as a row; its judgments are its reference texts."""
    texts = _get_value(example, REFERENCE_TEXTS_KEY)
    if not texts:
        raise ValueError(
            f"example {number} has no {REFERENCE_TEXTS_KEY}, so nothing is known to be relevant to its question"
        )
    row: dict[str, Any] = {"query": _get_value(example, "query"), "relevant": [Text(text) for text in texts]}
    row["reference_answer"] = _get_value(example, "reference_answer")
    author = _get_value(example, "query_by")
    if author is not None:
        model = _get_value(author, "model_name")
        if model:
            row["model"] = model
    return row


def _read_langsmith(example: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return a LangSmith example as a row: the question from its inputs, the judgments from its outputs."""
    question: Mapping[str, Any] = inputs
    if len(inputs) == 1:
        (text,) = inputs.values()
        if isinstance(text, str):
            question = {"query": text}
    row: dict[str, Any] = {**outputs, **question}  # for a name in both, the input counts
    if len(outputs) == 1:
        (relevant,) = outputs.values()
        if not isinstance(relevant, str):
            row["relevant"] = relevant
    example_id = _get_value(example, "id")
    if example_id is not None:
        row["id"] = str(example_id)
    metadata = _get_value(example, "metadata")
    if isinstance(metadata, Mapping):
        for name in PROVENANCE_FIELDS:
            if metadata.get(name) is not None:
                row[name] = metadata[name]
        query = metadata.get(QUERY_ID_KEY)
        if isinstance(query, (str, int)):
            row["id"] = query
    return row


def drop_missing(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without missing values, and with lists in place of arrays."""
    present = {}
    for name, value in row.items():
        if hasattr(value, "tolist"):
            value = value.tolist()  # noqa: PLW2901  (the same value, as plain Python)
        if value is None or value != value:  # noqa: PLR0124  (NaN, which pandas puts where nothing is)
            continue
        present[name] = value
    return present


def _get_value(row: Any, name: str) -> Any:
    if isinstance(row, Mapping):
        return row.get(name)
    return getattr(row, name, None)
