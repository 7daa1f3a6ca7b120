# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[files,questions]"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Does the lint find what is wrong with an evaluation set, and is it quiet where nothing is?

    uv run tests/benchmarks/lint.py
    uv run tests/benchmarks/lint.py --passages 5000 --questions 1000

Defects of every kind are planted into the questions of the tutorial's handbook, which no threshold of the lint was
chosen on, and into the sets that they were chosen on: our questions on the Python reference, and where
RETRIEVAL_METRICS_DATA names a folder with them, Cranfield (judged by id) and the Chroma questions (judged by quotes and
spans). `found` is the share of planted defects that are reported under their name, `alarms` the share of the questions
of the untouched set with a finding of that name. Some of those are right: the sets are public, not perfect. What a
plain count of the text proves, quotes that stand in several places, is left out.

With --questions the time is taken on sets made up for it, each twice as large as the one before.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence  # noqa: TC003  (a dataclass reads its annotations)
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from scipy.stats import binomtest

import corpus as reference
import questions as asked
import retrieval_metrics as rm

PLANTED = 20
FILLER = "Nothing else in this paragraph has to do with it, and it was only written to stand around what is quoted. "


@dataclass(frozen=True)
class Case:
    """A set of questions and what is searched."""

    name: str
    queries: dict[str, str]
    qrels: dict[str, Any]
    passages: list[rm.Retrieved]
    runs: dict[str, Any] | None = None

    def lint(self) -> rm.types.Lint:
        questions = rm.EvaluationSet(self.queries, self.qrels)
        report = questions.lint(self.passages)
        if self.runs is None:
            return report
        by_runs = questions.lint(self.passages, self.runs).named("unjudged_at_top")
        return rm.types.Lint(questions, [*report, *by_runs])

    def text(self, judged: Any) -> str:
        if isinstance(judged, rm.Quote):
            return judged.text
        if isinstance(judged, rm.Span):
            return next(p for p in self.passages if p.source == judged.source).text[judged.start : judged.end]
        return next(p.text for p in self.passages if p.id == judged)

    def judged(self, query: str, kind: type) -> list[Any]:
        """What is relevant to a question, of one kind."""
        judgments = self.qrels[query]
        groups = [judgments] if isinstance(judgments, dict) else judgments
        return [
            document
            for group in groups
            for document in group
            if isinstance(document, kind) and (not isinstance(group, dict) or group[document] > 0)
        ]


Planted = tuple[Case, list[str]]


def ours() -> list[Case]:
    passages = reference.passages()
    items = [rm.Retrieved(p.id, p.text, source=p.topic, start=p.start, end=p.end) for p in passages]
    quoted: dict[str, Any] = {}
    for query, judged in asked.quotes().items():
        parts = [judged] if isinstance(judged, dict) else judged
        groups = [{rm.Quote(quote): grade for quote, grade in part.items()} for part in parts]
        quoted[query] = groups[0] if isinstance(judged, dict) else groups
    return [
        Case("Python, ids", asked.queries(), asked.qrels(passages), items),
        Case("Python, quotes", asked.queries(), quoted, items),
    ]


def handbook() -> list[Case]:
    """The questions of the tutorial, which no threshold was chosen on, by quotes and by the ids of paragraphs."""
    folder = Path(asked.__file__).parents[1] / "handbook"
    passages = [
        rm.Retrieved(f"{path.name}#{start}", text, source=path.name, start=start)
        for path in sorted(folder.glob("*.md"))
        for start, text in paragraphs(path.read_text(encoding="utf-8"))
    ]
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    queries = {row["id"]: row["query"] for row in rows}
    quoted = {row["id"]: [[rm.Quote(piece["quote"])] for piece in row["needed"]] for row in rows}
    spans = {
        row["id"]: {
            passage.id: 1.0
            for passage in passages
            for piece in row["needed"]
            if " ".join(piece["quote"].split()) in " ".join((passage.text or "").split())
        }
        for row in rows
    }
    return [Case("Handbook, quotes", queries, quoted, passages), Case("Handbook, ids", queries, spans, passages)]


def paragraphs(text: str) -> Iterable[tuple[int, str]]:
    start = 0
    for part in text.split("\n\n"):
        if len(part.split()) >= 5:
            yield start, part
        start += len(part) + 2


