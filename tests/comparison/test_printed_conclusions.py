"""Every printed sentence about two systems is read back and compared with the numbers, and the other way round."""

import math
import re
from collections import Counter
from dataclasses import dataclass

import pytest

import retrieval_metrics as rm
from generated_comparisons import generate_comparison, generate_task
from retrieval_metrics.reports.numbers import (
    format_p_value,
    format_signed,
    format_three_digits,
    format_two_digits,
    format_value,
    level_name,
)
from retrieval_metrics.types import Conclusion

N_COMPARISONS = 40
# So many that every kind of sentence, clause and margin occurs.
N_COMPARISONS_OF_EVERY_KIND = 200
NUMBER = r"[+-]?\d+(?:\.\d+)?"
RANGE = rf"(?P<low>{NUMBER}) to (?P<high>{NUMBER})"
ENDS = rf"(?P<low>{NUMBER}) and (?P<high>{NUMBER})"

STATEMENTS = {
    "better_or_worse": re.compile(
        rf"(?P<subject>\w+) is (?P<comparative>better|worse) than (?P<reference>\w+) in (?P<metric>\S+?)"
        rf"(?P<sample_only> in this sample)? by (?P<size>{NUMBER})(?P<every> on every query)?"
        rf"(?: \((?P<level>\S+ CI) {RANGE}\))?"
    ),
    "not_significant": re.compile(
        r"No significant difference between (?P<subject>\w+) and (?P<reference>\w+) in (?P<metric>\S+) "
        rf"\((?P<level>\S+ CI) {RANGE}(?:; MDE (?P<mde>{NUMBER}))?\)"
    ),
    "too_few": re.compile(
        r"No significant difference between (?P<subject>\w+) and (?P<reference>\w+) in (?P<metric>\S+): "
        r"with (?P<n_units>\d+) (?:query|queries|cluster|clusters), no difference can be significant, however large; "
        r"at least (?P<min_units>\d+) are needed"
    ),
    "identical": re.compile(
        r"(?P<subject>\w+) and (?P<reference>\w+) have identical values in (?P<metric>[^\s;]+) on every query"
    ),
    "depends_on_unjudged": re.compile(
        r"(?P<subject>\w+) is (?P<comparative>better|worse) than (?P<reference>\w+) in (?P<metric>\S+) as judged, "
        r"but this depends on unjudged documents: "
        rf"the difference is (?P<size>{NUMBER}) as judged, and between {ENDS} over the possible grades of "
        r"(?P<what>[^;]*)"
    ),
    "not_comparable": re.compile(
        r"(?P<subject>\w+) and (?P<reference>\w+) are not comparable in (?P<metric>\S+): "
        r"they do not both fill the budget"
    ),
    "no_common_queries": re.compile(
        r"(?P<subject>\w+) and (?P<reference>\w+) share no query on which (?P<metric>\S+) is defined"
    ),
}
GRADES = {
    "could change": re.compile(rf"; grading (?P<what>[^;]*?) could change this \(difference between {ENDS}\)"),
    "change nothing": re.compile(r"; grading (?P<what>[^;]*?) would not change this"),
    "all judged": re.compile(
        r"; (?:all retrieved documents are judged|every top result is judged|all of the top \d+ are judged)"
    ),
}
MARGIN = {
    "exceeded": re.compile(r", exceeding the margin of (?P<margin>\S+)"),
    "within": re.compile(r", within the margin of (?P<margin>\S+)"),
    "loss open": re.compile(r"; whether the loss exceeds the margin of (?P<margin>\S+) is inconclusive"),
    "noninferior": re.compile(
        r"; (?P<one_sided>by the one-sided test, )?(?P<system>\w+) is non-inferior \(margin (?P<margin>[^)]+)\)"
    ),
    "cannot be shown": re.compile(r"; non-inferiority \(margin (?P<margin>[^)]+)\) is not shown either"),
    "not shown": re.compile(
        r"; non-inferiority of (?P<system>\w+) not shown \(margin (?P<margin>[^)]+)\): (?P<why>.+)"
    ),
    "rare losses": re.compile(
        r"; rare losses that would leave (?P<system>\w+) worse by more than the margin of (?P<margin>\S+) are not "
        r"ruled out: (?P<why>.+)"
    ),
}


