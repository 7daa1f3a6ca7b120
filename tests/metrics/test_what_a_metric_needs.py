"""Everything that a metric needs beside its file is there, and a command writes it."""

import inspect
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import retrieval_metrics as rm
from new_metric import ROOT, new_metric
from retrieval_metrics.metrics.base.registry import DEFINITIONS, NAME_BY_ALIAS


@pytest.mark.parametrize("name", DEFINITIONS)
def test_it_is_documented(name: str) -> None:
    assert f"```{{metric}} {name}\n```" in (ROOT / "docs" / "reference" / "metrics" / f"{name}.md").read_text()
    table = (ROOT / "docs" / "reference" / "metrics.md").read_text()
    suffix = "@k" if DEFINITIONS[name].takes_cutoff else ""
    assert f"\n| [`{name}{suffix}`](metrics/{name}.md) |" in table
    assert f"\nmetrics/{name}\n" in table


@pytest.mark.parametrize("function", rm.metrics.__all__)
def test_its_function_is_in_the_reference(function: str) -> None:
    package = "retrieval_metrics" if hasattr(rm, function) else "retrieval_metrics.metrics"
    pages = [page.read_text() for page in (ROOT / "docs" / "api").glob("*.md")]
    assert sum(f".. autofunction:: {package}.{function}\n" in page for page in pages) == 1


def test_no_two_metrics_say_the_same() -> None:
    texts: list[str | None] = []
    for definition in DEFINITIONS.values():
        module = sys.modules[definition.score.__module__]
        texts += [definition.summary, definition.plain_summary, inspect.getdoc(module)]
    assert [text for text, n_metrics in Counter(texts).items() if n_metrics > 1] == []


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    for folder in ("src/retrieval_metrics", "docs/reference", "docs/api"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests").mkdir()
    for path in ("tests/reference.py", "pyproject.toml"):
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


@pytest.mark.parametrize("like", ["hit_rate", "reciprocal_rank", "r_precision", "ndcg"])
def test_the_command_makes_a_whole_metric(like: str, copied: Path) -> None:
    written = new_metric("brand_new", like, copied)
    assert sum("brand_new" in path.read_text() for path in written) == 6
    code = f"""
import reference
import retrieval_metrics as rm
from retrieval_metrics.metrics.base.registry import DEFINITIONS
assert [*reference.METRICS][:2] and reference.METRICS["brand_new"]([{{"a": 2}}, {{"b": 1}}], ["x", "b", "a"]) > 0
qrels, run = {{"q": {{"a": 2, "b": 1}}}}, {{"q": ["x", "b", "a"]}}
one, other = rm.evaluate(qrels, run, ["brand_new", "{like}"]).means.values()
assert one == other
assert rm.metrics.brand_new.__name__ == "brand_new"
print(list(DEFINITIONS).index("brand_new") - list(DEFINITIONS).index("{NAME_BY_ALIAS[like]}"))
"""
    paths = f"import sys; sys.path[:0] = {[str(copied / 'src'), str(copied / 'tests')]!r}\n"
    done = subprocess.run([sys.executable, "-c", paths + code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1\n", "")


@pytest.mark.parametrize(
    ("name", "like", "message"),
    [
        ("Big", "hit_rate", "must be new, in lower case"),
        ("hit", "hit_rate", "must be new"),
        ("brand_new", "coverage", "--like must be one of hit_rate, "),
        ("brand_new", "nothing", "got 'nothing'"),
    ],
)
def test_what_cannot_be_started_is_refused_and_nothing_is_written(
    name: str, like: str, message: str, copied: Path
) -> None:
    before = {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=message):
        new_metric(name, like, copied)
    assert {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()} == before
