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
    found = rm.Trajectories({"q": RECORDED}).properties()
    assert {name: of_query["q"] for name, of_query in found.items()} == {
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


def test_a_share_of_nothing_is_undefined_and_out_of_the_mean() -> None:
    found = rm.Trajectories(
        {"q": RECORDED, "r": rm.Trajectory(), "s": rm.Trajectory([rm.SearchCall("a")])}
    ).properties()
    assert math.isnan(found["redundant"]["r"])
    assert math.isnan(found["not_in_context"]["s"])
    assert found["nothing_new"]["s"] == 1.0
    assert found.means["redundant"] == 0.375
    assert found.means["nothing_new"] == 0.7
    assert found.means["calls"] == 2.0
    rows = {row[0]: row for row in found.tables[0].rows}
    assert (float(rows["redundant"][1]), rows["redundant"][3]) == (0.375, "1")
    assert math.isnan(rm.Trajectories({"r": rm.Trajectory()}).properties().means["uncited"])


def test_repeated_trajectories_do_not_narrow_the_interval() -> None:
    other = rm.Trajectory([rm.SearchCall("a", ["d1"])])
    once = {f"q{n}": RECORDED if n % 3 else other for n in range(30)}
    often = rm.Trajectories({query: [one] * 4 for query, one in once.items()}).properties()
    wide, narrow = (p.intervals()["redundant"] for p in (rm.Trajectories(once).properties(), often))
    assert narrow.high - narrow.low == pytest.approx(wide.high - wide.low, rel=0.1)


def test_two_systems_are_compared_on_the_questions_that_both_have() -> None:
    calmer = rm.Trajectory(RECORDED.calls[:3])
    ours = rm.Trajectories({f"q{n}": RECORDED for n in range(12)}).properties()
    theirs = rm.Trajectories({f"q{n}": [calmer, calmer] for n in range(4, 20)}).properties()
    found = ours.differences(theirs)
    assert found["calls"].count == 8
    assert found["calls"].mean == 2.0
    assert found["redundant"].mean == pytest.approx(3 / 8 - 1 / 6)
    assert found["redundant"].wins == 8
    assert "uncited" not in found  # theirs is unknown
    with pytest.raises(TypeError, match=r"the baseline must be the properties\(\)"):
        ours.differences({"calls": 1})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no question in common"):
        ours.differences(rm.Trajectories({"other": RECORDED}).properties())
    with pytest.raises(KeyError, match="no property is called 'recall'"):
        ours["recall"]


def test_a_frame_has_a_row_for_each_trajectory() -> None:
    frame = rm.Trajectories({"q": [RECORDED, RECORDED], "r": RECORDED}).properties().to_pandas()
    assert list(frame["question"]) == ["q", "q", "r"]
    assert frame["query"].is_unique
    assert list(frame["redundant"]) == [0.375] * 3
    assert list(frame.columns[2:]) == list(rm.Trajectories({"q": RECORDED}).properties())