@dataclass(frozen=True)
class Sentence:
    """What a sentence says, by the patterns above."""

    statement: str
    parts: dict[str, str]
    grades: str | None
    grade_parts: dict[str, str]
    margin: str | None
    margin_parts: dict[str, str]


def read_sentence(text: str) -> Sentence:
    """Read one sentence; fail unless exactly one combination of clauses makes up the whole of it."""
    readings = []
    for statement, pattern in STATEMENTS.items():
        for grades, grade_pattern in [(None, None), *GRADES.items()]:
            for margin, margin_pattern in [(None, None), *MARGIN.items()]:
                patterns = [pattern.pattern]
                patterns += [_renamed(grade_pattern, "g_")] if grade_pattern is not None else []
                patterns += [_renamed(margin_pattern, "m_")] if margin_pattern is not None else []
                match = re.fullmatch("".join(patterns) + r"\.", text)
                if match is None:
                    continue
                parts = match.groupdict(default="")
                readings.append(
                    Sentence(
                        statement,
                        {name: part for name, part in parts.items() if name[:2] not in {"g_", "m_"}},
                        grades,
                        {name[2:]: part for name, part in parts.items() if name[:2] == "g_"},
                        margin,
                        {name[2:]: part for name, part in parts.items() if name[:2] == "m_"},
                    )
                )
    assert len(readings) == 1, (text, readings)
    return readings[0]


def _renamed(pattern: re.Pattern[str], prefix: str) -> str:
    return pattern.pattern.replace("(?P<", f"(?P<{prefix}")


def expect_statement(conclusion: Conclusion) -> tuple[str, dict[str, str]]:
    """Return the statement and its parts that the numbers of a conclusion allow."""
    parts = {"subject": conclusion.system, "reference": conclusion.baseline, "metric": conclusion.metric}
    low, high = conclusion.interval
    if conclusion.kind == "not_significant":
        details = conclusion.details
        if details.n_units < details.min_units:
            return "too_few", {**parts, "n_units": f"{details.n_units}", "min_units": f"{details.min_units}"}
        mde = details.mde().spread
        parts |= {"level": level_name(conclusion.level), "low": format_signed(low), "high": format_signed(high)}
        return "not_significant", {**parts, "mde": "" if math.isinf(mde) else format_two_digits(mde)}
    if conclusion.kind == "depends_on_unjudged":
        assert conclusion.unjudged_bounds is not None
        bounds = conclusion.unjudged_bounds.interval
        return "depends_on_unjudged", {
            **parts,
            "comparative": "better" if conclusion.gain > 0 else "worse",
            "size": format_signed(conclusion.difference),
            "low": format_signed(bounds.low),
            "high": format_signed(bounds.high),
        }
    if conclusion.kind not in {"better", "worse"}:
        return conclusion.kind, parts
    size = abs(conclusion.difference)
    is_equal_everywhere = low == high
    smallest, largest = sorted([abs(low), abs(high)])
    has_interval = not is_equal_everywhere
    return "better_or_worse", {
        **parts,
        "comparative": conclusion.kind,
        "sample_only": " in this sample" if conclusion.sample_only else "",
        "size": format_three_digits(size),
        "every": " on every query" if is_equal_everywhere else "",
        "level": level_name(conclusion.level) if has_interval else "",
        "low": format_three_digits(smallest) if has_interval else "",
        "high": format_three_digits(largest) if has_interval else "",
    }


def expect_grades(conclusion: Conclusion) -> str | None:
    bounds = conclusion.unjudged_bounds
    if bounds is None or conclusion.kind == "depends_on_unjudged":
        return None
    if bounds.changes_conclusion:
        return "could change"
    return "change nothing" if bounds.n_queries else "all judged"


def expect_margin(conclusion: Conclusion) -> str | None:
    outcome = conclusion.noninferiority
    if outcome is None:
        return None
    if conclusion.kind == "worse":
        return {"inferior": "exceeded", "noninferior": "within", "inconclusive": "loss open"}[outcome]
    if conclusion.has_too_few_units and outcome != "noninferior":
        return "cannot be shown"
    if outcome == "noninferior":
        return None if conclusion.kind == "better" else "noninferior"
    return "rare losses" if conclusion.kind == "better" else "not shown"


