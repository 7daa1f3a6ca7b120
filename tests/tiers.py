"""Run every tier of the tests, one after the other, and print a line for each: `python tests/tiers.py [TIER ...]`.

The default suite is the tier `default`; the others are the markers of `pyproject.toml`. What a tier prints is kept in
`.tiers/TIER.log`. The exit status is 1 if any tier failed.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOGS = ROOT / ".tiers"

OPTIONS: dict[str, list[str]] = {
    "default": [],
    "thorough": ["-m", "thorough"],
    "browser": ["-m", "browser", "-n", "0"],
    "ray": ["-m", "ray and not slow"],
    "examples": ["-m", "examples", "tests/examples"],
    "peers": ["-m", "peers"],
    "slow": ["-m", "slow"],
}
"""Of each tier, what pytest is called with, from the quickest tier to the one that takes longest."""


def run_tier(tier: str) -> bool:
    """Run one tier, print its line and return whether it passed."""
    log = LOGS / f"{tier}.log"
    started = time.monotonic()
    with log.open("w", encoding="utf-8") as output:
        command = [sys.executable, "-m", "pytest", "-q", *OPTIONS[tier]]
        status = subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
    seconds = time.monotonic() - started
    last_line = log.read_text(encoding="utf-8").rstrip().rpartition("\n")[2]
    verdict = "passed" if status == 0 else f"FAILED ({log.relative_to(ROOT)})"
    print(f"{tier:10} {seconds:6.0f} s  {verdict:10} {last_line.strip('= ')}", flush=True)
    return status == 0


def main() -> int:
    """Run the tiers that the command line names, or all."""
    parser = argparse.ArgumentParser(description="Run the tiers of the tests and print a line for each.")
    parser.add_argument("tiers", nargs="*", metavar="TIER", help=f"of {', '.join(OPTIONS)}; all if none is named")
    tiers: list[str] = parser.parse_args().tiers
    unknown = [tier for tier in tiers if tier not in OPTIONS]
    if unknown:
        parser.error(f"no tier is named {unknown[0]!r}; there are {', '.join(OPTIONS)}")
    LOGS.mkdir(exist_ok=True)
    passed = [run_tier(tier) for tier in tiers or OPTIONS]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
