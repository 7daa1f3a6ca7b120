"""An entry remembers numbers to the bit, and tells what else differs."""

import json
import math
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.storage.history_entry import (
    Entry,
    count_looks,
    count_result_pairs,
    decode_entry,
    encode_entry,
)

QRELS: dict[str, Any] = {f"q{number}": ["d"] for number in range(8)}


def evaluate(rank: int, qrels: Any = QRELS, **options: Any) -> rm.Evaluation:
    return rm.evaluate(qrels, dict.fromkeys(qrels, (*"xyz"[: rank - 1], "d")), "mrr", **options)


def make_entry(evaluation: rm.Evaluation) -> Entry:
    return decode_entry(encode_entry(Entry.of(evaluation, "label", None, {})), "entry 1")


def test_a_line_is_decoded_as_it_was() -> None:
    evaluation = evaluate(3)
    line = json.loads(json.dumps(encode_entry(Entry.of(evaluation, "a", "a.json", {"commit": "4f2a91c"}))))
    entry = decode_entry(line, "entry 1")
    assert (entry.label, entry.saved, entry.labels) == ("a", "a.json", {"commit": "4f2a91c"})
    assert entry.means == dict(evaluation.means)
    assert entry.intervals == dict(evaluation.intervals())
    assert entry.n == dict(evaluation.n)
    assert entry.describe_difference(evaluation) == ""


def test_a_mean_that_is_undefined_is_null_in_the_line() -> None:
    evaluation = rm.evaluate({"q": {"d": 0}}, {"q": ["d"]}, "mrr")
    line = encode_entry(Entry.of(evaluation, "a", None, {}))
    assert line["metrics"]["mrr"] == (None, None, None, 0)
    assert math.isnan(decode_entry(line, "entry 1").means["mrr"])


@pytest.mark.parametrize("damage", [{"metrics": {"mrr": [0.5, 0.1]}}, {"date": "yesterday"}, {"metrics": None}])
def test_a_damaged_line_is_named(damage: dict[str, Any]) -> None:
    line = encode_entry(Entry.of(evaluate(1), "a", None, {})) | damage
    with pytest.raises(ValueError, match="entry 7 is damaged"):
        decode_entry(line, "entry 7")


def test_entries_differ_in_questions_or_rules() -> None:
    entry = make_entry(evaluate(1))
    more_questions = make_entry(evaluate(1, QRELS | {"q8": ["d"]}))
    other_rules = make_entry(evaluate(1, ties="input"))
    assert entry.differs_from(make_entry(evaluate(2))) == []
    assert more_questions.differs_from(entry) == ["questions"]
    assert other_rules.differs_from(entry) == ["rules"]


def test_looks_are_at_the_same_questions_and_pairs_are_of_different_results() -> None:
    entries = [make_entry(evaluate(rank)) for rank in (1, 2, 3, 3)]
    entries.append(make_entry(evaluate(1, QRELS | {"q8": ["d"]})))
    assert count_looks(entries, entries[0]) == 4
    assert count_result_pairs(entries, entries[0]) == 3  # of three results, because two are the same
    assert count_result_pairs(entries, entries[-1]) == 1


def test_a_mean_that_is_undefined_on_one_side_alone_differs() -> None:
    undefined = evaluate(1, {"q0": {"x": 0}})
    defined = evaluate(1, {"q0": {"d": 1}})
    assert make_entry(undefined).describe_difference(undefined) == ""
    assert "its mrr is" in make_entry(undefined).describe_difference(defined)
    assert "its mrr is" in make_entry(defined).describe_difference(undefined)
