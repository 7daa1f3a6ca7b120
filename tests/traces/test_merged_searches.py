"""Views merge the searches of an agent: the cases people reported, and the laws that hold for all of them."""

import math
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from agent_trajectories import GOOD, TWO_CALLS, make_trajectories, means
from retrieval_metrics.integration_api import DEFINITIONS

METRICS = [
    "hit_rate@3", "precision@3", "recall@3", "f1@3", "mrr", "map", "ndcg@5", "ndcg(gain=exponential)", "r_precision",
    "full_recall@5", "rbp(p=0.8)", "err@5", "bpref", "judged@4", "recall", "map(norm=retrieved)@5", "alpha_ndcg@5",
]  # fmt: skip


RANKINGS = st.one_of(
    st.lists(st.sampled_from("abcdefgh"), max_size=7),
    st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([0.5, 1.0, 1.5, 2.0]), max_size=7),
)


GRADES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1, max_size=6)


CALLS = st.lists(st.one_of(st.none(), st.lists(st.sampled_from("abcdefghij"), max_size=6)), min_size=1, max_size=5)


class TestTenMissesThenTheAnswerInTheSecondCall:
    def test_a_budget_of_calls_shows_it(self) -> None:
        assert means(GOOD, TWO_CALLS.union(), ["recall@1calls", "recall@2calls", "recall@1 call"]) == [0.0, 1.0]

    def test_interleaved_shows_it_to_metrics_of_ranks(self) -> None:
        values = means(GOOD, TWO_CALLS.interleaved(), ["mrr", "ndcg@10", "hit_rate@10", "recall@10"])
        assert values == [0.5, 1 / math.log2(3), 1.0, 1.0]

    def test_a_cut_off_that_the_first_call_fills_is_warned_of(self) -> None:
        with pytest.warns(rm.RetrievalWarning, match="a single call fills the top 10, so recall@10 ignores"):
            assert rm.evaluate(GOOD, TWO_CALLS.union(), "recall@10").means["recall@10"] == 0.0

    def test_nothing_is_warned_of_where_nothing_is_hidden(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rm.evaluate(GOOD, TWO_CALLS.union(), ["recall@11", "recall@2calls", "recall"])
            rm.evaluate(GOOD, TWO_CALLS.interleaved(), ["recall@2"])

    def test_a_part_of_each_call_may_count(self) -> None:
        assert TWO_CALLS.union(per_call=1)["q"] == ["miss 0", "good"]


@pytest.mark.thorough
@settings(max_examples=300, deadline=None)
@given(ranking=RANKINGS, grades=GRADES)
def test_one_call_is_the_ordinary_ranking_to_the_last_bit_in_every_view(ranking: Any, grades: Any) -> None:
    t = rm.Trajectories({"q": rm.Trajectory([rm.SearchCall("a", ranking)], context=ranking, citations=ranking)})
    expected = means({"q": grades}, {"q": ranking}, METRICS)
    for view in (t.union(), t.interleaved(), t.first(), t.last(), t.context(), t.cited(), t.each_call().union()):
        assert repr(means({next(iter(view), "q"): grades}, view, METRICS)) == repr(expected)


def test_one_call_with_items_is_the_ordinary_ranking_for_every_metric() -> None:
    text = "the with statement wraps the execution of a block; it closes the file at the end of the block"
    items = [rm.Retrieved(f"c{n}", text[n * 20 : n * 20 + 24], source="with", start=n * 20) for n in range(4)]
    qrels: Any = {"q": [rm.Span("with", 22, 58), rm.Quote("closes the file")]}
    t = rm.Trajectories({"q": rm.Trajectory([rm.SearchCall("a", items)])})
    names = [name for name in DEFINITIONS if name not in {"bpref", "judged"}]
    assert repr(means(qrels, t.union(), names)) == repr(means(qrels, {"q": items}, names))


@pytest.mark.thorough
@settings(max_examples=300, deadline=None)
@given(rankings=CALLS, grades=GRADES, budget=st.integers(1, 6))
def test_a_budget_of_calls_is_the_union_of_the_first_calls(rankings: Any, grades: Any, budget: int) -> None:
    for name in ("recall", "mrr", "map", "precision(norm=retrieved)", "ndcg"):
        (cut,) = means({"q": grades}, make_trajectories(rankings).union(), f"{name}@{budget}calls")
        (full,) = means({"q": grades}, make_trajectories(rankings[:budget]).union(), name)
        assert repr(cut) == repr(full)


@settings(max_examples=200, deadline=None)
@given(rankings=CALLS, grades=GRADES, data=st.data())
def test_laws(rankings: Any, grades: Any, data: st.DataObject) -> None:
    items = sorted({item for ranking in rankings for item in ranking or ()})
    read = data.draw(st.lists(st.sampled_from(items), unique=True)) if items else []
    cited = data.draw(st.lists(st.sampled_from("abcdefghij"), max_size=4))
    t = make_trajectories(rankings, context=read, citations=cited)
    union = t.union()["q"]
    again = make_trajectories([*rankings, rankings[0]]).union()["q"]
    assert set(union) == set(t.interleaved()["q"])
    assert set(again) == set(union)
    if len(rankings) > 1:
        assert again == union
        assert len(set(t.interleaved()["q"])) >= len(set(t.first()["q"]))
    (first,), (everything,) = (means({"q": grades}, view, "recall") for view in (t.first(), t.union()))
    (in_context,), (in_answer,) = (means({"q": grades}, view, "recall") for view in (t.context(), t.cited()))
    if not math.isnan(everything):
        assert first <= everything
        assert in_answer <= in_context <= everything


def test_a_repeat_within_a_call_stays_and_one_of_an_earlier_call_goes() -> None:
    t = make_trajectories([["a", "a", "b"], ["b", "c"]])
    assert t.union()["q"] == ["a", "a", "b", "c"]
    assert t.interleaved()["q"] == ["a", "b", "a", "c"]
    assert t.union().origins["q"] == ((1, 1), (1, 2), (1, 3), (2, 2))


def test_items_are_the_same_by_id_else_by_place_else_by_text() -> None:
    def item(id_: str | None = None, text: str = "a text", source: str | None = None) -> rm.Retrieved:
        return rm.Retrieved(id_, text, source=source, start=None if source is None else 3)

    first = [item("x"), item(None, "u", "s"), item(None, "only text")]
    second = [item("x"), item(None, "u", "s"), item(None, "only text"), item("y"), item(None, "new")]
    t = make_trajectories([first, second])
    assert t.union()["q"] == [*first, second[3], second[4]]


class TestAnIdThatComesBackWithAnotherPassage:
    """Web extracts, highlights and captions are other texts of one document in each search."""

    A, B = (rm.Retrieved("terms", text) for text in ("The warranty lasts two years.", "Returns within 30 days."))
    FAQ = rm.Retrieved("faq", "Ask us.")
    SEARCH_RESULTS = ([A], [FAQ, B])
    NEEDED = ("The warranty lasts two years.", "Returns within 30 days.")

    @pytest.mark.parametrize("read", [[A, FAQ, B], ["terms", "faq"]], ids=["passages", "ids"])
    def test_found_and_read_agree(self, read: Any) -> None:
        t = make_trajectories(self.SEARCH_RESULTS, context=read, citations=["terms"])
        for view in (t.union(), t.interleaved(), t.context(), t.cited()):
            assert means({"q": list(map(rm.Quote, self.NEEDED))}, view, "recall") == [1.0]
        properties = t["q"].properties()
        assert (
            properties["retrieved"],
            properties["distinct"],
            properties["redundant"],
            properties["no_new_results"],
        ) == (3, 3, 0, 0)
        assert (properties["not_in_context"], properties["uncited"], properties["cited_not_in_context"]) == (
            0,
            1 / 3,
            0,
        )

    def test_a_passage_that_was_not_handed_on_was_not_read(self) -> None:
        t = make_trajectories(self.SEARCH_RESULTS, context=[self.A, self.FAQ], citations=["terms", "other"])
        assert t.cited()["q"] == [self.A]
        assert t.context().origins["q"] == ((1, 1), (2, 1))
        properties = t["q"].properties()
        assert (properties["not_in_context"], properties["uncited"], properties["cited_not_in_context"]) == (
            1 / 3,
            1 / 2,
            1 / 2,
        )
        truth = {"q": list(map(rm.Quote, self.NEEDED))}
        explanation = str(rm.evaluate(truth, t.context(), "recall").explain("q"))
        assert "found by call 1, read" in explanation
        assert "found by call 2, not read" in explanation

    def test_a_text_that_was_cut_on_its_way_to_the_model_was_read_as_it_was_cut(self) -> None:
        cut = rm.Retrieved("faq", "Ask")
        t = make_trajectories(self.SEARCH_RESULTS, context=[cut], citations=["faq"])
        assert t.context()["q"] == t.cited()["q"] == [cut]
        assert t.context().origins["q"] == ((2, 1),)
        assert (t["q"].properties()["not_in_context"], t["q"].properties()["cited_not_in_context"]) == (2 / 3, 0)

    def test_the_same_passage_again_is_nothing_new(self) -> None:
        t = make_trajectories([*self.SEARCH_RESULTS, [self.A, self.B]])
        assert t.union()["q"] == [self.A, self.FAQ, self.B]
        assert t["q"].unproductive == ["", "", "nothing new"]


def test_a_citation_of_what_nobody_read_earns_nothing() -> None:
    t = make_trajectories([["d1", "d3", "d6"]], context=["d1", "d3", "d6"], citations=["d2", "d3", "d4"])
    assert t.cited()["q"] == ["d3"]
    assert means({"q": ["d2", "d3", "d4"]}, t.cited(), "recall") == [1 / 3]


def test_scores_stay_where_all_of_a_scored_context_is_cited_or_some() -> None:
    scores = {"d1": 2.0, "d2": 1.0}
    t = make_trajectories([["d1"]], context=scores, citations={"d2": 0.5, "d9": 0.9})
    assert t.context()["q"] == scores
    assert t.cited()["q"] == {"d2": 0.5}


def test_a_budget_of_calls_is_refused_where_the_order_is_not_that_of_the_calls() -> None:
    for run in (TWO_CALLS.interleaved(), {"q": ["good"]}, {"q": [rm.Retrieved("good", "a")]}):
        with pytest.raises(ValueError, match=r"a cutoff of 2calls needs to know which call found each item"):
            rm.evaluate(GOOD, run, "recall@2calls")
    with pytest.raises(ValueError, match="needs the lengths of the items"):
        rm.evaluate(GOOD, TWO_CALLS.union(), "recall@20chars")
