# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[files]", "ir-measures>=0.4", "pytrec-eval-terrier>=0.5.10", "ranx>=0.3.21"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""From TREC files on disk to seven metrics, against the peers: `uv run tests/benchmarks/files.py`."""

import argparse
import gzip
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from measure import Call, Measured, in_child, interleaved, machine, require_same, spread, use_one_thread

use_one_thread()

import pytrec_eval
from peers import FROM_FILES, METRICS, TREC_EVAL, TREC_EVAL_REQUEST, UNCUT, US, FromFiles

import retrieval_metrics as rm
from generated import SHAPES, Qrels, Run, Shape, generate, write_trec
from retrieval_metrics.reports.tables import Table

REPEATS = {1_000: 10, 6_980: 1}
"""Timed calls in one process after the first, by number of queries."""

Results = dict[str, dict[str, float]]

PROMISES = (
    (
        "1,000 x 100, after the first file of a process: 2.5x pytrec_eval",
        lambda results: results["later"]["pytrec_eval-terrier"] >= 2.5 * results["later"][US],
    ),
    ("6,980 x 1,000: 4x pytrec_eval", lambda results: times(results, LARGE, "pytrec_eval-terrier") >= 4),
    ("6,980 x 1,000: 8x ir-measures", lambda results: times(results, LARGE, "ir-measures") >= 8),
    ("6,980 x 1,000: 8x ranx with its numba cache filled", lambda results: times(results, LARGE, "ranx") >= 8),
    (
        "6,980 x 1,000: less memory than any",
        lambda results: min(results["megabytes"], key=results["megabytes"].get) == US,
    ),
    (
        "6,980 x 1,000, gz: at most the plain file and 1.5 times its decompression",
        lambda results: results["gz"][US] <= results[LARGE.name][US] + 1.5 * results["gz"]["decompressing alone"],
    ),
)
SMALL = SHAPES[1]
LARGE = SHAPES[3]


def times(results: Results, shape: Shape, peer: str) -> float:
    """Compare first calls: a file is read once in a process."""
    return results[shape.name][peer] / results[shape.name][US]


def from_files(shape: Shape, rounds: int, results: Results) -> None:
    with tempfile.TemporaryDirectory() as folder:
        expected, paths = write_files(shape, Path(folder))
        measured = interleaved(
            {name: partial(prepared, name, paths) for name in FROM_FILES}, rounds, REPEATS[shape.queries]
        )
        for name, processes in measured.items():
            for process in processes:
                require_same(name, expected, process.values)
        results[shape.name] = {name: statistics.median(p.first for p in runs) for name, runs in measured.items()}
        if shape is SMALL:
            results["later"] = {name: statistics.median(p.warm for p in runs) for name, runs in measured.items()}
        results["megabytes"] = {name: statistics.median(p.megabytes for p in runs) for name, runs in measured.items()}
        size = paths[1].stat().st_size / 1e6
        show(f"TREC files, {shape.name}, {size:,.0f} MB, seven metrics, CPU", measured)
        if shape is LARGE:
            compressed(paths, expected, rounds, results)


def write_files(shape: Shape, folder: Path) -> tuple[Mapping[str, float], tuple[Path, Path]]:
    """Write the files; return what every peer must find in them."""
    qrels, run = generate(shape)
    paths = write_trec(qrels, run, folder)
    expected = rm.evaluate(qrels, run, [*METRICS, UNCUT]).means
    if shape is SMALL:
        # In a child, because a process that has used polars cannot be forked.
        in_child(lambda: partial(require_trec_eval, qrels, run, paths), 0)
    return expected, paths


def require_trec_eval(qrels: Qrels, run: Run, paths: tuple[Path, Path]) -> Mapping[str, float]:
    """Raise unless every query has trec_eval's value, read from the files."""
    theirs = pytrec_eval.RelevanceEvaluator(qrels, TREC_EVAL_REQUEST).evaluate(run)
    names = list(TREC_EVAL.values())
    ours = rm.evaluate(rm.read_qrels(paths[0]), rm.read_run(paths[1]), names, rules="trec_eval").per_query
    for query, values in theirs.items():
        require_same("trec_eval", {name: ours[name][query] for name in names}, {
            TREC_EVAL[measure]: value for measure, value in values.items()
        })  # fmt: skip
    print(
        f"\ntrec_eval's values for all {len(theirs):,} queries of {SMALL.name}, read from files: equal to 1e-9",
        flush=True,
    )
    return {}


def compressed(paths: tuple[Path, Path], expected: Mapping[str, float], rounds: int, results: Results) -> None:
    zipped = paths[1].with_suffix(".run.gz")
    zipped.write_bytes(gzip.compress(paths[1].read_bytes(), compresslevel=6))
    calls = {US: partial(prepared, US, (paths[0], zipped)), "decompressing alone": partial(decompressing, zipped)}
    measured = interleaved(calls, rounds, 1)
    for process in measured[US]:
        require_same(US, expected, process.values)
    results["gz"] = {name: statistics.median(p.first for p in runs) for name, runs in measured.items()}
    size = zipped.stat().st_size / 1e6
    show(f"The same file as gz, {size:,.0f} MB, CPU", measured)


def decompressing(path: Path) -> Call:
    def call() -> dict[str, float]:
        with gzip.open(path) as file:
            while file.read(4 << 20):
                pass
        return {}

    return call


def prepared(name: str, paths: tuple[Path, Path]) -> Call:
    evaluate: FromFiles = FROM_FILES[name]()
    return partial(evaluate, *paths)


def show(title: str, measured: Mapping[str, list[Measured]]) -> None:
    first = {name: statistics.median(process.first for process in processes) for name, processes in measured.items()}
    later = {name: statistics.median(process.warm for process in processes) for name, processes in measured.items()}
    rows = [
        [
            name,
            f"{first[name]:.3f}",
            f"{first[name] / first[US]:.1f}",
            f"{later[name]:.3f}",
            f"{later[name] / later[US]:.1f}",
            f"{statistics.median(process.megabytes for process in processes):.0f}",
            f"{100 * spread([process.first for process in processes]):.0f}%",
        ]
        for name, processes in measured.items()
    ]
    header = ["from files", "first call, s", "/ ours", "later, s", "/ ours", "MB", "spread"]
    print(f"\n{title}\n\n{Table(header, rows).markdown()}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="processes per peer and shape (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="leave out 6,980 x 1,000")
    chosen = parser.parse_args()
    print(f"{machine()}; CPU time of one thread, medians of {chosen.rounds} interleaved processes")
    results: Results = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder  # the first round fills it, so that "first call" is that of a used ranx
        for shape in (SMALL,) if chosen.quick else (SMALL, LARGE):
            from_files(shape, chosen.rounds, results)
    if chosen.quick:
        return 0
    outcomes = {promise: holds(results) for promise, holds in PROMISES}
    rows = [[name, "yes" if is_kept else "NO"] for name, is_kept in outcomes.items()]
    print(f"\nWhat reading files promises\n\n{Table(['promise', 'kept'], rows).markdown()}")
    return 0 if all(outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
