"""A lint finds nothing where nothing is wrong, and finds the same in every process."""

import os
import subprocess
import sys

import pytest

import retrieval_metrics as rm
from corpus import passages
from lint_cases import find_queries, lint, list_serious
from questions import qrels as example_qrels
from questions import queries as example_queries


class TestCleanSet:
    def test_a_clean_set_has_no_error_and_no_warning(self) -> None:
        assert list_serious(lint()) == []


class TestRuns:
    def test_runs_of_another_shape(self) -> None:
        with pytest.raises(TypeError, match="runs must be"):
            lint(runs=["vault"])
        with pytest.raises(TypeError, match="without a query that is judged"):
            lint(runs={"q9": ["vault"]})


class TestOurs:
    def test_our_own_set_is_clean_but_for_what_is_hard_for_bm25(self) -> None:
        pieces = passages()
        items = [rm.Retrieved(p.id, p.text, source=p.topic, start=p.start, end=p.end) for p in pieces]
        result = rm.EvaluationSet(example_queries(), example_qrels(pieces)).lint(items)
        assert result.named("error") == []
        warned = {finding.query for finding in result.named("warning")}
        # The topics, and so how hard they are for BM25, differ between versions of Python: 10 to 13 of 123 questions.
        assert len(warned) <= 0.12 * len(example_queries())

    def test_a_judgment_of_every_question_can_die(self) -> None:
        pieces = passages()
        items = {p.id: p.text for p in pieces if not p.id.startswith("c")}
        dead = set()
        for query, judged in example_qrels(pieces).items():
            for group in [judged] if isinstance(judged, dict) else judged:
                if not items.keys() >= set(group):
                    dead.add(query)
        result = rm.EvaluationSet(example_queries(), example_qrels(pieces)).lint(items)
        assert set(find_queries(result, "unknown_document")) == dead != set()


SAME_EVERYWHERE = """
import retrieval_metrics as rm
texts = {f"d{i}": " ".join(f"word{i * i % 7}{word} and" for word in range(30 + i)) for i in range(24)}
queries = {f"q{i}": f"which word {i // 2} comes after word{i // 2}?" for i in range(12)}
qrels = {query: {f"d{i}", f"d{i + 3}", f"gone {i}", f"lost {i}"} for i, query in enumerate(queries)}
grouped = {query: [judged, {"no", "nowhere", query}] for query, judged in qrels.items()}
for judgments in (qrels, grouped):
    lint = rm.EvaluationSet(queries, judgments).lint(texts)
    for finding in [*lint, *lint.fixed().lint(texts)]:
        print(finding)
"""


@pytest.mark.thorough
def test_every_process_finds_the_same_in_the_same_order() -> None:
    outputs = []
    for seed in ("1", "2"):
        process = subprocess.run(
            [sys.executable, "-c", SAME_EVERYWHERE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.append(process.stdout)
    assert outputs[0] == outputs[1]
    for name in ("conflicting_judgments", "unknown_document", "impossible_group", "unjudged_duplicate"):
        assert f"name='{name}'" in outputs[0]
