"""Start Ray on this machine, or join a cluster."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ray._private.worker import BaseContext

# Environment variables that are set unless they are set already.
ENVIRONMENT_DEFAULTS = {
    # No usage reports.
    "RAY_USAGE_STATS_ENABLED": "0",
    # Otherwise every start under `uv run` builds the environment again.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    # A worker takes seconds to start and would be ended after one idle second, before the next stage needs it.
    "RAY_idle_worker_killing_time_threshold_ms": "60000",
}


def start(address: str | None = None, **options: Any) -> BaseContext:
    """Start Ray on this machine, or join a cluster, with its usage reports off.

    You do not need it if Ray is already running. It keeps environment variables that are set, and a running Ray. Call
    it before Ray is imported, because Ray reads its environment variables then.

    Args:
        address: The address of a cluster (`"auto"` for the one of this machine). None takes the environment variable
            `RAY_ADDRESS`, or starts Ray on this machine, in child processes that end with this one.
        options: Other arguments of `ray.init`, such as `num_cpus` or `object_store_memory`.

    Returns:
        The context of Ray: `with start(): ...` shuts it down again.
    """
    for name, value in ENVIRONMENT_DEFAULTS.items():
        os.environ.setdefault(name, value)
    import ray

    # Without an address, Ray would join whatever cluster somebody happens to have started on this machine.
    cluster_address = address or os.environ.get("RAY_ADDRESS") or "local"
    return ray.init(address=cluster_address, **{"include_dashboard": False, "ignore_reinit_error": True, **options})


def count_processors() -> int:
    """Return the number of processors of the cluster, at least one."""
    import ray

    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]  # Ray has not typed it
    return max(int(resources.get("CPU", 1)), 1)
