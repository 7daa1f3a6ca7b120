# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[files,plot,questions]"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""How fast does the time of every verb grow with its input? `uv run tests/benchmarks/growth.py`.

Each case is measured at four sizes that double, in CPU time, as the least of some rounds. The exponent is the slope of
log(time) over log(size): 1 is linear, 2 quadratic. The last step alone shows what has only begun to grow. A case that
grows faster than its limit makes the script fail.
"""

import argparse
import math
import random
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from measure import machine, use_one_thread

use_one_thread()

import numpy as np

import retrieval_metrics as rm
from retrieval_metrics.reports.tables import Table

METRICS = ["mrr@10", "map", "ndcg@10"]

# The exponents that may be measured: caches grow too small on the way, and some work is bounded only for larger inputs.
LINEAR = 1.3
BOUNDED = 1.5
QUADRATIC = 2.3


class Case(NamedTuple):
    """Something whose time is measured: its sizes, what makes the call for a size, and the largest exponent."""

    name: str
    sizes: tuple[int, int, int, int]
    prepare: Callable[[int], Callable[[], Any]]
    limit: float = LINEAR


def doubling(first: int) -> tuple[int, int, int, int]:
    """Return four sizes, each twice the one before."""
    return first, 2 * first, 4 * first, 8 * first


def collection(queries: int, depth: int = 50, judged: int = 3) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return judgments and a scored run, in shuffled order."""
    rng = random.Random(queries + depth)
    documents = [f"d{number}" for number in range(2 * depth)]
    run = {}
    for index in range(queries):
        run[f"q{index}"] = {name: rng.random() for name in rng.sample(documents, depth)}
    qrels = {}
    for query in run:
        qrels[query] = {name: rng.randint(1, 3) for name in rng.sample(documents, judged)}
    return qrels, run


