"""A warning that stands in what a command prints is not shown beside it."""

import sys
import warnings
from argparse import Namespace
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.printed_warnings import show_unprinted_warnings
from retrieval_metrics.reports.tables import Table


@pytest.mark.filterwarnings("always::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize(("is_one_place", "kind", "n_shown"), [(True, None, 1), (False, None, 2), (True, "json", 2)])
def test_a_warning_that_is_read_in_the_output_is_not_shown_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str | None, n_shown: int, *, is_one_place: bool
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: shown.append(str(message)))
    with (tmp_path / "log").open("w") as log, (tmp_path / "other").open("w") as other:
        monkeypatch.setattr(sys, "stdout", log)
        monkeypatch.setattr(sys, "stderr", log if is_one_place else other)
        with show_unprinted_warnings(Namespace(output=None, format=kind)) as tables:
            for message in ("printed", "not printed"):
                warnings.warn(message, rm.RetrievalWarning, stacklevel=1)
            tables.append(Table((), (), ["printed."]))
    assert shown == ["printed", "not printed"][-n_shown:]


def warn_and_fail() -> None:
    with show_unprinted_warnings(Namespace(output=None, format=None)):
        warnings.warn("first", rm.RetrievalWarning, stacklevel=1)
        raise ValueError("damaged")


@pytest.mark.filterwarnings("always::retrieval_metrics.RetrievalWarning")
def test_warnings_before_an_error_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: shown.append(str(message)))
    with pytest.raises(ValueError, match="damaged"):
        warn_and_fail()
    assert shown == ["first"]
