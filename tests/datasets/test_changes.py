"""What changed between two runs, without judgments."""

from collections.abc import Callable
from pathlib import Path

import pytest

import retrieval_metrics as rm

BEFORE = {"q1": ["a", "b", "c"], "q2": ["d", "e", "f"], "q3": ["g"]}
AFTER = {"q1": ["a", "b", "x"], "q2": ["e", "d", "f"], "q3": ["g"]}
TEXTS = {"q1": "first?", "q2": "second?", "q3": "third?"}


def test_the_numbers_and_what_is_said_of_them() -> None:
    changes = rm.changes(BEFORE, AFTER, ["overlap@3", "rbo", "precision@3"])
    assert changes.per_query["overlap@3"] == {"q1": 2 / 3, "q2": 1.0, "q3": 1.0}
    assert changes.per_query["max_loss(precision@3)"] == {"q1": 1 / 3, "q2": 0.0, "q3": 0.0}
    assert changes.moved(metric="overlap@3") == [("q1", 2 / 3)]
    assert str(changes.moved(metric="overlap@3")) == "query  overlap@3\nq1         0.667"
    assert [query for query, _ in changes.moved(5)] == ["q1", "q2"]  # by rbo, which goes on as a ranking ends
    text = str(changes)
    assert "identical top 3 in 1 of 3 queries; lowest rbo: q1" in text
    assert (
        "2 documents (counted per query) entered or left the top 3: their grades determine the change in precision@3; "
        ".pool(questions) collects them" in text
    )


def test_what_is_too_wide_says_so() -> None:
    with pytest.warns(rm.RetrievalWarning, match="no document is in both runs"):
        apart = rm.changes({"q": ["a", "b"]}, {"q": ["x", "y"]}, "ndcg@2")
    assert apart.means == {"max_loss(ndcg@2)": 1.0, "max_gain(ndcg@2)": 1.0}
    assert "max_loss(ndcg@2) and max_gain(ndcg@2) are too large" in str(apart)


def test_grades_of_what_entered_or_left_settle_precision(tmp_path: Path) -> None:
    changes = rm.changes(BEFORE, AFTER, "precision@3")
    pool = changes.pool(TEXTS, {one: one for one in "abcdefgx"})
    assert [(item.query, item.document, item.why) for item in pool] == [
        ("q1", "c", "before: rank 3"),
        ("q1", "x", "after: rank 3"),
    ]
    grades = {"q1": {"x": 1, "c": 0, "a": 1}, "q2": {"d": 1}, "q3": {"g": 1}}
    only = {"q1": {"x": 1, "c": 0}}

    def difference(qrels: dict[str, dict[str, int]]) -> float:
        values = [rm.evaluate(qrels, run, "precision@3").per_query["precision@3"] for run in (BEFORE, AFTER)]
        return sum(values[1].values()) - sum(values[0].values())

    assert difference(grades) == pytest.approx(difference(only))
    assert pool.top(1, "effect").items[0].effect == pytest.approx(0.5 / 3)  # 1 / log2(4), of three queries
    with pytest.warns(rm.RetrievalWarning, match=r"1 of the . queries that changed have no text .*'q1'"):
        assert len(changes.pool({query: text for query, text in TEXTS.items() if query != "q1"})) == 0
    changes.save(tmp_path / "changes.json")
    assert rm.load(tmp_path / "changes.json") == changes


def test_each_document_has_two_ranks() -> None:
    explained = rm.changes(BEFORE, AFTER, "overlap@3").explain("q1", queries=TEXTS, corpus={"x": "a new text"})
    assert str(explained).splitlines() == [
        "q1: first?",
        "document  before  after  text",
        "a              1      1",
        "b              2      2",
        "x              -      3  a new text",
        "c              3      -",
    ]
    with pytest.raises(KeyError, match="'q9' was not compared"):
        rm.changes(BEFORE, AFTER).explain("q9")


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_what_cannot_be_known_is_said() -> None:
    scored = {query: dict.fromkeys(ranking, 1.0) for query, ranking in BEFORE.items()}
    text = str(rm.changes(scored, {"q1": {"a": 2.0}, "q9": {"z": 1.0}}, ["overlap@3", "rbo"]))
    assert (
        "2 rankings end exactly at rank 3 (e.g. 'q1'), so ties at rank 3 are invisible; keep more than 3 results"
        in text
    )
    assert "2 queries missing from the run 'after' (e.g. 'q2'), treated as having no results" in text
    assert "1 query only in the run 'after', excluded" in text
    assert "of its weight lies beyond the last rank and is extrapolated" in text


