"""Messages offer options: each message is provoked, so that an entry whose message has changed is found."""

from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.command_line.main import main

GOOD = "".join(f"q{n} 0 d 1\n" for n in range(10))
RUN = "".join(f"q{n} Q0 d 1 2.0 t\n" for n in range(10))
CALLS: dict[str, tuple[str, str, str]] = {
    "a column of the run": (
        "qrels.trec",
        "id,document,score\nq1,d,1\n",
        "name the column with --run-column (or --qrels-column) 'query=NAME'",
    ),
    "an unknown column": (
        "qrels.trec",
        "query,document,bm25\nq1,d,1\n",
        "pass --run-column 'score=bm25', or 'score=' if the rows of a query",
    ),
    "two columns": (
        "qrels.trec",
        "query,qid,document,score\nq1,q1,d,1\n",
        "pass --run-column (or --qrels-column) 'query=",
    ),
    "repeated columns": ("qrels.trec", "query,document,score,score\nq1,d,1,2\n", "pass --allow repeated"),
    "equal ranks": ("qrels.trec", "query,document,rank\nq1,d,1\nq1,e,1\n", "pass --run-column 'rank='"),
    "other queries": ("qrels.trec", "query,document,score\nz1,d,1\n", "the file of judgments comes first"),
    "judgments as a run": ("qrels.trec", GOOD, "four columns are TREC qrels, which come before the run"),
    "three columns": ("qrels.trec", "q1 d 1\n", "three columns need a header: separate them by commas"),
}
PYTHON = ("columns=", "allow=", "format=", "read_qrels", "read_run", "from_frame", "evaluate(", "import `", "None")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.trec").write_text(GOOD)
    Path("good.run").write_text(RUN)


@pytest.mark.parametrize("name", CALLS)
def test_a_message_offers_an_option(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, text, offered = CALLS[name]
    path = Path("bad.csv" if "," in text else "bad.run")
    path.write_text(text)
    assert main(["evaluate", qrels, str(path)]) == 2
    said = capsys.readouterr().err
    assert offered in said
    assert not [word for word in PYTHON if word in said]


def test_what_stands_below_a_table_offers_options(capsys: pytest.CaptureFixture[str]) -> None:
    rm.write_qrels({f"q{n}": {"d": 1, "x": 0} for n in range(10)}, "qrels.trec")
    rm.write_run({f"q{n}": {"n": 2.0, "d": 1.0} for n in range(10)}, "other.run")
    assert main(["compare", "qrels.trec", "good.run", "other.run", "-m", "mrr"]) == 0
    assert "--unjudged bounds shows how much" in " ".join(capsys.readouterr().out.split())


def test_judgments_by_source_name_the_option_that_turns_clusters_off(capsys: pytest.CaptureFixture[str]) -> None:
    rm.write_qrels({f"q{n}": [rm.Span(f"page {n // 2}", n, n + 9)] for n in range(40)}, "spans.jsonl")
    found = [rm.Retrieved("c", "x" * 200, f"page {n}", 0) for n in range(20)]
    rm.write_run({f"q{n}": [found[n // 2]] for n in range(40)}, "chunks.jsonl")
    assert main(["evaluate", "spans.jsonl", "chunks.jsonl", "-m", "recall"]) == 0
    assert "--clusters none turns that off" in capsys.readouterr().out
