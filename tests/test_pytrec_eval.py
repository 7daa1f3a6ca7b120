"""`retrieval_metrics.pytrec_eval` in the place of pytrec_eval: the same dictionaries, and errors where it crashes."""

import math
import pickle
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import pytrec_eval as theirs

import retrieval_metrics.pytrec_eval as ours
from retrieval_metrics import Qrels

if TYPE_CHECKING:
    from collections.abc import Callable

GRADES = ([0, 1], [0, 1, 2, 3], [-1, 0, 1, 2], [-2, 0, 0, 0, 1, 4])
PARAMETERS = {"P.3,7", "ndcg_cut_2", "set_F.0.5", "iprec_at_recall.0.15", "Rprec_mult.0.33", "map_cut.4"}


def case(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and a run with ties, also in 32 bits only; some rankings are empty."""
    rng = random.Random(seed)
    documents = [f"d{index}" for index in range(rng.choice([5, 15, 60]))]
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    scores: list[Callable[[], float]] = [rng.random, lambda: float(rng.randrange(4)), lambda: 0.6 + rng.random() * 1e-7]
    for number in range(rng.randrange(1, 6)):
        judged = rng.sample(documents, rng.randrange(1, len(documents)))
        grades = {document: rng.choice(rng.choice(GRADES)) for document in judged}
        if max(grades.values()) < 0:
            grades[judged[0]] = 1  # the original crashes where all grades are negative
        qrels[f"q{number}"] = grades
        retrieved = rng.sample(documents, rng.randrange(0 if rng.random() < 0.1 else 1, len(documents)))
        score = rng.choice(scores)
        run[f"q{number}"] = {document: score() for document in retrieved}
    return qrels, run


@pytest.mark.parametrize("part", range(6))
def test_all_measures_are_equal_in_three_hundred_cases(part: int) -> None:
    for seed in range(50 * part, 50 * part + 50):
        qrels, run = case(seed)
        options = (1 + seed % 3, seed % 4 == 0)
        measures = {"all_trec", *(PARAMETERS if seed % 2 else ())}
        expected = theirs.RelevanceEvaluator(qrels, measures, *options).evaluate(run)
        values_by_query = ours.RelevanceEvaluator(qrels, measures, *options).evaluate(run)
        assert list(values_by_query) == list(expected)
        for query, values in expected.items():
            assert list(values_by_query[query]) == list(values)
            for name, value in values.items():
                # The original divides 0 by 0 where nothing judged is retrieved.
                expected_value = 0.0 if math.isnan(value) else value
                assert values_by_query[query][name] == pytest.approx(expected_value, abs=1e-9), (seed, query, name)
                assert type(values_by_query[query][name]) is float


def test_the_names_are_those_of_the_original() -> None:
    assert ours.supported_measures == set(theirs.supported_measures)
    for nickname, measures in ours.supported_nicknames.items():
        assert measures == set(theirs.supported_nicknames[nickname])


def test_queries_are_in_the_order_of_the_run_and_those_without_judgments_are_left_out() -> None:
    qrels: dict[str, dict[str, int]] = {"a": {"d": 1}, "b": {}, "c": {"d": 1}}
    run = {"x": {"d": 1.0}, "c": {}, "b": {"d": 1.0}, "a": {"d": 2.0}}
    for module in (theirs, ours):
        values = module.RelevanceEvaluator(qrels, {"map"}).evaluate(run)
        assert list(values.items()) == [("c", {"map": 0.0}), ("a", {"map": 1.0})]
        assert module.RelevanceEvaluator(qrels, {"map"}).evaluate({}) == {}
    assert ours.RelevanceEvaluator({}, {"map"}).evaluate(run) == {}


CRASHES: dict[str, tuple[Any, str, str]] = {
    "a cutoff of 0": ({"d": 1}, "P_0", "a cutoff is a number of documents, at least 1, got 0"),
    "gains": ({"d": 1}, "ndcg.1=3", "unsupported measure ndcg.1=3"),
    "a parameter of what has none": ({"d": 1}, "map_10", "map has no parameters"),
    "more than a number": ({"d": 1}, "P_10x", "unsupported measure P_10x"),
    "two weights": ({"d": 1}, "set_F.1,2", "set_F has one parameter"),
    "half a document": ({"d": 1}, "P.2.5", "a cutoff is a number of documents"),
    "preferences": ({"d": 1}, "prefs_pair", "unsupported measure prefs_pair"),
}


@pytest.mark.parametrize(("judged", "measure", "message"), CRASHES.values(), ids=list(CRASHES))
def test_errors_where_the_original_crashes_or_ignores(judged: dict[str, int], measure: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ours.RelevanceEvaluator({"q": judged}, {measure})


def test_values_where_the_original_crashes_or_hangs() -> None:
    run = {"q": {"d": 2.0, "e": 1.0}}
    only_negative = ours.RelevanceEvaluator({"q": {"d": -1}}, {"ndcg", "map"}).evaluate(run)
    assert only_negative == {"q": {"map": 0.0, "ndcg": 0.0}}
    assert ours.RelevanceEvaluator({"q": {"e": 60_000}}, {"ndcg"}).evaluate(run)["q"]["ndcg"] == pytest.approx(
        1 / math.log2(3)
    )
    half = {"q": {"\ud800": 1}}
    assert ours.RelevanceEvaluator(half, {"map"}).evaluate({"q": {"\ud800": 1.0}}) == {"q": {"map": 1.0}}


@pytest.mark.parametrize("grade", [1.0, "1", None])
def test_grades_are_whole_numbers(grade: Any) -> None:
    for module in (theirs, ours):
        with pytest.raises(TypeError):
            module.RelevanceEvaluator({"q": {"d": grade}}, {"map"})


def test_what_is_no_run_is_refused_with_its_query() -> None:
    evaluator = ours.RelevanceEvaluator({"q": {"d": 1}}, {"map"})
    ranking: Any = ["d"]
    with pytest.raises(TypeError, match="the ranking of query 'q' must map documents to scores, got list"):
        evaluator.evaluate({"q": ranking})
    with pytest.raises(ValueError, match="nan"):
        evaluator.evaluate({"q": {"d": math.nan}})
    with pytest.raises(TypeError, match="measures must be several names"):
        ours.RelevanceEvaluator({"q": {"d": 1}}, "map")


def test_lines_are_parsed_and_values_joined_as_in_the_original() -> None:
    runs = ["q1 Q0 d1 1 2.5 tag\n", "q1 Q0 d2 2 1 tag\n"]
    qrels = ["q1 0 d1 1\n", "q2 0 d2 0\n"]
    assert ours.parse_run(runs) == theirs.parse_run(runs)
    assert ours.parse_qrel(qrels) == theirs.parse_qrel(qrels)
    for measure in ("map", "num_ret", "gm_map"):
        values = [0.25, 0.5, 0.125]
        assert ours.compute_aggregated_measure(measure, values) == pytest.approx(
            theirs.compute_aggregated_measure(measure, values)
        )
    with pytest.raises(ValueError, match="line 2: document 'd1' appears twice"):
        ours.parse_run([runs[0], runs[0]])
    with pytest.raises(ValueError, match="line 1 must have 4 fields, got 6"):
        ours.parse_qrel(runs)
    with pytest.raises(ValueError, match="line 1: 'x' is not a number"):
        ours.parse_qrel(["q1 0 d1 x"])
    for parse in (theirs.parse_qrel, ours.parse_qrel):
        assert parse(qrels)["q9"] == {}
    assert ours.parse_qrel(["# four words 9", *qrels, " # more"]) == theirs.parse_qrel(qrels)
    assert math.isnan(ours.compute_aggregated_measure("map", []))
    assert ours.compute_aggregated_measure("num_ret", []) == 0


def test_ir_measures_takes_it_for_the_original() -> None:
    assert ours.__version__ == theirs.__version__
    code = (
        "import sys, retrieval_metrics.pytrec_eval as ours\nsys.modules['pytrec_eval'] = ours\nimport ir_measures\n"
        "from ir_measures import *\n"
        "print(ir_measures.calc_aggregate([RR, AP, SetAP], {'q': {'d1': 1}}, {'q': {'d1': 7.5, 'd2': 7.5}}))"
    )
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert sorted(output.strip("{}\n").split(", ")) == ["AP: 0.5", "RR: 0.5", "SetAP: 0.5"]


USUAL = {"map", "ndcg", "ndcg_cut.3,10", "map_cut.2,5", "P.1,5", "recall_5", "success", "recip_rank", "Rprec"}
USUAL |= {"num_ret", "num_rel", "num_rel_ret", "set_P", "set_recall"}


@pytest.mark.parametrize("part", range(4))
def test_a_few_queries_have_the_values_of_the_original_and_of_many_to_the_last_bit(part: int) -> None:
    for seed in range(1000 + 100 * part, 1100 + 100 * part):
        qrels, run = case(seed)
        level = 1 + seed % 3
        expected = theirs.RelevanceEvaluator(qrels, USUAL, level).evaluate(run)
        evaluator = ours.RelevanceEvaluator(qrels, USUAL, level)
        values_by_query = evaluator.evaluate(run)
        assert list(values_by_query) == list(expected)
        for query, values in expected.items():
            assert list(values_by_query[query]) == list(values)
            assert values_by_query[query] == pytest.approx(values, abs=1e-9), (seed, query)
            assert {type(value) for value in values_by_query[query].values()} == {float}
        first_query = next(iter(run))
        if seed % 4 == 0:
            many = {f"{query} {copy}": run[query] for query in run for copy in range(65)}
            judged = {f"{query} {copy}": qrels[query] for query in run for copy in range(65)}
            together = ours.RelevanceEvaluator(judged, USUAL, level).evaluate(many)
            assert {query: together[f"{query} 1"] for query in run} == values_by_query
        assert evaluator.evaluate({first_query: run[first_query]}) == {first_query: values_by_query[first_query]}
        assert evaluator.evaluate({first_query: {}, "not judged": {"d": 1.0}})[first_query]["map"] == 0


def test_batches_cost_what_they_hold_and_not_what_is_judged() -> None:
    judged: dict[str, dict[str, int]] = {f"q{number}": {f"d{number}": 1, "x": 0} for number in range(500)}
    run = {f"q{number}": {"x": 2.0, f"d{number}": 1.0} for number in range(3)}
    for measures in ({"map", "ndcg_cut_10"}, {"infAP", "bpref"}):
        evaluator = ours.RelevanceEvaluator(judged, measures)
        assert evaluator.evaluate(run) == theirs.RelevanceEvaluator(judged, measures).evaluate(run)
        judged["q0"] = {"other": 1}  # the evaluator keeps what it was given
        assert evaluator.evaluate(run)["q0"] == evaluator.evaluate(run)["q1"]
        assert "_qrels" not in vars(evaluator)  # all judgments were never read
        judged["q0"] = {"d0": 1, "x": 0}
    pickled = pickle.loads(pickle.dumps(evaluator))
    assert pickled.evaluate(run) == evaluator.evaluate(run)
    assert ours.RelevanceEvaluator(judged, set()).evaluate(run) == {query: {} for query in run}
    with pytest.raises(TypeError, match="in the qrels are str and those in the run are int"):
        ours.RelevanceEvaluator(judged, {"map"}).evaluate({"q1": {1: 2.0}})  # type: ignore[dict-item]  # on purpose
    with pytest.raises(ValueError, match=r"the score of document 'd' for query 'q1' is -inf"):
        ours.RelevanceEvaluator(judged, {"map"}).evaluate({"q1": {"d": -math.inf}})


def test_a_whole_grade_that_is_no_int_is_refused_with_what_converts_it() -> None:
    qrels: Any = Qrels({"q1": {"a": 2, "b": 1}})
    with pytest.raises(TypeError, match=r"must be an int, got 2\.0; convert the grades, (.*), or read") as caught:
        ours.RelevanceEvaluator(qrels, {"map"})
    expression = str(caught.value).partition("convert the grades, ")[2].partition(", or read")[0]
    converted_qrels = eval(expression, {"qrels": qrels})  # noqa: S307  (the code that the message recommends)
    assert ours.RelevanceEvaluator(converted_qrels, {"map"}).evaluate({"q1": {"a": 1.0}}) == {"q1": {"map": 0.5}}
