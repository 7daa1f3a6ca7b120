"""The lines of trec_eval 10.0: against lines that it printed, and against the code of version 9 in pytrec_eval."""

import argparse
import functools
import io
import math
import operator
import random
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

import retrieval_metrics.pytrec_eval as drop_in
from retrieval_metrics.cli.main import main

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
    qrels = []
    run = []
    for query in [*range(1, 30), 301]:
        documents = [f"d{index}" for index in range(60)]
        if query % 7:
            best = 0 if query % 11 == 0 else 3
            qrels += [f"{query} 0 {document} {chance.randint(0, best)}" for document in chance.sample(documents, 20)]
        if query % 5:
            evaluated = chance.sample(documents, chance.choice([1, 12, 40]))
            run += [f"{query} Q0 {document} 1 {chance.randint(0, 12)} tag" for document in evaluated]
    (tmp_path / "qrels").write_text("\n".join(qrels) + "\n")
    (tmp_path / "run").write_text("\n".join(run) + "\n")
    return tmp_path / "qrels", tmp_path / "run"


def expected(files: tuple[Path, Path], options: Sequence[str]) -> list[str]:
    """What trec_eval prints, but for `relstring` and `runid`: version 9's own values, and what version 10 changes."""
    arguments = TREC_EVAL.parse_args(options)
    with files[0].open() as qrels_file, files[1].open() as run_file:
        qrels = pytrec_eval.parse_qrel(qrels_file)
        run = pytrec_eval.parse_run(run_file)
    run = {query: cut_ranking(ranking, arguments.M) for query, ranking in run.items()}
    names = {re.sub(r"(?<=[.,])\.", "0.", name) for name in arguments.m or ["official"]}  # pytrec_eval reads no .20
    evaluated = pytrec_eval.RelevanceEvaluator(
        qrels, names, relevance_level=arguments.l, judged_docs_only_flag=arguments.J
    ).evaluate(run)
    measures = [name for name in next(iter(evaluated.values())) if name not in {"relstring", "runid"}]
    values = {query: in_version_10(evaluated[query], qrels[query], run[query], arguments) for query in evaluated}
    if arguments.c:
        worst = dict.fromkeys(measures, 0.0) | {name: LEAST for name in measures if name.startswith("gm_")}
        for query in qrels.keys() - evaluated.keys():
            values[query] = in_version_10(worst, qrels[query], None, arguments)
    values = dict(sorted(values.items()))
    if "all_trec" in names:
        measures += NEW
    shown = dict(zip(measures, measures, strict=True))
    for name in names:
        if name.startswith("set_F"):
            shown["set_F"] = name.replace(".", "_", 1)
    rows = []
    for query in values if arguments.q else ():
        rows += [line(shown[name], query, values[query][name]) for name in measures if name not in ONLY_OF_ALL]
    for name in () if arguments.n else measures:
        # Added one after the other, as in C; `sum` is exact from Python 3.12 on.
        total = functools.reduce(operator.add, [values[query][name] for query in values])
        if name == "num_rel" and arguments.c:
            total = sum(count_relevant(judged) for judged in qrels.values())
        elif not name.startswith("num_"):
            total /= len(values)
        rows.append(line(shown[name], "all", math.exp(total) if name.startswith("gm_") else total))
    return rows


def cut_ranking(ranking: dict[str, float], max_documents: int) -> dict[str, float]:
    """Return the first documents of a ranking, best first; of equal scores, the largest id comes first."""
    best_first = sorted(ranking, key=lambda document: (ranking[document], document), reverse=True)
    return {document: ranking[document] for document in best_first[:max_documents]}


def count_relevant(judged: dict[str, int]) -> int:
    return sum(grade > 0 for grade in judged.values())


NEW = ("rbp", "rbp_resid", "unj_5", "unj_10", "unj_20")


def in_version_10(
    evaluated: dict[str, float], judged: dict[str, int], ranking: dict[str, float] | None, arguments: argparse.Namespace
) -> dict[str, float]:
    """The values of a query as version 10 has them; without a ranking, of one document that is not judged."""
    scores = {"none": 1.0} if ranking is None else ranking
    best_first = sorted(scores, key=lambda document: (scores[document], document), reverse=True)
    grades: list[int | None] = []
    for document in best_first:
        is_judged = judged.get(document, -1) >= 0
        if is_judged:
            grades.append(judged[document])
        elif not arguments.J:
            grades.append(None)
    needed = sum(grade >= arguments.l for grade in judged.values())
    hits = [grade is not None and grade >= arguments.l for grade in grades]
    values = evaluated | rbp_of_version_10(grades, max(judged.values()))
    if ranking is None:
        values |= {"num_q": 1.0, "num_rel": float(needed), "rbp_resid": 0.0, "unj_5": 0.0, "unj_10": 0.0, "unj_20": 0.0}
    for name in evaluated:
        if name.startswith("iprec_at_recall_"):
            values[name] = precision_at(hits, needed, float(name.rpartition("_")[2]))
    values["11pt_avg"] = sum(precision_at(hits, needed, tenth / 10) for tenth in range(11)) / 11
    return values


