"""A command that would overwrite one of its own files is refused before it reads anything."""

from pathlib import Path

import pytest

from retrieval_metrics.cli.main import main


@pytest.mark.parametrize(
    ("call", "target"),
    [
        ("evaluate {q} {r} -m mrr -o {q}", "small.qrels"),
        ("evaluate {q} {r} -m mrr --save {link}", "small.run"),
        ("evaluate {q} {r} -m mrr --report {hard}", "small.run"),
        ("evaluate {q} name={r} other={r} -m mrr -o {r}", "small.run"),
        ("compare {q} a={r} b={r} -m mrr --save {r}", "small.run"),
        ("audit {q} {r} -m mrr -o {link}", "small.run"),
        ("convert run {r} {link}", "small.run"),
    ],
)
def test_no_output_replaces_an_input(
    files: list[str], tmp_path: Path, call: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link").symlink_to(files[1])
    (tmp_path / "hard").hardlink_to(files[1])
    names = {"q": files[0], "r": files[1], "link": tmp_path / "link", "hard": tmp_path / "hard"}
    before = (tmp_path / target).read_text()
    assert main(call.format(**names).split()) == 2
    assert "is one of the files that are read" in capsys.readouterr().err
    assert (tmp_path / target).read_text() == before


def test_two_outputs_are_two_files(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = str(tmp_path / "both")
    assert main(["evaluate", *files, "-o", twice, "--save", str(tmp_path / "x" / ".." / "both")]) == 2
    assert "is written by another option too" in capsys.readouterr().err
    assert not (tmp_path / "both").exists()
    assert main(["evaluate", *files, "-m", "mrr", "-o", "/dev/null", "--report", "/dev/null"]) == 0


def test_an_abbreviated_option_is_refused(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Else `--metrics` would be `--metrics-from`, and the default metrics would be computed."""
    with pytest.raises(SystemExit) as exit_error:
        main(["evaluate", *files, "--metrics", "mrr"])
    assert exit_error.value.code == 2
    assert "unrecognized arguments: --metrics mrr" in capsys.readouterr().err
