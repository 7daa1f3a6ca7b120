"""An example's header names what it needs: seen here without an environment of its own, so every change is checked."""

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from distribution_settings import modules_of

ROOT = Path(__file__).parent.parent.parent
SCRIPTS = sorted(path for path in (ROOT / "examples").glob("*.py") if path.read_text().startswith("# /// script"))
HOSTS = {
    "haystack": "retrieval-metrics-haystack",
    "langchain_core": "langchain-retrieval-metrics",
    "llama_index": "llama-index-evaluation-retrieval-metrics",
    "mlflow": "mlflow-retrieval-metrics",
    "pydantic_evals": "pydantic-evals-retrieval-metrics",
    "ragas": "ragas-retrieval-metrics",
    "ray": "ray-retrieval-metrics",
}
"""The integration that takes the objects of a host; without it, a retriever of the host cannot be asked."""


def header(script: Path) -> dict[str, Any]:
    """Return the inline metadata of a script (PEP 723)."""
    lines = script.read_text().split("# ///\n", 1)[0].splitlines()[1:]
    return tomllib.loads("\n".join(line.removeprefix("#").removeprefix(" ") for line in lines))


def imported(script: Path) -> set[str]:
    """Return the modules that a script imports, and those of the examples beside it that it imports."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(script.read_text())):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            beside = script.with_name(f"{name}.py")
            modules |= imported(beside) if beside.exists() else {name}
    return modules


def test_there_are_integrations_for_all_hosts_of_the_table() -> None:
    files = list(ROOT.glob("integrations/*/pyproject.toml"))
    settings = [tomllib.loads(path.read_text()) for path in files]
    assert set(HOSTS.values()) <= {project["project"]["name"] for project in settings}
    assert all(modules_of(path.parent) for path in files)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_header_names_the_integration_of_every_host_it_imports(script: Path) -> None:
    tops = {name.split(".")[0] for name in imported(script)}
    needed = {HOSTS[top] for top in tops & HOSTS.keys()}
    named = {re.split(r"[^\w-]", requirement)[0] for requirement in header(script)["dependencies"]}
    extras = {
        extra for requirement in header(script)["dependencies"] for extra in re.findall(r"\[(.*?)\]", requirement)
    }
    assert needed <= named, f"{script.name} imports hosts whose integrations its header lacks (extras: {extras})"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_what_the_header_takes_from_here_is_a_folder_here(script: Path) -> None:
    sources = header(script).get("tool", {}).get("uv", {}).get("sources", {})
    assert "retrieval-metrics" in sources
    for name, source in sources.items():
        folder = (script.parent / source["path"]).resolve()
        assert tomllib.loads((folder / "pyproject.toml").read_text())["project"]["name"] == name
