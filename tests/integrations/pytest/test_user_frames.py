"""The traceback of a failed retriever holds the frames of the user alone."""

import traceback

import retrieval_metrics as rm
from pytest_retrieval_metrics.user_frames import keep_user_frames


def fail(text: str) -> list[str]:
    raise TimeoutError(text)


def test_only_the_frames_of_the_user_are_kept() -> None:
    try:
        rm.retrieve(fail, {"q1": "how?"}, raise_on_error=True, show_progress=False)
    except TimeoutError as error:
        all_names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        names = [frame.name for frame in traceback.extract_tb(keep_user_frames(error.__traceback__))]
    assert names == ["test_only_the_frames_of_the_user_are_kept", "fail"]
    assert len(all_names) > 2 * len(names)


def test_nothing_is_left_of_a_traceback_without_them() -> None:
    assert keep_user_frames(None) is None
