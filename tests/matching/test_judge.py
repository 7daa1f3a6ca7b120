"""Each kind of rankings is joined with the kinds of judgments that it can satisfy, and others are refused."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from generated import cutoffs, rankings, truths
from retrieval_metrics import Quote, Retrieved, Span, Text

METRICS = ("hit_rate", "full_recall", "recall", "precision", "mrr", "map", "ndcg", "rbp", "judged")


FACT = "The with statement wraps the execution of a block."


def item(number: int, text: str | None = None, **values: Any) -> Retrieved:
    return Retrieved(f"c{number}", text, **values)


def means(judgments: Any, ranking: Any, metrics: Any = METRICS, **options: Any) -> dict[str, float]:
    return dict(rm.evaluate({"q": judgments}, {"q": ranking}, metrics, **options).means)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class TestIds:
    @given(judgments=truths, ranking=rankings, k=cutoffs)
    def test_items_matched_by_id_score_like_their_ids_to_the_last_bit(
        self, judgments: list[dict[str, float]], ranking: list[str], k: int | None
    ) -> None:
        metrics = [rm.Metric(name, k) for name in METRICS]
        items = [Retrieved(document, "any text") for document in ranking]
        expected = rm.evaluate({"q": judgments}, {"q": ranking, "r": []}, metrics)
        result = rm.evaluate({"q": judgments}, {"q": items, "r": []}, metrics)
        assert repr(result.means) == repr(expected.means)
        assert result.counts == expected.counts

    @given(ranking=rankings, seed=st.integers(0, 9))
    def test_matching_by_source_by_metadata_and_by_a_callable_is_matching_by_that_id(
        self, ranking: list[str], seed: int
    ) -> None:
        judgments = random.Random(seed).sample([f"d{number}" for number in range(12)], 4)
        items = [
            Retrieved(f"chunk{index}", source=document, metadata={"file": document})
            for index, document in enumerate(ranking)
        ]
        expected = means(judgments, ranking)
        for match in ("source", "metadata:file", "metadata:source", lambda item: item.source):
            assert repr(means(judgments, items, match=match)) == repr(expected)

    def test_scores_of_items_do_not_reorder_them(self) -> None:
        assert means(["a"], [Retrieved("a", score=0.1), Retrieved("b", score=9)], "mrr") == {"mrr": 1}


class TestWhatIsRefused:
    def test_judged_pieces_with_rankings_of_ids(self) -> None:
        with pytest.raises(TypeError, match="the ranking of query 'q' holds 'd1', but "):
            means([Quote(FACT)], ["d1"])
        with pytest.raises(TypeError, match="the ranking of query 'q' maps IDs to scores"):
            means([Quote(FACT)], {"d1": 2.0})

    def test_rankings_of_ids_matched_by_source(self) -> None:
        with pytest.raises(TypeError, match="holds 'd1'"):
            means(["a.md"], ["d1"], match="source")

    def test_items_among_ids(self) -> None:
        with pytest.raises(TypeError, match="document IDs in the run must be str or int, got Retrieved"):
            means(["d1"], ["d1", Retrieved("d2")])
        with pytest.raises(TypeError, match="holds 'd1', but"):
            means(["d1"], [Retrieved("d2"), "d1"])

    def test_an_unknown_word_for_match(self) -> None:
        with pytest.raises(
            ValueError,
            match="match must be 'id', 'source', 'filename', 'metadata:<name>' or a callable, got 'page'; if that is a "
            "key of the metadata, write match='metadata:page'",
        ):
            means(["d1"], [Retrieved("d1")], match="page")
        with pytest.raises(
            ValueError, match=r"got 'text'; for the whole text, pass lambda item: item\.text; a judged Quote"
        ):
            means(["d1"], [Retrieved("d1")], match="text")

        wrong: Any = ["page"]
        with pytest.raises(ValueError, match=r"got \['page'\]"):
            means(["d1"], [Retrieved("d1")], match=wrong)

    def test_a_key_that_no_item_has(self) -> None:
        with pytest.raises(ValueError, match="no retrieved item has a value for match='metadata:page'; the first is"):
            means(["d1"], [Retrieved("d1")], match="metadata:page")

    def test_items_without_ids_matched_by_id(self) -> None:
        with pytest.raises(ValueError, match="an item in the ranking of query 'q' has no ID; match by 'source'"):
            means(["d1"], [Retrieved("d1"), Retrieved(None, FACT)])

    def test_ids_of_another_type(self) -> None:
        with pytest.raises(TypeError, match="are int and those in the run are str"):
            means([3], [Retrieved("x", metadata={"page": "3"})], match="metadata:page")
        with pytest.raises(TypeError, match="are int and those in the run are str"):
            means([3, Quote(FACT)], [Retrieved("x", FACT)])

    def test_a_bare_piece_for_a_list_of_pieces(self) -> None:
        with pytest.raises(TypeError, match=r"are the bare Quote Quote.*write a list"):
            means(Quote(FACT), [item(1, FACT)])

    @pytest.mark.parametrize(
        ("option", "value", "error", "message"),
        [
            ("min_coverage", 0, ValueError, "min_coverage must be above 0 and at most 1, got 0"),
            ("min_overlap", "half", TypeError, "min_overlap must be a number above 0 and at most 1, got 'half'"),
            ("min_quote_length", 0, ValueError, "min_quote_length must be a positive integer"),
        ],
    )
    def test_options_without_meaning(self, option: str, value: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            rm.Matching(**{option: value})

    def test_texts_that_are_none(self) -> None:
        with pytest.raises(TypeError, match="a Quote must hold a str, got 3"):
            Quote(3)  # type: ignore[arg-type]  # what a user may do
        with pytest.raises(ValueError, match="a Text needs a text, got ' '"):
            Text(" ")


def test_where_nothing_is_found_the_warning_asks_for_texts_and_places() -> None:
    with pytest.warns(rm.RetrievalWarning, match="Check that results have the texts, sources and offsets"):
        means([Quote(FACT)], [Retrieved("c1")])


def test_nothing_that_is_given_is_changed() -> None:
    qrels: dict[str, Any] = {"q": [[Quote(FACT), "c2"], [Span("a", 0, 5)]]}
    run = {"q": [item(1, FACT, source="a", start=0), item(2, source="b")]}
    before = repr((qrels, run))
    rm.evaluate(qrels, run, match=rm.Matching(deduplicate=True))
    assert repr((qrels, run)) == before
