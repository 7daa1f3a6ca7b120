"""Fusion: by its formulas, exact, and the same for every order of the runs."""

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm

DOCUMENTS = st.sampled_from("abcdefgh")
SCORED = st.dictionaries(DOCUMENTS, st.floats(-5, 5).map(lambda x: round(x, 2)), min_size=1, max_size=6)
RUNS = st.lists(st.dictionaries(st.sampled_from(["q1", "q2"]), SCORED, min_size=1), min_size=2, max_size=3)


def in_order(scores: dict[str, float]) -> list[str]:
    return sorted(sorted(scores, reverse=True), key=lambda document: -scores[document])


@settings(max_examples=100, deadline=None)
@given(RUNS, st.sampled_from([0, 1, 10, 60]))
def test_reciprocal_rank_fusion_is_its_formula(runs: list[dict[str, dict[str, float]]], k: int) -> None:
    named = {f"r{index}": run for index, run in enumerate(runs)}
    fused = rm.fuse(named, k=k)
    for query in {query for run in runs for query in run}:
        expected: dict[str, Fraction] = {}
        for run in runs:
            for rank, document in enumerate(in_order(run.get(query, {})), start=1):
                expected[document] = expected.get(document, Fraction(0)) + Fraction(1 / (k + rank))
        assert fused[query] == {document: float(score) for document, score in expected.items()}
        assert list(fused[query]) == in_order(fused[query])


@settings(max_examples=100, deadline=None)
@given(RUNS, st.sampled_from(["rrf", "scores"]), st.sampled_from(["minmax", "zscore", None]))
def test_the_order_of_the_runs_does_not_matter(
    runs: list[dict[str, dict[str, float]]], method: str, norm: str | None
) -> None:
    named = [(f"r{index}", run) for index, run in enumerate(runs)]
    weights = {name: 0.3 + 0.2 * index for index, (name, _) in enumerate(named)}
    fused_runs = [rm.fuse(dict(order), method, norm=norm, weights=weights) for order in itertools.permutations(named)]
    for other in fused_runs[1:]:
        assert other == fused_runs[0]
        assert {query: list(scores) for query, scores in other.items()} == {
            query: list(scores) for query, scores in fused_runs[0].items()
        }


def test_scores_are_normed_with_the_lowest_at_0_and_a_constant_list_at_1() -> None:
    runs = {"a": {"q": {"x": 10.0, "y": 5.0, "z": 0.0}}, "b": {"q": {"x": 2.0, "w": 2.0}}}
    assert rm.fuse(runs, "scores")["q"] == {"x": 2.0, "w": 1.0, "y": 0.5, "z": 0.0}
    assert rm.fuse(runs, "scores", norm=None)["q"] == {"x": 12.0, "y": 5.0, "w": 2.0, "z": 0.0}
    deviation = (50 / 3) ** 0.5
    assert rm.fuse(runs, "scores", norm="zscore")["q"] == pytest.approx(
        {"x": 10 / deviation + 1, "y": 5 / deviation, "w": 1, "z": 0}
    )
    assert rm.fuse(runs, "scores", weights=[0.5, 0])["q"] == {"x": 0.5, "y": 0.25, "z": 0.0}


def test_reciprocal_ranks_have_the_weights_of_their_runs() -> None:
    runs = {"a": {"q": ["x", "y", "x"]}, "b": {"q": ["y", "z"]}, "c": {"q": ["z"]}}
    weights = {"a": 2, "b": 0.5, "c": 0}
    assert rm.fuse(runs, k=0, weights=weights)["q"] == {"x": 2 / 1, "y": 2 / 2 + 0.5 / 1, "z": 0.5 / 2}
    assert rm.fuse(runs, k=3, weights=weights)["q"] == {"x": 2 / 4, "y": 2 / 5 + 0.5 / 4, "z": 0.5 / 5}


