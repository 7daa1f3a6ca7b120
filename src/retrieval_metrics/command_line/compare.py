"""`retrieval-metrics compare QRELS RUN RUN`."""

from __future__ import annotations

import argparse
import json
import sys
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval_metrics.command_line import output
from retrieval_metrics.command_line.arguments import add_clusters_to, clusters, memory_size, metric, read
from retrieval_metrics.comparing.compare import compare
from retrieval_metrics.definition.metric import DEFAULT_METRICS
from retrieval_metrics.files.formats import COMPRESSIONS
from retrieval_metrics.files.reading import read_qrels
from retrieval_metrics.scoring.rules import RULE_SETS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from retrieval_metrics.comparing.comparison import Comparison

EXAMPLES = """\
examples:
  retrieval-metrics compare qrels.trec bm25.run dense.run hybrid.run -m ndcg@10 --baseline bm25
  retrieval-metrics compare qrels.trec old=build/1/run.trec new=build/2/run.trec -m mrr@10
  retrieval-metrics compare qrels.trec main.run change.run -m ndcg@10 --baseline main --fail-if-worse
"""


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "compare",
        help="test which of several runs is better, query by query",
        description="Score several runs on the same queries and test in which metrics they differ.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run_command=run)
    parser.add_argument("qrels", metavar="QRELS", help="judgments, in any format that evaluate reads")
    parser.add_argument(
        "runs", metavar="RUN", nargs="+", help="a run, named after its file, or NAME=FILE to give another name"
    )
    parser.add_argument(
        "-m",
        "--metric",
        action="append",
        type=metric,
        metavar="METRIC",
        help=f"a metric such as ndcg@10, repeat for several (default: {' '.join(DEFAULT_METRICS)})",
    )
    parser.add_argument("--baseline", metavar="NAME", help="compare all other runs with this one (default: every pair)")
    parser.add_argument(
        "--fail-if-worse", action="store_true", help="exit with 1 if a run is significantly worse than the baseline"
    )
    parser.add_argument("--semantics", choices=list(RULE_SETS), default="standard", help="default: %(default)s")
    parser.add_argument("--level", type=float, default=0.95, help="confidence level (default: %(default)s)")
    parser.add_argument(
        "--margin",
        type=float,
        metavar="SIZE",
        help="also say whether a run is no worse by more than this, such as 0.02",
    )
    add_clusters_to(parser)
    parser.add_argument("--seed", type=int, default=0, help="of the randomisation test (default: %(default)s)")
    parser.add_argument("--format", choices=list(FORMATS), default="text", help="default: %(default)s")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="write there instead of to the terminal")
    parser.add_argument(
        "--memory", type=memory_size, metavar="SIZE", help="stream a run that needs more memory than this, such as 4GB"
    )
    parser.add_argument("--no-progress", action="store_true", help="no progress bar for large files")


def run(given: argparse.Namespace) -> bool:
    """Run the command; with --fail-if-worse, return whether no run is significantly worse than the baseline."""
    if given.fail_if_worse and given.baseline is None:
        raise ValueError("--fail-if-worse needs --baseline NAME: worse than what?")
    paths = named(given.runs)
    if given.baseline is not None and given.baseline not in paths:
        raise ValueError(f"no run is named {given.baseline!r}, the baseline; the runs are {', '.join(paths)}")
    runs = {name: read(path, memory=given.memory, progress=not given.no_progress) for name, path in paths.items()}
    result = compare(
        read_qrels(given.qrels),
        runs,
        given.metric or DEFAULT_METRICS,
        baseline=given.baseline,
        semantics=given.semantics,
        level=given.level,
        seed=given.seed,
        margin=given.margin,
        clusters=clusters(given.clusters),
    )
    text = FORMATS[given.format](result) + "\n"
    if given.output is None:
        sys.stdout.write(text)
    else:
        given.output.write_text(text, encoding="utf-8")
    return not given.fail_if_worse or _none_is_worse(result)


def named(arguments: Sequence[str]) -> dict[str, str]:
    """Return the file of each run by the name of the run.

    Raises:
        ValueError: If two runs have the same name.
    """
    paths: dict[str, str] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not equals or Path(argument).exists():
            name, path = _name_of(argument), argument
        if name in paths:
            raise ValueError(f"two runs are named {name!r}: {paths[name]} and {path}; name them with NAME=FILE")
        paths[name] = path
    return paths


def _name_of(path: str) -> str:
    file = Path(path)
    return Path(file.stem).stem if file.suffix in COMPRESSIONS else file.stem


def _none_is_worse(result: Comparison) -> bool:
    worse = [each for each in result.differences if each.significant and each.mean < 0]
    for each in worse:
        output.complain(f"{each.system} is worse than {each.baseline} in {each.metric}, by {-each.mean:.4f}")
    return not worse


def _json(result: Comparison) -> str:
    content = {
        "baseline": result.baseline,
        "level": result.level,
        "means": {
            name: {system: None if isnan(mean) else mean for system, mean in means.items()}
            for name, means in result.table.items()
        },
        "differences": [
            {
                "metric": each.metric,
                "system": each.system,
                "baseline": each.baseline,
                "n": each.n,
                "mean": each.mean,
                "interval": None if isnan(each.interval.low) else list(each.interval),
                "p": each.p_corrected,
                "p_alone": each.p_value,
                "significant": bool(each.significant),
                "margin": None if each.margin is None else each.margin.outcome,
            }
            for each in result.differences
        ],
        "verdict": result.verdict,
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


FORMATS: Mapping[str, Callable[[Comparison], str]] = {
    "text": str,
    "json": _json,
    "markdown": lambda result: result.to_markdown(),
    "html": lambda result: output.page(result._repr_html_()),
}
