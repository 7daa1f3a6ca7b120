"""What is wrong with a model is said when it is made."""

from typing import Any

import pytest

import retrieval_metrics as rm


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"ask": "gpt"}, TypeError, "a model must be a function"),
        ({"ask": None}, TypeError, "a model must be a function"),
        ({"ask": rm.Model}, TypeError, "a model must be a function"),
        ({"workers": 0}, ValueError, "workers"),
        ({"timeout": 0}, ValueError, "timeout"),
        ({"retries": -1}, ValueError, "retries"),
        ({"budget": 0}, ValueError, "budget"),
        ({"budget": 1.5}, TypeError, "budget"),
        ({"token_budget": -5}, ValueError, "token_budget"),
        ({"count_tokens": 4}, TypeError, "count_tokens"),
        ({"name": 3}, TypeError, "the name of a model must be a text, got 3"),
        ({"name": " "}, TypeError, "the name of a model"),
    ],
)
def test_what_is_wrong_is_said_before_the_model_is_asked(wrong: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.Model(**{"ask": str.upper, **wrong})