def cranfield(folder: Path) -> Case:
    runs = {name: dict(rm.read_run(folder / f"run.{name}.trec")) for name in ("bm25", "minilm_int8")}
    qrels = rm.read_qrels(folder / "qrels.graded.trec")
    texts = rm.read_corpus(folder / "corpus.jsonl")
    return Case(
        "Cranfield",
        dict(rm.read_queries(folder / "queries.jsonl")),
        {query: qrels.judgments(index) for index, query in enumerate(qrels.queries)},
        [rm.Retrieved(name, text, source=name, start=0) for name, text in texts.items()],
        runs,
    )


def chroma(folder: Path) -> Case:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("corpora/*.md"))}
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    qrels = {
        f"q{number}": [
            [rm.Quote(part["content"]), rm.Span(row["corpus_id"], part["start_index"], part["end_index"])]
            for part in json.loads(row["references"])
        ]
        for number, row in enumerate(rows)
    }
    queries = {f"q{number}": row["question"] for number, row in enumerate(rows)}
    return Case(
        "Chroma", queries, qrels, [rm.Retrieved(name, text, source=name, start=0) for name, text in texts.items()]
    )


# What is planted; each returns the set with its defects, and the questions that have them.


def copied(
    case: Case, chance: random.Random, changes: Sequence[Callable[[str], str]], qrels: Callable[[Any], Any]
) -> Planted:
    chosen = chance.sample(sorted(case.queries), min(PLANTED, len(case.queries)))
    new = {
        f"copy of {query}": (chance.choice(changes)(case.queries[query]), qrels(case.qrels[query])) for query in chosen
    }
    return replace(
        case,
        queries=case.queries | {query: text for query, (text, _) in new.items()},
        qrels=case.qrels | {query: judged for query, (_, judged) in new.items()},
    ), list(new)


def duplicates(case: Case, chance: random.Random) -> Planted:
    changes = (str.upper, lambda text: f"  {text.rstrip('?. ')} ", lambda text: text.replace(" ", "  "))
    return copied(case, chance, changes, lambda judged: judged)


def near_duplicates(case: Case, chance: random.Random) -> Planted:
    def swapped(text: str) -> str:
        words = text.split()
        position = chance.randrange(max(len(words) - 1, 1))
        words[position : position + 2] = reversed(words[position : position + 2])
        return " ".join(words)

    def mistyped(text: str) -> str:
        words = text.split()
        position = max(range(len(words)), key=lambda place: (words[place].isalpha(), len(words[place])))
        cut = len(words[position]) // 2
        words[position] = words[position][:cut] + words[position][cut + 1 :]
        return " ".join(words)

    changes = (swapped, mistyped, lambda text: f"Please tell me: {text}", lambda text: f"Can you explain this? {text}")
    return copied(case, chance, changes, lambda judged: judged)


def contradictions(case: Case, chance: random.Random) -> Planted:
    return copied(case, chance, [str], lambda judged: case.qrels[_other(case, judged, chance)])


def _other(case: Case, judged: Any, chance: random.Random) -> str:
    mine = set(map(repr, _flat(judged)))
    return chance.choice(
        [q for q, other_judged in case.qrels.items() if mine.isdisjoint(map(repr, _flat(other_judged)))]
    )


def _flat(judged: Any) -> list[Any]:
    return list(judged) if isinstance(judged, dict) else [document for group in judged for document in group]


def reworded(case: Case, chance: random.Random, change: Callable[[str, str], str | None]) -> Planted:
    queries = dict(case.queries)
    chosen = list[str]()
    for query in chance.sample(sorted(queries), len(queries)):
        text = change(query, queries[query])
        if text is not None and len(chosen) < PLANTED:
            queries[query] = text
            chosen.append(query)
    return replace(case, queries=queries), chosen


POINTING = (
    "What does this section say about {}?",
    "According to the passage, what about {}?",
    "What does the author think of {}?",
    "What is {} as mentioned above?",
    "How is {} described in the text?",
    "What can be learnt of {} from the following table?",
    "What is said of {} in this document?",
    "Which {} is discussed in the excerpt?",
)


def pointing(case: Case, chance: random.Random) -> Planted:
    def topic(text: str) -> str:
        return max(text.strip(" ?.").split(), key=len).strip("?.,:;'\"")

    return reworded(case, chance, lambda _, text: chance.choice(POINTING).format(topic(text)))


