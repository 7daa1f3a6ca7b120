"""The sweep of lambdas: every point is what mmr, evaluate and intra_list_diversity give by hand."""

import random
import sys
from io import StringIO
from math import isnan
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from rich.console import Console

import retrieval_metrics as rm

RNG = random.Random(3)
DOCUMENTS = [f"d{number}" for number in range(40)]
VECTORS = {document: [RNG.gauss(0, 1) for _ in range(5)] for document in DOCUMENTS}
QUERIES = {f"q{number}": [RNG.gauss(0, 1) for _ in range(5)] for number in range(6)}
QRELS: dict[str, Any] = {query: [RNG.sample(DOCUMENTS, 3), RNG.sample(DOCUMENTS, 2)] for query in QUERIES}
LISTED = {query: RNG.sample(DOCUMENTS, 15) for query in QUERIES}
SCORED = {query: {document: RNG.random() for document in ranking} for query, ranking in LISTED.items()}
LAMBDAS = [0, 0.4, 1]
METRICS = ["ndcg@4", "alpha_ndcg@4"]

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


def by_hand(query: str, ranking: list[str], weight: float, relevance: list[float] | None) -> list[str]:
    of_query = QUERIES[query] if relevance is None else None
    picks = rm.mmr(of_query, [VECTORS[one] for one in ranking], k=4, lambda_mult=weight, relevance=relevance)
    return [ranking[at] for at in picks]


def scaled(scores: list[float]) -> list[float]:
    return [(score - min(scores)) / (max(scores) - min(scores)) for score in scores]


@pytest.mark.parametrize("way", ["by query", "by score", "by rank"])
def test_every_point_is_what_the_parts_give_by_hand(way: str) -> None:
    run: Any = SCORED if way == "by score" else LISTED
    queries = QUERIES if way == "by query" else None
    sweep = rm.mmr_sweep(QRELS, run, VECTORS, query_vectors=queries, k=4, lambdas=LAMBDAS, metrics=METRICS)
    best_first = {query: sorted(scores, key=lambda one: -scores[one]) for query, scores in SCORED.items()}
    rankings = best_first if way == "by score" else LISTED
    for weight in LAMBDAS:
        expected = {}
        for query, ranking in rankings.items():
            stated = {
                "by query": None,
                "by rank": [1 - at / (len(ranking) - 1) for at in range(len(ranking))],
                "by score": scaled([SCORED[query][one] for one in ranking]),
            }[way]
            expected[query] = by_hand(query, ranking, weight, stated)
        assert dict(sweep.evaluations[weight].means) == dict(rm.evaluate(QRELS, expected, METRICS).means)
        diversities = [rm.intra_list_diversity([VECTORS[one] for one in found]) for found in expected.values()]
        assert sweep.diversity[weight] == pytest.approx(np.mean(diversities))
    cut = {query: ranking[:4] for query, ranking in rankings.items()}
    assert dict(sweep.retrieved.means) == dict(rm.evaluate(QRELS, cut, METRICS).means)
    assert sweep.lambdas == (0, 0.4, 1)


def test_less_lambda_is_more_diversity_and_lambda_one_is_the_ranking_itself() -> None:
    sweep = rm.mmr_sweep(QRELS, LISTED, VECTORS, k=4)
    assert sweep.diversity[0] > sweep.diversity[0.5] > sweep.diversity[1]
    assert dict(sweep.evaluations[1].means) == dict(sweep.retrieved.means)
    assert sweep.diversity[1] == sweep.retrieved_diversity


def test_by_default_it_measures_relevance_and_novelty_at_k() -> None:
    sweep = rm.mmr_sweep(QRELS, LISTED, VECTORS, k=4, lambdas=[0.5])
    assert str(sweep).splitlines()[0].split() == ["lambda", "ndcg@4", "recall@4", "alpha_ndcg@4", "diversity"]
    assert [line.split("  ")[0] for line in str(sweep).splitlines()[1:3]] == ["0.5", "as retrieved"]
    assert "<table>" in sweep._repr_html_()
    assert "| as retrieved |" in sweep.to_markdown()
    assert repr(sweep) == "<MMRSweep of 1 lambdas: ndcg@4, recall@4, alpha_ndcg@4>"


def test_items_with_quotes_are_reranked_too() -> None:
    chunks = [rm.Retrieved(one, text=f"the text of {one}") for one in ("d1", "d2", "d3")]
    qrels = {"q": [rm.Quote("text of d3")]}
    vectors = {"d1": [1, 0], "d2": [1, 0], "d3": [0, 1]}
    sweep = rm.mmr_sweep(qrels, {"q": chunks}, vectors, k=2, lambdas=[0.3, 1], metrics="hit_rate@2")
    assert [evaluation.means["hit_rate@2"] for evaluation in sweep.evaluations.values()] == [1, 0]


