"""Under the rules of a library every case has the value that the library itself gives it."""

import asyncio
import contextlib
import importlib
import math
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval

import retrieval_metrics as rm
from generated import scored_run
from retrieval_metrics.metrics.base.rules import RULE_SETS
from rule_cases import IDS, Case, cases, ours

unwarned = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


@unwarned
class TestLlamaIndex:
    CLASSES = {
        "hit_rate": "HitRate", "mrr": "MRR", "precision": "Precision", "recall": "Recall", "map": "AveragePrecision",
        "ndcg": "NDCG",
    }  # fmt: skip

    @pytest.fixture
    def metrics(self) -> dict[str, Any]:
        module = pytest.importorskip("llama_index.core.evaluation.retrieval.metrics")
        return {name: getattr(module, cls)() for name, cls in self.CLASSES.items()}

    @pytest.mark.parametrize("count", [300, pytest.param(2000, marks=pytest.mark.thorough)])
    def test_every_value(self, metrics: dict[str, Any], count: int) -> None:
        chosen = [(n, case) for n, case in enumerate(cases(1, 3000)) if case.ranking and case.relevant][:count]
        values = ours(chosen, metrics, "llama_index")
        assert len(values) == count * len(metrics)
        for number, case in chosen:
            for name, metric in metrics.items():
                theirs = metric.compute(expected_ids=case.relevant, retrieved_ids=case.first).score
                assert values[number, name] == pytest.approx(theirs, abs=1e-12), (case, name)
        assert max(values.values()) > 1.5

    def test_it_raises_where_the_rules_do(self, metrics: dict[str, Any]) -> None:
        refused = [case for case in cases(1) if not (case.ranking and case.relevant)]
        assert len(refused) > 100
        for case in refused[:100]:
            for metric in metrics.values():
                with pytest.raises(ValueError, match="must be provided"):
                    metric.compute(expected_ids=case.relevant, retrieved_ids=case.first)
            with pytest.raises(ValueError, match="which llama_index refuses"):
                rm.evaluate({"q": case.groups}, {"q": case.ranking}, rules="llama_index")


@unwarned
class TestRagas:
    @pytest.mark.parametrize("count", [300, pytest.param(2000, marks=pytest.mark.thorough)])
    def test_every_value(self, count: int) -> None:
        pytest.importorskip("rapidfuzz")
        pytest.importorskip("ragas", exc_type=ImportError)
        chosen = list(enumerate(cases(2, count)))
        theirs = asyncio.run(ragas_values(chosen))
        values = ours(chosen, ("precision", "recall", "map"), "ragas")
        assert set(values) == set(theirs)
        for (number, name), value in values.items():
            case = chosen[number][1]
            if name != "map" or case.ranking or case.relevant:  # else 0 there, undefined here: said in the rule set
                assert value == pytest.approx(theirs[number, name], abs=1e-9, nan_ok=True), (case, name)


async def ragas_values(chosen: Iterable[tuple[int, Case]]) -> dict[tuple[int, str], float]:
    """What its metrics without a model give; NaN where they raise, as in its `evaluate`."""
    ragas = importlib.import_module("ragas")
    precisions = importlib.import_module("ragas.metrics._context_precision")
    recalls = importlib.import_module("ragas.metrics._context_recall")
    metrics = {
        "precision": precisions.IDBasedContextPrecision(),
        "recall": recalls.IDBasedContextRecall(),
        "map": precisions.NonLLMContextPrecisionWithReference(),
    }
    values: dict[tuple[int, str], float] = {}
    cache: dict[tuple[tuple[str, ...], tuple[str, ...]], dict[str, float]] = {}
    for number, case in chosen:
        first_letters = dict.fromkeys([*case.first, *case.relevant])
        letters = dict(zip(first_letters, IDS, strict=False))
        retrieved = tuple(letters[letter] for letter in case.first)
        relevant = tuple(letters[letter] for letter in case.relevant)
        if (retrieved, relevant) not in cache:  # a third of all; whatever its letters are, its values are the same
            case_values = dict.fromkeys(metrics, math.nan)
            cache[retrieved, relevant] = case_values
            sample = ragas.SingleTurnSample(
                retrieved_context_ids=[*retrieved],
                reference_context_ids=[*relevant],
                retrieved_contexts=[*retrieved],  # a letter equals itself and shares nothing with another
                reference_contexts=[*relevant],
            )
            for name, metric in metrics.items():
                with contextlib.suppress(ValueError):
                    case_values[name] = await metric._single_turn_ascore(sample, [])
        values |= {(number, name): value for name, value in cache[retrieved, relevant].items()}
    return values