def short(case: Case, chance: random.Random) -> Planted:
    return reworded(case, chance, lambda _, text: max(text.split(), key=len))


def echoing(case: Case, chance: random.Random) -> Planted:
    forms = ("{}?", "Is it true that {}?", "{}", "What is meant by '{}'?")

    def sentence(query: str, _: str) -> str | None:
        texts = [case.text(document) for document in case.judged(query, object)]
        parts = [part.strip() for text in texts for part in text.split(". ")]
        long = [part for part in parts if 8 <= len(part.split()) <= 25 and "\n\n" not in part and "|" not in part]
        return chance.choice(forms).format(long[0].strip(". ")) if long else None

    return reworded(case, chance, sentence)


def appended(case: Case, chance: random.Random) -> Planted:
    """A sentence of the answer behind the question."""
    changed, chosen = echoing(case, chance)
    asked_before = {query: f"{case.queries[query]} {changed.queries[query]}" for query in chosen}
    return replace(changed, queries={**changed.queries, **asked_before}), chosen


def naming(case: Case, chance: random.Random) -> Planted:
    """The id of a relevant document in the question, under ids as indexes have them."""
    chosen = [query for query in sorted(case.qrels) if case.judged(query, str)]
    chosen = chance.sample(chosen, min(PLANTED, len(chosen)))
    named = {query: f"{case.queries[query]} (see {case.judged(query, str)[0]})" for query in chosen}
    return replace(case, queries={**case.queries, **named}), chosen


def misplaced(case: Case, chance: random.Random) -> Planted:
    """Judgments of another question, from another source where there are several."""
    qrels = dict(case.qrels)
    chosen = chance.sample(sorted(qrels), PLANTED)
    for query in chosen:
        qrels[query] = case.qrels[_other(case, case.qrels[query], chance)]
    return replace(case, qrels=qrels), chosen


def rejudged(case: Case, chance: random.Random, kind: type, change: Callable[[Any], Any]) -> Planted:
    """Change one judgment of a kind in some questions."""
    qrels = dict(case.qrels)
    chosen = list[str]()
    for query in chance.sample(sorted(qrels), len(qrels)):
        judged = case.judged(query, kind)
        if len(chosen) == PLANTED or not judged:
            continue
        old = chance.choice(judged)
        new = change(old)
        if new is None:
            continue

        def replaced(group: Any, old: Any = old, new: Any = new) -> Any:
            if isinstance(group, dict):
                return {new if document == old else document: grade for document, grade in group.items()}
            return [new if document == old else document for document in group]

        qrels[query] = (
            replaced(qrels[query]) if isinstance(qrels[query], dict) else [replaced(group) for group in qrels[query]]
        )
        chosen.append(query)
    return replace(case, qrels=qrels), chosen


def unknown(case: Case, chance: random.Random) -> Planted:
    return rejudged(case, chance, str, lambda document: f"{document}-of-yesterday")


def missing(case: Case, chance: random.Random) -> Planted:
    def changed(quote: rm.Quote) -> rm.Quote | None:
        words = quote.text.split()
        if len(words) < 4:
            return None
        middle = len(words) // 2
        return rm.Quote(
            " ".join([*words[:middle], chance.choice(["allegedly", "seldom", "hardly"]), *words[middle + 1 :]])
        )

    return rejudged(case, chance, rm.Quote, changed)


def impossible(case: Case, chance: random.Random) -> Planted:
    chosen = chance.sample(sorted(case.qrels), PLANTED)
    qrels_kept = {query: case.qrels[query] for query in case.qrels}
    for query in chosen:
        judged = qrels_kept[query]
        groups = [{document: grade} for document, grade in judged.items()] if isinstance(judged, dict) else list(judged)
        qrels_kept[query] = [*groups, [f"gone {query}", rm.Quote(f"a quote that {query} never had anywhere")]]
    return replace(case, qrels=qrels_kept), chosen


def moved(case: Case, chance: random.Random) -> Planted:
    def shifted(span: rm.Span) -> rm.Span | None:
        by = chance.randint(20, 300)
        length = len(case.text(rm.Span(span.source, 0, 10**9)))
        return rm.Span(span.source, span.start + by, span.end + by) if span.end + by < length else None

    return rejudged(case, chance, rm.Span, shifted)