def test_a_cut_tie_is_seen_if_the_ranking_goes_on() -> None:
    tied = {"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 2.0}}
    again = {"q": {"a": 3.0, "d": 2.0, "c": 2.0, "b": 2.0}}
    assert rm.changes(tied, again, "overlap@2").means["overlap@2"] == 1.0
    assert "end exactly at rank" not in str(rm.changes(tied, again, "overlap@2"))


def test_items_meet_by_what_match_says() -> None:
    before = {"q": [rm.Retrieved("1", source="a.md"), rm.Retrieved("2", source="b.md")]}
    after = {"q": [rm.Retrieved("8", source="a.md"), rm.Retrieved("9", source="b.md")]}
    with pytest.warns(rm.RetrievalWarning, match="match='source'"):
        assert rm.changes(before, after, "overlap@2").means["overlap@2"] == 0.0
    assert rm.changes(before, after, "overlap@2", match="source").means["overlap@2"] == 1.0


def test_distances_are_warned_of_on_either_side() -> None:
    scores = {f"q{number}": {"a": 0.9, "b": 0.8, "c": 0.7} for number in range(20)}
    distances = {query: {"a": 0.1, "b": 0.2, "c": 0.3} for query in scores}
    with pytest.warns(rm.RetrievalWarning, match=r"^after: scores increase from .* pass \{id: -distance\}"):
        rm.changes(scores, distances, "overlap@1")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rm.changes({}, AFTER), ValueError, "before holds no query"),
        (lambda: rm.changes(BEFORE, AFTER, "rbo@5"), ValueError, "must be written overlap@10, or rbo"),
        (lambda: rm.changes(BEFORE, ["a"]), TypeError, "after must map query IDs to rankings"),  # type: ignore[arg-type]
        (lambda: rm.changes(BEFORE, {"z": ["a"]}), ValueError, "no query is in both runs"),
        (lambda: rm.changes(BEFORE, AFTER, []), ValueError, "at least one metric"),
        (lambda: rm.changes(BEFORE, AFTER, "map"), ValueError, "change in map cannot be bounded"),
        (lambda: rm.changes(BEFORE, AFTER, tolerance=-1), ValueError, "tolerance must be 0 or more"),
        (lambda: rm.changes({1: ["a"]}, AFTER), TypeError, "query IDs before are int"),
        (lambda: rm.changes({"q": {"a": float("nan")}}, {"q": ["a"]}), ValueError, "scores must be finite"),
        (lambda: rm.changes({"q": "abc"}, {"q": ["a"]}), TypeError, "q"),
    ],
)
def test_what_cannot_be_right_is_refused(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_it_is_compared_and_sliced_as_an_evaluation() -> None:
    queries = [f"q{number}" for number in range(12)]
    before = {query: ["a", "b", "c", "d"] for query in queries}
    good, bad = ({query: ["a", "b", *rest] for query in queries} for rest in (["c", "x"], ["y", "x"]))
    first, other = (rm.changes(before, after, "overlap@4", clusters=None) for after in (good, bad))
    (conclusion,) = rm.compare({"bad": other, "good": first}, baseline="bad").conclusions
    assert conclusion.kind == "better"
    assert conclusion.difference == pytest.approx(0.25)
    assert first.group_by(lambda query: int(query[1:]) % 2)[0].means == {"overlap@4": 0.75}


def test_eight_times_the_queries_are_read_once_each() -> None:
    """Each ranking is read a fixed number of times, so the work grows with the queries."""
    reads: list[str] = []

    class Counting(dict[str, list[str]]):
        def get(self, key: str, default: object = None) -> object:  # type: ignore[override]
            reads.append(key)
            return super().get(key, default)

    before = Counting({f"q{number}": ["a", "b"] for number in range(50)})
    rm.changes(before, Counting(before), "overlap@2")
    assert len(reads) == 2 * 50
