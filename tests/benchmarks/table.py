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
from pathlib import Path
from typing import Any, NamedTuple

from measure import Call, Measured, Prepare, import_seconds, in_child, machine, require_same, spread, use_one_thread

use_one_thread()

from peers import FIRST, FROM_DICTS, IMPORTS, METRICS, UNCUT, US

import retrieval_metrics as rm
from generated import SHAPES, Qrels, Run, Shape, clustered, generate, worsened, write_jsonl, write_trec
from retrieval_metrics.reports.tables import Table

NUMPY = "import numpy"
COMPARED = f"{US}, and compare"
STATEMENTS = IMPORTS | {
    COMPARED: "import retrieval_metrics as rm; q = {f'q{at}': ['d'] for at in range(5)};"
    "rm.compare(q, {'a': q, 'b': {at: ['x', 'd'] for at in q}})",
}
FEW_METRICS = ["ndcg@10", "recall@10", "mrr@10", "hit_rate@5"]
COMPARED_SHAPE = Shape("6,980 x 100, 3 systems", 6_980, 100, (1, 2))


class Row(NamedTuple):
    """Our work beside others.

    Attributes:
        work: What is done.
        ours: Prepares our call.
        peers: Prepares the call of each peer, by name.
        repeats: Timed calls in a process after the first; 0 times the first.
        required: The least quotients of the peers' time and ours, by name.
        before: These quotients before.
        values: What every call must return, if that is compared.
    """

    work: str
    ours: Prepare
    peers: Mapping[str, Prepare]
    repeats: int = 1
    required: Mapping[str, float] = {}
    before: Mapping[str, float] = {}
    values: Mapping[str, float] = {}


def prepare(function: Callable[..., Any], *arguments: Any, **options: Any) -> Prepare:
    """Return what prepares a call whose result is not compared."""

    def call() -> Mapping[str, float]:
        function(*arguments, **options)
        return {}

    return lambda: call


def evaluate_with(name: str, qrels: Qrels, run: Run) -> Call:
    return partial(FROM_DICTS[name](), qrels, run)


def from_dicts(*, quick: bool) -> Iterator[Row]:
    """Seven metrics from dicts, against the peers."""
    trec = "pytrec_eval-terrier"
    required = {
        "50 x 10": {trec: 0.7},
        "1,000 x 100, best first": {trec: 2},
        "1,000 x 100, shuffled": {trec: 1.6},
        "6,980 x 1,000, best first": {trec: 6, "ranx, Qrels and Run": 15},
        "6,980 x 1,000, shuffled": {trec: 6},
    }
    before = {"50 x 10": {trec: 0.88}, "1,000 x 100, shuffled": {trec: 3.1}, "6,980 x 1,000, shuffled": {trec: 4.7}}
    repeats = {50: 100, 1_000: 10, 6_980: 1}
    for shape in SHAPES[: -2 if quick else None]:
        qrels, run = generate(shape)
        calls = {name: partial(evaluate_with, name, qrels, run) for name in FROM_DICTS}
        ours = calls.pop(US)
        yield Row(
            f"evaluate {shape.name}",
            ours,
            calls,
            repeats[shape.queries],
            required[shape.name],
            before.get(shape.name, {}),
            rm.evaluate(qrels, run, [*METRICS, UNCUT]).means,
        )


def short_runs() -> Iterator[Row]:
    """Rankings of 10 results, as of retrieval for answers, beside pytrec_eval, which leads where questions are few."""
    name = "pytrec_eval-terrier"
    measures = {"ndcg_cut_10", "map", "recip_rank", "recall_10"}
    sizes = [(20, 40, 0.8, 0.21, 0.48), (500, 4, 1.2, 0.32, 0.39), (2_000, 2, 1.2, 0.41, 0.46)]
    for n_queries, repeats, required, before, drop_in_before in sizes:
        judged, run = generate(Shape("", n_queries, 10, (1, 3)))
        original = partial(_evaluations, "pytrec_eval", judged, [run], measures, rebuild=True)
        drop_in = partial(_evaluations, "retrieval_metrics.pytrec_eval", judged, [run], measures, rebuild=True)
        ours = prepare(rm.evaluate, judged, run, ["ndcg@10", "map", "mrr@10", "recall@10"])
        work = f"{n_queries:,} x 10, 4"
        peers = {name: original}
        yield Row(f"evaluate {work} metrics", ours, peers, repeats, {name: required}, {name: before})
        yield Row(f"drop-in: {work} measures", drop_in, peers, repeats, {name: 1 / 1.5}, {name: drop_in_before})


