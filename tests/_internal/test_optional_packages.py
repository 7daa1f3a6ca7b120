"""Errors name the command that installs a missing package, and explain a fork after the use of polars."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from retrieval_metrics._internal.optional_packages import EXTRAS, import_optional


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
