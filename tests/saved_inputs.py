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
        else st.sampled_from([f"d{number}" for number in range(10)] + ["é", "x y", "type"])
    )


def pieces() -> st.SearchStrategy[Any]:
    quotes = st.builds(rm.Quote, st.sampled_from(["the quick brown fox", "jumps over the dog", "nowhere to be found"]))
    spans = st.builds(lambda start, size: rm.Span("s", start, start + size), st.integers(0, 40), st.integers(1, 30))
    texts_as_pieces = st.builds(
        rm.Text, st.sampled_from(["the quick brown fox jumps over", "the dog sleeps in the sun all day"])
    )
    pages = st.builds(lambda page, parts: rm.Metadata(page=page, parts=parts), st.integers(1, 3), st.just((1, "b")))
    return st.one_of(quotes, spans, texts_as_pieces, pages)


def judgments(documents: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    graded = st.dictionaries(documents, grades, min_size=1, max_size=5)
    bare = st.lists(documents, min_size=1, max_size=5, unique=True)
    # Groups are sets: two whole numbers in a list read as a document and its grade, which is an error.
    groups = st.lists(bare.map(set), min_size=1, max_size=3)
    return st.one_of(graded, bare, bare.map(set), st.lists(graded, min_size=1, max_size=3), groups)


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
        documents = pieces()
        ranking = st.lists(items, min_size=1, max_size=6)
    qrels = {query: draw(judgments(documents)) for query in queries}
    run = {query: draw(ranking) for query in queries if query == queries[0] or draw(st.booleans())}
    return qrels, run


def assert_same(result: rm.Evaluation, loaded: rm.Evaluation) -> None:
    assert result == loaded
    assert hash(result) == hash(loaded)
    assert result.metrics == loaded.metrics
    assert result.rules == loaded.rules
    assert result.counts == loaded.counts
    assert result.means == pytest.approx(loaded.means, abs=0, rel=0, nan_ok=True)
    assert str(result) == str(loaded)
    try:
        totals = result.totals()
    except ValueError:  # which cannot hold clusters
        return
    assert totals == loaded.totals()


def assert_same_queries(result: rm.Evaluation, loaded: rm.Evaluation) -> None:
    assert_same(result, loaded)
    assert result.queries == loaded.queries
    assert list(map(type, result.queries)) == list(map(type, loaded.queries))
    assert result.values.tobytes() == loaded.values.tobytes()
    for query in result.queries:
        assert str(result.explain(query)) == str(loaded.explain(query))
    assert str(result.worst(result.metrics[0])) == str(loaded.worst(result.metrics[0]))
    assert result.at_cutoffs("recall", [1, 2, 5]) == pytest.approx(
        loaded.at_cutoffs("recall", [1, 2, 5]), abs=0, rel=0, nan_ok=True
    )
    labels = {query: number % 2 for number, query in enumerate(result.queries)}
    assert str(result.group_by(labels)) == str(loaded.group_by(labels))
