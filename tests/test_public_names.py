"""What `import retrieval_metrics as rm` offers."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import retrieval_metrics as rm

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


@pytest.mark.parametrize("name", dir(rm))
def test_every_name_is_there_and_says_what_it_is(name: str) -> None:
    assert getattr(rm, name).__doc__


@pytest.mark.parametrize("name", dir(rm.types))
def test_what_is_only_received_is_in_types(name: str) -> None:
    type_ = getattr(rm.types, name)
    assert not isinstance(type_, type) or type_.__doc__  # an alias of other types has no docstring of its own
    assert name not in dir(rm)
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(rm, name)


@pytest.mark.parametrize("name", ["dcg", "err", "bpref", "rbp", "judged", "r_precision", "full_recall"])
def test_rarer_functions_of_one_ranking_are_in_metrics(name: str) -> None:
    assert callable(getattr(rm.metrics, name))
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(rm, name)


def test_what_is_received_can_be_imported() -> None:
    qrels = {f"q{i}": ["a", "b"] for i in range(4)}
    runs = {"one": {query: ["a"] for query in qrels}, "other": {query: ["x", "a"] for query in qrels}}
    result = rm.evaluate(qrels, runs["one"], "mrr@5", ties="expected")
    comparison = rm.compare(qrels, runs, "mrr")
    explanation = result.explain("q0")
    slices = result.group_by(len)
    (difference,) = comparison.differences
    received = {
        rm.types.ByMetric: result.means,
        rm.types.Chance: result.chance("mrr@5"),
        rm.types.Difference: difference,
        rm.types.Explanation: explanation,
        rm.types.Finding: explanation.findings[0],
        rm.types.Interval: result.intervals()["mrr@5"],
        rm.types.Match: rm.match(qrels, runs["one"]).rows[0],
        rm.types.PairedDifference: difference.paired,
        rm.types.Scores: result.scores,
        rm.types.Slices: slices,
        rm.types.TieRange: result.tie_range,
        rm.Totals: result.totals(),
        rm.types.Worst: result.worst("mrr@5"),
    }
    assert [kind.__name__ for kind, value in received.items() if not isinstance(value, kind)] == []
    plots = [result.plot(), comparison.plot(), rm.tune(runs, qrels, "mrr@5", default="one").plot()]
    assert all(isinstance(figure, Figure) for figure in plots)


def test_the_version_is_written_once() -> None:
    version = tomllib.loads(PYPROJECT.read_text())["project"]["version"]
    assert rm.__version__ == version
    for module in ("retrieval_metrics", "retrieval_metrics.cli"):
        done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout == f"{version}\n"
