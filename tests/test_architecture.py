"""The walls: what the core may import, how plainly the code reads, and what a wheel may hold."""

import ast
import graphlib
import re
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from distribution_settings import modules_of
from plain_code import files_with_several_stories, measure, python_files

ROOT = Path(__file__).parent.parent
CORE = ROOT / "src" / "retrieval_metrics"
NUMBERS = [
    ["_internal"],
    ["statistics"],
    ["reports"],
    ["inputs"],
    ["files"],
    ["matching"],
    ["metrics"],
    ["pytrec_eval"],
    ["evaluation"],
    ["retrieval"],
    ["comparison"],
]
"""The folders that turn judgments and rankings into numbers and conclusions, from the ground up."""

ON_TOP = [
    ["traces"],
    ["datasets"],
]
"""The traces of agents, and what helps to make judgments: they stand on the numbers, and no number needs them."""

ENTRANCES = [
    ["storage"],
    ["integration_api", "types"],
    ["cli"],
    ["__main__"],
]
"""What opens both to users, to integrations and to the command line."""

FLOORS = [*NUMBERS, *ON_TOP, *ENTRANCES]
"""The folders of the core from the ground up: each imports from itself and from the floors below it.

What is imported for annotations alone may come from above: nothing happens there.
"""

INTEGRATIONS = {path.parent.name: path for path in sorted(ROOT.glob("integrations/*/src"))}


def name_of(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path, CORE.parent): path for path in sorted(CORE.rglob("*.py"))}
INTEGRATION_API = [name for name in MODULES if f"{name}.".startswith("retrieval_metrics.integration_api.")]
OPEN_TO_INTEGRATIONS = {"retrieval_metrics", "retrieval_metrics.types", *INTEGRATION_API}


@cache
def imported(path: Path, *, typed: bool = True, late: bool = True) -> set[str]:
    """Return the modules that a file imports, also for types alone if `typed`, and also inside functions if `late`."""
    modules = set()
    stub = path.with_suffix(".pyi")
    left: list[ast.AST] = [*ast.parse(path.read_text() + (stub.read_text() if typed and stub.exists() else "")).body]
    while left:
        node = left.pop()
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively, which nothing here does"
            # What is imported from a package may be a module of it.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            modules |= {name if name in MODULES else str(node.module) for name in names}
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            left += node.body if typed else node.orelse
        elif late or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            left += ast.iter_child_nodes(node)
    return modules


def part_of(module: str) -> str:
    return module.split(".")[1]


def test_every_folder_has_its_floor_and_the_picture_shows_it() -> None:
    folders = {part_of(module) for module in MODULES if module != "retrieval_metrics"}
    listed = [folder for floor in FLOORS for folder in floor]
    assert sorted(folders) == sorted(listed)
    page = (ROOT / "docs" / "explanation" / "how-it-works.md").read_text(encoding="utf-8")
    picture = page.partition("```text\n")[2].partition("```")[0]
    drawn: dict[str, list[str]] = {"numbers": [], "extensions": [], "interfaces": []}
    part = "numbers"
    for line in picture.splitlines():
        part = line[:11].strip() if line[:11].strip() in drawn else part
        drawn[part] += line[11:51].split() if not line.startswith("-") else []
    for part, floors in {"numbers": NUMBERS, "extensions": ON_TOP, "interfaces": ENTRANCES}.items():
        floor_of = {folder: number for number, floor in enumerate(floors) for folder in floor}
        assert sorted(drawn[part]) == sorted(floor_of), f"the picture of the house does not show {part} as it is"
        assert drawn[part] == sorted(drawn[part], key=floor_of.__getitem__), f"{part}: the picture mixes the floors"


