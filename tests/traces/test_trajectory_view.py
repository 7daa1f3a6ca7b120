"""A view is a run that knows its failures, its seconds, its stages and where its items come from."""

import pickle
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from agent_trajectories import GOOD, make_searches, make_trajectories, means


def test_a_view_knows_its_seconds_and_survives_a_pickle_and_a_file(tmp_path: Path) -> None:
    calls = [rm.SearchCall("a", ["x"], seconds=0.5), rm.SearchCall("b", ["good", "x"], seconds=0.25, turn=2)]
    t = rm.Trajectories({"q": rm.Trajectory(calls, context=["good"])})
    assert t.union().seconds == {"q": 0.75}
    assert t.last().seconds == {"q": 0.25}
    view: Any = pickle.loads(pickle.dumps(t.union()))
    assert (dict(view), view.calls, view.origins) == (dict(t.union()), {"q": [1, 2]}, t.union().origins)
    assert view.document_story("q", "good".__eq__) == "found by call 2, read"
    assert view.document_story("q", "x".__eq__) == "found by call 1, repeated by call 2, not read"
    result = rm.evaluate(GOOD, t.union(), ["recall@1calls", "recall@2calls"])
    result.save(tmp_path / "r.json")
    again = rm.load(tmp_path / "r.json")
    assert again.means == result.means
    assert rm.evaluate(GOOD, again.scores.require_origin("read").run, "recall@1calls").means["recall@1calls"] == 0.0


def test_what_was_found_read_and_cited_are_steps() -> None:
    reranked = rm.SearchCall("a", ["d1"], inner_rankings=[["d1", "d5"]])
    trajectory = rm.Trajectory([reranked, rm.SearchCall("b", ["d2", "d3"])], context=["d2", "d1"], citations=["d2"])
    t = rm.Trajectories({"q1": trajectory})
    steps = {"inside calls": ["d1", "d5"], "union": ["d1", "d2", "d3"], "read": ["d2", "d1"], "cited": ["d2"]}
    assert {name: [*step["q1"]] for name, step in t.cited().stages.items()} == steps
    assert list(t.context().stages) == [*steps][:3]
    assert list(t.union().stages) == [*steps][:2]
    assert t.first().stages == {}
    result = rm.evaluate({"q1": ["d1", "d2", "d3", "d5", "d9"]}, t.cited(), "recall")
    assert result.stages.first_stage == ("inside calls",)
    assert {name: share for name, share in result.stages.losses("recall").means.items() if share} == {
        "found": 0.2,
        "not_retrieved": 0.2,
        "dropped:union": 0.2,  # a reranker inside a call dropped d5
        "dropped:read": 0.2,
        "dropped:cited": 0.2,
    }
    plain = rm.Trajectories({"q1": rm.Trajectory([rm.SearchCall("b", ["d2"])], context=["d2"], citations=[])})
    assert list(plain.cited().stages) == ["union", "read", "cited"]
    assert plain.union().stages == {}


def test_ids_beside_items_become_items() -> None:
    t = rm.Trajectories(
        {
            "q": rm.Trajectory([rm.SearchCall("a", [rm.Retrieved("d1", "a text")])], context=["d1"], citations=["d1"]),
            "r": rm.Trajectory([rm.SearchCall("a", {"d2": 1.0, "d1": 2.0})], context=["d2"], citations=[]),
        }
    )
    assert t.union()["r"] == [rm.Retrieved("d1"), rm.Retrieved("d2")]
    assert t.cited()["q"] == [rm.Retrieved("d1", "a text")]
    assert means({"q": ["d1"], "r": ["d2"]}, t.context(), "recall") == [1.0]


@pytest.mark.filterwarnings("ignore:no retrieved document is judged")
class TestWhatIsUnknownAndWhatIsNothing:
    def test_no_calls_are_nothing_retrieved(self) -> None:
        t = rm.Trajectories({"q": rm.Trajectory()})
        with pytest.warns(rm.RetrievalWarning, match="1 of 1 .*judged query"):
            result = rm.evaluate(GOOD, t.union(), "recall")
        assert (result.means["recall"], result.counts["missing"], result.counts["failed"]) == (0.0, 1, 0)
        assert t.first()["q"] == t.last()["q"] == []

    def test_if_all_calls_failed_the_query_failed(self) -> None:
        with pytest.warns(rm.RetrievalWarning, match="the retriever failed on 1 of"):
            result = rm.evaluate(GOOD, make_trajectories([None, None]).union(), "recall")
        assert (result.means["recall"], result.counts["failed"]) == (0.0, 1)
        assert str(result.errors["q"]) == "down"
        with pytest.raises(ValueError, match=r"the retriever failed for every query, 1 of 1; the first, 'q': .*down"):
            rm.evaluate(GOOD, rm.Trajectories({"q": rm.Trajectory(make_searches([None, None]))}).union(), "recall")
        later = make_trajectories([None, ["good"]])  # the first search failed, the agent has not
        with pytest.warns(rm.RetrievalWarning, match="failed on 1 of"):
            assert rm.evaluate(GOOD, later.first(), "recall").means["recall"] == 0

    def test_some_failed_calls_are_counted_and_taken_as_they_are(self) -> None:
        t = make_trajectories([None, ["good"], None])
        assert repr(t) == "<Trajectories: 1 query, 3 calls, 2 failed>"
        assert not t.union().errors
        assert [list(view["q"]) for view in (t.first(), t.last(), t.union())] == [[], [], ["good"]]
        assert list(t.first().errors) == list(t.last().errors) == ["q"]
        assert means(GOOD, t.union(), ["recall@1calls", "recall@2calls"]) == [0.0, 1.0]
