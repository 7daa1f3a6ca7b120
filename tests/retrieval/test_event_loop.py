"""Synchronous callers are served by one event loop per process, which leaves their own alone."""

import asyncio
import contextvars
import os
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.retrieval.event_loop import run_until_complete

QUERIES = {f"q{number}": f"text {number}" for number in range(20)}
TENANT = contextvars.ContextVar("tenant", default="nobody")


class Client:
    """Behaves as asynchronous HTTP clients do: of the loop it is first used in, and broken in any other."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.n_calls = 0

    async def search(self, text: str) -> list[str]:
        if self.loop is None:
            self.loop = asyncio.get_running_loop()
        if self.loop.is_closed():
            raise RuntimeError("Event loop is closed")
        if self.loop is not asyncio.get_running_loop():
            raise RuntimeError("attached to a different loop")
        self.n_calls += 1
        await asyncio.sleep(0)
        return [text]


def in_a_script(work: Callable[[], Any]) -> Any:
    return work()


def in_a_notebook(work: Callable[[], Any]) -> Any:
    """A kernel: a cell is code without await, run by a loop that runs already."""

    async def kernel() -> Any:
        return work()

    return asyncio.run(kernel())


def in_a_thread(work: Callable[[], Any]) -> Any:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(work()))
    thread.start()
    thread.join()
    return answers[0]


PLACES = [in_a_script, in_a_notebook, in_a_thread]


@pytest.mark.parametrize("second", PLACES)
@pytest.mark.parametrize("first", PLACES)
def test_a_client_can_be_used_again_from_anywhere(
    first: Callable[[Callable[[], Any]], Any], second: Callable[[Callable[[], Any]], Any]
) -> None:
    client = Client()
    for place in (first, second, first):
        run = place(lambda: rm.retrieve(client.search, QUERIES, workers=4))
        assert run.errors == {}
        assert run == {query: [text] for query, text in QUERIES.items()}
    assert client.n_calls == 60


def test_two_systems_on_one_client_are_compared_alike() -> None:
    client = Client()
    questions = [(text, [text]) for text in QUERIES.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            comparison = rm.compare_retrievers({"a": client.search, "b": client.search}, questions, "mrr")
            assert comparison.means["mrr"] == {"a": 1.0, "b": 1.0}
            assert comparison.errors == {"a": {}, "b": {}}


def test_the_loop_of_the_caller_stays_as_it_is() -> None:
    own = asyncio.new_event_loop()
    asyncio.set_event_loop(own)
    try:
        rm.retrieve(Client().search, QUERIES)
        assert asyncio.get_event_loop_policy().get_event_loop() is own
        assert not own.is_closed()
        assert own.run_until_complete(asyncio.sleep(0, "still runs")) == "still runs"
    finally:
        asyncio.set_event_loop(None)
        own.close()


def test_inside_a_running_loop_it_is_still_the_running_one_afterwards() -> None:
    async def cell() -> bool:
        before = asyncio.get_running_loop()
        rm.retrieve(Client().search, QUERIES)
        return asyncio.get_running_loop() is before

    assert asyncio.run(cell())


async def tenant_later(_: str) -> list[str]:
    await asyncio.sleep(0)
    return [TENANT.get()]


def tenant_now(_: str) -> list[str]:
    return [TENANT.get()]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("retriever", [tenant_now, tenant_later])
def test_context_variables_of_the_caller_reach_the_retriever(
    retriever: Callable[[str], Any], place: Callable[[Callable[[], Any]], Any]
) -> None:
    def work() -> Any:
        token = TENANT.set("ours")
        try:
            return rm.retrieve(retriever, QUERIES, workers=3)
        finally:
            TENANT.reset(token)

    assert set(map(tuple, place(work).values())) == {("ours",)}
    assert rm.retrieve(retriever, {"q": "?"})["q"] == ["nobody"]  # nothing stays behind in the loop


def test_a_synchronous_call_inside_the_loop_does_not_wait_for_itself() -> None:
    async def inner(text: str) -> list[str]:
        await asyncio.sleep(0)
        return [text]

    async def outer(text: str) -> Any:
        return rm.retrieve(inner, {"q": text})["q"]  # as a host does whose asynchronous method is a wrapper

    assert rm.retrieve(outer, QUERIES) == {query: [text] for query, text in QUERIES.items()}


def test_what_ends_a_program_reaches_the_caller_and_the_loop_goes_on() -> None:
    async def leave() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit, match="3"):
        run_until_complete(leave())
    assert run_until_complete(asyncio.sleep(0, "alive")) == "alive"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_starts_a_loop_of_its_own() -> None:
    run_until_complete(asyncio.sleep(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.12 on: this process has threads
        child = os.fork()
    if child == 0:
        # Whatever happens, the child must not go on with the tests.
        code = 1
        try:
            code = 0 if rm.retrieve(Client().search, QUERIES).errors == {} else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert run_until_complete(asyncio.sleep(0, "alive")) == "alive"


INTERRUPTED = """
import _thread, asyncio, signal, threading, time
import retrieval_metrics as rm

signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it

async def slowly(text):
    try:
        if text == "first":
            return ["d"]
        if text == "second":
            threading.Timer(0.05, _thread.interrupt_main).start()
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        print("cancelled", text, flush=True)
        raise

def slowly_in_a_thread(text):
    if text == "second":
        threading.Timer(0.05, _thread.interrupt_main).start()
    if text != "first":
        time.sleep(600)
    return ["d"]

try:
    rm.retrieve({retriever}, {{"q1": "first", "q2": "second", "q3": "third"}}, workers=1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def without_slow_steps(errors: str) -> str:
    """Leave out what asyncio logs of steps over 0.1 s in development mode: it says how busy the machine is."""
    return re.sub(r"^Executing <.* took \d+\.\d+ seconds\n", "", errors, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("retriever", "printed"), [("slowly", "cancelled second\ninterrupted\n"), ("slowly_in_a_thread", "interrupted\n")]
)
def test_an_interrupt_cancels_at_once_and_the_program_ends(retriever: str, printed: str) -> None:
    code = INTERRUPTED.format(retriever=retriever)
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.stdout, without_slow_steps(done.stderr), done.returncode) == (printed, "", 0)


def test_a_program_that_retrieved_ends_without_a_word() -> None:
    code = 'import retrieval_metrics as rm; print(rm.retrieve(lambda text: ["d"], {"q": "?"}))'
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.stdout, without_slow_steps(done.stderr)) == ("<RetrievedRun: 1 queries, 0 failed>\n", "")


def test_a_timeout_keeps_the_note_that_names_its_query() -> None:
    async def fail() -> None:
        error = TimeoutError("down")
        error.add_note("while retrieving for query 'q3'")
        raise error

    with pytest.raises(TimeoutError) as caught:
        run_until_complete(fail())
    assert caught.value.__notes__ == ["while retrieving for query 'q3'"]
