"""Views of an agent's searches: the cases people reported, and the laws that hold for all of them."""

import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.integration_api import DEFINITIONS

METRICS = [
    "hit_rate@3", "precision@3", "recall@3", "f1@3", "mrr", "map", "ndcg@5", "ndcg(gain=exponential)", "r_precision",
    "full_recall@5", "rbp(p=0.8)", "err@5", "bpref", "judged@4", "recall", "map(norm=retrieved)@5", "alpha_ndcg@5",
]  # fmt: skip
GOOD: Any = {"q": ["good"]}
KIBANA = rm.Trajectories(
    {"q": rm.Trajectory([rm.SearchCall("a", [f"miss {n}" for n in range(10)]), rm.SearchCall("b", ["good"], turn=2)])}
)


def means(qrels: Any, run: Any, metrics: Any) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        return list(rm.evaluate(qrels, run, metrics).means.values())


class TestTenMissesThenTheAnswerInTheSecondCall:
    def test_a_budget_of_calls_shows_it(self) -> None:
        assert means(GOOD, KIBANA.union(), ["recall@1calls", "recall@2calls", "recall@1 call"]) == [0.0, 1.0]

    def test_interleaved_shows_it_to_metrics_of_ranks(self) -> None:
        found = means(GOOD, KIBANA.interleaved(), ["mrr", "ndcg@10", "hit_rate@10", "recall@10"])
        assert found == [0.5, 1 / math.log2(3), 1.0, 1.0]

    def test_a_cut_off_that_the_first_call_fills_is_warned_of(self) -> None:
        with pytest.warns(rm.RetrievalWarning, match="one call alone fills the first 10, so recall@10 sees nothing"):
            assert rm.evaluate(GOOD, KIBANA.union(), "recall@10").means["recall@10"] == 0.0

    def test_nothing_is_warned_of_where_nothing_is_hidden(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rm.evaluate(GOOD, KIBANA.union(), ["recall@11", "recall@2calls", "recall"])
            rm.evaluate(GOOD, KIBANA.interleaved(), ["recall@2"])

    def test_a_part_of_each_call_may_count(self) -> None:
        assert KIBANA.union(per_call=1)["q"] == ["miss 0", "good"]


RANKINGS = st.one_of(
    st.lists(st.sampled_from("abcdefgh"), max_size=7),
    st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([0.5, 1.0, 1.5, 2.0]), max_size=7),
)
GRADES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1, max_size=6)


@settings(max_examples=300, deadline=None)
@given(ranking=RANKINGS, grades=GRADES)
def test_one_call_is_the_ordinary_ranking_to_the_last_bit_in_every_view(ranking: Any, grades: Any) -> None:
    t = rm.Trajectories({"q": rm.Trajectory([rm.SearchCall("a", ranking)], context=ranking, citations=ranking)})
    wanted = means({"q": grades}, {"q": ranking}, METRICS)
    for view in (t.union(), t.interleaved(), t.first(), t.last(), t.context(), t.cited(), t.each_call().union()):
        assert repr(means({next(iter(view), "q"): grades}, view, METRICS)) == repr(wanted)


def test_one_call_with_items_is_the_ordinary_ranking_for_every_metric() -> None:
    text = "the with statement wraps the execution of a block; it closes the file at the end of the block"
    items = [rm.Retrieved(f"c{n}", text[n * 20 : n * 20 + 24], source="with", start=n * 20) for n in range(4)]
    qrels: Any = {"q": [rm.Span("with", 22, 58), rm.Quote("closes the file")]}
    t = rm.Trajectories({"q": rm.Trajectory([rm.SearchCall("a", items)])})
    names = [name for name in DEFINITIONS if name not in {"bpref", "judged"}]
    assert repr(means(qrels, t.union(), names)) == repr(means(qrels, {"q": items}, names))


CALLS = st.lists(st.one_of(st.none(), st.lists(st.sampled_from("abcdefghij"), max_size=6)), min_size=1, max_size=5)


