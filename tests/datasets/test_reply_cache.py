"""What a model replied is written down as it arrives, and never asked for again."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from prompt_length_model import PROMPTS, Model, ask
from retrieval_metrics._internal.append_log import AppendLog
from retrieval_metrics.datasets.json_replies import BadReplyError
from retrieval_metrics.datasets.llm_client import Failure, LlmClient
from retrieval_metrics.datasets.reply_cache import CACHE_FILE_KIND
from retrieval_metrics.retrieval.event_loop import run_until_complete


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
    with pytest.raises(ValueError, match="cache= requires name="):
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
    AppendLog(damaged, CACHE_FILE_KIND).append({"asked": 1})
    with pytest.raises(ValueError, match="line 3, holds no reply"):
        LlmClient(rm.Model(Model(), cache=damaged))


def refuse(key: Any, reply: str) -> int:
    raise BadReplyError("never right", f"{key} of {reply}")


def test_bad_replies_come_from_the_cache_too(tmp_path: Path) -> None:
    cache = tmp_path / "replies.jsonl"
    for n_calls in (40, 0):
        client = LlmClient(rm.Model(Model(), cache=cache))
        assert run_until_complete(client.ask(PROMPTS, refuse)).reasons == {"never right": 20}
        assert client.calls.made == n_calls


ASKING = """
import sys, time
from pathlib import Path
import retrieval_metrics as rm
from retrieval_metrics.datasets.llm_client import LlmClient
from retrieval_metrics.retrieval.event_loop import run_until_complete

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
from retrieval_metrics.retrieval.event_loop import run_until_complete
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