def check_sentence(conclusion: Conclusion) -> Sentence:
    """Check that a sentence says what the record has, all of it, and nothing else."""
    sentence = read_sentence(conclusion.sentence)
    statement, parts = expect_statement(conclusion)
    assert sentence.statement == statement
    assert {name: part for name, part in sentence.parts.items() if name != "what"} == parts
    assert sentence.grades == expect_grades(conclusion)
    assert sentence.margin == expect_margin(conclusion)
    bounds = conclusion.unjudged_bounds
    what = sentence.parts.get("what") or sentence.grade_parts.get("what")
    if bounds is not None and what:
        place = "the unjudged retrieved documents" if bounds.depth is None else f"documents in the top {bounds.depth}"
        assert place in what
        assert ("unretrieved relevant" in what) == (bounds.unretrieved_relevant > 0)
    if sentence.grades == "could change":
        assert bounds is not None
        assert sentence.grade_parts["low"] == format_signed(bounds.interval.low)
        assert sentence.grade_parts["high"] == format_signed(bounds.interval.high)
    if sentence.margin is not None:
        assert sentence.margin_parts["margin"] == f"{conclusion.margin:g}"
        assert sentence.margin_parts.get("system", conclusion.system) == conclusion.system
        check_margin_reason(conclusion, sentence.margin_parts.get("why", ""))
    return sentence


def check_margin_reason(conclusion: Conclusion, reason: str) -> None:
    """Check the bound or the number of queries in the reason why non-inferiority is not shown."""
    margin_test = conclusion.details.margin
    assert margin_test is not None
    if reason.startswith("the one-sided bound"):
        pattern = rf"the one-sided bound on the loss is ({NUMBER})( with the least favourable grades)?"
        bound = re.fullmatch(pattern, reason)
        assert bound is not None, reason
        assert bound[1] == format_three_digits(-conclusion.lowest_gain)
        assert conclusion.lowest_gain >= -1  # every metric here is in [0, 1]
        assert bool(bound[2]) == (conclusion.lowest_gain < margin_test.low - 1e-9)
    elif reason.startswith(("at least ", "up to ")):
        assert reason.startswith("up to ") == (conclusion.details.gain > 0)
        assert conclusion.lowest_gain > -(conclusion.margin or 0)
        assert int(re.findall(r"\d+", reason)[0]) == margin_test.min_units
        assert ("independent" in reason) == (conclusion.details.clusters is not None)
    elif reason:
        assert reason == "too few queries carry the loss for the skewness-adjusted test to bound it"


RARE_EFFECT = re.compile(
    r"Effects too rare to occur in (?P<n>\d+) quer(y|ies)( in \d+ clusters?)? are not "
    r"(?P<limit>covered by the CI|excluded): "
    r"up to (?P<share>\S+)% of all queries \(\S+% confidence\) could .+ the mean by (?P<shift>[^\s,]+?)"
    r"(, (?P<consequence>which could undo the difference|not enough to undo the difference"
    r"|not enough to exceed the margin))?\."
)


def check_rare_effect(conclusion: Conclusion) -> None:
    """Check what the note on rare effects says against the conclusion that they oppose."""
    note = conclusion.rare_effect_note
    if not note:
        return
    match = RARE_EFFECT.fullmatch(note)
    assert match is not None, note
    rare = conclusion.details.rare_effect
    assert match["n"] == str(conclusion.n)
    assert (match["limit"] == "excluded") == math.isnan(conclusion.interval.low)
    could_undo = (1 - rare.share) * abs(conclusion.difference) <= rare.mean_shift
    shift = rare.mean_shift
    if match["consequence"] == "which could undo the difference" and shift < abs(conclusion.difference):
        shift += rare.share * abs(conclusion.difference)
    assert (match["share"], match["shift"]) == (f"{100 * rare.share:.2g}", f"{shift:.2g}")
    is_noninferior = conclusion.noninferiority == "noninferior"
    limits = {
        "which could undo the difference": could_undo,
        "not enough to undo the difference": not could_undo,
        "not enough to exceed the margin": is_noninferior and rare.mean_shift < (conclusion.margin or 0),
        None: not conclusion.is_better_or_worse or conclusion.margin is not None,
    }
    assert limits[match["consequence"]]
    if match["consequence"] in {"which could undo the difference", "not enough to undo the difference"}:
        assert conclusion.is_better_or_worse


