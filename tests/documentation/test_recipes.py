"""Every recipe runs as printed, with its host really installed in an environment of its own, and reaches no network."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from running_pages import RECIPES, ROOT

OF_LANGFUSE = ROOT / "docs" / "integrations" / "other_tools.md"
"""What is sent to Langfuse is printed beside what the page prints."""

pytestmark = pytest.mark.examples


def run(page: Path) -> str:
    command: list[str | Path] = [sys.executable, Path(__file__).with_name("run_recipe.py"), page]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("page", [page for page in RECIPES if page != OF_LANGFUSE], ids=lambda page: page.stem)
def test_the_recipe_prints_what_it_says(page: Path) -> None:
    assert run(page) == ""


def test_the_page_prints_what_it_says_and_langfuse_receives_its_scores_and_means() -> None:
    sent = [score for line in run(OF_LANGFUSE).splitlines() for score in json.loads(line)]
    values = {score["name"]: score["value"] for score in sent}
    assert len(sent) == len(values) == 4
    assert values["mean mrr"] == values["mrr"] / 2 == 0.5
    assert values["mean ndcg@10"] == values["ndcg@10"] / 2
