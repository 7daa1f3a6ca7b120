"""The whole table of peers, one script after the other: `uv run tests/benchmarks/everything.py`."""

import subprocess
import sys
from pathlib import Path

SCRIPTS = ("core.py", "files.py")


def main() -> int:
    folder = Path(__file__).parent
    codes = [subprocess.run(["uv", "run", folder / name, *sys.argv[1:]], check=False).returncode for name in SCRIPTS]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
