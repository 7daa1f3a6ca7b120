"""What is printed and written is the same in German and Turkish locales, with their commas and capitals."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# A program of its own: a locale is that of a whole process.
PROGRAM = """
import io
import locale
import sys
from contextlib import redirect_stdout
from pathlib import Path

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main


def print_everything(folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    qrels = {f"I{number}": {"DIGIT": 1, "\\u0131l\\u0131k": 2} for number in range(6)}
    runs = {
        "one": {query: {"DIGIT": 1234.5, "x": 0.25, "\\u0131l\\u0131k": 0.125} for query in qrels},
        "two": {query: {"x": 2.5, "DIGIT": 0.5} for query in qrels},
    }
    evaluation = rm.evaluate(qrels, runs["one"], ["NDCG@10", "MAP", "HIT_RATE@5", "INFAP"])
    comparison = rm.compare(qrels, runs, "mrr")
    comparison.report(folder / "report.html")
    saved = folder.with_suffix(".json")  # it holds the time, too
    evaluation.save(saved)
    assert rm.load(saved) == evaluation
    for name, run in runs.items():
        rm.write_run(run, folder / f"{name}.trec")
    rm.write_qrels(qrels, folder / "qrels.tsv")
    files = [str(folder / name) for name in ("qrels.tsv", "one.trec", "two.trec")]
    stream = io.StringIO()
    with redirect_stdout(stream):
        main(["evaluate", *files[:2], "-q", "--format", "csv"])
        main(["compare", *files])
    assert rm.read_run(files[1]) == runs["one"]
    printed = [evaluation, comparison, comparison.details, rm.plan(0.05), stream.getvalue()]
    texts = {str(number): str(text).replace(str(folder), "").encode() for number, text in enumerate(printed)}
    return {**texts, **{path.name: path.read_bytes() for path in sorted(folder.iterdir())}}


first = print_everything(Path("locale C"))
for name in sys.argv[1:]:
    locale.setlocale(locale.LC_ALL, name)
    assert locale.localeconv()["decimal_point"] == ","
    again = print_everything(Path(f"locale {name}"))
    changed = [key for key in first if again[key] != first[key]]
    assert not changed, (name, changed)
    print(name)
"""
LOCALES = {"de_DE.UTF-8": "UTF-8", "tr_TR.UTF-8": "UTF-8", "tr_TR.ISO-8859-9": "ISO-8859-9"}


@pytest.mark.slow
def test_a_locale_changes_nothing(tmp_path: Path) -> None:
    localedef = shutil.which("localedef")
    if localedef is None:
        pytest.skip("localedef is not installed")
    for name, charset in LOCALES.items():
        compiled = subprocess.run(
            [localedef, "-i", name.partition(".")[0], "-f", charset, str(tmp_path / name)],
            capture_output=True,
            check=False,
        )
        if not (tmp_path / name).exists():
            pytest.skip(f"localedef cannot make {name}: {compiled.stderr.decode()}")
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, *LOCALES],
        cwd=work,
        env={**os.environ, "LOCPATH": str(tmp_path), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [*LOCALES], done.stderr
