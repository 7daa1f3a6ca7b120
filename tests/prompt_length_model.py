"""A model that replies with the length of its prompts, and how tests ask it."""

import json
from collections import Counter
from typing import Any

from retrieval_metrics.datasets.json_replies import parse_json_reply
from retrieval_metrics.datasets.llm_client import LlmClient, ParsedReplies
from retrieval_metrics.retrieval.event_loop import run_until_complete

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
