# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[files]", "ir-measures>=0.4", "pytrec-eval-terrier>=0.5.10", "ranx>=0.3.21"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Import time, and from dicts to seven metrics, against the peers: `uv run tests/benchmarks/core.py`.

torchmetrics is left out: it needs torch, which comes from the package index with 3 GB of CUDA libraries on Linux.
"""

import argparse
import os
import statistics
import sys
import tempfile
from functools import partial

from measure import Call, Measured, import_seconds, in_child, interleaved, machine, require_same, spread, use_one_thread

use_one_thread()

from peers import FIRST, FROM_DICTS, IMPORTS, METRICS, UNCUT, US  # noqa: E402

import retrieval_metrics as rm  # noqa: E402
from generated import SHAPES, Qrels, Run, Shape, generate  # noqa: E402  (after the threads are set)
from retrieval_metrics.presentation import tables  # noqa: E402

REPEATS = {50: 200, 1_000: 20, 6_980: 2}
"""Timed calls in one process, by number of queries."""

PROMISES = (
    ("50 x 10: below 1 ms", lambda seen: seen["50 x 10"][US] < 1e-3),
    ("1,000 x 100, best first: 2x pytrec_eval", lambda seen: times(seen, SHAPES[1], "pytrec_eval-terrier") >= 2),
    ("1,000 x 100, shuffled: 1.6x pytrec_eval", lambda seen: times(seen, SHAPES[2], "pytrec_eval-terrier") >= 1.6),
    ("6,980 x 1,000, best first: 6x pytrec_eval", lambda seen: times(seen, SHAPES[3], "pytrec_eval-terrier") >= 6),
    ("6,980 x 1,000, shuffled: 6x pytrec_eval", lambda seen: times(seen, SHAPES[4], "pytrec_eval-terrier") >= 6),
    (
        "6,980 x 1,000, best first: 15x ranx with Qrels and Run, warm",
        lambda seen: times(seen, SHAPES[3], "ranx, Qrels and Run") >= 15,
    ),
    ("6,980 x 1,000: at most 60 MB above the input", lambda seen: seen["megabytes"][US] <= 60),
    ("50 x 10: 0.7x pytrec_eval", lambda seen: times(seen, SHAPES[0], "pytrec_eval-terrier") >= 0.7),
    ("import: at most 1.3 times numpy", lambda seen: seen["import"][US] <= 1.3 * seen["import"]["numpy"]),
    (
        "import and one evaluation: at most 1.5 times numpy",
        lambda seen: seen["import"][FIRST] <= 1.5 * seen["import"]["numpy"],
    ),
)

Seen = dict[str, dict[str, float]]


def times(seen: Seen, shape: Shape, peer: str) -> float:
    return seen[shape.name][peer] / seen[shape.name][US]


def imports(rounds: int, seen: Seen) -> None:
    seconds = seen["import"] = import_seconds(IMPORTS, 4 * rounds)
    rows = [[name, f"{1000 * value:.0f}", f"{value / seconds['numpy']:.2f}"] for name, value in seconds.items()]
    show("Import, CPU ms above an empty interpreter", ["import", "ms", "/ numpy"], rows)


def from_dicts(shape: Shape, rounds: int, seen: Seen) -> None:
    qrels, run = generate(shape)
    expected = rm.evaluate(qrels, run, [*METRICS, UNCUT]).means
    calls = {name: partial(prepared, name, qrels, run) for name in FROM_DICTS}
    measured = interleaved(calls, rounds, REPEATS[shape.queries])
    for name, processes in measured.items():
        for process in processes:
            require_same(name, expected, process.values)
    warm = seen[shape.name] = {name: median_warm(processes) for name, processes in measured.items()}
    seen["megabytes"] = {
        name: statistics.median(process.megabytes for process in runs) for name, runs in measured.items()
    }
    rows = [
        [
            name,
            f"{1000 * warm[name]:.3g}",
            f"{warm[name] / warm[US]:.1f}",
            f"{1000 * statistics.median(process.first for process in processes):.3g}",
            f"{seen['megabytes'][name]:.0f}",
            f"{100 * spread([process.warm for process in processes]):.0f} %",
        ]
        for name, processes in measured.items()
    ]
    header = ["from dicts", "ms", "/ ours", "first call, ms", "MB above input", "spread"]
    show(f"{shape.name}, seven metrics, CPU", header, rows)


def prepared(name: str, qrels: Qrels, run: Run) -> Call:
    evaluate = FROM_DICTS[name]()
    return partial(evaluate, qrels, run)


def median_warm(processes: list[Measured]) -> float:
    return statistics.median(process.warm for process in processes)


def ranx_cold(seen: Seen) -> None:
    """Compile once with an empty cache: what the first user of a fresh installation waits for."""
    qrels, run = generate(SHAPES[0])
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        cold = in_child(partial(prepared, "ranx, Qrels and Run", qrels, run), 0).first
    rows = [["ranx, Qrels and Run", f"{cold:.1f}", f"{cold / seen[SHAPES[0].name][US]:,.0f}"]]
    show("50 x 10, the first call after installation, CPU", ["from dicts", "s", "/ ours"], rows)


def show(title: str, header: list[str], rows: list[list[str]]) -> None:
    print(f"\n{title}\n\n{tables.markdown(header, rows)}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="processes per peer and shape (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="leave out 6,980 x 1,000")
    chosen = parser.parse_args()
    print(f"{machine()}; CPU time of one thread, medians of {chosen.rounds} interleaved processes")
    seen: Seen = {}
    imports(chosen.rounds, seen)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder  # the first round fills it, so that "first call" is that of a used ranx
        for shape in SHAPES[: -2 if chosen.quick else None]:
            from_dicts(shape, chosen.rounds, seen)
    ranx_cold(seen)
    if chosen.quick:
        return 0
    kept = {promise: holds(seen) for promise, holds in PROMISES}
    show(
        "What the core promises", ["promise", "kept"], [[name, "yes" if held else "NO"] for name, held in kept.items()]
    )
    return 0 if all(kept.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
