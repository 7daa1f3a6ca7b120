"""The provider beside pytrec_eval, whose values it has for the same measures, and in the pipeline."""

import random
from collections.abc import Iterator
from typing import Any

import ir_measures
import pytest
from ir_measures import AP, ERR, RR, Bpref, IPrec, Judged, P, R, Rprec, SetF, SetP, SetR, Success, nDCG

from ir_measures_retrieval_metrics import RetrievalMetricsProvider, put_first

MEASURES = [
    P @ 1,
    P @ 5,
    P(rel=2) @ 5,
    P(judged_only=True) @ 5,
    RR,
    RR(rel=2),
    RR(judged_only=True),
    Rprec,
    Rprec(rel=2),
    AP,
    AP @ 5,
    AP(rel=2),
    AP(judged_only=True) @ 10,
    nDCG,
    nDCG @ 5,
    nDCG(judged_only=True) @ 5,
    nDCG(gains={1: 0, 2: 3}) @ 5,
    R @ 5,
    R(rel=2) @ 10,
    Bpref,
    Bpref(rel=2),
    Success @ 1,
    Success(rel=2) @ 5,
    SetP,
    SetP(rel=2),
    SetR,
    SetF,
    SetF(rel=2),
]
CASES = 200

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")  # which the cases mean


def make_case(number: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and a run with ties, negative grades, missing queries, and scores that differ little."""
    rng = random.Random(number)
    documents = [f"d{index}" for index in range(30)]
    qrels = {}
    for query in range(4):
        judged = rng.sample(documents, rng.randint(1, 15))
        qrels[f"q{query}"] = {document: rng.choice([-1, 0, 0, 1, 1, 2, 3]) for document in judged}
    for grades in qrels.values():  # pytrec_eval crashes in nDCG where a query has negative grades only
        grades["d0"] = rng.choice([0, 1])
    has_ties = number % 2 == 0
    draw_score = draw_tied_score if has_ties else draw_close_score
    run = {}
    for query in rng.sample(range(5), 4):
        retrieved = rng.sample(documents, rng.randint(1, 25))
        run[f"q{query}"] = {document: draw_score(rng) for document in retrieved}
    return qrels, run


def draw_tied_score(rng: random.Random) -> float:
    return float(rng.randint(1, 4))


def draw_close_score(rng: random.Random) -> float:
    """Return a score, of which three in ten are so small that they differ little."""
    score = rng.random()
    if rng.random() < 0.3:
        score *= 1e-7
    return score


def values_by_query(metrics: Any) -> dict[tuple[str, str], float]:
    return {(str(metric.measure), metric.query_id): metric.value for metric in metrics}


def test_equal_to_pytrec_eval() -> None:
    provider = RetrievalMetricsProvider()
    n_compared = 0
    differences = []
    for number in range(CASES):
        qrels, run = make_case(number)
        ours = values_by_query(provider.iter_calc(MEASURES, qrels, run))
        theirs = values_by_query(ir_measures.pytrec_eval.iter_calc(MEASURES, qrels, run))
        assert ours.keys() == theirs.keys()
        n_compared += len(theirs)
        for key in theirs:
            if abs(ours[key] - theirs[key]) > 1e-9:
                differences.append((number, key, ours[key], theirs[key]))
    assert not differences
    assert n_compared >= CASES * len(MEASURES) * 4


def test_scores_that_32_bits_cannot_tell_apart_are_equal() -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"a": 1.00000001, "b": 1.0}}
    for provider in (RetrievalMetricsProvider(), ir_measures.pytrec_eval):
        assert provider.calc_aggregate([RR], qrels, run) == {RR: 0.5}  # by id, descending


def test_one_order_of_equal_scores() -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"a": 1.0, "b": 1.0}}
    means = RetrievalMetricsProvider().calc_aggregate([RR, RR @ 10, P @ 1], qrels, run)
    assert means == {RR: 0.5, RR @ 10: 0.5, P @ 1: 0.0}
    for number in range(CASES):
        qrels, run = make_case(number)
        values = values_by_query(RetrievalMetricsProvider().iter_calc([RR, RR @ 1000], qrels, run))
        assert all(values["RR", query] == values["RR@1000", query] for query in qrels)


def test_judged_and_err() -> None:
    qrels = {"q": {"a": 1, "b": 4}}
    run = {"q": {"b": 3.0, "x": 2.0, "a": 1.0}}
    means = RetrievalMetricsProvider().calc_aggregate([Judged @ 2, ERR @ 3], qrels, run)
    assert means[Judged @ 2] == 0.5
    assert means[ERR @ 3] == pytest.approx(15 / 16 + 1 / 16 * 1 / 16 / 3)


@pytest.fixture
def provider_put_first() -> Iterator[None]:
    providers_before = list(ir_measures.DefaultPipeline.providers)
    put_first()
    yield
    ir_measures.DefaultPipeline.providers[:] = providers_before


@pytest.mark.usefixtures("provider_put_first")
def test_first_in_the_pipeline_and_the_rest_falls_through() -> None:
    put_first()
    names = [provider.NAME for provider in ir_measures.DefaultPipeline.providers]
    assert names[0] == "retrieval_metrics"
    assert names.count("retrieval_metrics") == 1
    qrels, run = make_case(1)
    means = ir_measures.calc_aggregate([nDCG @ 10, IPrec @ 0.1, SetF(beta=2.0), SetP(relative=True)], qrels, run)
    assert means[nDCG @ 10] == pytest.approx(ir_measures.pytrec_eval.calc_aggregate([nDCG @ 10], qrels, run)[nDCG @ 10])
    assert len(means) == 4


def test_frames_and_tuples() -> None:
    qrels, run = make_case(3)
    expected = RetrievalMetricsProvider().calc_aggregate([AP], qrels, run)
    judgments = []
    for query, grades in qrels.items():
        judgments += [ir_measures.Qrel(query, document, grade) for document, grade in grades.items()]
    scored = []
    for query, scores in run.items():
        scored += [ir_measures.ScoredDoc(query, document, score) for document, score in scores.items()]
    assert RetrievalMetricsProvider().calc_aggregate([AP], iter(judgments), iter(scored)) == expected


@pytest.mark.parametrize("run", [{}, {"q": {}}])
def test_nothing_retrieved(run: Any) -> None:
    assert RetrievalMetricsProvider().calc_aggregate([RR], {"q": {"d": 1}}, run) == {RR: 0.0}


@pytest.mark.usefixtures("provider_put_first")
@pytest.mark.parametrize("through_pipeline", [False, True])
@pytest.mark.parametrize(
    ("qrels", "run", "error", "message"),
    [
        ({1: {"10": 1}}, {"1": {"10": 1.0}}, TypeError, "query IDs in the qrels are int and those in the run are str"),
        ({"q1": {"10": 1}}, {"Q1": {"10": 1.0}}, ValueError, "no query in common: the run begins with query 'Q1'"),
    ],
)
def test_a_run_that_shares_no_query_is_an_error(
    qrels: Any, run: Any, error: type[Exception], message: str, *, through_pipeline: bool
) -> None:
    put_first()
    calculate = ir_measures.calc_aggregate if through_pipeline else RetrievalMetricsProvider().calc_aggregate
    with pytest.raises(error, match=message):
        calculate([AP, nDCG @ 10], qrels, run)


def test_a_warning_about_the_run_is_issued_once_for_all_measures() -> None:
    qrels = {f"q{number}": {f"d{number}": 1} for number in range(10)}
    run = {query: {f"{document}.txt": 1.0 for document in judged} for query, judged in qrels.items()}
    run["q0"] = {"d0": 1.0}
    with pytest.warns(Warning, match="slightly different ID") as caught:
        RetrievalMetricsProvider().calc_aggregate([AP, AP(judged_only=True), nDCG(gains={1: 3})], qrels, run)
    assert len(caught) == 1


@pytest.mark.filterwarnings("error::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({}, "nothing was retrieved for 2 of 2"),
        ({"q1": {"d1#1": 1.0}, "q2": {"d2": 1.0}}, "a slightly different ID"),
    ],
)
def test_the_warnings_of_the_core_are_issued(run: Any, message: str) -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    with pytest.warns(Warning, match=message) as caught:
        means = RetrievalMetricsProvider().calc_aggregate([AP], qrels, run)
    assert means[AP] == (0.5 if run else 0.0)
    assert {warning.filename for warning in caught} == {__file__}
    with pytest.warns(Warning, match=message) as caught:
        list(RetrievalMetricsProvider().evaluator([AP], qrels).iter_calc(run))
    assert {warning.filename for warning in caught} == {__file__}
