"""Ray is started within this machine, without a dashboard and without reports, or joined where it is."""

import os
from typing import Any

import pytest
import ray
from ray._common.usage import usage_lib

from ray_retrieval_metrics import start


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(ray, "init", lambda **options: calls.append(options))
    return calls


def test_reports_are_off_unless_the_environment_says_otherwise(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "1")
    start()
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] == "1"
    assert asked == [{"address": "local", "include_dashboard": False, "ignore_reinit_error": True}]


def test_the_address_of_the_environment_is_taken_where_none_is_given(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    start()
    start("auto")
    assert [options["address"] for options in asked] == ["10.0.0.1:6379", "auto"]


def test_a_cluster_is_joined_and_options_are_passed_on(asked: list[dict[str, Any]]) -> None:
    start("ray://head:10001", namespace="evaluation", ignore_reinit_error=False)
    expected = {"address": "ray://head:10001", "include_dashboard": False, "ignore_reinit_error": False}
    assert asked == [expected | {"namespace": "evaluation"}]


def test_nothing_is_reported_by_the_ray_of_these_tests() -> None:
    assert not usage_lib.usage_stats_enabled()
