"""`python -m retrieval_metrics.cli`, where the command itself is not on the path."""

from retrieval_metrics.cli.main import script

if __name__ == "__main__":
    script()
