"""A model is asked many prompts: what it replied is never asked again, and what failed is counted."""

import asyncio
import contextvars
import json
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics._internal.append_log import AppendLog
from retrieval_metrics.datasets.json_replies import BadReplyError, parse_json_reply
from retrieval_metrics.datasets.llm_client import KIND, Failure, LlmClient, ParsedReplies
from retrieval_metrics.retrieval.sync_async import run_until_complete

PROMPTS = {number: f"prompt {number}" for number in range(20)}


class Model:
    """Replies with the length of the prompt, but fails as often as it is told to."""

    model_name = "a scripted model"

    def __init__(self, failures: dict[str, int] | None = None) -> None:
        self.failures = failures or {}
        self.prompts = Counter[str]()

    def __call__(self, prompt: str) -> Any:
        self.prompts[prompt] += 1
        if self.prompts[prompt] <= self.failures.get(prompt, 0):
            raise ConnectionError(f"failure {self.prompts[prompt]}")
        return json.dumps({"length": len(prompt)})


def length(key: Any, reply: str) -> int:
    content: int = parse_json_reply(reply, {"length": int})["length"]
    return content


def ask(client: LlmClient, prompts: dict[Any, str], **options: Any) -> ParsedReplies[Any, int]:
    return run_until_complete(client.ask(prompts, length, **options))