LEAST = math.log(1e-5)


def precision_at(hits: list[bool], needed: int, recall: float) -> float:
    """The best precision at a recall, rounded to the nearest number of documents; nan for 0/0."""
    n_needed = int(recall * needed + 0.5)
    if not hits and n_needed == 0:
        return math.nan
    reached = [
        sum(hits[: index + 1]) / (index + 1)
        for index, hit in enumerate(hits)
        if hit and sum(hits[: index + 1]) >= n_needed
    ]
    return max(reached, default=0.0)


def rbp_of_version_10(grades: list[int | None], largest: int) -> dict[str, float]:
    """Rank-biased precision, its residual, and the shares that are not judged."""
    unjudged = [grade is None for grade in grades]
    gained = sum(0.9**index * (grade or 0) / max(largest, 1) for index, grade in enumerate(grades))
    unknown = sum(0.9**index for index, is_unjudged in enumerate(unjudged) if is_unjudged)
    residual = 0.9 ** len(grades) + 0.1 * unknown if any(unjudged) else 0.0
    return {"rbp": 0.1 * gained, "rbp_resid": residual} | {f"unj_{k}": sum(unjudged[:k]) / k for k in (5, 10, 20)}


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


JUDGED = "# four words 9\n1 0 a 3\n1 0 b 1\n1 0 c 0\n1 0 e -1\n1 0 g 1\n2 0 a 1\n2 0 b 3\n3 0 a 0\n"
RANKED = """# a run
1 Q0 a 1 0.123456789 t
1 Q0 x 2 0.123456788 t
  # one more
1 Q0 b 3 0.1 t
1 Q0 e 4 0.05 t
1 Q0 c 5 0.01 t
3 Q0 y 1 2 t
"""
PRINTED = {  # by trec_eval 10.0, built from its source; the blanks in front of the second column are left out
    "-q -c -m iprec_at_recall -m 11pt_avg -m recip_rank": """
recip_rank 1 1.0000
iprec_at_recall_0.00 1 1.0000
iprec_at_recall_0.10 1 1.0000
iprec_at_recall_0.20 1 1.0000
iprec_at_recall_0.30 1 1.0000
iprec_at_recall_0.40 1 1.0000
iprec_at_recall_0.50 1 0.6667
iprec_at_recall_0.60 1 0.6667
iprec_at_recall_0.70 1 0.6667
iprec_at_recall_0.80 1 0.6667
iprec_at_recall_0.90 1 0.0000
iprec_at_recall_1.00 1 0.0000
11pt_avg 1 0.6970
recip_rank 2 0.0000
iprec_at_recall_0.00 2 0.0000
iprec_at_recall_0.10 2 0.0000
iprec_at_recall_0.20 2 0.0000
iprec_at_recall_0.30 2 0.0000
iprec_at_recall_0.40 2 0.0000
iprec_at_recall_0.50 2 0.0000
iprec_at_recall_0.60 2 0.0000
iprec_at_recall_0.70 2 0.0000
iprec_at_recall_0.80 2 0.0000
iprec_at_recall_0.90 2 0.0000
iprec_at_recall_1.00 2 0.0000
11pt_avg 2 0.0000
recip_rank 3 0.0000
iprec_at_recall_0.00 3 0.0000
iprec_at_recall_0.10 3 0.0000
iprec_at_recall_0.20 3 0.0000
iprec_at_recall_0.30 3 0.0000
iprec_at_recall_0.40 3 0.0000
iprec_at_recall_0.50 3 0.0000
iprec_at_recall_0.60 3 0.0000
iprec_at_recall_0.70 3 0.0000
iprec_at_recall_0.80 3 0.0000
iprec_at_recall_0.90 3 0.0000
iprec_at_recall_1.00 3 0.0000
11pt_avg 3 0.0000
recip_rank all 0.3333
iprec_at_recall_0.00 all 0.3333
iprec_at_recall_0.10 all 0.3333
iprec_at_recall_0.20 all 0.3333
iprec_at_recall_0.30 all 0.3333
iprec_at_recall_0.40 all 0.3333
iprec_at_recall_0.50 all 0.2222
iprec_at_recall_0.60 all 0.2222
iprec_at_recall_0.70 all 0.2222
iprec_at_recall_0.80 all 0.2222
iprec_at_recall_0.90 all 0.0000
iprec_at_recall_1.00 all 0.0000
11pt_avg all 0.2323""",
    "-q -c -m rbp -m rbp_resid -m unj -m num_rel -m num_ret -m utility -m relstring": """
num_ret 1 5
num_rel 1 3
relstring 1 '3-1.0'
utility 1 -1.0000
rbp 1 0.1270
rbp_resid 1 0.7534
unj_5 1 0.4000
unj_10 1 0.2000
unj_20 1 0.1000
num_ret 2 0
num_rel 2 2
relstring 2 ''
utility 2 0.0000
rbp 2 0.0000
rbp_resid 2 0.0000
unj_5 2 0.0000
unj_10 2 0.0000
unj_20 2 0.0000
num_ret 3 1
num_rel 3 0
relstring 3 '-'
utility 3 -1.0000
rbp 3 0.0000
rbp_resid 3 1.0000
unj_5 3 0.2000
unj_10 3 0.1000
unj_20 3 0.0500
num_ret all 6
num_rel all 5
utility all -0.6667
rbp all 0.0423
rbp_resid all 0.5845
unj_5 all 0.2000
unj_10 all 0.1000
unj_20 all 0.0500""",
    "-q -c -J -l3 -m iprec_at_recall.0,.5 -m infAP -m relstring -m num_rel -m num_q -m set_F.0.5": """
num_rel 1 1
iprec_at_recall_0.00 1 1.0000
iprec_at_recall_0.50 1 1.0000
relstring 1 '310'
infAP 1 1.0000
set_F_0.5 1 0.4286
num_rel 2 1
iprec_at_recall_0.00 2 nan
iprec_at_recall_0.50 2 0.0000
relstring 2 ''
infAP 2 0.0000
set_F_0.5 2 0.0000
num_rel 3 0
iprec_at_recall_0.00 3 nan
iprec_at_recall_0.50 3 nan
relstring 3 ''
infAP 3 0.0000
set_F_0.5 3 0.0000
num_q all 3
num_rel all 5
iprec_at_recall_0.00 all nan
iprec_at_recall_0.50 all nan
infAP all 0.3333
set_F_0.5 all 0.1429""",
}


