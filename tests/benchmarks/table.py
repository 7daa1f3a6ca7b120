# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics[files]", "ir-measures>=0.4", "pytrec-eval-terrier>=0.5.10", "pyversity>=0.2", "ranx>=0.3.21",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Every claim of speed in one table, with spreads: `uv run tests/benchmarks/table.py`.

Each row compares our work with the same work of a peer, or with a simpler work that should cost about as much. Both are
measured in turn, each time in a process of its own, in CPU time of one thread. The quotient is that of the other work
and ours, in every round: its median and its range. Above 1 we are faster. `asked` is the least quotient that we want,
and `was` what it was before somebody looked at it. With `--write`, the rows on the page about speed are those printed.
"""

import argparse
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from measure import Call, Measured, Prepare, import_seconds, in_child, machine, require_same, spread, use_one_thread

use_one_thread()

from peers import FIRST, FROM_DICTS, IMPORTS, METRICS, UNCUT, US  # noqa: E402  (after the threads are set)

import retrieval_metrics as rm  # noqa: E402
from generated import SHAPES, Qrels, Run, Shape, clustered, generate, worsened, write_jsonl, write_trec  # noqa: E402
from retrieval_metrics.reports.tables import Table  # noqa: E402

NUMPY = "import numpy"
COMPARED = f"{US}, and compare"
STATEMENTS = IMPORTS | {
    COMPARED: "import retrieval_metrics as rm; q = {f'q{at}': ['d'] for at in range(5)};"
    "rm.compare(q, {'a': q, 'b': {at: ['x', 'd'] for at in q}})",
}
FEW = ["ndcg@10", "recall@10", "mrr@10", "hit_rate@5"]
COMPARED_SHAPE = Shape("6,980 x 100, 3 systems", 6_980, 100, (1, 2))


class Row(NamedTuple):
    """Our work beside others.

    Attributes:
        work: What is done.
        ours: Prepares our call.
        others: Prepares each of the others, by name.
        repeats: Timed calls in a process after the first; 0 times the first.
        asked: The least quotients of the others' time and ours, by name.
        was: These quotients before.
        values: What every call must return, if that is compared.
    """

    work: str
    ours: Prepare
    others: Mapping[str, Prepare]
    repeats: int = 1
    asked: Mapping[str, float] = {}
    was: Mapping[str, float] = {}
    values: Mapping[str, float] = {}


def of(function: Callable[..., Any], *given: Any, **options: Any) -> Prepare:
    """Return what prepares a call whose result is not compared."""

    def call() -> Mapping[str, float]:
        function(*given, **options)
        return {}

    return lambda: call


def means_of(name: str, qrels: Qrels, run: Run) -> Call:
    return partial(FROM_DICTS[name](), qrels, run)


def from_dicts(*, quick: bool) -> Iterator[Row]:
    """Seven metrics from dicts, against the peers."""
    trec = "pytrec_eval-terrier"
    asked = {
        "50 x 10": {trec: 0.7},
        "1,000 x 100, best first": {trec: 2},
        "1,000 x 100, shuffled": {trec: 1.6},
        "6,980 x 1,000, best first": {trec: 6, "ranx, Qrels and Run": 15},
        "6,980 x 1,000, shuffled": {trec: 6},
    }
    was = {"50 x 10": {trec: 0.88}, "1,000 x 100, shuffled": {trec: 3.1}, "6,980 x 1,000, shuffled": {trec: 4.7}}
    repeats = {50: 100, 1_000: 10, 6_980: 1}
    for shape in SHAPES[: -2 if quick else None]:
        qrels, run = generate(shape)
        calls = {name: partial(means_of, name, qrels, run) for name in FROM_DICTS}
        ours = calls.pop(US)
        yield Row(
            f"evaluate {shape.name}",
            ours,
            calls,
            repeats[shape.queries],
            asked[shape.name],
            was.get(shape.name, {}),
            rm.evaluate(qrels, run, [*METRICS, UNCUT]).means,
        )


def drop_in() -> Iterator[Row]:
    """The drop-in for pytrec_eval beside the original, by what is asked of an evaluator."""
    name, original, ours = "pytrec_eval-terrier", "pytrec_eval", "retrieval_metrics.pytrec_eval"
    usual = {"map", "ndcg_cut_10"}
    beir = {f"{measure}.1,3,5,10,100,1000" for measure in ("map_cut", "ndcg_cut", "recall", "P")}
    many, _ = generate(Shape("", 50_000, 1, (1, 2)))
    loops: list[tuple[str, Shape, float, float | None]] = [
        ("batches of 20 x 100", Shape("", 20, 100, (20, 50), best_first=False), 1 / 1.5, None),
        ("batches of 20 x 10", Shape("", 20, 10, (1, 1), best_first=False), 1 / 4, 1 / 450),
    ]
    for work, shape, asked, was in loops:
        judged, batch = generate(shape, seed=1)
        judged = many | judged
        yield Row(
            f"drop-in: {work}, 50,000 judged",
            partial(_evaluations, ours, judged, [batch], usual),
            {name: partial(_evaluations, original, judged, [batch], usual)},
            20,
            {name: asked},
            {} if was is None else {name: was},
        )
    judged, run = generate(Shape("", 100, 100, (20, 50), best_first=False))
    single = [{query: ranking} for query, ranking in run.items()]
    for work, again, was in (("one query per call", False, 1 / 18), ("an evaluator per query", True, 1 / 4)):
        yield Row(
            f"drop-in: {work}, 100 x 100",
            partial(_evaluations, ours, judged, single, usual, again=again),
            {name: partial(_evaluations, original, judged, single, usual, again=again)},
            10,
            {name: 1 / 3},
            {name: was},
        )
    judged, run = generate(Shape("", 2_000, 1_000, (1, 2)))
    yield Row(
        "drop-in: a run of 2,000 x 1,000, measures of BEIR",
        partial(_evaluations, ours, judged, [run], beir),
        {name: partial(_evaluations, original, judged, [run], beir)},
        1,
        {name: 3},
    )


def _evaluations(module: str, judged: Qrels, runs: list[Run], measures: set[str], *, again: bool = False) -> Call:
    """Return what evaluates runs with one evaluator, or with a new one for each."""
    evaluator = import_module(module).RelevanceEvaluator
    one = evaluator(judged, measures)

    def call() -> Mapping[str, float]:
        for run in runs:
            (evaluator({query: judged[query] for query in run}, measures) if again else one).evaluate(run)
        return {}

    return call


def comparisons() -> Iterator[Row]:
    """`compare` of runs, of evaluations and of many systems."""
    qrels, run = generate(COMPARED_SHAPE)
    runs = {"best": run, "worse": worsened(run, 0.02, 1), "worst": worsened(run, 0.1, 2)}
    alone = {"evaluate of each": of(_each, qrels, runs)}
    yield Row(f"compare {COMPARED_SHAPE.name}, 7 metrics", of(rm.compare, qrels, runs), alone)
    many, one = generate(Shape("27,000 x 10", 27_000, 10, (1, 2)))
    two = {"a": one, "b": worsened(one, 0.1, 1)}

    def evaluated() -> Call:
        scored: dict[str, Any] = {name: rm.evaluate(dict(many), run, "mrr") for name, run in two.items()}
        return of(rm.compare, scored)()

    yield Row(
        "compare 2 evaluations of 27,000 queries",
        evaluated,
        {"compare of the runs": of(rm.compare, many, two, "mrr")},
        1,
        {"compare of the runs": 1 / 1.3},
    )
    some, best = generate(Shape("100 x 20", 100, 20, (1, 2)))
    systems = {f"s{at}": worsened(best, at / 40, at) for at in range(30)}
    yield Row(
        "compare 30 systems x 7 metrics x 100 queries",
        of(rm.compare, some, systems),
        {"evaluate of each": of(_each, some, systems)},
    )


def _each(qrels: Any, runs: Mapping[str, Any]) -> None:
    for run in runs.values():
        rm.evaluate(qrels, run).intervals()


def files(folder: Path, *, quick: bool) -> Iterator[Row]:
    """A run of a million rows, against the parser that reads it and against pytrec_eval."""
    shape = Shape("rows", 100 if quick else 1_000, 1_000, (1, 2))
    qrels, run = generate(shape)
    judged, ranked = write_trec(qrels, run, folder)
    lines = folder / "generated.jsonl"
    write_jsonl(run, lines)
    size = f"{shape.queries * shape.depth:,} rows"

    def polars(read: str, path: Path, **options: Any) -> Prepare:
        def prepare() -> Call:
            import polars as pl

            return of(getattr(pl, read), path, **options)()

        return prepare

    def reader(path: Path) -> Prepare:
        def prepare() -> Call:
            import polars as pl  # noqa: F401  (its import is no part of reading)

            return of(rm.read_run, path)()

        return prepare

    def trec_eval() -> Call:
        from peers import FROM_FILES

        return partial(FROM_FILES["pytrec_eval-terrier"](), judged, ranked)

    def read_and_evaluate() -> Call:
        import polars as pl  # noqa: F401  (likewise)

        return of(lambda: rm.evaluate(rm.read_qrels(judged), rm.read_run(ranked), METRICS))()

    parser = "polars' parser"
    yield Row(
        f"read JSONL, {size}", reader(lines), {parser: polars("read_ndjson", lines)}, 1, {parser: 0.5}, {parser: 0.035}
    )
    options = {"separator": " ", "has_header": False}
    yield Row(
        f"read TREC, {size}", reader(ranked), {parser: polars("read_csv", ranked, **options)}, 1, {}, {parser: 0.75}
    )
    yield Row(
        f"TREC file to metrics, {size}",
        read_and_evaluate,
        {"pytrec_eval-terrier": trec_eval},
        1,
        {"pytrec_eval-terrier": 4},
        {"pytrec_eval-terrier": 4.5},
    )


def spans() -> Iterator[Row]:
    """A span that many chunks cover, against as many spans that each are covered by an eighth of the chunks."""

    def chunks(number: int, source: str) -> list[rm.Retrieved]:
        return [rm.Retrieved(f"{source}{at}", None, source, 10 * at, 10 * at + 10) for at in range(number)]

    whole: Any = {"q": [rm.Span("s", 0, 64_000)]}
    parts: Any = {f"q{at}": [rm.Span(f"s{at}", 0, 8_000)] for at in range(8)}
    of_parts = {f"q{at}": chunks(800, f"s{at}") for at in range(8)}
    name = "8 spans of 800 chunks"
    yield Row(
        "a span of 6,400 chunks",
        of(rm.evaluate, whole, {"q": chunks(6_400, "s")}, ["recall", "coverage"]),
        {name: of(rm.evaluate, parts, of_parts, ["recall", "coverage"])},
        3,
        {name: 0.7},
    )


def reports(folder: Path) -> Iterator[Row]:
    """Reports of 10,000 questions, over plain ids and over ids of chunks, beside the comparison that they show."""
    page = folder / "report.html"
    for kind, was in (("ids", 0.14), ("ids of chunks", None)):
        qrels, run = generate(Shape("10,000 x 20", 10_000, 20, (1, 5)))
        if kind != "ids":
            qrels, run = _of_chunks(qrels), _of_chunks(run)
        runs = {"one": run, "two": worsened(run, 0.5, 1)}
        known = {} if was is None else {"compare": was}

        def whole(qrels: Any = qrels, runs: Any = runs) -> Call:
            rm.compare(qrels, runs, FEW).report(page)  # imports what it needs
            compared = rm.compare(qrels, runs, FEW)
            return of(compared.report, page)()

        def alone(qrels: Any = qrels, run: Any = run) -> Call:
            rm.evaluate(qrels, run, FEW).report(page)
            evaluated = rm.evaluate(qrels, run, FEW)
            return of(evaluated.report, page)()

        def compared(qrels: Any = qrels, runs: Any = runs) -> Call:
            rm.compare(qrels, runs, FEW)
            return of(rm.compare, qrels, runs, FEW)()

        beside, asked = {"compare": compared}, {"compare": 1 / 1.5}
        yield Row(f"comparison.report, 10,000 questions, {kind}", whole, beside, 0, asked, known)
        yield Row(f"evaluation.report, 10,000 questions, {kind}", alone, beside, 0, asked)


def _of_chunks(given: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return judgments or a run with ids such as `D123456#7`."""
    return {
        query: {f"{name[:-1]}#{name[-1]}": value for name, value in found.items()} for query, found in given.items()
    }