@settings(max_examples=100, deadline=None)
@given(RUNS, st.sampled_from(["rrf", "scores"]), st.sampled_from(["minmax", "zscore", None]))
def test_a_run_with_weight_0_is_left_out(
    runs: list[dict[str, dict[str, float]]], method: str, norm: str | None
) -> None:
    named = {f"r{index}": run for index, run in enumerate(runs)}
    others = {name: run for name, run in named.items() if name != "r1"}
    weights = {name: 0.3 + 0.2 * index for index, name in enumerate(others)}
    with_weight_0 = rm.fuse(named, method, norm=norm, weights={**weights, "r1": 0})
    without = rm.fuse(others, method, norm=norm, weights=weights)
    assert with_weight_0 == without
    assert [list(scores) for scores in with_weight_0.values()] == [list(scores) for scores in without.values()]


@pytest.mark.parametrize("method", ["rrf", "scores"])
def test_items_of_a_run_with_weight_0_are_left_out_but_checked(method: str) -> None:
    dense: Any = {"q": [rm.Retrieved("d1", score=0.5)]}
    web: Any = {"q": [rm.Retrieved("d1", "text", score=0.5), rm.Retrieved("d2", score=0.1)], "only here": []}
    (item,) = rm.fuse({"dense": dense, "web": web}, method, weights=[1, 0])["q"]
    assert (item.id, item.text, item.copies) == ("d1", None, ())
    assert list(rm.fuse({"dense": dense, "web": web}, method, weights=[1, 0])) == ["q"]
    with pytest.raises(TypeError, match="document IDs of 'dense' are str and those of 'web' are int"):
        rm.fuse({"dense": dense, "web": {"q": {1: 0.5}}}, method, weights=[1, 0])


def test_of_a_repeated_document_the_first_score_counts() -> None:
    items = [rm.Retrieved(name, score=score) for name, score in (("a", 4.0), ("b", 2.0), ("a", 0.0), ("c", 1.0))]
    fused = rm.fuse({"dense": {"q": items}}, "scores")["q"]
    assert [(item.id, item.score) for item in fused] == [("a", 1), ("b", 1 / 3), ("c", 0)]  # (s - 1) / (4 - 1)


def test_texts_and_places_are_kept_and_a_repeat_counts_once() -> None:
    piece = rm.Retrieved("a", "text of a", source="page", start=3, score=0.9)
    fused = rm.fuse(
        {"dense": {"q": [piece, piece, rm.Retrieved("b", "text of b")]}, "bm25": {"q": {"b": 7.0, "c": 1.0}}}
    )
    assert [(item.id, item.text, item.start) for item in fused["q"]] == [
        ("b", "text of b", None),
        ("a", "text of a", 3),
        ("c", None, None),
    ]
    assert fused["q"][1].score == 1 / 61
    assert fused["q"][0].score == pytest.approx(1 / 63 + 1 / 61)
    assert rm.evaluate({"q": ["a"]}, fused, "mrr").means["mrr"] == 0.5
    by_score = {"dense": {"q": [piece, rm.Retrieved("b", score=0.1)]}}
    assert [item.score for item in rm.fuse(by_score, "scores")["q"]] == [1, 0]


def test_a_query_that_a_run_lacks_is_fused_from_the_others() -> None:
    fused = rm.fuse({"a": {"q1": ["x"]}, "b": {"q1": ["x"], "q2": ["y"]}})
    assert fused == {"q1": {"x": 2 / 61}, "q2": {"y": 1 / 61}}


