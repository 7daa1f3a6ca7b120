"""Print every result of the package with the call that made it: `python tests/printed_results.py`.

The questions and passages are those of the handbook of a ferry line in `examples/handbook`; three retrievers that count
words search it. `test_printed_results.py` compares what is printed with `golden/printed_results.txt`, so a change of
any wording shows in one difference.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import random
import re
import shlex
import sys
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import chain, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest

import retrieval_metrics as rm
from printed_calls import SECTIONS
from retrieval_metrics.cli.main import main as run_command_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HANDBOOK = Path(__file__).parent.parent / "examples" / "handbook"
N_QUESTIONS = 40
DEPTH = 10
# How many of the passages that fusion finds the last stage of the pipeline keeps.
N_RERANKED = 5
# How many results of each search people have graded.
JUDGED_DEPTH = 5
# Grades of passages: what answers the question, and what stands on the same page and was found.
ANSWERS = 2
ON_TOPIC = 1
# The same on the scale of labels, 0 to 3.
LABEL_BY_GRADE = {0: 0, ON_TOPIC: 1, ANSWERS: 3}
# With what a call begins that is a command of a shell.
COMMAND = "$ "
# Variables that change what pytest prints: with the first two set, as on build servers, it repeats messages in full.
SETTINGS_OF_PYTEST = ("CI", "BUILD_NUMBER", "PYTEST_ADDOPTS")
# What differs from run to run or between machines, with what is written in its place: dates, durations, last digits.
VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"=+ (.+) in \d+\.\d\ds =+"), r"\1 in <seconds>"),
    (re.compile(r"^system +failed +median +95th percentile +longest$", re.MULTILINE), "system  failed  <seconds>"),
    (re.compile(r"^(reranked|before) +(\d+)( +\d[\d.e-]*){3}$", re.MULTILINE), r"\1  \2  <seconds>"),
    (re.compile(r"\b(\d\.\d{8})\d+"), r"\1..."),
)


# The data.


@dataclass(frozen=True)
class Handbook:
    """The questions and passages.

    Attributes:
        corpus: The paragraphs by id, such as `tickets.md#2`.
        texts: The questions.
        needed: What each question needs: pages and quotes.
    """

    corpus: dict[str, str]
    texts: dict[str, str]
    needed: dict[str, list[dict[str, str]]]


def read_handbook() -> Handbook:
    """Return the passages, and the first questions."""
    corpus = {}
    for page in sorted(HANDBOOK.glob("*.md")):
        paragraphs = page.read_text(encoding="utf-8").split("\n\n")[1:]
        for number, paragraph in enumerate(paragraphs, start=1):
            corpus[f"{page.name}#{number}"] = paragraph.strip()
    lines = (HANDBOOK / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines[:N_QUESTIONS]]
    return Handbook(corpus, {row["id"]: row["query"] for row in rows}, {row["id"]: row["needed"] for row in rows})


def full_words(text: str) -> list[str]:
    """Return the longer words as they are written."""
    return re.findall(r"\w{4,}", text)


def stemmed_words(text: str) -> list[str]:
    """Return the beginnings of words in lower case, so that "tickets" meets "Ticket"."""
    return [word[:5] for word in re.findall(r"\w{3,}", text.lower())]


@dataclass(frozen=True)
class WordSearch:
    """Rank passages by the words that they share with a question; rare words count more."""

    corpus: dict[str, str]
    words_of: Callable[[str], list[str]]

    def __call__(self, text: str) -> dict[str, float]:
        words_by_passage = {name: set(self.words_of(passage)) for name, passage in self.corpus.items()}
        frequency = Counter(chain.from_iterable(words_by_passage.values()))
        scores = {}
        for name, words in words_by_passage.items():
            weights = [math.log(len(self.corpus) / frequency[word]) for word in words.intersection(self.words_of(text))]
            scores[name] = round(math.fsum(weights), 3)
        best = sorted(scores, key=lambda name: (-scores[name], name))[:DEPTH]
        return {name: scores[name] for name in best if scores[name]}


@dataclass(frozen=True)
class Pipeline:
    """Search both ways, fuse, and rerank by the number of shared words."""

    corpus: dict[str, str]

    def __call__(self, text: str) -> dict[str, list[str]]:
        keywords = list(WordSearch(self.corpus, full_words)(text))
        stems = list(WordSearch(self.corpus, stemmed_words)(text))
        fused = list(rm.fuse({"keywords": {"q": keywords}, "stems": {"q": stems}})["q"])[:DEPTH]
        asked = set(stemmed_words(text))
        n_shared = {name: len(asked.intersection(stemmed_words(self.corpus[name]))) for name in fused}
        reranked = sorted(fused, key=lambda name: (-n_shared[name], name))[:N_RERANKED]
        return {"keywords": keywords, "stems": stems, "fused": fused, "reranked": reranked}


@dataclass(frozen=True)
class FailingSearch:
    """A search that fails for some questions."""

    search: WordSearch

    def __call__(self, text: str) -> dict[str, float]:
        if "refund" in text or "bicycle" in text:
            raise TimeoutError("no answer within 5 seconds")
        return self.search(text)


@dataclass(frozen=True)
class GenerousModel:
    """A model that grades as people do, but every fifth passage one grade higher."""

    handbook: Handbook
    labels: dict[str, dict[str, int]]

    def __call__(self, prompt: str) -> str:
        query = next(query for query, text in self.handbook.texts.items() if text in prompt)
        name = next(name for name, passage in self.handbook.corpus.items() if passage in prompt)
        grade = self.labels[query].get(name, 0)
        if crc32(prompt.encode()) % 5 == 0:
            grade = min(3, grade + 1)
        return json.dumps({"grade": grade})


def judge(handbook: Handbook, runs: Sequence[dict[str, dict[str, float]]]) -> dict[str, dict[str, int]]:
    """Return the grades of what answers each question, and of the first results of the runs."""
    qrels: dict[str, dict[str, int]] = {}
    for query, needed in handbook.needed.items():
        grades = {name: 0 for run in runs for name in list(run[query])[:JUDGED_DEPTH]}
        for place in needed:
            on_page = [name for name in handbook.corpus if name.startswith(place["source"])]
            for name in on_page:
                if place["quote"] in handbook.corpus[name]:
                    grades[name] = ANSWERS
                elif name in grades:
                    grades[name] = max(grades[name], ON_TOPIC)
        qrels[query] = grades
    return qrels


def rank_at_random(text: str, corpus: dict[str, str]) -> list[str]:
    """Return passages that have nothing to do with the question."""
    return random.Random(crc32(text.encode())).sample(sorted(corpus), DEPTH)


def make_names() -> dict[str, Any]:
    """Return what the calls refer to, by name."""
    handbook = read_handbook()
    corpus = handbook.corpus
    texts = handbook.texts
    search_keywords = WordSearch(corpus, full_words)
    search_stems = WordSearch(corpus, stemmed_words)
    keywords = {query: search_keywords(text) for query, text in texts.items()}
    stems = {query: search_stems(text) for query, text in texts.items()}
    qrels = judge(handbook, [keywords, stems])
    quotes = {query: [rm.Quote(place["quote"]) for place in needed] for query, needed in handbook.needed.items()}
    provenance: dict[Any, rm.Provenance] = {
        query: rm.Provenance(source=needed[0]["source"]) for query, needed in handbook.needed.items()
    }
    labels = {query: {name: LABEL_BY_GRADE[grade] for name, grade in grades.items()} for query, grades in qrels.items()}
    return {
        "rm": rm,
        "os": os,
        "random": random,
        "Path": Path,
        "corpus": corpus,
        "texts": texts,
        "qrels": qrels,
        "labels": labels,
        "questions": rm.EvaluationSet(texts, qrels),
        "questions_with_sources": rm.EvaluationSet(texts, qrels, provenance),
        "questions_with_quotes": rm.EvaluationSet(texts, quotes, provenance),
        "keywords": keywords,
        "stems": stems,
        "random_order": {query: rank_at_random(text, corpus) for query, text in texts.items()},
        "search_stems": search_stems,
        "search_in_stages": Pipeline(corpus),
        "search_with_outages": FailingSearch(search_stems),
        "grade_generously": GenerousModel(handbook, labels),
        "read_page": read_page,
    }


# Running them.


def iterate_gallery() -> Iterator[str]:
    """Yield each section: its heading, its call, and what the call prints."""
    names = make_names()
    for section in SECTIONS:
        code = dedent(section.code).strip()
        printed = run(code, names)
        for pattern, mask in VARYING:
            printed = pattern.sub(mask, printed)
        yield f"## {section.heading}\n\n{format_call(code)}\n\n{strip_lines(printed)}\n"


def format_call(code: str) -> str:
    """Return the code as a reader of a console sees it."""
    if code.startswith(COMMAND):
        return code
    lines = [f">>> {line}".rstrip() for line in code.splitlines()]
    return "\n".join(lines)


def strip_lines(text: str) -> str:
    """Return the text without blanks at the ends of its lines, and without empty lines around it."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def run(code: str, names: dict[str, Any]) -> str:
    """Run the code and return what it prints, warns of and raises."""
    out = io.StringIO()

    def show_warning(message: Warning | str, category: type[Warning], *_place: object) -> None:
        out.write(f"{category.__name__}: {message}\n")

    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show_warning  # type: ignore[assignment]  # it needs no more than these
        try:
            if code.startswith(COMMAND):
                run_command(code.removeprefix(COMMAND))
            else:
                exec(compile(code, "<call>", "exec"), names)  # noqa: S102  (the calls are ours)
        except Exception as error:
            out.write("".join(traceback.format_exception_only(error)))
    return out.getvalue()


