"""The options of the command line and the keys of the ini file, from one table."""

from __future__ import annotations

import os
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PREFIX = "retrieval_"


def _one_of(*choices: str) -> Callable[[str], str]:
    def chosen(text: str) -> str:
        if text not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text

    return chosen


def _number(least: float, below: float, said: str) -> Callable[[str], float]:
    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise ValueError(said) from None
        if not least <= value < below:
            raise ValueError(said)
        return value

    return number


def _whole(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise ValueError(f"a whole number, {least} or more")
        return int(text)

    return whole


def _folder(text: str) -> str:
    if not text.strip():
        raise ValueError("the name of a folder")
    return text


SMALLEST = 1e-9

COMMITS = ("GITHUB_SHA", "CI_COMMIT_SHA")
"""Environment variables with the tested commit on GitHub and GitLab."""

KEYS: dict[str, tuple[str, Callable[[str], Any], str]] = {
    "floor": ("mean", _one_of("mean", "low"), "what must reach the floor: the mean, or the low end of its interval"),
    "level": (
        "0.95",
        _number(SMALLEST, 1, "a number between 0 and 1, such as 0.95"),
        "confidence level of the interval of a mean",
    ),
    "alpha": (
        "0.05",
        _number(SMALLEST, 0.5, "a number between 0 and 0.5, such as 0.05"),
        "accepted share of builds with a false alarm, over all tests that use retrieval_check",
    ),
    "builds": (
        "1",
        _whole(1),
        "how many builds share alpha: with 30, a false alarm is accepted in that share of 30 builds together",
    ),
    "tolerance": (
        "0",
        _number(0, float("inf"), "a number, 0 or more"),
        "a drop from the baseline up to this size is accepted",
    ),
    "undecided": (
        "pass",
        _one_of("pass", "warn", "skip", "fail"),
        "what to do if the values are lower but the queries cannot tell whether the retriever is worse",
    ),
    "uncompared": (
        "fail",
        _one_of("pass", "warn", "skip", "fail"),
        "what to do if there is no baseline, or it was made with other judgments",
    ),
    "show": ("5", _whole(0), "how many queries a failure shows"),
    "baselines": ("retrieval_baselines", _folder, "folder of the baselines, beside the file of the test"),
    "history": ("", str.strip, "folder of the histories, beside the file of the test; if empty, none are kept"),
    "label": ("", str.strip, f"the label of new entries in the histories; by default {' or '.join(COMMITS)}"),
}
"""Name, default, reader, and help; each is `--retrieval-<name>` and `retrieval_<name>`."""

REPORTS = (".html", ".md", ".json", ".xml")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of checks in a run of pytest.

    Attributes:
        floor: What must reach the floor.
        level: Confidence level of the interval of a mean.
        alpha: Accepted share of builds with a false alarm.
        builds: How many builds share it.
        tolerance: A drop up to this size is accepted.
        undecided: What to do if the queries cannot tell.
        uncompared: What to do if there is nothing to compare with.
        show: How many queries a failure shows.
        baselines: The name of the folder of the baselines.
        history: The name of the folder of the histories; empty if none are kept.
        label: The label of new entries in the histories; if empty, they are numbered.
        update: Whether baselines are written.
        accept_worse: Whether they are written even if retrieval is significantly worse.
    """

    floor: Literal["mean", "low"]
    level: float
    alpha: float
    builds: int
    tolerance: float
    undecided: Literal["pass", "warn", "skip", "fail"]
    uncompared: Literal["pass", "warn", "skip", "fail"]
    show: int
    baselines: str
    history: str
    label: str
    update: bool
    accept_worse: bool

    @classmethod
    def of(cls, config: pytest.Config) -> Settings:
        """Read the settings of a run; the command line takes precedence.

        Raises:
            pytest.UsageError: If a value is invalid.
        """
        found = {}
        for name, (_, read, _) in KEYS.items():
            given = config.getoption(PREFIX + name)
            source = f"--retrieval-{name}" if given is not None else PREFIX + name
            text = str(config.getini(PREFIX + name) if given is None else given)
            try:
                found[name] = read(text)
            except ValueError as error:
                raise pytest.UsageError(f"{source} must be {error}; got {text!r}") from None
        update, accept = (bool(config.getoption(f"retrieval_{name}")) for name in ("update", "accept_worse"))
        if accept and not update:
            raise pytest.UsageError("--retrieval-accept-worse has no effect without --retrieval-update")
        found["label"] = found["label"] or next((os.environ[name] for name in COMMITS if os.environ.get(name)), "")
        return cls(**found, update=update, accept_worse=accept)


FLAGS = {
    "update": "write the baselines of checks, unless they are significantly worse, below a floor, or failed",
    "accept-worse": "with --retrieval-update: write them even if they are significantly worse",
    "prune": "delete the baselines whose test is gone",
}


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and every ini key."""
    group = parser.getgroup("retrieval", "retrieval quality (retrieval_check)")
    for name, said in FLAGS.items():
        group.addoption(f"--retrieval-{name}", action="store_true", dest=PREFIX + name.replace("-", "_"), help=said)
    group.addoption(
        "--retrieval-report",
        metavar="FILE",
        dest="retrieval_report",
        action="append",
        default=[],
        help="write all checks to a file: .html, .md, .json or .xml (JUnit); can be repeated",
    )
    for name, (default, _, said) in KEYS.items():
        group.addoption(f"--retrieval-{name}", dest=PREFIX + name, metavar="VALUE", help=f"{said} (default: {default})")
        parser.addini(PREFIX + name, said, default=default)


def report_paths(config: pytest.Config) -> list[Path]:
    """Return the paths of the reports.

    Raises:
        pytest.UsageError: If a report has an unknown format or cannot be written, which is better known before the
            tests run.
    """
    paths = []
    for given in config.getoption("retrieval_report"):
        path: Path = config.invocation_params.dir / given
        if path.suffix not in REPORTS:
            raise pytest.UsageError(f"--retrieval-report needs a name that ends in {', '.join(REPORTS)}; got {given!r}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=path.parent):
                pass
            if path.exists():
                path.open("ab").close()
        except OSError as error:
            raise pytest.UsageError(f"--retrieval-report={given} cannot be written: {error.strerror}") from None
        paths.append(path)
    return paths