def test_the_flow_goes_one_way() -> None:
    """What stands on the numbers is listed above them, so no number needs it."""
    wrong: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        if module == "retrieval_metrics":
            continue
        part = part_of(module)
        (floor,) = [number for number, folders in enumerate(FLOORS) if part in folders]
        below = {part, *(folder for folders in FLOORS[:floor] for folder in folders)}
        of_the_core = {name for name in imported(path, typed=False) if name.split(".")[0] == "retrieval_metrics"}
        if part == "cli":  # it stands above all else, and uses the top level as a user does
            of_the_core.discard("retrieval_metrics")
        if above := {name for name in of_the_core if name == "retrieval_metrics" or part_of(name) not in below}:
            wrong[module] = above
    assert not wrong, f"these import what stands beside or above them, or the top level: {wrong}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    """At import time; for annotations and inside functions they may."""
    graph = {
        module: imported(path, typed=False, late=False) & (MODULES.keys() - {"retrieval_metrics", module})
        for module, path in MODULES.items()
        if module != "retrieval_metrics"
    }
    # Raises CycleError with the modules of a circle.
    assert set(graphlib.TopologicalSorter(graph).static_order()) == set(graph)


COMMANDS = {"audit", "changes", "compare", "evaluate", "history", "lint", "tune"}
"""A command has the name of the function it calls, and so has its file."""


def test_no_two_files_of_the_core_have_one_name() -> None:
    stems: dict[str, list[str]] = {}
    for module in MODULES.keys() - {"retrieval_metrics"}:
        folder, _, stem = module.rpartition(".")
        if not (stem.startswith("__") or MODULES[module].stem == "__init__"):
            stems.setdefault(stem, []).append(folder)
    twice = {
        stem: folders
        for stem, folders_of_stem in stems.items()
        if len(folders := [path for path in folders_of_stem if stem not in COMMANDS or not path.endswith(".cli")]) > 1
    }
    assert not twice, f"one word for two things: {twice}"


TESTED_ELSEWHERE = {
    "metrics": "one set of tests takes every metric that there is",
    "__main__": "it only calls the command line",
    "cli/__main__": "likewise",
    "types": "it only names what others define; test_lazy.py looks the names up",
    "_internal/plain_types": "it only names types, which mypy checks",
    "_internal/version": "it only reads the version, which test_main.py prints",
    "_internal/pyinstaller/hook-retrieval_metrics": "PyInstaller runs it, as test_lazy.py does",
}
"""The files, or folders of files, without a test file of their name, each with the reason."""


def test_every_file_has_a_test_file_of_its_name() -> None:
    needed = set()
    for path in MODULES.values():
        own = path.relative_to(CORE)
        exempt = {str(own.with_suffix("")), own.parts[0]} & TESTED_ELSEWHERE.keys()
        if not exempt and path.stem != "__init__":
            needed |= {ROOT / "tests" / own.with_name(f"test_{own.name}")}
    for integration, root in INTEGRATIONS.items():
        tests = ROOT / "tests" / "integrations" / integration
        needed |= {tests / f"test_{path.name}" for path in root.rglob("*.py") if path.stem != "__init__"}
    lacking = sorted(str(path.relative_to(ROOT)) for path in needed if not path.exists())
    assert not lacking, f"these are missing: {lacking}"


@cache
def named_kinds(path: Path) -> set[str]:
    """Return the classes and aliases that a file defines for others."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names |= {node.target.id} if ast.unparse(node.annotation) == "TypeAlias" else set()
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            is_made_type = ast.unparse(node.value.func) in {"TypeVar", "NewType", "namedtuple"}
            names |= {target.id for target in node.targets if is_made_type and isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_") and len(name) > 1}


@pytest.mark.parametrize("integration", INTEGRATIONS)
def test_no_two_classes_have_one_name(integration: str) -> None:
    places: dict[str, list[str]] = {}
    for path in [*CORE.rglob("*.py"), *INTEGRATIONS[integration].rglob("*.py")]:
        for name in named_kinds(path):
            places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    twice = {name: sorted(files) for name, files in places.items() if len(files) > 1}
    assert not twice, f"one word for two things: {twice}"


def packages_of(integration: str) -> list[str]:
    """Return the packages of an integration, dotted."""
    return [name_of(marker.parent, INTEGRATIONS[integration]) for marker in INTEGRATIONS[integration].rglob("py.typed")]


@pytest.mark.parametrize("integration", INTEGRATIONS)
def test_an_integration_sees_the_top_level_and_the_integration_api_alone(integration: str) -> None:
    siblings = {package for other in INTEGRATIONS if other != integration for package in packages_of(other)}
    for path in INTEGRATIONS[integration].rglob("*.py"):
        names = imported(path)
        inside = {name for name in names if name.split(".")[0] == "retrieval_metrics"} - OPEN_TO_INTEGRATIONS
        assert not inside, f"{path.name} imports {inside}; what it needs belongs into retrieval_metrics.integration_api"
        reached = {name for name in names for other in siblings if f"{name}.".startswith(f"{other}.")}
        assert not reached, f"{path.name} imports {reached}, another integration; ask the hosts that are installed"
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isprintable():
                named = [other for other in siblings if node.value == other or node.value.startswith(f"{other}.")]
                assert not named, f"{path.name}, line {node.lineno}, names {named}"


FOR_OTHERS = {"HostAdapter", "find_host", "run_until_complete"}
"""What integrations of other people need: how a host is announced, found and asked."""


def test_the_integration_api_holds_what_integrations_use_and_nothing_else() -> None:
    offered = {name for module in INTEGRATION_API for name in import_module(module).__all__}
    used = set()
    for root in INTEGRATIONS.values():
        for path in root.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module in INTEGRATION_API:
                    used |= {alias.name for alias in node.names}
    unused = offered - used - FOR_OTHERS
    assert not unused, f"no integration uses {unused}"


SOURCE_LIMITS = {
    "vague names": 0.3,
    "vague functions": 0.3,
    "comprehensions": 45.0,
    "dense comprehensions": 1.2,
    "conditional expressions": 23.0,
    "parallel assignments": 0.2,
}
TEST_LIMITS = {
    "vague names": 0.3,
    "vague functions": 0.2,
    "comprehensions": 90.0,
    "dense comprehensions": 7.0,
    "conditional expressions": 13.0,
    "parallel assignments": 0.3,
}
"""The figures that no change may worsen: shares in percent, and numbers per 1,000 statements."""


@pytest.mark.parametrize(
    ("folder", "limits"),
    [
        ("src", SOURCE_LIMITS),
        ("integrations", SOURCE_LIMITS),
        pytest.param("tests", TEST_LIMITS, marks=pytest.mark.thorough),
    ],
)
def test_the_code_reads_as_plainly_as_before(folder: str, limits: dict[str, float]) -> None:
    figures = measure(python_files(ROOT / folder))
    above = {name: round(figure, 2) for name, figure in figures.items() if figure > limits[name]}
    assert not above, f"{folder} is above its limits: {above}; name what variables hold, and take one step at a time"


def test_hardly_any_file_holds_several_stories() -> None:
    files = files_with_several_stories(CORE)
    assert len(files) <= 10, f"split one of these into files of its stories: {files}"
    for integration, root in INTEGRATIONS.items():
        files = files_with_several_stories(root)
        assert len(files) <= 4, f"{integration}: split one of these into files of its stories: {files}"


def test_a_vague_name_and_a_dense_expression_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "dense.py"
    file.write_text("given = [x if x else 0 for x in [y for y in range(3)]]\na, b = 1, 2\ndef held(): pass\n")
    figures = measure([file])
    assert figures["vague names"] == 100 / 5  # of given, x, y, a and b
    assert figures["vague functions"] == 100
    assert figures["comprehensions"] == 2 * 1000 / 4
    assert figures["dense comprehensions"] == 1000 / 4
    assert figures["conditional expressions"] == 1000 / 4
    assert figures["parallel assignments"] == 100 / 2


def test_definitions_that_never_name_one_another_are_several_stories(tmp_path: Path) -> None:
    body = "    pass\n" * 45
    (tmp_path / "two.py").write_text(f"def first():\n{body}\ndef second():\n{body}")
    (tmp_path / "one.py").write_text(f"def first():\n{body}\ndef second():\n    first()\n{body}")
    assert files_with_several_stories(tmp_path) == ["two.py"]


def test_importing_the_core_brings_numpy_and_no_host_and_no_extra() -> None:
    code = "from retrieval_metrics.integration_api import *; import sys; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    hosts = {"llama_index", "langchain_core", "haystack", "ir_measures", "mlflow", "pydantic_evals", "ragas", "pytest"}
    hosts |= {"ray"}
    extras = {"pandas", "polars", "rich", "matplotlib", "scipy", "pyarrow", "asyncio"}
    assert "numpy" in loaded
    assert not (hosts | extras) & set(loaded)


# A comparison that was printed has loaded these.
PACKAGES_OF_A_COMPARISON = {"numpy", "retrieval_metrics"}

# Each of these takes longer to import than a small evaluation takes.
SLOW_STANDARD_MODULES = {"asyncio", "decimal", "difflib", "email", "fractions", "html", "logging", "shutil"} | {
    "statistics",
    "unittest",
    "urllib",
}

EVALUATION = """
import sys
import retrieval_metrics as rm
qrels = {f"q{i}": {f"d{i}": 1, f"d{i + 1}": 2} for i in range(20)}
run = {query: {f"d{j}": 50.0 - j for j in range(10)} for query in qrels}
other = {query: {f"d{j}": 50.0 - j for j in range(5, 15)} for query in qrels}
"""
FIRST_CALLS = {
    "evaluate": "rm.evaluate(qrels, run, clusters=lambda query: query[-1])",
    "compare": "rm.compare(qrels, {'a': run, 'b': other}, margin=0.1)",
    "compare clusters": "rm.compare(qrels, {'a': run, 'b': other}, clusters=lambda query: query[-1])",
    "tune": "rm.tune({'a': run, 'b': other}, qrels, 'mrr', default='a')",
    "plan": "rm.plan(0.1, 'mrr', pilot=rm.compare(qrels, {'a': run, 'b': other}, 'mrr'))",
}


def loaded_modules(code: str) -> set[str]:
    """The modules that a new Python has after running some code that imports sys."""
    command = [sys.executable, "-c", f"{code}\nprint(*sys.modules)"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return set(printed.splitlines()[-1].split())


@pytest.mark.parametrize("call", FIRST_CALLS)
def test_what_is_computed_and_printed_needs_numpy_alone(call: str) -> None:
    code = f"{EVALUATION}str({FIRST_CALLS[call]})"
    new_modules = loaded_modules(code) - loaded_modules("import sys")
    new_packages = {name.partition(".")[0] for name in new_modules}
    # numpy.random brings modules of Cython, whose names have its version.
    packages = {name for name in new_packages - sys.stdlib_module_names if "cython" not in name}
    assert packages == PACKAGES_OF_A_COMPARISON
    # numpy.random, which draws resamples, needs some of these.
    if "numpy.random" not in new_modules:
        assert not new_packages & SLOW_STANDARD_MODULES


# What only some data or options need.
RARELY_NEEDED = {
    *("evaluation.id_mismatch", "evaluation.near_miss_remedy"),
    *("inputs.batch", "inputs.dataframes", "inputs.documents", "inputs.exclusion", "inputs.hosts"),
    *("inputs.input_hints", "matching.budget", "statistics.out_of_bag"),
    *("inputs.judgment_shapes", "inputs.pieces", "inputs.provenance", "inputs.questions", "inputs.stage_rankings"),
    *("matching.condensed", "matching.item_rankings", "matching.vectorised_ids", "statistics.exact_sums"),
    *("comparison.common_ground", "comparison.difference_bounds", "comparison.documents_to_judge"),
    *("comparison.grade_allocations", "comparison.system_ranking", "comparison.unjudged_bounds"),
}
# Comparisons, which look at budgets and near misses and describe how they were made, load these.
RARELY_NEEDED_BY_EVALUATIONS = {
    *("evaluation.budget_coverage", "evaluation.near_miss_effect"),
    *("matching.matching_options", "metrics.base.given_metrics"),
}


def test_evaluating_or_comparing_ids_and_printing_loads_nothing_that_few_need() -> None:
    evaluation = loaded_modules(f"{EVALUATION}str(rm.evaluate(qrels, run))")
    comparison = loaded_modules(f"{EVALUATION}str(rm.compare(qrels, {{'a': run, 'b': other}}))")
    assert "retrieval_metrics.evaluation.summary" in evaluation & comparison
    assert not {f"retrieval_metrics.{name}" for name in RARELY_NEEDED} & (evaluation | comparison)
    assert not {f"retrieval_metrics.{name}" for name in RARELY_NEEDED_BY_EVALUATIONS} & evaluation


def test_formatting_numbers_and_tables_loads_no_reader_of_saved_files() -> None:
    new_modules = loaded_modules(
        "import sys\nfrom retrieval_metrics.integration_api.text import Table, numbers, save_text"
    )
    assert not {"retrieval_metrics.storage.load", "retrieval_metrics.comparison.compare"} & new_modules


# Importing each of these loads neither what reads saved files nor what its host has for agents.
FIRST_NAMES = {
    "llama_index": "from llama_index.evaluation.retrieval_metrics import ranking_metrics",
    "pydantic_evals": "from pydantic_evals_retrieval_metrics import RetrievalMetrics, to_evaluation",
}
LATE_MODULES = {"retrieval_metrics.storage.load", "retrieval_metrics.evaluation.stages", "llama_index.core.agent"}


@pytest.mark.thorough
@pytest.mark.parametrize("host", FIRST_NAMES)
def test_importing_an_integration_loads_little_more_than_its_host(host: str) -> None:
    pytest.importorskip(host)
    new_modules = loaded_modules(f"import sys\n{FIRST_NAMES[host]}")
    assert "retrieval_metrics.evaluation.row_scorer" in new_modules
    assert not LATE_MODULES & new_modules


# What an evaluation or a comparison imports.
FOLDERS_OF_A_COMPARISON = ["inputs", "matching", "metrics", "statistics", "evaluation", "comparison", "reports"]


@pytest.mark.parametrize("folder", FOLDERS_OF_A_COMPARISON)
def test_importing_compiles_no_regular_expression(folder: str) -> None:
    for path in (CORE / folder).rglob("*.py"):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                assert "re.compile(" not in ast.unparse(statement), f"use lazy_pattern in {path}:{statement.lineno}"


FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
DISTRIBUTIONS = [ROOT, *(path.parent for path in sorted(ROOT.glob("integrations/*/pyproject.toml")))]


def settings(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())


def wheel_of(folder: Path, out: Path) -> tuple[list[str], str]:
    """The files of a wheel that was built from its source distribution, and its page on an index."""
    subprocess.run(["uv", "build", "--out-dir", out, folder], check=True, capture_output=True)
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        (about,) = (name for name in names if name.endswith("/METADATA"))
        return names, archive.read(about).decode().partition("\n\n")[2]


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_the_wheel_holds_the_package_its_types_and_its_licence_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    names, page = wheel_of(folder, tmp_path)
    modules = [module.replace(".", "/") for module in modules_of(folder)]
    files = [name for name in names if ".dist-info/" not in name]
    # Nothing above the package: an __init__.py in a namespace others share would hide what they put there.
    assert all(name.startswith(tuple(f"{module}/" for module in modules)) for name in files)
    assert {f"{module}/py.typed" for module in modules} <= set(files)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    written = {
        str(path.relative_to(folder / "src")) for path in (folder / "src").rglob("*.py*") if path.suffix != ".pyc"
    }
    assert written == {name for name in files if name.endswith((".py", ".pyi"))}
    # On an index a link into the repository leads nowhere: its words stay, and so does all code.
    readme = (folder / "README.md").read_text()
    assert FENCED.findall(page) == FENCED.findall(readme) != []
    prose = FENCED.sub("", page)
    readme_prose = FENCED.sub("", readme)
    assert all("://" in target for target in re.findall(r"\]\(([^)]*)\)", prose))
    assert "](" in readme_prose
    assert re.sub(r"\W", "", prose) == re.sub(r"\W", "", re.sub(r"\]\((?!https://)[^)]*\)", "]", readme_prose))


@pytest.mark.parametrize("folder", DISTRIBUTIONS[1:], ids=lambda folder: folder.name)
def test_an_integration_is_released_with_the_core_and_forwarded_by_an_extra(folder: Path) -> None:
    core = settings(ROOT)["project"]
    own = settings(folder)["project"]
    assert own["version"] == core["version"]
    assert own["requires-python"] == core["requires-python"]
    (needed,) = [requirement for requirement in own["dependencies"] if re.match(r"retrieval-metrics\b", requirement)]
    assert needed.partition("==")[2] == core["version"]
    extras = core["optional-dependencies"].values()
    assert [f"{own['name']}=={core['version']}"] in extras, "the core has no extra that forwards to it"
    assert settings(ROOT)["tool"]["uv"]["sources"][own["name"]] == {"workspace": True}
