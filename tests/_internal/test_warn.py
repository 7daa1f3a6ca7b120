"""A warning names the line of user code that led to it."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics._internal.warn import warn


def test_a_warning_names_the_first_line_outside_the_package_and_its_integrations() -> None:
    inside: dict[str, Any] = {"__package__": "host.evaluation.retrieval_metrics", "warn": warn}
    exec(compile("def wrapped():\n    warn('a doubt')", "integration.py", "exec"), inside)  # noqa: S102
    with pytest.warns(rm.RetrievalWarning, match="a doubt") as caught:
        inside["wrapped"]()
    assert caught[0].filename == __file__
