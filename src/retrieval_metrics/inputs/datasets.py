"""Read the datasets of other tools, which are recognised by their shape; none of the tools is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from retrieval_metrics.inputs.pieces import Text
from retrieval_metrics.inputs.provenance import ENTRIES

TEXT_KEY = "reference_contexts"
"""The names of the relevant texts in datasets of Ragas and LlamaIndex."""
KEPT_ID = "query_id"
"""The name of the id of a question in the metadata of an example of LangSmith, whose own ids must be UUIDs."""


def rows_of(dataset: Any) -> Iterable[Any] | None:
    """Return the rows of a table or of a dataset that holds a list of examples; None if it is neither.

    Raises:
        ValueError: If it is a Hugging Face dataset of several splits, of which one must be chosen.
    """
    if isinstance(dataset, Mapping) and dataset and all(hasattr(part, "column_names") for part in dataset.values()):
        raise ValueError(f"the dataset has the splits {', '.join(map(repr, dataset))}; choose one of them")
    examples = dataset.get("examples") if isinstance(dataset, Mapping) else getattr(dataset, "examples", None)
    if isinstance(examples, (list, tuple)):  # LlamaIndex's LabelledRagDataset, or its JSON
        return [_labelled(example, number) for number, example in enumerate(examples, start=1)]
    if hasattr(dataset, "to_dicts") and hasattr(dataset, "columns"):  # polars
        return map(_known, dataset.to_dicts())
    if hasattr(dataset, "to_pylist") and hasattr(dataset, "column_names"):  # Arrow
        return map(_known, dataset.to_pylist())
    if hasattr(dataset, "to_dict") and hasattr(dataset, "columns") and hasattr(dataset, "iloc"):  # pandas
        return map(_known, dataset.to_dict("records"))
    return None


def plain_row(row: Any) -> Any:
    """Return a row of another tool with the names used here; other rows are returned unchanged."""
    if hasattr(row, "eval_sample"):  # a row of Ragas's Testset
        sample = plain_row(row.eval_sample)
        kind = getattr(row, "synthesizer_name", None)
        return {**sample, "kind": kind} if isinstance(kind, str) and isinstance(sample, Mapping) else sample
    inputs, outputs = _entry(row, "inputs"), _entry(row, "outputs")
    if isinstance(inputs, Mapping) and isinstance(outputs, Mapping):  # an example of LangSmith
        return _of_langsmith(row, inputs, outputs)
    if not isinstance(row, (Mapping, list, tuple, str)) and hasattr(row, "user_input"):  # Ragas's SingleTurnSample
        names = ("user_input", "reference_context_ids", TEXT_KEY, "reference")
        row = {name: getattr(row, name, None) for name in names}
        return _with_texts(_known(row))
    return _with_texts(row) if isinstance(row, Mapping) else row


def _with_texts(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row whose only judgments are reference texts with these texts as its judgments."""
    texts = row.get(TEXT_KEY)
    if row.get("reference_context_ids") is not None or "relevant" in row or not isinstance(texts, (list, tuple)):
        return row
    return {**{name: value for name, value in row.items() if name != TEXT_KEY}, "relevant": [*map(Text, texts)]}


def _labelled(example: Any, number: int) -> dict[str, Any]:
    """Return a LlamaIndex example as a row; its judgments are its reference texts."""
    texts = _entry(example, TEXT_KEY)
    if not texts:
        raise ValueError(f"example {number} has no {TEXT_KEY}, so nothing is known to be relevant to its question")
    row: dict[str, Any] = {"query": _entry(example, "query"), "relevant": [*map(Text, texts)]}
    row["reference_answer"] = _entry(example, "reference_answer")
    maker = _entry(example, "query_by")
    if maker is not None and (model := _entry(maker, "model_name")):
        row["model"] = model
    return row


def _of_langsmith(example: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return a LangSmith example as a row: the question from its inputs, the judgments from its outputs."""
    asked: Mapping[str, Any] = inputs
    if len(inputs) == 1 and isinstance(next(iter(inputs.values())), str):
        asked = {"query": next(iter(inputs.values()))}
    row: dict[str, Any] = {**outputs, **asked}  # should both have a name, the question is what was put in
    if len(outputs) == 1 and not isinstance(next(iter(outputs.values())), str):
        row["relevant"] = next(iter(outputs.values()))
    name, metadata = _entry(example, "id"), _entry(example, "metadata")
    if name is not None:
        row["id"] = str(name)
    if isinstance(metadata, Mapping):
        row.update({entry: metadata[entry] for entry in ENTRIES if metadata.get(entry) is not None})
        if isinstance(kept := metadata.get(KEPT_ID), (str, int)):
            row["id"] = kept
    return row


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without missing values, and with lists in place of arrays."""
    known = {}
    for name, value in row.items():
        plain = value.tolist() if hasattr(value, "tolist") else value
        if plain is None or plain != plain:  # noqa: PLR0124  (NaN, which pandas puts where nothing is)
            continue
        known[name] = plain
    return known


def _entry(row: Any, name: str) -> Any:
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)
