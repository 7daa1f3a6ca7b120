"""Measure a call in a process of its own: CPU seconds, and memory above what its input takes.

The input is made once, in the parent. Every measurement is a fork of it, so that no peer profits from what another has
imported, warmed up or left in memory, and so that everything above the input's own memory is the peer's.
"""

import gc
import os
import pickle
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("MKL", "NUMBA", "NUMEXPR", "OMP", "OPENBLAS", "RAYON", "VECLIB")
} | {"POLARS_MAX_THREADS": "1", "ARROW_NUM_THREADS": "1"}

Call = Callable[[], Mapping[str, float]]

# Imports what is needed and returns the call to measure.
Prepare = Callable[[], Call]


def use_one_thread() -> None:
    """Keep this process, and all that come from it, to one thread; call it before anything heavy is imported."""
    os.environ.update(ONE_THREAD)


@dataclass(frozen=True)
class Measured:
    """One process: its first call, the calls after it, and its peak memory."""

    first: float
    later: tuple[float, ...]
    megabytes: float
    values: Mapping[str, float]

    @property
    def warm(self) -> float:
        """Median CPU seconds of a call that is not the first; of the first where there is no other."""
        return statistics.median(self.later or (self.first,))


def in_child(prepare: Prepare, repeats: int) -> Measured:
    """Fork, prepare, call once and then `repeats` times; raise here what was raised there."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            answer: Any = _measure(prepare, repeats)
        except BaseException:
            answer = traceback.format_exc()
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    if not data:
        raise RuntimeError("the measured process died without a word; was there too little memory?")
    answer = pickle.loads(data)
    if isinstance(answer, str):
        raise RuntimeError(answer)
    return answer


def _measure(prepare: Prepare, repeats: int) -> Measured:
    call = prepare()
    gc.collect()
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    values, first = _timed(call)
    # The peak of the first call: what a process that evaluates once needs. Later calls are for the clock.
    megabytes = (_memory("VmHWM") - before) / 2**20
    later = tuple(_timed(call)[1] for _ in range(repeats))
    return Measured(first, later, megabytes, values)


def _timed(call: Call) -> tuple[Mapping[str, float], float]:
    start = time.process_time()
    values = call()
    return values, time.process_time() - start


def _memory(field: str) -> int:
    """Return a memory field of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def interleaved(calls: Mapping[str, Prepare], rounds: int, repeats: int) -> dict[str, list[Measured]]:
    """Measure every call `rounds` times in turn, so that a busy moment of the machine meets all of them alike."""
    measured: dict[str, list[Measured]] = {name: [] for name in calls}
    for number in range(rounds):
        for name, prepare in calls.items():
            _say(f"  round {number + 1}/{rounds}: {name}")
            measured[name].append(in_child(prepare, repeats))
    _say("")
    return measured


def _say(text: str) -> None:
    """Show what is being measured, in one line of a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text:<60}\r", end="", file=sys.stderr, flush=True)


def require_same(name: str, expected: Mapping[str, float], got: Mapping[str, float]) -> None:
    """Raise unless a peer computed what we compute: a faster way to other numbers proves nothing."""
    for metric, value in got.items():
        if abs(value - expected[metric]) > 1e-9:
            raise AssertionError(f"{name} says {metric} = {value!r}, expected {expected[metric]!r}; it is not timed")


def import_seconds(statements: Mapping[str, str], rounds: int) -> dict[str, list[float]]:
    """Return the CPU seconds of import statements in each round, above those of an interpreter that does nothing."""
    seconds: dict[str, list[float]] = {name: [] for name in ("", *statements)}
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    for number in range(rounds + 1):  # the first round writes the byte code and is not counted
        for name, statement in {"": "pass", **statements}.items():
            command = [sys.executable, "-c", statement]
            process = subprocess.Popen(command, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise subprocess.CalledProcessError(process.returncode, command)
            if number:
                seconds[name].append(usage.ru_utime + usage.ru_stime)
    empty = statistics.median(seconds.pop(""))
    above_empty = {}
    for name, values in seconds.items():
        above_empty[name] = [value - empty for value in values]
    return above_empty


def machine() -> str:
    """Return processor, clock and Python in a line."""
    lines = (line.partition(":") for line in Path("/proc/cpuinfo").read_text().splitlines())
    facts = {key.strip(): value.strip() for key, _, value in lines}
    clock = float(facts.get("cpu MHz", "0")) / 1000
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{os.cpu_count()} shared {facts.get('model name', '?')} cores at {clock:.1f} GHz, Python {version}"


def spread(values: Sequence[float]) -> float:
    """Return how far the largest lies above the smallest, as a share."""
    return max(values) / min(values) - 1
