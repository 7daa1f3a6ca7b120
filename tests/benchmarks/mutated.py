# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[files]", "hypothesis>=6.100", "pytest>=9"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Read 20,000 mutated files, each right or not at all: `uv run tests/benchmarks/mutated.py`."""

import argparse
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from mutated_files import KINDS, outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, help="how many files (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first (default: %(default)s)")
    arguments = parser.parse_args()
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for case in range(arguments.cases):
            kind = KINDS[case % len(KINDS)]
            try:
                outcomes[f"{kind} {outcome(Path(folder) / 'mutated', kind, arguments.seed + case)}"] += 1
            except BaseException:
                outcomes[f"{kind} NEITHER"] += 1
                print(f"seed {arguments.seed + case}, {kind}:", traceback.format_exc(limit=-1), flush=True)
    for name, cases in sorted(outcomes.items()):
        print(f"{cases:>7,}  {name}")
    return int(any(name.endswith("NEITHER") for name in outcomes))


if __name__ == "__main__":
    sys.exit(main())
