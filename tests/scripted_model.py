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
        self.lies, self.broken, self.fails, self.slow, self.repeats = lies, broken, fails, slow, repeats
        self.asked = Counter[str]()
        self.done = Counter[str]()
        self._lock = threading.Lock()

    def __call__(self, prompt: str) -> str:
        with self._lock:
            self.asked[prompt] += 1
            attempt = self.asked[prompt]
        # What goes wrong is decided by the prompt, so that a rerun sees the same model; a second call is answered.
        chance = random.Random(f"wrong {self.seed} {prompt}")
        if chance.random() < self.fails and attempt == 1:
            self.done["failed"] += 1
            raise ConnectionError("the line is dead")
        if chance.random() < self.slow and attempt == 1:
            self.done["slow"] += 1
            time.sleep(0.3)
        reply = super().__call__(prompt)
        said = json.loads(reply)
        if chance.random() < self.lies / 10 and "answerable" in said:
            said["answerable"] = not said["answerable"]
        elif "<quote>" in prompt and chance.random() < self.lies:
            self.done["lied of others"] += 1
            passage = re.findall(r"<passage>\n(.*?)\n</passage>", prompt, re.DOTALL)[0]
            said["quotes"] = [lie(chance.choice(usable_sentences(passage)), chance)]
        if chance.random() < self.broken:
            self.done["broken"] += 1
            return reply[: len(reply) // 2]
        return json.dumps(said)

    def question(self, prompt: str, shown: Sequence[str], chance: random.Random) -> str:
        said = json.loads(super().question(prompt, shown, chance))
        if "quotes" not in said:  # a question that has no answer
            return json.dumps(said)
        if chance.random() < self.lies:
            self.done["lied in the answer"] += 1
            said["answer"] = lie(said["answer"], chance)
        if chance.random() < self.repeats:
            self.done["repeated"] += 1
            said["question"] = "How do people usually go together?"
        elif chance.random() < self.lies:
            self.done["lied"] += 1
            said["quotes"][-1] = lie(said["quotes"][-1], chance)
        self.answers[said["question"]] = said["quotes"]
        return json.dumps(said)


class Told:
    """Replies with what it was told, by a part of the prompt; the last that fits counts."""

    model_name = "told"

    def __init__(self, *replies: tuple[str, Any]) -> None:
        self.replies = replies
        self.asked: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.asked.append(prompt)
        for part, reply in reversed(self.replies):
            if part in prompt:
                said = reply(prompt) if callable(reply) else reply
                return said if isinstance(said, str) else json.dumps(said)
        raise AssertionError(prompt)


def lie(sentence: str, chance: random.Random) -> str:
    """Return a sentence with a word taken out, one put in its place, or something that nobody wrote."""
    parts = sentence.split()
    at = chance.randrange(len(parts))
    return " ".join(
        chance.choice(
            [
                [*parts[:at], *parts[at + 1 :], "so"],
                [*parts[:at], "never", *parts[at + 1 :]],
                ["As", "everybody", "knows,", "the", "answer", "is", "forty-two", "and", "nothing", "else."],
            ]
        )
    )