def reranking(*, quick: bool) -> Iterator[Row]:
    """MMR against pyversity, which computes in 32 bits, and many rankings at once against one after the other."""
    import numpy as np

    name = "pyversity"
    for n, k, was in ((100, 10, 0.66), (1_000, 100, 1.0), (10_000, 100, 5.6))[: 2 if quick else None]:
        query, vectors = clustered(n, 1_536)
        yield Row(
            f"MMR {n:,} x 1,536, k={k}",
            of(rm.mmr, query, vectors, k=k),
            {name: partial(_pyversity, query, vectors, k)},
            max(100_000 // n // k, 2),
            {name: 0.9},
            {name: was},
        )
    rng = np.random.default_rng(1)
    queries, candidates = (rng.normal(size=size).astype(np.float32) for size in ((200, 384), (200, 20, 384)))

    def one_by_one() -> None:
        for asked, found in zip(queries, candidates, strict=True):
            rm.mmr(asked, found, k=10)

    yield Row(
        "mmr_batch 200 x 20 x 384",
        of(rm.mmr_batch, queries, candidates, k=10),
        {"loop of mmr": of(one_by_one)},
        5,
        {"loop of mmr": 1},
        {"loop of mmr": 2.3},
    )


def _pyversity(query: Any, vectors: Any, k: int) -> Call:
    import numpy as np
    from pyversity import Strategy, diversify

    def call() -> Mapping[str, float]:
        cosines = vectors @ query / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(query))
        diversify(embeddings=vectors, scores=cosines, k=k, strategy=Strategy.MMR, diversity=0.5)
        return {}

    return call


