"""The causes of an error: in order, each once, and the error of a second event loop among them."""

import pytest

from retrieval_metrics._internal.error_causes import is_event_loop_error, iterate_causes


def test_causes_come_in_order_and_each_once() -> None:
    first = ValueError("the chain failed")
    second = RuntimeError("the client failed")
    first.__cause__ = second
    second.__context__ = first
    assert list(iterate_causes(first)) == [first, second]


@pytest.mark.parametrize(
    ("error", "is_expected"),
    [
        (RuntimeError("Event loop is closed"), True),
        (RuntimeError("Task got Future attached to a different loop"), True),
        (RuntimeError("no index"), False),
        (ValueError("Event loop is closed"), False),
    ],
)
def test_the_error_of_a_second_event_loop_is_recognised_also_as_a_cause(error: Exception, is_expected: bool) -> None:
    wrapped = ValueError("the chain failed")
    wrapped.__cause__ = error
    assert is_event_loop_error(error) == is_event_loop_error(wrapped) == is_expected
