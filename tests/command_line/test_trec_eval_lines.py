"""The lines of trec_eval, against trec_eval's own code."""

import argparse
import functools
import math
import operator
import random
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
import pytrec_eval

from retrieval_metrics.command_line.main import main

CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
OFFICIAL = [
    *("num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *(f"iprec_at_recall_{at / 10:.2f}" for at in range(11)),
    *(f"P_{k}" for k in CUTS),
]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Judgments with three grades and a run with ties; some queries lack one or the other, or anything relevant."""
    chance = random.Random(7)
    qrels, run = [], []
    for query in [*range(1, 30), 301]:
        documents = [f"d{at}" for at in range(60)]
        if query % 7:
            best = 0 if query % 11 == 0 else 3
            qrels += [f"{query} 0 {document} {chance.randint(0, best)}" for document in chance.sample(documents, 20)]
        if query % 5:
            found = chance.sample(documents, chance.choice([1, 12, 40]))
            run += [f"{query} Q0 {document} 1 {chance.randint(0, 12)} tag" for document in found]
    (tmp_path / "qrels").write_text("\n".join(qrels) + "\n")
    (tmp_path / "run").write_text("\n".join(run) + "\n")
    return tmp_path / "qrels", tmp_path / "run"


def expected(files: tuple[Path, Path], options: Sequence[str]) -> list[str]:
    """What trec_eval prints, made of the values of its own code; the lines of `relstring` and `runid` are left out."""
    given = TREC_EVAL.parse_args(options)
    with files[0].open() as qrels_file, files[1].open() as run_file:
        qrels, run = pytrec_eval.parse_qrel(qrels_file), pytrec_eval.parse_run(run_file)
    run = {
        query: dict(sorted(ranking.items(), key=lambda one: (one[1], one[0]), reverse=True)[: given.M])
        for query, ranking in run.items()
    }
    names = {re.sub(r"(?<=[.,])\.", "0.", name) for name in given.m or ["official"]}  # pytrec_eval reads no .20
    found = pytrec_eval.RelevanceEvaluator(
        qrels, names, relevance_level=given.l, judged_docs_only_flag=given.J
    ).evaluate(run)
    rows = []
    measures = [name for name in next(iter(found.values())) if name not in {"relstring", "runid"}]
    for query in sorted(found) if given.q else ():
        rows += [line(name, query, found[query][name]) for name in measures if name not in ONLY_OF_ALL]
    if given.n:
        return rows
    missing = [query for query in qrels if query not in found] if given.c else []
    for name in measures:
        values = [found[query][name] for query in sorted(found)]
        least = math.log(1e-5) if name.startswith("gm_") else 0.0
        # Added one after the other, as in C; `sum` is exact from Python 3.12 on.
        total = functools.reduce(operator.add, [*values, *(least for _ in missing)])
        if name == "num_q":
            total = len(values) + len(missing)
        elif name == "num_rel":
            total += sum(grade >= given.l for query in missing for grade in qrels[query].values())
        elif not name.startswith("num_"):
            total /= len(values) + len(missing)
        rows.append(line(name, "all", math.exp(total) if name.startswith("gm_") else total))
    return rows


def line(name: str, query: str, value: float) -> str:
    return f"{name:<22}\t{query}\t{format(value, '.0f' if name.startswith('num_') else '6.4f')}"


TREC_EVAL = argparse.ArgumentParser(add_help=False)
for flag in "qcnJ":
    TREC_EVAL.add_argument(f"-{flag}", action="store_true")
TREC_EVAL.add_argument("-l", type=int, default=1)
TREC_EVAL.add_argument("-M", type=int, default=10**9)
TREC_EVAL.add_argument("-m", action="append")
ONLY_OF_ALL = {"runid", "num_q", "gm_map", "gm_bpref"}


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("most", [None, 3])
def test_the_official_table_is_that_of_trec_eval(
    files: tuple[Path, Path], level: int, *, complete: bool, most: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-q", "-l", str(level), *(["-c"] if complete else []), *([] if most is None else ["-M", str(most)])]
    assert main(["evaluate", *map(str, files), *options, "--format", "trec_eval"]) == 0
    printed = capsys.readouterr().out.splitlines()
    of_all = [row.split("\t")[0].strip() for row in printed if row.split("\t")[1] == "all"]
    assert of_all == ["runid", "num_q", *OFFICIAL]
    assert [row for row in printed if not row.startswith("runid ")] == expected(files, options)


PAGE = Path(__file__).parents[2] / "docs" / "guides" / "command-line.md"
ROW = re.compile(r"^\| `trec_eval(?P<options>[^`]*)` \| (?P<shown>.*) \| (?P<said>.*) \|$", re.MULTILINE)
ROWS = [match.groups() for match in ROW.finditer(PAGE.read_text(encoding="utf-8"))]


def test_the_page_has_a_row_for_every_habit() -> None:
    assert len([row for row in ROWS if row[2] == "the same lines"]) >= 30
    assert len({row[0] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_the_page_is_what_both_print(
    row: tuple[str, str, str], files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options, shown, said = row
    (tmp_path / "qrels.trec").write_text("q1 0 d3 2\nq1 0 d7 1\nq2 0 d1 1\nq3 0 d5 1\n")
    run = "q1 Q0 d7 1 9.5 main\nq1 Q0 d2 2 9.0 main\nq2 Q0 d4 1 3.0 main\nq2 Q0 d1 2 1.0 main\nq3 Q0 d5 1 2.0 main\n"
    (tmp_path / "main.run").write_text(run)
    given = shlex.split(options)
    call = ["evaluate", str(tmp_path / "qrels.trec"), str(tmp_path / "main.run"), "--format", "trec_eval", *given]
    if said != "the same lines":
        with pytest.raises(SystemExit) as stopped:
            main(call)
        assert stopped.value.code == 2
        assert shown == "refused"
        return
    assert main(call) == 0
    printed = capsys.readouterr().out.splitlines()
    assert " ".join(printed[-1].split()) == shown.strip("`")
    assert main(["evaluate", *map(str, files), "--format", "trec_eval", *given]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [row for row in printed if not row.startswith(("runid ", "relstring "))] == expected(files, given)


def test_what_is_0_by_0_in_trec_eval_is_nan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 1\n2 0 a 1\n3 0 c 0\n")
    (tmp_path / "run").write_text("1 Q0 x 1 2 t\n2 Q0 a 1 2 t\n3 Q0 x 1 2 t\n")
    names = [*(f"iprec_at_recall.{at}" for at in (0, 0.5)), "11pt_avg", "map", "P.5"]
    options = ["-q", "-J", *(word for name in names for word in ("-m", name))]
    files = tmp_path / "qrels", tmp_path / "run"
    assert main(["evaluate", *map(str, files), *options, "--format", "trec_eval"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == expected(files, options)
    assert [row.split("\t")[1] for row in printed if row.endswith("\t   nan")] == [*"11333", "all", "all", "all"]


def test_measures_are_asked_for_as_in_trec_eval(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    call = ["evaluate", *map(str, files), "--format", "trec_eval"]
    assert main([*call, "-m", "P.5,10", "-m", "ndcg_cut.5,10", "-m", "num_rel_ret", "-m", "map", "-m", "recall_5"]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [line[0].strip() for line in lines] == [
        *("num_rel_ret", "map", "P_5", "P_10", "recall_5", "ndcg_cut_5", "ndcg_cut_10")
    ]
    assert {line[1] for line in lines} == {"all"}
    assert main([*call, "-m", "num_q"]) == 0
    assert capsys.readouterr().out == "num_q                 \tall\t20\n"
    assert main(["evaluate", *map(str, files), "-m", "P.5,10,ndcg_cut.20,map", "--format", "csv"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.partition(",")[0] for row in rows] == ["metric", "precision@5", "precision@10", "ndcg@20", "map"]
    assert main(["evaluate", *map(str, files), "-m", "num_ret"]) == 2
    assert "num_ret is no metric but a line of trec_eval, and needs --format trec_eval" in capsys.readouterr().err


@pytest.mark.parametrize("level", [1, 2])
def test_all_measures_are_printed_with_the_values_of_trec_eval(
    files: tuple[Path, Path], level: int, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["evaluate", *map(str, files), "--format", "trec_eval", "-m", "all_trec"]
    assert main([*call, "-l", str(level), "-q"]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    with files[0].open() as qrels_file, files[1].open() as run_file:
        qrels, run = pytrec_eval.parse_qrel(qrels_file), pytrec_eval.parse_run(run_file)
    found = pytrec_eval.RelevanceEvaluator(qrels, {"all_trec"}, relevance_level=level).evaluate(run)
    names = list(next(iter(found.values())))
    assert [name.strip() for name, query, _ in lines if query == "all"] == [n for n in names if n != "relstring"]
    first = min(found)
    assert [name.strip() for name, query, _ in lines if query == first] == [n for n in names if n not in ONLY_OF_ALL]
    for name, query, value in lines:
        measure = name.strip()
        if query != "all" and measure != "relstring":
            theirs = found[query][measure]
            assert float(value) == pytest.approx(theirs, abs=6e-5, nan_ok=True), (measure, query)
        elif query == "all" and measure not in {"runid", "num_q"}:
            values = [one[measure] for one in found.values()]
            mean = sum(values) / (1 if measure.startswith("num_") else len(values))
            assert float(value) == pytest.approx(math.exp(mean) if measure.startswith("gm_") else mean, abs=6e-5)


def test_the_first_grades_are_a_text_of_single_queries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("1 0 a 2\n1 0 b 0\n1 0 c -1\n1 0 d 12\n")
    (tmp_path / "run").write_text("".join(f"1 Q0 {d} 1 {9 - at} t\n" for at, d in enumerate("axbcd")))
    call = ["evaluate", str(tmp_path / "qrels"), str(tmp_path / "run"), "--format", "trec_eval", "-m", "relstring"]
    assert main([*call, "-q"]) == 0
    assert capsys.readouterr().out == "relstring             \t1\t'2-0.>'\n"
    call[-1] = "infAP"
    assert main(call) == 0
    theirs = pytrec_eval.RelevanceEvaluator({"1": {"a": 2, "b": 0, "c": -1, "d": 12}}, {"infAP"})
    (value,) = theirs.evaluate({"1": {d: 9.0 - at for at, d in enumerate("axbcd")}})["1"].values()
    assert capsys.readouterr().out == f"infAP                 \tall\t{value:6.4f}\n"
    assert main([*call[:3], "-m", "infAP", "--format", "csv"]) == 0  # our metric, to which a negative grade is judged
    name, mean = capsys.readouterr().out.splitlines()[1].split(",")[:2]
    assert name == "infap"
    assert float(mean) == pytest.approx(0.7, abs=1e-4)


def test_measures_with_parameters_of_their_own(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    call = ["evaluate", *map(str, files), "--format", "trec_eval"]
    assert main([*call, "-m", "relative_P.3,7", "-m", "iprec_at_recall.0.15", "-m", "map_cut.5,10", "-m", "G"]) == 0
    names = [line.split("\t")[0].strip() for line in capsys.readouterr().out.splitlines()]
    assert names == ["iprec_at_recall_0.15", "G", "map_cut_5", "map_cut_10", "relative_P_3", "relative_P_7"]
    for wrong, said in (("G.5", "G"), ("relative_P_0", "relative_P"), ("prefs", "prefs")):
        with pytest.raises(SystemExit):
            main([*call, "-m", wrong])
        assert said in capsys.readouterr().err