def imports(rounds: int) -> list[list[str]]:
    """Return the lines of imports, beside numpy's."""
    seconds = import_seconds(STATEMENTS, rounds)
    asked = {US: 1 / 1.25, FIRST: 1 / 1.5, COMPARED: 1 / 3}
    was = {US: 0.79, FIRST: 0.68, COMPARED: 1 / 9.5}
    lines = []
    for name in (US, FIRST, COMPARED, "pytrec_eval-terrier", "ir-measures", "ranx"):
        quotients = _quotients(seconds["numpy"], seconds[name], asked.get(name), was.get(name))
        lines.append([f"import {name}", *_times(seconds[name]), "", NUMPY, *quotients])
    return lines


def measured(row: Row, rounds: int) -> list[list[str]]:
    """Return the lines of a row, after as many rounds."""
    calls = {US: row.ours, **row.others}
    found: dict[str, list[Measured]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, prepare in calls.items():
            found[name].append(in_child(prepare, row.repeats))
            if row.values:
                require_same(name, row.values, found[name][-1].values)
    seconds = {name: [process.warm for process in each] for name, each in found.items()}
    memory = f"{statistics.median(process.megabytes for process in found[US]):.0f}"
    lines = []
    for name in row.others:
        quotients = _quotients(seconds[name], seconds[US], row.asked.get(name), row.was.get(name))
        lines.append([row.work, *_times(seconds[US]), memory, name, *quotients])
    return lines


def _times(seconds: list[float]) -> list[str]:
    median = 1000 * statistics.median(seconds)
    return [f"{median:,.0f}" if median >= 100 else f"{median:.3g}", f"{100 * spread(seconds):.0f} %"]


def _quotients(theirs: list[float], ours: list[float], asked: float | None, was: float | None) -> list[str]:
    quotients = [one / other for one, other in zip(theirs, ours, strict=True)]
    median = statistics.median(quotients)
    bar = "" if asked is None else f"{asked:.2g}{'' if median >= asked else ' NOT KEPT'}"
    ends = f"{min(quotients):.2g} to {max(quotients):.2g}"
    return [f"{median:.2f}", ends, "" if was is None else f"{was:.2g}", bar]


HEADER = ["work", "ours, ms", "spread", "MB", "beside", "beside / ours", "range", "was", "asked"]
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "speed.md"


def row_of(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def write(lines: list[list[str]]) -> None:
    """Put lines in the place of those on the page about the same work beside the same."""
    text = PAGE.read_text()
    for work, ours, _spread, _memory, beside, quotient, ends, _was, _asked in lines:
        old = re.compile(rf"^\| {re.escape(work)} \| [^|]* \| {re.escape(beside)} \|.*$", re.MULTILINE)
        text = old.sub(row_of([work, ours, beside, quotient, ends]), text)
    PAGE.write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="processes for each call (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="leave out what takes longest")
    parser.add_argument("--write", action="store_true", help="also replace the rows on the page about speed")
    parser.add_argument("--only", default="", help="imports, evaluate, drop-in, compare, files, spans, reports or mmr")
    chosen = parser.parse_args()
    print(f"{machine()}; CPU time of one thread, {chosen.rounds} interleaved processes for each call\n", flush=True)
    head, ruler, *_ = Table(HEADER, [[""] * len(HEADER)]).markdown().splitlines()
    print(f"{head}\n{ruler}", flush=True)
    kept = True
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["NUMBA_CACHE_DIR"] = place  # the first round fills it, so that ranx is one that was used before
        groups: dict[str, Callable[[], Iterator[Row]]] = {
            "evaluate": partial(from_dicts, quick=chosen.quick),
            "drop-in": drop_in,
            "compare": comparisons,
            "files": partial(files, folder, quick=chosen.quick),
            "spans": spans,
            "reports": partial(reports, folder),
            "mmr": partial(reranking, quick=chosen.quick),
        }
        rows = (row for name, group in groups.items() if chosen.only in {"", name} for row in group())
        found = [imports(2 * chosen.rounds)] if chosen.only in {"", "imports"} else []
        for lines in chain(found, (measured(row, chosen.rounds) for row in rows)):
            print("\n".join(map(row_of, lines)), flush=True)
            if chosen.write:
                write(lines)
            kept = kept and not any("NOT KEPT" in each[-1] for each in lines)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
