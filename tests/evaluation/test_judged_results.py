"""What was retrieved, each result with its judgment and a name that tells it apart."""

import retrieval_metrics as rm


def test_what_has_no_name_of_its_own_is_called_by_its_place() -> None:
    invented = "7b442f32-8372-425f-b5c7-003b7319a42e"
    items = [
        rm.Retrieved(invented, "one", "guide.md", 40),
        rm.Retrieved(None, "two", "guide.md"),
        rm.Retrieved("mine", "three", "guide.md", 80),
        rm.Retrieved(invented, "four"),
        rm.Retrieved(None, "five"),
        rm.Retrieved(None, "what was needed"),
    ]
    result = rm.evaluate({"q": [rm.Quote("what was needed")]}, {"q": items}, "recall@5")
    called = ["guide.md@40", "guide.md", "mine", invented, "-"]
    assert [retrieved.label for retrieved in result.explain("q").results] == called
    assert [retrieved.id for retrieved in result.explain("q").results] == [invented, None, "mine", invented, None]
    assert "guide.md@40: one" in str(result.worst("recall@5", 1))
