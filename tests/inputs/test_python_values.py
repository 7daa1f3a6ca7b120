"""Values that JSON does not have are saved, and read as equal values."""

from __future__ import annotations

import json
import math
import random
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PureWindowsPath
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.python_values import decode_value, encode_value

MOMENT = datetime.fromisoformat("2026-05-31T23:59:58.123456")
HASHABLE_VALUES: tuple[Any, ...] = (
    *("text", "", "\ud800", 7, 2**70, 1.5, True, None),
    *(
        date(2026, 5, 31),
        MOMENT,
        MOMENT.replace(tzinfo=timezone(timedelta(hours=-3))),
        time(23, 59),
        timedelta(-1, 2, 3),
    ),
    MOMENT.replace(tzinfo=ZoneInfo("Europe/Berlin")),
    *(pd.Timestamp("2026-05-31 08:00"), pd.Timestamp("2026-05-31", tz="Asia/Tokyo"), pd.Timedelta("1 day 2 s")),
    *(np.int64(3), np.uint8(3), np.float64(0.1), np.float32(0.1), np.bool_(True), np.str_("text")),
    *(np.datetime64("2026-05-31"), np.datetime64(10**9 + 1, "ns"), np.timedelta64(5, "h"), np.timedelta64(9, "ns")),
    *(Decimal("1.10"), Decimal("-Infinity"), Fraction(1, 3), UUID(int=7), b"\x00\xff", b""),
    *(Path("folder/file.md"), PureWindowsPath(r"C:\folder\file.md"), math.inf, -math.inf),
    *((), (1, ("a", b"b")), frozenset({1})),
)
OTHER_VALUES: tuple[Any, ...] = (
    *(pd.Timestamp("2026-05-31 08:00:00.123456789"), pd.Timedelta(1, "ns")),  # equal to numpy's, with another hash
    *([], [1, [date(2026, 5, 31)]], {1, "a"}, {}, {"a": {"b": [MOMENT]}}, bytearray(b"\xff")),
    *({1: 2, None: "x", ("a", 1): {2}}, {"$python": "date"}, {"$python": {"value": 1}, "value": 2}),
)


def roundtrip(value: Any) -> Any:
    text = json.dumps(encode_value(value, "the value"), allow_nan=False)
    return decode_value(json.loads(text))


@pytest.mark.parametrize("value", [*HASHABLE_VALUES, *OTHER_VALUES], ids=lambda value: type(value).__name__)
def test_values_are_read_as_equal_ones(value: Any) -> None:
    again = roundtrip(value)
    assert again == value
    assert json.dumps(encode_value(again, "the value")) == json.dumps(encode_value(value, "the value"))


def save_evaluation(run: Any, path: Path) -> Any:
    rm.evaluate({"q1": ["d1"]}, run, "mrr").save(path)
    return rm.load(path).scores.origin.run


def write_and_read(run: Any, path: Path) -> Any:
    rm.write_run(run, path)
    return rm.read_run(path)


def resume(run: Any, path: Path) -> Any:
    rm.retrieve(lambda _: run["q1"], {"q1": "why?"}, resume=path)
    return rm.load(path)


DOORS = {
    "evaluation.json": save_evaluation,
    "run.json": write_and_read,
    "run.jsonl": write_and_read,
    "run.parquet": write_and_read,
    "journal.jsonl": resume,
}


@pytest.mark.parametrize("name", DOORS)
def test_every_file_keeps_the_metadata_of_items(name: str, tmp_path: Path) -> None:
    metadata: dict[Any, Any] = {
        f"value {number}": value for number, value in enumerate([*HASHABLE_VALUES, *OTHER_VALUES])
    }
    metadata |= dict(enumerate(HASHABLE_VALUES))
    source: Any = Path("a.md")
    run = {"q1": [rm.Retrieved("d1", source=source, score=math.inf, metadata=metadata)]}
    if name == "run.parquet":
        metadata["value 2"] = "text"  # half a surrogate pair, which Parquet does not have
        run = {"q1": [rm.Retrieved("d1", metadata={key: metadata[key] for key in metadata if key != 2})]}
    again = DOORS[name](run, tmp_path / name)["q1"][0]
    assert again == run["q1"][0]
    assert again.metadata == run["q1"][0].metadata


def test_every_file_keeps_judged_metadata(tmp_path: Path) -> None:
    values = {f"value_{number}": value for number, value in enumerate(HASHABLE_VALUES)}
    questions = rm.EvaluationSet({"q1": "why?"}, {"q1": [rm.Metadata(**values)]})
    questions.save(tmp_path / "set.json")
    assert rm.load(tmp_path / "set.json") == questions
    evaluation = rm.evaluate(questions, {"q1": [rm.Retrieved("d1", metadata=values)]}, "mrr")
    evaluation.save(tmp_path / "evaluation.json")
    loaded = rm.load(tmp_path / "evaluation.json")
    assert loaded == evaluation
    assert loaded.means["mrr"] == 1


def make_value(generator: random.Random, depth: int) -> Any:
    """Return a random value, nested at most so deep."""
    kind = generator.choice(["list", "dict", "tuple"]) if depth and generator.random() < 0.7 else "leaf"
    n_elements = generator.randrange(4)
    if kind == "list":
        return [make_value(generator, depth - 1) for _ in range(n_elements)]
    if kind == "tuple":
        return tuple(make_value(generator, depth - 1) for _ in range(n_elements))
    if kind == "dict":
        keys = generator.sample(HASHABLE_VALUES, n_elements)
        return {key: make_value(generator, depth - 1) for key in [*keys, "$python"]}
    return generator.choice(HASHABLE_VALUES)


def test_nested_values_are_read_as_equal_ones() -> None:
    for seed in range(200):
        value = make_value(random.Random(seed), 3)
        assert roundtrip(value) == value, seed


@pytest.mark.parametrize("missing", [None, pd.NA, pd.NaT])
def test_missing_values_of_pandas_become_none(missing: Any) -> None:
    assert roundtrip([missing]) == [None]


def test_nan_stays_nan() -> None:
    assert math.isnan(roundtrip({"score": math.nan})["score"])


@pytest.mark.parametrize(
    "array", [np.arange(3, dtype=np.int16), np.array([[0.5, np.nan]], np.float32), np.array(["a"])]
)
def test_arrays_keep_their_type(array: Any) -> None:
    again = roundtrip(array)
    assert again.dtype == array.dtype
    assert np.array_equal(again, array, equal_nan=array.dtype.kind == "f")


@pytest.mark.parametrize("value", [object(), 1j, np.array([object()]), pd.Series([1]), len])
def test_other_objects_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"(?s)a key of item 'd1' is .*, which a file cannot hold"):
        encode_value([value], "a key of item 'd1'")


@pytest.mark.parametrize(
    "encoded",
    [
        {"$python": "date", "value": "yesterday"},
        {"$python": "date"},
        {"$python": "function", "value": "len"},
        {"$python": "Decimal", "value": "a"},
        {"$python": "array", "value": {"dtype": "O", "values": [1]}},
        {"$python": "timedelta", "value": "1"},
        {"$python": ["date"], "value": "2026-05-31"},
    ],
)
def test_damaged_values_are_refused(encoded: Any) -> None:
    with pytest.raises(ValueError, match="is not a saved"):
        decode_value(encoded)