def searches(found: Any) -> list[rm.SearchCall]:
    return [
        rm.SearchCall("q", error="down", turn=turn) if one is None else rm.SearchCall("q", one, turn=turn)
        for turn, one in enumerate(found, start=1)
    ]


def trajectories(found: Any, **more: Any) -> rm.Trajectories:
    rows = {"q": rm.Trajectory(searches(found), **more)}
    # A run in which everything failed is refused, so another question has an answer.
    return rm.Trajectories(rows if any(found) else rows | {"other": rm.Trajectory(searches([["a"]]), **more)})


@settings(max_examples=300, deadline=None)
@given(found=CALLS, grades=GRADES, budget=st.integers(1, 6))
def test_a_budget_of_calls_is_the_union_of_the_first_calls(found: Any, grades: Any, budget: int) -> None:
    for name in ("recall", "mrr", "map", "precision(norm=retrieved)", "ndcg"):
        (cut,) = means({"q": grades}, trajectories(found).union(), f"{name}@{budget}calls")
        (whole,) = means({"q": grades}, trajectories(found[:budget]).union(), name)
        assert repr(cut) == repr(whole)


@settings(max_examples=200, deadline=None)
@given(found=CALLS, grades=GRADES, data=st.data())
def test_laws(found: Any, grades: Any, data: st.DataObject) -> None:
    there = sorted({item for one in found for item in one or ()})
    read = data.draw(st.lists(st.sampled_from(there), unique=True)) if there else []
    cited = data.draw(st.lists(st.sampled_from("abcdefghij"), max_size=4))
    t = trajectories(found, context=read, citations=cited)
    union, again = t.union()["q"], trajectories([*found, found[0]]).union()["q"]
    assert set(union) == set(t.interleaved()["q"])
    assert set(again) == set(union)
    if len(found) > 1:
        assert again == union
        assert len(set(t.interleaved()["q"])) >= len(set(t.first()["q"]))
    (first,), (everything,) = (means({"q": grades}, view, "recall") for view in (t.first(), t.union()))
    (in_context,), (in_answer,) = (means({"q": grades}, view, "recall") for view in (t.context(), t.cited()))
    if not math.isnan(everything):
        assert first <= everything
        assert in_answer <= in_context <= everything


def test_a_repeat_within_a_call_stays_and_one_of_an_earlier_call_goes() -> None:
    t = trajectories([["a", "a", "b"], ["b", "c"]])
    assert t.union()["q"] == ["a", "a", "b", "c"]
    assert t.interleaved()["q"] == ["a", "b", "a", "c"]
    assert t.union().origins["q"] == ((1, 1), (1, 2), (1, 3), (2, 2))


def test_items_are_the_same_by_id_else_by_place_else_by_text() -> None:
    def item(id_: str | None = None, text: str = "a text", source: str | None = None) -> rm.Retrieved:
        return rm.Retrieved(id_, text, source=source, start=None if source is None else 3)

    first = [item("x"), item(None, "u", "s"), item(None, "only text")]
    second = [item("x"), item(None, "u", "s"), item(None, "only text"), item("y"), item(None, "new")]
    t = trajectories([first, second])
    assert t.union()["q"] == [*first, second[3], second[4]]


