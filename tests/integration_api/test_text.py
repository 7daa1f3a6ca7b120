"""Integrations write results as text and read them back."""

from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.integration_api.text import Table, format_saved, numbers, parse_saved, save_text

QRELS = {"q1": {"d7": 2}, "q2": {"d1": 1}}
RUN = {"q1": ["d3", "d7"], "q2": ["d1"]}


def test_a_result_is_written_as_it_is_saved_and_read_as_it_is_loaded(tmp_path: Path) -> None:
    result = rm.evaluate(QRELS, RUN, ["mrr", "ndcg@10"])
    text = format_saved(result, labels={"commit": "4f2"})
    result.save(tmp_path / "saved.json", labels={"commit": "4f2"})
    assert text == (tmp_path / "saved.json").read_text(encoding="utf-8")
    again = parse_saved(text)
    assert again == result
    assert again.labels == {"commit": "4f2"}
    save_text(tmp_path / "kept.json", text)
    assert rm.load(tmp_path / "kept.json") == result


def test_a_comparison_comes_back_with_its_differences() -> None:
    comparison = rm.compare(QRELS, {"a": RUN, "b": {"q1": ["d7"], "q2": ["d1"]}}, "mrr")
    again = parse_saved(format_saved(comparison))
    assert str(again) == str(comparison)
    assert again.difference("mrr").mean == 0.25  # (1 - 1/2 + 1 - 1) / 2


def test_a_text_that_was_changed_is_refused() -> None:
    text = format_saved(rm.evaluate(QRELS, RUN, "mrr"))
    with pytest.raises(ValueError, match="the saved result is damaged, or was changed after it was saved"):
        parse_saved(text.replace('"d7"', '"d8"', 1))


def test_a_table_of_a_host_says_numbers_as_the_core_does() -> None:
    means = rm.evaluate(QRELS, RUN, "mrr").means
    table = Table(["metric", "mean"], [[name, numbers.format_value(mean)] for name, mean in means.items()])
    assert table.text().splitlines() == ["metric   mean", "mrr     0.750"]  # (1/2 + 1) / 2