def test_replies_are_parsed_by_key_in_the_order_of_the_prompts() -> None:
    client = LlmClient(rm.Model(Model(), workers=4))
    replies = ask(client, PROMPTS)
    assert list(replies.parsed.items()) == [(number, len(prompt)) for number, prompt in PROMPTS.items()]
    assert replies.failures == {}
    assert (client.calls.made, client.calls.cached, client.calls.failed) == (20, 0, 0)
    assert client.calls.prompt_tokens == sum(-(-len(prompt) // 4) for prompt in PROMPTS.values())
    assert str(client.calls).startswith("20 calls of the model, 0 replies from the cache; about ")


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


def test_a_rerun_makes_no_call_and_what_failed_is_asked_again(tmp_path: Path) -> None:
    cache = tmp_path / "replies.jsonl"
    first = Model({"prompt 3": 99, "prompt 7": 99})
    client = LlmClient(rm.Model(first, cache=cache, retries=1))
    replies = ask(client, PROMPTS)
    assert replies.reasons == {"call failed": 2}
    assert replies.failures[3] == Failure("call failed", "ConnectionError: failure 2")
    assert client.calls.made == 22
    assert client.calls.failed == 2
    again = Model()
    client = LlmClient(rm.Model(again, cache=cache))
    assert len(ask(client, PROMPTS).parsed) == 20
    assert sorted(again.prompts) == ["prompt 3", "prompt 7"]
    assert (client.calls.made, client.calls.cached) == (2, 18)
    nobody = Model()
    assert len(ask(LlmClient(rm.Model(nobody, cache=cache, budget=1)), PROMPTS).parsed) == 20
    assert not nobody.prompts


def test_another_model_does_not_find_the_replies_of_the_first(tmp_path: Path) -> None:
    cache = tmp_path / "replies.jsonl"
    ask(LlmClient(rm.Model(Model(), cache=cache)), PROMPTS)
    other = Model()
    ask(LlmClient(rm.Model(other, cache=cache, name="another")), PROMPTS)
    assert other.prompts.total() == 20


def test_a_cache_needs_the_name_of_the_model(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a cache needs the name of the model"):
        LlmClient(rm.Model(lambda prompt: prompt, cache=tmp_path / "replies.jsonl"))
    LlmClient(rm.Model(lambda prompt: prompt, cache=tmp_path / "replies.jsonl", name="echo"))


def test_a_cache_of_something_else_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"mine": 1}\n')
    with pytest.raises(ValueError, match="nothing was changed"):
        LlmClient(rm.Model(Model(), cache=path))
    assert path.read_text() == '{"mine": 1}\n'
    damaged = tmp_path / "replies.jsonl"
    ask(LlmClient(rm.Model(Model(), cache=damaged)), {1: "one"})
    AppendLog(damaged, KIND).append({"asked": 1})
    with pytest.raises(ValueError, match="line 3, holds no reply"):
        LlmClient(rm.Model(Model(), cache=damaged))


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


def refuse(key: Any, reply: str) -> int:
    raise BadReplyError("never right", f"{key} of {reply}")


def test_bad_replies_come_from_the_cache_too(tmp_path: Path) -> None:
    cache = tmp_path / "replies.jsonl"
    for n_calls in (40, 0):
        client = LlmClient(rm.Model(Model(), cache=cache))
        assert run_until_complete(client.ask(PROMPTS, refuse)).reasons == {"never right": 20}
        assert client.calls.made == n_calls


def test_a_budget_of_calls_holds_and_repeated_calls_count() -> None:
    model = Model({"prompt 2": 1})
    client = LlmClient(rm.Model(model, budget=5, workers=4))
    replies = ask(client, PROMPTS)
    assert model.prompts.total() == client.calls.made == 5
    assert len(replies.parsed) == 4
    assert replies.reasons == {"budget spent": 16}
    assert client.calls.failed == 0


def test_a_budget_of_tokens_holds_but_for_the_replies_under_way() -> None:
    client = LlmClient(
        rm.Model(Model(), token_budget=100, count_tokens=lambda text: 10 if "prompt" in text else 1, workers=2)
    )
    replies = ask(client, PROMPTS)
    assert len(replies.parsed) == 9
    assert client.calls.prompt_tokens + client.calls.reply_tokens <= 100
    assert set(replies.reasons) == {"budget spent"}
    assert "tokens" in replies.failures[19].message


def test_a_prompt_that_just_fits_into_the_budget_of_tokens_is_asked() -> None:
    model = rm.Model(Model(), token_budget=20, count_tokens=lambda text: 10 if "prompt" in text else 0, workers=1)
    assert len(ask(LlmClient(model), PROMPTS).parsed) == 2


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


ASKING = """
import sys, time
from pathlib import Path
import retrieval_metrics as rm
from retrieval_metrics.datasets.llm_client import LlmClient
from retrieval_metrics.retrieval.sync_async import run_until_complete

def model(prompt):
    with open(sys.argv[2], "a") as file:
        file.write(prompt + "\\n")
    time.sleep(0.02)
    return prompt

client = LlmClient(rm.Model(model, "shared", cache=sys.argv[1], workers=4))
replies = run_until_complete(client.ask({n: f"prompt {n}" for n in range(40)}, lambda key, reply: reply))
assert len(replies.parsed) == 40
"""


def test_two_processes_on_one_cache_leave_every_reply_whole(tmp_path: Path) -> None:
    cache = tmp_path / "replies.jsonl"
    log = tmp_path / "asked.txt"
    processes = [subprocess.Popen([sys.executable, "-c", ASKING, cache, log]) for _ in range(2)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    third = LlmClient(rm.Model(Model(), "shared", cache=cache))
    prompts = {number: f"prompt {number}" for number in range(40)}
    assert len(run_until_complete(third.ask(prompts, lambda _, reply: reply)).parsed) == 40
    assert (third.calls.made, third.calls.cached) == (0, 40)


KILLED = """
import sys, time
from pathlib import Path
import retrieval_metrics as rm
from retrieval_metrics.retrieval.sync_async import run_until_complete
from retrieval_metrics.datasets.llm_client import LlmClient

log = Path(sys.argv[2])

def model(prompt):
    with log.open("a") as file:
        file.write(prompt + "\\n")
    time.sleep(0.02)
    return '{"length": 1}'

client = LlmClient(rm.Model(model, "slow", cache=sys.argv[1], workers=4))
run_until_complete(client.ask({number: f"prompt {number}" for number in range(500)}, lambda _, reply: reply))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_run_loses_at_most_the_calls_under_way(tmp_path: Path) -> None:
    cache = tmp_path / "replies.jsonl"
    log = tmp_path / "asked.txt"
    process = subprocess.Popen([sys.executable, "-c", KILLED, cache, log])
    while process.poll() is None and (not cache.exists() or cache.read_text().count("\n") < 30):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    n_calls = len(log.read_text().splitlines())
    assert 30 <= n_calls < 500
    client = LlmClient(rm.Model(Model(), cache=cache, name="slow"))
    ask(client, {number: f"prompt {number}" for number in range(500)})
    assert n_calls - 4 <= client.calls.cached <= n_calls


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"ask": "gpt"}, TypeError, "a model must be a function"),
        ({"ask": None}, TypeError, "a model must be a function"),
        ({"ask": Model}, TypeError, "a model must be a function"),
        ({"workers": 0}, ValueError, "workers"),
        ({"timeout": 0}, ValueError, "timeout"),
        ({"retries": -1}, ValueError, "retries"),
        ({"budget": 0}, ValueError, "budget"),
        ({"budget": 1.5}, TypeError, "budget"),
        ({"token_budget": -5}, ValueError, "token_budget"),
        ({"count_tokens": 4}, TypeError, "count_tokens"),
        ({"name": 3}, TypeError, "the name of a model must be a text, got 3"),
        ({"name": " "}, TypeError, "the name of a model"),
    ],
)
def test_what_is_wrong_is_said_before_the_model_is_asked(wrong: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.Model(**{"ask": Model(), **wrong})


@pytest.mark.parametrize("count", ["a", -5, float("nan"), None, True])
def test_a_count_of_tokens_that_is_none_is_refused_before_a_call_is_made(count: Any) -> None:
    model = Model()
    with pytest.raises(TypeError, match="count_tokens must return the number of tokens of a text, got"):
        ask(LlmClient(rm.Model(model, count_tokens=lambda _: count, token_budget=10)), PROMPTS)
    assert model.prompts.total() == 0
