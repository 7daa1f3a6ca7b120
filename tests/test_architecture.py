"""The walls: what the core may import, and what a wheel may hold."""

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
CORE = ROOT / "src" / "retrieval_metrics"
FLOORS = [
    "types",
    "checks",
    "inputs",
    "judging",
    "metrics",
    "statistics",
    "presentation",
    "evaluation",
    "reranking",
    "command_line",
]
"""A part imports from itself and from the parts before it."""


def imported(path: Path) -> set[str]:
    """Modules of this package that a file imports when it runs, not for its annotations."""
    tree = ast.parse(path.read_text())
    typing_only = [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    ]
    skipped = {id(inner) for block in typing_only for inner in ast.walk(block)}
    found = set()
    for node in ast.walk(tree):
        if id(node) not in skipped:
            if isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=lambda path: str(path.relative_to(CORE)))
def test_the_flow_goes_one_way(path: Path) -> None:
    part = path.relative_to(CORE).parts[0].removesuffix(".py")
    if part == "__init__":
        return
    below = FLOORS[: FLOORS.index(part) + 1]
    for module in imported(path):
        if module.startswith("retrieval_metrics."):
            assert module.split(".")[1] in below, f"{path.name} imports {module} from further down the flow"


def test_importing_the_core_brings_numpy_and_no_host_and_no_extra() -> None:
    code = "import retrieval_metrics, sys; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    hosts = {"llama_index", "langchain_core", "ragas", "pytest", "ray"}
    extras = {"pandas", "polars", "rich", "matplotlib", "scipy", "pyarrow", "asyncio"}
    assert "numpy" in loaded
    assert not (hosts | extras) & set(loaded)


DISTRIBUTIONS = [ROOT, *(path.parent for path in sorted(ROOT.glob("integrations/*/pyproject.toml")))]


def settings(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())


def wheel_of(folder: Path, out: Path) -> list[str]:
    subprocess.run(["uv", "build", "--wheel", "--out-dir", out, folder], check=True, capture_output=True)
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if not name.endswith("/")]


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_the_wheel_holds_the_package_its_types_and_its_licence_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    names = wheel_of(folder, tmp_path)
    module = settings(folder)["tool"]["uv"]["build-backend"]["module-name"].replace(".", "/")
    held = [name for name in names if ".dist-info/" not in name]
    # Nothing above the package: an __init__.py in a namespace others share would hide what they put there.
    assert all(name.startswith(f"{module}/") for name in held)
    assert f"{module}/py.typed" in held
    assert any(name.endswith("licenses/LICENSE") for name in names)
    written = {str(path.relative_to(folder / "src")) for path in (folder / "src").rglob("*.py")}
    assert written == {name for name in held if name.endswith(".py")}


@pytest.mark.parametrize("folder", DISTRIBUTIONS[1:], ids=lambda folder: folder.name)
def test_an_integration_is_released_with_the_core_and_forwarded_by_an_extra(folder: Path) -> None:
    core, own = settings(ROOT)["project"], settings(folder)["project"]
    assert own["version"] == core["version"]
    assert own["requires-python"] == core["requires-python"]
    (needed,) = [one for one in own["dependencies"] if re.match(r"retrieval-metrics\b", one)]
    assert needed.partition("==")[2] == core["version"]
    extras = core["optional-dependencies"].values()
    assert [f"{own['name']}=={core['version']}"] in extras, "the core has no extra that forwards to it"
    assert settings(ROOT)["tool"]["uv"]["sources"][own["name"]] == {"workspace": True}
