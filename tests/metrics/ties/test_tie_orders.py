"""The closed forms equal the enumeration of every order of equal scores, in mean, smallest and largest value."""

import math
import random
from itertools import permutations, product
from typing import Any, ClassVar

import pytest

import reference
import retrieval_metrics as rm
from retrieval_metrics.metrics.base.registry import DEFINITIONS

FLAT = [
    "hit_rate", "full_recall", "recall", "precision", "precision(norm=retrieved)", "f1", "mrr", "map",
    "map(norm=retrieved)", "ndcg", "ndcg(gain=exponential)", "dcg", "rbp", "rbp(p=0.5)", "err", "err(max_grade=4)",
    "judged", "recall(rel=2)", "hit_rate(rel=2)", "full_recall(rel=2)", "mrr(rel=2)", "map(rel=2)", "precision(rel=2)",
]  # fmt: skip
UNCUT = ["r_precision", "bpref", "r_precision(rel=2)", "bpref(rel=2)"]
GRADES = [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0]


def orders(scores: dict[str, float]) -> list[list[str]]:
    """Every ranking that the scores allow."""
    levels = sorted(set(scores.values()), reverse=True)
    blocks = [[document for document, score in scores.items() if score == level] for level in levels]
    return [[d for block in chosen for d in block] for chosen in product(*map(permutations, blocks))]


def naive(name: str, k: int | None, truth: reference.Truth, ranking: list[str], top: float) -> float:
    metric = rm.Metric.parse(name)
    parameters: dict[str, Any] = dict(metric.parameters)
    if metric.name in {"rbp", "err"}:
        parameters.setdefault("max_grade", top)
    if metric.name not in {"r_precision", "bpref"}:
        parameters["k"] = k
    return reference.METRICS[metric.name](truth, ranking, **parameters)


def generated(rng: random.Random, max_documents: int) -> tuple[dict[str, float], dict[str, float]]:
    documents = [f"d{number}" for number in range(rng.randint(2, max_documents))]
    scores = {document: float(rng.randint(0, 2)) for document in documents}
    truth = {document: rng.choice(GRADES) for document in [*documents, "x", "y"] if rng.random() < 0.6}
    return truth | {"z": 2.0}, scores


def check(name: str, k: int | None, truth: Any, groups: reference.Truth, scores: dict[str, float]) -> None:
    metric = rm.Metric.parse(f"{name}@{k}" if k else name)
    top = max(0.0, *(grade for group in groups for grade in group.values()))
    values = [naive(name, k, groups, ranking, top) for ranking in orders(scores)]
    result = rm.evaluate({"q": truth}, {"q": scores}, metric, ties="expected")
    assert result.tie_range is not None
    assert result.means[str(metric)] == pytest.approx(math.fsum(values) / len(values), abs=1e-12, nan_ok=True)
    assert result.tie_range.means[str(metric)] == pytest.approx((min(values), max(values)), abs=1e-12, nan_ok=True)
    assert result.tie_range.n_queries[str(metric)] == (max(values) - min(values) > 1e-12)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class TestClosedForms:
    @pytest.mark.parametrize("name", [*FLAT, *UNCUT])
    def test_of_flat_and_graded_judgments(self, name: str) -> None:
        rng = random.Random(7)
        for _ in range(25):
            truth, scores = generated(rng, max_documents=6)
            k = None if name in UNCUT else rng.choice([None, 1, 2, 3, 5, 8])
            check(name, k, truth, [{document: grade} for document, grade in truth.items()], scores)

    @pytest.mark.parametrize("name", ["ndcg", "map", "mrr", "recall", "precision", "judged", "err", "rbp", "hit_rate"])
    def test_of_groups(self, name: str) -> None:
        rng = random.Random(8)
        for _ in range(12):
            truth, scores = generated(rng, max_documents=5)
            groups = [truth, {rng.choice(list(truth)): 1.0, "w": 3.0}]
            check(name, rng.choice([None, 1, 2, 4]), groups, groups, scores)


NAMES = sorted(name for name, definition in DEFINITIONS.items() if not definition.needs_places)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("shape", ["flat", "grouped", "graded"])
@pytest.mark.parametrize("name", NAMES)
def test_every_metric_is_the_mean_over_all_rankings_that_the_scores_allow(name: str, shape: str) -> None:
    rng = random.Random(9)
    for _ in range(8):
        grades, scores = generated(rng, max_documents=5)
        judgments: dict[str, Any] = {
            "flat": [document for document, grade in grades.items() if grade > 0],
            "graded": grades,
            "grouped": [grades, {rng.choice(list(grades)): 1.0, "w": 3.0}],
        }
        truth = {"q": judgments[shape], "best": {"w": 4.0}}
        metric = rm.Metric(name, rng.choice([None, 1, 3]) if DEFINITIONS[name].takes_cutoff else None)
        every = [
            rm.evaluate(truth, {"q": ranking, "best": ["w"]}, metric).per_query[str(metric)]["q"]
            for ranking in orders(scores)
        ]
        run: dict[str, Any] = {"q": scores, "best": ["w"]}
        result = rm.evaluate(truth, run, metric, ties="expected")
        mean = math.fsum(every) / len(every)
        assert result.per_query[str(metric)]["q"] == pytest.approx(mean, abs=1e-12, nan_ok=True)
        (metric,) = result.metrics
        assert result.scores.columns["lowest", metric][0] == pytest.approx(min(every), abs=1e-12, nan_ok=True)
        assert result.scores.columns["highest", metric][0] == pytest.approx(max(every), abs=1e-12, nan_ok=True)


