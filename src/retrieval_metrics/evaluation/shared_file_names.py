"""Find file names that stand for several files, so that a judged name does not say which of them is meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.match_key import FILE_NAME, get_file_path, last_part, name_path_match
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from retrieval_metrics.evaluation.scores import Origin


class SharedFileName(NamedTuple):
    """A judged file name that several files in different folders have.

    Attributes:
        name: The name of the first such file.
        n_files: How many files have it.
        n_names: How many judged names stand for several files.
        match: The `match=` that compares whole paths.
    """

    name: str
    n_files: int
    n_names: int
    match: str


def find_shared_file_name(items: Iterable[Retrieved], judged_names: Container[Any]) -> SharedFileName | None:
    """Return the first judged file name that items from different paths have; None if there is none."""
    items_by_name: dict[str, dict[str, Retrieved]] = {}
    for item in items:
        path = get_file_path(item)
        if path is None:
            continue
        name = last_part(path)
        if name in judged_names:
            items_by_name.setdefault(name, {}).setdefault(path.replace("\\", "/"), item)
    shared_names = [name for name, item_by_path in items_by_name.items() if len(item_by_path) > 1]
    if not shared_names:
        return None
    first_name = shared_names[0]
    item_by_path = items_by_name[first_name]
    first_item = next(iter(item_by_path.values()))
    return SharedFileName(first_name, len(item_by_path), len(shared_names), name_path_match(first_item))


def find_retrieved_shared_file_name(origin: Origin) -> SharedFileName | None:
    """Return the first judged file name that retrieved items from different paths have; None if there is none."""
    if getattr(origin.match, "by", origin.match) != FILE_NAME:
        return None
    return find_shared_file_name(_iterate_judged_items(origin), set(origin.judged.qrels.documents))


def is_file_name_shared(origin: Origin) -> bool:
    """Return whether several judged paths, or the paths of several retrieved items, end with one file name."""
    judged_paths = [document for document in origin.judged.qrels.documents if isinstance(document, str)]
    retrieved_paths = []
    for item in _iterate_judged_items(origin):
        path = get_file_path(item)
        if path is not None:
            retrieved_paths.append(path)
    for paths in (judged_paths, retrieved_paths):
        distinct_paths = {path.replace("\\", "/") for path in paths}
        if len({last_part(path) for path in distinct_paths}) < len(distinct_paths):
            return True
    return False


def _iterate_judged_items(origin: Origin) -> Iterator[Retrieved]:
    """Yield the items of the judged rankings."""
    if isinstance(origin.run, Run):
        return
    for query in origin.judged.qrels.queries:
        ranking = origin.run.get(query, ())
        if isinstance(ranking, Mapping):
            continue
        for item in ranking:
            if isinstance(item, Retrieved):
                yield item
