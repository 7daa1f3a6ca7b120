"""The texts that `--help` prints for the program and for each command.

They stand apart from the commands so that `retrieval-metrics --help` imports no command, and with it no numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class CommandHelp(NamedTuple):
    """The help of one command.

    Attributes:
        text: Sentences that say what the command does; the first is its summary in the list of commands.
        examples: Example calls, one a line.
    """

    text: str
    examples: str


# Printed below the options of the program itself.
EXAMPLES = """\
examples:
  retrieval-metrics evaluate qrels.trec run.trec.gz -m ndcg@10,map
  retrieval-metrics evaluate qrels.trec bm25.run dense.run -m ndcg@10
  retrieval-metrics evaluate qrels/test.tsv run.csv -m mrr@10 -q --format csv -o scores.csv
  retrieval-metrics evaluate qrels.trec run.trec --fail-under ndcg@10=0.35     (exit code 1 if it is lower)
  retrieval-metrics evaluate qrels.trec run.trec --metrics-from my_metrics -m my_metric@10
  retrieval-metrics compare qrels.trec bm25.run dense.run -m ndcg@10 --baseline bm25
  retrieval-metrics tune qrels.trec k10.run k60.run k100.run -m ndcg@10 --default k60
  retrieval-metrics audit qrels.trec run.trec -m ndcg@10,map
  retrieval-metrics evaluate qrels.trec run.trec --save today.json.gz
  retrieval-metrics compare last-week.json.gz today.json.gz
  retrieval-metrics history add retrieval.jsonl today.json.gz
  retrieval-metrics lint queries.jsonl qrels/test.tsv --corpus corpus.jsonl --fail-on error
  retrieval-metrics convert run run.parquet run.trec.zst

exit codes:
  0  done
  1  a check failed: --fail-under, --at-most, --fail-if-worse or --fail-on
  2  the call or a file is invalid
  3  internal error
"""


# The help of each command, by its name, in the order in which the list of commands shows them.
COMMANDS: Mapping[str, CommandHelp] = {
    "evaluate": CommandHelp(
        "Score a run against judgments, or several side by side. Use compare to test whether they differ.",
        """\
examples:
  retrieval-metrics evaluate qrels.trec run.trec
  retrieval-metrics evaluate qrels.trec bm25.run dense.run -m ndcg@10,map
  retrieval-metrics evaluate qrels.trec run.trec -q -c -m P.5,10 -m map --format trec_eval
  retrieval-metrics evaluate qrels.csv run.csv --run-column query=qid --run-column document=passage
  retrieval-metrics evaluate qrels.trec run.trec -q --format json | jq .per_query
  retrieval-metrics evaluate qrels.trec run.trec --fail-under ndcg@10=0.35 --fail-under recall@100=0.8
  retrieval-metrics evaluate qrels.trec run.trec --save today.json.gz --label commit=4f2a91c
  retrieval-metrics evaluate questions.jsonl spans.jsonl --view context --question-id metadata.question_id -m recall
  zcat run.trec.gz | retrieval-metrics evaluate qrels.trec - --report report.html
""",
    ),
    "compare": CommandHelp(
        "Test which of several runs is better, query by query. All are scored on the same queries, and the "
        "differences are tested in each metric.",
        """\
examples:
  retrieval-metrics compare last-week.json.gz today.json.gz     (saved by evaluate --save: no judgments are needed)
  retrieval-metrics compare qrels.trec bm25.run dense.run hybrid.run -m ndcg@10 --baseline bm25
  retrieval-metrics compare qrels.trec old=build/1/run.trec new=build/2/run.trec -m mrr@10 --report report.html
  retrieval-metrics compare qrels.trec main.run change.run -m ndcg@10 --baseline main --fail-if-worse
""",
    ),
    "changes": CommandHelp(
        "Show the differences between two runs of the same queries. No judgments are needed.",
        """\
examples:
  retrieval-metrics changes before.trec after.trec
  retrieval-metrics changes exact.run index.run -m overlap@10 --save index.json
  retrieval-metrics changes before.jsonl after.jsonl --report changes.html --queries queries.tsv --corpus corpus.jsonl
""",
    ),
    "tune": CommandHelp(
        "Select the best of several runs, and estimate its mean on new questions, corrected for selection bias "
        "(out-of-bag bootstrap).",
        """\
examples:
  retrieval-metrics tune qrels.trec k10.run k60.run k100.run -m ndcg@10 --default k60
  retrieval-metrics tune qrels.trec fused/*.run -m ndcg@10 --default k60 --at-least recall@100=0.8 --report tuning.html
  retrieval-metrics tune today/*.json.gz -m ndcg@10 --default main     (saved by evaluate --save)
""",
    ),
    "audit": CommandHelp(
        "Score a run by the rules of several libraries, and show which rule makes the difference.",
        """\
examples:
  retrieval-metrics audit qrels.trec run.trec
  retrieval-metrics audit qrels.trec run.trec -m ndcg@10,map --rules standard --rules llama_index
""",
    ),
    "lint": CommandHelp(
        "Find problems in questions and their judgments. No model is needed.",
        """\
examples:
  retrieval-metrics lint queries.jsonl qrels/test.tsv
  retrieval-metrics lint queries.jsonl qrels/test.tsv --corpus corpus.jsonl --fail-on error
  retrieval-metrics lint questions.json questions.json --corpus docs/     (a saved set holds both)
  retrieval-metrics lint queries.jsonl qrels.trec --run bm25=bm25.run --run dense=dense.run --format csv
""",
    ),
    "convert": CommandHelp(
        "Write a run or judgments in another format. Numbers are preserved exactly.",
        """\
examples:
  retrieval-metrics convert run run.csv run.trec.gz --tag bm25
  retrieval-metrics convert qrels qrels/test.tsv qrels.trec
  retrieval-metrics convert run hits.parquet run.jsonl --run-column query=qid --run-column document=passage
""",
    ),
    "history": CommandHelp(
        "Record the results of saved evaluations, and show them over time. Entries are only appended.",
        """\
examples:
  retrieval-metrics evaluate qrels.trec run.trec --save results/4f2a91c.json.gz --label commit=4f2a91c
  retrieval-metrics history add retrieval.jsonl results/4f2a91c.json.gz
  retrieval-metrics history show retrieval.jsonl
  retrieval-metrics history plot retrieval.jsonl -m ndcg@10 -o retrieval.svg
""",
    ),
    "report": CommandHelp(
        "Write the HTML report of a saved evaluation, comparison or tuning. It is a single self-contained file.",
        """\
examples:
  retrieval-metrics report results/4f2a91c.json.gz -o report.html
  retrieval-metrics report comparison.json -o report.html --title "Before and after"
""",
    ),
}
