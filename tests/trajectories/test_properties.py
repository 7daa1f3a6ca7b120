"""Properties of trajectories: the recorded example by hand, what is undefined, and two systems."""

import math

import pytest

import retrieval_metrics as rm

RECORDED = rm.Trajectory(
    [
        rm.SearchCall("closing a file", ["d2", "d1"], turn=1),
        rm.SearchCall("exit method", ["d3", "d1"], turn=2),
        rm.SearchCall("suppress", ["d7", "d4"], turn=2),
        rm.SearchCall("BOOM", error="offline", turn=3),
        rm.SearchCall("suppress", ["d7", "d4"], turn=4),
    ],
    context=["d2", "d1", "d3", "d7", "d4"],
    citations=["d2", "d3", "d4"],
)


def test_the_properties_of_an_agent_that_repeats_and_fails() -> None:
    wanted = {
        "calls": 5,
        "failed": 1,
        "retrieved": 8,
        "distinct": 5,
        "redundant": 0.375,
        "nothing_new": 0.4,
        "not_in_context": 0,
        "uncited": 0.4,
        "cited_unread": 0,
    }
    assert RECORDED.properties() == wanted
    assert dict(rm.Trajectories({"q": RECORDED}).properties().means) == wanted


def test_a_share_of_nothing_is_undefined_and_out_of_the_mean() -> None:
    found = rm.Trajectories(
        {"q": RECORDED, "r": rm.Trajectory(), "s": rm.Trajectory([rm.SearchCall("a")])}
    ).properties()
    assert math.isnan(found.per_query["redundant"]["r"])
    assert math.isnan(found.per_query["not_in_context"]["s"])
    assert found.per_query["nothing_new"]["s"] == 1.0
    assert found.means["redundant"] == 0.375
    assert found.means["nothing_new"] == 0.7
    assert found.means["calls"] == 2.0
    assert (found.n["redundant"], found.n["calls"]) == (1, 3)
    assert math.isnan(rm.Trajectories({"r": rm.Trajectory()}).properties().means["uncited"])
    with pytest.raises(ValueError, match="there are no scores"):
        rm.Trajectories({}).properties()


def test_several_trajectories_of_a_question_count_as_their_mean() -> None:
    calm = rm.Trajectory(RECORDED.calls[:3])
    found = rm.Trajectories({"q": [RECORDED, calm], "r": calm}).properties()
    assert found.queries == ("q", "r")
    assert found.per_query["calls"] == {"q": 4.0, "r": 3.0}
    assert found.per_query["uncited"]["q"] == 0.4  # unknown of the other
    once = {f"q{n}": RECORDED if n % 3 else calm for n in range(30)}
    often = rm.Trajectories({query: [one] * 4 for query, one in once.items()}).properties()
    assert often.intervals() == rm.Trajectories(once).properties().intervals()


def test_two_agents_are_compared_on_the_questions_that_both_have() -> None:
    calm = rm.Trajectory(RECORDED.calls[:3])
    ours = rm.Trajectories({f"q{n}": RECORDED for n in range(12)}).properties()
    theirs = rm.Trajectories({f"q{n}": [calm, calm] for n in range(4, 20)}).properties()
    found = rm.compare({"ours": ours, "theirs": theirs})
    assert found.difference("calls", "theirs", "ours").mean == -2.0
    assert found.difference("redundant", "theirs", "ours").mean == pytest.approx(1 / 6 - 3 / 8)
    assert (found.difference("calls", "theirs", "ours").paired.count, found.n["uncited"]) == (8, 0)
    said = {name: found.conclusions.of(name).sentence for name in RECORDED.properties()}
    assert said["calls"] == "theirs is better than ours in calls, by 2.00 in every query."
    assert said["distinct"] == "theirs and ours have the same value for every query in distinct."
    assert "no query in common for which uncited is defined" in said["uncited"]
    assert "12 queries only in ours" not in str(found)
    assert set(found.to_pandas()["metric"]) == set(RECORDED.properties())
    with pytest.raises(ValueError, match="there is no query that is the same in"):
        rm.compare({"ours": ours, "other": rm.Trajectories({"x": RECORDED}).properties()})


def test_means_that_are_no_shares_have_a_panel_of_their_own() -> None:
    pytest.importorskip("matplotlib")
    counted, shares = rm.Trajectories({"q": RECORDED, "r": RECORDED}).properties().plot().axes
    assert [one.get_text() for one in counted.get_yticklabels()] == ["calls", "failed", "retrieved", "distinct"]
    assert [one.get_text() for one in shares.get_yticklabels()] == list(RECORDED.properties())[4:]
    assert shares.get_xlim() == (0, 1)


def test_a_frame_has_a_row_for_each_question() -> None:
    frame = rm.Trajectories({"q": [RECORDED, RECORDED], "r": RECORDED}).properties().to_pandas()
    assert list(frame["redundant"]) == [0.375] * 2
    assert set(RECORDED.properties()) <= set(frame.columns)
