"""A server on this machine that replies as the services of models do, and fails as they do if told so."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from local_service import JSONHandler, serving

# The variables in which clients look for the address of their service, and what stands behind that of the server.
ADDRESSES = {
    "OPENAI_BASE_URL": "/v1",
    "AZURE_OPENAI_ENDPOINT": "",
    "ANTHROPIC_BASE_URL": "",
    "GOOGLE_GEMINI_BASE_URL": "",
    "AWS_ENDPOINT_URL": "",
    "OLLAMA_HOST": "",
}

SECRETS = {
    "OPENAI_API_KEY": "none",
    "AZURE_OPENAI_API_KEY": "none",
    "ANTHROPIC_API_KEY": "none",
    "GEMINI_API_KEY": "none",
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_DEFAULT_REGION": "eu-central-1",
}


def prompt_of(path: str, payload: Any) -> str:
    """Return the prompt of a request, by whichever protocol it came."""
    if "generateContent" in path:
        return str(payload["contents"][0]["parts"][0]["text"])
    content = payload["messages"][-1]["content"]
    return str(content if isinstance(content, str) else content[0]["text"])


def answer_of(path: str, reply: str) -> Any:
    """Return the body of an answer by the protocol of a request."""
    if "chat/completions" in path:
        choice = {"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
        return {"id": "1", "object": "chat.completion", "created": 1, "model": "fake", "choices": [choice]}
    if path.endswith("/converse"):
        message = {"role": "assistant", "content": [{"text": reply}]}
        usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
        return {"output": {"message": message}, "stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 1}}
    if "generateContent" in path:
        return {"candidates": [{"content": {"role": "model", "parts": [{"text": reply}]}, "finishReason": "STOP"}]}
    if path.endswith("/api/chat"):
        return {"model": "fake", "message": {"role": "assistant", "content": reply}, "done": True}
    usage = {"input_tokens": 1, "output_tokens": 1}
    content = [{"type": "text", "text": reply}]
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "fake",
        "content": content,
        "stop_reason": "end_turn",
        "usage": usage,
    }


class Service:
    """What the server does with a prompt: reply, or fail as it is told to.

    Attributes:
        done: How often it replied, and failed in each way.
        over: Set when the server ends: until then, what is slow does not reply.
    """

    def __init__(self, model: Callable[[str], str], fault: Callable[[str, int], str | None] | None = None) -> None:
        """Set the model, and `fault(prompt, attempt)`: `429`, `500`, `slow`, `cut`, or None to reply."""
        self.model = model
        self.over = threading.Event()
        self.fault = fault or (lambda prompt, attempt: None)  # noqa: ARG005  (no fault, whatever is asked)
        self.done = Counter[str]()
        self._attempts = Counter[str]()
        self._lock = threading.Lock()

    def next_fault(self, prompt: str) -> str | None:
        """Return how it will fail when it is asked the next time."""
        return self.fault(prompt, self._attempts[prompt] + 1)

    def reply(self, prompt: str) -> tuple[int, dict[str, str], str]:
        """Return the status, the headers and the reply."""
        with self._lock:
            fault = self.next_fault(prompt)
            self._attempts[prompt] += 1
            self.done[fault or "replied"] += 1
        if fault == "429":
            return 429, {"Retry-After": "0.005"}, "slow down"
        if fault == "500":
            return 500, {}, "something broke"
        if fault == "slow":
            self.over.wait()
        reply = self.model(prompt)
        return 200, {}, reply[: len(reply) // 2] if fault == "cut" else reply


class _Answers(JSONHandler):
    service: Service

    def respond(self) -> None:
        path = self.path.partition("?")[0]
        status, headers, reply = self.service.reply(prompt_of(path, json.loads(self.body())))
        content = answer_of(path, reply) if status == 200 else {"error": {"message": reply}}
        try:
            self.answer(content, status, headers)
        except (BrokenPipeError, ConnectionResetError):
            self.service.done["left"] += 1  # the client did not wait


@contextmanager
def fake_models(service: Service) -> Iterator[dict[str, str]]:
    """Serve while the block runs; yields the environment in which clients find the server."""
    with serving(_Answers, service=service) as address:
        try:
            yield {**SECRETS, **{name: f"{address}{behind}" for name, behind in ADDRESSES.items()}}
        finally:
            service.over.set()
