"""A judged file name that several files in different folders have is found."""

from typing import Any

import pytest

import retrieval_metrics as rm
from data_warning_kinds import find_kinds, find_origin
from retrieval_metrics.evaluation.shared_file_names import (
    SharedFileName,
    find_retrieved_shared_file_name,
    is_file_name_shared,
)

QRELS: Any = {"q1": ["README.md"], "q2": ["a.md"]}
FOLDERS = ("payments", "users", "search")


def make_run(name: str) -> Any:
    readmes = [rm.Retrieved(f"n{number}", source=f"/srv/{folder}/{name}") for number, folder in enumerate(FOLDERS)]
    return {"q1": [*readmes, readmes[0]], "q2": [rm.Retrieved("n9", source="/srv/a.md")]}


def test_a_judged_name_of_several_files_is_found_with_the_option_that_tells_them_apart() -> None:
    origin = find_origin(QRELS, make_run("README.md"), match="filename")
    assert find_retrieved_shared_file_name(origin) == SharedFileName("README.md", 3, 1, "source")
    assert find_kinds(QRELS, make_run("README.md"), match="filename") == ["shared_file_names"]
    items = [rm.Retrieved(f"n{folder}", source="uuid", metadata={"file_path": f"{folder}\\a.md"}) for folder in FOLDERS]
    origin = find_origin({"q1": ["a.md"]}, {"q1": items}, match="filename")
    assert find_retrieved_shared_file_name(origin) == SharedFileName("a.md", 3, 1, "metadata:file_path")


@pytest.mark.parametrize(
    ("run", "match"),
    [
        (make_run("other.md"), "filename"),
        (make_run("README.md"), "source"),
        (
            {"q1": [rm.Retrieved("n1", source="/srv/README.md"), rm.Retrieved("n2", source="/srv/README.md")]},
            "filename",
        ),
    ],
    ids=["not judged", "compared by path", "chunks of one file"],
)
def test_other_names_raise_no_alarm(run: Any, match: str) -> None:
    assert find_retrieved_shared_file_name(find_origin(QRELS, run, match=match)) is None


def test_either_side_may_share_a_name() -> None:
    assert is_file_name_shared(find_origin(QRELS, make_run("README.md"), match="filename"))
    judged: Any = {"q1": ["/x/a.md", "/y/a.md"]}
    run: Any = {"q1": [rm.Retrieved("n1", source="/z/a.md")]}
    assert is_file_name_shared(find_origin(judged, run, match="filename"))
    assert not is_file_name_shared(find_origin({"q1": ["/x/a.md"]}, run, match="filename"))