class TestAnIdThatComesBackWithAnotherPassage:
    """Web extracts, highlights and captions are other texts of one document in each search."""

    A, B = (rm.Retrieved("terms", text) for text in ("The warranty lasts two years.", "Returns within 30 days."))
    FAQ = rm.Retrieved("faq", "Ask us.")
    FOUND = ([A], [FAQ, B])
    NEEDED = ("The warranty lasts two years.", "Returns within 30 days.")

    @pytest.mark.parametrize("read", [[A, FAQ, B], ["terms", "faq"]], ids=["passages", "ids"])
    def test_found_and_read_agree(self, read: Any) -> None:
        t = trajectories(self.FOUND, context=read, citations=["terms"])
        for view in (t.union(), t.interleaved(), t.context(), t.cited()):
            assert means({"q": list(map(rm.Quote, self.NEEDED))}, view, "recall") == [1.0]
        found = t["q"].properties()
        assert (found["retrieved"], found["distinct"], found["redundant"], found["no_new_results"]) == (3, 3, 0, 0)
        assert (found["not_in_context"], found["uncited"], found["cited_not_in_context"]) == (0, 1 / 3, 0)

    def test_a_passage_that_was_not_handed_on_was_not_read(self) -> None:
        t = trajectories(self.FOUND, context=[self.A, self.FAQ], citations=["terms", "other"])
        assert t.cited()["q"] == [self.A]
        assert t.context().origins["q"] == ((1, 1), (2, 1))
        found = t["q"].properties()
        assert (found["not_in_context"], found["uncited"], found["cited_not_in_context"]) == (1 / 3, 1 / 2, 1 / 2)
        truth = {"q": list(map(rm.Quote, self.NEEDED))}
        said = str(rm.evaluate(truth, t.context(), "recall").explain("q"))
        assert "found by call 1, read" in said
        assert "found by call 2, not read" in said

    def test_a_text_that_was_cut_on_its_way_to_the_model_was_read_as_it_was_cut(self) -> None:
        cut = rm.Retrieved("faq", "Ask")
        t = trajectories(self.FOUND, context=[cut], citations=["faq"])
        assert t.context()["q"] == t.cited()["q"] == [cut]
        assert t.context().origins["q"] == ((2, 1),)
        assert (t["q"].properties()["not_in_context"], t["q"].properties()["cited_not_in_context"]) == (2 / 3, 0)

    def test_the_same_passage_again_is_nothing_new(self) -> None:
        t = trajectories([*self.FOUND, [self.A, self.B]])
        assert t.union()["q"] == [self.A, self.FAQ, self.B]
        assert t["q"].unproductive == ["", "", "nothing new"]


def test_ids_beside_items_become_items() -> None:
    t = rm.Trajectories(
        {
            "q": rm.Trajectory([rm.SearchCall("a", [rm.Retrieved("d1", "a text")])], context=["d1"], citations=["d1"]),
            "r": rm.Trajectory([rm.SearchCall("a", {"d2": 1.0, "d1": 2.0})], context=["d2"], citations=[]),
        }
    )
    assert t.union()["r"] == [rm.Retrieved("d1"), rm.Retrieved("d2")]
    assert t.cited()["q"] == [rm.Retrieved("d1", "a text")]
    assert means(
        {
            "q": [
                rm.Quote(
                    "a text",
                )
            ]
            if False
            else ["d1"],
            "r": ["d2"],
        },
        t.context(),
        "recall",
    ) == [1.0]


