"""Options, ini keys, and the names of tests and of their files."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

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
    "floor": ("mean", _one_of("mean", "ci_low"), "what must reach the floor: the mean, or the low end of its interval"),
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
    "inconclusive": (
        "pass",
        _one_of("pass", "warn", "skip", "fail"),
        "what to do if the values are lower but the queries cannot tell whether the retriever is worse",
    ),
    "not_compared": (
        "fail",
        _one_of("pass", "warn", "skip", "fail"),
        "what to do if there is no baseline, or it was made with other judgments",
    ),
    "show": ("5", _whole(0), "how many queries a failure shows"),
    "baselines": ("retrieval_baselines", _folder, "folder of the baselines, beside the file of the test"),
    "history": ("", str.strip, "folder of the histories, beside the file of the test; if empty, none are kept"),
    "label": ("", str.strip, f"the label of new entries in the histories; by default {' or '.join(COMMITS)}"),
}
"""Name, default, reader, and help; each is `--retrieval-<name>`, with hyphens, and `retrieval_<name>`."""
ACCEPT, ALL_METRICS = "--retrieval-accept-worse", "*"
"""The option, and what it holds if it names nothing."""
BETWEEN_NAMES = r",(?![^(\[]*[)\]])"
"""A comma, but not one of the parameters of a metric or a test."""
REPORTS = (".html", ".md", ".json", ".xml")


def _option_name(name: str) -> str:
    return f"--retrieval-{name.replace('_', '-')}"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of checks in a run of pytest."""

    floor: Literal["mean", "ci_low"]
    level: float
    alpha: float
    builds: int
    tolerance: float
    inconclusive: Literal["pass", "warn", "skip", "fail"]
    not_compared: Literal["pass", "warn", "skip", "fail"]
    show: int
    baselines: str
    history: str
    label: str
    update: bool
    accept_worse: tuple[str, ...]

    @classmethod
    def of(cls, config: pytest.Config) -> Settings:
        """Read the settings of a run; the command line takes precedence."""
        found = {}
        for name, (_, read, _) in KEYS.items():
            given = config.getoption(PREFIX + name)
            source = _option_name(name) if given is not None else PREFIX + name
            text = str(config.getini(PREFIX + name) if given is None else given)
            try:
                found[name] = read(text)
            except ValueError as error:
                raise pytest.UsageError(f"{source} must be {error}; got {text!r}") from None
        update, accept = (config.getoption(f"retrieval_{name}") for name in ("update", "accept_worse"))
        if accept is not None and not update:
            raise pytest.UsageError(f"{ACCEPT} has no effect without --retrieval-update")
        if accept not in {None, ALL_METRICS} and ACCEPT in config.invocation_params.args:  # a path of tests came next
            raise pytest.UsageError(f"names of what is accepted follow '=': {ACCEPT}={accept}; or write {ACCEPT} last")
        names = tuple(name.strip() for name in re.split(BETWEEN_NAMES, accept or "") if name.strip())
        if accept is not None and not names:
            raise pytest.UsageError(f"{ACCEPT}= names nothing: name metrics or tests, or leave out '='")
        found["label"] = found["label"] or next((os.environ[name] for name in COMMITS if os.environ.get(name)), "")
        return cls(**found, update=bool(update), accept_worse=names)


FLAGS = {
    "update": "write the baselines of checks, unless they are significantly worse, below a floor, or failed",
    "prune": "delete the baselines whose test is gone",
}


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and every ini key."""
    group = parser.getgroup("retrieval", "retrieval quality (retrieval_check)")
    for name, said in FLAGS.items():
        group.addoption(f"--retrieval-{name}", action="store_true", dest=PREFIX + name.replace("-", "_"), help=said)
    group.addoption(
        ACCEPT,
        nargs="?",
        const=ALL_METRICS,
        metavar="NAMES",
        dest="retrieval_accept_worse",
        help="with --retrieval-update: write them even if they are significantly worse; with =NAMES, only in these "
        "metrics or tests, separated by commas",
    )
    group.addoption(
        "--retrieval-report",
        metavar="FILE",
        dest="retrieval_report",
        action="append",
        default=[],
        help="write all checks to a file: .html, .md, .json or .xml (JUnit); can be repeated",
    )
    for name, (default, _, said) in KEYS.items():
        group.addoption(_option_name(name), dest=PREFIX + name, metavar="VALUE", help=f"{said} (default: {default})")
        parser.addini(PREFIX + name, said, default=default)


def report_paths(config: pytest.Config) -> list[Path]:
    """Return the paths of the reports."""
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


LONGEST_NAME = 120
"""Bytes: most file systems allow 255, and the temporary name of a file is longer."""
HEX_OF_A_NAME = 8
REPEAT_STEP = "__pytest_repeat_step_number"
"""The parameter that pytest-repeat adds to a test, with the number of the round."""


def get_test_name(item: pytest.Item) -> str:
    """Return the name of a test within its file, the same for every round of pytest-repeat."""
    test = item.nodeid.partition("::")[2]
    step = getattr(getattr(item, "callspec", None), "params", {}).get(REPEAT_STEP)
    if step is None:
        return test
    marker = item.get_closest_marker("repeat")
    return without_round(test, f"{step + 1}-{marker.args[0] if marker else item.config.getoption('count')}")


def path_beside_test(item: pytest.Item, folder: str, check: str, ending: str = ".json") -> Path:
    """Return the file of a check of a test, in a folder beside the file of the test."""
    return item.path.parent / folder / item.path.stem / make_file_name(get_test_name(item), check, ending)


def without_round(test: str, said: str) -> str:
    """Return the name of a test without the round that pytest-repeat wrote into its parameters.

    Example:
        >>> without_round("test_words[2-3]", "2-3"), without_round("test_words[1-1-3]", "1-3")
        ('test_words', 'test_words[1]')
    """
    head, _, parameters = test.removesuffix("]").partition("[")
    if parameters == said:
        return head
    rest = parameters.removesuffix(f"-{said}")
    return f"{head}[{parameters.removeprefix(f'{said}-') if rest == parameters else rest}]"


def format_path(path: str | Path, root: Path) -> str:
    """Return a path for display: relative to the root of the project, if it is inside."""
    path = Path(path)
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def make_file_name(test: str, name: str = "", ending: str = ".json") -> str:
    """Return the file name of a check: its name within the file of the test, made valid on every file system.

    If two names could differ only in case, as parameters and names of checks can, the file name has a hash, because
    many file systems ignore case.

    Example:
        >>> make_file_name("TestSearch::test_words[bm25]"), make_file_name("test_words", "BM25")
        ('TestSearch.test_words[bm25].json', 'test_words.BM25-56cbcbd4.json')
    """
    full = test.replace("::", ".") + (f".{name}" if name else "")
    fit = re.sub(r"[^\w\-.\[\]]", "_", full).encode()[:LONGEST_NAME].decode(errors="ignore")
    free = test.partition("[")[2] + name
    if fit != full or free != free.lower():  # two tests may become one name
        fit += f"-{sha256(full.encode()).hexdigest()[:HEX_OF_A_NAME]}"
    return fit + ending
