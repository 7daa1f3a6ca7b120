"""Synchronous callers are served by the synchronous function, others by the asynchronous one, if there are both."""

import asyncio
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.integration_api import RetrieverFunctions

TEXTS = {"q1": "one?", "q2": "two?"}
called: list[str] = []


def synchronously(_: str) -> list[str]:
    called.append("synchronous")
    return ["d1"]


async def asynchronously(_: str) -> list[str]:
    called.append("asynchronous")
    return ["d1"]


def not_so(_: str) -> list[str]:
    called.append("refused")
    raise RuntimeError("ask me otherwise") from NotImplementedError()


@pytest.mark.parametrize(
    ("ways", "by_retrieve", "by_aretrieve"),
    [
        (RetrieverFunctions(synchronously, asynchronously), ["synchronous"] * 2, ["asynchronous"] * 2),
        (RetrieverFunctions(synchronously), ["synchronous"] * 2, ["synchronous"] * 2),
        (RetrieverFunctions(asynchronous=asynchronously), ["asynchronous"] * 2, ["asynchronous"] * 2),
        (RetrieverFunctions(not_so, asynchronously), ["refused", "asynchronous", "asynchronous"], ["asynchronous"] * 2),
    ],
)
def test_the_way_that_suits_the_caller_is_taken(ways: Any, by_retrieve: list[str], by_aretrieve: list[str]) -> None:
    called.clear()
    assert rm.retrieve(ways, TEXTS, workers=1) == {"q1": ["d1"], "q2": ["d1"]}
    assert called == by_retrieve
    called.clear()
    assert asyncio.run(rm.aretrieve(ways, TEXTS, workers=1)) == {"q1": ["d1"], "q2": ["d1"]}
    assert called == by_aretrieve


def test_another_error_is_no_missing_way() -> None:
    def broken(_: str) -> list[str]:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        rm.retrieve(RetrieverFunctions(broken, asynchronously), TEXTS)
    with pytest.raises(ValueError, match="neither a synchronous nor an asynchronous function"):
        rm.retrieve(RetrieverFunctions(), TEXTS)


def test_short_answers_of_a_store_are_said_in_the_words_that_its_host_brings() -> None:
    def ask(text: str) -> list[str]:
        return ["d1", "d2"][: 1 + (text == "text 1")]

    texts = {"q1": "text 1", "q2": "text 2"}
    for option, hint in [("", "let it examine more, or"), ("wide=2", r"let it examine more \(wide=2\), or")]:
        with pytest.warns(rm.RetrievalWarning, match=f"^1 of 2 queries got fewer than k=2 .* {hint} filter before"):
            rm.retrieve(RetrieverFunctions(ask, n_requested=2, candidate_option=option), texts)