@pytest.mark.filterwarnings("ignore:none of the retrieved")
class TestWhatIsUnknownAndWhatIsNothing:
    def test_no_calls_are_nothing_retrieved(self) -> None:
        t = rm.Trajectories({"q": rm.Trajectory()})
        with pytest.warns(rm.RetrievalWarning, match="nothing was retrieved for 1 of 1"):
            result = rm.evaluate(GOOD, t.union(), "recall")
        assert (result.means["recall"], result.counts["missing"], result.counts["failed"]) == (0.0, 1, 0)
        assert t.first()["q"] == t.last()["q"] == []

    def test_if_all_calls_failed_the_query_failed(self) -> None:
        with pytest.warns(rm.RetrievalWarning, match="the retriever failed for 1 of them"):
            result = rm.evaluate(GOOD, trajectories([None, None]).union(), "recall")
        assert (result.means["recall"], result.counts["failed"]) == (0.0, 1)
        assert str(result.errors["q"]) == "down"
        with pytest.raises(ValueError, match=r"the retriever failed for every query, 1 of 1; the first, 'q': .*down"):
            rm.evaluate(GOOD, rm.Trajectories({"q": rm.Trajectory(searches([None, None]))}).union(), "recall")
        later = trajectories([None, ["good"]])  # the first search failed, the agent has not
        with pytest.warns(rm.RetrievalWarning, match="failed for 1 of them"):
            assert rm.evaluate(GOOD, later.first(), "recall").means["recall"] == 0

    def test_some_failed_calls_are_counted_and_taken_as_they_are(self) -> None:
        t = trajectories([None, ["good"], None])
        assert repr(t) == "<Trajectories: 1 query, 3 calls, 2 failed>"
        assert not t.union().errors
        assert [list(view["q"]) for view in (t.first(), t.last(), t.union())] == [[], [], ["good"]]
        assert list(t.first().errors) == list(t.last().errors) == ["q"]
        assert means(GOOD, t.union(), ["recall@1calls", "recall@2calls"]) == [0.0, 1.0]

    def test_unknown_contexts_raise_and_known_empty_ones_are_0(self) -> None:
        t = rm.Trajectories({"q": KIBANA["q"], "r": rm.Trajectory(KIBANA["q"].calls, context=(), citations=())})
        with pytest.raises(ValueError, match=r"the context of 1 of 2 trajectories is unknown, .* query 'q'"):
            t.context()
        with pytest.raises(ValueError, match="the citations of 1 of 2 trajectories are unknown"):
            t.cited()
        known = t.with_recorded("context")
        assert repr(known) == "<Trajectories: 1 query, 2 calls, 0 failed; 1 with unknown context left out>"
        judged = known.judgments({"q": ["good"], "r": ["good"], "never asked": ["good"]})
        assert list(judged.qrels) == ["r"]
        assert means(judged, known.context(), "recall") == [0.0]
        assert list(t.judgments({"q": ["good"], "r": ["good"], "never asked": ["x"]}).qrels) == [
            "q",
            "r",
            "never asked",
        ]

    def test_a_citation_of_what_nobody_read_earns_nothing(self) -> None:
        t = trajectories([["d1", "d3", "d6"]], context=["d1", "d3", "d6"], citations=["d2", "d3", "d4"])
        assert t.cited()["q"] == ["d3"]
        assert means({"q": ["d2", "d3", "d4"]}, t.cited(), "recall") == [1 / 3]

    def test_scores_stay_where_all_of_a_scored_context_is_cited_or_some(self) -> None:
        found = {"d1": 2.0, "d2": 1.0}
        t = trajectories([["d1"]], context=found, citations={"d2": 0.5, "d9": 0.9})
        assert t.context()["q"] == found
        assert t.cited()["q"] == {"d2": 0.5}

    def test_a_budget_of_calls_is_refused_where_the_order_is_not_that_of_the_calls(self) -> None:
        for run in (KIBANA.interleaved(), {"q": ["good"]}, {"q": [rm.Retrieved("good", "a")]}):
            with pytest.raises(ValueError, match=r"a cut-off of 2calls needs to know which call found each item"):
                rm.evaluate(GOOD, run, "recall@2calls")
        with pytest.raises(ValueError, match="needs the lengths of the items"):
            rm.evaluate(GOOD, KIBANA.union(), "recall@20chars")


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class TestSeveralTrajectoriesOfAQuestion:
    t = rm.Trajectories({1: [KIBANA["q"], KIBANA["q"]], 2: KIBANA["q"]})

    def test_are_rows_of_one_cluster(self) -> None:
        assert self.t.questions == {"1#1": 1, "1#2": 1, "2": 2}
        assert repr(self.t) == "<Trajectories: 3 trajectories of 2 queries, 6 calls, 0 failed>"
        result = rm.evaluate(self.t.judgments({1: ["good"], 2: ["good"], 3: ["x"]}), self.t.union(), "recall")
        assert result.queries == ("1#1", "1#2", "2", "3")
        assert result.means["recall"] == 0.75
        assert result.scores.clusters is not None
        assert result.scores.clusters.count == 3

    def test_each_call_is_a_row_with_its_number(self) -> None:
        hops = self.t.each_call()
        assert hops.numbers == {"1#1#1": 1, "1#1#2": 2, "1#2#1": 1, "1#2#2": 2, "2#1": 1, "2#2": 2}
        result = rm.evaluate(
            hops.judgments({1: ["good"], 2: ["good"]}), hops.union(), "recall", clusters=hops.questions
        )
        of_hop = result.group_by(hops.numbers)
        assert (of_hop[1].means["recall"], of_hop[2].means["recall"], of_hop[2].n["recall"]) == (0.0, 1.0, 3)

    def test_a_mean_by_hop_is_of_the_questions_that_have_it_and_says_how_many(self) -> None:
        one, other = rm.SearchCall("a", ["x"]), rm.SearchCall("b", ["good"], turn=2)
        hops = rm.Trajectories(
            {1: rm.Trajectory([one, other]), 2: rm.Trajectory([one]), 3: rm.Trajectory()}
        ).each_call()
        judged = hops.judgments({1: ["good"], 2: ["good"], 3: ["good"]})
        of_hop = rm.evaluate(judged, hops.union(), "recall", clusters=hops.questions).group_by(hops.numbers)
        assert [(hop, of_hop[hop].means["recall"], of_hop[hop].n["recall"]) for hop in (1, 2)] == [
            (1, 0.0, 2),
            (2, 1.0, 1),
        ]
        assert "2      recall" in str(of_hop)
        assert [line.split()[-1] for line in str(of_hop).splitlines()[1:3]] == ["2", "1"]

    def test_their_judgments_must_name_the_rows(self) -> None:
        """Else the question would count as one for which nothing was retrieved."""
        t = rm.Trajectories({"a": [KIBANA["q"], KIBANA["q"]], "b": KIBANA["q"]})
        for run in (t.union(), t.each_call().union(), pickle.loads(pickle.dumps(t.union()))):  # noqa: S301  (made here)
            with pytest.raises(
                ValueError, match=r"question 'a' are rows of their own, such as 'a#1.*judgments\(qrels\)"
            ):
                rm.evaluate({"a": ["good"], "b": ["good"]}, run, "recall")
        assert rm.evaluate({"b": ["good"]}, t.union(), "recall").means["recall"] == 1.0  # the others are not judged

    def test_two_rows_cannot_have_one_name(self) -> None:
        with pytest.raises(ValueError, match="two rows would be named 'a#1'"):
            rm.Trajectories({"a": [KIBANA["q"], KIBANA["q"]], "a#1": KIBANA["q"]})


