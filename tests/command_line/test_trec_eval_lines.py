"""The lines of trec_eval, against trec_eval's own code."""

import functools
import math
import operator
import random
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
SPELLINGS = {*OFFICIAL[:8], "iprec_at_recall", "P"}


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


def expected(files: tuple[Path, Path], level: int, *, complete: bool, most: int = 10**9) -> list[str]:
    """What trec_eval -q prints, made of the values of its own code."""
    with files[0].open() as qrels_file, files[1].open() as run_file:
        qrels, run = pytrec_eval.parse_qrel(qrels_file), pytrec_eval.parse_run(run_file)
    run = {
        query: dict(sorted(ranking.items(), key=lambda one: (one[1], one[0]), reverse=True)[:most])
        for query, ranking in run.items()
    }
    found = pytrec_eval.RelevanceEvaluator(qrels, SPELLINGS, relevance_level=level).evaluate(run)
    nothing = dict.fromkeys(OFFICIAL, 0.0) | {"gm_map": math.log(1e-5)}
    if complete:
        for query, judged in qrels.items():
            relevant = sum(grade >= level for grade in judged.values())
            found.setdefault(query, {**nothing, "num_rel": relevant})
    rows = [
        f"{name:<22}\t{query}\t{format(found[query][name], '.0f' if name.startswith('num_') else '6.4f')}"
        for query in sorted(found)
        for name in OFFICIAL
        if name != "gm_map"
    ]
    rows += [f"{'runid':<22}\tall\ttag", f"{'num_q':<22}\tall\t{len(found)}"]
    for name in OFFICIAL:
        values = [found[query][name] for query in sorted(found)]
        if name.startswith("num_"):
            rows.append(f"{name:<22}\tall\t{int(sum(values))}")
        else:
            mean = functools.reduce(operator.add, values) / len(values)  # `sum` is exact from Python 3.12 on
            rows.append(f"{name:<22}\tall\t{math.exp(mean) if name == 'gm_map' else mean:6.4f}")
    return rows


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("most", [None, 3])
def test_the_official_table_is_that_of_trec_eval(
    files: tuple[Path, Path], level: int, *, complete: bool, most: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-q", "-l", str(level), *(["-c"] if complete else []), *([] if most is None else ["-M", str(most)])]
    assert main(["evaluate", *map(str, files), *options, "--format", "trec_eval"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == expected(files, level, complete=complete, most=most or 10**9)


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