@unwarned
class TestTrecEval:
    MEASURES = {
        "map_cut": "map", "ndcg_cut": "ndcg", "P": "precision", "recall": "recall", "success": "hit_rate"
    }  # fmt: skip

    def test_every_value(self) -> None:
        chosen = [
            (number, case)
            for number, case in enumerate(cases(3, 5000, grouped=False))
            if case.k and case.groups and len(set(case.ranking)) == len(case.ranking)
        ][:2000]
        assert len(chosen) == 2000
        values = ours(chosen, self.MEASURES.values(), "trec_eval")
        cutoffs = ",".join(map(str, sorted({case.k for _, case in chosen if case.k})))
        qrels = {str(n): {d: int(g) for group in case.groups for d, g in group.items()} for n, case in chosen}
        run = {str(n): {d: -float(rank) for rank, d in enumerate(case.ranking)} for n, case in chosen}
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {f"{name}.{cutoffs}" for name in self.MEASURES}).evaluate(run)
        for number, case in chosen:
            for measure, name in self.MEASURES.items():
                expected = theirs[str(number)][f"{measure}_{case.k}"]
                assert values[number, name] == pytest.approx(expected, abs=1e-9), (case, name)

    def test_repeats_and_fractions_are_refused(self) -> None:
        with pytest.raises(ValueError, match=r"'q' holds a document twice, which trec_eval refuses \(duplicates="):
            rm.evaluate({"q": ["a"]}, {"q": ["a", "a"]}, rules="trec_eval")
        with pytest.raises(ValueError, match=r"whole grades only, and document 'a' for query 'q' has 0.5"):
            rm.evaluate({"q": {"a": 0.5}}, {"q": ["a"]}, rules="trec_eval")


