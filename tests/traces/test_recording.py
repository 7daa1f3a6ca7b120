"""A recording holds the spans that were noted, each under the question that was asked when it began."""

import pytest

from agent_scenarios import ids_of
from retrieval_metrics.integration_api import TraceRecording

DOCUMENTS = [{"id": "d1", "text": "A context manager."}]


def test_a_question_belongs_to_the_trace_that_began_inside_it() -> None:
    recording = TraceRecording()
    with recording.question("q1"):
        recording.start("a", None, "other", "agent", "Which?")
        with recording.question("q2"):  # what is inside a trace belongs to it
            recording.start("b", "a", "retriever", "search", "which")
        recording.end("b", output=DOCUMENTS)
    recording.end("a")
    recording.start("c", None, "retriever", "search", "what", query="q3")
    recording.end("c", error="TimeoutError: too slow")
    recording.end("unknown", output=["d9"])
    trajectories = recording.trajectories
    ids = {query: [ids_of(call.ranking) for call in trajectory.calls] for query, trajectory in trajectories.items()}
    assert ids == {"q1": [["d1"]], "q3": [[]]}
    assert [call.error for call in trajectories["q3"].calls] == ["TimeoutError: too slow"]


def test_what_ran_without_a_question_is_left_out_and_counted() -> None:
    recording = TraceRecording()
    for query, span in (("q1", "a"), (None, "b")):
        recording.start(span, None, "retriever", "search", "which", query=query)
        recording.end(span, output=DOCUMENTS)
    assert list(recording.trajectories) == ["q1"]
    assert recording.trajectories.notes == ("1 trace without the ID of a question, excluded",)


def test_a_recording_of_nothing_says_so() -> None:
    with pytest.raises(ValueError, match=r"nothing ran inside record\(\), or its callbacks were not passed on"):
        TraceRecording().trajectories  # noqa: B018  (a property that raises)
