"""A real tracking store of MLflow in SQLite, made once, and no network."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from offline import network_attempts as network_attempts  # noqa: PLC0414  (a fixture of this folder)

collect_ignore_glob = [] if find_spec("mlflow") else ["test_*.py"]

os.environ["MLFLOW_GENAI_EVAL_PREDICT_RATE_LIMIT"] = "10000"  # rows per second; MLflow holds back at 10
# Where Haystack is imported too, MLflow goes on to export the spans of other folders: not to a file that workers share.
_default = TemporaryDirectory()
os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{Path(_default.name) / 'default.db'}"
os.environ["MLFLOW_GENAI_EVAL_MAX_WORKERS"] = "1"  # with several, a slow disk exhausts its connections to SQLite


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a store whose tables are made, which takes seconds."""
    import mlflow
    from sqlalchemy import Engine, event

    # Each row of MLflow is several transactions, and nothing here has to outlive a loss of power.
    event.listen(Engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous = OFF"))
    address = f"sqlite:///{tmp_path_factory.mktemp('mlflow') / 'store.db'}"
    mlflow.MlflowClient(address).search_experiments()
    return address


@pytest.fixture
def experiment(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The id of an experiment of the test's own, which is the active one."""
    import mlflow

    # MLflow keeps the active experiment in both; what a test sets must not reach other stores.
    monkeypatch.setattr("mlflow.tracking.fluent._active_experiment_id", None)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", "")
    monkeypatch.delenv("MLFLOW_EXPERIMENT_ID")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(store)
    experiment = mlflow.create_experiment(str(tmp_path), artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment(experiment_id=experiment)
    yield experiment
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.set_tracking_uri(before)