def drop_in() -> Iterator[Row]:
    """The drop-in for pytrec_eval beside the original, by what is asked of an evaluator."""
    name = "pytrec_eval-terrier"
    original = "pytrec_eval"
    ours = "retrieval_metrics.pytrec_eval"
    usual = {"map", "ndcg_cut_10"}
    beir = {f"{measure}.1,3,5,10,100,1000" for measure in ("map_cut", "ndcg_cut", "recall", "P")}
    many, _ = generate(Shape("", 50_000, 1, (1, 2)))
    loops: list[tuple[str, Shape, float, float | None]] = [
        ("batches of 20 x 100", Shape("", 20, 100, (20, 50), best_first=False), 1 / 1.5, None),
        ("batches of 20 x 10", Shape("", 20, 10, (1, 1), best_first=False), 1 / 4, 1 / 450),
    ]
    for work, shape, required, before in loops:
        judged, batch = generate(shape, seed=1)
        judged = many | judged
        yield Row(
            f"drop-in: {work}, 50,000 judged",
            partial(_evaluations, ours, judged, [batch], usual),
            {name: partial(_evaluations, original, judged, [batch], usual)},
            20,
            {name: required},
            {} if before is None else {name: before},
        )
    judged, run = generate(Shape("", 100, 100, (20, 50), best_first=False))
    single = [{query: ranking} for query, ranking in run.items()]
    for work, rebuild, before in (("one query per call", False, 1 / 18), ("an evaluator per query", True, 1 / 4)):
        yield Row(
            f"drop-in: {work}, 100 x 100",
            partial(_evaluations, ours, judged, single, usual, rebuild=rebuild),
            {name: partial(_evaluations, original, judged, single, usual, rebuild=rebuild)},
            10,
            {name: 1 / 3},
            {name: before},
        )
    judged, run = generate(Shape("", 2_000, 1_000, (1, 2)))
    yield Row(
        "drop-in: a run of 2,000 x 1,000, BEIR's measures",
        partial(_evaluations, ours, judged, [run], beir),
        {name: partial(_evaluations, original, judged, [run], beir)},
        1,
        {name: 3},
    )


def _evaluations(module: str, judged: Qrels, runs: list[Run], measures: set[str], *, rebuild: bool = False) -> Call:
    """Return what evaluates runs with one evaluator, or with a new one for each."""
    make_evaluator = import_module(module).RelevanceEvaluator
    shared_evaluator = make_evaluator(judged, measures)

    def call() -> Mapping[str, float]:
        for run in runs:
            evaluator = shared_evaluator
            if rebuild:
                evaluator = make_evaluator({query: judged[query] for query in run}, measures)
            evaluator.evaluate(run)
        return {}

    return call


def comparisons() -> Iterator[Row]:
    """`compare` of runs, of evaluations and of many systems."""
    qrels, run = generate(COMPARED_SHAPE)
    runs = {"best": run, "worse": worsened(run, 0.02, 1), "worst": worsened(run, 0.1, 2)}
    alone = {"`evaluate` on each run": prepare(_evaluate_each, qrels, runs)}
    yield Row(f"compare {COMPARED_SHAPE.name}, 7 metrics", prepare(rm.compare, qrels, runs), alone)
    many, large_run = generate(Shape("27,000 x 10", 27_000, 10, (1, 2)))
    two = {"a": large_run, "b": worsened(large_run, 0.1, 1)}

    def compare_evaluations() -> Call:
        evaluations: dict[str, Any] = {}
        for name, run in two.items():
            evaluations[name] = rm.evaluate(dict(many), run, "mrr")
        return prepare(rm.compare, evaluations)()

    yield Row(
        "compare 2 evaluations of 27,000 queries",
        compare_evaluations,
        {"compare of the runs": prepare(rm.compare, many, two, "mrr")},
        1,
        {"compare of the runs": 1 / 1.3},
    )
    small_qrels, best = generate(Shape("100 x 20", 100, 20, (1, 2)))
    systems = {f"s{number}": worsened(best, number / 40, number) for number in range(30)}
    yield Row(
        "compare 30 systems x 7 metrics x 100 queries",
        prepare(rm.compare, small_qrels, systems),
        {"`evaluate` on each run": prepare(_evaluate_each, small_qrels, systems)},
    )


