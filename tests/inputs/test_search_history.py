"""A run that was merged from several searches has a search history; a run of a retriever has none."""

import retrieval_metrics as rm
from retrieval_metrics.inputs.search_history import SearchHistory

TRAJECTORY = rm.Trajectory([rm.SearchCall("a", ["d1"]), rm.SearchCall("b", ["d2"], turn=2)])


def test_the_searches_of_an_agent_are_a_history() -> None:
    view = rm.Trajectories({"q1": TRAJECTORY}).union()
    assert isinstance(view, SearchHistory)
    assert view.origin_of("q1", 2) == (2, 1)
    assert view.origin_of("q1", 3) is None
    assert view.search_notes("q1") == [("a", ""), ("b", "")]


def test_the_answers_of_a_retriever_are_none() -> None:
    run = rm.retrieve(lambda _: ["d1"], {"q1": "what?"})
    assert not isinstance(run, SearchHistory)
    result = rm.evaluate({"q1": ["d1", "d2"]}, run, "recall")
    assert result.explain("q1").findings[1].kind == "not_retrieved"


def test_what_became_of_a_document_is_explained_by_its_searches() -> None:
    view = rm.Trajectories({"q1": TRAJECTORY}).first()
    finding = rm.evaluate({"q1": ["d1", "d2"]}, view, "recall").explain("q1").findings[1]
    assert finding.detail.startswith("found by call 2")
