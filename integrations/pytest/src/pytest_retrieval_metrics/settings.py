"""Declare and read the command-line options and ini keys of the plug-in."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PREFIX = "retrieval_"

# A level or an alpha of 0 would accept or refuse everything.
MIN_SHARE = 1e-9

# Environment variables with the tested commit on GitHub and GitLab.
COMMIT_VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA")

ACCEPT_OPTION = "--retrieval-accept-worse"

# The value of `ACCEPT_OPTION` without names: losses in all metrics are accepted.
ALL_METRICS = "*"

# A comma, but not one between the parameters of a metric or a test.
NAME_SEPARATOR = r",(?![^(\[]*[)\]])"

# The extensions of `--retrieval-report`, which choose the format.
REPORT_ENDINGS = (".html", ".md", ".json", ".xml")

# The options without a value, with their help.
FLAGS = {
    "update": "write the baselines of checks, unless they are significantly worse, below a floor, or failed",
    "prune": "delete the baselines whose test is gone",
}


@dataclass(frozen=True, slots=True)
class SettingKey:
    """A setting: `--retrieval-<name>`, with hyphens, on the command line, and `retrieval_<name>` in the ini file.

    Attributes:
        default: The text that stands for no setting.
        read: Reads the text; it raises a ValueError that says what the text must be.
        help: What the setting does.
    """

    default: str
    read: Callable[[str], Any]
    help: str


def _choice_reader(*choices: str) -> Callable[[str], str]:
    def read_choice(text: str) -> str:
        if text not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text

    return read_choice


def _number_reader(smallest: float, upper_limit: float, expected: str) -> Callable[[str], float]:
    def read_number(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            raise ValueError(expected) from None
        if not smallest <= number < upper_limit:
            raise ValueError(expected)
        return number

    return read_number


def _whole_number_reader(smallest: int) -> Callable[[str], int]:
    def read_whole_number(text: str) -> int:
        if not text.isdecimal() or int(text) < smallest:
            raise ValueError(f"a whole number, {smallest} or more")
        return int(text)

    return read_whole_number


def _read_folder(text: str) -> str:
    if not text.strip():
        raise ValueError("the name of a folder")
    return text


KEYS: dict[str, SettingKey] = {
    "floor": SettingKey(
        "mean",
        _choice_reader("mean", "ci_low"),
        "what must reach the floor: the mean, or the low end of its interval",
    ),
    "level": SettingKey(
        "0.95",
        _number_reader(0.5 + MIN_SHARE, 1, "a number between 0.5 and 1, such as 0.95"),
        "confidence level of the interval of a mean",
    ),
    "alpha": SettingKey(
        "0.05",
        _number_reader(MIN_SHARE, 0.5, "a number between 0 and 0.5, such as 0.05"),
        "accepted share of builds with a false alarm, over all tests that use retrieval_check",
    ),
    "builds": SettingKey(
        "1",
        _whole_number_reader(1),
        "how many builds share alpha: with 30, the chance of any false alarm in 30 builds is at most alpha",
    ),
    "tolerance": SettingKey(
        "0",
        _number_reader(0, float("inf"), "a number, 0 or more"),
        "a drop from the baseline up to this size is accepted",
    ),
    "inconclusive": SettingKey(
        "pass",
        _choice_reader("pass", "warn", "skip", "fail"),
        "what to do if a metric is lower, but not significantly",
    ),
    "not_compared": SettingKey(
        "fail",
        _choice_reader("pass", "warn", "skip", "fail"),
        "what to do if there is no baseline, or it was made with other judgments",
    ),
    "show": SettingKey("5", _whole_number_reader(0), "how many queries a failure shows"),
    "baselines": SettingKey(
        "retrieval_baselines", _read_folder, "folder of the baselines, next to the file of the test"
    ),
    "history": SettingKey(
        "", str.strip, "folder of the histories, next to the file of the test; if empty, none are kept"
    ),
    "label": SettingKey(
        "",
        str.strip,
        f"the label of new entries in the histories; by default {' or '.join(COMMIT_VARIABLES)}",
    ),
}


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
    def from_config(cls, config: pytest.Config) -> Settings:
        """Read the settings of a run; the command line takes precedence."""
        values: dict[str, Any] = {}
        for name, key in KEYS.items():
            values[name] = _read_setting(config, name, key)
        update = bool(config.getoption("retrieval_update"))
        accept_worse = _read_accepted_names(config, update=update)
        if not values["label"]:
            values["label"] = _commit_from_environment()
        return cls(**values, update=update, accept_worse=accept_worse)


def _option_name(name: str) -> str:
    return f"--retrieval-{name.replace('_', '-')}"


def _read_setting(config: pytest.Config, name: str, key: SettingKey) -> Any:
    value = config.getoption(PREFIX + name)
    source = _option_name(name)
    if value is None:
        value = config.getini(PREFIX + name)
        source = PREFIX + name
    text = str(value)
    try:
        return key.read(text)
    except ValueError as error:
        raise pytest.UsageError(f"{source} must be {error}; got {text!r}") from None


def _read_accepted_names(config: pytest.Config, *, update: bool) -> tuple[str, ...]:
    """Return the names after `--retrieval-accept-worse=`, or `ALL_METRICS` alone if there are none."""
    names_text = config.getoption("retrieval_accept_worse")
    if names_text is None:
        return ()
    if not update:
        raise pytest.UsageError(f"{ACCEPT_OPTION} has no effect without --retrieval-update")
    if names_text != ALL_METRICS and ACCEPT_OPTION in config.invocation_params.args:  # a path of tests came next
        raise pytest.UsageError(
            f"names of what is accepted follow '=': {ACCEPT_OPTION}={names_text}; or write {ACCEPT_OPTION} last"
        )
    names = tuple(filter(None, map(str.strip, re.split(NAME_SEPARATOR, names_text))))
    if not names:
        raise pytest.UsageError(f"{ACCEPT_OPTION}= names nothing: name metrics or tests, or leave out '='")
    return names


def _commit_from_environment() -> str:
    for variable in COMMIT_VARIABLES:
        commit = os.environ.get(variable)
        if commit:
            return commit
    return ""


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and every ini key."""
    group = parser.getgroup("retrieval", "retrieval quality (retrieval_check)")
    for name, help_text in FLAGS.items():
        group.addoption(
            f"--retrieval-{name}", action="store_true", dest=PREFIX + name.replace("-", "_"), help=help_text
        )
    group.addoption(
        ACCEPT_OPTION,
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
    for name, key in KEYS.items():
        group.addoption(
            _option_name(name), dest=PREFIX + name, metavar="VALUE", help=f"{key.help} (default: {key.default})"
        )
        parser.addini(PREFIX + name, key.help, default=key.default)


def report_paths(config: pytest.Config) -> list[Path]:
    """Return the paths of the reports."""
    paths = []
    for argument in config.getoption("retrieval_report"):
        path: Path = config.invocation_params.dir / argument
        if path.suffix not in REPORT_ENDINGS:
            raise pytest.UsageError(
                f"--retrieval-report needs a name that ends in {', '.join(REPORT_ENDINGS)}; got {argument!r}"
            )
        try:
            _require_writable(path)
        except OSError as error:
            raise pytest.UsageError(f"--retrieval-report={argument} cannot be written: {error.strerror}") from None
        paths.append(path)
    return paths


def _require_writable(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=path.parent):
        pass
    if path.exists():
        path.open("ab").close()
