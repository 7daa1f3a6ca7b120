"""A warning about several systems is given once, with their names."""

import warnings

import pytest

import retrieval_metrics as rm
from retrieval_metrics._internal.warn import warn
from retrieval_metrics.comparison.system_warnings import repeat_warnings_once


def list_warnings(messages_by_system: dict[str, list[str]]) -> list[str]:
    """Return what is warned of if each system is warned of so."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with repeat_warnings_once(len(messages_by_system)) as system_warnings:
            for name, messages in messages_by_system.items():
                with system_warnings.record(name, ""):
                    for message in messages:
                        warn(message)
    assert {warning.category for warning in caught} <= {rm.RetrievalWarning}
    assert {warning.filename for warning in caught} <= {__file__}
    return [str(warning.message) for warning in caught]


def test_each_warning_is_given_once_with_the_systems_it_is_about() -> None:
    assert list_warnings({"a": [], "b": []}) == []
    assert list_warnings({"a": ["low"], "b": ["low", "high"], "c": ["low", "low"]}) == ["low", "b: high"]
    assert list_warnings({"a": [], "b": ["low"], "c": ["low"]}) == ["b and c: low"]
    assert list_warnings({"a": ["one"], "b": ["other"]}) == ["a: one", "b: other"]


def evaluate_until_an_error() -> None:
    with repeat_warnings_once(2) as system_warnings:
        with system_warnings.record("a", "this is a"):
            warn("low")
        with system_warnings.record("b", "this is b"):
            raise ValueError("broken")


def test_an_error_is_described_and_what_was_warned_of_before_it_is_given() -> None:
    with pytest.warns(rm.RetrievalWarning, match="^a: low$"), pytest.raises(ValueError, match="broken") as caught:
        evaluate_until_an_error()
    assert caught.value.__notes__ == ["this is b"]


def test_a_comparison_names_the_systems_of_a_warning() -> None:
    qrels = {"q0": ["d"], "q1": ["d"]}
    incomplete = {"q0": ["d"]}
    with pytest.warns(rm.RetrievalWarning) as caught:
        rm.compare(qrels, {"a": qrels, "b": incomplete, "c": incomplete}, "mrr")
    assert [str(warning.message)[:10] for warning in caught] == ["b and c: 1"]
    assert caught[0].filename == __file__
