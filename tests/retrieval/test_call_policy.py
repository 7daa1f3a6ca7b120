"""The calls of a function: which failures are repeated."""

import pytest

from retrieval_metrics.retrieval.call_pacer import MAX_WAIT
from retrieval_metrics.retrieval.call_policy import FunctionCaller
from retrieval_metrics.retrieval.event_loop import run_until_complete


def test_a_wait_of_hours_is_an_error() -> None:
    calls: list[str] = []

    def spent(text: str) -> str:
        calls.append(text)
        raise RuntimeError(f"429 Too Many Requests: retry after {MAX_WAIT + 1:g} seconds")

    caller = FunctionCaller(spent, name="model", timeout=None, retries=5)
    with pytest.raises(RuntimeError, match="429"):
        run_until_complete(caller.call("a", after=lambda _: None))
    assert calls == ["a"]
