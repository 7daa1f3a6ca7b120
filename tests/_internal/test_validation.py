"""Numbers are checked, and missing packages and forks named, in one way."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics._internal import validation
from retrieval_metrics._internal.validation import (
    EXTRAS,
    import_optional,
    integer,
    positive_integer,
    positive_number,
    proportion,
)


@pytest.mark.parametrize("package", EXTRAS)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError) as error:
        import_optional(package, "to_something")
    assert str(error.value) == f"to_something needs {package}: pip install 'retrieval-metrics[{EXTRAS[package]}]'"


def test_an_installed_package_is_returned() -> None:
    assert import_optional("pandas", "to_pandas") is sys.modules["pandas"]


def test_integers_of_python_and_numpy_are_returned_as_int() -> None:
    for number in (3, np.int32(3), np.uint8(3)):
        assert type(integer(number, "n")) is int
        assert positive_integer(number, "n") == 3
    assert integer(-1, "n") == -1


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (0, ValueError, "k must be a positive integer, got 0"),
        (np.int64(-2), ValueError, r"k must be a positive integer, got .*-2"),
        (2.0, TypeError, r"k must be a positive integer, got 2\.0 \(float\)"),
        (True, TypeError, r"k must be a positive integer, got True \(bool\)"),
        ("2", TypeError, r"k must be a positive integer, got '2' \(str\)"),
        (None, TypeError, r"k must be a positive integer, got None \(NoneType\)"),
    ],
)
def test_other_values_are_not_positive_integers(value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        positive_integer(value, "k")
    with pytest.raises(error, match="k must be a positive integer or None, got"):
        positive_integer(value, "k", or_none=True)


def test_an_integer_is_asked_for_as_such() -> None:
    with pytest.raises(TypeError, match=r"n must be an integer, got 1\.5 \(float\)"):
        integer(1.5, "n")


@pytest.mark.parametrize(
    ("allow_zero", "allow_one", "kind"),
    [
        (False, False, "strictly between 0 and 1"),
        (False, True, "above 0 and at most 1"),
        (True, False, "at least 0 and below 1"),
        (True, True, "from 0 to 1"),
    ],
)
def test_a_proportion_excludes_the_ends_that_it_does_not_allow(*, allow_zero: bool, allow_one: bool, kind: str) -> None:
    refused = [-0.1, 1.1, 95, float("nan"), float("inf")]
    for end, is_allowed in ((0, allow_zero), (1, allow_one)):
        if is_allowed:
            assert proportion(end, "level", allow_zero=allow_zero, allow_one=allow_one) == end
        else:
            refused.append(end)
    for value in refused:
        with pytest.raises(ValueError, match=f"level must be {kind}, got {value}"):
            proportion(value, "level", allow_zero=allow_zero, allow_one=allow_one)
    for text in ("0.5", None):
        with pytest.raises(TypeError, match=f"level must be a number {kind}, got {text!r}"):
            proportion(text, "level", allow_zero=allow_zero, allow_one=allow_one)
    assert type(proportion(np.float32(0.5), "level", allow_zero=allow_zero, allow_one=allow_one)) is float


def test_a_positive_number_may_be_infinite_but_not_zero_or_nan() -> None:
    assert positive_number(float("inf"), "span") == float("inf")
    for value in (0, -1.5, float("nan")):
        with pytest.raises(ValueError, match=f"span must be positive, got {value}"):
            positive_number(value, "span")


def test_a_warning_names_the_first_line_outside_the_package_and_its_integrations() -> None:
    inside: dict[str, Any] = {"__package__": "host.evaluation.retrieval_metrics", "warn": validation.warn}
    exec(compile("def wrapped():\n    warn('a doubt')", "integration.py", "exec"), inside)  # noqa: S102
    with pytest.warns(rm.RetrievalWarning, match="a doubt") as caught:
        inside["wrapped"]()
    assert caught[0].filename == __file__


FORK = """
import os, sys
from pathlib import Path
import retrieval_metrics as rm

run = {f"q{query}": {f"d{index}": float(-index % 7) for index in range(50)} for query in range(200)}
qrels = {f"q{query}": {f"d{query % 50}": 1} for query in range(200)}
rm.write_run(run, "scored.run")
rm.write_run({query: list(ranking) for query, ranking in run.items()}, "ranked.jsonl")
rm.write_qrels(qrels, "all.qrels")
qrels = rm.read_qrels("all.qrels")
runs = [rm.read_run("scored.run"), rm.read_run("ranked.jsonl")]
streamed = rm.read_run("scored.run", memory=100)
expected = [rm.evaluate(qrels, run, ["ndcg@10", "map"]).per_query for run in runs]
if os.fork():
    os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
assert [rm.evaluate(qrels, run, ["ndcg@10", "map"]).per_query for run in runs] == expected
for call in (
    lambda: rm.read_run("scored.run"),
    lambda: rm.write_run(run, "other.csv"),
    lambda: rm.Run.from_frame({"query": ["q"], "document": ["d"]}),
    lambda: rm.evaluate(qrels, streamed),
):
    try:
        call()
    except RuntimeError as error:
        print(error, flush=True)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_evaluates_what_was_read_and_names_the_cure_where_it_cannot_read(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK], check=True, capture_output=True, text=True, cwd=tmp_path, timeout=100
    )
    messages = done.stdout.splitlines()
    assert len(messages) == 4
    assert all("multiprocessing.get_context('spawn')" in line for line in messages)
