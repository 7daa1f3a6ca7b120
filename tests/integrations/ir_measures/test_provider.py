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


def case(number: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and a run with ties, negative grades, missing queries, and scores that differ little."""
    rng = random.Random(number)
    documents = [f"d{at}" for at in range(30)]
    qrels = {
        f"q{at}": {one: rng.choice([-1, 0, 0, 1, 1, 2, 3]) for one in rng.sample(documents, rng.randint(1, 15))}
        for at in range(4)
    }
    for judged in qrels.values():  # pytrec_eval crashes in nDCG where a query has negative grades only
        judged["d0"] = rng.choice([0, 1])
    tied = number % 2 == 0
    run = {
        f"q{at}": {
            one: float(rng.randint(1, 4)) if tied else rng.random() * (1e-7 if rng.random() < 0.3 else 1)
            for one in rng.sample(documents, rng.randint(1, 25))
        }
        for at in rng.sample(range(5), 4)
    }
    return qrels, run


def by_query(found: Any) -> dict[tuple[str, str], float]:
    return {(str(one.measure), one.query_id): one.value for one in found}


def test_equal_to_pytrec_eval() -> None:
    ours, compared, different = RetrievalMetricsProvider(), 0, []
    for number in range(CASES):
        qrels, run = case(number)
        found = by_query(ours.iter_calc(MEASURES, qrels, run))
        theirs = by_query(ir_measures.pytrec_eval.iter_calc(MEASURES, qrels, run))
        assert found.keys() == theirs.keys()
        compared += len(theirs)
        different += [(number, key, found[key], theirs[key]) for key in theirs if abs(found[key] - theirs[key]) > 1e-9]
    assert not different
    assert compared >= CASES * len(MEASURES) * 4


def test_scores_that_32_bits_cannot_tell_apart_are_equal() -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.00000001, "b": 1.0}}
    for provider in (RetrievalMetricsProvider(), ir_measures.pytrec_eval):
        assert provider.calc_aggregate([RR], qrels, run) == {RR: 0.5}  # by id, descending


def test_one_order_of_equal_scores() -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"a": 1.0, "b": 1.0}}
    found = RetrievalMetricsProvider().calc_aggregate([RR, RR @ 10, P @ 1], qrels, run)
    assert found == {RR: 0.5, RR @ 10: 0.5, P @ 1: 0.0}
    for number in range(CASES):
        qrels, run = case(number)
        found = by_query(RetrievalMetricsProvider().iter_calc([RR, RR @ 1000], qrels, run))
        assert all(found["RR", query] == found["RR@1000", query] for query in qrels)


def test_judged_and_err() -> None:
    qrels, run = {"q": {"a": 1, "b": 4}}, {"q": {"b": 3.0, "x": 2.0, "a": 1.0}}
    found = RetrievalMetricsProvider().calc_aggregate([Judged @ 2, ERR @ 3], qrels, run)
    assert found[Judged @ 2] == 0.5
    assert found[ERR @ 3] == pytest.approx(15 / 16 + 1 / 16 * 1 / 16 / 3)


@pytest.fixture
def first() -> Iterator[None]:
    before = list(ir_measures.DefaultPipeline.providers)
    put_first()
    yield
    ir_measures.DefaultPipeline.providers[:] = before


@pytest.mark.usefixtures("first")
def test_first_in_the_pipeline_and_the_rest_falls_through() -> None:
    put_first()
    names = [provider.NAME for provider in ir_measures.DefaultPipeline.providers]
    assert names[0] == "retrieval_metrics"
    assert names.count("retrieval_metrics") == 1
    qrels, run = case(1)
    found = ir_measures.calc_aggregate([nDCG @ 10, IPrec @ 0.1, SetF(beta=2.0), SetP(relative=True)], qrels, run)
    assert found[nDCG @ 10] == pytest.approx(ir_measures.pytrec_eval.calc_aggregate([nDCG @ 10], qrels, run)[nDCG @ 10])
    assert len(found) == 4


def test_frames_and_tuples() -> None:
    qrels, run = case(3)
    expected = RetrievalMetricsProvider().calc_aggregate([AP], qrels, run)
    rows = [ir_measures.Qrel(query, one, grade) for query, judged in qrels.items() for one, grade in judged.items()]
    ranked = [ir_measures.ScoredDoc(query, one, score) for query, of in run.items() for one, score in of.items()]
    assert RetrievalMetricsProvider().calc_aggregate([AP], iter(rows), iter(ranked)) == expected


@pytest.mark.parametrize("run", [{}, {"unknown": {"d": 1.0}}, {"q": {}}])
def test_nothing_retrieved(run: Any) -> None:
    assert RetrievalMetricsProvider().calc_aggregate([RR], {"q": {"d": 1}}, run) == {RR: 0.0}
