"""`retrieval-metrics audit` says what Python says."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main


def test_an_audit_is_that_of_python(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *files, "-m", "ndcg@10", "--rules", "standard", "--rules", "haystack"]) == 0
    expected = rm.audit(rm.read_qrels(files[0]), rm.read_run(files[1]), "ndcg@10", rules=["standard", "haystack"])
    out = capsys.readouterr().out
    assert out.split() == str(expected).split()  # its sentences are wrapped
    assert max(map(len, out.splitlines())) <= 120
    assert "haystack: a query without a relevant document scores 0 (ndcg@10 in 1 of 3)" in " ".join(out.split())
    assert main(["audit", *files, "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("| metric | standard | trec_eval | llama_index |")
