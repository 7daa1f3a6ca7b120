"""A function that passes its arguments on shows the signature of the other, and names itself in its errors."""

from inspect import signature
from typing import Any

import pytest

from retrieval_metrics._internal.signatures import forward_arguments, takes_arguments_of


def search(question: str, *, workers: int = 8) -> tuple[str, int]:
    return question, workers


@takes_arguments_of(search)
def count_words(*args: Any, **options: Any) -> int:
    question, _ = forward_arguments("count_words", search, args, options)
    return len(question.split())


def test_the_signature_is_that_of_the_other_with_its_own_result() -> None:
    assert list(signature(count_words).parameters) == ["question", "workers"]
    assert signature(count_words).return_annotation is int
    assert count_words("why is it", workers=2) == 3


def test_an_error_about_arguments_begins_with_the_name_that_was_called() -> None:
    with pytest.raises(TypeError, match=r"^count_words: got an unexpected keyword argument 'worker'"):
        count_words("why", worker=2)  # type: ignore[call-arg]
