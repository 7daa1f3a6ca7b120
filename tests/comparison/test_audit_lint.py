"""What looks suspicious before any number is trusted."""

import retrieval_metrics as rm

NAMES = ["ndcg@3", "ndcg", "map@5", "map", "mrr@10", "precision@5", "recall@2", "f1@3", "hit_rate@1", "bpref"]


PRINTED = """\
metric       standard  llama_index  haystack
ndcg           0.6257       1.1320    0.6257
precision@5    0.2000       0.7500         -
3 queries; compared with the standard rules
llama_index: raises an error on 1 of 3 queries (excluded from its means)
llama_index: a duplicate document counts again (ndcg in 1 of 3); e.g. ndcg of 'q7': 1.2641 vs 0.8772 \
(document 'd7' is retrieved twice)
llama_index: a query with nothing retrieved is refused (ndcg in 1, precision@5 in 1 of 3); e.g. ndcg of 'q9': \
excluded vs 0.0000
llama_index: the denominator is the number of distinct documents retrieved (precision@5 in 2 of 3); e.g. precision@5 \
of 'q8': 1.0000 vs 0.2000 (1 retrieved, 1 relevant, k is 5)
judged@10 70%; unjudged documents count as not relevant
"""


class TestLints:
    def test_one_relevant_document_everywhere(self) -> None:
        (lint,) = rm.audit({"p": ["a"], "q": ["b"]}, {"p": ["a"], "q": ["b"]}, "map").lints
        assert lint.startswith(
            "every query has exactly one relevant document: recall, full recall and hit rate are the same number"
        )

    def test_relevant_documents_that_are_not_in_the_corpus(self) -> None:
        (lint,) = rm.audit({"p": {"a": 1, "z": 1, "n": 0}}, {"p": ["a"]}, "map", corpus={"a", "b"}).lints
        assert lint == (
            "1 relevant document of 1 query is not in the corpus ('z' of query 'p'), so no retriever can find it"
        )

    def test_lacking_documents_are_counted_apart_from_their_queries(self) -> None:
        (lint,) = rm.audit({"p": ["a", "y", "z"], "q": ["z", "b"]}, {"p": ["a"]}, "map", corpus={"a", "b"}).lints
        assert lint.startswith("3 relevant documents of 2 queries are not in the corpus (e.g. 'y' of query 'p')")

    def test_one_query_alone_and_documents_all_judged_are_not_suspicious(self) -> None:
        assert rm.audit({"p": ["a"]}, {"p": ["a"]}, "map").lints == ()

    def test_the_judged_share_is_that_of_the_first_ten(self) -> None:
        run = {"p": ["a", *(f"x{number}" for number in range(14))], "q": ["a"]}
        (lint,) = rm.audit({"p": ["a", "b"], "q": ["a"]}, run, "map").lints
        assert lint.startswith("judged@10 55%;")  # (1 / 10 + 1) / 2

    def test_each_repeat_is_counted_and_the_first_is_shown(self) -> None:
        qrels = {"why": ["a", "b"], "who": ["a"], "Why?": ["a"], "Why ?": ["a"]}
        (lint,) = rm.audit(qrels, {"why": ["a"]}, "map").lints
        assert lint.startswith("2 of 4 queries repeat another ('Why?' repeats 'why')")

    def test_repeated_queries_by_their_texts_or_by_ids_that_are_texts(self) -> None:
        qrels = {"1": ["a", "b"], "2": ["a"]}
        run = {"1": ["a"], "2": ["a"]}
        (lint,) = rm.audit(qrels, run, "map", queries={"1": "What is it?", "2": " what  is IT"}).lints
        assert lint == "1 of 2 queries repeat another ('2' repeats '1'): a repeated question counts each time"
        assert not rm.audit(qrels, run, "map").lints
        (lint,) = rm.audit({"Why?": ["a", "b"], "why": ["a"]}, {"why": ["a"]}, "map").lints
        assert "'why' repeats 'Why?'" in lint

    def test_queries_without_a_relevant_document_and_the_judged_share(self) -> None:
        lints = rm.audit({"p": ["a"], "q": {"b": 0}}, {"p": ["a", "x", "y", "z"], "q": ["b"]}, "map").lints
        assert lints[0] == "1 of 2 queries have no relevant document, such as query 'q'"
        assert lints[1].startswith("judged@10 62%;")
