"""What an audit prints: each rule with its smallest example, all its metrics together."""

import retrieval_metrics as rm

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


def test_each_rule_has_one_sentence_with_its_smallest_example() -> None:
    qrels = {"q7": ["d7", "d9"], "q8": ["d1"], "q9": ["d2"]}
    run = {"q7": ["d7", "d7", "x", "d9", "y"], "q8": ["d1"], "q9": []}
    audit = rm.audit(qrels, run, ["ndcg", "precision@5"], rules=["standard", "llama_index", "haystack"])
    assert f"{audit}\n" == PRINTED
