"""Evaluations that the command line has saved."""

from retrieval_metrics.cli.main import main


def save_both() -> None:
    for name in ("old", "new"):
        call = ["evaluate", "qrels.trec", f"{name}.trec", "-m", "mrr,recall@5", "--save", f"{name}.json.gz"]
        assert main([*call, "--label", f"commit={name}"]) == 0
