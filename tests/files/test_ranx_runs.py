"""Runs that ranx saves as .lz4."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import cbor2
import pytest

import retrieval_metrics as rm

# What ranx 0.3.21 writes of {"q1": {"d1": 2.5, "d2": 1.0}, "q2": {"d3": 9.0}}.
SAVED_BY_RANX = bytes.fromhex(
    "04224d184040c03f0000008204224d1868402d000100f0237629000000c1a2627131a2626431fb4004000100"
    "63626432fb3ff00c00f0007132a1626433fb40220000000000000000000000000000"
)
LZ4: Any = import_module("lz4.frame")  # which has no types
RUN = {"q1": {"d1": 2.5, "d2": 1.0}, "q2": {"d3": 9.0}}


def save_like_ranx(content: object, path: Path) -> None:
    with LZ4.open(path, "wb") as file:
        file.write(LZ4.compress(cbor2.dumps(content)))


@pytest.mark.parametrize("name", ["run.lz4", "run.rh", "run"])
def test_a_run_of_ranx_is_read_whatever_its_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(SAVED_BY_RANX)
    assert dict(rm.read_run(tmp_path / name)) == RUN


def test_any_text_may_be_compressed_by_lz4(tmp_path: Path) -> None:
    rm.write_run(RUN, tmp_path / "run.trec.lz4")
    assert LZ4.decompress((tmp_path / "run.trec.lz4").read_bytes()).startswith(b"q1 Q0 d1 1 2.5 ")
    assert dict(rm.read_run(tmp_path / "run.trec.lz4")) == RUN


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (["q1"], "not a run of ranx, which maps queries to documents with scores"),
        ({"q1": ["d1"]}, "not a run of ranx"),
        ({"q1": {"d1": "high"}}, "'high' as score, which is not a finite number"),
        ({"q1": {"d1": float("nan")}}, "not a finite number"),
    ],
)
def test_other_content_is_refused(tmp_path: Path, content: object, message: str) -> None:
    save_like_ranx(content, tmp_path / "run.lz4")
    with pytest.raises(ValueError, match=message):
        rm.read_run(tmp_path / "run.lz4")


@pytest.mark.parametrize("length", [20, len(SAVED_BY_RANX) - 12])
def test_a_damaged_run_is_named(tmp_path: Path, length: int) -> None:
    (tmp_path / "run.lz4").write_bytes(SAVED_BY_RANX[:length])
    with pytest.raises(ValueError, match=r"run\.lz4 is damaged"):
        rm.read_run(tmp_path / "run.lz4")


def test_judgments_are_no_run(tmp_path: Path) -> None:
    (tmp_path / "run.lz4").write_bytes(SAVED_BY_RANX)
    with pytest.raises(ValueError, match="is a run of ranx, which read_run reads"):
        rm.read_qrels(tmp_path / "run.lz4")
    with pytest.raises(ValueError, match="read as ranx, which has no column names"):
        rm.read_run(tmp_path / "run.lz4", columns={"query": "q"})


@pytest.mark.parametrize("package", ["lz4.frame", "cbor2"])
def test_what_to_install_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    (tmp_path / "run.lz4").write_bytes(SAVED_BY_RANX)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r"pip install 'retrieval-metrics\[lz4\]'"):
        rm.read_run(tmp_path / "run.lz4")
