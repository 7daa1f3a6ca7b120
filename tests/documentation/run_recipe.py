"""Run a recipe in an environment of its own, with the host it names and without a network.

`uv run --all-extras tests/documentation/run_recipe.py PAGE` compares what its blocks print with what stands below them;
with `--write` it writes today's output into the page.
"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent.parent / "examples"))

from fake_langfuse import fake_langfuse
from fake_models import Service, fake_models
from running_pages import RECIPES, ROOT, as_it_runs, installed, name, write_outputs

INSIDE = "RECIPE_RUNS_INSIDE"
LOCAL_HOSTS = {"127.0.0.1", "::1", "localhost", "0.0.0.0", None}  # noqa: S104  (nothing is bound; these are this machine)


def in_its_environment(page: Path, options: list[str]) -> int:
    """Run this file where the page's host is installed, and return the exit code."""
    needed = [argument for requirement in RECIPES[page] for argument in ("--with", requirement)]
    ours = next(requirement for requirement in installed(page)[1:] if requirement.startswith("retrieval-metrics"))
    core = ours.replace("retrieval-metrics", str(ROOT), 1)  # with the extras that the page says
    command = ["uv", "run", "--quiet", "--isolated", "--no-project", "--with-editable", core, *needed]
    return subprocess.run(
        [*command, "python", __file__, str(page), *options], env={**os.environ, INSIDE: "1"}, check=False
    ).returncode


def close_the_network() -> list[Any]:
    """Refuse every connection that leaves this machine; return the list of the attempts."""
    attempts: list[Any] = []

    def only_here(called: Callable[..., Any], host_of: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*args: Any, **options: Any) -> Any:
            if (host := host_of(*args)) not in LOCAL_HOSTS:
                attempts.append(args)
                raise ConnectionRefusedError(f"a recipe reached for the network: {host!r}")
            return called(*args, **options)

        return guarded

    def peer(_: Any, address: Any) -> Any:
        return address[0] if isinstance(address, tuple) else None  # else a socket in the file system

    socket.socket.connect = only_here(socket.socket.connect, peer)  # type: ignore[method-assign]
    socket.socket.connect_ex = only_here(socket.socket.connect_ex, peer)  # type: ignore[method-assign]
    socket.getaddrinfo = only_here(socket.getaddrinfo, lambda host, *_: host)
    return attempts


def wait_for_phoenix() -> None:
    """Give the server of Phoenix a minute to start, where it is installed: it stops after five seconds."""
    with contextlib.suppress(ImportError):
        thread_server: Any = import_module("phoenix.server.thread_server")
        now = thread_server.time
        thread_server.time = lambda: now() / 12


def replied(prompt: str) -> str:
    """Return what a model would reply on the page that calls models."""
    if "Write one question" in prompt:
        return '{"question": "Who opens the vault at night?", "quotes": ["opened at night by the duty officer"]}'
    return '{"answerable": true}' if "opened at night" in prompt or "milk" in prompt else '{"answerable": false}'


def free_port() -> int:
    """Return a port of this machine that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def compare(page: Path) -> list[str]:
    """Return what a page says and what it prints, where they differ."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        blocks = list(as_it_runs(name(page), page.read_text(encoding="utf-8")))
    return [f"shown:\n{shown}\nprinted:\n{printed}" for shown, printed in blocks if shown != printed]


def main() -> int:
    """Run the page that is named; return 1 if it does not print what it says or reaches for the network."""
    page, *options = sys.argv[1:]
    path = Path(page).resolve()
    if INSIDE not in os.environ:
        return in_its_environment(path, options)
    attempts = close_the_network()
    service = Service(replied)
    with fake_langfuse() as received, fake_models(service) as addresses, tempfile.TemporaryDirectory() as folder:
        os.environ.update(addresses)
        os.environ.update(PHOENIX_WORKING_DIR=folder, PHOENIX_PORT=str(free_port()), PHOENIX_GRPC_PORT=str(free_port()))
        wait_for_phoenix()
        if "--write" in options:
            write_outputs([path])
            differences = []
        else:
            differences = compare(path)
    for path_of_request, body in received:
        if path_of_request.endswith("/scores"):
            sys.stdout.write(f"{body.decode()}\n")
    for problem in [*differences, *(f"an attempt to reach {attempt}" for attempt in attempts)]:
        sys.stderr.write(f"{problem}\n")
    return 1 if differences or attempts else 0


if __name__ == "__main__":
    sys.exit(main())
