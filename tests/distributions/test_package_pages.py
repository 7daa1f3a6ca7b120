"""On a package index, no link of a README is dead, and every distribution says where it comes from."""

import importlib.util
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
DISTRIBUTIONS = [path.parent for path in (ROOT / "pyproject.toml", *sorted(ROOT.glob("integrations/*/pyproject.toml")))]
ADDRESS = "https://example.org/owner/retrieval-metrics"
TAG = "v1.2.0"
TARGET = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("package_pages", ROOT / "docs" / "package_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def released(script: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the release, as it prepares them."""
    root = tmp_path_factory.mktemp("release")
    ignored = shutil.ignore_patterns("_build", "__pycache__", "src", "*.egg-info")
    for name in ("docs", "examples", "integrations", ".github"):
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    for name in ("README.md", "CHANGELOG.md", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    script.prepare(root, ADDRESS, TAG)
    return root


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: folder.name)
def test_every_link_leads_to_a_file_of_the_release(released: Path, folder: Path) -> None:
    place = folder.relative_to(ROOT)
    before = (folder / "README.md").read_text()
    after = (released / place / "README.md").read_text()
    targets = TARGET.findall(re.sub(r"^```.*?^```$", "", after, flags=re.MULTILINE | re.DOTALL))
    relative = [target for target in targets if "://" not in target and not target.startswith("#")]
    assert not relative
    ours = [target for target in targets if target.startswith(ADDRESS)]
    assert ours or "](../" not in before
    for target in ours:
        kind, tag, path = target.removeprefix(f"{ADDRESS}/").partition("#")[0].split("/", 2)
        assert (kind, tag) == ("raw" if path.endswith(".png") else "blob", TAG)
        assert (ROOT / path).exists(), target


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: folder.name)
def test_every_distribution_has_the_addresses_of_its_release(released: Path, folder: Path) -> None:
    path = folder.relative_to(ROOT) / "pyproject.toml"
    before, after = (tomllib.loads((root / path).read_text()) for root in (ROOT, released))
    urls = after["project"].pop("urls")
    assert urls["Repository"] == ADDRESS
    assert urls["Changelog"] == f"{ADDRESS}/blob/{TAG}/CHANGELOG.md"
    assert after == before


def test_the_release_prepares_what_it_builds() -> None:
    steps = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    prepared = 'docs/package_pages.py "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY" "$GITHUB_REF_NAME"'
    builds = [place.start() for place in re.finditer(r"uv build --all-packages", steps)]
    assert [steps.rfind(prepared, 0, place) > 0 for place in builds] == [True] * len(builds)
    assert steps.count(prepared) == len(builds)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](../../README.md#top)", f"[a]({ADDRESS}/blob/{TAG}/README.md#top)"),
        ("![a](../../examples/compare_retrievers.png)", f"![a]({ADDRESS}/raw/{TAG}/examples/compare_retrievers.png)"),
        ("[a](https://example.org/b) [c](#d)", "[a](https://example.org/b) [c](#d)"),
        ("```python\nf[0](x)\n```", "```python\nf[0](x)\n```"),
    ],
)
def test_a_link_becomes_absolute_and_code_does_not(script: Any, text: str, expected: str) -> None:
    assert script.absolute(text, ROOT / "integrations" / "haystack", ROOT, ADDRESS, TAG) == expected


@pytest.mark.parametrize("address", ["", "https://", "example.org/owner/name", "https://example.org/owner/name/"])
def test_nothing_is_released_without_an_address(script: Any, address: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"https://host/owner/repository") as caught:
        script.prepare(tmp_path, address, TAG)
    assert repr(address) in str(caught.value)


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: folder.name)
def test_a_page_keeps_absolute_links_and_code_and_only_the_words_of_others(folder: Path) -> None:
    hook = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["hatch"]["metadata"]["hooks"]
    (rule,) = hook["fancy-pypi-readme"]["substitutions"]
    page = "[`a`](https://example.org/b.md#c) [d e](../../f.md#g) ![h](examples/i.png) [j](#k) n[0](o, p)"
    written = re.sub(rule["pattern"], rule["replacement"], page)
    assert written == "[`a`](https://example.org/b.md#c) d e h j n[0](o, p)"
    assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_a_link_to_nothing_stops_the_release(script: Any) -> None:
    with pytest.raises(FileNotFoundError):
        script.absolute("[a](nowhere.md)", ROOT, ROOT, ADDRESS, TAG)
