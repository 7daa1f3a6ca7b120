"""Every code block of the site and of the READMEs runs as printed, and prints what stands below it.

`uv run --all-extras tests/documentation/test_pages.py [PAGE ...]` writes today's output into the pages.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import distributions, entry_points, files, packages_distributions, requires
from pathlib import Path

import pytest
from opentelemetry.util._once import Once
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

sys.path.insert(0, str(Path(__file__).parent.parent))  # for the command above; pytest puts it there itself
sys.path.insert(0, str(Path(__file__).parent.parent.parent / "examples"))

import retrieval_metrics as rm
from retrieval_metrics._internal.optional_packages import EXTRAS
from retrieval_metrics.datasets.estimate_wording import LABELS_NEEDED_ACCURACY
from running_pages import (
    FENCE,
    INSTALL,
    PAGES,
    RECIPES,
    ROOT,
    RUN_HERE,
    as_it_runs,
    installed,
    lay_out,
    name,
    write_outputs,
)

LANGUAGES = {"python", "text", "console", "sh", "yaml"}  # directives of the site have their name in braces
PACKAGES = [
    "haystack_integrations.components.evaluators.retrieval_metrics",
    "haystack_integrations.components.rankers.retrieval_metrics",
    "ir_measures_retrieval_metrics",
    "langchain_retrieval_metrics",
    "llama_index.evaluation.retrieval_metrics",
    "mlflow_retrieval_metrics",
    "pydantic_evals_retrieval_metrics",
    "pytest_retrieval_metrics",
    "ragas_retrieval_metrics",
    "ray_retrieval_metrics",
    "retrieval_metrics",
    "retrieval_metrics.types",
    "retrieval_metrics.metrics",
]
FOR_CONTRIBUTORS = {"README.md", ".github/CONTRIBUTING.md"}
"""They say how to try the examples and run the tests from a clone."""
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")  # which examples show


@pytest.fixture
def no_spans_of_other_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that sets a provider of spans has its own: MLflow, on the page before, may have set one that it reads."""
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", None)
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER_SET_ONCE", Once())


INSTALLED = {canonicalize_name(package.name) for package in distributions()}
OF_MODULES = packages_distributions()


def brought(requirements: Iterable[str]) -> set[str]:
    """Return the distributions that pip installs when it is told these."""
    distributions_brought: set[tuple[str, str]] = set()
    to_do = [Requirement(requirement) for requirement in requirements]
    while to_do:
        requirement = to_do.pop()
        if canonicalize_name(requirement.name) not in INSTALLED:
            continue  # `mlflow`, of which only the skinny part is here
        for extra in {"", *requirement.extras}:
            if (canonicalize_name(requirement.name), extra) not in distributions_brought:
                distributions_brought.add((canonicalize_name(requirement.name), extra))
                needed = map(Requirement, requires(requirement.name) or [])
                to_do += [
                    dependency
                    for dependency in needed
                    if not dependency.marker or dependency.marker.evaluate({"extra": extra})
                ]
    return {distribution for distribution, _ in distributions_brought}


