"""What no bound can decide: rankings that meet no judgment."""

from retrieval_builds import SUITE, WORDS, Builds

pytest_plugins = ["pytester"]


def test_rankings_that_meet_no_judgment_are_refused_whatever_may_be_uncompared(builds: Builds) -> None:
    chunks = SUITE.replace('["d", "e", "x"]', '["d#1", "e#1"]').replace('"ndcg@10": 0.35, ', "")
    builds.write(chunks)
    for options in (["--retrieval-update", "--retrieval-accept-worse"], ["--retrieval-not-compared=pass"]):
        refused = builds.run(*options)
        refused.assert_outcomes(failed=1)
        cause = "no retrieved document is judged for its query*Part of 'd#1' is a judged ID: use *"
        refused.stdout.fnmatch_lines([f"mrr not measured: {cause}"])
        assert "no baseline" not in str(refused.stdout)
    builds.write(chunks.replace('{"mrr": None}, baseline=True', '{"mrr": 0.5}'))
    refused = builds.run()
    refused.stdout.fnmatch_lines([f"mrr not measured: {cause}"])
    assert "another granularity" not in str(refused.stdout)
    assert not (builds.path / WORDS).exists()
