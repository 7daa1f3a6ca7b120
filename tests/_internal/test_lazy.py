"""The public names of the package are imported when they are first used."""

import ast
import importlib
import pickle
import runpy
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import retrieval_metrics as rm

CORE = Path(rm.__file__).parent
LAZY = sorted(path for path in CORE.rglob("*.pyi"))


def fresh(code: str, *options: str, **environment: str) -> str:
    """Return what code prints in a process of its own."""
    call = [sys.executable, *options, "-c", code]
    return subprocess.run(call, check=True, capture_output=True, text=True, env=environment or None).stdout.strip()


def test_importing_the_package_imports_nothing_else() -> None:
    loaded = fresh("import retrieval_metrics, sys; print(*sys.modules)").split()
    own = {name for name in loaded if name.startswith("retrieval_metrics.")}
    assert own == {f"retrieval_metrics.{name}" for name in ("_internal", "_internal.lazy")}
    assert not {"numpy", "dataclasses", "inspect"} & set(loaded)


@pytest.mark.parametrize("stub", LAZY, ids=lambda path: str(path.relative_to(CORE)))
def test_a_name_is_what_the_stub_says(stub: Path) -> None:
    owner = ".".join(stub.relative_to(CORE.parent).with_suffix("").parts).removesuffix(".__init__")
    module = importlib.import_module(owner)
    sources = {
        alias.name: node.module
        for node in ast.parse(stub.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if node.module != "typing"
    }
    public = {name for name in sources if not name.startswith("_")}
    assert public == set(module.__all__)
    assert sorted(public) == dir(module)
    for name, source in sources.items():
        assert getattr(module, name) is getattr(importlib.import_module(str(source)), name)


def test_all_names_can_be_imported_at_once() -> None:
    code = (
        "from retrieval_metrics import *; from retrieval_metrics.types import *; print(evaluate, Counts, types.Counts)"
    )
    assert fresh(code).count("Counts") == 2


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    code = "import retrieval_metrics as rm\nrm.evalute"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "module 'retrieval_metrics' has no attribute 'evalute'. Did you mean: 'evaluate'?" in done.stderr


def test_threads_may_be_the_first_to_use_names() -> None:
    code = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import retrieval_metrics as rm
sys.setswitchinterval(1e-6)
names = [*rm.__all__, *(f"types.{name}" for name in ("Counts", "Scores", "Interval"))]
ready = Barrier(len(names))
def use(name):
    ready.wait()
    value = rm
    for part in name.split("."):
        value = getattr(value, part)
    return value, str(rm.Metric.parse("nDCG_cut_10"))
with ThreadPoolExecutor(len(names)) as threads:
    used = list(threads.map(use, names))
assert {text for _, text in used} == {"ndcg@10"}
assert all(value is getattr(rm, name, value) for name, (value, _) in zip(names, used))
print(len(used) == len(names))
"""
    assert fresh(code) == "True"


def test_metrics_are_known_to_a_process_that_only_unpickles_one() -> None:
    pickled = pickle.dumps((rm.Metric.parse("ndcg@10"), rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr")))
    assert fresh(f"import pickle; metric, result = pickle.loads({pickled!r}); print(metric, result.means)") == (
        "ndcg@10 {'mrr': 1.0}"
    )


def test_names_are_taken_before_anybody_has_used_a_metric() -> None:
    code = """
import retrieval_metrics as rm
try:
    rm.define_metric("mrr", lambda grades: 1.0)
except ValueError as error:
    print(error)
"""
    assert fresh(code) == "'mrr' is already the name of a metric"


def test_the_package_works_from_an_archive(tmp_path: Path) -> None:
    archive = tmp_path / "held.zip"
    with zipfile.ZipFile(archive, "w") as content:
        for path in CORE.rglob("*"):
            if path.suffix != ".pyc":
                content.write(path, path.relative_to(CORE.parent))
    page = tmp_path / "page.html"
    code = f"""
import retrieval_metrics as rm
rm.evaluate({{"q": ["d"]}}, {{"q": ["d"]}}, "mrr").report({str(page)!r})
print(rm.__file__, rm.ndcg([3, 2]), rm.types.Counts.__name__)
"""
    assert fresh(code, "-S", PYTHONPATH=":".join([str(archive), *sys.path])) == (
        f"{archive}/retrieval_metrics/__init__.py 1.0 Counts"
    )
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_a_warning_filter_of_python_can_name_the_warning() -> None:
    code = "import retrieval_metrics as rm; rm.evaluate({'a': ['d'], 'b': ['d']}, {'a': ['d']}, 'mrr')"
    call = [sys.executable, "-W", "error::retrieval_metrics.RetrievalWarning", "-c", code]
    environment = {"PYTHONPATH": ":".join([str(CORE.parent), *sys.path])}
    done = subprocess.run(call, check=False, capture_output=True, text=True, env=environment)
    assert done.stderr.splitlines()[-1].startswith(
        "retrieval_metrics._internal.warn.RetrievalWarning: 1 of 2 judged queries"
    )


def test_pyinstaller_is_told_of_what_no_import_names() -> None:
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    owner, _, name = settings["project"]["entry-points"]["pyinstaller40"]["hook-dirs"].partition(":")
    (folder,) = getattr(importlib.import_module(owner), name)()
    hook = Path(folder) / "hook-retrieval_metrics.py"
    variables = runpy.run_path(str(hook))
    files = {path for path in CORE.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    module_paths = {CORE.parent / Path(*module.split(".")) for module in variables["hiddenimports"]}
    modules = set()
    for path in module_paths:
        modules.add(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
    carried = {Path(source) for source, _ in variables["datas"]}
    assert modules | carried == files - {hook}
    assert {CORE / "types.pyi", CORE / "reports" / "page.css"} <= carried
    assert all(CORE.parent / target == Path(source).parent for source, target in variables["datas"])
