"""The walls: what the core may import, and what a wheel may hold."""

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CORE = ROOT / "src" / "retrieval_metrics"
FLOORS = ["types", "checks", "inputs", "judging", "metrics", "statistics", "presentation", "evaluation"]
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


def test_the_wheel_holds_the_package_its_types_and_its_licence_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run(["uv", "build", "--wheel", "--out-dir", tmp_path, ROOT], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"retrieval_metrics"}
    assert "retrieval_metrics/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    sources = {str(path.relative_to(CORE.parent)) for path in CORE.rglob("*.py")}
    assert sources == {name for name in names if name.endswith(".py")}
