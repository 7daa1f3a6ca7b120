# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics", "bm25s>=0.2.14", "scikit-learn>=1.4"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# ///
"""Compare two retrievers with grades of a model for all questions and grades of people for 25 of them.

Run it with `uv run examples/grade_with_a_model.py`. It needs no API key and no network: the "model" only counts shared
words. It is a poor judge, so you see how its errors are corrected. Replace it with your own model: a function that
takes a prompt and returns the reply, a LangChain chat model or a LlamaIndex LLM.

The grades of people come with the examples. `--page label.html` writes a page for grading yourself, and
`--labels labels-Ada.json labels-Ben.json` uses the exported grades instead.
"""

import argparse
import json
import re
from functools import partial
from typing import Any

import questions
import retrieval_metrics as rm
from corpus import passages
from retrievers import BM25, Dense, Retriever

DEPTH = 10
GRADED_BY_PEOPLE = 25
GRADING_PROMPT = re.compile(
    r"Question:\n(?P<question>.*?)\n\nPassage:\n<passage>\n(?P<passage>.*?)\n</passage>", re.DOTALL
)
COMMON = frozenset(re.findall(r"\w+", "a an and are as at be can do for from how i if in is it of on or so the to"))


def shared_words(prompt: str) -> str:
    """Stand in for a model: grade a passage by its share of the words of the question."""
    match = GRADING_PROMPT.search(prompt)
    if match is None:
        return "I do not know this form of prompt."
    question_words, passage_words = (
        set(re.findall(r"[a-z_]{2,}", match[part].lower())) for part in ("question", "passage")
    )
    share = len((question_words - COMMON) & passage_words) / max(len(question_words - COMMON), 1)
    return json.dumps(
        {"grade": sum(share >= bound for bound in (0.3, 0.45, 0.6)), "reason": f"{share:.0%} of the words"}
    )


def by_hand(pool: rm.types.Pool, qrels: rm.Qrels) -> rm.Labels:
    """Return the grades that come with the examples; a passage without a grade was read and does not help."""
    judged: dict[Any, Any] = {query: qrels.judgments(number) for number, query in enumerate(qrels.queries)}
    grades: dict[Any, Any] = {query: {} for query in judged}
    for item in pool:
        truth = judged[item.query]
        parts = truth if isinstance(truth, list) else [truth]  # for a question with parts, the best grade of any part
        grades[item.query][item.document] = max(part.get(item.document, 0) for part in parts)
    return rm.Labels.from_qrels(
        {query: judgments for query, judgments in grades.items() if judgments}, grader="the authors"
    )


def main() -> None:
    """Print the agreement of model and people, the estimate, and the values from grades by hand for all questions."""
    options = argparse.ArgumentParser()
    options.add_argument("--page", help="the HTML file to write the page for grading to")
    options.add_argument("--labels", nargs="+", help="files exported from that page")
    options.add_argument("--report", help="the HTML file to write the estimate to")
    chosen = options.parse_args()

    pieces = passages()
    texts = questions.queries()
    qrels = rm.Qrels(questions.qrels(pieces))
    retrievers: dict[str, Retriever] = {"BM25": BM25(pieces), "dense": Dense(pieces)}
    runs = {name: rm.retrieve(partial(retriever.search, k=DEPTH), texts) for name, retriever in retrievers.items()}

    pool = rm.pool(texts, runs, {piece.id: piece.text for piece in pieces}, DEPTH)
    print(pool)
    sample = pool.sample(GRADED_BY_PEOPLE)
    print(sample)
    if chosen.page:
        pool.for_queries(sample).labelling_page(chosen.page)

    model = pool.grade(rm.Model(shared_words, name="shared words"))
    people = by_hand(pool.for_queries(sample), qrels)
    if chosen.labels:
        first, *other_labels = map(rm.load, chosen.labels)
        together = first.merge(*other_labels)
        print("\n", together, sep="")
        people = together.resolved("lowest")
    print("\n", people.agreement(model, kinds=pool.kinds), sep="")

    estimate = rm.evaluate_with_labels(runs, ["ndcg@10", "hit_rate@5"], human=people, model=model, sample=sample)
    print("\n", estimate, sep="")
    if chosen.report:
        estimate.report(chosen.report)

    everything = by_hand(pool, qrels).qrels
    for name, run in runs.items():
        true = rm.evaluate(everything, run, "ndcg@10").means["ndcg@10"]
        low, high = estimate.intervals()["ndcg@10"][name]
        print(f"\n{name}, ndcg@10 with all {len(texts)} questions graded by hand: {true:.3f}", end="")
        print(f" ({'inside' if low <= true <= high else 'outside'} the interval)", end="")
    print()


if __name__ == "__main__":
    main()
