"""A synchronous caller is served by the synchronous way, another by the asynchronous one; either may be missing."""

import asyncio
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.adapting import Ways

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
        (Ways(synchronously, asynchronously), ["synchronous"] * 2, ["asynchronous"] * 2),
        (Ways(synchronously), ["synchronous"] * 2, ["synchronous"] * 2),
        (Ways(asynchronous=asynchronously), ["asynchronous"] * 2, ["asynchronous"] * 2),
        (Ways(not_so, asynchronously), ["refused", "asynchronous", "asynchronous"], ["asynchronous"] * 2),
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
        rm.retrieve(Ways(broken, asynchronously), TEXTS)
    with pytest.raises(ValueError, match="neither a synchronous nor an asynchronous way"):
        rm.retrieve(Ways(), TEXTS)