def test_a_large_block_has_a_closed_form_too() -> None:
    scores = dict.fromkeys((f"d{number}" for number in range(5000)), 1.0)
    result = rm.evaluate(
        {"q": {"d7": 3, "d8": 1, "d9": 0}}, {"q": scores}, ["mrr", "err@10", "ndcg@10"], ties="expected"
    )
    # The first of two among n has the mean reciprocal rank 2 / (n (n - 1)) * sum of (n - i) / i.
    n = 5000
    assert result.means["mrr"] == pytest.approx(2 / (n * (n - 1)) * sum((n - i) / i for i in range(1, n)), rel=1e-12)
    assert result.counts["ties"] == 1


def test_groups_with_too_many_orders_are_an_error_that_names_the_query() -> None:
    scores = dict.fromkeys((f"d{number}" for number in range(200)), 1.0)
    truth = {"q": [["d1", "d2"], ["d3"]]}
    with pytest.raises(ValueError, match=r"map has no closed form .* query 'q' has 7.88e\+06 orders.*use ties='docid'"):
        rm.evaluate(truth, {"q": scores}, "map", ties="expected")
    assert rm.evaluate(truth, {"q": scores}, "precision@10", ties="expected").means["precision@10"] == pytest.approx(
        3 / 200
    )


def test_autorag_ranks_each_group_on_its_own_in_every_order() -> None:
    scores = {"a": 1.0, "x": 1.0}
    result = rm.evaluate({"q": [["a"], ["b"]]}, {"q": scores}, "mrr", rules="autorag", ties="expected")
    assert result.means["mrr"] == (1 + 1 / 2) / 2 / 2


class TestOtherOrders:
    SCORES: ClassVar = {"a": 1.0, "c": 2.0, "b": 1.0, "d": 1.0}

    def test_input_keeps_the_order_of_the_mapping_and_docid_sorts_descending(self) -> None:
        for ties, expected in (("input", ["c", "a", "b", "d"]), ("docid", ["c", "d", "b", "a"])):
            for rank, document in enumerate(expected, start=1):
                result = rm.evaluate({"q": [document]}, {"q": self.SCORES}, "mrr", ties=ties)
                assert (ties, result.means["mrr"]) == (ties, 1 / rank)
                assert result.counts["ties"] == (document != "c")
                assert result.tie_range is None

    def test_without_ties_the_values_are_the_same_to_the_last_bit(self) -> None:
        rng = random.Random(1)
        run = {"q": {f"d{number}": rng.random() for number in range(30)}}
        truth = {"q": {f"d{number}": rng.randint(0, 3) for number in range(0, 30, 3)} | {"d1": 1}}
        names = [name for name in FLAT if "err(" not in name]
        plain, mean = (rm.evaluate(truth, run, names, ties=ties) for ties in ("docid", "expected"))
        assert dict(plain.means) == dict(mean.means)
        assert str(plain) == str(mean)

    def test_what_depends_on_the_order_is_printed(self) -> None:
        result = rm.evaluate({"q": ["a"]}, {"q": self.SCORES}, ["mrr", "recall"], ties="expected")
        assert "mrr: 0.250 to 0.500 depending on tie-breaking (1 query)" in str(result)
        assert "recall: between" not in str(result)

    def test_an_unknown_order_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"ties must be one of docid, input, expected, or None .* got 'random'"):
            rm.evaluate({"q": ["a"]}, {"q": ["a"]}, ties="random")

    def test_the_mean_over_orders_of_a_metric_of_0_and_1_lies_between_and_has_an_interval(self) -> None:
        truth = {"q1": ["a"], "q2": ["a"]}
        run = {"q1": {"a": 1.0, "x": 1.0}, "q2": {"a": 2.0, "x": 1.0}}
        result = rm.evaluate(truth, run, "hit_rate@1", ties="expected")
        assert result.means["hit_rate@1"] == 0.75  # (1/2 + 1) / 2
        low, high = result.intervals()["hit_rate@1"]
        assert low < 0.75 < high
        assert "0.750" in str(result)
