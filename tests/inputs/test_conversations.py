"""The conversation before a question is a list of messages, which precede its text line by line."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.conversations import read_messages, texts_with_conversation

MESSAGES = [
    {"role": "user", "content": "Who may open the vault?"},
    {"role": "assistant", "content": "Two people together."},
]


def test_a_question_stands_after_its_messages() -> None:
    texts = texts_with_conversation({"q1": "And at night?", "q2": "alone"}, {"q1": MESSAGES})
    assert texts == {"q1": "Who may open the vault?\nTwo people together.\nAnd at night?", "q2": "alone"}


@pytest.mark.parametrize(
    ("conversation", "error", "message"),
    [
        ("hello", TypeError, "before query 'q1' must be a list of messages, got 'hello'"),
        (["hello"], TypeError, "must be messages such as"),
        ([{"role": "user", "content": 3}], TypeError, "must be messages such as"),
        ([{"role": "system", "content": "x"}], ValueError, "must have a role, 'user' or 'assistant', and a content"),
        ([{"role": "user", "content": "x", "name": "y"}], ValueError, "must have a role"),
    ],
)
def test_other_messages_are_refused(conversation: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_messages(conversation, "query 'q1'")


def test_a_row_may_hold_a_conversation() -> None:
    rows = [{"id": "q1", "query": "And at night?", "relevant": ["d1"], "conversation": MESSAGES}]
    assert rm.EvaluationSet.from_dataset(rows).conversation == {"q1": tuple(MESSAGES)}