def systems(number: int, queries: int = 100) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return judgments and so many runs."""
    qrels, run = collection(queries, 20)
    rng = random.Random(number)
    runs: dict[str, Any] = {}
    for system in range(number):
        rescored = {}
        for query, ranking in run.items():
            rescored[query] = {name: rng.random() for name in ranking}
        runs[f"s{system}"] = rescored
    return qrels, runs


def passages(number: int, words: int = 60) -> dict[str, str]:
    """Return texts of invented words."""
    rng = random.Random(number)
    vocabulary = ["".join(rng.choices("abcdefghijklmnop", k=6)) for _ in range(20_000)]
    return {f"d{index}": " ".join(rng.choices(vocabulary, k=words)) for index in range(number)}


def quoted(number: int) -> tuple[rm.EvaluationSet, dict[str, Any]]:
    """Return questions judged by quotes, and a run whose items have texts."""
    texts = passages(number)
    items = [rm.Retrieved(name, text) for name, text in texts.items()]
    qrels = {}
    questions = {}
    run: dict[str, Any] = {}
    for index, text in enumerate(texts.values()):
        query = f"q{index}"
        words = text.split()
        qrels[query] = [rm.Quote(" ".join(words[5:15]))]
        questions[query] = f"what is said about {' '.join(words[5:9])}?"
        run[query] = [items[(index + step) % number] for step in range(5)]
    return rm.EvaluationSet(questions, qrels), run


def _evaluate(qrels: Any, run: Any, metrics: Any = METRICS) -> Callable[[], Any]:
    return lambda: rm.evaluate(qrels, run, metrics).means


def _groups(number: int) -> Callable[[], Any]:
    groups = [[f"d{group}", f"e{group}"] for group in range(number)]
    ranking = [f"d{rank}" for rank in range(2 * number)]
    queries = [f"q{index}" for index in range(50)]
    return _evaluate(dict.fromkeys(queries, groups), dict.fromkeys(queries, ranking))


def _chunks(number: int) -> Callable[[], Any]:
    chunks = [rm.Retrieved(f"c{index}", None, "s", 10 * index, 10 * index + 10) for index in range(number)]
    return _evaluate({"q": [rm.Span("s", 0, 10 * number)]}, {"q": chunks}, ["recall", "coverage"])


def _compare_runs(queries: int) -> Callable[[], Any]:
    qrels, runs = systems(2, queries)
    return lambda: rm.compare(qrels, runs, METRICS)


def _compare_evaluations(queries: int) -> Callable[[], Any]:
    qrels, runs = systems(2, queries)
    evaluations = {name: rm.evaluate(dict(qrels), run, METRICS) for name, run in runs.items()}
    return lambda: rm.compare(evaluations)


def _compare_systems(number: int) -> Callable[[], Any]:
    qrels, runs = systems(number)
    return lambda: rm.compare(qrels, runs, METRICS)


def _compare_metrics(number: int) -> Callable[[], Any]:
    qrels, runs = systems(3)
    return lambda: rm.compare(qrels, runs, [f"ndcg@{k}" for k in range(1, number + 1)])


def _match(number: int) -> Callable[[], Any]:
    questions, run = quoted(number)
    return lambda: rm.match(questions, run)


def _lint(number: int) -> Callable[[], Any]:
    questions = quoted(number)[0]
    corpus = passages(number)
    return lambda: questions.lint(corpus)


def _generate(number: int) -> Callable[[], Any]:
    corpus = passages(number)
    return lambda: rm.generate_questions(corpus, lambda _: "{}", number, show_progress=False)


def _pool(number: int) -> Callable[[], Any]:
    questions, run = quoted(number)
    texts: Any = questions.queries
    return lambda: rm.pool(texts, {"one": run}, depth=5).grade(rm.Model(lambda _: "2", name="instant"))


def _report(number: int) -> Callable[[], Any]:
    qrels, run = collection(number, 20)
    evaluation = rm.evaluate(qrels, run, METRICS)
    path = Path(tempfile.mkdtemp()) / "report.html"
    return lambda: evaluation.report(path)


def _save(number: int) -> Callable[[], Any]:
    qrels, run = collection(number, 20)
    evaluation = rm.evaluate(qrels, run, METRICS)
    path = Path(tempfile.mkdtemp()) / "saved.json"

    def save_and_load() -> Any:
        evaluation.save(path)
        return rm.load(path)

    return save_and_load


def _fuse(number: int) -> Callable[[], Any]:
    _, runs = systems(3, number)
    return lambda: rm.fuse(runs)


def _tune_settings(number: int) -> Callable[[], Any]:
    qrels, runs = systems(number)
    return lambda: rm.tune(runs, qrels, "ndcg@10", default="s0")


def _tune_questions(number: int) -> Callable[[], Any]:
    qrels, runs = systems(5, number)
    return lambda: rm.tune(runs, qrels, "ndcg@10", default="s0")


def _labels(number: int) -> Callable[[], Any]:
    qrels, runs = systems(2, number)
    model = {query: dict.fromkeys(ranking, 1) | qrels[query] for query, ranking in runs["s0"].items()}
    sample = rm.EvaluationSet.from_dataset({query: [] for query in qrels}).sample(number // 4)
    people = {query: model[query] for query in sample}
    return lambda: rm.evaluate_with_labels(runs, METRICS, human=people, model=model, sample=sample)


def _relabel(number: int) -> Callable[[], Any]:
    def split(size: int) -> list[rm.Retrieved]:
        chunks = []
        for start in range(0, 100 * number, size):
            chunks.append(rm.Retrieved(f"{size}-{start}", None, "s", start, start + size))
        return chunks

    old = split(100)
    new = split(75)
    qrels: dict[str, Any] = {f"q{index}": [chunk.id] for index, chunk in enumerate(old)}
    return lambda: rm.relabel(qrels, old, new)


def _audit(number: int) -> Callable[[], Any]:
    qrels, run = collection(number, 20)
    return lambda: rm.audit(qrels, run, METRICS)


def _trajectories(number: int) -> Callable[[], Any]:
    qrels, run = collection(number, 20)
    by_query = {}
    for query, ranking in run.items():
        documents = list(ranking)
        calls = [rm.SearchCall("a query", documents[start : start + 5]) for start in range(0, 20, 5)]
        by_query[query] = rm.Trajectory(calls)
    trajectories = rm.Trajectories(by_query)
    return lambda: rm.evaluate(qrels, trajectories.interleaved(), METRICS).means


def _mmr_batch(number: int) -> Callable[[], Any]:
    random = np.random.default_rng(number)
    queries = random.normal(size=(number, 64)).astype(np.float32)
    candidates = random.normal(size=(number, 50, 64)).astype(np.float32)
    return lambda: rm.mmr_batch(queries, candidates, k=10)


def _mmr(number: int) -> Callable[[], Any]:
    vectors = np.random.default_rng(number).normal(size=(number, 64)).astype(np.float32)
    return lambda: rm.mmr(vectors[0], vectors, k=20)


CASES = [
    Case("evaluate, queries", doubling(500), lambda n: _evaluate(*collection(n))),
    Case("evaluate, depth", doubling(100), lambda n: _evaluate(*collection(200, n))),
    Case("evaluate, judged documents", doubling(10), lambda n: _evaluate(*collection(300, 200, n))),
    Case(
        "evaluate, metrics",
        doubling(10),
        lambda n: _evaluate(*collection(300), [f"ndcg@{k}" for k in range(1, n + 1)]),
    ),
    Case("evaluate, groups", doubling(20), _groups),
    Case("evaluate, chunks that cover a span", doubling(400), _chunks),
    Case("compare, queries, from runs", doubling(500), _compare_runs),
    Case("compare, queries, from evaluations", doubling(1000), _compare_evaluations),
    Case("compare, systems", doubling(2), _compare_systems, QUADRATIC),
    Case("compare, metrics", doubling(5), _compare_metrics),
    Case("match, questions with quotes", doubling(200), _match),
    Case("lint, questions", doubling(500), _lint, BOUNDED),
    Case("generate_questions, questions", doubling(25), _generate),
    Case("pool and grade, questions", doubling(50), _pool),
    Case("report, queries", doubling(250), _report),
    Case("save and load, queries", doubling(250), _save),
    Case("mmr, candidates", doubling(1000), _mmr),
    Case("mmr_batch, queries", doubling(100), _mmr_batch),
    Case("fuse, queries", doubling(250), _fuse),
    Case("tune, settings", doubling(5), _tune_settings),
    Case("tune, questions", doubling(100), _tune_questions),
    Case("evaluate_with_labels, questions", doubling(100), _labels),
    Case("relabel, chunks", doubling(200), _relabel),
    Case("audit, queries", doubling(250), _audit),
    Case("agents' searches, questions", doubling(250), _trajectories),
]


def seconds(call: Callable[[], Any], rounds: int) -> float:
    """Return the least CPU time of a call."""
    times = []
    for _ in range(rounds):
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each size (default: %(default)s)")
    parser.add_argument("--only", default="", help="cases whose names begin with this")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", rm.RetrievalWarning)
    print(f"{machine()}; CPU time of one thread, least of {arguments.rounds} rounds\n")
    rows = []
    is_within_limits = True
    for name, sizes, prepare, limit in CASES:
        if not name.startswith(arguments.only):
            continue
        prepare(sizes[0])()  # imports what it needs
        times = [seconds(prepare(size), arguments.rounds) for size in sizes]
        exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        last = math.log2(times[-1] / times[-2])
        is_within_limits = is_within_limits and exponent <= limit
        limit_note = f"{limit:g}" if exponent <= limit else f"{limit:g}: EXCEEDED"
        rows.append(
            [name, f"{sizes[0]:,} to {sizes[-1]:,}", f"{times[-1]:.3f}", f"{exponent:.2f}", f"{last:.2f}", limit_note]
        )
        print(f"{name}: {exponent:.2f}", file=sys.stderr, flush=True)
    print(
        Table(["work, by what grows", "sizes", "s at the largest", "exponent", "last step", "limit"], rows).markdown()
    )
    return 0 if is_within_limits else 1


if __name__ == "__main__":
    sys.exit(main())
