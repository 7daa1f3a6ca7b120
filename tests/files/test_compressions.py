"""Compressed files are read and written, and refused where they are not what they say."""

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

import retrieval_metrics as rm
from trec_run import RUN_BY_QUERY, RUN_LINES, Write


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_compressed_parquet_is_read_as_it_is_written(tmp_path: Path, suffix: str) -> None:
    run = {"q": {"a": 2.5, "b": 1.0}}
    rm.write_run(run, tmp_path / f"run.parquet{suffix}")
    assert dict(rm.read_run(tmp_path / f"run.parquet{suffix}")) == run


@pytest.mark.parametrize("suffix", [".bz2", ".xz", ".zip"])
def test_what_the_standard_library_unpacks_is_read_and_written(tmp_path: Path, suffix: str) -> None:
    run = {"q1": {"d1": 2.5, "d2": 1.0}, "q2": {"d3": 0.5}}
    for name in ("r.trec", "r.csv", "r.json"):
        path = tmp_path / f"{name}{suffix}"
        rm.write_run(run, path)
        assert rm.read_run(path) == run
        assert path.read_bytes()[:3] in {b"BZh", b"\xfd7z", b"PK\x03"}
    content = (tmp_path / f"r.trec{suffix}").read_bytes()
    (tmp_path / f"cut.trec{suffix}").write_bytes(content[:-12])
    with pytest.raises(ValueError, match="is damaged or cut short: i"):
        rm.read_run(tmp_path / f"cut.trec{suffix}")


LINES = "q1 Q0 d1 1 2.5 t\n"


def archive(path: Path, text_by_name: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as zip_file:
        for name, text in text_by_name.items():
            zip_file.writestr(name, text)
    return path


def test_a_zip_archive_with_one_file_is_read_as_that_file(tmp_path: Path) -> None:
    for name, text in {"run.trec": LINES, "a/b.csv": "query,document,score\nq1,d1,2.5\n", "data": LINES}.items():
        path = archive(tmp_path / "found.zip", {name: text, "a/": "", f"__MACOSX/._{name}": "x"})
        assert rm.read_run(path) == {"q1": {"d1": 2.5}}
        with path.open("rb") as file:  # as from a pipe
            assert rm.read_run(io.BytesIO(file.read())) == {"q1": {"d1": 2.5}}
    texts = archive(tmp_path / "queries.zip", {"queries.jsonl": '{"_id": "q1", "text": "why?"}\n'})
    assert rm.read_queries(texts) == {"q1": "why?"}


@pytest.mark.thorough
def test_a_large_zip_archive_is_read_from_a_pipe_and_streamed(tmp_path: Path) -> None:
    ranking = {f"d{number}": 5000.0 - number for number in range(5000)}
    run = {f"q{query}": ranking for query in range(40)}
    rm.write_run(run, tmp_path / "large.trec.zip")
    assert rm.read_run(io.BytesIO((tmp_path / "large.trec.zip").read_bytes())) == run
    streamed = rm.read_run(tmp_path / "large.trec.zip", memory=1 << 20)
    assert type(streamed).__name__ == "StreamedRun"
    assert dict(streamed) == run


@pytest.mark.parametrize(
    ("text_by_name", "message"),
    [
        ({"a.run": LINES, "b.run": LINES}, r"run\.zip is a zip archive with 2 files, a\.run, b\.run, and is read if"),
        (
            {f"{name}.run": LINES for name in "abcd"},
            r"with 4 files, a\.run, b\.run, c\.run, \.\.\., .*unzip",
        ),
        ({"folder/": ""}, "is a zip archive with no file"),
        ({}, "is a zip archive with no file"),
    ],
)
def test_a_zip_archive_with_another_number_of_files_is_refused_by_name(
    tmp_path: Path, text_by_name: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        rm.read_run(archive(tmp_path / "run.zip", text_by_name))


def test_a_zip_archive_that_is_not_what_it_says_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "run.zip", {"run.trec": LINES * 50})
    content = bytearray(path.read_bytes())
    content[60] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"run\.zip is damaged or cut short: its compressed data .*Bad CRC-32"):
        rm.read_run(path)
    locked = archive(tmp_path / "locked.zip", {"run.trec": LINES})
    content = bytearray(locked.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flag of the directory that says so
    locked.write_bytes(content)
    with pytest.raises(ValueError, match=r"locked\.zip needs a password; unpack it"):
        rm.read_run(locked)


@pytest.mark.parametrize("compress", [gzip.compress, zstd.compress])
def test_compressed_files_are_known_by_their_content(write: Write, compress: Callable[[bytes], bytes]) -> None:
    text = "\n".join(RUN_LINES).encode()
    assert dict(rm.read_run(write(compress(text)))) == RUN_BY_QUERY
    assert dict(rm.read_run(write(compress(text[:100]) + compress(text[100:])))) == RUN_BY_QUERY  # joined by cat


@pytest.mark.parametrize("compress", [gzip.compress, zstd.compress])
def test_compressed_files_that_are_cut_short_are_refused(write: Write, compress: Callable[[bytes], bytes]) -> None:
    content = compress("\n".join(RUN_LINES).encode())
    for broken in (content[:-9], content[: len(content) // 2], content[:20]):
        with pytest.raises(ValueError, match=r"some.run is damaged or cut short"):
            rm.read_run(write(broken))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_damaged_byte_in_a_compressed_file_of_ours_is_found_or_harmless(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"some.run{suffix}"
    rm.write_run(RUN_BY_QUERY, path)
    content = path.read_bytes()
    n_harmful = 0
    for position in range(12, len(content)):
        path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
        try:
            # A byte that says nothing of the data, such as the file's name.
            assert dict(rm.read_run(path)) == RUN_BY_QUERY
        except ValueError as error:
            n_harmful += 1
            assert str(path) in str(error)
    assert n_harmful > len(content) / 2


def test_a_workbook_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
        archive.writestr("xl/workbook.xml", "")
    with pytest.raises(ValueError, match=r"is an Excel workbook; save it as CSV UTF-8"):
        rm.read_run(path)