def imported(text: str) -> Iterator[str]:
    """Yield the modules that the code of a page imports."""
    for block in FENCE.finditer(text):
        if block["language"] == "python" and not block["said"]:
            for node in ast.walk(ast.parse(block["code"])):
                if isinstance(node, ast.Import):
                    yield from (alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    yield node.module or ""


def holders(module: str) -> set[str]:
    """Return the distributions that hold a module; none for one of the workspace, whose files nothing lists."""
    named = set(OF_MODULES.get(module.partition(".")[0], []))
    if len(named) > 1:  # of a namespace
        path = module.replace(".", "/")
        named = {name for name in named if any(str(file).startswith(path) for file in files(name) or [])}
    return set(map(canonicalize_name, named))


def hide_what_it_does_not_install(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let imports fail as they do for a reader who has installed only what the page says before its first code."""
    installs = brought(installed(page))
    used = {*imported(page.read_text(encoding="utf-8")), *EXTRAS}
    hidden = {module for module in used if (packages := holders(module)) and installs.isdisjoint(packages)}
    hosts = entry_points(group="retrieval_metrics.hosts")
    hidden |= {host.module for host in hosts if host.dist and canonicalize_name(host.dist.name) not in installs}
    for module in [*hidden, *sys.modules]:
        if any(module == hidden_module or module.startswith(f"{hidden_module}.") for hidden_module in hidden):
            monkeypatch.setitem(sys.modules, module, None)  # which makes its import fail


@pytest.mark.usefixtures("no_spans_of_other_pages")
@pytest.mark.parametrize(
    "page", [page for page in RUN_HERE if "```python" in page.read_text(encoding="utf-8")], ids=name
)
def test_the_page_runs_with_what_it_installs_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_what_it_does_not_install(page, monkeypatch)
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    if page.parent.name == "ray":
        import_module("ray_hosts").start_small()  # the page finds the Ray of the tests: a start costs more than they do
    for shown, printed in as_it_runs(name(page), page.read_text(encoding="utf-8")):
        assert shown == printed


@pytest.mark.parametrize("page", RECIPES, ids=name)
def test_a_recipe_names_the_packages_of_its_environment(page: Path) -> None:
    """It says one of them before its first code, and behind a # the others, of which a reader needs one."""
    _, _ours, _page = installed(page)
    line = INSTALL.search(page.read_text(encoding="utf-8"))
    assert line
    named = set(re.findall(r"(?<![\[\w-])[a-z][a-z0-9-]+", line[1])) - {"or", "retrieval-metrics"}
    assert named == {Requirement(requirement).name for requirement in RECIPES[page]}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_block_escapes_the_test(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    languages = {block["language"] for block in FENCE.finditer(text)}
    assert {language for language in languages if not language.startswith("{")} <= LANGUAGES
    assert not languages & {"{code-block}", "{code}", "{doctest}"}
    assert len(re.findall(r"^\s*(```|~~~)", text, flags=re.MULTILINE)) == 2 * len(FENCE.findall(text))
    assert not re.search(r"^ {4}(import|from) ", FENCE.sub("", text), flags=re.MULTILINE), "code without a fence"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = [link.partition("#")[0] for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))]
    missing = [link for link in links if link and "://" not in link and not (page.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_script_that_is_named_exists(page: Path) -> None:
    named = set(re.findall(r"(?<![\w/])(?:docs|examples|tests)/[\w/]+\.py", page.read_text(encoding="utf-8")))
    assert not [script for script in named if not (ROOT / script).exists()]


@pytest.mark.parametrize("page", [page for page in PAGES if name(page) not in FOR_CONTRIBUTORS], ids=name)
def test_only_contributors_are_told_of_our_tests(page: Path) -> None:
    """A reader has no clone of this repository: neither its runner nor its tests are there."""
    text = page.read_text(encoding="utf-8")
    assert "`uv run" not in text
    assert "\nuv run" not in text
    assert not re.findall(r"tests/(?:benchmarks|peers|integrations|[\w/]+\.py)[\w/.]*", text)


def test_the_front_door_is_short() -> None:
    assert len((ROOT / "README.md").read_bytes()) <= 6 * 1024


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_its_entry(package: str) -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "api").glob("*.md")))
    entries = re.findall(r"^\.\. auto\w+:: (\S+)\.(\w+)$", text, flags=re.MULTILINE)
    public = set(import_module(package).__all__)
    if package != "retrieval_metrics":  # what the top level has too is documented there
        public -= {name for name in public if getattr(rm, name, None) is getattr(import_module(package), name)}
    assert sorted(name for module, name in entries if module == package) == sorted(public - {"metrics", "types"})


def table_rows(part: str, *, columns: int) -> list[list[str]]:
    """Return the cells of a table of the simulations: the first ones after the number of queries."""
    page = (ROOT / "docs/explanation/statistics-tables.md").read_text(encoding="utf-8")
    _, _, table = page.partition(f"<!-- table: {part} -->\n```text\n")
    lines = table.partition("```")[0].splitlines()[1:]
    assert lines, part
    return [[line[:30].strip(), *line[35:].split()[:columns]] for line in lines]


def test_what_is_said_of_intervals_is_what_the_simulations_found() -> None:
    page = (ROOT / "docs/explanation/statistics.md").read_text(encoding="utf-8")
    ends = {
        part: (min(float(row[column]) for row in rows), max(float(row[column]) for row in rows))
        for part, column in (
            ("mean", 1),
            ("two_valued", 1),
            ("clustered_means", 1),
            ("agreement", 1),
            ("difference", 2),
        )
        for rows in (table_rows(part, columns=7),)
    }
    assert f"interval of a mean | 95% | at least {min(ends['mean'][0], ends['two_valued'][0])}%" in page
    assert f"with the line about rare effects | 95% | at least {ends['difference'][0]}%" in page
    assert f"interval of raw agreement | 95% | at least {ends['agreement'][0]}%" in page
    assert "covers the truth in {} to {}% of samples".format(*ends["clustered_means"]) in page


def test_what_is_said_of_labels_needed_is_what_the_simulation_found() -> None:
    page = (ROOT / "docs/explanation/statistics.md").read_text(encoding="utf-8")
    misled = ("inverted", "favours")
    worst: list[float] = []
    other_shares: list[float] = []
    for judge, _, drawn, _, strata in table_rows("needed", columns=4):
        (worst if judge.startswith(misled) else other_shares).append(float(drawn))
        other_shares.append(float(strata))
    usual, least = (f"{min(shares):.0f} to {max(shares):.0f}%" for shares in (other_shares, worst))
    texts = [rm.types.EstimatedDifference.labels_needed.__doc__, LABELS_NEEDED_ACCURACY, page]
    assert all(f" {words}" in " ".join((text or "").split()) for text in texts for words in (usual, least))


if __name__ == "__main__":
    write_outputs([Path(argument).resolve() for argument in sys.argv[1:]] or RUN_HERE)
