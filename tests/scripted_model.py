"""A model that follows a script, and lies, fails and repeats itself as told."""

import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from generate_questions import Script, usable_sentences


class ScriptedModel(Script):
    """The script of the example, with shares of replies that quote what is not there, are no JSON, and so on."""

    model_name = "a scripted model"

    def __init__(
        self,
        *,
        lies: float = 0.0,
        broken: float = 0.0,
        fails: float = 0.0,
        slow: float = 0.0,
        repeats: float = 0.0,
        seed: int = 0,
    ) -> None:
        super().__init__(seed)
        self.lies = lies
        self.broken = broken
        self.fails = fails
        self.slow = slow
        self.repeats = repeats
        self.prompts = Counter[str]()
        self.done = Counter[str]()
        self._lock = threading.Lock()

    def __call__(self, prompt: str) -> str:
        with self._lock:
            self.prompts[prompt] += 1
            attempt = self.prompts[prompt]
        # What goes wrong is decided by the prompt, so that a rerun sees the same model; a second call is answered.
        chance = random.Random(f"wrong {self.seed} {prompt}")
        if chance.random() < self.fails and attempt == 1:
            self.done["failed"] += 1
            raise ConnectionError("the line is dead")
        if chance.random() < self.slow and attempt == 1:
            self.done["slow"] += 1
            time.sleep(0.3)
        reply = super().__call__(prompt)
        content = json.loads(reply)
        if chance.random() < self.lies / 10 and "answerable" in content:
            content["answerable"] = not content["answerable"]
        elif "<quote>" in prompt and chance.random() < self.lies:
            self.done["lied of others"] += 1
            passage = re.findall(r"<passage>\n(.*?)\n</passage>", prompt, re.DOTALL)[0]
            content["quotes"] = [lie(chance.choice(usable_sentences(passage)), chance)]
        if chance.random() < self.broken:
            self.done["broken"] += 1
            return reply[: len(reply) // 2]
        return json.dumps(content)

    def question(self, prompt: str, shown: Sequence[str], chance: random.Random) -> str:
        content = json.loads(super().question(prompt, shown, chance))
        if "quotes" not in content:  # a question that has no answer
            return json.dumps(content)
        if chance.random() < self.lies:
            self.done["lied in the answer"] += 1
            content["answer"] = lie(content["answer"], chance)
        if chance.random() < self.repeats:
            self.done["repeated"] += 1
            content["question"] = "How do people usually go together?"
        elif chance.random() < self.lies:
            self.done["lied"] += 1
            content["quotes"][-1] = lie(content["quotes"][-1], chance)
        self.answers[content["question"]] = content["quotes"]
        return json.dumps(content)


class Told:
    """Replies with what it was told, by a part of the prompt; the last that fits counts."""

    model_name = "told"

    def __init__(self, *replies: tuple[str, Any]) -> None:
        self.replies = replies
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        for part, reply in reversed(self.replies):
            if part in prompt:
                content = reply(prompt) if callable(reply) else reply
                return content if isinstance(content, str) else json.dumps(content)
        raise AssertionError(prompt)


def lie(sentence: str, chance: random.Random) -> str:
    """Return a sentence with a word taken out, one put in its place, or something that nobody wrote."""
    words = sentence.split()
    position = chance.randrange(len(words))
    before = words[:position]
    after = words[position + 1 :]
    invention = ["As", "everybody", "knows,", "the", "answer", "is", "forty-two", "and", "nothing", "else."]
    return " ".join(chance.choice([[*before, *after, "so"], [*before, "never", *after], invention]))