def test_a_query_that_retrieved_nothing_scores_zero_and_has_no_diversity() -> None:
    sweep = rm.mmr_sweep({"q": ["d1"], "empty": ["d1"]}, {"q": ["d1"], "empty": []}, VECTORS, lambdas=[0.5])
    assert sweep.evaluations[0.5].means["recall@10"] == 0.5
    assert isnan(sweep.diversity[0.5])


def test_dataframe_and_plot_show_every_lambda_and_the_ranking_as_retrieved() -> None:
    sweep = rm.mmr_sweep(QRELS, LISTED, VECTORS, k=4, lambdas=LAMBDAS, metrics=METRICS)
    frame = sweep.to_pandas()
    assert list(frame.columns) == [*METRICS, "diversity"]
    assert frame.index.tolist()[:3] == LAMBDAS
    assert isnan(frame.index[3])
    (axes,) = sweep.plot("alpha_ndcg@4").axes
    points, reference = axes.get_lines()[:2]
    assert list(np.asarray(points.get_ydata())) == frame["alpha_ndcg@4"].tolist()[:3]
    assert list(np.asarray(reference.get_xdata())) == [sweep.retrieved_diversity]
    drawn: Any = axes.collections[0]
    ends = [sweep.evaluations[weight].intervals()["alpha_ndcg@4"] for weight in LAMBDAS]
    assert np.allclose([segment[:, 1] for segment in drawn.get_segments()], ends)
    written = [text.get_text() for text in axes.texts if text.get_text()]
    assert written == ["0", "0.4", "1", "MMR", "as retrieved"]
    assert axes.get_ylabel() == "mean alpha_ndcg@4"
    assert sweep.plot().axes[0].get_ylabel() == "mean ndcg@4"


def test_a_plot_leaves_no_figure_open_and_shows_itself_in_a_notebook() -> None:
    sweep = rm.mmr_sweep(QRELS, LISTED, VECTORS, k=4, lambdas=LAMBDAS, metrics=METRICS)
    before = plt.get_fignums()
    picture = sweep.plot()._repr_png_()  # type: ignore[attr-defined]  # notebooks ask whether it is there
    assert picture.startswith(b"\x89PNG")
    assert plt.get_fignums() == before


def test_it_prints_like_every_other_result() -> None:
    sweep = rm.mmr_sweep(QRELS, LISTED, VECTORS, k=4, lambdas=[0.5], metrics=METRICS)
    console = Console(file=StringIO(), width=100)
    console.print(sweep)
    assert "as retrieved" in console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO above
    assert sweep.to_markdown().endswith("- MMR of the first 4 of the candidates of 6 queries")


@pytest.mark.parametrize(
    ("method", "package", "extra"), [("plot", "matplotlib", "plot"), ("to_pandas", "pandas", "pandas")]
)
def test_without_an_extra_the_error_holds_the_command(
    method: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = rm.mmr_sweep(QRELS, LISTED, VECTORS, k=4, lambdas=[0.5])
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{method} needs {package}: pip install 'retrieval-metrics\[{extra}\]'"):
        getattr(sweep, method)()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"lambdas": []}, ValueError, "there are no lambdas to try"),
        ({"lambdas": [0.5, 1.5]}, ValueError, r"lambda_mult must be from 0.*got 1\.5"),
        ({"k": 0}, ValueError, "k must be a positive integer, got 0"),
        ({"metrics": "ndgc"}, ValueError, "did you mean ndcg"),
        ({"vectors": {"d1": [1.0]}}, ValueError, r"candidate 'd\d+' of query 'q\d' has no vector"),
        ({"query_vectors": {}}, ValueError, "query 'q0' has no vector"),
        ({"run": {"other": ["d1"]}}, ValueError, "in common"),
        ({"run": {"q0": {"d1": 1.0, "d2": float("nan")}}}, ValueError, "nan"),
        ({"run": {"q0": "d1"}}, TypeError, "'d1'"),
        ({"vectors": {**VECTORS, LISTED["q0"][1]: [1.0]}}, ValueError, r"candidates of query 'q0'\[1\] has shape"),
        ({"query_vectors": {**QUERIES, "q1": [1.0]}}, ValueError, r"queries\[1\] has shape"),
    ],
)
def test_what_cannot_be_swept_is_named(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    given: dict[str, Any] = {"qrels": QRELS, "run": LISTED, "vectors": VECTORS}
    with pytest.raises(error, match=message):
        rm.mmr_sweep(**(given | arguments))


def test_progress_is_shown_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    rm.mmr_sweep(QRELS, LISTED, VECTORS, lambdas=LAMBDAS, show_progress=True)
    assert "3/3" in capsys.readouterr().err
