"""A model that follows a script: it writes questions on what it sees, and lies, fails and repeats itself as told."""

import json
import random
import re
import threading
import time
from collections import Counter
from typing import Any

from retrieval_metrics.judging.matching.normalised import normalised
from retrieval_metrics.judging.matching.texts import words
from retrieval_metrics.questions.generating.corpus import sentence_places
from retrieval_metrics.questions.linting.wording import FUNCTION_WORDS

FEWEST_TELLING = 4
LONGEST = 400


class ScriptedModel:
    """Writes a question with some words of one sentence of each passage, and quotes these sentences.

    It knows what it wrote: a question is answerable from a text if the text holds all sentences that it quoted.
    """

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
        """Take the share of replies that quote what is not there, are no JSON, and so on."""
        self.lies, self.broken, self.fails, self.slow, self.repeats = lies, broken, fails, slow, repeats
        self.seed = seed
        self.answers: dict[str, list[str]] = {}
        self.asked = Counter[str]()
        self.done = Counter[str]()
        self._lock = threading.Lock()

    def __call__(self, prompt: str) -> Any:
        with self._lock:
            self.asked[prompt] += 1
            attempt = self.asked[prompt]
        # What goes wrong is decided by the prompt, so that a rerun sees the same model; a second call is answered.
        chance = random.Random(f"{self.seed} {prompt}")
        if chance.random() < self.fails and attempt == 1:
            self.done["failed"] += 1
            raise ConnectionError("the line is dead")
        if chance.random() < self.slow and attempt == 1:
            self.done["slow"] += 1
            time.sleep(0.3)
        reply = self.reply(prompt, chance)
        if chance.random() < self.broken:
            self.done["broken"] += 1
            return reply[: len(reply) // 2]
        return reply

    def reply(self, prompt: str, chance: random.Random) -> str:
        if "<text>" in prompt:
            return self.answerable(prompt, chance)
        passages = re.findall(r"<passage>\n(.*?)\n</passage>", prompt, re.DOTALL)
        if "<quote>" in prompt:
            return self.others(passages, chance)
        return self.question(prompt, passages, chance)

    def question(self, prompt: str, passages: list[str], chance: random.Random) -> str:
        sentences = [chance.choice(usable(passage)) for passage in passages]
        telling = [word for sentence in sentences for word in chance.sample(sorted(telling_words(sentence)), 3)]
        if "search box" in prompt:
            question = " ".join(telling[:3])
        elif "Use none of the telling words" in prompt:
            question = f"Which remedy helps a bewildered newcomer struggling over {telling[0]} or {telling[1]}?"
        else:
            question = f"How do {', '.join(telling)} go together?"
        if chance.random() < self.repeats:
            self.done["repeated"] += 1
            question = "How do people usually go together?"
        elif chance.random() < self.lies:
            self.done["lied"] += 1
            sentences[-1] = lie(sentences[-1], chance)
        with self._lock:
            self.answers[question] = sentences
        return json.dumps({"question": question, "quotes": sentences})

    def answerable(self, prompt: str, chance: random.Random) -> str:
        question = re.findall(r"<question>(.*?)</question>", prompt)[0]
        text = normalised(prompt[prompt.index("<text>") :])
        yes = all(normalised(quote) in text for quote in self.answers[question])
        if chance.random() < self.lies / 10:
            yes = not yes
        return json.dumps({"answerable": yes})

    def others(self, passages: list[str], chance: random.Random) -> str:
        quotes = []
        if chance.random() < self.lies:
            self.done["lied of others"] += 1
            quotes = [lie(chance.choice(usable(passages[0])), chance)]
        return json.dumps({"quotes": quotes})


def usable(passage: str) -> list[str]:
    sentences = [passage[start:end] for start, end in sentence_places(passage)]
    long = [one for one in sentences if len(telling_words(one)) >= FEWEST_TELLING and len(one) <= LONGEST]
    return long or [max(sentences, key=lambda one: len(telling_words(one)))]


def telling_words(sentence: str) -> set[str]:
    return {word for word in words(sentence) if len(word) > 2 and word.isalpha() and word not in FUNCTION_WORDS} | {
        "python",
        "reference",
        "language",
    }


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
