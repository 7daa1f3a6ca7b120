"""What a run of checks shows: the table in the terminal, and files."""

from __future__ import annotations

import json
from collections import Counter
from html import escape
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from pytest_retrieval_metrics.approval import DEFAULT_N_LINES, fit_blocks, get_query_texts
from pytest_retrieval_metrics.gates import NOW, OUTCOME_TEXTS
from pytest_retrieval_metrics.records import (
    find_informative_queries,
    format_title,
    has_failed,
    list_changed_queries,
    read_record,
)
from pytest_retrieval_metrics.settings import make_file_name
from retrieval_metrics import Evaluation
from retrieval_metrics.integration_api.text import Table, numbers, page, save_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    Records = Sequence[dict[str, Any]]

INTERNAL = {"able", "evaluation", "comparison", "questions", "history", "had_baseline", "within"}
"""The keys of a record that only the plug-in uses."""


def write_report(path: Path, records: Records) -> None:
    """Write all checks, failed ones first, in the format of the path's extension."""
    checks = ordered(records)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".html":
        write_pages(path, checks)
    else:
        save_text(path, {".json": _json, ".xml": _junit, ".md": _markdown}[path.suffix](checks))


def _json(records: Records) -> str:
    checks = [{key: value for key, value in one.items() if key not in INTERNAL} for one in records]
    return json.dumps({"checks": checks}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _junit(records: Records) -> str:
    suite = ET.Element("testsuite", name="retrieval quality", tests=str(len(records)))
    suite.set("failures", str(sum(map(has_failed, records))))
    suite.set("skipped", str(sum(bool(one["ended"]) for one in records)))
    for one in records:
        module, _, test = one["test"].partition("::")
        case = ET.SubElement(suite, "testcase", classname=module, name=f"{test} {one['name']}".strip())
        properties = ET.SubElement(case, "properties")
        for row in one["metrics"]:
            for part, value in row.items():
                if part not in {"metric", "said", "lines"} and value is not None:
                    ET.SubElement(properties, "property", name=f"{row['metric']}.{part}", value=str(value))
            for query in one["queries"]:
                name = f"{row['metric']}[{query['query']}]"
                for when in ("before", "now"):
                    if (value := query[when].get(row["metric"])) is not None:
                        ET.SubElement(properties, "property", name=f"{name}.{when}", value=str(value))
        if one["ended"]:
            ET.SubElement(case, "skipped", message=" ".join([one["ended"], *one["failure"].splitlines()[:1]]))
        elif has_failed(one):
            failure = ET.SubElement(case, "failure", message=one["failure"].partition("\n")[0])
            failure.text = one["failure"]
    whole = ET.Element("testsuites")
    whole.append(suite)
    ET.indent(whole)
    return _printable(ET.tostring(whole, encoding="unicode", xml_declaration=True)) + "\n"


def _printable(text: str) -> str:
    """Return a text without control characters that XML does not allow."""
    return "".join(one if one in "\t\n\r" or one >= " " else "�" for one in text)


def _markdown(records: Records) -> str:
    parts = ["# Retrieval quality", f"{headline(records)}."]
    for one in records:
        if not has_failed(one):
            continue
        lines = [line for row in one["metrics"] for line in row["lines"] if row["outcome"] not in {"passed", "stored"}]
        parts += [f"## {_code(format_title(one))}", "\n".join(f"- {_safe(line)}" for line in lines or [one["failure"]])]
        found = (find_informative_queries(one, row, SHOWN) for row in one["metrics"])
        parts += [_safe_table(drawn).markdown() for drawn in found if drawn is not None]
    parts += ["## All checks", _safe_table(table(records)).markdown()]
    parts += [f"- {_safe(note)}" for note in notes(records)]
    return "\n\n".join(parts) + "\n"


def _safe(text: str) -> str:
    """Return a text on one line, escaped so that Markdown does not read it as HTML."""
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")


def _safe_table(drawn: Table) -> Table:
    return drawn._replace(rows=[[_safe(cell) for cell in row] for row in drawn.rows])


def _code(text: str) -> str:
    return f"`{text.replace('`', '_')}`"


SHOWN = 10
"""The number of queries per metric in the page and the summary of all checks; the page of a check has all."""
FOLDER = ".checks"
"""The extension of the folder with the pages of single checks."""


def write_pages(path: Path, records: Records) -> None:
    """Write the page of all checks to a path, and those of single checks into a folder beside it."""
    folder = path.with_suffix(FOLDER)
    if folder.is_dir():  # of an earlier run, whose checks may not have run now
        for old in folder.glob("*.html"):
            old.unlink()
    parts = [page.paragraph(f"{headline(records)}.", lead=True)]
    for record in records:
        link = _page(folder, record)
        if has_failed(record):
            parts.append(page.section(format_title(record), *_failure(record, link)))
        else:
            parts.append(page.folded(f"{format_title(record)}: {_outcomes(record)}", *_moves(record), link))
    parts += [page.section("All checks", page.table(table(records)))]
    parts += [page.paragraph(note) for note in notes(records)]
    page.write(path, "Retrieval quality", parts)


def _page(folder: Path, record: dict[str, Any]) -> str:
    """Write the page of a check, and return the link to it; nothing if there is no evaluation."""
    try:
        found = read_record(record["comparison"] or record["evaluation"])
    except ValueError as error:  # a metric defined by a test in a worker of xdist is unknown here
        return page.paragraph(f"There is no page of its queries: {error}")
    if found is None or (isinstance(found, Evaluation) and found.scores.origin is None):
        return ""
    module, _, test = record["test"].partition("::")
    name = make_file_name(f"{module.replace('/', '.').removesuffix('.py')}.{test}", record["name"], ".html")
    folder.mkdir(parents=True, exist_ok=True)
    now = found if isinstance(found, Evaluation) else found.evaluations[NOW]
    texts = {query: text for query, text in get_query_texts(now).items() if text != query}
    found.report(folder / name, title=format_title(record), queries=texts)
    link = f'<a href="{escape(quote(f"{folder.name}/{name}"))}">'
    if not record["comparison"]:
        return f"<p>{link}Every query</a></p>"
    sides = "That page looks for gains, too, so its p is twice that of the check, which looks for losses."
    return f"<p>{link}Every query, before and now</a>. {sides}</p>"


def _failure(record: dict[str, Any], link: str) -> list[str]:
    lines = [line for row in record["metrics"] for line in row["lines"] if row["outcome"] not in {"passed", "stored"}]
    told = page.sentences(lines) if lines else page.paragraph(record["failure"])
    whole = page.folded("What became of the relevant documents", f"<pre>{escape(record['failure'])}</pre>")
    return [told, link, *_moves(record), whole if lines else ""]


def _moves(record: dict[str, Any]) -> list[str]:
    found = (find_informative_queries(record, row, SHOWN) for row in record["metrics"])
    return [page.table(drawn) for drawn in found if drawn is not None]


def _format_outcome(outcome: str) -> str:
    return OUTCOME_TEXTS.get(outcome, outcome)


def _outcomes(record: dict[str, Any]) -> str:
    return (
        ", ".join(f"{row['metric']} {_format_outcome(row['outcome'])}" for row in record["metrics"])
        or "nothing was measured"
    )


HEADER = ("test", "metric", "mean", "interval", "n", "floor", "difference", "p", "fails at", "outcome")
OPTIONAL = {"floor", "difference", "p", "fails at"}
WORDS = (0, 1, -1)
LINES = 12
"""The number of lines for a check that did not fail."""
MANY = 50
"""A number of queries that lifts the limits of lines."""
MONTH = 30
"""How many builds a month is taken to have."""
HALF = 0.5
"""The p value of the test for a drop where the mean is as it was; above it, the mean has risen."""
FRAME = ("the title", "an empty line", "the header", "the legend")
DRIFT = (
    "A baseline that is often updated to what is good by chance drifts upwards: of the best of five builds, about 10 % "
    "of unchanged builds fail."
)
"""From `tests/benchmarks/gate.py`."""


def format_passed(records: Records) -> str:
    """Return a line on a build in which no check failed and nothing was stored, and one for each thing to know."""
    rows = [(one, row) for one in records for row in one["metrics"]]
    if any(map(has_failed, records)) or any(row["outcome"] == "stored" for _, row in rows):
        return ""
    ended = Counter(one["ended"] or "passed" for one in records)
    how = next(iter(ended)) if len(ended) == 1 else ": " + ", ".join(f"{number} {how}" for how, number in ended.items())
    said = ", ".join(f"{row['metric']} {_cell(row['mean'])}" for _, row in rows) if len(records) == 1 else ""
    lacking = [f"{format_title(one)}: {row['metric']} of {_n(row)} queries" for one, row in rows if row["undefined"]]
    checks = numbers.format_count(len(records), "check")
    parts = [f"retrieval quality: {checks} {how}".replace(" : ", ": "), said, *lacking]
    lines = ["; ".join([*filter(None, parts), "-v shows the table"])]
    for one in records:
        lines += [f"{format_title(one)}: {note}" for note in one["notes"]]
        apart = [line for row in one["metrics"] if row["outcome"] == "not_compared" for line in row["lines"]]
        lines += [f"{format_title(one)}: {line}" for line in apart]
        if doubtful := [row for row in one["metrics"] if row["outcome"] == "inconclusive" and row["difference"]]:
            each = (
                f"{row['metric']} {numbers.change(round(row['mean'] - row['difference'], 12), row['mean'])} "
                f"({numbers.format_query_count(row['lost'])} worse, {row['won']} better)"
                for row in doubtful
            )
            lines.append(
                f"{format_title(one)}: worse than the baseline, but no more than chance explains: {', '.join(each)}"
            )
    return "\n".join(lines)


def format_summary(records: Records, show: int) -> str:
    """Return the table of all checks as text, with what changed where nothing failed."""
    lines = table(records).text().splitlines()
    for record in records:
        written = [f"baseline written: {line}" if at == 0 else line for at, line in enumerate(record["replaced"])]
        said = [] if has_failed(record) else [*notes([record]), *undecided(record, show), *written]
        end = [DRIFT] if written and _rose(record) else []
        room = max(LINES - len(FRAME) - len(record["metrics"]) - len(end), 1)
        if show <= DEFAULT_N_LINES and len(said) > room:
            said = [*said[: room - 1], f"  and {len(said) - room + 1} more lines: --retrieval-show={MANY}"]
        lines += [*said, *end]
    return "\n".join(lines)


def _rose(record: dict[str, Any]) -> bool:
    """Whether a baseline was replaced by one that is better, but no more so than by chance."""
    by_chance = 1 - record["alpha"]
    return not record["deterministic"] and any(HALF < (row["p"] or 0.0) < by_chance for row in record["metrics"])


def ordered(records: Records) -> list[dict[str, Any]]:
    """Return the checks, failed ones first."""
    return sorted(records, key=lambda one: (not has_failed(one), one["test"], one["name"]))


def undecided(record: dict[str, Any], show: int) -> Iterator[str]:
    """Yield the queries that changed, if a metric cannot be told from its baseline; each once, for the first metric."""
    row = next((row for row in record["metrics"] if row["outcome"] == "inconclusive"), None)
    if row is None:
        return
    yield from (f"{format_title(record)}: {line}" for line in row["lines"])
    found = list_changed_queries(record, row["metric"])
    yield from fit_blocks(
        ([f"  {query}: {numbers.change(before, now)}"] for query, before, now in found[:show]),
        len(found),
        "that changed",
        None,
    )


def notes(records: Records) -> Iterator[str]:
    """Yield notes on each check: how rounds vary, and what differs from the baseline."""
    for record in records:
        yield from (f"{format_title(record)}: {note}" for note in [*record["notes"], *record["spread"]])


def headline(records: Records) -> str:
    """Return in a sentence how many checks failed."""
    number, of = sum(map(has_failed, records)), len(records)
    if not number:
        return f"No check failed, of {of}"
    return "The check failed" if of == 1 else f"{number} of {of} checks failed"


def table(records: Records) -> Table:
    """Return the table of all checks, with the columns in which there is something."""
    rows = [
        [
            format_title(one),
            row["metric"],
            _cell(row["mean"]),
            "-" if row["low"] is None else f"[{numbers.value(row['low'])}, {numbers.value(row['high'])}]",
            _n(row),
            "-" if row["floor"] is None else f"{row['floor']:g}",
            "-" if row["difference"] is None else numbers.signed(row["difference"]),
            "-" if row["p"] is None else numbers.p_value(row["p"]),
            "-" if row["fails_at"] is None else f"{row['fails_at']:.2f}",
            _format_outcome(row["outcome"]) + (f" ({one['ended']})" if one["ended"] else ""),
        ]
        for one in records
        for row in one["metrics"]
    ]
    dashes = ["-"] * (len(HEADER) - 2)
    rows += [[format_title(one), *dashes, one["failure"].partition(":")[0]] for one in records if not one["metrics"]]
    kept = [at for at, name in enumerate(HEADER) if name not in OPTIONAL or any(row[at] != "-" for row in rows)]
    header = [HEADER[at] for at in kept]
    words = tuple(kept.index(at % len(HEADER)) for at in WORDS)
    levels = sorted({one["level"] for one in records})
    said = [", ".join(map(numbers.level_name, levels))]
    if "p" in header:
        alphas = " or ".join(f"{alpha:.4g}" for alpha in sorted({one["alpha"] for one in records}))
        most = max(records, key=itemgetter("alpha_of_build"))
        said += [f"worse if p is at most {alphas}", _said_of_alarms(most["alpha_of_build"], most["builds"])]
    if "fails at" in header:
        said.append("fails at: a drop found in four of five builds, whichever queries lose")
    return Table(header, [[row[at] for at in kept] for row in rows], ["; ".join(said)], "", words)


def _said_of_alarms(alpha: float, builds: int) -> str:
    """Return how often the gate fails where nothing changed, over all baselines, and how to have fewer alarms."""
    said = f"of unchanged builds at most {100 * alpha:.2g} % fail"
    if builds > 1:
        return said
    return f"{said} (retrieval_builds={MONTH}: of months of {MONTH} builds; only larger drops fail then)"


def _n(row: dict[str, Any]) -> str:
    """Return how many queries have a value, and of how many if some have none."""
    return f"{row['n']} of {row['n'] + row['undefined']}" if row["undefined"] else str(row["n"])


def _cell(value: float | None) -> str:
    return "undefined" if value is None else numbers.value(value)
