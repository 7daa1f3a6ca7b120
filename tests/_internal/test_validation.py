"""Numbers of Python and numpy are checked, and errors name the argument and its value."""

import pickle
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics._internal.validation import (
    UnknownKeyError,
    integer,
    positive_integer,
    positive_number,
    proportion,
)


def test_integers_of_python_and_numpy_are_returned_as_int() -> None:
    for number in (3, np.int32(3), np.uint8(3)):
        assert type(integer(number, "n")) is int
        assert positive_integer(number, "n") == 3
    assert integer(-1, "n") == -1


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (0, ValueError, "k must be a positive integer, got 0"),
        (np.int64(-2), ValueError, r"k must be a positive integer, got .*-2"),
        (2.0, TypeError, r"k must be a positive integer, got 2\.0 \(float\)"),
        (True, TypeError, r"k must be a positive integer, got True \(bool\)"),
        ("2", TypeError, r"k must be a positive integer, got '2' \(str\)"),
        (None, TypeError, r"k must be a positive integer, got None \(NoneType\)"),
    ],
)
def test_other_values_are_not_positive_integers(value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        positive_integer(value, "k")
    with pytest.raises(error, match="k must be a positive integer or None, got"):
        positive_integer(value, "k", or_none=True)


def test_an_integer_is_asked_for_as_such() -> None:
    with pytest.raises(TypeError, match=r"n must be an integer, got 1\.5 \(float\)"):
        integer(1.5, "n")


@pytest.mark.parametrize(
    ("allow_zero", "allow_one", "kind"),
    [
        (False, False, "strictly between 0 and 1"),
        (False, True, "above 0 and at most 1"),
        (True, False, "at least 0 and below 1"),
        (True, True, "from 0 to 1"),
    ],
)
def test_a_proportion_excludes_the_ends_that_it_does_not_allow(*, allow_zero: bool, allow_one: bool, kind: str) -> None:
    refused = [-0.1, 1.1, 95, float("nan"), float("inf")]
    for end, is_allowed in ((0, allow_zero), (1, allow_one)):
        if is_allowed:
            assert proportion(end, "level", allow_zero=allow_zero, allow_one=allow_one) == end
        else:
            refused.append(end)
    for value in refused:
        with pytest.raises(ValueError, match=f"level must be {kind}, got {value}"):
            proportion(value, "level", allow_zero=allow_zero, allow_one=allow_one)
    for text in ("0.5", None):
        with pytest.raises(TypeError, match=f"level must be a number {kind}, got {text!r}"):
            proportion(text, "level", allow_zero=allow_zero, allow_one=allow_one)
    assert type(proportion(np.float32(0.5), "level", allow_zero=allow_zero, allow_one=allow_one)) is float


def test_a_positive_number_may_be_infinite_but_not_zero_or_nan() -> None:
    assert positive_number(float("inf"), "span") == float("inf")
    for value in (0, -1.5, float("nan")):
        with pytest.raises(ValueError, match=f"span must be positive, got {value}"):
            positive_number(value, "span")


def test_the_message_about_an_unknown_key_is_printed_without_quotes() -> None:
    evaluation = rm.evaluate({"q1": ["d1"]}, {"q1": ["d1"]}, "mrr")
    with pytest.raises(KeyError) as raised:
        evaluation.explain("q2")
    assert str(raised.value) == "query 'q2' was not evaluated; the evaluated queries include 'q1'"
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    assert str(UnknownKeyError()) == ""
