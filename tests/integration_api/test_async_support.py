"""A function and its asynchronous form share their arguments and their implementation."""

import asyncio
import inspect
from typing import Any

import pytest

from retrieval_metrics.integration_api.async_support import (
    WORKERS,
    forward_arguments,
    positive_integer,
    run_until_complete,
    takes_arguments_of,
)


async def ask_all(questions: list[str], *, workers: int = WORKERS) -> list[str]:
    positive_integer(workers, "workers")
    await asyncio.sleep(0)
    return [f"{question} {workers}" for question in questions]


@takes_arguments_of(ask_all)
def ask(*args: Any, **options: Any) -> list[str]:
    return run_until_complete(forward_arguments("ask", ask_all, args, options))


@takes_arguments_of(ask_all)
async def aask(*args: Any, **options: Any) -> list[str]:
    return await forward_arguments("aask", ask_all, args, options)


def test_both_take_the_arguments_of_the_one_and_give_its_result() -> None:
    assert (
        inspect.signature(ask).parameters == inspect.signature(aask).parameters == inspect.signature(ask_all).parameters
    )
    assert ask(["why?"]) == asyncio.run(aask(["why?"])) == [f"why? {WORKERS}"]
    assert ask(questions=["why?"], workers=2) == ["why? 2"]


def test_the_synchronous_one_works_where_a_loop_is_running() -> None:
    async def in_a_notebook() -> list[str]:
        return ask(["why?"], workers=1)

    assert asyncio.run(in_a_notebook()) == ["why? 1"]


def test_what_is_wrong_is_said_by_the_name_that_was_called() -> None:
    with pytest.raises(TypeError, match=r"^ask: missing a required argument: 'questions'"):
        ask()  # type: ignore[call-arg]  # the point of the line
    with pytest.raises(TypeError, match=r"^aask: got an unexpected keyword argument 'worker'"):
        asyncio.run(aask(["why?"], worker=2))  # type: ignore[call-arg]  # the point of the line
    with pytest.raises(ValueError, match="workers must be a positive integer, got 0"):
        ask(["why?"], workers=0)