@unwarned
class TestRepeats:
    TRUTH = {"q": ["a", "b"]}
    RUN = {"q": ["a", "a", "x", "b"]}

    @pytest.mark.parametrize(
        ("repeats", "expected"),
        [("ignore", (1 + 2 / 4) / 2), ("count", (1 + 2 / 2 + 3 / 4) / 2)],
    )
    def test_of_average_precision(self, repeats: Any, expected: float) -> None:
        rules = rm.Rules(name="mine", duplicates=repeats)
        result = rm.evaluate(self.TRUTH, self.RUN, "map", rules=rules)
        assert result.means["map"] == pytest.approx(expected)
        assert result.counts["duplicates"] == 1

    def test_removing_them_is_a_matter_of_matching_budgets_included(self) -> None:
        with pytest.raises(
            ValueError, match=r"duplicates must be one of .* got 'collapse'; match=Matching\(deduplicate=True"
        ):
            rm.Rules(name="mine", duplicates="collapse")  # type: ignore[arg-type]  # what is tested
        with pytest.raises(ValueError, match="no_relevant must be one of"):
            rm.Rules(name="mine", exceptions={"map": {"no_relevant": "one"}})
        once = rm.Matching(deduplicate=True)
        items = [rm.Retrieved(letter) for letter in "aaxb"]
        result = rm.evaluate({"q": ["a", "b"]}, {"q": items}, ["recall@3", "precision"], match=once)
        assert dict(result.means) == {"recall@3": 1.0, "precision": 2 / 3}
        a = rm.Retrieved("a", text="a" * 100)
        b = rm.Retrieved("b", text="b" * 1000)
        for ranking in ([a, b], [a, a, b]):
            at_budgets = rm.evaluate({"q": ["b"]}, {"q": ranking}, ["recall@200chars", "recall@1100chars"], match=once)
            assert dict(at_budgets.means) == {"recall@200chars": 0.0, "recall@1100chars": 1.0}

    def test_of_quotes_there_are_none_to_count(self) -> None:
        item = rm.Retrieved("a", text="the words that were quoted")
        truth = {"q": [rm.Quote("the words that were quoted")]}
        run = {"q": [item, item]}
        for semantics in ("standard", "llama_index", "ragas"):
            assert rm.evaluate(truth, run, "map", rules=semantics).means["map"] == 1

    def test_of_a_run_in_columns_are_found_too(self) -> None:
        columns = {"query": ["q"] * 4, "document": self.RUN["q"]}
        run = rm.Run.from_frame(columns)
        for semantics in ("standard", "llama_index", "ragas", "mlflow"):
            from_lists = rm.evaluate(self.TRUTH, self.RUN, ["map", "ndcg", "precision"], rules=semantics)
            from_columns = rm.evaluate(self.TRUTH, run, ["map", "ndcg", "precision"], rules=semantics)
            assert dict(from_lists.means) == dict(from_columns.means)
        assert rm.audit(self.TRUTH, run, "map").means["llama_index"]["map"] == (1 + 2 / 2 + 3 / 4) / 2
        # 3 of the 4 retrieved are distinct, and 2 of these are relevant
        assert rm.evaluate(self.TRUTH, run, "precision(norm=distinct)").means["precision(norm=distinct)"] == 2 / 3

    def test_the_residual_follows_the_rules(self) -> None:
        rules = rm.Rules(name="mine", parameters={"rbp": {"p": 0.5}})
        for run, residual in ((["a"], 0.5), (["a", "a"], 0.25), (["x", "x"], 0.75)):  # 1 - 1/2, 1 - 1/2 - 1/4, 1 - 1/4
            assert rm.evaluate({"q": ["a"]}, {"q": run}, "rbp", rules=rules).residuals["rbp"] == residual

    def test_ties_of_a_run_in_columns_follow_the_same_rules(self) -> None:
        scores = {"a": 1.0, "x": 1.0, "b": 1.0}
        frame = {"query": ["q"] * 3, "document": list(scores), "score": list(scores.values())}
        for ties in ("docid", "input", "expected"):
            from_scores = rm.evaluate(self.TRUTH, {"q": scores}, ["map", "ndcg@2"], ties=ties)
            from_columns = rm.evaluate(self.TRUTH, rm.Run.from_frame(frame), ["map", "ndcg@2"], ties=ties)
            assert dict(from_scores.means) == dict(from_columns.means)

    def test_an_exception_may_only_change_what_is_decided_per_metric(self) -> None:
        with pytest.raises(ValueError, match=r"exceptions of mine for map must be among empty, .* got \['ties'\]"):
            rm.Rules(name="mine", exceptions={"map": {"ties": "input"}})


@unwarned
def test_every_rule_set_names_only_metrics_and_parameters_that_exist() -> None:
    for rules in RULE_SETS.values():
        for name in rules.metrics or ():
            assert rm.Metric(name).name == name
        for name, parameters in rules.parameters.items():
            assert dict(rm.Metric(name, None, **parameters).parameters) == dict(parameters)


CUTOFFS = (1, 5, 10, 100)
NAMES = {
    "map": "map",
    "ndcg": "ndcg",
    "recip_rank": "mrr",
    "Rprec": "r_precision",
    "bpref": "bpref",
    "set_P": "precision",
    "set_F": "f1",
    "set_recall": "recall",
    **{f"{theirs}_{k}": f"{ours}@{k}" for k in CUTOFFS for theirs, ours in (
        ("ndcg_cut", "ndcg"), ("map_cut", "map"), ("P", "precision"), ("recall", "recall"), ("success", "hit_rate")
    )},
}  # fmt: skip
REQUEST = {"map", "ndcg", "recip_rank", "Rprec", "bpref", "set_P", "set_F", "set_recall"} | {
    f"{name}.{','.join(map(str, CUTOFFS))}" for name in ("ndcg_cut", "map_cut", "P", "recall", "success")
}


