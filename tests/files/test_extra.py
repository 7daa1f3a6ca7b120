"""What needs an extra says so, with the command that installs it."""

import subprocess
import sys
from pathlib import Path

import pytest

import retrieval_metrics as rm

WITHOUT = """
import sys
sys.modules["{missing}"] = None  # importing it now fails, as where it is not installed
import importlib.util
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "{missing}" else find_spec(name, *rest)
import retrieval_metrics as rm
try:
    {call}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("missing", "call"),
    [
        ("polars", 'rm.read_run("some.run")'),
        ("polars", 'rm.read_qrels("some.qrels")'),
        ("polars", 'rm.write_run({"q": ["d"]}, "some.run")'),
        ("polars", 'rm.write_qrels({"q": ["d"]}, "some.qrels")'),
        ("polars", 'rm.Run.from_frame({"query": ["q"], "document": ["d"]})'),
        ("polars", 'rm.Qrels.from_frame({"query": ["q"], "document": ["d"]})'),
        ("backports", 'rm.write_run({"q": ["d"]}, "/tmp/never.run.zst")'),
    ],
)
def test_a_missing_extra_is_named_with_its_command(missing: str, call: str) -> None:
    if missing == "backports" and sys.version_info >= (3, 14):
        pytest.skip("from 3.14 on the standard library reads zst")
    code = WITHOUT.format(missing=missing, call=call)
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "pip install 'retrieval-metrics[files]'" in said


def test_every_public_name_can_be_imported_without_an_extra() -> None:
    code = WITHOUT.format(missing="polars", call="print(all(getattr(rm, name) for name in rm.__all__))")
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "True\n"
    with pytest.raises(AttributeError, match="module 'retrieval_metrics' has no attribute 'read_runs'"):
        _ = rm.read_runs  # type: ignore[attr-defined]  # the name is wrong on purpose


def test_reading_shows_its_progress_where_it_is_wanted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "some{1}.run"
    path.write_text("q Q0 d 1 2.0 t\n")
    rm.read_run(path, show_progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "reading some{1}.run" in err
