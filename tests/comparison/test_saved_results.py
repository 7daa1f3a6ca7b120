"""What is saved is loaded as it was: every number to the bit, every id with its type, every answer."""

import dataclasses
import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics._internal.append_log import AppendLog
from retrieval_metrics.comparison.saved_results import same_questions

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
# Without shrinking, which takes minutes where every example is evaluated, saved and loaded.
quick = settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

texts = st.text(min_size=1, max_size=30).filter(str.strip)
long_texts = st.text(alphabet="abcdefgh ijk\ud800é", min_size=12, max_size=60).filter(
    lambda text: len(text.split()) > 0
)
grades = st.one_of(st.integers(-1, 4), st.floats(0, 4))
names = st.text(min_size=1, max_size=6)


def ids(kind: type) -> st.SearchStrategy[Any]:
    return (
        st.integers(0, 12)
        if kind is int
        else st.sampled_from([f"d{number}" for number in range(10)] + ["é", " x", "type"])
    )


def pieces() -> st.SearchStrategy[Any]:
    quotes = st.builds(rm.Quote, st.sampled_from(["the quick brown fox", "jumps over the dog", "nowhere to be found"]))
    spans = st.builds(lambda start, size: rm.Span("s", start, start + size), st.integers(0, 40), st.integers(1, 30))
    whole = st.builds(rm.Text, st.sampled_from(["the quick brown fox jumps over", "the dog sleeps in the sun all day"]))
    pages = st.builds(lambda page, parts: rm.Metadata(page=page, parts=parts), st.integers(1, 3), st.just((1, "b")))
    return st.one_of(quotes, spans, whole, pages)


