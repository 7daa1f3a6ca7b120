"""`retrieval-metrics audit QRELS RUN`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from retrieval_metrics.auditing.audit import audit
from retrieval_metrics.command_line.arguments import add_metrics_to
from retrieval_metrics.definition.metric import DEFAULT_METRICS
from retrieval_metrics.files.reading import read_qrels, read_run
from retrieval_metrics.scoring.rules import RULE_SETS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics.auditing.audit import Audit

EXAMPLES = """\
examples:
  retrieval-metrics audit qrels.trec run.trec
  retrieval-metrics audit qrels.trec run.trec -m ndcg@10 -m map --semantics standard --semantics llama_index
"""

FORMATS: Mapping[str, Callable[[Audit], str]] = {
    "text": str,
    "markdown": lambda result: result.to_markdown(),
    "html": lambda result: result._repr_html_(),
}


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "audit",
        help="score a run by the rules of several libraries, and show which rule makes the difference",
        description="Score a run by the rules of several libraries, and show which rule makes each difference.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run_command=run)
    parser.add_argument("qrels", metavar="QRELS", help="judgments, in any format that evaluate reads")
    parser.add_argument("run", metavar="RUN", help="what was retrieved, in any format that evaluate reads")
    add_metrics_to(parser)
    parser.add_argument(
        "--semantics",
        action="append",
        choices=list(RULE_SETS),
        help="a rule set; repeat for several; the others are compared with the first (default: all)",
    )
    parser.add_argument("--format", choices=list(FORMATS), default="text", help="default: %(default)s")


def run(given: argparse.Namespace) -> bool:
    """Run the command; an audit never fails."""
    result = audit(
        read_qrels(given.qrels),
        read_run(given.run),
        given.metric or DEFAULT_METRICS,
        semantics=given.semantics or tuple(RULE_SETS),
    )
    sys.stdout.write(f"{FORMATS[given.format](result)}\n")
    return True
