"""Views of an agent's searches: the cases people reported, and the laws that hold for all of them."""

import math

import pytest

import retrieval_metrics as rm
from agent_trajectories import TWO_CALLS


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
            rm.evaluate({"q": ["good"]}, TWO_CALLS, "recall")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="only 'context' and 'citations' can be unknown, got 'calls'"):
            TWO_CALLS.with_recorded("calls")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="maps each query ID"):
            rm.Trajectories([rm.Trajectory()])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="query 'q' must have a Trajectory"):
            rm.Trajectories({"q": ["d1"]})  # type: ignore[list-item]
        with pytest.raises(ValueError, match="per_call must be a positive integer"):
            TWO_CALLS.union(per_call=0)

    def test_no_stack_trace_of_an_error_is_kept(self) -> None:
        error = "ConnectionError: offline\nTraceback (most recent call last):\n  File '/home/me/app.py', key=secret"
        assert rm.SearchCall("a", error=error).error == "ConnectionError: offline"
        assert rm.SearchCall("a", error=KeyError("x\ny")).error == "KeyError: 'x\\ny'"
        assert rm.SearchCall("a", error="").error == "failed without a message"
