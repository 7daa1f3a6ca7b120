# /// script
# requires-python = ">=3.11"
# dependencies = ["langchain", "mlflow"]
# ///
"""Record an agent of LangChain by MLflow's autolog: `uv run tests/recorders/record_mlflow.py frame traces.json`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"

import mlflow  # its telemetry is switched off before
from record_langchain import ask


def main(form: str, path: str) -> None:
    """Run the agent and write what `search_traces` returns: its frame, or the traces in it."""
    with TemporaryDirectory() as folder:
        mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
        mlflow.set_experiment("agents")
        mlflow.langchain.autolog()
        ask()
        mlflow.flush_trace_async_logging()
        frame = mlflow.search_traces()

    def plain(value: Any) -> Any:
        return value if isinstance(value, (str, int, float, type(None))) else json.dumps(value, default=str)

    rows = [{name: plain(value) for name, value in row.items()} for row in frame.to_dict("records")]
    traces = rows if form == "frame" else [json.loads(row["trace"]) for row in rows]
    Path(path).write_text(json.dumps(traces), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