def run_command(command: str) -> None:
    """Run a command of the package or of pytest in this process."""
    words = shlex.split(command)
    variables = dict(word.split("=", 1) for word in takewhile(lambda word: "=" in word, words))
    program, *arguments = words[len(variables) :]
    try:
        if program == "retrieval-metrics":
            code = run_command_line(arguments)
        else:
            code = run_pytest(arguments, variables)
    except SystemExit as end:  # the parser of options ends so
        code = int(end.code or 0)
    if code:
        sys.stdout.write(f"exit code {code}\n")


def run_pytest(arguments: list[str], variables: dict[str, str]) -> int:
    """Run the tests of the folder with no plug-in but ours."""
    settings = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "NO_COLOR": "1", "COLUMNS": "120"}
    options = ["--no-header", "-p", "pytest_retrieval_metrics.plugin", "-p", "no:cacheprovider"]
    before = dict(os.environ)
    for name in SETTINGS_OF_PYTEST:
        os.environ.pop(name, None)
    os.environ.update(settings | variables)
    try:
        return int(pytest.main([*options, *arguments]))
    finally:
        os.environ.clear()
        os.environ.update(before)


class VisibleText(HTMLParser):
    """The text of a page as its reader sees it, one block a line."""

    INLINE = frozenset({"a", "abbr", "b", "code", "em", "i", "small", "span", "strong", "td", "th", "text", "tspan"})
    HIDDEN = frozenset({"script", "style", "template", "title"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.n_hidden = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.n_hidden += tag in self.HIDDEN
        self.parts.append(" " if tag in self.INLINE else "\n")

    def handle_endtag(self, tag: str) -> None:
        self.n_hidden -= tag in self.HIDDEN

    def handle_data(self, data: str) -> None:
        if not self.n_hidden:
            self.parts.append(data.replace("\n", " "))

    def __str__(self) -> str:
        lines = [" ".join(line.split()) for line in "".join(self.parts).splitlines()]
        return "\n".join(line for line in lines if line)


def read_page(path: str, n_lines: int) -> str:
    """Return the first lines of the visible text of an HTML file."""
    text = str(VisibleText(Path(path).read_text(encoding="utf-8")))
    return "\n".join(text.splitlines()[:n_lines])


def make_gallery() -> str:
    """Return the whole gallery."""
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        return "\n".join(iterate_gallery()).replace(folder, "<folder>")


if __name__ == "__main__":
    sys.stdout.write(make_gallery())
