"""Start Ray, or join a cluster."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ray._private.worker import BaseContext

_SWITCHES = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported to anybody
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # under `uv run`, else, every start builds the environment a second time
    # A worker takes seconds to start and, else, is ended after one idle second: before the next stage needs it.
    "RAY_idle_worker_killing_time_threshold_ms": "60000",
}


def start(address: str | None = None, **options: Any) -> BaseContext:
    """Start Ray on this machine, or join a cluster, with its usage reports off.

    Whoever has started Ray need not call it: the datasets work wherever they are. What the environment says already
    stays as it is, and a Ray that already runs goes on. Call it before Ray is imported, which is when Ray reads its
    switches.

    Args:
        address: The address of a cluster (`"auto"` for the one this machine belongs to). None takes that of the
            environment variable `RAY_ADDRESS`, and without one starts Ray within this machine, as children of this
            process that end with it.
        options: What else `ray.init` takes, such as `num_cpus` or `object_store_memory`.

    Returns:
        Ray's own context: `with start(): ...` shuts it down again.
    """
    for name, value in _SWITCHES.items():
        os.environ.setdefault(name, value)
    import ray  # noqa: PLC0415  (it reads the switches when it is imported, and takes seconds)

    # Without an address, Ray would join whatever cluster somebody happens to have started on this machine.
    where = address or os.environ.get("RAY_ADDRESS") or "local"
    return ray.init(address=where, **{"include_dashboard": False, "ignore_reinit_error": True, **options})
