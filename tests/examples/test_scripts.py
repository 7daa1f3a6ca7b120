"""Every script among the examples runs from beginning to end, with nothing on its error stream."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import questions
import retrieval_metrics as rm
from corpus import passages
from retrievers import BM25, Dense, Retriever

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if path.read_text().startswith("# /// script"))

LLAMA_INDEX_METRICS = ["hit_rate@5", "full_recall@5", "recall@10", "mrr@10", "map", "ndcg@10"]


SMALLER = {"ray_evaluation": ["--queries", "4000"]}
LOGS = {"ray_evaluation"}
"""Ray writes its progress to the error stream."""


@cache
def run(script: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(script), *SMALLER.get(script.stem, [])]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_it_runs(script: Path) -> None:
    done = run(script)
    assert done.returncode == 0, done.stderr
    assert not done.stderr or script.stem in LOGS
    assert done.stdout


def test_ray_counts_every_document_and_every_query_of_which_nothing_was_retrieved() -> None:
    printed = run(EXAMPLES / "ray_evaluation.py").stdout
    assert "392,000 documents in " in printed  # 4,000 queries, 98 % of them with 100 documents
    assert "4000 queries\n80 with nothing retrieved, scored 0" in printed


def test_the_first_command_prints_one_table_of_both_retrievers() -> None:
    row = re.search(
        r"^ndcg@10 +(0\.\d{4}) +(0\.\d{4})   whether", run(EXAMPLES / "quickstart.py").stdout, flags=re.MULTILINE
    )
    assert row is not None
    assert all(float(mean) > 0.2 for mean in row.groups())


def test_the_table_of_llama_index_has_the_numbers_of_the_core() -> None:
    printed = run(EXAMPLES / "llama_index_evaluation.py").stdout
    table = {line.split()[1]: line.split()[2:] for line in printed.splitlines() if line[:1] in {"0", "1"}}
    pieces = passages()
    qrels, texts = questions.qrels(pieces), questions.queries()
    retrievers: dict[str, Retriever] = {"BM25": BM25(pieces), "vectors": Dense(pieces)}
    for name, retriever in retrievers.items():
        ranked = {query: list(retriever.search(text, 50)) for query, text in texts.items()}
        means = rm.evaluate(qrels, ranked, LLAMA_INDEX_METRICS).means
        assert list(map(float, table[name])) == pytest.approx(list(means.values()), abs=1e-6)
    assert "40 queries of 20 ms with 8 workers" in printed


def test_the_comparison_prints_means_with_intervals_and_a_verdict() -> None:
    printed = run(EXAMPLES / "compare_retrievers.py").stdout
    assert re.search(r"^ndcg@10 +0\.\d{4} \[0\.\d{3}, 0\.\d{3}\] +0\.\d{4} \[", printed, flags=re.MULTILINE)
    assert re.search(
        r"^(dense is better than BM25|The data cannot tell dense from BM25) in ", printed, flags=re.MULTILINE
    )
    assert re.search(r"^\d+ of \d+ failures: ", printed, flags=re.MULTILINE)
