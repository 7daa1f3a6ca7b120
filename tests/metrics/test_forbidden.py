"""What must not come back: every kind of judgment, ties, failures, columns, and collections searched by brute force."""

import itertools
import math
import random
from typing import Any

import polars as pl
import pytest

import reference
import retrieval_metrics as rm

METRICS = ["leak@1", "leak@3", "leak(grade=-2)@3", "inverted@3", "false_answer"]

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


def collection(seed: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    rng = random.Random(seed)
    documents = [f"d{number}" for number in range(20)]
    qrels = {}
    for number in range(6):
        judged = rng.sample(documents, rng.randint(0, 5))
        qrels[f"q{number}"] = {document: float(rng.choice([-2, -1, 0, 1, 2])) for document in judged}
    run = {}
    for query in qrels:
        if rng.random() < 0.8:
            retrieved = rng.sample(documents, rng.choice([0, 3, 8]))
            run[query] = {document: float(rng.randint(1, 4)) for document in retrieved}
    return qrels, run or {"q0": {}}


@pytest.mark.parametrize("block", range(5))
def test_a_hundred_random_collections_equal_brute_force_as_dicts_and_as_columns(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        qrels, run = collection(seed)
        values = rm.evaluate(qrels, run, METRICS).per_query
        rows = []
        for query, scores in run.items():
            rows += [(query, document, score) for document, score in scores.items()]
        if rows:
            frame = pl.DataFrame(rows, schema=["query", "document", "score"], orient="row")
            listed_run = {query: run[query] for query in frame["query"].unique()}
            columns = rm.evaluate(qrels, rm.Run.from_frame(frame), METRICS).per_query
            listed = rm.evaluate(qrels, listed_run, METRICS).per_query
            assert repr(columns) == repr(listed)
        for metric, query in itertools.product(map(rm.Metric.parse, METRICS), qrels):
            value = values[str(metric)][query]
            if query not in run:
                assert math.isnan(value)
                continue
            ranking = sorted(run[query], key=lambda document: (run[query][document], document), reverse=True)
            truth = [{document: grade} for document, grade in qrels[query].items()]
            cut: dict[str, Any] = {} if metric.k is None else {"k": metric.k}
            expected = reference.METRICS[metric.name](truth, ranking, **cut, **dict(metric.parameters))
            assert repr(value) == repr(expected), (seed, metric, query)


def test_over_all_orders_of_equal_scores() -> None:
    rng = random.Random(9)
    for _ in range(150):
        qrels: Any = {"q": {f"d{position}": rng.choice([-2, -1, 0, 1]) for position in rng.sample(range(7), 4)}}
        if rng.random() < 0.3:  # one that is relevant to a part of the question, and forbidden
            qrels = {"q": [{"d0": 1}, {"d0": -1, "d1": 1}, *({d: g} for d, g in qrels["q"].items())]}
        scores = {f"d{position}": float(rng.choice([1, 2])) for position in rng.sample(range(7), 5)}
        metrics = [*METRICS, "leak", "inverted(rel=2)", "false_answer(rel=2)"]
        expected = rm.evaluate(qrels, {"q": scores}, metrics, ties="expected")
        blocks = [[d for d in scores if scores[d] == level] for level in sorted(set(scores.values()), reverse=True)]
        orders = itertools.product(*map(itertools.permutations, blocks))
        runs = {number: [*itertools.chain(*order)] for number, order in enumerate(orders)}
        single = rm.evaluate(dict.fromkeys(runs, qrels["q"]), runs, metrics).per_query
        assert expected.tie_range is not None
        for metric in expected.metrics:
            values = [*single[metric].values()]
            ends = expected.tie_range.means[str(metric)]
            mean_and_range = [expected.means[metric], *ends]
            assert mean_and_range == pytest.approx(
                [sum(values) / len(values), min(values), max(values)], nan_ok=True
            ), metric


def test_many_equal_scores_have_a_closed_form() -> None:
    qrels = {"q": {"a": 1, **{f"z{number}": -1 for number in range(20)}}}
    documents = [f"z{number}" for number in range(20)] + [f"b{number}" for number in range(30)]
    run = {"q": dict.fromkeys(documents, 1.0)}
    leak = rm.evaluate(qrels, run, "leak@3", ties="expected").means["leak@3"]
    assert leak == pytest.approx(1 - 30 * 29 * 28 / (50 * 49 * 48))  # 30 of 50 do not leak


ITEMS = [
    rm.Retrieved("c1", "the price is nine euros since 2019", source="old.md", metadata={"tenant": "acme"}),
    rm.Retrieved("c2", "the price is twelve euros since May", source="new.md", metadata={"tenant": "acme"}),
    rm.Retrieved("c3", "secret merger plans of globex", source="x.md", metadata={"tenant": "globex"}),
    rm.Retrieved("c4", "no metadata at all", source="y.md"),
]


@pytest.mark.parametrize(
    ("judged", "match", "expected"),
    [
        ({"c2": 1, "c3": -1}, "id", (0, 1, 0)),
        ({"new.md": 1, "old.md": -1}, "source", (1, 1, 1)),
        ({rm.Quote("price is twelve euros"): 1, rm.Quote("price is nine euros"): -1}, "id", (1, 1, 1)),
        ({rm.Span("new.md", 0, 20): 1, rm.Span("old.md", 0, 20): -1}, "id", (1, 1, 1)),
        ({rm.Text("the price is twelve euros"): 1, rm.Text("the price is nine euros since"): -1}, "id", (1, 1, 1)),
        ({"c2": 1, rm.Metadata(tenant="globex"): -1}, "id", (0, 1, 0)),
        ({"c2": 1, ~rm.Metadata(tenant="acme"): -1}, "id", (0, 1, 0)),
        ({"c2": 1, ~rm.Metadata(tennant="acme"): -1}, "id", (1, 1, 1)),  # a misspelt name is loud
        ([{"c1": 1}, {rm.Quote("price is nine euros"): -1}], "id", (1, 1, 0)),  # relevant and forbidden
    ],
)
def test_every_kind_of_judgment_can_be_forbidden(judged: Any, match: str, expected: tuple[int, ...]) -> None:
    documents = (
        {"old.md": ITEMS[0].text, "new.md": ITEMS[1].text}
        if any(isinstance(piece, rm.Span) for piece in judged)
        else None
    )
    result = rm.evaluate(
        {"q": judged}, {"q": ITEMS}, ["leak@1", "leak@3", "inverted@3"], match=match, documents=documents
    )
    assert tuple(result.means.values()) == expected


def test_a_query_that_was_not_answered_did_not_abstain() -> None:
    qrels = {
        "silent": [],
        "failed": [],
        "absent": [],
        "loud": [],
        "leaks": {"a": 1, "z": -1},
        "lost": {"a": 1, "z": -1},
    }
    run = rm.RetrievedRun(
        {"silent": [], "failed": [], "loud": ["x"], "leaks": ["z"], "lost": []}, {"failed": OSError()}
    )
    result = rm.evaluate(qrels, run, ["false_answer", "leak@5", "inverted@5", "recall@5"])
    assert dict(result.n) == {"false_answer": 2, "leak@5": 2, "inverted@5": 2, "recall@5": 2}
    assert dict(result.means) == {"false_answer": 0.5, "leak@5": 0.5, "inverted@5": 0.5, "recall@5": 0}


def test_places_are_those_of_the_ranking_as_retrieved() -> None:
    result = rm.evaluate({"q": {"a": 1, "z": -1}}, {"q": ["x", "y", "z", "a"]}, ["leak@2", "mrr"], unjudged="condensed")
    assert dict(result.means) == {"leak@2": 0, "mrr": 0.5}


def test_rules_under_which_negative_grades_are_unjudged_know_nothing_forbidden() -> None:
    assert rm.evaluate({"q": {"a": 1, "z": -1}}, {"q": {"z": 1.0}}, "leak@5", rules="trec_eval").n["leak@5"] == 0
