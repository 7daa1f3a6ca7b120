"""A model is asked many prompts, and what failed is counted."""

import asyncio
import contextvars
import json
import threading
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from prompt_length_model import PROMPTS, Model, ask, length
from retrieval_metrics.datasets.llm_client import Failure, LlmClient, ParsedReplies
from retrieval_metrics.retrieval.event_loop import run_until_complete


def test_replies_are_parsed_by_key_in_the_order_of_the_prompts() -> None:
    client = LlmClient(rm.Model(Model(), workers=4))
    replies = ask(client, PROMPTS)
    assert list(replies.parsed.items()) == [(number, len(prompt)) for number, prompt in PROMPTS.items()]
    assert replies.failures == {}
    assert (client.calls.made, client.calls.cached, client.calls.failed) == (20, 0, 0)
    assert client.calls.prompt_tokens == sum(-(-len(prompt) // 4) for prompt in PROMPTS.values())
    assert str(client.calls).startswith("20 model calls, 0 replies from the cache; about ")


def test_nothing_to_ask_is_no_call() -> None:
    assert ask(LlmClient(Model()), {}) == ParsedReplies({}, {})


@pytest.mark.asyncio
async def test_an_asynchronous_model_has_as_many_calls_under_way_as_workers() -> None:
    n_under_way = 0
    max_under_way = 0

    async def model(prompt: str) -> str:
        nonlocal n_under_way, max_under_way
        n_under_way += 1
        max_under_way = max(max_under_way, n_under_way)
        await asyncio.sleep(0.001)
        n_under_way -= 1
        return json.dumps({"length": len(prompt)})

    replies = await LlmClient(rm.Model(model, workers=3)).ask(PROMPTS, length)
    assert len(replies.parsed) == 20
    assert max_under_way == 3


def test_the_same_prompt_is_asked_once() -> None:
    model = Model()
    client = LlmClient(rm.Model(model, workers=8))
    assert len(ask(client, dict.fromkeys(range(30), "the same")).parsed) == 30
    assert model.prompts == {"the same": 1}
    assert client.calls.cached == 29


def test_a_failing_call_is_repeated_until_the_retries_are_used() -> None:
    model = Model(dict.fromkeys(PROMPTS.values(), 2))
    assert len(ask(LlmClient(rm.Model(model, retries=2)), PROMPTS).parsed) == 20
    assert set(model.prompts.values()) == {3}


def test_a_failing_call_is_repeated_twice_unless_something_else_is_said() -> None:
    model = Model(dict.fromkeys(PROMPTS.values(), 3))
    client = LlmClient(model)
    with pytest.raises(ConnectionError):
        ask(client, PROMPTS)
    assert set(model.prompts.values()) == {3}


def test_a_reply_that_cannot_be_used_is_asked_for_once_more_with_what_was_wrong() -> None:
    prompts: list[str] = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return '{"length": 6}' if "cannot be used" in prompt else "six"

    client = LlmClient(model)
    assert ask(client, {"a": "how long?"}).parsed == {"a": 6}
    assert len(prompts) == 2
    assert prompts[1].startswith("how long?\n\nYou replied:\nsix\n")
    assert "one JSON object" in prompts[1]
    replies = ask(LlmClient(lambda _: "six"), {"a": "how long?"})
    assert replies.failures["a"].reason == "not JSON"
    assert replies.failures["a"].reply == "six"


def test_a_model_that_never_replies_is_given_up_after_three_prompts() -> None:
    model = Model(dict.fromkeys(PROMPTS.values(), 99))
    with pytest.raises(ConnectionError) as caught:
        ask(LlmClient(rm.Model(model, retries=1)), PROMPTS)
    assert caught.value.__notes__ == ["the model has not replied to any of 6 calls"]
    assert model.prompts.total() == 6


def test_a_model_that_returns_no_text_costs_one_call() -> None:
    prompts: list[str] = []
    with pytest.raises(TypeError, match=r"must reply with a text, got None"):
        ask(LlmClient(prompts.append), PROMPTS)
    assert len(prompts) == 1


def test_a_later_reply_that_is_no_text_or_empty_is_a_failure_and_not_kept(tmp_path: Path) -> None:
    unusable_replies: dict[str, Any] = {"prompt 5": None, "prompt 6": " \n"}
    cache = tmp_path / "replies.jsonl"
    client = LlmClient(rm.Model(lambda prompt: unusable_replies.get(prompt, '{"length": 1}'), cache=cache, name="gaps"))
    replies = ask(client, PROMPTS)
    assert replies.reasons == {"no text": 2}
    assert client.calls.failed == 2
    assert list(replies.failures) == [5, 6]
    model = Model()
    ask(LlmClient(rm.Model(model, cache=cache, name="gaps")), PROMPTS)
    assert sorted(model.prompts) == ["prompt 5", "prompt 6"]


def test_a_call_that_takes_too_long_has_timed_out() -> None:
    release = threading.Event()

    def model(prompt: str) -> str:
        if prompt == "prompt 4":
            release.wait(60)
        return '{"length": 1}'

    replies = ask(LlmClient(rm.Model(model, timeout=1, retries=0)), PROMPTS)  # so long that no other is too slow
    release.set()
    assert replies.failures == {4: Failure("timed out", "TimeoutError: no answer within 1 s")}


def test_the_context_of_the_caller_reaches_the_model() -> None:
    tenant = contextvars.ContextVar("tenant", default="nobody")
    tenant.set("ours")
    replies = run_until_complete(LlmClient(lambda _: tenant.get()).ask({1: "?"}, lambda _, reply: reply))
    assert replies.parsed == {1: "ours"}


@pytest.mark.asyncio
async def test_cancelling_keeps_what_was_answered(tmp_path: Path) -> None:
    cache = tmp_path / "replies.jsonl"

    tenth = asyncio.Event()

    async def model(prompt: str) -> str:
        if prompt == "prompt 9":
            tenth.set()
            await asyncio.sleep(60)
        return '{"length": 1}'

    task = asyncio.ensure_future(LlmClient(rm.Model(model, cache=cache, name="slow", workers=1)).ask(PROMPTS, length))
    await tenth.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    client = LlmClient(rm.Model(Model(), cache=cache, name="slow"))
    await client.ask(PROMPTS, length)
    assert client.calls.cached == 9
