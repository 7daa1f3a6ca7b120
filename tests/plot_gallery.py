"""Draw every plot, with names and numbers as people have them: `python tests/plot_gallery.py FOLDER light dark`.

Each is drawn for a phone (390 pixels) and a screen (1,400), by day, by night and for print, to be looked at. Reports
are written beside them, and photographed where Chromium is installed; `index.html` shows all pictures.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from functools import partial
from itertools import chain, product
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
from matplotlib.text import Annotation, Text

import retrieval_metrics as rm
from browsing import LOOKS, Browser

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure

METRICS = ["ndcg@10", "recall@10", "mrr@10", "hit_rate@5", "precision@5"]
NAMES = ["BM25", "dense", "hybrid", "hybrid + reranker", "ColBERT", "SPLADE"]
NAMES += ["dense, 512 tokens a chunk", "dense, 2,048 tokens a chunk", "query rewriting", "HyDE", "BM25F", "random"]
PHONE = 390
SCREEN = 1400
STYLES = {"light": "default", "dark": "dark_background", "print": "grayscale"}


def long_name(number: int, letters: int) -> str:
    """Return the name of a system, of about so many letters, as people write them."""
    return LETTERS[letters].format(100 + 50 * number)


def runs(
    systems: int, queries: int, seed: int = 0, names: Sequence[str] = NAMES
) -> tuple[dict[str, list[str]], dict[str, dict[str, list[str]]]]:
    """Return judgments, and a run per system, some better than others."""
    generator = np.random.default_rng(seed)
    qrels = {f"question-{number}": ["d0", "d1", "d2"][: 1 + number % 3] for number in range(queries)}
    hardness = generator.gamma(1.2, 3.0, queries)
    runs_by_system: dict[str, dict[str, list[str]]] = {}
    for number in range(systems):
        strength = 0.5 + 1.2 * ((number * 5) % systems) / max(systems - 1, 1)
        rankings = {}
        for query, hard in zip(qrels, hardness.tolist(), strict=True):
            ranking = [f"x{rank}" for rank in range(20)]
            for document in qrels[query]:
                place = int(generator.exponential(hard / strength))
                if place < len(ranking):
                    ranking[place] = document
            rankings[query] = ranking
        runs_by_system[names[number]] = rankings
    return qrels, runs_by_system


def comparison(systems: int, queries: int) -> rm.Comparison:
    """Return a comparison of so many systems on so many queries."""
    qrels, systems_runs = runs(systems, queries)
    return rm.compare(qrels, systems_runs, METRICS[: 3 if systems == 2 else 5], resamples=2_000)


MANY = 2, 5, 12, 30
"""How many systems are drawn."""
LETTERS = {
    10: "system {}",
    40: "bge-m3 + reranker-v2-m3 (chunk {}, k=50)",
    60: "text-embedding-3-large + bge-reranker-v2-m3 (chunk {}, k=50)",
}
"""Their names, by how long they are."""
KINDS = ("intervals", "differences", "wins", "cutoffs", "precision_recall")


def named(systems: int, letters: int) -> rm.Comparison:
    """Return a comparison of so many systems with names of so many letters."""
    qrels, runs_by_name = runs(systems, 40, names=[long_name(number, letters) for number in range(systems)])
    return rm.compare(qrels, runs_by_name, METRICS[:3], resamples=400)


def plots_of_names() -> Iterator[tuple[str, partial[Figure]]]:
    """Yield the plots of every number of systems and length of their names."""
    for systems in MANY:
        for letters in LETTERS:
            compared = named(systems, letters)
            yield f"named-{systems}-{letters}", partial(_across, compared)
            for kind in KINDS if (systems, letters) in {(5, 60), (12, 40), (30, 60)} else ():
                yield f"named-{kind}-{systems}-{letters}", partial(_across, compared, kind)
            if systems > 2:
                yield (
                    f"named-tuning-{systems}-{letters}",
                    partial(alone, rm.tune(compared.evaluations, default=next(iter(compared.systems)), resamples=100)),
                )


def threshold() -> rm.types.Threshold:
    """Return the score above which results stay."""
    generator = np.random.default_rng(3)
    qrels: dict[str, Any] = {f"a{number}": ["d"] for number in range(60)} | {
        f"u{number}": {"n": 0} for number in range(60)
    }
    scores = {query: float(generator.normal(3 if query[0] == "a" else 1)) for query in qrels}
    return rm.threshold(qrels, {query: {"d" if query[0] == "a" else "n": score} for query, score in scores.items()})


def history(folder: Path) -> rm.History:
    """Return a history of nine nights, with new questions after the fifth."""
    results = rm.History(folder / "history.jsonl")
    for night in range(9):
        qrels, nightly_runs = runs(3, 60 + 20 * (night >= 5), seed=night if night >= 5 else 0)
        results.add(rm.evaluate(qrels, nightly_runs["hybrid"], METRICS[:2]), f"build {night}, a change of the prompt")
    return results


def curve() -> rm.types.Tuning:
    """Return the choice of lambda over near copies."""
    generator = np.random.default_rng(1)
    queries = generator.normal(size=(40, 8))
    vectors: dict[str, np.ndarray] = {}
    qrels = {}
    run = {}
    for number, query in enumerate(queries):
        qrels[f"q{number}"] = {f"{number}-0": 1, f"{number}-7": 1}
        for place in range(12):
            vectors[f"{number}-{place}"] = query + generator.normal(size=8) * (0.3 + 0.1 * place)
        run[f"q{number}"] = [f"{number}-{place}" for place in range(12)]

    def reranked(lambda_mult: float, fetch_k: int) -> dict[str, list[str]]:
        chosen = {}
        for query, ids in zip(queries, run.values(), strict=True):
            candidates = np.array([vectors[document_id] for document_id in ids[:fetch_k]])
            chosen[ids[0]] = [ids[number] for number in rm.mmr(query, candidates, k=5, lambda_mult=lambda_mult)]
        return dict(zip(run, chosen.values(), strict=True))

    grid: dict[str, Any] = {"lambda_mult": [0.1, 0.3, 0.5, 0.7, 0.9, 1.0], "fetch_k": [8, 12]}
    return rm.tune(reranked, qrels, "ndcg@5", default={"lambda_mult": 1.0, "fetch_k": 12}, parameters=grid)


def tuning(settings: int) -> rm.types.Tuning:
    """Return the choice among so many settings."""
    qrels, _ = runs(2, 120)
    tried = {}
    for number in range(settings):
        strength = number / settings
        tried[f"k={10 * number + 10}, weight={strength:.2f}"] = runs(2, 120, seed=number)[1][
            "dense" if number % 2 else "BM25"
        ]
    return rm.tune(tried, qrels, "ndcg@10", default=next(iter(tried)))


def agreement() -> rm.types.Agreement:
    """Return the agreement of people with a model that grades too well."""
    generator = np.random.default_rng(2)
    graded: tuple[dict[str, dict[str, int]], ...] = ({}, {})
    for query in range(40):
        for document in range(6):
            grade = int(generator.integers(0, 4))
            model_grade = int(np.clip(grade + generator.integers(-1, 3), 0, 3))
            for of_one, value in zip(graded, (grade, model_grade), strict=True):
                of_one.setdefault(f"q{query}", {})[f"d{document}"] = value
    labels = [rm.Labels.from_qrels(graded[0], "people"), rm.Labels.from_qrels(graded[1], "model", kind="model")]
    return labels[0].agreement(labels[1])


def _across(result: Any, *kinds: str, across: int | None) -> Figure:
    figure: Figure = result.plot(*kinds, across=across)
    return figure


def alone(result: Any, *, across: int | None) -> Figure:
    del across  # a figure of one panel
    figure: Figure = result.plot()
    return figure


def plots(folder: Path) -> Iterator[tuple[str, partial[Figure]]]:
    """Yield the name of each plot, and what draws it with so many panels in a row."""
    for systems, queries in ((2, 120), (2, 8), (2, 5_000), (3, 120), (6, 120), (12, 120)):
        compared = comparison(systems, queries)
        yield f"overview-{systems}-{queries}", partial(_across, compared)
        if queries != 120 or systems == 6:
            continue
        for kind in ("intervals", "differences", "wins", "cutoffs", "precision_recall"):
            yield f"{kind}-{systems}", partial(_across, compared, kind)
    qrels, compared_runs = runs(2, 120)
    evaluation = rm.evaluate(qrels, compared_runs["dense"])
    for kind in ("overview", "cutoffs", "intervals", "precision_recall"):
        yield f"evaluation-{kind}", partial(_across, evaluation, kind)
    results = history(folder)
    yield "history", partial(_across, results)
    over_lambda = curve()
    yield "tuning-curve", partial(alone, over_lambda)
    for settings in (4, 30):
        tuned = tuning(settings)
        yield f"tuning-{settings}", partial(alone, tuned)
    planned = rm.plan(0.05)
    yield "plan", partial(alone, planned)
    kept_scores = threshold()
    yield "threshold", partial(alone, kept_scores)
    changed = rm.changes(compared_runs["BM25"], compared_runs["dense"])
    yield "changes", partial(_across, changed)
    agreed = agreement()
    yield "calibration", partial(alone, agreed)


def main(folder: Path, styles: tuple[str, ...] = ("light",)) -> None:
    """Write all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "history.jsonl").unlink(missing_ok=True)
    for name, draw in chain(plots(folder), plots_of_names()):
        for style in styles:
            with matplotlib.style.context(STYLES[style]):
                for width, across in ((PHONE, 1), (SCREEN, None)):
                    figure = draw(across=across)
                    suffix = "" if style == "light" else f"-{style}"
                    dpi = min(width / figure.get_figwidth(), 152)
                    figure.savefig(folder / f"{name}-{width}{suffix}.png", dpi=dpi)
    mpl.rcdefaults()
    for systems, letters in ((2, 60), (5, 60), (12, 40), (30, 10)):
        named(systems, letters).report(folder / f"report-{systems}-{letters}.html")
    named(5, 60).evaluations[long_name(0, 60)].report(folder / "report-1.html")
    if (driver := which("chromedriver")) and (program := which("chromium")):
        photographed(folder, Browser(program, driver))
    pictures = (
        f'<figure><img src="{picture.name}"><figcaption>{picture.name}</figcaption></figure>'
        for picture in sorted(folder.glob("*.png"))
    )
    (folder / "index.html").write_text("\n".join(pictures))