def assert_same(qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]) -> int:
    theirs = pytrec_eval.RelevanceEvaluator(qrels, REQUEST).evaluate(run)
    ours = rm.evaluate(qrels, run, list(NAMES.values()), rules="trec_eval").per_query
    compared = 0
    for query, values in theirs.items():
        for measure, metric in NAMES.items():
            assert ours[metric][query] == pytest.approx(values[measure], abs=1e-9), (query, metric)
            compared += 1
    assert set(ours["map"]) == set(theirs)
    return compared


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("ties", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("judged", [0.0, 0.1, 0.5, 1.0])
def test_generated_runs(ties: float, judged: float) -> None:
    rng = random.Random(hash((ties, judged)))
    qrels, run = scored_run(rng, 60, ties=ties, judged=judged)
    assert assert_same(qrels, run) == 60 * len(NAMES)


def test_scores_are_compared_in_32_bits_there_and_in_64_here() -> None:
    qrels = {"q": {"d1": 1, "x": 0}}
    close = {"q": {"d1": 0.123456789, "d2": 0.123456788}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(close)
    rounded = {"q": {document: float(np.float32(score)) for document, score in close["q"].items()}}
    assert theirs["q"]["recip_rank"] == 0.5
    assert rm.evaluate(qrels, close, "mrr").means["mrr"] == 1.0
    assert rm.evaluate(qrels, rounded, "mrr").means["mrr"] == 0.5
    assert_same(qrels, rounded)


def test_negative_grades_count_as_not_judged() -> None:
    rng = random.Random(3)
    qrels, run = scored_run(rng, 60, ties=0.2, judged=0.6)
    negative = {q: {d: grade - 1 for d, grade in judged.items()} for q, judged in qrels.items()}
    assert_same({q: judged for q, judged in negative.items() if max(judged.values()) > 0}, run)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_a_query_without_a_relevant_document_scores_zero_and_one_that_is_missing_is_left_out() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 1}}
    run = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"a": 1.0}, "not judged": {"a": 1.0}}
    assert_same(qrels, run)
    result = rm.evaluate(qrels, run, "map", rules="trec_eval")
    assert result.means["map"] == 0.5
    assert result.counts["scored"] == result.n["map"] == 2
    assert "1 query with no results; queries absent from the run are excluded" in str(result)


def test_an_empty_retrieval_scores_zero() -> None:
    with pytest.warns(rm.RetrievalWarning, match="1 of 2 .*judged queries"):
        assert_same({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {}})


@pytest.mark.parametrize("qrels_name", ["qrels.graded.trec", "qrels.binary.trec"])
@pytest.mark.parametrize("run_name", ["run.bm25.trec", "run.tfidf_nosat.trec", "run.minilm_int8.trec"])
def test_cranfield(shared_data: Path, qrels_name: str, run_name: str) -> None:
    qrels, run = cranfield(shared_data, qrels_name, run_name)
    assert assert_same(qrels, run) == 225 * len(NAMES)


def test_bm25_on_cranfield_has_the_published_means(shared_data: Path) -> None:
    qrels, run = cranfield(shared_data, "qrels.graded.trec", "run.bm25.trec")
    means = rm.evaluate(qrels, run, ["ndcg@10", "map"], rules="trec_eval").means
    assert (round(means["ndcg@10"], 4), round(means["map"], 4)) == (0.3344, 0.2626)


def cranfield(
    data: Path, qrels_name: str, run_name: str
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for line in (data / "cranfield" / qrels_name).read_text().splitlines():
        query, _, document, grade = line.split()
        qrels.setdefault(query, {})[document] = int(grade)
    for line in (data / "cranfield" / run_name).read_text().splitlines():
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    return qrels, run
