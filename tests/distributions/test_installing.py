"""Every distribution, built and installed in an empty environment outside the repository."""

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from distribution_settings import modules_of

pytestmark = pytest.mark.examples

ROOT = Path(__file__).parent.parent.parent
FOLDERS = [ROOT, *(path.parent for path in sorted(ROOT.glob("integrations/*/pyproject.toml")))]
SETTINGS: list[dict[str, Any]] = [tomllib.loads((folder / "pyproject.toml").read_text()) for folder in FOLDERS]
MODULES = {settings["project"]["name"]: modules_of(folder) for folder, settings in zip(FOLDERS, SETTINGS, strict=True)}
CORE = SETTINGS[0]["project"]["name"]
LOWEST = SETTINGS[0]["project"]["requires-python"].removeprefix(">=")

EVERY_NAME = """
import importlib, sys
for package in sys.argv[1:]:
    module = importlib.import_module(package)
    for name in module.__all__:
        getattr(module, name)
    print(module.__path__[0], len(module.__all__))
"""
EVALUATE = """
import retrieval_metrics as rm
print(rm.evaluate({"q": ["a", "b"]}, {"q": ["x", "a"]}, ["mrr", "recall@2"]).means)
"""


def uv(*arguments: str | Path) -> str:
    """Run uv outside the repository, where nothing says which Python or which environment is meant."""
    environment = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "UV_PYTHON"}}
    done = subprocess.run(
        ["uv", *arguments], cwd="/", env=environment, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def newest() -> str:
    """The newest Python that uv finds on this machine, if it is newer than the lowest that is supported."""
    installed = json.loads(uv("python", "list", "--only-installed", "--output-format", "json"))
    minors = [
        int(settings["version_parts"]["minor"])
        for settings in installed
        if settings["implementation"] == "cpython" and re.fullmatch(r"[\d.]+", settings["version"])
    ]
    return f"3.{max([int(LOWEST.partition('.')[2]), *minors])}"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of every wheel, each built from the source distribution beside it."""
    folder = tmp_path_factory.mktemp("dist")
    uv("build", "--all-packages", "--out-dir", folder, ROOT)
    return folder


def file_of(folder: Path, name: str, ending: str) -> Path:
    (file,) = folder.glob(f"{re.sub('[-_.]+', '_', name)}-*{ending}")
    return file


def install(folder: Path, python: str, files: Sequence[str | Path]) -> Path:
    """Make an empty environment, install files there, and return its interpreter."""
    uv("venv", "--python", python, folder / "environment")
    scripts = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
    uv("pip", "install", "--python", scripts / "python", *files)
    return scripts / "python"


@pytest.fixture(params=["lowest", "newest"])
def python(request: pytest.FixtureRequest) -> str:
    if request.param == "newest" and newest() == LOWEST:
        pytest.skip(f"no Python newer than {LOWEST} is installed")
    return LOWEST if request.param == "lowest" else newest()


@pytest.mark.xdist_group("distributions")
@pytest.mark.parametrize("ending", [".whl", ".tar.gz"], ids=["wheel", "sdist"])
@pytest.mark.parametrize("name", MODULES)
def test_all_its_names_are_there(built: Path, tmp_path: Path, name: str, ending: str, python: str) -> None:
    # The core beside an integration is the one of this repository, whatever a registry holds under its name.
    interpreter = install(
        tmp_path, python, [file_of(built, settings, ending) for settings in dict.fromkeys([CORE, name])]
    )
    command: list[str | Path] = [interpreter, "-I", "-W", "ignore", "-c", EVERY_NAME, *MODULES[name]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines()[-len(MODULES[name]) :]:
        where, names = line.rsplit(maxsplit=1)
        assert Path(where).is_relative_to(tmp_path)
        assert int(names) > 0


@pytest.mark.xdist_group("distributions")
def test_the_core_computes_and_its_command_answers(built: Path, tmp_path: Path, python: str) -> None:
    interpreter = install(tmp_path, python, [f"{file_of(built, CORE, '.whl')}[cli]"])
    printed = subprocess.run([interpreter, "-I", "-c", EVALUATE], check=True, capture_output=True, text=True).stdout
    assert printed == "{'mrr': 0.5, 'recall@2': 0.5}\n"
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d2 1 2.0 x\nq1 Q0 d1 2 1.0 x\n")
    program = interpreter.with_name("retrieval-metrics")
    command: list[str | Path] = [program, "evaluate", "a.qrels", "a.run", "-m", "mrr"]
    printed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert re.search(r"^mrr +0\.500 ", printed, flags=re.MULTILINE)


@pytest.mark.xdist_group("distributions")
def test_pytest_finds_the_plug_in(built: Path, tmp_path: Path, python: str) -> None:
    files = [file_of(built, name, ".whl") for name in (CORE, "pytest-retrieval-metrics")]
    interpreter = install(tmp_path, python, files)
    (tmp_path / "test_it.py").write_text(
        "def test_it(retrieval_check):\n    retrieval_check({'q': ['d']}, {'q': ['d']}, {'mrr': 1.0})\n"
    )
    command: list[str | Path] = [interpreter, "-m", "pytest", "-q", tmp_path / "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


BASELINE = """
import os

QRELS = {f"question {n}": ["d"] for n in range(20)}


def search(text):
    return ["x", "d"] if os.environ.get("WORSE") else ["d", "x"]


def test_it(retrieval_check):
    retrieval_check(QRELS, search, {"mrr": 0.3}, baseline=True)
"""
STEPS: tuple[tuple[str, list[str], str], ...] = (
    ("", [], "no baseline retrieval_baselines/test_it/test_it.json; create it with --retrieval-update"),
    ("", ["--retrieval-update"], "retrieval_baselines/test_it/test_it.json: new"),
    ("", [], "1 passed"),
    ("1", ["--retrieval-report=r.html"], "mrr worse: 1.000 -> 0.500 (p < 0.001), 20 of 20 queries"),
    ("1", ["--retrieval-update"], "baseline not updated; accept the loss with --retrieval-accept-worse=mrr"),
    (
        "1",
        ["--retrieval-update", "--retrieval-accept-worse"],
        "mrr 1.000 -> 0.500 (p < 0.001): 20 worse, 0 better of 20 queries",
    ),
    ("1", [], "1 passed"),
)


@pytest.mark.xdist_group("distributions")
def test_a_new_project_makes_a_baseline_reads_a_failure_and_accepts_it(built: Path, tmp_path: Path) -> None:
    files = [file_of(built, name, ".whl") for name in (CORE, "pytest-retrieval-metrics")]
    interpreter = install(tmp_path, LOWEST, files)
    (tmp_path / "test_it.py").write_text(BASELINE)
    for worse, options, expected in STEPS:
        command: list[str | Path] = [interpreter, "-m", "pytest", "-q", "test_it.py", *options]
        environment = {**os.environ, "WORSE": worse, "PYTEST_ADDOPTS": ""}
        done = subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True)
        assert expected in done.stdout, done.stdout + done.stderr
    assert "20 of 20 queries" in (tmp_path / "r.html").read_text()
    assert len(list((tmp_path / "r.checks").iterdir())) == 1
