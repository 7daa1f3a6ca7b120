"""What the study of agents' searches asks for, check by check, with its values: `python tests/agents_acceptance.py`.

The recordings are in the folder that RETRIEVAL_METRICS_DATA names.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import retrieval_metrics as rm

RECORDED = Path(os.environ.get("RETRIEVAL_METRICS_DATA", "")) / "agent_traces"
BENCHMARK = Path(__file__).parent / "benchmarks" / "traces.py"
SEVENTEEN = [
    "hit_rate@3", "precision@3", "recall@3", "f1@3", "mrr", "map", "ndcg@5", "ndcg(gain=exponential)", "r_precision",
    "full_recall@5", "rbp(p=0.8)", "err@5", "bpref", "judged@4", "recall", "map(norm=retrieved)@5", "alpha_ndcg@5",
]  # fmt: skip
EIGHT = (
    "langchain_openinference_retriever_tool.jsonl", "langchain_openinference_artifact.jsonl", "phoenix_spans.jsonl",
    "phoenix_rest_spans.json", "phoenix_spans.parquet", "langsmith_runs.jsonl", "langfuse_otel.jsonl",
    "mlflow_trace_langchain.json",
)  # fmt: skip
REFUSED = {
    "limits_li.jsonl": (), "limits_cut_lc.jsonl": (), "otel_genai_NO_CONTENT.jsonl": (),
    "pydantic_ai_documents_no_content.jsonl": "search", "pydantic_ai_text.jsonl": "search",
    "openai_agents_text.jsonl": "search", "openai_agents_openinference.jsonl": "search",
    "langchain_openinference_plain.jsonl": "search",
}  # fmt: skip
QRELS: Any = {"d2": 1, "d3": 1, "d4": 2}


def cited(answer: str) -> list[str]:
    """Return the ids in square brackets."""
    return re.findall(r"\[(\w+)\]", answer)


def read(source: Any, **options: Any) -> rm.Trajectory:
    """Return the first trajectory of a source."""
    traces = RECORDED / source if isinstance(source, str) else source
    return next(iter(rm.read_traces(traces, citations=cited, **options).values()))


def means(qrels: Any, run: Any, *metrics: str) -> list[float]:
    """Return means without the warnings that are not asked for here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(rm.evaluate(qrels, run, metrics).means.values())


def ids(ranking: Any) -> list[Any]:
    """Return the ids of a ranking."""
    return [getattr(item, "id", item) for item in ranking]


def refusal(*arguments: Any, **options: Any) -> str:
    """Return what a refusal says; `no error` if there was none."""
    try:
        rm.read_traces(*arguments, **options)
    except ValueError as error:
        return str(error)
    return "no error"


