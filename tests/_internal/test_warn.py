"""A warning names the line of user code that led to it."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics._internal.warn import warn

QUERIES = {"q1": "one", "q2": "two"}


def test_a_warning_names_the_first_line_outside_the_package_and_its_integrations() -> None:
    inside: dict[str, Any] = {"__package__": "host.evaluation.retrieval_metrics", "warn": warn}
    exec(compile("def wrapped():\n    warn('a doubt')", "integration.py", "exec"), inside)  # noqa: S102
    with pytest.warns(rm.RetrievalWarning, match="a doubt") as caught:
        inside["wrapped"]()
    assert caught[0].filename == __file__


@pytest.fixture
def torn_journal(tmp_path: Path) -> Path:
    """Return the journal of a run whose last line is incomplete."""
    path = tmp_path / "journal.jsonl"
    rm.retrieve(lambda _: ["d"], QUERIES, resume=path)
    path.write_bytes(path.read_bytes()[:-5])
    return path


def test_a_warning_from_the_thread_of_an_event_loop_names_the_line_that_waits(torn_journal: Path) -> None:
    with pytest.warns(rm.RetrievalWarning) as caught:
        rm.retrieve(lambda _: ["d"], QUERIES, resume=torn_journal)
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, current_line() - 1)]


def test_a_warning_in_a_running_event_loop_names_the_line_of_its_coroutine(torn_journal: Path) -> None:
    async def ask() -> int:
        await rm.aretrieve(lambda _: ["d"], QUERIES, resume=torn_journal)
        return current_line() - 1

    with pytest.warns(rm.RetrievalWarning) as caught:
        line = asyncio.run(ask())
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line)]


def test_the_lines_of_a_host_are_passed_over() -> None:
    inside: dict[str, Any] = {"__package__": "host_retrieval_metrics", "warn": warn}
    exec(compile("def score():\n    warn('a doubt', host='host')", "ours.py", "exec"), inside)  # noqa: S102
    host: dict[str, Any] = {"__name__": "host.metrics", "score": inside["score"]}
    exec(compile("def evaluate():\n    score()", "host.py", "exec"), host)  # noqa: S102
    with pytest.warns(rm.RetrievalWarning, match="a doubt") as caught:
        host["evaluate"]()
    assert caught[0].filename == __file__


def current_line() -> int:
    """Return the number of the line that calls."""
    return sys._getframe(1).f_lineno
