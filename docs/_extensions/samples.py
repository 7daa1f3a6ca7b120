"""A report and a labelling page of the ferry line's handbook, to open on the site: `examples/report.html` and so on."""

import json
from collections import Counter
from math import fsum, log
from pathlib import Path

from sphinx.application import Sphinx

import retrieval_metrics as rm

HANDBOOK = Path(__file__).parent.parent.parent / "examples" / "handbook"


def chunks() -> list[rm.Retrieved]:
    """Return the paragraphs of the handbook."""
    all_chunks = []
    for page in sorted(HANDBOOK.glob("*.md")):
        start = 0
        for part in page.read_text(encoding="utf-8").split("\n\n"):
            all_chunks.append(rm.Retrieved(f"{page.stem}@{start}", part, page.name, start, start + len(part)))
            start += len(part) + 2
    return all_chunks


def questions() -> rm.EvaluationSet:
    """Return the questions of the passengers, judged by the words that answer them."""
    lines = (HANDBOOK / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [
        {
            "id": row["id"],
            "query": row["query"],
            "relevant": [[rm.Quote(place["quote"])] for place in row["needed"]],
            "source": row["needed"][0]["source"],
        }
        for row in map(json.loads, lines)
    ]
    return rm.EvaluationSet.from_dataset(rows)


def words(text: str) -> set[str]:
    """Return the words of a text."""
    return {word.strip(".,?!:;").lower() for word in text.split()}


def searched(evaluation_set: rm.EvaluationSet, *, rare: bool) -> dict[str, list[rm.Retrieved]]:
    """Return the paragraphs that share most words with each question; with `rare`, rare words count more."""
    words_of_chunks = [(chunk, words(chunk.text or "")) for chunk in chunks()]
    frequency = Counter(word for _, chunk_words in words_of_chunks for word in chunk_words)
    runs = {}
    for query, text in evaluation_set.queries.items():
        scores = {
            position: fsum(
                log(len(words_of_chunks) / frequency[word]) if rare else 1.0 for word in words(text) & chunk_words
            )
            for position, (_, chunk_words) in enumerate(words_of_chunks)
        }
        best = sorted((position for position in scores if scores[position]), key=lambda position: -scores[position])[
            :10
        ]
        runs[str(query)] = [words_of_chunks[position][0] for position in best]
    return runs


def write(folder: Path) -> None:
    """Write both pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    evaluation_set = questions()
    runs = {"overlap": searched(evaluation_set, rare=False), "weighted overlap": searched(evaluation_set, rare=True)}
    compared = rm.compare(evaluation_set, runs, ["recall@1000chars", "mrr", "full_recall@1000chars"])
    compared.report(folder / "report.html", title="Two ways to search a handbook")
    ids = {
        name: {query: [chunk.id for chunk in ranking] for query, ranking in run.items()} for name, run in runs.items()
    }
    corpus = {chunk.id: chunk.text or "" for chunk in chunks()}
    rm.pool(dict(evaluation_set.queries), ids, corpus, depth=3).labelling_page(folder / "labelling.html")


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        write(Path(app.outdir) / "examples")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages into the site."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
