"""Passwords and keys in the messages of exceptions are neither kept nor shown; everything else is."""

import base64
import os
import stat
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics._internal.redaction import MAX_SHOWN_CHARACTERS, describe_error, redact_secrets, show_error

SECRET = "hunter2hunter2"  # noqa: S105  (it opens nothing)
TEXTS = {f"q{number}": f"text {number}" for number in range(10)}
QRELS: Any = {query: ["d"] for query in TEXTS}


@pytest.mark.parametrize(
    "text",
    [
        f"401 for https://user:{SECRET}@host/x",
        f"GET https://host/x?k=5&api_key={SECRET}&n=3",
        f"https://host/?token={SECRET}",
        f"https://host/?X-Amz-Signature={SECRET}",
        f"Authorization: Bearer {SECRET}",
        f"{{'authorization': 'Basic {SECRET}', 'n': 1}}",
        f'{{"x-api-key": "{SECRET}"}}',
        f"Bearer {SECRET} was refused",
        f"password={SECRET}",
        f"secret_key='{SECRET}'",
        f"https://host/callback?next=%2Fa%3Ftoken%3D{SECRET}",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
        f"aws_secret_access_key = {SECRET}",
        f"Incorrect API key provided: sk-proj-{SECRET}.",
        f"AccessKey AKIA{'HUNTER2HUNTER2' + 'AB'} is unknown",
        f"ghp_{SECRET} is no token",
        f"eyJ{SECRET}.eyJ{SECRET}.{SECRET}",
    ],
)
def test_a_secret_is_redacted(text: str) -> None:
    redacted = redact_secrets(text)
    assert "[redacted]" in redacted
    assert SECRET not in redacted
    assert "HUNTER2" not in redacted


@pytest.mark.parametrize("credentials", ["user:pass", "a:b", "Aladdin:open sesame", "me@host.org:süß", "user:a?>~"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_name_and_a_password_in_base64_are_redacted_also_without_a_digit(credentials: str, encode: Any) -> None:
    encoded = encode(credentials.encode()).decode()
    for word in {encoded, encoded.rstrip("=")}:
        assert redact_secrets(f"401: Basic {word}, refused") == "401: Basic [redacted], refused"


@pytest.mark.parametrize(
    "text",
    [
        "timed out after 5 s",
        "https://host/x?k=5&n=3",
        "maximum context length is 8192 tokens, requested 9000 tokens",
        "the key 'd1' is unknown",
        "basic retrieval failed",
        "Basic authentication failed: Basic Auth, basic auth/realm and Basic credentials are wrong",
        'WWW-Authenticate: Basic realm="x"',
        "Basic Oldman Omnipool type= key=",
        "user@host.org is unknown",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redact_secrets(text) == text


def test_no_file_holds_the_secret_of_a_failed_call(tmp_path: Path) -> None:
    def search(text: str) -> list[str]:
        if text.endswith("3"):
            raise ConnectionError(
                f"401 for https://user:{SECRET}@host/?api_key=sk-{SECRET} Authorization: Bearer {SECRET}"
            )
        return ["d"]

    run = rm.retrieve(search, TEXTS, resume=tmp_path / "run.jsonl")
    assert SECRET in str(run.errors["q3"])  # the exception itself is the caller's
    rm.save_run(run, tmp_path / "run.json")
    with pytest.warns(rm.RetrievalWarning, match="redacted"):
        evaluation = rm.evaluate(QRELS, run, "mrr")
    evaluation.save(tmp_path / "evaluation.json")
    evaluation.report(tmp_path / "report.html", queries=TEXTS)
    printed = [str(evaluation), str(evaluation.worst("mrr", 1)), str(evaluation.explain("q3"))]
    with pytest.warns(rm.RetrievalWarning, match="redacted"):
        printed.append(str(rm.compare(QRELS, {"a": run, "b": run}, "mrr")))
    assert SECRET not in "".join(printed)
    for path in tmp_path.iterdir():
        assert SECRET not in path.read_text()
    call = rm.SearchCall("a", error=f"Bearer {SECRET}")
    assert call.error == "Bearer [redacted]"
    assert describe_error(run.errors["q3"]).startswith("ConnectionError: 401 for https://[redacted]@host/")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_files_that_are_not_for_sharing_are_for_their_owner(tmp_path: Path) -> None:
    rm.retrieve(lambda _: ["d"], TEXTS, resume=tmp_path / "run.jsonl")
    pool = rm.pool(TEXTS, {"q0": ["d"]}, {"d": "a text"}, depth=1)
    pool.grade(rm.Model(lambda _: '{"grade": 1}', name="m", cache=tmp_path / "cache.jsonl"))
    for name in ("run.jsonl", "cache.jsonl"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_a_long_message_is_cut_where_it_is_shown() -> None:
    error = ConnectionError("refused " * 250)
    assert len(show_error(error)) == MAX_SHOWN_CHARACTERS
    assert show_error(error).endswith("…")
    assert show_error(ConnectionError("down")) == describe_error(ConnectionError("down"))

    def fail(text: str) -> list[str]:
        if text == "text 3":
            raise error
        return ["d"]

    run = rm.retrieve(fail, TEXTS, show_progress=False)
    with pytest.warns(rm.RetrievalWarning, match="the retriever failed on 1 of 10") as caught:
        rm.evaluate(QRELS, run)
    assert all(len(str(warning.message)) < 2 * MAX_SHOWN_CHARACTERS for warning in caught)
    assert str(run.errors["q3"]) == str(error)