def kibana() -> str:
    """1. Ten misses, then the answer in the second call."""
    calls = [rm.SearchCall("a", [f"miss {n}" for n in range(10)]), rm.SearchCall("b", ["good"], turn=2)]
    t = rm.Trajectories({"q": rm.Trajectory(calls)})
    truth = {"q": ["good"]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hidden = rm.evaluate(truth, t.union(), "recall@10").means["recall@10"]
    budgets = means(truth, t.union(), "recall@1calls", "recall@2calls")
    ranks = means(truth, t.interleaved(), "mrr", "ndcg@10")
    assert (budgets, ranks, hidden) == ([0.0, 1.0], [0.5, 1 / math.log2(3)], 0.0)
    assert any("fills the first 10" in str(warning.message) for warning in caught)
    return f"@1calls, @2calls {budgets}; interleaved mrr, ndcg@10 {ranks}; union recall@10 {hidden}, with a warning"


def single_call() -> str:
    """2. One call is the ordinary ranking to the last bit."""
    rng = random.Random(0)
    compared = 0
    different = 0
    for _ in range(500):
        ranking: Any = rng.choices("abcdefgh", k=rng.randrange(1, 8))
        if rng.random() < 0.5:
            ranking = {item: rng.choice([0.5, 1.0, 1.5]) for item in ranking}
        grades = {"q": {item: rng.randrange(4) for item in rng.sample("abcdefgh", 5)}}
        t = rm.Trajectories({"q": rm.Trajectory([rm.SearchCall("a", ranking)], context=ranking, citations=ranking)})
        expected = list(map(repr, means(grades, {"q": ranking}, *SEVENTEEN)))
        for view in (t.union(), t.interleaved(), t.first(), t.last(), t.context(), t.cited()):
            values = list(map(repr, means(grades, view, *SEVENTEEN)))
            compared += len(values)
            different += sum(value != other for value, other in zip(values, expected, strict=True))
    assert not different
    return f"{compared:,} values of 17 metrics in 6 views, {different} differ"


def laws() -> str:
    """3. A repeated call changes no union; first <= all, cited <= read <= all."""
    rng = random.Random(1)
    n_broken = 0
    for _ in range(500):
        rankings = [rng.sample("abcdefghij", rng.randrange(1, 6)) for _ in range(rng.randrange(1, 5))]
        calls = [rm.SearchCall("q", ranking, turn=turn) for turn, ranking in enumerate(rankings, start=1)]
        items = sorted(set().union(*rankings))
        context = rng.sample(items, rng.randrange(len(items) + 1))
        trajectory = rm.Trajectory(calls, context=context, citations=rng.sample("abcdefghij", 3))
        t = rm.Trajectories({"q": trajectory})
        again = rm.Trajectories({"q": rm.Trajectory([*calls, rm.SearchCall("q", rankings[0], turn=len(calls) + 1)])})
        grades = {"q": dict.fromkeys(rng.sample("abcdefghij", 4), 1)}
        cited_, read_, first, all_ = (
            means(grades, v, "recall")[0] for v in (t.cited(), t.context(), t.first(), t.union())
        )
        has_same_items = set(t.union()["q"]) == set(t.interleaved()["q"]) == set(again.union()["q"])
        n_broken += not (has_same_items and first <= all_ and cited_ <= read_ <= all_)
    assert not n_broken
    return f"500 trajectories, {n_broken} broken"


def eight_forms() -> str:
    """4. One agent in eight forms."""
    results = set()
    for name in EIGHT:
        t = rm.Trajectories({"q": read(name)})
        values = [*means({"q": QRELS}, t.union(), "map", "ndcg"), *means({"q": QRELS}, t.interleaved(), "map", "ndcg")]
        results.add(tuple(map(repr, values)))
    (means_,) = results
    assert [round(float(value), 6) for value in means_] == [0.755556, 0.726208, 0.866667, 0.768026]
    lost = read("llamaindex_openinference_retriever.jsonl").properties()["not_in_context"]
    assert lost == 1 / 6
    return f"{len(EIGHT)} forms, one value each: {', '.join(means_)}; LlamaIndex not_in_context {lost:.4f}"


def cleared() -> str:
    """5. What a middleware has cleared from the model's input was not read."""
    t = rm.Trajectories({"q": read("langchain_openinference_cleared.jsonl")})
    recalls = [means({"q": QRELS}, view, "recall")[0] for view in (t.first(), t.union(), t.context(), t.cited())]
    unread = t["q"].properties()["cited_not_in_context"]
    assert [round(recall * 3) for recall in (*recalls, unread)] == [1, 2, 1, 1, 2]
    shares = ", ".join(f"{recall:.4f}" for recall in recalls)
    return f"first, all, read, cited {shares}; cited_not_in_context {unread:.4f}"


def retries() -> str:
    """6. A retried tool is one call; parallel calls have one order."""
    lines = [json.loads(line) for line in (RECORDED / "langchain_openinference_retry.jsonl").read_text().splitlines()]
    attempts = set()
    orders = set()
    for seed in range(20):
        random.Random(seed).shuffle(lines)
        attempts.add(tuple(call.attempts for call in read(lines).calls))
    tool_calls = [{"name": "search", "id": call_id, "args": {"query": call_id}} for call_id in "abc"]
    for seed in range(40):
        times = random.Random(seed).sample(range(2, 9), 3)
        spans: list[dict[str, Any]] = [
            {"trace": "t", "span": "r", "parent": None, "kind": "other", "start": 0, "end": 20},
            {"trace": "t", "span": "m", "parent": "r", "kind": "model", "start": 0, "end": 1}
            | {"output": {"tool_calls": tool_calls}},
        ]
        spans += [
            {"trace": "t", "span": f"s{time}", "parent": "r", "kind": "retriever", "start": time, "end": 15}
            | {"input": query, "output": []}
            for query, time in zip("abc", times, strict=True)
        ]
        orders.add(tuple(call.query for call in read(spans).calls))
    assert (attempts, orders) == ({(1, 2, 1)}, {("a", "b", "c")})
    return f"attempts {attempts} in 20 orders of the spans; three parallel calls: {len(orders)} order in 40"


def refused() -> str:
    """7. What was cut, or has no content, is refused with the id of its span."""
    messages = {name: refusal(RECORDED / name, tools=tools) for name, tools in REFUSED.items()}
    assert all(re.search(r"span '(0x|span_)\w+'", message) for message in messages.values()), messages
    sixty = len(read("limits_lc.jsonl").calls[0].ranking)
    assert sixty == 60
    return f"{len(messages)} recordings refused with the id; LangChain's {sixty} documents of 125 attributes are read"


def broken() -> str:
    """8. Shuffled, repeated, orphaned, circular, cut in half."""
    path = RECORDED / EIGHT[0]
    spans = [json.loads(line) for line in path.read_text().splitlines()]
    expected = repr(read(spans))
    n_same = 0
    for seed in range(50):
        random.Random(seed).shuffle(spans)
        n_same += repr(read(spans)) == expected
    twice = rm.read_traces([*spans, spans[0]]).notes
    inner = next(span for span in spans if span["attributes"].get("openinference.span.kind") == "RETRIEVER")
    orphaned = rm.read_traces([span | {"parent_id": "0xlost"} if span is inner else span for span in spans]).notes
    own = inner["context"]["span_id"]
    circle = refusal([span | {"parent_id": own} if span is inner else span for span in spans])
    with NamedTemporaryFile("w", suffix=".jsonl") as half:
        half.write(path.read_text()[: path.stat().st_size // 2])
        half.flush()
        cut = refusal(half.name)
    assert n_same == 50
    assert "is nested inside itself" in circle
    assert re.search(r"line \d+.*was cut short", cut)
    return f"{n_same} of 50 orders the same; {twice[0]}; {orphaned[0]}; circle: {circle[:40]}...; cut: line named"


def inside() -> str:
    """9. A query engine gives the model a synthesis; a sub-agent's searches are calls of the question."""
    name = "llamaindex_openinference_query_engine.jsonl"
    alone = read(name).context
    anybody = ids(read(name, context="any").context)
    sub = read("langchain_openinference_subagent.jsonl")
    assert (alone, anybody) == ([], ["d2", "d1", "d3", "d7", "d4"])
    assert (len(sub.calls), sub.context) == (2, [])
    return f"query engine: context {alone}, with any reader {anybody}; sub-agent: {len(sub.calls)} calls, context []"


def nothing() -> str:
    """10. No calls, all failed, unknown context."""
    down = rm.Trajectory([rm.SearchCall("a", error="down")])
    t = rm.Trajectories({"none": rm.Trajectory(), "down": down, "ok": rm.Trajectory([rm.SearchCall("a", ["x"])])})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = rm.evaluate({query: ["x"] for query in t}, t.union(), "recall")
    values = result.per_query["recall"]
    counts = result.counts
    try:
        t.context()
    except ValueError as error:
        unknown = str(error)
    assert values == {"none": 0, "down": 0, "ok": 1}
    assert (counts["missing"], counts["failed"], str(result.errors["down"])) == (2, 1, "down")
    return f"{values}, nothing retrieved for {counts['missing']}, {counts['failed']} failed; {unknown[:58]}..."


def speed() -> str:
    """11. At most three times json.loads, and 100,000 spans within a gigabyte."""
    small = [sys.executable, str(BENCHMARK), "--spans", "20000", "--rounds", "5"]
    large = [sys.executable, str(BENCHMARK), "--spans", "100000", "--rounds", "1"]
    printed = [
        subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
        for command in (small, large)
    ]
    return f"{printed[0][0]}; {printed[0][1].partition('; ')[2]}; {printed[1][0]}"


def no_stack_trace() -> str:
    """12. Of an error, a report has the first line, before any stack trace."""
    error = "ConnectionError: offline\nTraceback (most recent call last):\n  File '/home/me/app.py', key=secret"
    kept_error = rm.SearchCall("a", error=error).error
    recorded = {str(call.error) for name in EIGHT for call in read(name).calls if call.error}
    assert kept_error == "ConnectionError: offline"
    assert not any("Traceback" in text or "/" in text for text in recorded)
    return f"{kept_error!r}; recorded: {', '.join(sorted(map(repr, recorded)))}"


CHECKS = (
    kibana,
    single_call,
    laws,
    eight_forms,
    cleared,
    retries,
    refused,
    broken,
    inside,
    nothing,
    speed,
    no_stack_trace,
)


def main() -> None:
    """Print every check with its values; the first that does not hold raises."""
    for check in CHECKS:
        print(f"{check.__doc__}\n    {check()}")  # noqa: T201  (it is a script)


if __name__ == "__main__":
    main()
