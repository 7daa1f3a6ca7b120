# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[questions,cli]", "bm25s>=0.2.14", "scikit-learn>=1.4"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# ///
"""Make an evaluation set of the Python reference, see what was rejected, and evaluate two chunkings with it.

Run it with `uv run examples/generate_questions.py`. Without a model a script takes its place, which shows the machinery
and nothing of the quality of questions. A real one is asked with

    uv run examples/generate_questions.py --model http://localhost:11434/v1 --name qwen3:8b     # OpenAI's protocol
    uv run --with xllamacpp examples/generate_questions.py --model model.gguf --sentences       # a file of weights

A key is read from OPENAI_API_KEY. Replies are kept in --cache, so a run that was interrupted goes on where it stopped.
"""

import argparse
import json
import os
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import retrieval_metrics as rm
from corpus import Passage, passages, topics
from retrievers import BM25

LONGEST_REPLY = 400  # tokens


class Script:
    """Stands for a model: asks for some words of one sentence of each passage, and quotes these sentences.

    It is honest about what it knows: a question is answered by a text that holds all it quoted, and by no other.
    """

    model_name = "a script, not a model"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.answers: dict[str, list[str]] = {}

    def __call__(self, prompt: str) -> str:
        """Return the reply to any of the prompts of `generate_questions`."""
        chance = random.Random(f"{self.seed} {prompt}")  # noqa: S311 - to choose sentences
        shown = re.findall(r"<passage>\n(.*?)\n</passage>", prompt, re.DOTALL)
        if "<text>" in prompt:
            return self.answerable(prompt)
        return json.dumps({"quotes": []}) if "<quote>" in prompt else self.question(prompt, shown, chance)

    def question(self, prompt: str, shown: Sequence[str], chance: random.Random) -> str:
        """Return a question on some passages, in the form in which it is asked for."""
        quotes = [chance.choice(usable_sentences(passage)) for passage in shown]
        telling = [word for quote in quotes for word in chance.sample(sorted(telling_words(quote)), 3)]
        if "search box" in prompt:
            question = " ".join(telling[:3])
        elif "Use none of the telling words" in prompt:
            question = f"Which remedy helps a bewildered newcomer struggling over {telling[0]} or {telling[1]}?"
        else:
            question = f"How do {', '.join(telling)} go together?"
        self.answers[question] = quotes
        return json.dumps({"question": question, "quotes": quotes})

    def answerable(self, prompt: str) -> str:
        """Return whether a text holds everything that was quoted for a question."""
        question = re.findall(r"<question>(.*?)</question>", prompt)[0]
        text = "".join(prompt[prompt.index("<text>") :].split())
        return json.dumps({"answerable": all("".join(quote.split()) in text for quote in self.answers[question])})


def usable_sentences(passage: str) -> list[str]:
    """Return the sentences of a passage that have something to ask about, or the one that has most."""
    sentences = [one.strip() for one in re.split(r"(?<=[.!?])\s+|\n[ \t]*\n", passage) if one.strip()]
    usable = [one for one in sentences if len(telling_words(one)) >= 6 and len(one) <= 400]  # noqa: PLR2004 - enough
    return usable or [max(sentences, key=lambda one: len(telling_words(one)))]


def telling_words(sentence: str) -> set[str]:
    """Return the longer words of a sentence, and a few that are always there."""
    return {"python", "reference", "language"} | set(re.findall(r"[a-z]{4,}", sentence.lower()))


def of_address(address: str, name: str) -> Callable[[str], str]:
    """Return a model that is asked by OpenAI's protocol, which most servers of models speak."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}

    def model(prompt: str) -> str:
        body = {"model": name, "messages": [{"role": "user", "content": prompt}], "temperature": 0}
        request = Request(f"{address.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers)  # noqa: S310 - the user's
        with urlopen(request) as response:  # noqa: S310 - likewise
            return str(json.load(response)["choices"][0]["message"]["content"])

    return model


def of_file(path: str) -> Callable[[str], str]:
    """Return a model whose weights are in a GGUF file, run in this process."""
    import xllamacpp  # noqa: PLC0415 - only for weights

    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.n_ctx = 8192
    parameters.n_parallel = 1
    parameters.warmup = False
    server = xllamacpp.Server(parameters)

    def model(prompt: str) -> str:
        body = {
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": LONGEST_REPLY,
            "cache_prompt": False,  # with it the same prompt may get another reply
        }
        return str(server.handle_chat_completions(body)["choices"][0]["message"]["content"])

    return model


def as_items(pieces: Sequence[Passage]) -> dict[str, rm.Retrieved]:
    """Return passages as items with their places, by id."""
    return {piece.id: rm.Retrieved(piece.id, piece.text, piece.topic, piece.start, piece.end) for piece in pieces}


def main() -> None:
    """Make the questions, print how they came about, and use them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="the address of a server that speaks OpenAI's protocol, or a GGUF file")
    parser.add_argument("--name", help="the name of the model on that server")
    parser.add_argument("--cache", type=Path, help="the file that replies are kept in")
    parser.add_argument("--sentences", action="store_true", help="let the model point at sentences, not copy them")
    parser.add_argument("-n", type=int, default=60, help="how many questions")
    parser.add_argument("--save", type=Path, help="where to write the questions")
    options = parser.parse_args()
    of_weights = options.model is not None and options.model.endswith(".gguf")
    if options.model is None:
        model: Callable[[str], str] = Script()
    elif of_weights:
        model = of_file(options.model)
    else:
        model = of_address(options.model, options.name or parser.error("a server needs --name, that of the model"))

    made = rm.generate_questions(
        topics(),
        model,
        options.n,
        model_name=options.name or options.model,
        evidence="sentences" if options.sentences else "quotes",
        cache=options.cache,
        workers=1 if of_weights else 8,
        show_progress=options.model is not None,
    )
    if options.model is None:
        print("No model was asked: a script wrote these questions, so they show the machinery and no quality.\n")
    print(made)
    if options.save:
        made.questions.save(options.save)
    if not made.questions.queries:
        return

    print("\nThe first of each kind:\n")
    first = {kind: query for query, kind in reversed(list(made.questions.labels("kind").items()))}
    texts, qrels = dict[Any, str](made.questions.queries), dict[Any, Any](made.questions.qrels)
    for kind in sorted(first):
        groups = qrels[first[kind]]
        quotes = " + ".join(repr(" ".join(group[0].text.split())[:60]) for group in groups)
        print(f"{kind}: {texts[first[kind]]}\n    {quotes}")

    print("\nOne truth, two chunkings, BM25:\n")
    match = rm.Matching(sources=topics())
    for name, size in (("paragraphs", 180), ("short", 60)):
        pieces = passages(size)
        index, items = BM25(pieces), as_items(pieces)
        run = {query: [items[found] for found in index.search(text, 50)] for query, text in texts.items()}
        means = rm.evaluate(made.questions, run, ["recall@2000chars", "ndcg@10"], match=match).means
        print(f"{name:<12}{len(pieces):>5} chunks  " + "  ".join(f"{key} {mean:.3f}" for key, mean in means.items()))


if __name__ == "__main__":
    main()
