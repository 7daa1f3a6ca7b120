"""`python -m retrieval_metrics.command_line`, where the command itself is not on the path."""

from retrieval_metrics.command_line.main import script

if __name__ == "__main__":
    script()
