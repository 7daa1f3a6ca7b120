"""The README of the integration runs as printed, from top to bottom."""

from pathlib import Path

import pytest

from readme_examples import run_examples

README = Path(__file__).parents[3] / "integrations" / "ragas" / "README.md"


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_every_example_prints_what_stands_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGAS_DO_NOT_TRACK", "true")  # which the first example sets for good
    assert run_examples(README.read_text(), "integrations/ragas/README.md") == 5
