# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[questions,cli]", "bm25s>=0.2.14", "scikit-learn>=1.4"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# ///
"""Make questions about the Python reference, see which were rejected, and evaluate two chunkings with them.

Run it with `uv run examples/generate_questions.py`. Without `--model` a script stands in for the model: it shows how
the steps work, and says nothing about the quality of questions. To use a real model:

    uv run examples/generate_questions.py --model http://localhost:11434/v1 --name qwen3:8b     # OpenAI's protocol
    uv run --with xllamacpp examples/generate_questions.py --model model.gguf --sentences       # a file of weights

The API key is read from OPENAI_API_KEY. With --cache, an interrupted run continues where it stopped.
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
    """A stand-in for a model: it asks about some words of one sentence of each passage, and quotes these sentences.

    It accepts a text as an answer if and only if the text contains everything it quoted, and an answer if and only if
    it is a part of the text.
    """

    model_name = "a script, not a model"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.answers: dict[str, list[str]] = {}

    def __call__(self, prompt: str) -> str:
        """Return the reply to any of the prompts of `generate_questions`."""
        chance = random.Random(f"{self.seed} {prompt}")
        shown = re.findall(r"<passage>\n(.*?)\n</passage>", prompt, re.DOTALL)
        if "<answer>" in prompt:
            answer = between("answer", prompt)
            return json.dumps({"supported": squeezed(answer) in squeezed(between("text", prompt))})
        if '"clear"' in prompt:
            return json.dumps({"clear": "they" not in between("question", prompt)})
        if "<text>" in prompt:
            return self.answerable(prompt)
        return json.dumps({"quotes": []}) if "<quote>" in prompt else self.question(prompt, shown, chance)

    def question(self, prompt: str, shown: Sequence[str], chance: random.Random) -> str:
        """Return a question about some passages, in the requested form."""
        quotes = [chance.choice(usable_sentences(passage)) for passage in shown]
        telling = [word for quote in quotes for word in chance.sample(sorted(telling_words(quote)), 3)]
        answer: dict[str, Any] = {}
        if "search box" in prompt:
            question = " ".join(telling[:3])
        elif "does not answer" in prompt:
            question = f"Which museum shows a painting of {telling[0]} and {telling[1]}?"
            self.answers[question] = ["nobody has painted it"]
            return json.dumps({"question": question})
        elif "one after the other" in prompt:
            before = chance.choice(
                [sentence for sentence in usable_sentences(shown[0]) if sentence != quotes[0]] or ["nothing"]
            )
            answer = {"first": f"What is known of {telling[0]} and {telling[1]}?", "said": [before]}
            question = f"And what do they do with {telling[2]}?"
            self.answers[answer["first"]] = [before]
        elif "in other words than the passage" in prompt:
            question = f"Which remedy helps a bewildered newcomer struggling over {telling[0]} or {telling[1]}?"
        else:
            question = f"How do {', '.join(telling)} go together?"
        self.answers[question] = quotes
        return json.dumps({**answer, "question": question, "quotes": quotes, "answer": quotes[0]})

    def answerable(self, prompt: str) -> str:
        """Return whether a text contains everything that was quoted for a question, the last one of a conversation."""
        question = between("question", prompt)
        text = squeezed(between("text", prompt))
        if question.startswith("Does the text say this?"):
            return json.dumps({"answerable": squeezed(question.partition('"')[2].removesuffix('"')) in text})
        answer = self.answers[question.rpartition("\n")[2]]
        return json.dumps({"answerable": all(squeezed(quote) in text for quote in answer)})


def between(tag: str, prompt: str) -> str:
    """Return what stands between two tags of a prompt."""
    match = re.search(f"<{tag}>\\s*(.*?)\\s*</{tag}>", prompt, re.DOTALL)
    return match[1] if match else ""


def squeezed(text: str) -> str:
    """Return a text without white space."""
    return "".join(text.split())


def usable_sentences(passage: str) -> list[str]:
    """Return the sentences of a passage with enough words to ask about, or the best of them."""
    sentences = [sentence.strip() for sentence in re.split(r"(?<=[.!?])\s+|\n[ \t]*\n", passage) if sentence.strip()]
    usable = [sentence for sentence in sentences if len(telling_words(sentence)) >= 6 and len(sentence) <= 400]
    return usable or [max(sentences, key=lambda sentence: len(telling_words(sentence)))]


def telling_words(sentence: str) -> set[str]:
    """Return the longer words of a sentence, and a few that are always included."""
    return {"python", "reference", "language"} | set(re.findall(r"[a-z]{4,}", sentence.lower()))


def model_at_address(address: str, name: str) -> Callable[[str], str]:
    """Return a model behind a server that speaks OpenAI's protocol, as most model servers do."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}

    def model(prompt: str) -> str:
        body = {"model": name, "messages": [{"role": "user", "content": prompt}], "temperature": 0}
        request = Request(f"{address.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers)  # noqa: S310 - the user's
        with urlopen(request) as response:  # noqa: S310 - likewise
            return str(json.load(response)["choices"][0]["message"]["content"])

    return model


def model_of_file(path: str) -> Callable[[str], str]:
    """Return a model that runs in this process, with weights from a GGUF file."""
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
            "cache_prompt": False,  # a cached prompt can change the reply
        }
        return str(server.handle_chat_completions(body)["choices"][0]["message"]["content"])

    return model