def _evaluate_each(qrels: Any, runs: Mapping[str, Any]) -> None:
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
        def import_first() -> Call:
            import polars as pl

            return prepare(getattr(pl, read), path, **options)()

        return import_first

    def reader(path: Path) -> Prepare:
        def import_first() -> Call:
            import polars as pl  # noqa: F401  (its import is no part of reading)

            return prepare(rm.read_run, path)()

        return import_first

    def trec_eval() -> Call:
        from peers import FROM_FILES

        return partial(FROM_FILES["pytrec_eval-terrier"](), judged, ranked)

    def read_and_evaluate() -> Call:
        import polars as pl  # noqa: F401  (likewise)

        return prepare(lambda: rm.evaluate(rm.read_qrels(judged), rm.read_run(ranked), METRICS))()

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
        return [rm.Retrieved(f"{source}{index}", None, source, 10 * index, 10 * index + 10) for index in range(number)]

    one_span: Any = {"q": [rm.Span("s", 0, 64_000)]}
    eight_spans: Any = {f"q{index}": [rm.Span(f"s{index}", 0, 8_000)] for index in range(8)}
    chunks_of_eight = {f"q{index}": chunks(800, f"s{index}") for index in range(8)}
    name = "8 spans of 800 chunks"
    yield Row(
        "a span of 6,400 chunks",
        prepare(rm.evaluate, one_span, {"q": chunks(6_400, "s")}, ["recall", "coverage"]),
        {name: prepare(rm.evaluate, eight_spans, chunks_of_eight, ["recall", "coverage"])},
        3,
        {name: 0.7},
    )


def reports(folder: Path) -> Iterator[Row]:
    """Reports of 10,000 questions, over plain ids and over ids of chunks, beside the comparison that they show."""
    page = folder / "report.html"
    for kind, before in (("ids", {"compare": 0.14}), ("ids of chunks", {})):
        qrels, run = generate(Shape("10,000 x 20", 10_000, 20, (1, 5)))
        if kind != "ids":
            qrels = _with_chunk_ids(qrels)
            run = _with_chunk_ids(run)
        runs = {"one": run, "two": worsened(run, 0.5, 1)}

        def report_comparison(qrels: Any = qrels, runs: Any = runs) -> Call:
            rm.compare(qrels, runs, FEW_METRICS).report(page)  # imports what it needs
            compared = rm.compare(qrels, runs, FEW_METRICS)
            return prepare(compared.report, page)()

        def report_evaluation(qrels: Any = qrels, run: Any = run) -> Call:
            rm.evaluate(qrels, run, FEW_METRICS).report(page)
            evaluated = rm.evaluate(qrels, run, FEW_METRICS)
            return prepare(evaluated.report, page)()

        def compare(qrels: Any = qrels, runs: Any = runs) -> Call:
            rm.compare(qrels, runs, FEW_METRICS)
            return prepare(rm.compare, qrels, runs, FEW_METRICS)()

        peers = {"compare": compare}
        required = {"compare": 1 / 1.5}
        yield Row(f"comparison.report, 10,000 questions, {kind}", report_comparison, peers, 0, required, before)
        yield Row(f"evaluation.report, 10,000 questions, {kind}", report_evaluation, peers, 0, required)