def test_the_sources_of_questions_stay_their_clusters() -> None:
    asked = rm.EvaluationSet.from_dataset([{"id": "q", "query": "who?", "relevant": ["good"], "source": "a page"}])
    judged = rm.Trajectories({"q": [KIBANA["q"], KIBANA["q"]]}).judgments(asked)
    assert [made.source for made in judged.provenance.values()] == ["a page", "a page"]
    assert judged.queries == {"q#1": "who?", "q#2": "who?"}


def test_a_view_knows_its_seconds_and_survives_a_pickle_and_a_file(tmp_path: Path) -> None:
    calls = [rm.SearchCall("a", ["x"], seconds=0.5), rm.SearchCall("b", ["good", "x"], seconds=0.25, turn=2)]
    t = rm.Trajectories({"q": rm.Trajectory(calls, context=["good"])})
    assert t.union().seconds == {"q": 0.75}
    assert t.last().seconds == {"q": 0.25}
    view: Any = pickle.loads(pickle.dumps(t.union()))  # noqa: S301  (made in the line itself)
    assert (dict(view), view.calls, view.origins) == (dict(t.union()), {"q": [1, 2]}, t.union().origins)
    assert view.document_story("q", "good".__eq__) == "found by call 2, read"
    assert view.document_story("q", "x".__eq__) == "found by call 1, repeated by call 2, not read"
    result = rm.evaluate(GOOD, t.union(), ["recall@1calls", "recall@2calls"])
    result.save(tmp_path / "r.json")
    again = rm.load(tmp_path / "r.json")
    assert again.means == result.means
    assert rm.evaluate(GOOD, again.scores.require_origin("read").run, "recall@1calls").means["recall@1calls"] == 0.0