def as_items(pieces: Sequence[Passage]) -> dict[str, rm.Retrieved]:
    """Return passages as items with their offsets, by id."""
    return {piece.id: rm.Retrieved(piece.id, piece.text, piece.topic, piece.start, piece.end) for piece in pieces}


def main() -> None:
    """Make the questions, print a summary, and evaluate two chunkings with them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="the address of a server that speaks OpenAI's protocol, or a GGUF file")
    parser.add_argument("--name", help="the name of the model on that server")
    parser.add_argument("--cache", type=Path, help="the file to keep replies in")
    parser.add_argument("--sentences", action="store_true", help="let the model name sentences by number")
    parser.add_argument("-n", type=int, default=60, help="how many questions")
    parser.add_argument("--kinds", nargs="+", help="the kinds of questions, such as comparison or unanswerable")
    parser.add_argument("--save", type=Path, help="the file to write the questions to")
    options = parser.parse_args()
    of_weights = options.model is not None and options.model.endswith(".gguf")
    if options.model is None:
        model: Callable[[str], str] = Script()
    elif of_weights:
        model = model_of_file(options.model)
    else:
        model = model_at_address(
            options.model, options.name or parser.error("a server needs --name, the name of the model")
        )

    generated = rm.generate_questions(
        topics(),
        rm.Model(model, name=options.name or options.model, cache=options.cache, workers=1 if of_weights else 8),
        options.n,
        kinds=options.kinds,
        evidence="sentences" if options.sentences else "quotes",
        show_progress=options.model is not None,
    )
    if options.model is None:
        print("No model was asked: a script wrote these questions. They say nothing about quality.\n")
    print(generated)
    if options.save:
        generated.questions.save(options.save)
    if not generated.questions.queries:
        return

    print("\nThe first of each kind:\n")
    first = {kind: query for query, kind in reversed(list(generated.questions.provenance_values("kind").items()))}
    texts = dict[Any, str](generated.questions.queries)
    qrels = dict[Any, Any](generated.questions.qrels)
    for kind in sorted(first):
        groups = qrels[first[kind]]
        quotes = " + ".join(repr(" ".join(group[0].text.split())[:60]) for group in groups)
        print(f"{kind}: {texts[first[kind]]}\n    {quotes}")

    print("\nThe same judgments for two chunkings, with BM25:\n")
    match = rm.Matching(sources=topics())
    for name, size in (("paragraphs", 180), ("short", 60)):
        pieces = passages(size)
        index = BM25(pieces)
        items = as_items(pieces)
        run = {query: [items[position] for position in index.search(text, 50)] for query, text in texts.items()}
        means = rm.evaluate(generated.questions, run, ["recall@2000chars", "ndcg@10"], match=match).means
        print(f"{name:<12}{len(pieces):>5} chunks  " + "  ".join(f"{key} {mean:.3f}" for key, mean in means.items()))


if __name__ == "__main__":
    main()