def _with_chunk_ids(qrels_or_run: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return judgments or a run with ids such as `D123456#7`."""
    renamed = {}
    for query, values in qrels_or_run.items():
        renamed[query] = {f"{name[:-1]}#{name[-1]}": value for name, value in values.items()}
    return renamed


def reranking(*, quick: bool) -> Iterator[Row]:
    """MMR against pyversity, which computes in 32 bits, and many rankings at once against one after the other."""
    import numpy as np

    name = "pyversity"
    for n, k, before in ((100, 10, 0.66), (1_000, 100, 1.0), (10_000, 100, 5.6))[: 2 if quick else None]:
        query, vectors = clustered(n, 1_536)
        yield Row(
            f"MMR {n:,} x 1,536, k={k}",
            prepare(rm.mmr, query, vectors, k=k),
            {name: partial(_pyversity, query, vectors, k)},
            max(100_000 // n // k, 2),
            {name: 0.9},
            {name: before},
        )
    rng = np.random.default_rng(1)
    queries = rng.normal(size=(200, 384)).astype(np.float32)
    candidates = rng.normal(size=(200, 20, 384)).astype(np.float32)

    def rerank_one_by_one() -> None:
        for query, vectors in zip(queries, candidates, strict=True):
            rm.mmr(query, vectors, k=10)

    yield Row(
        "mmr_batch 200 x 20 x 384",
        prepare(rm.mmr_batch, queries, candidates, k=10),
        {"loop of mmr": prepare(rerank_one_by_one)},
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
    required = {US: 1 / 1.25, FIRST: 1 / 1.5, COMPARED: 1 / 3}
    before = {US: 0.79, FIRST: 0.68, COMPARED: 1 / 9.5}
    lines = []
    for name in (US, FIRST, COMPARED, "pytrec_eval-terrier", "ir-measures", "ranx"):
        quotients = _quotients(seconds["numpy"], seconds[name], required.get(name), before.get(name))
        lines.append([f"import {name}", *_times(seconds[name]), "", NUMPY, *quotients])
    return lines


def measure_row(row: Row, rounds: int) -> list[list[str]]:
    """Return the lines of a row, after as many rounds."""
    calls = {US: row.ours, **row.peers}
    processes: dict[str, list[Measured]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, prepare_call in calls.items():
            process = in_child(prepare_call, row.repeats)
            processes[name].append(process)
            if row.values:
                require_same(name, row.values, process.values)
    our_seconds = [process.warm for process in processes[US]]
    memory = f"{statistics.median([process.megabytes for process in processes[US]]):.0f}"
    lines = []
    for name in row.peers:
        seconds = [process.warm for process in processes[name]]
        quotients = _quotients(seconds, our_seconds, row.required.get(name), row.before.get(name))
        lines.append([row.work, *_times(our_seconds), memory, name, *quotients])
    return lines


def _times(seconds: list[float]) -> list[str]:
    median = 1000 * statistics.median(seconds)
    return [f"{median:,.0f}" if median >= 100 else f"{median:.3g}", f"{100 * spread(seconds):.0f}%"]


def _quotients(theirs: list[float], ours: list[float], required: float | None, before: float | None) -> list[str]:
    quotients = [their_time / our_time for their_time, our_time in zip(theirs, ours, strict=True)]
    median = statistics.median(quotients)
    requirement = ""
    if required is not None:
        requirement = f"{required:.2g}" if median >= required else f"{required:.2g} NOT KEPT"
    ends = f"{min(quotients):.2g} to {max(quotients):.2g}"
    return [f"{median:.2f}", ends, "" if before is None else f"{before:.2g}", requirement]


HEADER = ["work", "ours, ms", "spread", "MB", "beside", "beside / ours", "range", "was", "asked"]
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "speed.md"


def format_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def write(lines: list[list[str]]) -> None:
    """Put lines in the place of those on the page about the same work beside the same."""
    text = PAGE.read_text()
    for work, ours, _spread, _memory, beside, quotient, ends, *_ in lines:
        old = re.compile(rf"^\| {re.escape(work)} \| [^|]* \| {re.escape(beside)} \|.*$", re.MULTILINE)
        text = old.sub(format_row([work, ours, beside, quotient, ends]), text)
    PAGE.write_text(text)


def measure_groups(
    groups: Mapping[str, Callable[[], Iterator[Row]]], only: str, rounds: int
) -> Iterator[list[list[str]]]:
    """Yield the lines of each row of all groups, or of one."""
    if only in {"", "imports"}:
        yield imports(2 * rounds)
    for name, group in groups.items():
        if only in {"", name}:
            for row in group():
                yield measure_row(row, rounds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="processes for each call (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="leave out what takes longest")
    parser.add_argument("--write", action="store_true", help="also replace the rows on the page about speed")
    parser.add_argument(
        "--only", default="", help="imports, evaluate, short, drop-in, compare, files, spans, reports or mmr"
    )
    arguments = parser.parse_args()
    print(f"{machine()}; CPU time of one thread, {arguments.rounds} interleaved processes for each call\n", flush=True)
    head, ruler, *_ = Table(HEADER, [[""] * len(HEADER)]).markdown().splitlines()
    print(f"{head}\n{ruler}", flush=True)
    all_kept = True
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["NUMBA_CACHE_DIR"] = place  # the first round fills it, so that ranx is one that was used before
        groups: dict[str, Callable[[], Iterator[Row]]] = {
            "evaluate": partial(from_dicts, quick=arguments.quick),
            "short": short_runs,
            "drop-in": drop_in,
            "compare": comparisons,
            "files": partial(files, folder, quick=arguments.quick),
            "spans": spans,
            "reports": partial(reports, folder),
            "mmr": partial(reranking, quick=arguments.quick),
        }
        for lines in measure_groups(groups, arguments.only, arguments.rounds):
            print("\n".join(map(format_row, lines)), flush=True)
            if arguments.write:
                write(lines)
            all_kept = all_kept and not any("NOT KEPT" in line[-1] for line in lines)
    return 0 if all_kept else 1


if __name__ == "__main__":
    sys.exit(main())