@pytest.mark.parametrize(
    ("runs", "options", "error", "message"),
    [
        ({"q": ["a"]}, {}, TypeError, "must map the name of each retriever to its run"),
        ([{"q": ["a"]}], {}, TypeError, "must map the name of each retriever to its run"),
        ({}, {}, ValueError, "there is no run to fuse"),
        ({"a": {"q": ["x"]}}, {"method": "borda"}, ValueError, "method must be one of 'rrf', 'scores', got 'borda'"),
        ({"a": {"q": {"x": 1}}}, {"norm": "max"}, ValueError, "norm must be one of 'minmax', 'zscore', None"),
        ({"a": {"q": ["x"]}}, {"k": -1}, ValueError, "k must be a number of at least 0, got -1"),
        ({"a": {"q": ["x"]}}, {"k": "60"}, TypeError, "k must be a number of at least 0, got '60'"),
        ({"a": {"q": ["x"]}}, {"k": True}, TypeError, "k must be a number of at least 0, got True"),
        ({"a": {"q": ["x"]}}, {"weights": "1"}, TypeError, "the weight of 'a' must be a number of at least 0, got '1'"),
        ({"a": {"q": ["x"]}}, {"weights": [1, 2]}, ValueError, "one weight per run; got 2 for 1 runs"),
        ({"a": {"q": ["x"]}}, {"weights": {"b": 1}}, ValueError, "weights are of 'b', but the runs are 'a'"),
        (
            {"a": {"q": ["x"]}},
            {"weights": [-1]},
            ValueError,
            "the weight of 'a' must be a number of at least 0, got -1",
        ),
        (
            {"a": {"q": ["x"]}},
            {"weights": [0]},
            ValueError,
            "all weights are 0, of 'a': .* at least one weight must be",
        ),
        ({"a": {"q": ["x"]}}, {"method": "scores"}, ValueError, "'a' has no score for document 'x' of query 'q'"),
        ({"a": {"q": {"x": float("nan")}}}, {}, ValueError, "document 'x' for query 'q' in 'a' is nan"),
        ({"a": {"q": ["x"]}, "b": {"q": [1]}}, {}, TypeError, "document IDs of 'a' are str and those of 'b' are int"),
        (
            {"a": {"q": ["x"]}, "none": {"q": []}, "b": {"q": [1]}},
            {},
            TypeError,
            "document IDs of 'a' are str and those of 'b' are int",
        ),
        (
            {"none": {"q": []}, "a": {"q": [1]}, "b": {"q": ["x"]}},
            {},
            TypeError,
            "document IDs of 'a' are int and those of 'b' are str",
        ),
    ],
)
def test_what_cannot_be_fused_is_refused(runs: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.fuse(runs, **options)


LONG = "The refund takes five days. Ask the desk."
WITH_TEXT: Any = {"q": [rm.Retrieved("d1", LONG, source="a.md", start=10, metadata={"page": 3})]}
SHORT: Any = {"q": [rm.Retrieved("d1", "Refunds", metadata={"page": 4})]}
BARE: Any = {"q": ["d1", "d2"]}
FIRST_COPY = [
    ({"dense": WITH_TEXT, "web": SHORT}, None, LONG),
    ({"dense": WITH_TEXT, "web": SHORT}, {"dense": 0, "web": 1}, "Refunds"),
    ({"dense": {"q": [rm.Retrieved("d0"), *WITH_TEXT["q"]]}, "web": SHORT}, None, "Refunds"),
    ({"dense": {"q": [rm.Retrieved("d1", "abc")]}, "web": {"q": [rm.Retrieved("d1", "abd")]}}, None, "abc"),
    ({"dense": {"q": [rm.Retrieved("d1", "Intro."), *WITH_TEXT["q"]]}}, None, "Intro."),
    ({"dense": BARE, "web": SHORT}, None, "Refunds"),
]


@pytest.mark.parametrize(("runs", "weights", "text"), FIRST_COPY)
def test_no_order_of_the_runs_changes_which_copy_is_returned(runs: Any, weights: Any, text: str) -> None:
    fused_runs = [rm.fuse(dict(order), weights=weights)["q"] for order in itertools.permutations(runs.items())]
    for items in fused_runs:
        (item,) = [item for item in items if item.id == "d1"]
        assert item.text == text
        assert items == fused_runs[0]
        assert [list(item.copies) for item in items] == [list(item.copies) for item in fused_runs[0]]


JUDGED: list[Any] = [
    rm.Quote("takes five days"),
    rm.Text("The refund takes five days."),
    rm.Span("a.md", 10, 20),
    rm.Metadata(page=3),
    rm.Metadata(page=4),
    "d1",
]


@pytest.mark.parametrize("piece", JUDGED)
@pytest.mark.parametrize("second", [SHORT, {"q": [*SHORT["q"], *WITH_TEXT["q"]]}, {"q": ["d1"]}])
def test_all_copies_are_evidence(piece: Any, second: Any) -> None:
    runs: Any = {"dense": WITH_TEXT, "web": SHORT, "second": second}
    for order in itertools.permutations(runs.items()):
        fused = rm.fuse(dict(order), weights=dict.fromkeys(runs, 1.0))
        result = rm.evaluate({"q": [piece]}, fused, ["recall@1", "precision@1"])
        assert result.means == {"recall@1": 1.0, "precision@1": 1.0}
    again = rm.fuse({"fused": rm.fuse(runs), "other": SHORT})
    assert rm.evaluate({"q": [piece]}, again, "recall@1").means["recall@1"] == 1.0


def test_what_lacks_a_property_lacks_it_in_every_copy() -> None:
    runs: Any = {"dense": WITH_TEXT, "web": {"q": [rm.Retrieved("d1", LONG)]}}
    qrels: Any = {"q": {~rm.Metadata(page=3): 1, "d1": 1}}
    assert rm.evaluate(qrels, rm.fuse(runs), "recall").means["recall"] == 0.5


def test_copies_are_saved_and_loaded(tmp_path: Path) -> None:
    fused = rm.fuse({"dense": WITH_TEXT, "web": SHORT}, weights=[0.1, 0.9])
    for name in ("fused.json", "fused.jsonl", "fused.parquet"):
        rm.write_run(fused, tmp_path / name)
        run = rm.read_run(tmp_path / name)
        assert rm.evaluate({"q": [rm.Quote("takes five days")]}, run, "recall").means["recall"] == 1.0
    evaluation = rm.evaluate({"q": [rm.Quote("takes five days")]}, fused, "recall")
    evaluation.save(tmp_path / "evaluation.json")
    assert rm.load(tmp_path / "evaluation.json").means == evaluation.means


def test_items_without_ids_are_fused_by_what_they_have() -> None:
    bm25: Any = {"q": [rm.Retrieved(None, "one", source="a.md"), rm.Retrieved(None, "two", source="b.md")]}
    qdrant: Any = {"q": [rm.Retrieved("7", "two", source="b.md"), rm.Retrieved("8", "three", source="b.md")]}
    by_source = rm.fuse({"bm25": bm25, "qdrant": qdrant}, match="source")["q"]
    assert [(item.source, item.score) for item in by_source] == [("b.md", 1 / 61 + 1 / 62), ("a.md", 1 / 61)]
    by_text = rm.fuse({"bm25": bm25, "qdrant": qdrant}, match=lambda item: item.text)["q"]
    assert [item.text for item in by_text] == ["two", "one", "three"]
    assert rm.evaluate({"q": ["b.md"]}, {"q": by_source}, "mrr", match="source").means["mrr"] == 1.0
    with pytest.raises(ValueError, match=r"an item of 'bm25' for query 'q' has no ID, .* match='source'"):
        rm.fuse({"bm25": bm25, "qdrant": qdrant})
    with pytest.raises(ValueError, match=r"an item of 'bm25' for query 'q' has no value for match='metadata:page'"):
        rm.fuse({"bm25": bm25, "qdrant": qdrant}, match="metadata:page")
    with pytest.raises(TypeError, match=r"'other' for query 'q' holds only IDs, such as 'd1', but match= needs more"):
        rm.fuse({"bm25": bm25, "other": BARE}, match="source")
    with pytest.raises(TypeError, match="is the bare string 'abc'"):
        rm.fuse({"bm25": {"q": "abc"}})