def check_table(comparison: rm.Comparison) -> int:
    """Check the printed row of each metric against the record; return how many cells were compared."""
    header, *rows = [re.split(r"\s{2,}", line.strip()) for line in str(comparison).split("\n\n")[0].splitlines()]
    system, baseline = comparison.pairs[0]
    assert header[1:3] == list(comparison.systems)
    assert header[3] == f"{system} - {baseline}"
    assert header[4:] == [level_name(comparison.level), "p", "W/T/L", "n"]
    row_by_metric = {row[0]: row[1:] for row in rows}
    n_cells = 0
    for conclusion in comparison.conclusions:
        difference = conclusion.details
        paired = difference.paired
        interval = "-"
        p_value = "-"
        if difference.comparable:  # else nothing is printed that would support a conclusion
            p_value = format_p_value(difference.p_corrected)
            if not math.isnan(difference.interval.low):
                interval = f"[{format_signed(difference.interval.low)}, {format_signed(difference.interval.high)}]"
        expected = [
            *[format_value(mean) for mean in comparison.means[conclusion.metric].values()],
            format_signed(difference.mean),
            interval,
            p_value,
            f"{paired.wins}/{paired.ties}/{paired.losses}",
            f"{comparison.n[conclusion.metric]}",
        ]
        assert row_by_metric[conclusion.metric] == expected
        n_cells += len(expected)
    return n_cells


def check_printed_comparisons(n_comparisons: int) -> Counter[str]:
    """Check every sentence and table of generated comparisons; return how often each kind was seen."""
    counts: Counter[str] = Counter()
    seed = 0
    while counts["comparisons"] < n_comparisons:
        seed += 1
        if not generate_task(seed).retrieves_judged_documents():
            continue
        comparison = generate_comparison(seed)
        counts["comparisons"] += 1
        printed = str(comparison.conclusions).splitlines()
        for conclusion in comparison.conclusions:
            sentence = check_sentence(conclusion)
            check_rare_effect(conclusion)
            counts["rare effects"] += bool(conclusion.rare_effect_note)
            counts[sentence.statement] += 1
            counts[f"grades: {sentence.grades}"] += 1
            counts[f"margin: {sentence.margin}"] += 1
            assert printed.count(conclusion.sentence) == 1
        # The other way round: each printed sentence about two systems is that of a conclusion.
        own = {conclusion.sentence for conclusion in comparison.conclusions}
        assert {line for line in printed if is_about_two_systems(line)} == own
        if len(comparison.pairs) == 1:
            counts["cells"] += check_table(comparison)
            if len(comparison.metrics) == 1:
                lines = str(comparison).splitlines()
                # Clusters, unequal depths and a cutoff that no ranking reaches have a line of their own.
                n_notes = int(comparison.clusters is not None)
                for note in ("compares unequal depths", "no ranking has more than", "rankings end"):
                    n_notes += note in str(comparison)
                assert len(lines) <= 8 + n_notes
    return counts


def test_sentences_and_tables_say_what_was_computed() -> None:
    counts = check_printed_comparisons(N_COMPARISONS)
    assert {"better_or_worse", "not_significant", "too_few"} <= {*counts}
    assert counts["cells"] > 0, counts
    assert counts["rare effects"] > 0, counts


@pytest.mark.slow
def test_every_kind_of_sentence_says_what_was_computed() -> None:
    counts = check_printed_comparisons(N_COMPARISONS_OF_EVERY_KIND)
    missing = {*STATEMENTS} - {*counts}
    assert missing <= {"no_common_queries"}, counts
    assert {f"grades: {name}" for name in GRADES} <= {*counts}
    assert {f"margin: {name}" for name in MARGIN} <= {*counts}
    assert counts["cells"] > 500, counts


def is_about_two_systems(line: str) -> bool:
    return any(pattern.match(line) for pattern in STATEMENTS.values())