def judgments(documents: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    graded = st.dictionaries(documents, grades, min_size=1, max_size=5)
    bare = st.lists(documents, min_size=1, max_size=5, unique=True)
    return st.one_of(
        graded, bare, bare.map(set), st.lists(graded, min_size=1, max_size=3), st.lists(bare, min_size=1, max_size=3)
    )


items = st.builds(
    rm.Retrieved,
    st.one_of(st.none(), ids(str)),
    st.sampled_from(
        ["the quick brown fox jumps over", "jumps over the dog and", "the dog sleeps in the sun all day", ""]
    ),
    source=st.sampled_from(["s", "t"]),
    start=st.integers(0, 60),
    score=st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
    metadata=st.one_of(
        st.none(),
        st.dictionaries(names, st.one_of(st.integers(), st.text(), st.booleans(), st.lists(st.floats(0, 1)))),
        st.just({"page": 1, "parts": None}),
    ),
    tokens=st.one_of(st.none(), st.integers(0, 50)),
)


@st.composite
def inputs(draw: st.DrawFn) -> tuple[Any, Any]:
    """Judgments and a run whose ids are of one type each, with something in common."""
    queries = draw(st.lists(ids(draw(st.sampled_from([str, int]))), min_size=1, max_size=5, unique=True))
    if draw(st.booleans()):
        documents = ids(draw(st.sampled_from([str, int])))
        scores = st.dictionaries(documents, st.sampled_from([0.0, 0.1, 1 / 3, 2.0, 3, 1e300]), max_size=8)
        ranking = st.one_of(scores, st.lists(documents, max_size=8))
    else:
        documents, ranking = pieces(), st.lists(items, min_size=1, max_size=6)
    qrels = {query: draw(judgments(documents)) for query in queries}
    run = {query: draw(ranking) for query in queries if query == queries[0] or draw(st.booleans())}
    return qrels, run


def assert_same(one: rm.Evaluation, other: rm.Evaluation) -> None:
    assert one == other
    assert hash(one) == hash(other)
    assert one.metrics == other.metrics
    assert one.rules == other.rules
    assert one.counts == other.counts
    assert one.means == pytest.approx(other.means, abs=0, rel=0, nan_ok=True)
    assert str(one) == str(other)
    try:
        totals = one.totals()
    except ValueError:  # which cannot hold clusters
        return
    assert totals == other.totals()


def assert_same_queries(one: rm.Evaluation, other: rm.Evaluation) -> None:
    assert_same(one, other)
    assert one.queries == other.queries
    assert list(map(type, one.queries)) == list(map(type, other.queries))
    assert one.values.tobytes() == other.values.tobytes()
    for query in one.queries:
        assert str(one.explain(query)) == str(other.explain(query))
    assert str(one.worst(one.metrics[0])) == str(other.worst(one.metrics[0]))
    assert one.at_cutoffs("recall", [1, 2, 5]) == pytest.approx(
        other.at_cutoffs("recall", [1, 2, 5]), abs=0, rel=0, nan_ok=True
    )
    labels = {query: number % 2 for number, query in enumerate(one.queries)}
    assert str(one.group_by(labels)) == str(other.group_by(labels))


@quick
@given(
    inputs(), st.sampled_from(["docid", "input", "expected"]), st.sampled_from(["a.json", "a.json.gz", "a.json.zst"])
)
def test_an_evaluation(tmp_path: Any, given_: Any, ties: str, name: str) -> None:
    qrels, run = given_
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
    for number, whole in enumerate([rm.merge(halves), rm.merge(half.totals() for half in halves)]):
        whole.save(tmp_path / f"{number}.json")
        assert_same(whole, rm.load(tmp_path / f"{number}.json"))
    for number, half in enumerate(halves):
        half.save(tmp_path / f"half-{number}.json")
    loaded = rm.merge(rm.load(tmp_path / f"half-{number}.json") for number in range(2))
    assert_same(rm.merge(halves), loaded)


def test_means_over_several_runs_are_loaded_though_they_follow_from_no_single_ranking(tmp_path: Any) -> None:
    scores = rm.evaluate({"q": ["d"]}, {"q": ["x", "d"]}, "mrr").scores
    of_two = replace(scores.with_values(np.array([[0.75]])), origin=scores.require_origin("a mean")._replace(rounds=2))
    rm.Evaluation(of_two).save(tmp_path / "e.json")
    loaded: rm.Evaluation = rm.load(tmp_path / "e.json")
    assert (loaded.means["mrr"], loaded.scores.require_origin("a mean").rounds) == (0.75, 2)


def test_a_part_of_a_larger_set_keeps_the_largest_grade_of_the_whole(tmp_path: Any) -> None:
    part = rm.Qrels({"q1": {"a": 1}}).with_largest_grade(4)
    result = rm.evaluate(part, {"q1": ["a"]}, "err")
    result.save(tmp_path / "part.json")
    loaded = rm.load(tmp_path / "part.json")
    assert_same_queries(result, loaded)
    assert loaded.at_cutoffs("err", [1]) == {1: 1 / 16}  # (2^1 - 1) / 2^4


@quick
@given(inputs())
def test_a_comparison(tmp_path: Any, given_: Any) -> None:
    qrels, run = given_
    runs = {"a": run, "b": {query: list(ranking)[::-1] for query, ranking in run.items()}}
    try:
        comparison = rm.compare(qrels, runs, ["mrr", "recall@3"])
    except ValueError as error:
        assume("nothing can be decided on this data" not in str(error))
        raise
    comparison.save(tmp_path / "comparison.json")
    loaded = rm.load(tmp_path / "comparison.json")
    assert comparison == loaded
    assert str(comparison) == str(loaded)
    assert str(comparison.differences) == str(loaded.differences)
    assert comparison.to_pandas().equals(loaded.to_pandas())
    for ours, theirs in zip(comparison.differences, loaded.differences, strict=True):
        assert np.array_equal(ours.values, theirs.values)
        assert ours.paired == pytest.approx(theirs.paired) or str(ours.paired) == str(theirs.paired)
        assert list(ours.queries) == list(theirs.queries)
    for name in runs:
        assert_same_queries(comparison.evaluations[name], loaded.evaluations[name])


def test_a_comparison_differs_from_one_with_anything_else() -> None:
    qrels = {f"q{at}": ["d"] for at in range(8)}
    good, bad = (dict.fromkeys(qrels, ranking) for ranking in (["d"], ["x", "d"]))
    found = rm.compare(qrels, {"good": good, "bad": bad}, "mrr")
    assert found == rm.compare(qrels, {"good": good, "bad": bad}, "mrr")
    assert hash(found) == hash(rm.compare(qrels, {"good": good, "bad": bad}, "mrr"))
    others = [
        rm.compare(qrels, {"bad": bad, "good": good}, "mrr"),  # the pair is another
        rm.compare(qrels, {"good": good, "bad": {**bad, "q0": ["d"]}}, "mrr"),
        rm.compare(qrels, {"good": good, "bad": bad}, ["mrr", "map"]),
        rm.compare(qrels, {"good": good, "bad": bad}, "mrr", margin=0.1),
        rm.compare(qrels, {"good": good, "bad": bad}, "mrr", level=0.9),
        rm.compare(qrels, {"good": good, "bad": bad}, "mrr", unjudged="bounds"),
    ]
    assert found not in others
    assert found != str(found)


@quick
@given(inputs(), texts)
def test_an_evaluation_set(tmp_path: Any, given_: Any, text: str) -> None:
    qrels, run = given_
    made = rm.Provenance(source="a.md", date=dt.date(2026, 5, 31), labels={"n": 1, "share": 0.1, "checked": True})
    questions = rm.EvaluationSet(dict.fromkeys(qrels, text), qrels, {next(iter(qrels)): made})
    questions.save(tmp_path / "questions.json")
    loaded = rm.load(tmp_path / "questions.json")
    assert loaded.queries == questions.queries
    assert loaded.provenance == questions.provenance
    before, after = (rm.evaluate(each, run, ["ndcg", "map"]) for each in (questions, loaded))
    assert_same(before, after)
    assert before.values.tobytes() == after.values.tobytes()  # judgments in a set have no order in an explanation


@quick
@given(inputs())
def test_a_run(tmp_path: Any, given_: Any) -> None:
    _, run = given_
    rm.save_run(run, tmp_path / "run.json.gz")
    loaded = rm.load(tmp_path / "run.json.gz")
    assert loaded == run
    assert list(loaded) == list(run)
    assert [list(ranking) for ranking in loaded.values()] == [list(ranking) for ranking in run.values()]


def test_what_failed_and_how_long_it_took(tmp_path: Any) -> None:
    class ClientError(Exception):
        pass

    errors: dict[str | int, Exception] = {
        "q2": TimeoutError("too slow"),
        "q3": ClientError("no key"),
        "q4": KeyError("x"),
        "q5": OSError(5, "broken"),
    }
    run = rm.RetrievedRun({"q1": ["a"], **{query: [] for query in errors}}, errors, {"q1": 0.1})
    rm.save_run(run, tmp_path / "run.json")
    loaded = rm.load(tmp_path / "run.json")
    assert isinstance(loaded, rm.RetrievedRun)
    assert (loaded, loaded.seconds) == (run, run.seconds)
    assert [repr(error) for error in loaded.errors.values()] == [
        "TimeoutError('too slow')",
        "RuntimeError('ClientError: no key')",
        "KeyError('x')",
        "OSError('[Errno 5] broken')",
    ]


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
    with pytest.raises(ValueError, match="holds only values"):
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
    ("labels", "said"),
    [
        (["small"], r"labels must map names to text or numbers, got \['small'\]"),
        ({"model": None}, "a label must have a str as its name, and text or a number as its value, got 'model': None"),
        ({3: "small"}, "a label must have a str as its name, .* got 3: 'small'"),
    ],
)
def test_labels_are_text_or_numbers_by_name(tmp_path: Any, labels: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        rm.evaluate({"q": ["a"]}, {"q": ["a"]}, "mrr").save(tmp_path / "result.json", labels=labels)
    assert not list(tmp_path.iterdir())


def test_a_journal_of_another_kind_is_named(tmp_path: Any) -> None:
    path = tmp_path / "replies.jsonl"
    AppendLog(path, "replies of models").append({"asked": "a", "model": None, "reply": "b"})
    with pytest.raises(ValueError, match=r"replies.jsonl is of kind 'replies of models', which load does not read"):
        rm.load(path)
    AppendLog(path.with_name("history.jsonl"), "history").append({"label": "monday"})
    with pytest.raises(ValueError, match=r"history.jsonl is a history; rm.History\(path\) reads it"):
        rm.load(path.with_name("history.jsonl"))


def test_labels_come_back_and_are_kept(tmp_path: Any) -> None:
    result = rm.evaluate({"q": ["a"]}, {"q": ["a"]}, "mrr")
    result.save(tmp_path / "a.json", labels={"commit": "4f2a91c", "size": 400})
    loaded = rm.load(tmp_path / "a.json")
    loaded.save(tmp_path / "b.json")
    assert rm.load(tmp_path / "b.json").labels == {"commit": "4f2a91c", "size": 400}


WRONG: dict[str, Any] = {
    "a date": dt.date(2026, 5, 31),
    "a tuple": (1, 2),
    "a whole number as a key": {1: 2},
    "an object": object(),
    "not a number": float("nan"),
}


@pytest.mark.parametrize("value", WRONG.values(), ids=WRONG.keys())
def test_metadata_that_json_cannot_hold_is_refused_before_anything_is_written(tmp_path: Any, value: Any) -> None:
    path = tmp_path / "result.json"
    path.write_text("what was there")
    run = {"q": [rm.Retrieved("a", metadata={"when": value})]}
    with pytest.raises(ValueError, match=r"metadata of item 'a' of query 'q' is .* which JSON cannot hold"):
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


def test_saving_a_set_looks_up_no_query_in_a_list(tmp_path: Path) -> None:
    class Unsearchable(list[Any]):
        def index(self, *_: Any) -> int:
            raise AssertionError("one search of all queries for each query")

    qrels = rm.Qrels({f"q{at}": [["a", "b"], [f"d{at}"]] for at in range(5)})
    qrels.queries = Unsearchable(qrels.queries)
    judged: Any = qrels  # as `read_qrels` returns it
    made = rm.EvaluationSet({f"q{at}": "why?" for at in range(5)}, judged)
    made.save(tmp_path / "set.json")
    assert rm.load(tmp_path / "set.json").qrels == qrels.as_dict()


@pytest.mark.parametrize(
    "relevant",
    [
        ["d", "e"],
        {"d": 2, "e": 0},
        [["a", "b"], ["c"]],
        [{"a": 2, "b": 1}, {"c": 3}],
        [rm.Quote("the duty officer opens the vault")],
        [[rm.Quote("the duty officer opens the vault"), rm.Span("a.md", 0, 9)], [rm.Span("b.md", 3, 30)]],
        [{rm.Quote("the duty officer opens the vault"): 2, rm.Span("a.md", 0, 9): 1}],
        {rm.Metadata(page=3): 0.5},
    ],
)
def test_a_loaded_set_is_equal_to_the_saved_one(relevant: Any, tmp_path: Path) -> None:
    questions = rm.EvaluationSet({"q": "who opens it?"}, {"q": relevant})
    questions.save(tmp_path / "questions.json")
    assert rm.load(tmp_path / "questions.json") == questions


QRELS: dict[str, Any] = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
RUN = {"q1": ["a", "b"], "q2": ["c"]}


def scores(questions: Any) -> Any:
    return rm.evaluate(questions, RUN, "ndcg").scores


def asked(text: str = "where?", **provenance: Any) -> rm.EvaluationSet:
    origin: dict[str | int, rm.Provenance] = {"q1": rm.Provenance(**provenance)} if provenance else {}
    return rm.EvaluationSet({"q1": text, "q2": "when?"}, QRELS, origin)


def test_equal_judgments_read_twice_are_the_same() -> None:
    assert same_questions(scores(QRELS), scores({query: dict(held) for query, held in QRELS.items()}))
    assert same_questions(scores(asked()), scores(asked()))


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
    assert not same_questions(scores(QRELS), scores(other))
    assert not same_questions(scores(other), scores(QRELS))


def test_parts_of_sets_with_other_largest_grades_are_not() -> None:
    qrels = rm.Qrels(QRELS)
    assert not same_questions(scores(qrels), scores(qrels.with_largest_grade(5)))


@pytest.mark.parametrize("other", [asked("why?"), asked(source="a.md")], ids=["text", "provenance"])
def test_nor_are_questions_that_differ_in_what_came_with_them(other: rm.EvaluationSet) -> None:
    assert not same_questions(scores(asked()), scores(other))


def test_values_without_their_rankings_share_nothing() -> None:
    of_elsewhere = dataclasses.replace(scores(QRELS), origin=None)
    assert not same_questions(of_elsewhere, scores(QRELS))
    assert not same_questions(scores(QRELS), of_elsewhere)
