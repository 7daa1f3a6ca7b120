"""Judgments and runs of every form, as what is saved is made of, and what must be the same after loading."""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

import retrieval_metrics as rm

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