def photographed(folder: Path, browser: Browser) -> None:
    """Write how the reports look to each reader."""
    try:
        for report, look in product(sorted(folder.glob("report-*.html")), LOOKS):
            browser.open(report, look)
            clip = {"x": 0, "y": 0, "width": look.width, "height": 2 * look.width + 1000, "scale": 1}
            shot = browser.driver.execute_cdp_cmd(
                "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
            )
            (folder / f"{report.stem}-{look.width}-{look.scheme}.png").write_bytes(b64decode(shot["data"]))
    finally:
        browser.driver.quit()


def words_of(figure: Figure) -> list[Text]:
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [text for text in texts if not isinstance(text, Annotation) or text.get_text()]


def shown(figure: Figure) -> list[tuple[str, np.ndarray]]:
    """The words of a figure with the corners of their boxes in inches, without ticks outside the axes' limits."""
    figure.draw_without_rendering()
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                inside = low - 1e-9 <= tick.get_loc() <= high + 1e-9
                hidden |= set() if inside and tick.label1.get_visible() else {tick.label1}
                hidden.add(tick.label2)
    words = []
    for text in words_of(figure):
        if text not in hidden and text.axes not in {axes for axes in figure.axes if not axes.get_visible()}:
            box = text.get_window_extent()
            words.append((text.get_text(), np.array([box.x0, box.y0, box.x1, box.y1]) / figure.dpi))
    return words


if __name__ == "__main__":
    main(Path(sys.argv[1]), tuple(sys.argv[2:]) or ("light",))
