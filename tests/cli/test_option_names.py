"""Messages offer options: what Python calls an argument has the name of its option here."""

import random
import re
import shlex
from argparse import Namespace
from pathlib import Path

import pytest

import retrieval_metrics as rm
from mutated_files import KINDS, mutated, written
from retrieval_metrics.cli.main import main
from retrieval_metrics.cli.option_names import translate

CORE = Path(rm.__file__).parent
GOOD = "".join(f"q{n} 0 d 1\n" for n in range(10))
RUN = "".join(f"q{n} Q0 d 1 2.0 t\n" for n in range(10))
FILES = {
    "qrels.trec": GOOD,
    "good.run": RUN,
    "other.run": "".join(f"q{n} Q0 {'dx'[n % 2]} 1 2.0 t\n" for n in range(10)),
    "no_name.csv": "id,document,score\nq1,d,1\n",
    "unknown.csv": "query,document,bm25\nq1,d,1\n",
    "repeated.csv": "query,document,score,score\nq1,d,1,2\n",
    "foreign.csv": "query,document,score\nz1,d,1\n",
    "blank.csv": "query,document,score\nq1,d ,1\n",
    "judged.csv": "query,document,judgement\nq1,d,1\n",
    "three.run": "q1 d 1\n",
    "nothing": "nothing here\n",
    "texts.jsonl": '{"query": "q1", "text": "why?"}\n',
    "quote.jsonl": '{"query": "q1", "text": "ab", "kind": "quote"}\n',
    "queries.jsonl": '{"_id": "q1", "text": "why?"}\n{"_id": "q2", "text": "how?"}\n',
    "clusters.json": '{"z": "1"}',
    "trace.jsonl": '{"trace_id": "t", "span_id": "s", "name": "n"}\n',
}
EVALUATE = "evaluate qrels.trec "
CALLS = {
    EVALUATE + "no_name.csv": "name the column with --run-column query=NAME",
    EVALUATE + "unknown.csv": "pass --run-column score=bm25, or --run-column score= if the rows of a query",
    "evaluate judged.csv good.run": "pass --qrels-column grade=judgement, or --qrels-column grade= if every document",
    EVALUATE + "good.run --run-column score=x": "which has no column names; pass --run-format if it has another",
    EVALUATE + "repeated.csv": "remove one, or pass --allow repeated",
    EVALUATE + "blank.csv": "(--allow blanks keeps it)",
    EVALUATE + "foreign.csv": "the file of judgments comes first",
    EVALUATE + "qrels.trec": "a line with four columns is from TREC qrels, which come before the run",
    "evaluate good.run good.run": "a line with six columns is from a TREC run, which comes after the judgments",
    EVALUATE + "three.run": "as in MS MARCO, pass --run-format msmarco; if they are",
    "evaluate three.run good.run": "for BEIR qrels, pass --qrels-format tsv",
    EVALUATE + "nothing": "pass --run-format trec|csv|tsv|json|jsonl|parquet",
    EVALUATE + "texts.jsonl --run-format jsonl": "there is no list of documents",
    EVALUATE + "good.run --reading line=5": "--reading line=SIZE allows more",
    EVALUATE + "good.run --reading subset=de": "",
    EVALUATE + "good.run --clusters clusters.json": "--clusters has none of the judged queries",
    EVALUATE
    + "good.run --match source": "the run holds only IDs, which can only be matched by ID; a run of items has rows",
    EVALUATE + "good.run -m recall@500chars": "the rows of the run need a column of texts",
    EVALUATE + "good.run -M 0": "-M must be a positive integer, got 0",
    "evaluate quote.jsonl good.run": "",
    "evaluate judged_spans.jsonl good.run": "a run of items has rows with the text",
    EVALUATE + "trace.jsonl --view union": "",
    "compare qrels.trec good.run other.run --level 2": "--level must be strictly between 0 and 1, got 2.0",
    "compare qrels.trec good.run other.run --unretrieved-relevant 1": (
        "--unretrieved-relevant requires --unjudged bounds"
    ),
    "convert run good.run out": "does not show the format to write; pass --to trec or another",
    "report qrels.trec -o out.html": "holds no saved result",
    "compare qrels.trec good.run other.run --plan 0": "--plan must be positive",
    "evaluate saved.json good.run": "saved.json holds an evaluation, not judgments",
    "report saved_run.json -o out.html": "saved_run.json cannot be reported: it holds a run",
    "evaluate qrels.trec saved_questions.json": "saved_questions.json holds a set of questions, not a run",
    "compare saved.json saved_run.json": "saved_run.json holds a run, not an evaluation",
    "report history.jsonl -o out.html": "history.jsonl is a history; history show prints it",
}
PYTHON = re.compile(
    r"(?<![-\w])(?!score=|grade=|rank=|document=|query=|line=|subset=|split=|compression=)[a-z_]+=(?![=\d])"
    r"|\b(read|write|from)_\w+|\brm\.|\b(evaluate|compare|load|save|Retrieved|Matching|Limits|Run|Labels)[.(]|\bNone\b"
    r"|\.[a-z_]+\(|\.to_\w+|\bprint\(|\blambda "
)
"""What somebody at a shell cannot type; `score=` and its like are values of options."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    rm.write_qrels({"q1": [rm.Span("a", 0, 9)]}, "judged_spans.jsonl")
    saved = rm.evaluate({"q1": ["d"]}, {"q1": ["d"]}, "mrr")
    saved.save("saved.json")
    rm.save_run({"q1": ["d"]}, "saved_run.json")
    rm.EvaluationSet({"q1": "one?"}, {"q1": ["d"]}).save("saved_questions.json")
    rm.History("history.jsonl").add(saved, "one")


@pytest.mark.parametrize("call", CALLS)
def test_a_message_offers_an_option(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(call)) in {1, 2}
    stderr = capsys.readouterr().err
    assert CALLS[call] in stderr
    assert not PYTHON.search(stderr), stderr


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_no_message_about_a_damaged_file_speaks_of_python(
    kind: str, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    content = written([("q1", "d1", 2.5), ("q1", "d2", 1.5), ("q2", "d1", 0.5)], kind)
    Path("damaged").write_bytes(mutated(content, random.Random(seed)))
    options = ["--run-format", kind] if seed % 2 else []
    main(["evaluate", "qrels.trec", "damaged", *options])
    main(["evaluate", "damaged", "good.run"])
    stderr = capsys.readouterr().err
    assert not PYTHON.search(re.sub(r"'(?:[^'\\]|\\.)*'|line \d+: .*", "", stderr)), stderr  # but for what it quotes


def test_what_stands_below_a_table_offers_options(capsys: pytest.CaptureFixture[str]) -> None:
    rm.write_qrels({f"q{n}": {"d": 1, "x": 0} for n in range(10)}, "qrels.trec")
    rm.write_run({f"q{n}": {"n": 2.0, "d": 1.0} for n in range(10)}, "other.run")
    assert main(["compare", "qrels.trec", "good.run", "other.run", "-m", "mrr"]) == 0
    assert "--unjudged bounds quantifies it" in " ".join(capsys.readouterr().out.split())


HEALTHY = (
    *("evaluate qrels.trec good.run", "compare qrels.trec good.run other.run", "tune qrels.trec {} --default good"),
    *("compare qrels.trec good.run other.run third.run -m mrr,map --margin 0.02", "changes good.run other.run"),
    *(
        "compare qrels.trec good.run other.run third.run --baseline good --unjudged bounds",
        "history show history.jsonl",
    ),
    *("lint queries.jsonl qrels.trec", "lint queries.jsonl qrels.trec --run a=good.run --run b=other.run"),
    *("audit qrels.trec other.run", "report saved.json -o out.html", "compare saved.json saved.json --plan 0.05"),
)


@pytest.mark.parametrize("call", HEALTHY)
def test_a_result_never_shows_python(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    runs = {name: 4 if name == "other" else 3 for name in ("other", "third")}
    for name, every in runs.items():
        rm.write_run({f"q{n}": {"n": 2.0, "d": 1.0} if n % every else {"d": 1.0} for n in range(10)}, f"{name}.run")
    assert main(shlex.split(call.format("good.run other.run third.run"))) in {0, 2}
    stderr = "".join(capsys.readouterr())
    assert not PYTHON.search(stderr.replace("score=", "")), stderr


def test_judgments_by_source_name_the_option_that_turns_clusters_off(capsys: pytest.CaptureFixture[str]) -> None:
    rm.write_qrels({f"q{n}": [rm.Span(f"page {n // 2}", n, n + 9)] for n in range(40)}, "spans.jsonl")
    chunks = [rm.Retrieved("c", "x" * 200, f"page {n}", 0) for n in range(20)]
    rm.write_run({f"q{n}": [chunks[n // 2]] for n in range(40)}, "chunks.jsonl")
    assert main(["evaluate", "spans.jsonl", "chunks.jsonl", "-m", "recall"]) == 0
    assert "--clusters none disables" in capsys.readouterr().out


def test_names_of_files_are_not_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("k={x}.run", "k={1+}.run", "match=None.run"):
        Path(name).write_text("")
        assert main(["evaluate", "qrels.trec", name]) == 2
        assert f"{name} is empty" in capsys.readouterr().err


def test_lint_has_an_option_for_runs_and_none_for_judgments() -> None:
    lint = Namespace(run=[], qrels="q.trec", fail_on=None, file=None)
    assert translate("pass qrels=... and run=...", lint) == "pass qrels=... and --run"
    assert translate("pass run=...", Namespace(run="a.run", file=None)) == "pass run=..."


def test_an_unknown_metric_is_one_whatever_is_saved_and_read(capsys: pytest.CaptureFixture[str]) -> None:
    rm.save_run({f"q{n}": ["d"] for n in range(10)}, "saved_run.json")
    assert main(["evaluate", "qrels.trec", "saved_run.json", "-m", "ndgc@10"]) == 2
    assert "unknown metric 'ndgc'; did you mean ndcg" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["evaluate", "qrels.trec", "good.run", "-m", "ndgc@10", "--save", "saved.json"])
    assert "unknown metric 'ndgc'" in capsys.readouterr().err
