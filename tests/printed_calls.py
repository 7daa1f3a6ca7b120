"""The calls whose results `printed_results.py` prints, as a user writes them.

They run in this order and share their names, as the cells of a notebook do.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """One printed result.

    Attributes:
        heading: What is shown.
        code: The call, as a user writes it; one that begins with `$` is a command of a shell.
    """

    heading: str
    code: str


EVALUATING = (
    Section(
        "Evaluate with two metrics",
        """
        result = rm.evaluate(questions, stems, ["recall@5", "ndcg@10"])
        print(result)
        """,
    ),
    Section("Evaluate with the default metrics", "print(rm.evaluate(questions, stems))"),
    Section(
        "Evaluate a retriever that failed for some questions",
        """
        run = rm.retrieve(search_with_outages, questions)
        print(rm.evaluate(questions, run, "ndcg@10"))
        """,
    ),
    Section(
        "Evaluate a run that lacks questions, repeats documents and has ties",
        """
        rough = dict(stems)
        del rough["change-time"]
        rough["pensioner"] = []
        rough["refund-days"] = ["refunds.md#4", "refunds.md#4", "tickets.md#1"]
        rough["refund-cash"] = dict.fromkeys(rough["refund-cash"], 1.0)
        rough["not-asked"] = ["tickets.md#1"]
        rough_result = rm.evaluate(questions, rough, ["recall@5", "judged@10"], ties="expected")
        print(rough_result)
        print(rough_result.counts)
        """,
    ),
    Section(
        "Evaluate against quotes",
        """
        chunks = {
            query: [rm.Retrieved(name, corpus[name], source=name.partition("#")[0]) for name in ranking]
            for query, ranking in stems.items()
        }
        quote_result = rm.evaluate(questions_with_quotes, chunks, ["recall@5", "full_recall@5"])
        print(quote_result)
        print(quote_result.explain("pensioner"))
        """,
    ),
    Section("Evaluate under other rules", 'print(rm.evaluate(questions, stems, "ndcg@10", rules="trec_eval"))'),
    Section("Values of each query", "print(result.to_pandas().head(8).to_string())"),
    Section(
        "The interval of a mean, its value at several cutoffs, and whether it is better than chance",
        """
        print(result.intervals()["ndcg@10"])
        print(result.at_cutoffs("recall@5", [1, 3, 5, 10]))
        print(result.chance("ndcg@10"))
        """,
    ),
    Section(
        "Means by slice",
        """
        page = {query: "tickets" if query in list(texts)[:10] else "others" for query in texts}
        print(result.group_by(page))
        """,
    ),
    Section("The worst questions", 'print(result.worst("recall@5", n=6, corpus=corpus))'),
    Section("The worst questions of a run with defects", 'print(rough_result.worst("recall@5", n=4))'),
    Section("Explain a question", 'print(result.explain("cancel-late", "recall@5", corpus=corpus))'),
    Section("Explain a question without an answer", 'print(rough_result.explain("pensioner"))'),
    Section("Explain a question whose retriever failed", 'print(rm.evaluate(questions, run).explain("refund-cash"))'),
    Section(
        "Forbidden documents and questions without an answer",
        """
        leaking = rm.evaluate(
            {"price": {"tickets-2026.md": 1, "tickets-2019.md": -1}, "moon": []},
            {"price": ["tickets-2019.md", "tickets-2026.md"], "moon": ["tickets-2026.md"]},
            ["leak@3", "inverted@3", "false_answer", "mrr"],
        )
        print(leaking)
        print(leaking.explain("price"))
        print(leaking.worst("leak@3"))
        """,
    ),
    Section("One ranking", 'print(rm.evaluate_ranking(["d1", "d4"], ["d2", "d1", "d3"], ["mrr", "recall@3"]))'),
    Section("The same run under the rules of several libraries", 'print(rm.audit(qrels, stems, ["ndcg@10", "map"]))'),
    Section("Whether retrieved texts match", "print(rm.match(questions_with_quotes, chunks))"),
)

STAGES = (
    Section(
        "Evaluate the stages of a pipeline",
        """
        # Each stage returns IDs in rank order without scores, so none are tied; in `stems`, many are.
        staged = rm.retrieve(search_in_stages, questions)
        pipeline = rm.evaluate(questions, staged, ["recall@5", "mrr"])
        print(pipeline)
        print(pipeline.stages)
        """,
    ),
    Section("The losses of each stage", 'print(pipeline.stages.losses("recall@5"))'),
    Section("The worst questions of a pipeline", 'print(pipeline.worst("recall@5", n=4))'),
    Section("Explain a question of a pipeline", 'print(pipeline.explain("cancel-late", "recall@5"))'),
    Section("Compare stages", 'print(rm.compare(pipeline.stages, metrics="mrr", baseline="stems"))'),
)

COMPARING = (
    Section(
        "Compare two systems in one metric",
        """
        two = {"keywords": keywords, "stems": stems}
        print(rm.compare(questions, two, "ndcg@10", baseline="keywords"))
        """,
    ),
    Section(
        "Compare two systems in three metrics",
        """
        comparison = rm.compare(questions, two, ["ndcg@10", "recall@5", "hit_rate@1"], baseline="keywords")
        print(comparison)
        """,
    ),
    Section("Details of a comparison", "print(comparison.details)"),
    Section("Ranking of a comparison", "print(comparison.ranking)"),
    Section("One difference", 'print(comparison.difference("recall@5"))'),
    Section("Conclusions in a program", "print(*comparison.conclusions, sep='\\n')"),
    Section(
        "Compare five systems with a baseline; one of them is worse",
        """
        fused = rm.fuse({"keywords": keywords, "stems": stems})
        five = {
            "keywords": keywords,
            "stems": stems,
            "fused": fused,
            "reranked": staged,
            "random": random_order,
        }
        of_five = rm.compare(questions, five, ["ndcg@5", "recall@5"], baseline="keywords")
        print(of_five)
        """,
    ),
    Section("Details of five systems", "print(of_five.details)"),
    Section("Compare five systems without a baseline", 'print(rm.compare(questions, five, ["ndcg@5", "recall@5"]))'),
    Section(
        "Compare with clusters of questions",
        'print(rm.compare(questions_with_sources, two, "ndcg@10", baseline="keywords"))',
    ),
    Section(
        "Test non-inferiority, and show it",
        """
        pair = {"keywords": keywords, "fused": fused}
        print(rm.compare(questions, pair, "recall@5", baseline="keywords", margin=0.1))
        """,
    ),
    Section(
        "Test non-inferiority, and fail to show it",
        """
        pair = {"stems": stems, "reranked": staged}
        print(rm.compare(questions, pair, "recall@5", baseline="stems", margin=0.05))
        """,
    ),
    Section(
        "Compare with bounds for unjudged documents",
        'print(rm.compare(questions, two, "ndcg@10", baseline="keywords", unjudged="bounds"))',
    ),
    Section(
        "Compare without unjudged documents",
        'print(rm.compare(questions, two, "ndcg@10", baseline="keywords", unjudged="condensed"))',
    ),
    Section("Documents to judge next", "print(comparison.to_judge(3))"),
    Section(
        "Compare with a baseline that failed for some questions",
        'print(rm.compare(questions, {"before": run, "now": stems}, "ndcg@10", baseline="before"))',
    ),
    Section("Compare a system with itself", 'print(rm.compare(questions, {"old": stems, "new": stems}, "ndcg@10"))'),
    Section(
        "Compare with a run whose IDs do not match",
        """
        renamed = {query: [name.partition("#")[0] for name in ranking] for query, ranking in stems.items()}
        print(rm.compare(questions, {"old": stems, "renamed": renamed}, "ndcg@10"))
        """,
    ),
    Section(
        "Compare five questions",
        """
        few = {query: qrels[query] for query in list(qrels)[:5]}
        print(rm.compare(few, {"keywords": keywords, "stems": stems}, "ndcg@10"))
        """,
    ),
    Section(
        "Compare evaluations of different questions",
        """
        changed = {**qrels, "pensioner": {"tickets.md#4": 1}, "group-fare": ["tickets.md#3"]}
        del changed["refund-days"]
        earlier = rm.evaluate(questions, stems, "ndcg@10")
        later = rm.evaluate(changed, {**stems, "group-fare": ["tickets.md#3"]}, "ndcg@10")
        print(rm.compare({"last week": earlier, "now": later}))
        """,
    ),
)

DECIDING = (
    Section("Plan", 'print(rm.plan(0.05, "ndcg@10"))'),
    Section("Plan with a pilot", 'print(rm.plan(0.05, "ndcg@10", pilot=comparison))'),
    Section("Plan with clusters", 'print(rm.plan(0.05, "ndcg@10", design_effect=1.8))'),
    Section("Plan for a margin and eight comparisons", 'print(rm.plan(margin=0.05, metric="recall@5", comparisons=8))'),
    Section(
        "Tune",
        """
        def hybrid(weight):
            return rm.fuse({"keywords": keywords, "stems": stems}, "scores", weights=[1 - weight, weight])

        weights = {"weight": [0, 0.2, 0.4, 0.6, 0.8, 1]}
        print(rm.tune(hybrid, questions, "ndcg@10", parameters=weights, default={"weight": 0}))
        """,
    ),
    Section(
        "Tune: choose between two runs",
        'print(rm.tune({"fused": fused, "stems": stems}, questions, "recall@5", default="fused"))',
    ),
    Section(
        "Tune with a bound",
        'print(rm.tune(five, questions, "ndcg@5", default="keywords", at_least={"hit_rate@1": 0.6}))',
    ),
    Section(
        "Choose a threshold",
        """
        generator = random.Random(3)
        answerable = {f"a{n}": ["d"] for n in range(40)}
        unanswerable = {f"n{n}": [] for n in range(60)}
        scores = {query: {"d": round(generator.gauss(0.62, 0.12), 3)} for query in answerable}
        scores |= {query: {"x": round(generator.gauss(0.35, 0.1), 3)} for query in unanswerable}
        print(rm.threshold({**answerable, **unanswerable}, scores))
        """,
    ),
    Section(
        "Choose a threshold from too few questions",
        'print(rm.threshold({**answerable, "n1": [], "n2": []}, scores))',
    ),
    Section(
        "Choose a threshold where scores say nothing",
        """
        alike = {query: {"d": round(generator.gauss(0.5, 0.1), 3)} for query in scores}
        print(rm.threshold({**answerable, **unanswerable}, alike))
        """,
    ),
    Section(
        "Changes between two runs",
        """
        changes = rm.changes(keywords, stems)
        print(changes)
        print(changes.moved(3))
        print(changes.explain("cancel-late"))
        """,
    ),
    Section("Changes between equal runs", "print(rm.changes(stems, stems))"),
    Section("Fuse", 'print(rm.fuse({"keywords": keywords, "stems": stems})["cancel-late"])'),
    Section(
        "Rerank with MMR",
        "print(rm.mmr([1.0, 0.2], [[1.0, 0.1], [1.0, 0.1], [0.3, 1.0], [0.8, 0.6]], k=3, lambda_mult=0.5))",
    ),
)

QUESTIONS = (
    Section("A set of questions", "print(questions_with_sources)"),
    Section("Lint", "print(questions.lint(corpus))"),
    Section(
        "Lint a set with defects",
        """
        defective = rm.EvaluationSet(
            {**texts, "again": "May my sister use my MONTHLY pass", "this": "What does this section say?"},
            {**qrels, "again": qrels["lend-season"], "this": ["tickets.md#99"], "typo": ["tickets.md#1"]},
        )
        lint = defective.lint(corpus, runs={"keywords": keywords, "stems": stems})
        print(lint)
        print(*lint.fixed().changes, sep="\\n")
        """,
    ),
    Section(
        "Generate questions",
        """
        def write(prompt):  # stands for a model that answers badly
            return '{"question": "What does it cost?", "answer": "four euros", "quotes": ["four euros"]}'

        print(rm.generate_questions(corpus, rm.Model(write, name="toy-llm"), 5))
        """,
    ),
    Section(
        "Pool the results of two systems",
        """
        pool = rm.pool(texts, two, corpus, depth=5)
        print(pool)
        print(*pool.top(3), sep="\\n")
        """,
    ),
    Section(
        "Grade the pool with a model",
        """
        graded = pool.grade(rm.Model(grade_generously, name="toy-llm"))
        print(graded)
        """,
    ),
    Section(
        "Sample questions for people",
        """
        sample = pool.sample(25, graded=graded, runs=two, metrics="ndcg@10")
        print(sample)
        """,
    ),
    Section(
        "Labels of two people",
        """
        def grade_by_hand(name, n_mistakes):
            grades = {}
            for number, item in enumerate(pool.for_queries(sample)):
                value = labels[item.query].get(item.document, 0)
                if number % 40 < n_mistakes:
                    value = (value + 1) % 4
                grades.setdefault(item.query, {})[item.document] = value
            return rm.Labels.from_qrels(grades, grader=name, relevant_from=2)

        both = grade_by_hand("Ada", 1).merge(grade_by_hand("Ben", 4))
        print(both)
        print("Krippendorff's alpha:", both.alpha())
        human = both.resolved("lowest")
        """,
    ),
    Section("Agreement of people and a model", "print(human.agreement(graded, kinds=pool.kinds))"),
    Section(
        "Evaluate with labels",
        'print(rm.evaluate_with_labels(two, "ndcg@10", human=human, model=graded, sample=sample))',
    ),
)

TIME = (
    Section(
        "Save, and compare with what was saved",
        """
        earlier.save("last-week.json.gz", labels={"commit": "1d3c9a0"})
        print(rm.compare({"last week": rm.load("last-week.json.gz"), "now": rm.evaluate(questions, fused, "ndcg@10")}))
        """,
    ),
    Section(
        "History",
        """
        history = rm.History("retrieval.jsonl")
        history.add("last-week.json.gz")
        history.add(rm.evaluate(questions, fused, "ndcg@10"), "7be20f4", save="fused.json.gz")
        history.add(later, "new questions", save="later.json.gz")
        print(history)
        """,
    ),
    Section("Compare two entries of a history", 'print(history.compare("1d3c9a0", "7be20f4"))'),
)

AGENTS = (
    Section(
        "An agent's searches",
        """
        calls = [
            rm.SearchCall("take a bicycle", ["bicycles.md#1", "bicycles.md#2"], turn=1),
            rm.SearchCall("price of a bicycle", ["bicycles.md#1", "cars.md#1"], turn=2),
            rm.SearchCall("electric bicycle", error=TimeoutError("too slow"), turn=3),
        ]
        dog = rm.SearchCall("dog on board", ["animals.md#2", "animals.md#1"])
        agent = rm.Trajectories(
            {
                "bicycle": rm.Trajectory(calls, ["bicycles.md#1", "bicycles.md#2"], ["bicycles.md#1"]),
                "dog": rm.Trajectory([dog], ["animals.md#2"], ["animals.md#2"]),
            }
        )
        needed = {"bicycle": ["bicycles.md#1", "bicycles.md#4"], "dog": ["animals.md#1"]}
        print(agent)
        print(rm.evaluate(needed, agent.union(), ["recall@1calls", "recall@2calls"]))
        """,
    ),
    Section(
        "What an agent found, read and cited",
        """
        cited = rm.evaluate(needed, agent.cited(), "recall")
        print(cited.stages)
        print(cited.explain("bicycle"))
        print(cited.worst("recall"))
        """,
    ),
    Section("Properties of an agent's searches", "print(agent.properties())"),
    Section(
        "Read an agent's messages",
        """
        call = {"id": "1", "function": {"name": "search", "arguments": '{"query": "dog"}'}}
        messages = [
            {"role": "user", "content": "May my dog come?"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": '[{"id": "animals.md#1", "text": "Dogs travel free."}]'},
            {"role": "assistant", "content": "Yes, free of charge [1]."},
        ]
        print(rm.read_traces({"dog": messages}, tools="search", citations="numbered"))
        """,
    ),
)

SHELL = (
    Section(
        "Command line: files",
        """
        rm.write_qrels(qrels, "qrels.trec")
        rm.write_run(keywords, "keywords.json")
        rm.write_run(stems, "stems.json")
        rm.write_run(fused, "fused.json")
        questions.save("questions.json")
        """,
    ),
    Section("Command line: evaluate", "$ retrieval-metrics evaluate qrels.trec stems.json -m ndcg@10,recall@5"),
    Section(
        "Command line: evaluate several runs",
        "$ retrieval-metrics evaluate qrels.trec stems.json keywords.json -m ndcg@10",
    ),
    Section(
        "Command line: evaluate with a limit that is missed",
        "$ retrieval-metrics evaluate qrels.trec stems.json -m mrr --fail-under mrr=0.9",
    ),
    Section(
        "Command line: evaluate with a limit that is met",
        "$ retrieval-metrics evaluate qrels.trec stems.json -m mrr --fail-under mrr=0.1",
    ),
    Section(
        "Command line: compare",
        "$ retrieval-metrics compare qrels.trec keywords.json stems.json -m ndcg@10 --baseline keywords",
    ),
    Section(
        "Command line: compare, worse",
        "$ retrieval-metrics compare qrels.trec keywords.json stems.json -m ndcg@10 --baseline stems --fail-if-worse",
    ),
    Section(
        "Command line: compare and plan",
        "$ retrieval-metrics compare qrels.trec keywords.json stems.json -m ndcg@10 --plan 0.05",
    ),
    Section("Command line: lint", "$ retrieval-metrics lint questions.json questions.json"),
    Section("Command line: changes", "$ retrieval-metrics changes keywords.json stems.json"),
    Section(
        "Command line: tune",
        "$ retrieval-metrics tune qrels.trec keywords.json stems.json -m ndcg@10 --default keywords",
    ),
    Section("Command line: audit", "$ retrieval-metrics audit qrels.trec stems.json -m map"),
    Section("Command line: history", "$ retrieval-metrics history show retrieval.jsonl"),
    Section("Command line: convert", "$ retrieval-metrics convert run stems.json stems.trec"),
    Section("Command line: a file that is not there", "$ retrieval-metrics evaluate qrels.trec nowhere.json"),
    Section("Command line: files exchanged", "$ retrieval-metrics evaluate stems.json qrels.trec"),
    Section(
        "Command line: a metric that does not exist", "$ retrieval-metrics evaluate qrels.trec stems.json -m ndgc@10"
    ),
)

WARNINGS = (
    Section(
        "Warning: no ID matches",
        """
        judged = {f"q{n}": ["guide.md", "faq.md"] for n in range(20)}
        rm.evaluate(judged, {query: ["guide.md#3", "faq.md#1"] for query in judged}, "mrr")
        """,
    ),
    Section(
        "Warning: some IDs match",
        'rm.evaluate(judged, {query: ["guide.md", "Faq.md"] for query in judged}, "mrr")',
    ),
    Section(
        "Warning: distances in place of scores",
        'rm.evaluate(judged, {query: {"guide.md": 0.1, "faq.md": 0.3, "x": 0.5} for query in judged}, "mrr")',
    ),
    Section(
        "Warning: judgments and run exchanged",
        """
        scored = {query: {"guide.md": 0.81, "faq.md": 0.42, "x.md": 0.17} for query in judged}
        rm.evaluate(scored, judged, "mrr")
        """,
    ),
    Section("Warning: questions without results", 'rm.evaluate(judged, {"q0": ["guide.md"], "q1": []}, "mrr")'),
    Section(
        "Warning: unequal judged coverage",
        """
        graded_few = {query: {"a": 1, "b": 0, "c": 0} for query in judged}
        rm.compare(
            graded_few,
            {"old": dict.fromkeys(judged, ["a", "b", "c"]), "new": dict.fromkeys(judged, ["n", "a", "m"])},
            "mrr@3",
        )
        """,
    ),
    Section(
        "Warning: rankings of unequal depth",
        """
        depths = {
            "short": {query: ["x", "guide.md"] for query in judged},
            "long": {query: ["x", "guide.md", *"abcdefgh"] for query in judged},
        }
        print(rm.compare(judged, depths, "recall@10"))
        """,
    ),
    Section(
        "Warning: few clusters",
        """
        chapters = {query: int(query[1:]) % 4 for query in judged}
        rm.evaluate(judged, {query: ["guide.md"] for query in judged}, "mrr", clusters=chapters)
        """,
    ),
    Section(
        "Warning: chunks without offsets",
        """
        spans = {"q1": [rm.Span("guide.md", 10, 40)]}
        rm.evaluate(spans, {"q1": [rm.Retrieved("c1", source="guide.md")]}, "mrr")
        """,
    ),
    Section("Warning: a missing cell", 'rm.evaluate({"q1": ["d1", "nan"]}, {"q1": ["d1"]}, "mrr")'),
    Section(
        "Warning: the question's own document first",
        """
        numbered = {f"q{n}": [f"d{n}"] for n in range(20)}
        rm.evaluate(numbered, {f"q{n}": [f"q{n}", f"d{n}"] for n in range(20)}, "mrr")
        """,
    ),
    Section(
        "Warning: IDs shifted by one",
        'rm.evaluate(numbered, {f"q{n}": [f"d{n + 1}"] for n in range(20)}, "mrr")',
    ),
    Section(
        "Chance: a retriever that returns the same for every question",
        'print(rm.evaluate(numbered, {query: ["d1", "d2", "d3"] for query in numbered}, "mrr").chance("mrr"))',
    ),
    Section(
        "Warning: a retriever that fails for every question",
        """
        def search_nothing(text):
            raise ConnectionError("connection refused")

        print(rm.evaluate(questions, rm.retrieve(search_nothing, questions), "mrr"))
        """,
    ),
)

ERRORS = (
    Section("Error: an unknown metric", 'rm.evaluate(qrels, stems, "ncdg@10")'),
    Section("Error: a metric of scikit-learn", 'rm.evaluate(qrels, stems, "accuracy_score")'),
    Section("Error: k as an argument", 'rm.evaluate(qrels, stems, "ndcg", k=10)'),
    Section("Error: k that is not positive", 'rm.evaluate(qrels, stems, "ndcg@0")'),
    Section("Error: a bare string", 'rm.evaluate({"q1": "d1"}, {"q1": ["d1"]}, "mrr")'),
    Section("Error: pairs", 'rm.evaluate({"q1": ["d1"]}, {"q1": [("d1", 0.9)]}, "mrr")'),
    Section("Error: numbers beside texts", 'rm.evaluate({"q1": [1, 2]}, {"q1": ["1", "2"]}, "mrr")'),
    Section("Error: no query in common", 'rm.evaluate({"q1": ["d1"]}, {"Q1": ["d1"]}, "mrr")'),
    Section("Error: a score that is not a number", 'rm.evaluate({"q1": ["d1"]}, {"q1": {"d1": float("nan")}}, "mrr")'),
    Section("Error: an ID with a blank", 'rm.evaluate({"q1": ["d1", " d2"]}, {"q1": ["d1"]}, "mrr")'),
    Section("Error: flat and nested judgments", 'rm.evaluate({"q1": ["d1", ["d2", "d3"]]}, {"q1": ["d1"]}, "mrr")'),
    Section("Error: quotes and a run of IDs", 'rm.evaluate({"q1": [rm.Quote("four euros")]}, {"q1": ["d1"]}, "mrr")'),
    Section("Error: a list in place of a mapping", 'rm.evaluate([["d1"]], [["d1"]], "mrr")'),
    Section("Error: a baseline that is not there", 'rm.compare(qrels, two, "mrr", baseline="bm25")'),
    Section("Error: one system", 'rm.compare(qrels, {"stems": stems}, "mrr")'),
    Section("Error: a question that is not there", 'result.explain("q99")'),
    Section("Error: a metric that was not computed", 'result.means["mrr"]'),
    Section("Error: a difference and a margin", "rm.plan(0.05, margin=0.05)"),
    Section("Error: conflicting labels", "both.qrels"),
    Section(
        "Error: a document twice in a file",
        """
        Path("twice.trec").write_text("q1 Q0 d1 1 0.9 bm25\\nq1 Q0 d1 2 0.8 bm25\\n")
        rm.read_run("twice.trec")
        """,
    ),
    Section(
        "Error: a file that is cut short",
        """
        Path("short.trec").write_text("q1 Q0 d1 1 0.9 bm25\\nq1 Q0 d2 2 0.8")
        rm.read_run("short.trec")
        """,
    ),
    Section(
        "Error: evaluations under different rules",
        'rm.compare({"a": earlier, "b": rm.evaluate(qrels, stems, "ndcg@10", rules="autorag")})',
    ),
)

PAGES = (
    Section(
        "The beginning of the text of an HTML report",
        """
        comparison.report("comparison.html", queries=texts, corpus=corpus)
        print(read_page("comparison.html", n_lines=75))
        """,
    ),
    Section("A table in Markdown", "print(comparison.to_markdown())"),
)

PYTEST = (
    Section(
        "pytest: a project whose tests check retrieval",
        '''
        Path("test_search.py").write_text("""
        import os
        import pytest
        import retrieval_metrics as rm

        QUESTIONS = rm.load("questions.json")

        @pytest.fixture
        def run():
            return rm.read_run(os.environ["RUN"])

        def test_answers(retrieval_check, run):
            retrieval_check(QUESTIONS, run, at_least={"recall@5": 0.3, "ndcg@10": None}, baseline=True)

        def test_first(retrieval_check, run):
            retrieval_check(QUESTIONS, run, at_least={"hit_rate@1": None}, baseline=True)

        def test_every_question(retrieval_check, run):
            least = {"recall@10": {"return-validity": 1.0, "season-unused": 1.0}}
            retrieval_check(QUESTIONS, run, at_least={"recall@10": None}, at_least_per_query=least)

        def test_nothing(retrieval_check, run):
            retrieval_check(QUESTIONS, run, at_least={"mrr": None})
        """)
        ''',
    ),
    Section("pytest: write baselines", "$ RUN=stems.json pytest --retrieval-update -k 'not nothing'"),
    Section("pytest: checks that pass", "$ RUN=stems.json pytest -v -k 'not nothing'"),
    Section("pytest: checks that fail", "$ RUN=keywords.json pytest"),
)

SECTIONS = (
    *EVALUATING,
    *STAGES,
    *COMPARING,
    *DECIDING,
    *QUESTIONS,
    *TIME,
    *AGENTS,
    *SHELL,
    *PYTEST,
    *PAGES,
    *WARNINGS,
    *ERRORS,
)
