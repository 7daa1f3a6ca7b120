"""Judge by the texts of a corpus where an index was rebuilt, so that its documents have other ids than are judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.document_texts import iterate_items, unify_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.matching_options import Matching


def find_rebuilt_runs(qrels: Qrels, runs: Iterable[Any], match: str | Key | Matching) -> list[int]:
    """Return the positions of the runs whose items have the texts of judged documents, and none an id of the corpus.

    Args:
        qrels: The judgments; without a corpus that has a text for each judged document, no run is returned.
        runs: The runs.
        match: What ids are compared with; only ids of items are those of an index.
    """
    if match != "id" or not qrels.corpus or qrels.has_pieces:
        return []
    judged_texts: set[str] | None = None
    rebuilt = []
    for position, run in enumerate(runs):
        first_item = next(iter(iterate_items(run, 1)), None)
        if first_item is None or first_item.id in qrels.corpus:
            continue
        if judged_texts is None:
            judged_texts = _read_judged_texts(qrels)
        if _is_rebuilt(qrels, run, judged_texts):
            rebuilt.append(position)
    return rebuilt


def _read_judged_texts(qrels: Qrels) -> set[str]:
    """Return the texts of the judged documents; nothing if one has none by which it could be found."""
    # Imported here because few datasets have a corpus.
    from retrieval_metrics.matching.words import unhyphenated_words

    texts = set()
    for document in qrels.documents:
        text = qrels.corpus.get(document)
        if not isinstance(text, str) or not unhyphenated_words(text):
            return set()
        texts.add(unify_text(text))
    return texts


def _is_rebuilt(qrels: Qrels, run: Any, judged_texts: set[str]) -> bool:
    judged_ids = set(qrels.documents)
    holds_judged_text = False
    for item in iterate_items(run, None):
        if item.id in qrels.corpus or item.id in judged_ids:
            return False
        if item.text is not None and not holds_judged_text:
            holds_judged_text = unify_text(item.text) in judged_texts
    return holds_judged_text


def judge_by_corpus_texts(qrels: Qrels) -> Qrels:
    """Return judgments in which the text of each document, as the corpus has it, stands in for its id."""
    text_judgments: dict[Any, Any] = {}
    for query, judgments in qrels.as_dict().items():
        if isinstance(judgments, Mapping):
            text_judgments[query] = _replace_ids(judgments, qrels.corpus)
        else:
            text_judgments[query] = [_replace_ids(group, qrels.corpus) for group in judgments]
    return qrels.with_judgments(text_judgments)


def _replace_ids(grades: Mapping[Any, float], corpus: Mapping[Any, str]) -> dict[Any, float]:
    # Imported here because few indexes are rebuilt.
    from retrieval_metrics.inputs.pieces import Text

    grade_by_text: dict[Any, float] = {}
    for document, grade in grades.items():
        text = Text(corpus[document])
        grade_by_text[text] = max(grade, grade_by_text.get(text, grade))
    return grade_by_text