@pytest.mark.parametrize("options", PRINTED)
def test_the_lines_are_those_that_trec_eval_printed(
    options: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qrels").write_text(JUDGED)
    for source in (str(tmp_path / "run"), "-"):
        (tmp_path / "run").write_text(RANKED)
        monkeypatch.setattr("sys.stdin", io.StringIO(RANKED))
        assert main(["evaluate", str(tmp_path / "qrels"), source, "--format", "trec_eval", *options.split()]) == 0
        printed = [" ".join(row.split()) for row in capsys.readouterr().out.splitlines()]
        assert printed == PRINTED[options].split("\n")[1:]


HABITS = {
    "": "P_1000 all 0.0010",
    "-q": "P_1000 all 0.0010",
    "-m all_trec": "unj_20 all 0.0333",
    "-q -c -m all_trec": "unj_20 all 0.0333",
    "-q -l2 -m all_trec": "unj_20 all 0.0333",
    "-m set": "set_F all 0.7222",
    "-c": "P_1000 all 0.0010",
    "-l 2": "P_1000 all 0.0000",
    "-m map": "map all 0.6667",
    "-m P": "P_1000 all 0.0010",
    "-m P.7,3,5": "P_7 all 0.1429",
    "-m recall.100,1000": "recall_1000 all 0.8333",
    "-m ndcg_cut.5,10,20": "ndcg_cut_20 all 0.6703",
    "-m recip_rank -M 10": "recip_rank all 0.8333",
    "-m Rprec -m bpref": "bpref all 0.8333",
    "-m success.1,5,10": "success_10 all 1.0000",
    "-m map_cut.10,100": "map_cut_100 all 0.6667",
    "-m num_q -m num_ret -m num_rel -m num_rel_ret": "num_rel_ret all 3",
    "-m iprec_at_recall": "iprec_at_recall_1.00 all 0.5000",
    "-m iprec_at_recall..10,.20": "iprec_at_recall_0.20 all 0.8333",
    "-m 11pt_avg": "11pt_avg all 0.7424",
    "-m gm_map": "gm_map all 0.6300",
    "-m gm_bpref -c": "gm_bpref all 0.7937",
    "-m set_P -m set_recall -m set_F": "set_F all 0.7222",
    "-m set_F.0.5": "set_F_0.5 all 0.7000",
    "-m infAP": "infAP all 0.6667",
    "-m relative_P.5,10": "relative_P_10 all 0.8333",
    "-m Rprec_mult.5.0,0.2,0.35": "Rprec_mult_5.00 all 0.1667",
    "-m binG -m G -m Rndcg": "Rndcg all 0.4800",
    "-J -m map": "map all 0.8333",
    "-q -J -l2 -m all_trec": "unj_20 all 0.0000",
    "-n -q -m ndcg_cut.10": "ndcg_cut_10 q3 1.0000",
}
"""The last line of trec_eval 10.0, built from its source, for the two files of the test below."""

REFUSED = [
    "-m ndcg.1=3,2=9",
    "-m relstring.20",
    "-m utility.2,-1,0,0",
    "-m 11pt_avg..25,.5,.75",
    "-m ndcg_cut.23.4",
    "-m all_prefs -R prefs",
    "-N 1000000",
    "-Z zscores.txt",
    "-D 1",
    "--level_for_rel 2",
]


def in_files(tmp_path: Path) -> list[str]:
    """The call that scores a small run as trec_eval does."""
    (tmp_path / "qrels.trec").write_text("q1 0 d3 2\nq1 0 d7 1\nq2 0 d1 1\nq3 0 d5 1\n")
    run = "q1 Q0 d7 1 9.5 main\nq1 Q0 d2 2 9.0 main\nq2 Q0 d4 1 3.0 main\nq2 Q0 d1 2 1.0 main\nq3 Q0 d5 1 2.0 main\n"
    (tmp_path / "main.run").write_text(run)
    return ["evaluate", str(tmp_path / "qrels.trec"), str(tmp_path / "main.run"), "--format", "trec_eval"]


@pytest.mark.parametrize("options", HABITS)
def test_what_is_typed_after_trec_eval_prints_the_same(
    options: str, files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(options)
    assert main([*in_files(tmp_path), *words]) == 0
    assert " ".join(capsys.readouterr().out.splitlines()[-1].split()) == HABITS[options]
    assert main(["evaluate", *map(str, files), "--format", "trec_eval", *words]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [row for row in printed if not row.startswith(("runid ", "relstring "))] == expected(files, words)


@pytest.mark.parametrize("options", REFUSED)
def test_what_trec_eval_has_and_we_have_not_is_refused(options: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*in_files(tmp_path), *shlex.split(options)])
    assert stopped.value.code == 2


def test_the_lines_are_those_of_version_10_and_the_drop_in_is_version_9(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed(qrels: str, run: str, *options: str) -> list[list[str]]:
        (tmp_path / "qrels").write_text(qrels)
        (tmp_path / "run").write_text(run)
        assert main(["evaluate", f"{tmp_path}/qrels", f"{tmp_path}/run", "--format", "trec_eval", *options]) == 0
        return [row.split() for row in capsys.readouterr().out.splitlines()]

    def compute(evaluator: Any, judged: dict[str, int], ranking: dict[str, float], measure: str) -> str:
        return f"{evaluator({'q': judged}, {measure}).evaluate({'q': ranking})['q'][measure]:.4f}"

    close = {"d1": 0.123456789, "d2": 0.123456788}
    three = {"d1": 1, "d3": 1, "d9": 1}
    ranking = {"d1": 3.0, "d2": 2.0, "d3": 1.0}
    index = "iprec_at_recall.0.40", "iprec_at_recall_0.40", "iprec_at_recall.0.80", "iprec_at_recall_0.80"
    names_of_both = [
        [compute(module.RelevanceEvaluator, *data) for module in (pytrec_eval, drop_in)]
        for data in (({"d1": 1}, close, "recip_rank"), (three, ranking, index[1]), (three, ranking, index[3]))
    ]
    assert [ours for ours, _ in names_of_both] == [theirs for _, theirs in names_of_both]
    lines = "q Q0 d1 1 0.123456789 t\nq Q0 d2 2 0.123456788 t\n"
    judged = "q 0 d1 1\nq 0 d3 1\nq 0 d9 1\n"
    ranked = "q Q0 d1 1 3 t\nq Q0 d2 2 2 t\nq Q0 d3 3 1 t\n"
    commented = "# four words 9\n" + judged
    missing = printed(judged + "z 0 d1 1\n", ranked, "-q", "-c", "-m", "map")
    all_trec = printed(judged, ranked, "-q", "-m", "all_trec")
    measures = {re.sub(r"_\d[\d.]*$", "", name) for name, *_ in all_trec}
    assert len(measures) == 37
    assert len(pytrec_eval.supported_nicknames["all_trec"]) == 34
    assert [printed("q 0 d1 1\n", lines, "-m", "recip_rank")[0][-1], names_of_both[0][0]] == ["1.0000", "0.5000"]
    assert [printed(judged, ranked, "-m", index[0])[0][-1], names_of_both[1][0]] == ["1.0000", "0.6667"]
    assert [printed(judged, ranked, "-m", index[2])[0][-1], names_of_both[2][0]] == ["0.6667", "0.0000"]
    assert len([row for row in missing if row[1] == "z"]) == 1
    assert printed(commented, ranked, "-c", "-m", "num_q")[0][-1] == "1"
    assert [len(module.parse_qrel(commented.splitlines())) for module in (pytrec_eval, drop_in)] == [2, 1]


def test_what_is_0_by_0_in_trec_eval_is_nan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 1\n2 0 a 1\n3 0 c 0\n")
    (tmp_path / "run").write_text("1 Q0 x 1 2 t\n2 Q0 a 1 2 t\n3 Q0 x 1 2 t\n")
    names = [*(f"iprec_at_recall.{index}" for index in (0, 0.5)), "11pt_avg", "map", "P.5"]
    options = ["-q", "-J"]
    for name in names:
        options += ["-m", name]
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
    assert "num_ret is not a metric but a line of trec_eval; it needs --format trec_eval" in capsys.readouterr().err


@pytest.mark.parametrize("level", [1, 2])
def test_all_measures_are_printed_with_the_values_of_trec_eval(
    files: tuple[Path, Path], level: int, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["evaluate", *map(str, files), "--format", "trec_eval", "-m", "all_trec"]
    assert main([*call, "-l", str(level), "-q"]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    with files[0].open() as qrels_file, files[1].open() as run_file:
        qrels = pytrec_eval.parse_qrel(qrels_file)
        run = pytrec_eval.parse_run(run_file)
    evaluated = pytrec_eval.RelevanceEvaluator(qrels, {"all_trec"}, relevance_level=level).evaluate(run)
    names = list(next(iter(evaluated.values())))
    of_10 = ["rbp", "rbp_resid", "unj_5", "unj_10", "unj_20"]
    assert [name.strip() for name, query, _ in lines if query == "all"] == [
        *(name for name in names if name != "relstring"),
        *of_10,
    ]
    first = min(evaluated)
    assert [name.strip() for name, query, _ in lines if query == first] == [
        *(name for name in names if name not in ONLY_OF_ALL),
        *of_10,
    ]
    for name, query, value in lines:
        measure = name.strip()
        if measure in of_10 or measure == "11pt_avg" or measure.startswith("iprec_at_recall"):
            continue  # new, or rounded otherwise, in version 10: see `expected`
        if query != "all" and measure != "relstring":
            theirs = evaluated[query][measure]
            assert float(value) == pytest.approx(theirs, abs=6e-5, nan_ok=True), (measure, query)
        elif query == "all" and measure not in {"runid", "num_q"}:
            values = [values_of_query[measure] for values_of_query in evaluated.values()]
            mean = sum(values) / (1 if measure.startswith("num_") else len(values))
            assert float(value) == pytest.approx(math.exp(mean) if measure.startswith("gm_") else mean, abs=6e-5)


def test_the_first_grades_are_a_text_of_single_queries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("1 0 a 2\n1 0 b 0\n1 0 c -1\n1 0 d 12\n")
    (tmp_path / "run").write_text("".join(f"1 Q0 {d} 1 {9 - index} t\n" for index, d in enumerate("axbcd")))
    call = ["evaluate", str(tmp_path / "qrels"), str(tmp_path / "run"), "--format", "trec_eval", "-m", "relstring"]
    assert main([*call, "-q"]) == 0
    assert capsys.readouterr().out == "relstring             \t1\t'2-0.>'\n"
    call[-1] = "infAP"
    assert main(call) == 0
    theirs = pytrec_eval.RelevanceEvaluator({"1": {"a": 2, "b": 0, "c": -1, "d": 12}}, {"infAP"})
    (value,) = theirs.evaluate({"1": {d: 9.0 - index for index, d in enumerate("axbcd")}})["1"].values()
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
    for name, message in (("G.5", "G"), ("relative_P_0", "relative_P"), ("prefs", "prefs")):
        with pytest.raises(SystemExit):
            main([*call, "-m", name])
        assert message in capsys.readouterr().err
