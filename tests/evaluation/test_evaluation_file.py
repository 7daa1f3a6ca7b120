"""A saved evaluation is loaded as it was: every number to the bit, every id with its type, every answer."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.evaluation.evaluation_file import has_same_questions
from saved_inputs import assert_same, assert_same_queries, inputs, quick

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


@pytest.mark.thorough
@quick
@given(
    inputs(), st.sampled_from(["docid", "input", "expected"]), st.sampled_from(["a.json", "a.json.gz", "a.json.zst"])
)
def test_an_evaluation(tmp_path: Any, judged_run: Any, ties: str, name: str) -> None:
    qrels, run = judged_run
    metrics = ["ndcg@3", "map", "rbp", "mrr", "precision@2", "judged@5"]
    result = rm.evaluate(qrels, run, metrics, ties=ties)
    result.save(tmp_path / name)
    loaded = rm.load(tmp_path / name)
    assert_same_queries(result, loaded)
    # A second time, from what was loaded: the file is the same but for its date.
    loaded.save(tmp_path / f"again-{name}")
    assert_same_queries(loaded, rm.load(tmp_path / f"again-{name}"))


@pytest.mark.parametrize("rules", ["standard", "trec_eval", "ragas", "autorag", "mlflow", "haystack"])
def test_every_rule_set(tmp_path: Any, rules: str) -> None:
    qrels = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1, "e": -1}, "q3": {"f": 0}}
    result = rm.evaluate(qrels, {"q1": ["x", "b", "a"], "q2": ["e", "d"]}, ["ndcg@2", "map", "recall@2"], rules=rules)
    result.save(tmp_path / "result.json")
    assert_same_queries(result, rm.load(tmp_path / "result.json"))


def test_rules_of_ones_own(tmp_path: Any) -> None:
    rules = rm.Rules(
        name="mine",
        duplicates="count",
        parameters={"ndcg": {"gain": "binary"}},
        exceptions={"map": {"duplicates": "ignore"}},
    )
    result = rm.evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "b", "a"]}, ["ndcg@2", "map"], rules=rules)
    result.save(tmp_path / "result.json")
    assert_same_queries(result, rm.load(tmp_path / "result.json"))


def test_the_options_of_matching(tmp_path: Any) -> None:
    matching = rm.Matching(by="metadata:page", deduplicate=True, sources={"s": "the quick brown fox"}, min_coverage=0.5)
    run = {"q": [rm.Retrieved(1, "the quick", metadata={"page": "p1"}), rm.Retrieved(2, "x", metadata={"page": "p1"})]}
    result = rm.evaluate({"q": ["p1"]}, run, ["recall@1", "ndcg@20chars"], match=matching)
    result.save(tmp_path / "result.json")
    loaded = rm.load(tmp_path / "result.json")
    assert_same_queries(result, loaded)
    assert loaded.scores.origin.match == matching


def test_a_merged_evaluation_and_one_of_totals(tmp_path: Any) -> None:
    halves = [
        rm.evaluate({"q1": {"a": 3}}, {"q1": ["x", "a"]}, ["mrr", "rbp(p=0.5)"]),
        rm.evaluate({"q2": {"b": 3}}, {"q2": {"b": 0.5, "y": 0.5}}, ["mrr", "rbp(p=0.5)"]),
    ]
    for number, merged in enumerate([rm.merge(halves), rm.merge(half.totals() for half in halves)]):
        merged.save(tmp_path / f"{number}.json")
        assert_same(merged, rm.load(tmp_path / f"{number}.json"))
    for number, half in enumerate(halves):
        half.save(tmp_path / f"half-{number}.json")
    loaded = rm.merge(rm.load(tmp_path / f"half-{number}.json") for number in range(2))
    assert_same(rm.merge(halves), loaded)


def test_a_part_of_a_larger_set_keeps_the_largest_grade_of_the_whole(tmp_path: Any) -> None:
    part = rm.Qrels({"q1": {"a": 1}}).with_largest_grade(4)
    result = rm.evaluate(part, {"q1": ["a"]}, "err")
    result.save(tmp_path / "part.json")
    loaded = rm.load(tmp_path / "part.json")
    assert_same_queries(result, loaded)
    assert loaded.at_cutoffs("err", [1]) == {1: 1 / 16}  # (2^1 - 1) / 2^4


def test_a_run_in_columns_is_loaded_with_the_same_rankings(tmp_path: Any) -> None:
    columns = rm.Run.from_frame({"query": [1, 1, 2], "document": ["a", "b", "a"], "score": [2.0, 1 / 3, 0.1]})
    result = rm.evaluate({1: ["b"], 2: ["a"]}, columns, ["mrr", "ndcg"])
    result.save(tmp_path / "result.json")
    assert_same_queries(result, rm.load(tmp_path / "result.json"))


def test_the_numbers_alone(tmp_path: Any) -> None:
    result = rm.evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, ["ndcg", "precision@5"])
    result.save(tmp_path / "numbers.json", rankings=False)
    loaded = rm.load(tmp_path / "numbers.json")
    assert_same(result, loaded)
    with pytest.raises(ValueError, match="holds values only"):
        loaded.explain("q")


def test_what_an_agent_did_and_scores_of_others_are_equal_to_themselves(tmp_path: Any) -> None:
    call = rm.SearchCall("a", ["d1", "d2"])
    agents = rm.Trajectories({"q1": rm.Trajectory([call], context=["d1"]), "q2": rm.Trajectory([call, call])})
    scores: dict[str, dict[str, float | None]] = {
        "faithfulness": {"q1": 0.5, "q2": None},
        "latency": {"q1": 2.0, "q2": 3.0},
    }
    given_scores = rm.Evaluation.from_scores(
        scores, bounds={"faithfulness": (0, 1)}, lower_is_better="latency", clusters={"q1": 1, "q2": 2}
    )
    for result in (agents.properties(), given_scores):
        result.save(tmp_path / "result.json")
        assert_same(result, rm.load(tmp_path / "result.json"))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["small"], r"labels must map names to text or numbers, got \['small'\]"),
        ({"model": None}, "a label must have a str as its name, and text or a number as its value, got 'model': None"),
        ({3: "small"}, "a label must have a str as its name, .* got 3: 'small'"),
    ],
)
def test_labels_are_text_or_numbers_by_name(tmp_path: Any, labels: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        rm.evaluate({"q": ["a"]}, {"q": ["a"]}, "mrr").save(tmp_path / "result.json", labels=labels)
    assert not list(tmp_path.iterdir())


def test_labels_come_back_and_are_kept(tmp_path: Any) -> None:
    result = rm.evaluate({"q": ["a"]}, {"q": ["a"]}, "mrr")
    result.save(tmp_path / "a.json", labels={"commit": "4f2a91c", "size": 400})
    loaded = rm.load(tmp_path / "a.json")
    loaded.save(tmp_path / "b.json")
    assert rm.load(tmp_path / "b.json").labels == {"commit": "4f2a91c", "size": 400}


def test_numbers_of_numpy_are_labels(tmp_path: Any) -> None:
    labels: Any = {"size": np.int64(400), "share": np.float32(0.5), "cased": np.bool_(1)}
    rm.evaluate({"q": ["a"]}, {"q": ["a"]}, "mrr").save(tmp_path / "a.json", labels=labels)
    assert rm.load(tmp_path / "a.json").labels == {"size": 400, "share": 0.5, "cased": True}


def test_metadata_that_a_file_cannot_hold_is_refused_before_anything_is_written(tmp_path: Any) -> None:
    path = tmp_path / "result.json"
    path.write_text("what was there")
    run = {"q": [rm.Retrieved("a", metadata={"when": object()})]}
    with pytest.raises(ValueError, match=r"metadata of item 'a' of query 'q' is .* which a file cannot hold"):
        rm.evaluate({"q": ["a"]}, run, "mrr").save(path)
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_a_function_is_refused_before_anything_is_written(tmp_path: Any) -> None:
    run = {"q": [rm.Retrieved("a")]}
    for match in (lambda item: item.id, rm.Matching(count_tokens=len)):
        result = rm.evaluate({"q": ["a"]}, run, "mrr", match=match)
        with pytest.raises(ValueError, match="function") as caught:
            result.save(tmp_path / "result.json")
        assert "rankings=False" in str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
        assert not list(tmp_path.iterdir())
        result.save(tmp_path / "numbers.json", rankings=False)
        (tmp_path / "numbers.json").unlink()


QRELS: dict[str, Any] = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
RUN = {"q1": ["a", "b"], "q2": ["c"]}


def scores(questions: Any) -> Any:
    return rm.evaluate(questions, RUN, "ndcg").scores


def evaluation_set(text: str = "where?", **provenance: Any) -> rm.EvaluationSet:
    origin: dict[str | int, rm.Provenance] = {"q1": rm.Provenance(**provenance)} if provenance else {}
    return rm.EvaluationSet({"q1": text, "q2": "when?"}, QRELS, origin)


def test_equal_judgments_read_twice_are_the_same() -> None:
    assert has_same_questions(scores(QRELS), scores({query: dict(judgments) for query, judgments in QRELS.items()}))
    assert has_same_questions(scores(evaluation_set()), scores(evaluation_set()))


@pytest.mark.parametrize(
    "other",
    [
        {"q1": {"a": 2, "b": 1}, "q3": {"c": 1}},
        {"q1": {"a": 2, "x": 1}, "q2": {"c": 1}},
        {"q1": {"a": 2}, "q2": {"b": 1, "c": 1}},
        {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}},
        {"q1": {"a": 3, "b": 1}, "q2": {"c": 1}},
        {"q1": [{"a": 2, "b": 1}], "q2": {"c": 1}},
    ],
    ids=["query", "document", "whose document", "grade", "largest grade", "group"],
)
def test_judgments_that_differ_in_one_thing_are_not(other: Any) -> None:
    assert not has_same_questions(scores(QRELS), scores(other))
    assert not has_same_questions(scores(other), scores(QRELS))


def test_parts_of_sets_with_other_largest_grades_are_not() -> None:
    qrels = rm.Qrels(QRELS)
    assert not has_same_questions(scores(qrels), scores(qrels.with_largest_grade(5)))


@pytest.mark.parametrize("other", [evaluation_set("why?"), evaluation_set(source="a.md")], ids=["text", "provenance"])
def test_nor_are_questions_that_differ_in_what_came_with_them(other: rm.EvaluationSet) -> None:
    assert not has_same_questions(scores(evaluation_set()), scores(other))


def test_values_without_their_rankings_share_nothing() -> None:
    of_elsewhere = dataclasses.replace(scores(QRELS), origin=None)
    assert not has_same_questions(of_elsewhere, scores(QRELS))
    assert not has_same_questions(scores(QRELS), of_elsewhere)
