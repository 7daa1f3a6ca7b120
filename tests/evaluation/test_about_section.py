"""The last section of a report."""

from pathlib import Path

import pytest

import retrieval_metrics as rm


def test_the_same_report_is_the_same_file(
    evaluation: rm.Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1500000000")  # midnight may come between the two
    for name in ("one.html", "two.html"):
        evaluation.report(tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert "Written on 2017-07-14" in (tmp_path / "one.html").read_text()