def ambiguous(case: Case, chance: random.Random) -> Planted:
    unique = [query for query in sorted(case.qrels) if len(case.judged(query, rm.Quote)) == 1]
    chosen = chance.sample(unique, min(PLANTED, len(unique)))
    added = [
        rm.Retrieved(f"more#{query}", FILLER + case.judged(query, rm.Quote)[0].text + " " + FILLER) for query in chosen
    ]
    return replace(case, passages=[*case.passages, *added]), chosen


def copies(case: Case, chance: random.Random, change: Callable[[str], str]) -> Planted:
    chosen = [query for query in sorted(case.qrels) if case.judged(query, str)]
    chosen = chance.sample(chosen, min(PLANTED, len(chosen)))
    texts = {query: case.text(case.judged(query, str)[0]) for query in chosen}
    chosen = [query for query in chosen if len(texts[query].split()) >= 10]
    added = [rm.Retrieved(f"more#{query}", change(texts[query])) for query in chosen]
    return replace(case, passages=[*case.passages, *added]), chosen


def exact_copies(case: Case, chance: random.Random) -> Planted:
    return copies(case, chance, lambda text: text.upper().replace(" ", "  "))


def edited_copies(case: Case, chance: random.Random) -> Planted:
    def edited(text: str) -> str:
        words = text.split()
        for position in chance.sample(range(len(words)), len(words) // 10):
            words[position] = chance.choice(["moreover", "such", "new", "other"])
        return " ".join(words)

    return copies(case, chance, edited)


def reworded_copies(case: Case, chance: random.Random) -> Planted:
    def edited(text: str) -> str:
        words = text.split()
        for position in chance.sample(range(len(words)), len(words) // 4):
            words[position] = chance.choice(["moreover", "such", "new", "other"])
        return " ".join(words)

    return copies(case, chance, edited)


def halved(case: Case, chance: random.Random) -> Planted:
    """Half of what is relevant is not judged."""
    qrels = dict(case.qrels)
    chosen = list[str]()
    for query in chance.sample(sorted(qrels), len(qrels)):
        relevant = case.judged(query, str)
        if len(chosen) == PLANTED or len(relevant) < 2 or not isinstance(qrels[query], dict):
            continue
        gone = set(chance.sample(relevant, len(relevant) // 2))
        qrels[query] = {document: grade for document, grade in qrels[query].items() if document not in gone}
        chosen.append(query)
    return replace(case, qrels=qrels), chosen


def plant_held_inside(case: Case, chance: random.Random) -> Planted:
    return copies(case, chance, lambda text: FILLER * 3 + text[: len(text) * 3 // 4] + FILLER * 2)


def nothing(case: Case, chance: random.Random) -> Planted:
    qrels = dict(case.qrels)
    chosen = chance.sample(sorted(qrels), PLANTED)
    qrels.update((query, {}) for query in chosen)
    return replace(case, qrels=qrels), chosen


KINDS: tuple[tuple[str, Callable[[Case, random.Random], Planted], tuple[str, ...]], ...] = (
    ("duplicate", duplicates, ("duplicate_question",)),
    ("near duplicate", near_duplicates, ("near_duplicate_question", "duplicate_question")),
    ("contradiction", contradictions, ("conflicting_judgments",)),
    ("points at its passage", pointing, ("dependent_question",)),
    ("too short", short, ("short_question",)),
    ("echo of its answer", echoing, ("echo",)),
    ("answer behind the question", appended, ("echo",)),
    ("id in the question", naming, ("leaked_id",)),
    ("judgments of another", misplaced, ("unanswered",)),
    ("id not in the corpus", unknown, ("unknown_document",)),
    ("quote with a word changed", missing, ("missing_quote",)),
    ("quote in two documents", ambiguous, ("ambiguous_quote",)),
    ("span moved", moved, ("moved_span",)),
    ("group without a way", impossible, ("impossible_group", "unknown_document", "missing_quote")),
    ("copy of a passage", exact_copies, ("unjudged_duplicate",)),
    ("copy, a tenth changed", edited_copies, ("unjudged_duplicate", "possible_answer")),
    ("copy, a quarter changed", reworded_copies, ("unjudged_duplicate", "possible_answer")),
    ("half of it not judged", halved, ("unjudged_duplicate", "possible_answer", "unjudged_at_top")),
    ("held in another passage", plant_held_inside, ("unjudged_duplicate", "possible_answer")),
    ("nothing relevant", nothing, ("no_relevant", "unanswerable")),
)


EIGHT = (
    "duplicate",
    "near duplicate",
    "judgments of another",
    "points at its passage",
    "answer behind the question",
    "id in the question",
    "half of it not judged",
    "copy, a quarter changed",
)
"""The defects that are easily made and easily overlooked."""


def interval(count: int, total: int) -> str:
    """Return a share with its 95% CI (Wilson 1927)."""
    if not total:
        return "     -"
    low, high = binomtest(count, total).proportion_ci(method="wilson")
    return f"{count / total:6.1%} [{low:.0%}, {high:.0%}]"


def alarms(case: Case, names: Iterable[str]) -> int:
    """How many questions of the untouched set have a finding, but for quotes that a count proves to be repeated."""
    text = " ".join(" ".join((passage.text or "").split()).lower() for passage in case.passages)
    queries = set()
    for finding in case.lint():
        if finding.name in names:
            quote = " ".join(str(finding.evidence.get("quote", "")).split()).lower()
            if finding.name != "ambiguous_quote" or text.count(quote) < 2:
                queries.add(finding.query)
    return len(queries)


def measure(cases: list[Case], rounds: int, kinds: Sequence[str]) -> None:
    for case in cases:
        print(f"\n{case.name}: {len(case.queries)} questions, {len(case.passages):,} passages")
        for kind, plant, names in KINDS:
            if kind not in kinds:
                continue
            planted = n_found = 0
            for seed in range(rounds):
                changed, chosen = plant(case, random.Random(seed))
                reported = {finding.query for finding in changed.lint() if finding.name in names}
                planted += len(chosen)
                n_found += len(reported & set(chosen))
            raised = interval(alarms(case, names), len(case.queries))
            print(f"  {kind:26} planted {planted:4}  found {interval(n_found, planted):18}  alarms {raised}")


def invented_case(n_questions: int, n_passages: int) -> Case:
    """Questions and passages of words that are drawn as in a language: few are common, most are rare."""
    chance = random.Random(0)
    vocabulary = [f"w{number}" for number in range(20_000)]
    weights = [1 / (number + 3) for number in range(len(vocabulary))]
    drawn = chance.choices(vocabulary, weights, k=n_passages * 120)
    passages = [
        rm.Retrieved(f"d{index_}", " ".join(drawn[index_ * 120 : index_ * 120 + 120]), source=f"s{index_}", start=0)
        for index_ in range(n_passages)
    ]
    queries = {}
    qrels = {}
    for index_ in range(n_questions):
        chosen = chance.choice(passages)
        words = (chosen.text or "").split()
        queries[f"q{index_}"] = " ".join(["which", *chance.sample(words, 8)])
        qrels[f"q{index_}"] = [[rm.Quote(" ".join(words[40:55])), chosen.id]]
    return Case("made up", queries, qrels, passages)


def take_time(n_questions: int, n_passages: int) -> None:
    for part in (4, 2, 1):
        case = invented_case(n_questions // part, n_passages // part)
        start = time.perf_counter()
        worked = time.process_time()
        lint = case.lint()
        seconds = time.perf_counter() - start
        of_processor = time.process_time() - worked
        print(
            f"{len(case.queries):6,} questions, {len(case.passages):7,} passages: {seconds:6.2f} s, "
            f"{of_processor:.2f} s of the processor, {lint!r}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often each kind is planted")
    parser.add_argument("--questions", type=int, help="take the time on so many questions made up for it")
    parser.add_argument("--passages", type=int, default=5000)
    parser.add_argument("--eight", action="store_true", help="plant only the eight defects that are easily overlooked")
    parser.add_argument("--unseen", action="store_true", help="only the sets that no threshold was chosen on")
    arguments = parser.parse_args()
    if arguments.questions:
        take_time(arguments.questions, arguments.passages)
        return
    cases = handbook()
    if not arguments.unseen:
        cases += ours()
        if folder := os.environ.get("RETRIEVAL_METRICS_DATA"):
            cases += [cranfield(Path(folder) / "cranfield"), chroma(Path(folder) / "chroma_spans")]
        else:
            print("RETRIEVAL_METRICS_DATA is not set: only the questions of the examples are looked at")
    measure(cases, arguments.rounds, EIGHT if arguments.eight else [kind for kind, _, _ in KINDS])


if __name__ == "__main__":
    main()