class TestWhatIsRefused:
    def test_of_a_call(self) -> None:
        with pytest.raises(TypeError, match="bare string"):
            rm.SearchCall("a", "d1")
        with pytest.raises(ValueError, match="the score of document 'd1' for query 'a' is nan; scores must be finite"):
            rm.SearchCall("a", {"d2": 1.0, "d1": math.nan})
        with pytest.raises(ValueError, match="the score of document 'd1' for query 'the citations' is inf"):
            rm.Trajectory(citations={"d1": math.inf})
        with pytest.raises(ValueError, match=r"failed \(down\), so it cannot have found 1 document;"):
            rm.SearchCall("a", ["d1"], error="down")
        with pytest.raises(ValueError, match="the turn of a search must be a positive integer"):
            rm.SearchCall("a", turn=0)
        with pytest.raises(TypeError, match="the query of a search must be a text, or None if it is unknown, got 3"):
            rm.SearchCall(3)  # type: ignore[arg-type]
        for seconds in (-1.0, math.nan, math.inf):
            with pytest.raises(ValueError, match="the seconds of a search must be 0 or more"):
                rm.SearchCall("a", seconds=seconds)

    def test_of_a_trajectory(self) -> None:
        with pytest.raises(TypeError, match="list of SearchCall"):
            rm.Trajectory(rm.SearchCall("a"))  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="must be SearchCall, got 'd1'"):
            rm.Trajectory(["d1"])  # type: ignore[list-item]
        with pytest.raises(ValueError, match="of turn 1 follows 'a' of turn 2"):
            rm.Trajectory([rm.SearchCall("a", turn=2), rm.SearchCall("b", turn=1)])
        with pytest.raises(TypeError, match="bare string"):
            rm.Trajectory([], context="d1")

    def test_of_trajectories(self) -> None:
        with pytest.raises(TypeError, match=r"evaluate a view of them, such as trajectories\.union\(\)"):
            rm.evaluate({"q": ["good"]}, KIBANA, "recall")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="only 'context' and 'citations' can be unknown, got 'calls'"):
            KIBANA.with_recorded("calls")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="maps each query id"):
            rm.Trajectories([rm.Trajectory()])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="query 'q' must have a Trajectory"):
            rm.Trajectories({"q": ["d1"]})  # type: ignore[list-item]
        with pytest.raises(ValueError, match="per_call must be a positive integer"):
            KIBANA.union(per_call=0)

    def test_no_stack_trace_of_an_error_is_kept(self) -> None:
        said = "ConnectionError: offline\nTraceback (most recent call last):\n  File '/home/me/app.py', key=secret"
        assert rm.SearchCall("a", error=said).error == "ConnectionError: offline"
        assert rm.SearchCall("a", error=KeyError("x\ny")).error == "KeyError: 'x\\ny'"
        assert rm.SearchCall("a", error="").error == "failed without a message"


def test_what_was_found_read_and_cited_are_steps() -> None:
    reranked = rm.SearchCall("a", ["d1"], inner_rankings=[["d1", "d5"]])
    one = rm.Trajectory([reranked, rm.SearchCall("b", ["d2", "d3"])], context=["d2", "d1"], citations=["d2"])
    t = rm.Trajectories({"q1": one})
    steps = {"inside calls": ["d1", "d5"], "union": ["d1", "d2", "d3"], "read": ["d2", "d1"], "cited": ["d2"]}
    assert {name: [*step["q1"]] for name, step in t.cited().stages.items()} == steps
    assert list(t.context().stages) == [*steps][:3]
    assert list(t.union().stages) == [*steps][:2]
    assert t.first().stages == {}
    result = rm.evaluate({"q1": ["d1", "d2", "d3", "d5", "d9"]}, t.cited(), "recall")
    assert result.stages.first_stage == ("inside calls", "union")
    assert {name: share for name, share in result.stages.losses("recall").means.items() if share} == {
        "found": 0.2,
        "not_retrieved": 0.2,
        "dropped:read": 0.4,
        "dropped:cited": 0.2,
    }
    plain = rm.Trajectories({"q1": rm.Trajectory([rm.SearchCall("b", ["d2"])], context=["d2"], citations=[])})
    assert list(plain.cited().stages) == ["union", "read", "cited"]
    assert plain.union().stages == {}
