"""Threads that call functions: used again, in the context of the caller, and with its errors."""

import contextvars
import threading

import pytest

import retrieval_metrics as rm
from retrieval_metrics.retrieval.event_loop import run_until_complete
from retrieval_metrics.retrieval.threads import Threads


def test_threads_are_used_again() -> None:
    threads = set()

    def retriever(text: str) -> list[str]:
        threads.add(threading.get_ident())
        return [text]

    rm.retrieve(retriever, {f"q{number}": f"text {number}" for number in range(20)}, workers=3)
    assert 1 <= len(threads) <= 3


def test_a_function_sees_the_context_of_its_caller_and_its_error_is_raised() -> None:
    tenant = contextvars.ContextVar("tenant", default="nobody")
    tenant.set("ours")
    threads = Threads()
    assert run_until_complete(threads.call(tenant.get)) == "ours"
    with pytest.raises(ZeroDivisionError):
        run_until_complete(threads.call(divmod, 1, 0))
    threads.end()
